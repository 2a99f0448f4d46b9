/**
 * Why a program may end before its end: the kinds of traps, which back end and interpreter share, and the limit of
 * calls within calls.
 *
 * A trap has the site of the expression that went wrong. Bounds of a place are checked when it is used: in an
 * assignment after its value, in a call after all arguments. `place op= value` evaluates the indexes of the place,
 * then the value, then reads, computes and stores.
 */

/** What went wrong. */
export type TrapKind =
  /** The result of `+ - * /` or a negation does not fit. */
  | "overflow"
  /** `/` or `%` with zero on the right. */
  | "division"
  /** `list[i]` outside of the list. */
  | "index"
  /** `to_int` and the like of what does not fit. */
  | "conversion"
  /** `panic(text)`, also the library's. */
  | "panic"
  /** `expect(…)` that does not hold, and a snapshot that differs. */
  | "expect"
  /** Calls deeper than `LANG_LIMITS.maximumCallDepth`, or a full stack. */
  | "depth"
  /** The heap's cap is reached. */
  | "memory"
  /** With `--gas`: none is left. */
  | "gas";

/** What is told of an index outside of a list. */
export function indexMessage(index: number, length: number): string {
  const list = length === 0 ? "an empty list" : `a list of ${length} element${length === 1 ? "" : "s"}`;
  return `Cannot take the element: index ${index} of ${list}`;
}
