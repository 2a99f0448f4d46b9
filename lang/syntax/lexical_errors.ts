/** Errors that the lexer finds, before they are put into words. */
import type { Span } from "../source/source_file.ts";
import { ESCAPE, isEscape } from "./literals.ts";

/** One error; `text` is what stands there. */
export interface LexicalError extends Span {
  readonly kind:
    | "character"
    | "escape"
    | "number"
    | "quotes"
    | "unclosed_text"
    | "long_text"
    | "interpolation"
    | "comment";
  readonly text: string;
}

/** What is wrong with a number, or null. */
export function numberError(text: string, start: number): LexicalError | null {
  if (/^(?:0x[0-9a-fA-F](?:_?[0-9a-fA-F])*|0b[01](?:_?[01])*|[0-9](?:_?[0-9])*)$/.test(text)) return null;
  if (/^[0-9](?:_?[0-9])*\.[0-9](?:_?[0-9])*(?:e[+-]?[0-9]+)?$/i.test(text)) return null;
  return { kind: "number", start, end: start + text.length, text };
}

/** Escapes of a text or character that mean nothing. */
export function textErrors(text: string, start: number, isCharacter: boolean): LexicalError[] {
  const errors: LexicalError[] = [];
  for (const match of text.matchAll(ESCAPE)) {
    if (isEscape(match[0], isCharacter)) continue;
    const at = start + match.index;
    errors.push({ kind: "escape", start: at, end: at + match[0].length, text: match[0] });
  }
  return errors;
}
