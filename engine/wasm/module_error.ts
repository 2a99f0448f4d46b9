/** The refusal of a WebAssembly module. */

/** A module is malformed, invalid, or uses what is not allowed: the reason, and where. */
export class ModuleError extends Error {
  override readonly name = "ModuleError";
  /** Offset in the file, in bytes. */
  readonly offset: number;

  /** The message says what is wrong, without the offset. */
  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}
