/** Formatting as edits of the lines that change, so that cursors and marks elsewhere stay where they are. */
import type { Range, TextEdit } from "vscode-languageserver";
import { diffLines } from "../../diagnostics/line_diff.ts";
import type { SourceFile } from "../../source/source_file.ts";
import { format } from "../../syntax/format.ts";
import { linesOf } from "./text_lines.ts";

/** The edits that bring a file into the one style; those that touch a range alone, where one is given. */
export function formattingEdits(file: SourceFile, range: Range | null = null): TextEdit[] {
  const after = format(file);
  if (after === file.text) return [];
  const lines = linesOf(file);
  const edits: TextEdit[] = [];
  let offset = 0;
  let start = 0;
  let text = "";
  let isOpen = false;
  const close = () => {
    if (isOpen && file.text.slice(start, offset) !== text) {
      edits.push({ range: lines.rangeOf({ start, end: offset }), newText: text });
    }
    isOpen = false;
    text = "";
  };
  for (const step of diffLines(splitLines(file.text), splitLines(after))) {
    if (step.kind === "same") {
      close();
      offset += step.text.length;
      continue;
    }
    if (!isOpen) start = offset;
    isOpen = true;
    if (step.kind === "add") text += step.text;
    else offset += step.text.length;
  }
  close();
  return range === null
    ? edits
    : edits.filter((edit) =>
      edit.range.start.line <= range.end.line && range.start.line <= edit.range.end.line
    );
}

/** Lines with their ends. */
function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
