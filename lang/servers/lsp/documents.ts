/** The documents that an editor has open, with the edits it tells of. */
import type { TextDocumentContentChangeEvent } from "vscode-languageserver";
import { TextLines } from "./text_lines.ts";

/** A text as the editor has it. */
export interface EditorDocument {
  /** As the editor writes it. */
  readonly uri: string;
  readonly version: number;
  readonly text: string;
}

/** The text after edits, which come one after the other. */
export function changed(text: string, changes: readonly TextDocumentContentChangeEvent[]): string {
  let at = text;
  for (const change of changes) {
    if (!("range" in change)) {
      at = change.text;
      continue;
    }
    const { start, end } = new TextLines(at).spanOf(change.range);
    at = at.slice(0, start) + change.text + at.slice(end);
  }
  return at;
}
