/** What the commands write to: standard output and error, with colors where a person reads them. */
import { colorStyle, plainStyle, type Style } from "../../../lang/diagnostics/style.ts";

/** When colors are used. */
export type ColorChoice = "always" | "never" | "auto";

/** 128 and the number of SIGPIPE. */
const READER_IS_GONE = 141;

interface Stream {
  writeSync(bytes: Uint8Array): number;
  isTerminal(): boolean;
}

/** Writes texts and knows their style. */
export class Terminal {
  readonly #stdout: Stream;
  readonly #stderr: Stream;
  #colors: ColorChoice = "auto";

  constructor(stdout: Stream = Deno.stdout, stderr: Stream = Deno.stderr) {
    this.#stdout = stdout;
    this.#stderr = stderr;
  }

  /** Sets when colors are used. */
  useColors(choice: ColorChoice): void {
    this.#colors = choice;
  }

  /** Writes to standard output. */
  write(text: string): void {
    writeAll(this.#stdout, new TextEncoder().encode(text));
  }

  /** Writes bytes to standard output. */
  writeBytes(bytes: Uint8Array): void {
    writeAll(this.#stdout, bytes);
  }

  /** Writes bytes to standard error. */
  writeErrorBytes(bytes: Uint8Array): void {
    writeAll(this.#stderr, bytes);
  }

  /** Writes to standard error. */
  writeError(text: string): void {
    writeAll(this.#stderr, new TextEncoder().encode(text));
  }

  /** Writes a value as JSON on one line to standard output. */
  writeJson(value: unknown): void {
    this.write(`${JSON.stringify(value)}\n`);
  }

  /** The style of standard output. */
  get style(): Style {
    return this.#styleFor(this.#stdout);
  }

  /** The style of standard error. */
  get errorStyle(): Style {
    return this.#styleFor(this.#stderr);
  }

  /** Whether standard error is a terminal. */
  get isWatched(): boolean {
    return this.#stderr.isTerminal();
  }

  /** How many characters a line of it has. */
  get columns(): number {
    try {
      return Math.max(20, Deno.consoleSize().columns);
    } catch {
      return 80; // It is no terminal.
    }
  }

  #styleFor(stream: Stream): Style {
    if (this.#colors === "always") return colorStyle;
    if (this.#colors === "never") return plainStyle;
    // See no-color.org: set to anything but the empty text.
    const isRefused = (Deno.env.get("NO_COLOR") ?? "") !== "" || Deno.env.get("TERM") === "dumb";
    return stream.isTerminal() && !isRefused ? colorStyle : plainStyle;
  }
}

/** Writes all of it. When nobody reads any more, as behind `| head`, all ends as by the signal that Unix has for it. */
function writeAll(stream: Stream, bytes: Uint8Array): void {
  let rest = bytes;
  try {
    while (rest.length > 0) rest = rest.subarray(stream.writeSync(rest));
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) Deno.exit(READER_IS_GONE);
    throw error;
  }
}
