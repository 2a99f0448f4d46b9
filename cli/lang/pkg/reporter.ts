/** Reports warnings, waits and the progress of downloads on standard error; progress only on a terminal. */
import type { Progress, Reporter } from "../../../registry/ports.ts";
import { printableLines } from "../../../registry/printable.ts";
import { sizeText } from "../../../lang/commands/size_text.ts";
import type { Terminal } from "../shared/terminal.ts";

/** Milliseconds from one line of progress to the next. */
const PAUSE = 100;
/** Downloads that are named; of more their number is reported. */
const NAMED = 2;

/** Writes to a terminal. */
export class TerminalReporter implements Reporter {
  readonly #terminal: Terminal;
  readonly #told = new Set<string>();
  /** Downloads that are under way, by what they fetch. */
  readonly #running = new Map<string, Progress>();
  #shown = "";
  #drawnAt = -Infinity;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  warn(text: string): void {
    if (this.#told.has(text)) return;
    this.#told.add(text);
    this.clear();
    const style = this.#terminal.errorStyle;
    this.#terminal.writeError(`${style("warning", "warning")}: ${printableLines(text)}\n`);
  }

  note(text: string): void {
    this.clear();
    this.#terminal.writeError(`${this.#terminal.errorStyle("quiet", printableLines(text))}\n`);
  }

  progress(step: Progress): void {
    if (!this.#terminal.isWatched) return;
    this.#running.set(step.what, step);
    const now = performance.now();
    const isDue = now - this.#drawnAt >= PAUSE;
    if (isDue) {
      this.#drawnAt = now;
      this.#draw(progressText([...this.#running.values()]));
    }
    if (step.received === step.total) this.#running.delete(step.what);
  }

  #draw(text: string): void {
    // A line that is wrapped could not be taken back.
    const line = printableLines(text).slice(0, this.#terminal.columns - 1);
    this.#terminal.writeError(`\r${line.padEnd(this.#shown.length)}`);
    this.#shown = line;
  }

  /** Takes the line of the progress away. */
  clear(): void {
    if (this.#shown !== "") this.#terminal.writeError(`\r${" ".repeat(this.#shown.length)}\r`);
    this.#shown = "";
  }
}

/** `fetching fx 0.3.2, noise 1.0.0 and 3 more: 1.2 MiB of 4.0 MiB`. */
function progressText(running: readonly Progress[]): string {
  const names = running.slice(0, NAMED).map(({ what }) => what).join(", ");
  const others = running.length > NAMED ? ` and ${running.length - NAMED} more` : "";
  const received = running.reduce((sum, each) => sum + each.received, 0);
  const total = running.reduce<number | null>(
    (sum, each) => sum === null || each.total === null ? null : sum + each.total,
    0,
  );
  return `fetching ${names}${others}: ${sizeText(received)}${total === null ? "" : ` of ${sizeText(total)}`}`;
}
