/** Tells warnings, waits and the progress of downloads on standard error; progress only where somebody watches. */
import type { Progress, Reporter } from "../../../registry/ports.ts";
import { sizeText } from "../../../lang/commands/size_text.ts";
import type { Terminal } from "../terminal.ts";

/** Writes to a terminal. */
export class TerminalReporter implements Reporter {
  readonly #terminal: Terminal;
  readonly #told = new Set<string>();
  #lineLength = 0;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  warn(text: string): void {
    if (this.#told.has(text)) return;
    this.#told.add(text);
    this.clear();
    const style = this.#terminal.errorStyle;
    this.#terminal.writeError(`${style("warning", "warning")}: ${text}\n`);
  }

  note(text: string): void {
    this.clear();
    this.#terminal.writeError(`${this.#terminal.errorStyle("quiet", text)}\n`);
  }

  progress({ what, received, total }: Progress): void {
    if (!this.#terminal.isWatched) return;
    const of = total === null ? "" : ` of ${sizeText(total)}`;
    const line = `fetching ${what}: ${sizeText(received)}${of}`;
    this.#terminal.writeError(`\r${line.padEnd(this.#lineLength)}`);
    this.#lineLength = line.length;
  }

  /** Takes the line of the progress away. */
  clear(): void {
    if (this.#lineLength > 0) this.#terminal.writeError(`\r${" ".repeat(this.#lineLength)}\r`);
    this.#lineLength = 0;
  }
}
