/**
 * What the compiler says of a program that must fail, as the parts of its snapshot: `report`, as people see it;
 * `types`, the expected and actual types that the report does not show by themselves; and each fix in turn, as the
 * lines it changes with its edits in place: `[-removed-]{+added+}`.
 */
import { findEntryPoints } from "../../lang/check/entry_points.ts";
import { PackageAnalyzer } from "../../lang/check/package_analysis.ts";
import { analyzePage } from "../../lang/check/page_analysis.ts";
import { filesOfPage } from "../../lang/diagnostics/codes/code_page.ts";
import type { Diagnostic, Edit, Fix } from "../../lang/diagnostics/diagnostic.ts";
import { applyToFiles } from "../../lang/diagnostics/edits.ts";
import { renderDiagnostic, renderReport } from "../../lang/diagnostics/human.ts";
import { isTarget } from "../../lang/package/manifest.ts";
import { formatSnapshot, SnapshotFolder } from "./snapshot.ts";

/** The programs that must fail, named after their code. */
export const failCases: SnapshotFolder = new SnapshotFolder(new URL("./fail/", import.meta.url));

const analyzer = new PackageAnalyzer();

/** What the compiler says of a program, for the target that it names in a comment. */
export function diagnosticsOf(program: string): readonly Diagnostic[] {
  const target = /^\/\/ target: (\S+)$/m.exec(program)?.[1];
  const { diagnostics, program: typed } = analyzePage(analyzer, program);
  if (target === undefined || !isTarget(target) || typed === null) return diagnostics;
  return [...diagnostics, ...findEntryPoints(typed, target).diagnostics];
}

/** The text of a program's snapshot, given its diagnostics. */
export function failSnapshot(program: string, diagnostics: readonly Diagnostic[]): string {
  const types = diagnostics.map(hiddenTypes).join("");
  const fixes = diagnostics.flatMap((diagnostic) => diagnostic.fixes);
  return formatSnapshot({
    program,
    expected: new Map([
      ["report", renderReport(diagnostics)],
      ...(types === "" ? [] : [["types", types] as const]),
      ...fixes.map(({ edits }, index) => [`fix ${index}`, renderEdits(edits)] as const),
    ]),
  });
}

function hiddenTypes(diagnostic: Diagnostic): string {
  const { code, expected, actual } = diagnostic;
  const lines = [
    ...(expected === undefined ? [] : [`expected ${expected}`]),
    ...(actual === undefined ? [] : [`found ${actual}`]),
  ];
  const shown = renderDiagnostic(diagnostic).split("\n").map((line) => line.trim());
  return lines.filter((line) => !shown.includes(line)).map((line) => `${code}: ${line}\n`).join("");
}

/** The changed lines of each file, with the edits in place. */
function renderEdits(edits: readonly Edit[]): string {
  const ordered = edits.toSorted((left, right) =>
    left.file === right.file
      ? left.span.start - right.span.start || left.span.end - right.span.end
      : left.file.path < right.file.path
      ? -1
      : 1
  );
  const hunks: { edit: Edit; text: string; end: number }[] = [];
  for (const edit of ordered) {
    const { file, span } = edit;
    const removed = file.text.slice(span.start, span.end);
    const change = (removed === "" ? "" : `[-${removed}-]`) + (edit.text === "" ? "" : `{+${edit.text}+}`);
    const last = hunks.at(-1);
    if (last?.edit.file === file && !file.text.slice(last.end, span.start).includes("\n")) {
      last.text += file.text.slice(last.end, span.start) + change;
      last.end = span.end;
    } else {
      const lineStart = file.lineStarts[file.lineIndexAt(span.start)];
      hunks.push({ edit, text: file.text.slice(lineStart, span.start) + change, end: span.end });
    }
  }
  return hunks.map(({ edit: { file, span }, text, end }) => {
    const lineEnd = file.text.indexOf("\n", end);
    const rest = file.text.slice(end, lineEnd < 0 ? file.text.length : lineEnd);
    return `@@ ${file.path}:${file.positionOf(span).line}\n${text}${rest}\n`;
  }).join("");
}

/** The program after a fix, with its other files after comments. */
export function fixedProgram(program: string, fix: Fix): string {
  const files = new Map(filesOfPage(program));
  for (const [path, { after }] of applyToFiles(fix.edits)) files.set(path, after);
  return [...files].map(([path, text], index) => index === 0 ? text : `// ${path}\n${text}`).join("");
}
