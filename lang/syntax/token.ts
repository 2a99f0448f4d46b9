/**
 * Tokens: what the lexer makes of a text, and what the grammar is written in.
 *
 * A token's type is the name of its terminal in `grammar.ne`: for keywords and punctuation the text itself, for
 * others a name such as `type_name`. White space and comments are no tokens; comments are kept beside them, so that
 * nothing of a text is lost.
 */
import type { Span } from "../source/source_file.ts";
import type { Documentation } from "./ast.ts";

/** One token. What its terminal is may depend on its neighbors; `classify` settles that. */
export class Token implements Span {
  /** Index in {@link TERMINALS}. */
  terminal: number;
  /** As it stands in the source. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Whether it is the first of its line. */
  readonly isFirstOfLine: boolean;
  /** Whether it stands at the very start of a line. */
  readonly isUnindented: boolean;
  /** The `///` lines right above it. */
  documentation: Documentation | null = null;

  constructor(
    terminal: number,
    text: string,
    start: number,
    end: number,
    isFirstOfLine: boolean,
    isUnindented: boolean,
  ) {
    this.terminal = terminal;
    this.text = text;
    this.start = start;
    this.end = end;
    this.isFirstOfLine = isFirstOfLine;
    this.isUnindented = isUnindented;
  }

  /** Name of the terminal, by which the grammar knows it. */
  get type(): string {
    return TERMINALS[this.terminal] ?? "";
  }

  /** Where it stands, without the token. */
  get span(): Span {
    return { start: this.start, end: this.end };
  }
}

/** A comment, from its slashes to the end of its line. */
export interface Comment extends Span {
  readonly text: string;
  /** Whether nothing but white space stands before it on its line. */
  readonly isFirstOfLine: boolean;
  /** Whether it begins with exactly three slashes. */
  readonly isDocumentation: boolean;
}

/** All words with a meaning of their own; none of them can be a name. */
export const KEYWORDS: readonly string[] = [
  "and",
  "as",
  "break",
  "const",
  "continue",
  "else",
  "false",
  "fn",
  "for",
  "if",
  "in",
  "inout",
  "interface",
  "let",
  "match",
  "not",
  "or",
  "pub",
  "return",
  "true",
  "type",
  "use",
  "uses",
  "var",
  "while",
  "_",
];

/** Operators and brackets, as they stand in the grammar. */
export const PUNCTUATION: readonly string[] = [
  "(",
  ")",
  "[",
  "]",
  "{",
  "}",
  ",",
  ":",
  ".",
  "..",
  "..=",
  "=>",
  "->",
  "?",
  "=",
  "==",
  "!=",
  "<",
  "<=",
  ">",
  ">=",
  "<<",
  ">>",
  "+",
  "-",
  "*",
  "/",
  "%",
  "+%",
  "-%",
  "*%",
  "&",
  "|",
  "^",
  "+=",
  "-=",
  "*=",
  "/=",
  "%=",
  "+%=",
  "-%=",
  "*%=",
];

/** Terminals that many texts belong to. */
const NAMED_TERMINALS: readonly string[] = [
  "name",
  "type_name",
  "integer",
  "float",
  "character",
  "text",
  "text_start",
  "text_part",
  "text_end",
  "interpolation_start",
  "interpolation_end",
];

/** Terminals that `classify` makes of others, and what they are written as; `foreign` is in no rule of the grammar. */
export const CONTEXTUAL_TERMINALS: Readonly<Record<string, string>> = {
  open_paren: "(",
  open_bracket: "[",
  negate: "-",
  record_brace: "{",
  return_alone: "return",
  let_else: "else",
  test: "test",
  property: "property",
  eval: "eval",
  threshold: "threshold",
  case: "case",
  intrinsic: "intrinsic",
  extern: "extern",
  builtin: "builtin",
  foreign: "",
};

/** All terminals of the grammar; the first is the end of a declaration. */
export const TERMINALS: readonly string[] = [
  "$end",
  ...KEYWORDS,
  ...PUNCTUATION,
  ...NAMED_TERMINALS,
  ...Object.keys(CONTEXTUAL_TERMINALS),
];

const terminalNumbers = new Map(TERMINALS.map((name, index) => [name, index]));

/** Index of a terminal by its name in the grammar. */
export function terminalNumber(name: string): number {
  const number = terminalNumbers.get(name);
  if (number === undefined) throw new Error(`Cannot find the terminal ${name}: the lexer does not know it`);
  return number;
}
