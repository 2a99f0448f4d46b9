/** A line on the terminal that says how far a long load has come; drawn at most five times a second. */
import type { Terminal } from "./terminal.ts";

const INTERVAL_MILLISECONDS = 200;

/**
 * A line on the terminal that says how far a long load has come; drawn at most five times a second. Draws nothing
 * when no terminal is attached.
 */
export class Progress {
  readonly #terminal: Terminal;
  readonly #describe: (done: number) => string;
  #last = performance.now();
  #drawn = 0;

  constructor(terminal: Terminal, describe: (done: number) => string) {
    this.#terminal = terminal;
    this.#describe = describe;
  }

  /** So much has been done. */
  update(done: number): void {
    const now = performance.now();
    if (!this.#terminal.isErrorWatched || now - this.#last < INTERVAL_MILLISECONDS) return;
    this.#last = now;
    const text = this.#describe(done);
    this.#terminal.error(`\r${text.padEnd(this.#drawn)}`);
    this.#drawn = text.length;
  }

  /** Wipes the line. */
  end(): void {
    if (this.#drawn > 0) this.#terminal.error(`\r${" ".repeat(this.#drawn)}\r`);
    this.#drawn = 0;
  }
}

/** A size as people read it. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}
