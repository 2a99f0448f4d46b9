/**
 * A command that cannot be done as asked: a missing file or manifest, or a wrong argument. Not the program's
 * errors, which are diagnostics.
 */
export class CommandError extends Error {
  /** What to do instead. */
  readonly hint: string | null;

  constructor(message: string, hint: string | null = null) {
    super(message);
    this.name = "CommandError";
    this.hint = hint;
  }
}
