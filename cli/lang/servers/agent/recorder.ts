/** Writes recordings: appends a line for each request when it has been answered. */
import { parseRecording, recordingLine } from "../../../../lang/servers/agent/recording.ts";
import { CommandError } from "../../../../lang/commands/command_error.ts";
import { messageOf } from "../../shared/disk_files.ts";

/** Takes the requests of one session. */
export interface SessionRecorder {
  record(request: string, response: readonly string[]): void;
}

/** Appends to a file. */
export class Recorder implements Disposable {
  readonly #file: Deno.FsFile;
  #sessions: number;

  /** Opens or makes the file; sessions that it holds already are counted. */
  constructor(path: string) {
    const before = textOf(path);
    this.#sessions = parseRecording(before).reduce((most, { session }) => Math.max(most, session + 1), 0);
    try {
      this.#file = Deno.openSync(path, { append: true, create: true });
    } catch (error) {
      throw new CommandError(`Cannot record to ${path}: ${messageOf(error)}`);
    }
    if (before !== "" && !before.endsWith("\n")) this.#write("\n");
  }

  /** A recorder for one more session. */
  session(): SessionRecorder {
    let number: number | null = null;
    return {
      record: (request, response) => {
        number ??= this.#sessions++;
        this.#write(recordingLine({ request, response, session: number }));
      },
    };
  }

  #write(text: string): void {
    let rest = new TextEncoder().encode(text);
    while (rest.length > 0) rest = rest.subarray(this.#file.writeSync(rest));
  }

  /** Closes the file. */
  [Symbol.dispose](): void {
    this.#file.close();
  }
}

/** What was recorded before. */
function textOf(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw new CommandError(`Cannot record to ${path}: ${messageOf(error)}`);
  }
}
