/** What goes wrong with packages and registries, for people: what could not be done, why, and what to do. */

/** What kind of failure it is: `usage` is a wrong argument or a missing file, `failure` everything else. */
export type FailureKind = "usage" | "failure";

/** A command of packages that cannot be done. */
export class RegistryError extends Error {
  /** What to do. */
  readonly hint: string | null;
  readonly kind: FailureKind;
  /** A word for programs: `release-not-found`. */
  readonly code: string;

  constructor(
    code: string,
    message: string,
    options: { readonly hint?: string | null; readonly kind?: FailureKind; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = "RegistryError";
    this.code = code;
    this.hint = options.hint ?? null;
    this.kind = options.kind ?? "failure";
  }
}
