/**
 * Assertions. They stay on in production: a failed assertion is a bug in this program, never a user's mistake, and
 * the process that meets one must not go on with state it can no longer trust.
 */

/** A bug in this program was detected. Never caught except to log and stop. */
export class AssertionError extends Error {
  override readonly name = "AssertionError";
}

/** Throws {@link AssertionError} with the message unless the condition holds. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

/** The value itself when it is there; otherwise a bug. */
export function assertDefined<T>(value: T | undefined | null, what: string): T {
  if (value === undefined || value === null) throw new AssertionError(`${what} is missing`);
  return value;
}

/** The end of an exhaustive `switch`: the compiler proves that it is never reached. */
export function unreachable(value: never): never {
  throw new AssertionError(`unreachable case: ${JSON.stringify(value)}`);
}

let inputIsChecked = false;

/**
 * Whether generated code and scans also assert, value by value, what they assume of their input. Off in normal
 * operation, for it costs several times the work itself; on in tests and in a server started with `--check-input`.
 */
export function checksInput(): boolean {
  return inputIsChecked;
}

/** Sets what {@link checksInput} returns. Code that has been generated before stays as it is. */
export function setChecksInput(isChecked: boolean): void {
  inputIsChecked = isChecked;
}
