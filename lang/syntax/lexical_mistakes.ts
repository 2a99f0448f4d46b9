/** Mistakes that the lexer finds, before they are put into words. */
import type { Span } from "../source/source_file.ts";
import { ESCAPE, isEscape } from "./literals.ts";

/** One mistake; `text` is what stands there. */
export interface LexicalMistake extends Span {
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
export function numberMistake(text: string, start: number): LexicalMistake | null {
  if (/^(?:0x[0-9a-fA-F](?:_?[0-9a-fA-F])*|0b[01](?:_?[01])*|[0-9](?:_?[0-9])*)$/.test(text)) return null;
  if (/^[0-9](?:_?[0-9])*\.[0-9](?:_?[0-9])*(?:e[+-]?[0-9]+)?$/i.test(text)) return null;
  return { kind: "number", start, end: start + text.length, text };
}

/** Escapes of a text or character that mean nothing. */
export function textMistakes(text: string, start: number, isCharacter: boolean): LexicalMistake[] {
  const mistakes: LexicalMistake[] = [];
  for (const match of text.matchAll(ESCAPE)) {
    if (isEscape(match[0], isCharacter)) continue;
    const at = start + match.index;
    mistakes.push({ kind: "escape", start: at, end: at + match[0].length, text: match[0] });
  }
  return mistakes;
}
