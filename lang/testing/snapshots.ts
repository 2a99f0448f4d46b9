/** New texts of snapshots, written into the sources. */
import type { Edit } from "../diagnostics/diagnostic.ts";
import type { TypedProgram } from "../typed/tree.ts";
import { expectationAt } from "./expectations.ts";
import type { TestResult } from "./test_result.ts";

/** The edits that give failed snapshots the text that is there now. */
export function snapshotEdits(program: TypedProgram, results: readonly TestResult[]): Edit[] {
  const edits = new Map<string, Edit>();
  for (const { failure } of results) {
    if (failure === null || !failure.isSnapshot) continue;
    const { place, sides } = failure.trap;
    if (place === null || sides === null) continue;
    const found = expectationAt(program, place);
    if (found?.node.kind !== "snapshot") continue;
    const { file, node } = found;
    const lineStart = file.lineStarts[file.lineIndexAt(node.span.start)] ?? 0;
    const indent = /^[ \t]*/.exec(file.text.slice(lineStart))?.[0] ?? "";
    edits.set(`${file.path}:${node.expectedSpan.start}`, {
      file,
      span: node.expectedSpan,
      text: textLiteral(sides.left, indent),
    });
  }
  return [...edits.values()];
}

/** A text as it is written in a source whose line begins with an indentation. */
function textLiteral(text: string, indent: string): string {
  // The line break before the closing quotes belongs to the text.
  const isBlock = text.endsWith("\n") && !text.includes('"""') && !/[ \t\r]$/m.test(text);
  if (!isBlock) return `"${escaped(text).replaceAll("\n", "\\n").replaceAll('"', '\\"')}"`;
  const inner = `${indent}  `;
  const lines = escaped(text).split("\n").map((line) => line === "" ? "" : inner + line);
  return `"""\n${lines.join("\n")}${inner}"""`;
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("{", "\\{").replaceAll("\t", "\\t").replaceAll("\r", "\\r")
    .replaceAll(
      /[\p{Cc}\p{Cf}]/gu,
      (character) => character === "\n" ? character : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
    );
}
