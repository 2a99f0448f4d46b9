/** Errors and their fixes as editors take them. */
import type {
  CodeAction,
  Diagnostic as EditorDiagnostic,
  DiagnosticSeverity,
  DiagnosticTag,
  Location as EditorLocation,
  Range,
  WorkspaceEdit,
} from "vscode-languageserver";
import type { Diagnostic, Edit, Fix, Location } from "../../diagnostics/diagnostic.ts";
import { compatibleFixes } from "../../diagnostics/edits.ts";
import { linesOf } from "./text_lines.ts";

const SEVERITIES: Readonly<Record<Diagnostic["severity"], DiagnosticSeverity>> = {
  error: 1,
  warning: 2,
  info: 3,
};

const UNNECESSARY: DiagnosticTag = 1;

/** Codes of what nobody uses: editors show it paler. */
const UNUSED: ReadonlySet<string> = new Set(["LI0001", "LI0002", "LI0007", "LI0011", "MX0002"]);

/** How places are named: URIs of files and of the library. */
export type Locate = (location: Location) => EditorLocation | null;

/** An error as editors show it. */
export function editorDiagnostic(diagnostic: Diagnostic, locate: Locate): EditorDiagnostic {
  const { file, span, severity, code, title, message, hint, labels } = diagnostic;
  const related = labels.flatMap((label) => {
    const location = locate(label);
    return location === null ? [] : [{ location, message: label.message }];
  });
  return {
    range: linesOf(file).rangeOf(span),
    severity: SEVERITIES[severity],
    code,
    source: "lang",
    message: [messageOf(title, message), ...hint === undefined ? [] : [hint]].join("\n"),
    ...(related.length === 0 ? {} : { relatedInformation: related }),
    ...(UNUSED.has(code) ? { tags: [UNNECESSARY] } : {}),
  };
}

/** The title, then what is wrong here; once where the message begins with the title's words. */
function messageOf(title: string, message: string): string {
  return message.toLowerCase().startsWith(title.toLowerCase()) ? message : `${title}. ${message}`;
}

/** How edits are handed over. */
export type MakeEdit = (edits: readonly Edit[]) => WorkspaceEdit;

/** Which actions are asked for, by kind; all when nothing is said. */
export type Wanted = (kind: string) => boolean;

/** Ways to fix the errors that a range touches: every fix of each, and all that are safe at once. */
export function codeActions(
  diagnostics: readonly Diagnostic[],
  { path, range, wanted, locate, makeEdit }: {
    readonly path: string;
    readonly range: Range;
    readonly wanted: Wanted;
    readonly locate: Locate;
    readonly makeEdit: MakeEdit;
  },
): CodeAction[] {
  const own = diagnostics.filter(({ file }) => file.path === path);
  const actions: CodeAction[] = [];
  if (wanted("quickfix")) {
    for (const diagnostic of own) {
      if (!touches(linesOf(diagnostic.file).rangeOf(diagnostic.span), range)) continue;
      const shown = editorDiagnostic(diagnostic, locate);
      for (const [index, fix] of diagnostic.fixes.entries()) {
        actions.push({
          title: titleOf(fix),
          kind: "quickfix",
          diagnostics: [shown],
          ...(index === 0 && fix.applicability === "safe" ? { isPreferred: true } : {}),
          edit: makeEdit(fix.edits),
        });
      }
      const alike = own.filter((each) => each.code === diagnostic.code);
      const fixes = compatibleFixes(safeFixes(alike)).taken;
      if (fixes.length > 1) {
        const title = `Fix all ${diagnostic.code} in this file`;
        if (!actions.some((action) => action.title === title)) {
          actions.push({
            title,
            kind: "quickfix",
            diagnostics: alike.map((each) => editorDiagnostic(each, locate)),
            edit: makeEdit(fixes.flatMap((fix) => fix.edits)),
          });
        }
      }
    }
  }
  if (wanted("source.fixAll")) {
    const fixes = compatibleFixes(safeFixes(own)).taken;
    if (fixes.length > 0) {
      actions.push({
        title: "Apply all safe fixes in this file",
        kind: "source.fixAll",
        edit: makeEdit(fixes.flatMap((fix) => fix.edits)),
      });
    }
  }
  return actions;
}

/** The first fix of each error, where that is safe. */
function safeFixes(diagnostics: readonly Diagnostic[]): Fix[] {
  return diagnostics.flatMap(({ fixes }) => fixes[0]?.applicability === "safe" ? [fixes[0]] : []);
}

function titleOf({ title, applicability }: Fix): string {
  return applicability === "placeholder" ? `${title} (to fill in)` : title;
}

function touches(left: Range, right: Range): boolean {
  return !isBefore(left.end, right.start) && !isBefore(right.end, left.start);
}

function isBefore(left: Range["start"], right: Range["start"]): boolean {
  return left.line < right.line || left.line === right.line && left.character < right.character;
}
