/** SHA-256 (FIPS 180-4) by the runtime, several times as fast as JavaScript: a function of its bytes, no port. */
import { createHash } from "node:crypto";

/** The hash of bytes that come one after the other. */
export class Sha256 {
  readonly #hash = createHash("sha256");

  /** Adds bytes. */
  update(bytes: Uint8Array): void {
    this.#hash.update(bytes);
  }

  /** The hash of all of them, in hexadecimal; nothing can be added afterwards. */
  digest(): string {
    return this.#hash.digest("hex");
  }
}

/** The hash of some bytes, in hexadecimal. */
export function sha256Of(bytes: Uint8Array): string {
  const hash = new Sha256();
  hash.update(bytes);
  return hash.digest();
}
