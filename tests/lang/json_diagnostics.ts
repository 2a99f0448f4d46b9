/** Diagnostics made from their JSON, which shows that it has everything that people see. */
import type { Diagnostic, Location } from "../../lang/diagnostics/diagnostic.ts";
import type { JsonReport, JsonSpan } from "../../lang/diagnostics/json.ts";
import { SourceFile } from "../../lang/source/source_file.ts";

/** The diagnostics of a report on some files, by the byte offsets of the spans. */
export function diagnosticsOfJson(report: JsonReport, texts: ReadonlyMap<string, string>): Diagnostic[] {
  const files = new Map([...texts].map(([path, text]) => [path, new SourceFile(path, text)]));
  const located = (span: JsonSpan): Location => {
    const file = files.get(span.file) ?? new SourceFile(span.file, "");
    files.set(span.file, file);
    const start = textBefore(file.text, span.byte_start).length;
    return { file, span: { start, end: textBefore(file.text, span.byte_end).length } };
  };
  return report.diagnostics.map(({ span, labels, fixes, see_also, ...same }) => ({
    ...same,
    ...located(span),
    labels: labels.map(({ span, message }) => ({ ...located(span), message })),
    fixes: fixes.toSorted((left, right) => left.index - right.index).map((
      { title, applicability, edits },
    ) => ({
      title,
      applicability,
      edits: edits.map(({ span, text }) => ({ ...located(span), text })),
    })),
    seeAlso: see_also,
  }));
}

/** The ranges in code points of all spans of a report, by their byte offsets and by line, column and length. */
export function spansOf(
  report: JsonReport,
  texts: ReadonlyMap<string, string>,
): { readonly byBytes: readonly number[]; readonly byColumns: readonly number[] }[] {
  const spans = report.diagnostics.flatMap(({ span, labels, fixes }) => [
    span,
    ...labels.map((label) => label.span),
    ...fixes.flatMap(({ edits }) => edits.map((edit) => edit.span)),
  ]);
  return spans.map(({ file, line, column, length, byte_start, byte_end }) => {
    const text = texts.get(file) ?? "";
    const lines = text.split("\n").slice(0, line - 1).map((each) => `${each}\n`);
    const start = [...lines.join("")].length + column - 1;
    return {
      byBytes: [byte_start, byte_end].map((end) => [...textBefore(text, end)].length),
      byColumns: [start, start + length],
    };
  });
}

function textBefore(text: string, byteOffset: number): string {
  return new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, byteOffset));
}
