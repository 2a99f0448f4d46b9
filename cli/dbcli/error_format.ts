/** Errors as text: message, the line of the statement with a mark under the place, detail and hint. Pure. */
import type { DatabaseError } from "../../engine/base/errors.ts";

/** Columns of a statement's line that are shown around the place of an error. */
const SHOWN_WIDTH = 76;

/** What is printed for an error, with its last line break. */
export function formatError(error: DatabaseError, statement: string): string {
  let text = `ERROR:  ${error.message}\n`;
  if (error.position !== undefined) text += formatPosition(statement, error.position);
  if (error.detail !== undefined) text += `DETAIL:  ${error.detail}\n`;
  if (error.hint !== undefined) text += `HINT:  ${error.hint}\n`;
  if (error.where !== undefined) text += `CONTEXT:  ${error.where}\n`;
  return text;
}

/** The line with the position, and a mark below it. `position` counts code points from 1. */
export function formatPosition(statement: string, position: number): string {
  const characters = [...statement];
  const at = Math.min(Math.max(position - 1, 0), characters.length);
  const before = characters.slice(0, at);
  const lineNumber = before.filter((character) => character === "\n").length + 1;
  const lineStart = before.lastIndexOf("\n") + 1;
  const nextBreak = characters.indexOf("\n", lineStart);
  const line = characters.slice(lineStart, nextBreak < 0 ? undefined : nextBreak);
  const column = at - lineStart;
  const from = column > SHOWN_WIDTH - 16 ? column - 30 : 0;
  const cut = line.slice(from, from + SHOWN_WIDTH);
  const shown = `${from > 0 ? "..." : ""}${cut.join("")}${from + SHOWN_WIDTH < line.length ? "..." : ""}`;
  const label = `LINE ${lineNumber}: `;
  const offset = label.length + (from > 0 ? 3 : 0) + column - from;
  return `${label}${shown.replaceAll("\t", " ")}\n${" ".repeat(offset)}^\n`;
}
