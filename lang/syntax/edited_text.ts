/** A piece of a file with edits in it: what the parser would make of it, in places of the file as it stands. */
import { type Builders, type Outcome, run } from "./automaton.ts";
import { classify } from "./classify.ts";
import { lex } from "./lexer.ts";
import type { TextEdit } from "./error_context.ts";
import { bracketPartners, declarationEnd } from "./split.ts";
import { Token } from "./token.ts";

/** One declaration of the piece, as it was read. */
export interface ReadDeclaration {
  readonly from: number;
  readonly to: number;
  readonly outcome: Outcome;
}

/** What came out of reading an edited piece. */
export interface Reading {
  /** Places are those of the file without the edits. */
  readonly tokens: readonly Token[];
  /** All up to the first that is wrong, which is the last. */
  readonly declarations: readonly ReadDeclaration[];
}

/** Reads a piece of a file with edits in it, which are sorted and apart. */
export function readEdited(
  text: string,
  piece: { readonly start: number; readonly end: number },
  edits: readonly TextEdit[],
  builders: Builders,
): Reading {
  const segments: { at: number; original: number; length: number; isCopy: boolean }[] = [];
  let edited = "";
  let copied = piece.start;
  const copyTo = (end: number) => {
    if (end > copied) {
      segments.push({ at: edited.length, original: copied, length: end - copied, isCopy: true });
      edited += text.slice(copied, end);
    }
  };
  for (const edit of edits) {
    copyTo(edit.start);
    segments.push({ at: edited.length, original: edit.start, length: edit.text.length, isCopy: false });
    edited += edit.text;
    copied = edit.end;
    segments.push({ at: edited.length, original: edit.end, length: 0, isCopy: false });
  }
  copyTo(piece.end);
  let segment = 0;
  const originalOf = (offset: number): number => {
    // Offsets are asked for in growing order but for the end of a token, which may lie in a later segment.
    while (segment > 0 && (segments[segment]?.at ?? 0) > offset) segment--;
    while (segment + 1 < segments.length && (segments[segment + 1]?.at ?? 0) <= offset) segment++;
    const found = segments[segment];
    if (found === undefined) return piece.start + offset;
    return found.isCopy ? found.original + Math.min(offset - found.at, found.length) : found.original;
  };
  const tokens = lex(edited).tokens.map((token) =>
    moved(token, originalOf(token.start), originalOf(token.end))
  );
  return { tokens, declarations: readDeclarations(tokens, builders) };
}

function moved(token: Token, start: number, end: number): Token {
  const copy = new Token(
    token.terminal,
    token.text,
    start,
    Math.max(start, end),
    token.isFirstOfLine,
    token.isUnindented,
  );
  copy.documentation = token.documentation;
  return copy;
}

function readDeclarations(tokens: readonly Token[], builders: Builders): ReadDeclaration[] {
  const partners = bracketPartners(tokens);
  const declarations: ReadDeclaration[] = [];
  for (let from = 0; from < tokens.length;) {
    const to = declarationEnd(tokens, partners, from);
    classify(tokens, from, to);
    const outcome = run(tokens, from, to, builders);
    declarations.push({ from, to, outcome });
    if (outcome.kind === "error") break;
    from = to;
  }
  return declarations;
}
