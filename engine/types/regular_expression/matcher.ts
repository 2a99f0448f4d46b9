/** What finds matches of a regular expression: V8's own expressions, or the automaton of this folder. */

/** The part of RegExp that a global expression is used by; {@link exec} goes on from `lastIndex` and sets it. */
export interface Matcher {
  /** Where the next search begins, in UTF-16 units. */
  lastIndex: number;
  /** The next match with its groups, or null. */
  exec(text: string): RegExpExecArray | null;
  /** Whether there is a next match. */
  test(text: string): boolean;
}
