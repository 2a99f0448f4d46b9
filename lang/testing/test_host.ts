/** The world of a test: what it prints is kept, up to a limit; nothing else is answered. */
import { outputTrap } from "../host/wasm_trap.ts";
import type { Host, HostCall } from "../interpret/host.ts";
import { LANG_LIMITS } from "../limits.ts";

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
    if (this.#length > LANG_LIMITS.maximumTestOutputLength) {
      throw outputTrap(LANG_LIMITS.maximumTestOutputLength);
    }
    this.#lines.push(line);
    return null;
  }
}
