/**
 * Tokens, kept as parallel arrays instead of objects: a statement's tokens are made and dropped for every parse, and
 * the parser reads most of them only once.
 *
 * Invariants: the last token is always {@link TOKEN.end}; `values` holds what the parser compares: the folded word, the
 * decoded string, a number's digits, a symbol's characters. Words that are keywords share the interned string of
 * keywords.ts, so comparing them is comparing pointers.
 */

/** The kinds of tokens. */
export const TOKEN = {
  /** Behind the last token. */
  end: 0,
  /** An unquoted identifier or keyword; `categories` tells. */
  word: 1,
  /** A quoted identifier: never a keyword. */
  quotedIdentifier: 2,
  /** Decimal digits; other bases are converted. */
  integer: 3,
  /** Digits with a point or an exponent. */
  decimal: 4,
  string: 5,
  /** B'…': the digits. */
  bitString: 6,
  /** X'…': the digits. */
  hexString: 7,
  /** `$n`: the digits. */
  parameter: 8,
  /** Punctuation with a meaning of its own: ( ) [ ] , ; . : :: := => .. */
  punctuation: 9,
  /** An operator; `!=` is already `<>`. */
  operator: 10,
} as const;

/** One of the numbers of {@link TOKEN}. */
export type TokenKind = typeof TOKEN[keyof typeof TOKEN];

/** All tokens of a text. */
export interface TokenList {
  readonly text: string;
  readonly kinds: TokenKind[];
  /** Keyword category of a word (see keywords.ts), 0 for everything else. */
  readonly categories: number[];
  readonly values: string[];
  readonly starts: number[];
  readonly ends: number[];
}
