/**
 * What the recognizers of errors are given and what they propose.
 *
 * A recognizer looks at the tokens around the one that does not fit. What it proposes is tried: a fix is offered only
 * if the text can be read on after it, so a recognizer need not be certain.
 */
import type { Applicability, Label } from "../diagnostics/diagnostic.ts";
import type { SourceFile, Span } from "../source/source_file.ts";
import { terminalNumber, TERMINALS, Token } from "./token.ts";

/** A change of the text. */
export interface TextEdit extends Span {
  readonly text: string;
}

/** One way to repair an error. */
export interface ProposedFix {
  readonly title: string;
  readonly applicability: Applicability;
  readonly edits: readonly TextEdit[];
}

/** An error that was recognized. */
export interface Proposal {
  readonly code: string;
  readonly span: Span;
  readonly message: string;
  readonly labels?: readonly Omit<Label, "file">[];
  readonly hint?: string;
  readonly expected?: string;
  readonly actual?: string;
  readonly fixes: readonly ProposedFix[];
  /** Whether it is reported even when none of its fixes lets the text be read on. */
  readonly isCertain?: boolean;
}

/** Looks for one kind of error. */
export type Recognizer = (context: ErrorContext) => Proposal | null;

const nothing = new Token(0, "", 0, 0, false, false);

/** The place of an error in a declaration. */
export class ErrorContext {
  readonly file: SourceFile;
  readonly tokens: readonly Token[];
  /** First token of the declaration. */
  readonly from: number;
  /** One behind its last token. */
  readonly to: number;
  /** The token that does not fit; `to` at the end. */
  readonly index: number;
  /** Terminals that would fit. */
  readonly expected: ReadonlySet<number>;
  #open: number[] | null = null;

  constructor(
    file: SourceFile,
    tokens: readonly Token[],
    range: { readonly from: number; readonly to: number; readonly index: number },
    expected: readonly number[],
  ) {
    this.file = file;
    this.tokens = tokens;
    this.from = range.from;
    this.to = range.to;
    this.index = range.index;
    this.expected = new Set(expected);
  }

  /** The token at a distance from the wrong one; one of no text outside of the declaration. */
  at(distance: number): Token {
    const index = this.index + distance;
    return index < this.from || index >= this.to ? this.#beyond() : this.tokens[index] ?? nothing;
  }

  /** The token by its own index. */
  token(index: number): Token {
    return this.at(index - this.index);
  }

  #beyond(): Token {
    const end = this.tokens[this.to - 1]?.end ?? 0;
    return new Token(0, "", end, end, false, false);
  }

  /** Text of the token at a distance. */
  text(distance: number): string {
    return this.at(distance).text;
  }

  /** The wrong token. */
  get wrong(): Token {
    return this.at(0);
  }

  /** Whether the declaration ends where more should stand. */
  get isAtEnd(): boolean {
    return this.index >= this.to;
  }

  /** Whether a terminal would fit, by its name in the grammar. */
  expects(name: string): boolean {
    return this.expected.has(terminalNumber(name));
  }

  /** Whether an expression may begin here. */
  get expectsExpression(): boolean {
    return this.expects("integer") && this.expects("if");
  }

  /** Whether an expression has just ended here, and may go on. */
  get isAfterExpression(): boolean {
    return this.expects("*") && this.expects("==");
  }

  /** Whether a statement may begin here. */
  get expectsStatement(): boolean {
    return this.expects("let") && this.expects("while");
  }

  /** Whether a declaration should begin here: at the start, or on a new line behind what may be one. */
  get isBetweenDeclarations(): boolean {
    if (this.expects("pub") && !this.expectsExpression) return true;
    return this.expected.has(0) && this.wrong.isFirstOfLine && this.open.length === 0;
  }

  /** Indexes of the brackets that are open before the wrong token, the innermost last. */
  get open(): readonly number[] {
    if (this.#open === null) {
      this.#open = [];
      for (let index = this.from; index < this.index; index++) {
        const text = this.tokens[index]?.text ?? "";
        if (text === "(" || text === "[" || text === "{") this.#open.push(index);
        else if (text === ")" || text === "]" || text === "}") this.#open.pop();
      }
    }
    return this.#open;
  }

  /** Index of the bracket that closes the one at an index; the end of the declaration when none does. */
  closing(open: number): number {
    for (let index = open, depth = 0; index < this.to; index++) {
      const { text } = this.token(index);
      if (/^[([{]$/.test(text)) depth++;
      if (/^[)\]}]$/.test(text) && --depth === 0) return index;
    }
    return this.to;
  }

  /** Index of the first token of the line that a token is on. */
  lineStart(index: number): number {
    let first = index;
    while (first > this.from && this.tokens[first]?.isFirstOfLine === false) first--;
    return first;
  }

  /** Index behind the last token on the line of a token. */
  lineEnd(index: number): number {
    let end = index + 1;
    while (end < this.to && this.tokens[end]?.isFirstOfLine === false) end++;
    return Math.min(end, this.to);
  }

  /** Whether a token, by its distance, begins a line. */
  isFirstOfLine(distance: number): boolean {
    return this.index + distance >= this.to || this.at(distance).isFirstOfLine;
  }

  /** The source between two offsets. */
  source(start: number, end: number): string {
    return this.file.text.slice(start, end);
  }

  /** Indentation of the line that an offset is on. */
  indentation(offset: number): string {
    return /^[ \t]*/.exec(this.file.lineText(this.file.lineIndexAt(offset)))?.[0] ?? "";
  }
}

/** Puts text in. */
export function insertion(offset: number, text: string): TextEdit {
  return { start: offset, end: offset, text };
}

/** Puts text in place of a span. */
export function replacement(span: Span, text: string): TextEdit {
  return { start: span.start, end: span.end, text };
}

/** Takes a token away, with the space on one side of it. */
export function deletion(context: ErrorContext, token: Token): TextEdit {
  const text = context.file.text;
  let { start, end } = token;
  if (/[ \t]/.test(text[end] ?? "") && (token.isFirstOfLine || /[\s([{]/.test(text[start - 1] ?? ""))) {
    while (/[ \t]/.test(text[end] ?? "")) end++;
  } else if (/[ \t]/.test(text[start - 1] ?? "") && /[\n\r]|^$/.test(text[end] ?? "")) {
    while (/[ \t]/.test(text[start - 1] ?? "")) start--;
  }
  return { start, end, text: "" };
}

/** Name of a token's terminal. */
export function typeOf(token: Token): string {
  return TERMINALS[token.terminal] ?? "";
}

/** A token in backquotes, or what it is. */
export function quoted(token: Token): string {
  if (token.text === "") return "the end of the declaration";
  const text = token.text.length > 30 ? `${token.text.slice(0, 28)}…` : token.text;
  return `\`${text.replaceAll("\n", " ")}\``;
}
