/** What of a file can be folded: brackets over several lines, comments, imports. */
import type { FoldingRange } from "vscode-languageserver";
import type { ParsedFile } from "../../syntax/parser.ts";
import { linesOf } from "./text_lines.ts";

/** The foldable parts, in the order of their places. */
export function foldingRanges({ module, tokens, comments }: ParsedFile): FoldingRange[] {
  const lines = linesOf(module.file);
  const lineOf = (offset: number) => lines.positionAt(offset).line;
  const ranges: FoldingRange[] = [];
  const open: number[] = [];
  for (const { text, start } of tokens) {
    if (/^[([{]$/.test(text)) open.push(start);
    else if (/^[)\]}]$/.test(text)) {
      const from = open.pop();
      if (from === undefined) continue;
      const startLine = lineOf(from);
      // The line of the closing bracket stays to be seen.
      const endLine = lineOf(start) - 1;
      if (endLine > startLine) ranges.push({ startLine, endLine });
    }
  }
  let first = -2;
  let last = -2;
  const closeComment = () => {
    if (last > first) ranges.push({ startLine: first, endLine: last, kind: "comment" });
  };
  for (const { isFirstOfLine, start } of comments) {
    if (!isFirstOfLine) continue;
    const line = lineOf(start);
    if (line !== last + 1) {
      closeComment();
      first = line;
    }
    last = line;
  }
  closeComment();
  const uses = module.declarations.filter((each) => each.kind === "use");
  const from = uses[0];
  const to = uses.at(-1);
  if (from !== undefined && to !== undefined && lineOf(to.span.end) > lineOf(from.span.start)) {
    ranges.push({ startLine: lineOf(from.span.start), endLine: lineOf(to.span.end), kind: "imports" });
  }
  return ranges.sort((left, right) => left.startLine - right.startLine || right.endLine - left.endLine);
}
