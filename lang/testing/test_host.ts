/** The world of a test: what it prints is kept, up to a limit; nothing else is answered. */
import { outputTrap } from "../host/wasm_trap.ts";
import type { Host, HostCall } from "../interpret/host.ts";

/** Most that a test may print, in UTF-16 units; one that prints more is stopped. */
const MAX_OUTPUT = 1024 * 1024;

/** Keeps what is printed. */
export class TestHost implements Host {
  readonly #lines: string[] = [];
  #length = 0;

  /** What was printed, a line for each call. */
  get output(): string {
    return this.#lines.join("");
  }

  /** @inheritdoc */
  call({ module, args }: HostCall): null {
    if (!module.startsWith("lang:host/log@")) return null;
    const line = `${String(args[0])}\n`;
    this.#length += line.length;
    if (this.#length > MAX_OUTPUT) throw outputTrap(MAX_OUTPUT);
    this.#lines.push(line);
    return null;
  }
}
