/** Diagnostics as the terminal shows them, taken apart for pages: pieces of text, each with what it is. */
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { renderReport } from "../../diagnostics/human.ts";
import type { Role } from "../../diagnostics/style.ts";

/** A piece of text; the role is empty for plain text. */
export type ReportPiece = readonly [role: Role | "", text: string];

// Of Unicode's private area: what stands before, between and behind role and text of a piece.
const BEGIN = "\u{f0000}";
const MIDDLE = "\u{f0001}";
const END = "\u{f0002}";

/** The report's pieces; put together they are the text that the terminal shows. */
export function reportPieces(diagnostics: readonly Diagnostic[]): ReportPiece[] {
  const marked = renderReport(diagnostics, {
    style: (role, text) => text === "" ? "" : `${BEGIN}${role}${MIDDLE}${text}${END}`,
  });
  const pieces: ReportPiece[] = [];
  for (const part of marked.split(END)) {
    const begin = part.indexOf(BEGIN);
    const middle = part.indexOf(MIDDLE);
    const plain = begin < 0 || middle < begin ? part : part.slice(0, begin);
    if (plain !== "") pieces.push(["", plain]);
    if (plain === part) continue;
    const role = ROLES.find((each) => each === part.slice(begin + BEGIN.length, middle));
    pieces.push([role ?? "", part.slice(middle + MIDDLE.length)]);
  }
  return pieces;
}

const ROLES: readonly Role[] = ["error", "warning", "info", "success", "strong", "quiet", "add", "remove"];
