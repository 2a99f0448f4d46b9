/**
 * Diagnostics as JSON: the form of `check --format json`, of the agent and of editors.
 *
 * Lines and columns count from 1, columns and lengths in code points; byte offsets are those of the file in UTF-8.
 */
import type { SourceFile, Span } from "../source/source_file.ts";
import type { Severity } from "./codes/code_page.ts";
import type { Applicability, Diagnostic, Fix } from "./diagnostic.ts";

/** A place in a file. */
export interface JsonSpan {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly length: number;
  readonly byte_start: number;
  readonly byte_end: number;
}

/** One way to fix an error; `index` is what `fix --alternative` takes. */
export interface JsonFix {
  readonly index: number;
  readonly title: string;
  readonly applicability: Applicability;
  readonly edits: readonly { readonly span: JsonSpan; readonly text: string }[];
}

/** One error. */
export interface JsonDiagnostic {
  readonly code: string;
  readonly severity: Severity;
  readonly title: string;
  readonly message: string;
  readonly span: JsonSpan;
  readonly labels: readonly { readonly span: JsonSpan; readonly message: string }[];
  readonly hint?: string;
  readonly expected?: string;
  readonly actual?: string;
  readonly fixes: readonly JsonFix[];
  readonly see_also: readonly string[];
}

/** A place as JSON has it. */
export function spanToJson(file: SourceFile, span: Span): JsonSpan {
  const position = file.positionOf(span);
  return {
    file: file.path,
    line: position.line,
    column: position.column,
    length: position.length,
    byte_start: position.byteStart,
    byte_end: position.byteEnd,
  };
}

function fixToJson(fix: Fix, index: number): JsonFix {
  return {
    index,
    title: fix.title,
    applicability: fix.applicability,
    edits: fix.edits.map(({ file, span, text }) => ({ span: spanToJson(file, span), text })),
  };
}

/** A diagnostic as JSON has it. */
export function diagnosticToJson(diagnostic: Diagnostic): JsonDiagnostic {
  const { code, severity, title, message, file, span, labels, hint, expected, actual } = diagnostic;
  return {
    code,
    severity,
    title,
    message,
    span: spanToJson(file, span),
    labels: labels.map((label) => ({ span: spanToJson(label.file, label.span), message: label.message })),
    ...(hint === undefined ? {} : { hint }),
    ...(expected === undefined ? {} : { expected }),
    ...(actual === undefined ? {} : { actual }),
    fixes: diagnostic.fixes.map(fixToJson),
    see_also: diagnostic.seeAlso,
  };
}

/** What `check --format json` prints. */
export interface JsonReport {
  /** Whether there is no error. */
  readonly ok: boolean;
  readonly diagnostics: readonly JsonDiagnostic[];
}

/** All diagnostics of a package as one object. */
export function reportToJson(diagnostics: readonly Diagnostic[]): JsonReport {
  return {
    ok: !diagnostics.some(({ severity }) => severity === "error"),
    diagnostics: diagnostics.map(diagnosticToJson),
  };
}
