/** `lang serve`, the compiled program, as a process on a free port. */
import assert from "node:assert/strict";
import { runProgram } from "../../../cli/lang/program.ts";
import { Terminal } from "../../../cli/lang/shared/terminal.ts";
import { compiledPrograms } from "../../../tools/compiled_programs.ts";

/** What a process has written and how it ended. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command line of `lang` as a process. */
async function langCommand(
  parameters: readonly string[],
  options: { readonly cwd?: string; readonly env?: Record<string, string> } = {},
): Promise<Deno.Command> {
  const { lang } = await compiledPrograms();
  return new Deno.Command(lang, {
    args: [...parameters],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    ...options,
  });
}

/** Runs `lang` until it ends. */
export async function runLang(parameters: readonly string[], cwd: string): Promise<Ended> {
  const { code, stdout, stderr } = await (await langCommand(parameters, { cwd })).output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

/** Runs a command line of `lang` that ends by itself, in this process. */
export async function runHere(parameters: readonly string[]): Promise<Ended> {
  const texts: [string, string] = ["", ""];
  const stream = (number: 0 | 1) => ({
    writeSync(bytes: Uint8Array): number {
      texts[number] += new TextDecoder().decode(bytes);
      return bytes.length;
    },
    isTerminal: () => false,
  });
  const code = await runProgram(parameters, new Terminal(stream(0), stream(1)));
  return { code, stdout: texts[0], stderr: texts[1] };
}

/** A server that runs until it is disposed. */
export class ServeProcess implements AsyncDisposable {
  /** With a slash at its end. */
  readonly address: string;
  readonly #child: Deno.ChildProcess;
  readonly #lines: Lines;
  readonly #errors: Lines;
  #hasEnded = false;

  private constructor(child: Deno.ChildProcess, streams: { address: string; lines: Lines; errors: Lines }) {
    this.#child = child;
    this.address = streams.address;
    this.#lines = streams.lines;
    this.#errors = streams.errors;
  }

  /** Serves a package and waits until it listens. */
  static async start(
    folder: string,
    parameters: readonly string[] = [],
    env: Record<string, string> = {},
  ): Promise<ServeProcess> {
    const command = await langCommand(["serve", "--port", "0", "--manifest-dir", folder, ...parameters], {
      env,
    });
    const child = command.spawn();
    const [lines, errors] = [new Lines(child.stdout), new Lines(child.stderr)];
    const first = await lines.next(/^serving /);
    const [, address] = /^serving (http:\/\/127\.0\.0\.1:\d+\/)/.exec(first) ?? [];
    assert.ok(address !== undefined, `it says where it serves: ${first}\n${errors.text}`);
    return new ServeProcess(child, { address, lines, errors });
  }

  get port(): number {
    return Number(new URL(this.address).port);
  }

  /** The next line of standard output that fits. */
  async line(pattern: RegExp): Promise<string> {
    return await this.#lines.next(pattern);
  }

  /** What was written to standard error until now. */
  get errors(): string {
    return this.#errors.text;
  }

  /** Ends it by a signal and gives its exit code. */
  async end(signal: Deno.Signal = "SIGINT"): Promise<number> {
    this.#hasEnded = true;
    this.#child.kill(signal);
    const { code } = await within(this.#child.status, `the end of the server after ${signal}`)
      .catch((error) => {
        this.#child.kill("SIGKILL");
        throw error;
      });
    await Promise.all([this.#lines.ended, this.#errors.ended]);
    return code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#hasEnded) await this.end();
  }
}

/**
 * Waits for something that comes within a second even on a busy machine, and fails after a minute instead of waiting
 * for ever.
 */
export async function within<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Waited in vain for ${what}`)), 60_000);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Lines of a stream as they come. */
class Lines {
  text = "";
  readonly ended: Promise<void>;
  #seen = 0;
  #wake = Promise.withResolvers<void>();
  #isOver = false;

  constructor(stream: ReadableStream<Uint8Array<ArrayBuffer>>) {
    this.ended = this.#read(stream);
  }

  async #read(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      this.text += text;
      this.#notify();
    }
    this.#isOver = true;
    this.#notify();
  }

  #notify(): void {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }

  async next(pattern: RegExp): Promise<string> {
    for (;;) {
      const woken = this.#wake.promise;
      for (
        let end = this.text.indexOf("\n", this.#seen);
        end >= 0;
        end = this.text.indexOf("\n", this.#seen)
      ) {
        const line = this.text.slice(this.#seen, end);
        this.#seen = end + 1;
        if (pattern.test(line)) return line;
      }
      if (this.#isOver) throw new Error(`Cannot find ${pattern}: the output has ended\n${this.text}`);
      await within(woken, `a line like ${pattern} after\n${this.text}`);
    }
  }
}
