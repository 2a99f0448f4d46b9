/**
 * Collects the diagnostics of one module: fills in title and severity from the registry of codes, and tells one
 * error once.
 */
import { codePage } from "../diagnostics/codes/registry.ts";
import type { Applicability, Diagnostic, Edit, Fix, Label } from "../diagnostics/diagnostic.ts";
import type { SourceFile, Span } from "../source/source_file.ts";

/** What a diagnostic may say beside its message. */
export interface Details {
  readonly labels?: readonly Label[];
  readonly hint?: string | undefined;
  readonly expected?: string;
  readonly actual?: string;
  readonly fixes?: readonly Fix[];
  readonly seeAlso?: readonly string[];
}

/** Gathers what is wrong with one file. */
export class Reporter {
  readonly file: SourceFile;
  diagnostics: Diagnostic[] = [];
  readonly #seen = new Set<string>();

  constructor(file: SourceFile) {
    this.file = file;
  }

  /** Adds a diagnostic, unless the same code stands at the same place already. */
  report(code: string, span: Span, message: string, details: Details = {}): void {
    const key = `${code} ${span.start} ${span.end}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    const page = codePage(code);
    this.diagnostics.push({
      code,
      severity: page.severity,
      title: page.title,
      message,
      file: this.file,
      span,
      labels: details.labels ?? [],
      ...(details.hint === undefined ? {} : { hint: details.hint }),
      ...(details.expected === undefined ? {} : { expected: details.expected }),
      ...(details.actual === undefined ? {} : { actual: details.actual }),
      fixes: details.fixes ?? [],
      seeAlso: details.seeAlso ?? [],
    });
  }

  /** Adds a diagnostic of somebody else. */
  add(diagnostic: Diagnostic): void {
    this.diagnostics.push(diagnostic);
  }

  /** Takes away what does not hold. */
  keepOnly(holds: (diagnostic: Diagnostic) => boolean): void {
    this.diagnostics = this.diagnostics.filter(holds);
  }

  /** Whether an error has been told of a place inside of the span. */
  hasErrorWithin({ start, end }: Span): boolean {
    return this.diagnostics.some(({ severity, span }) =>
      severity === "error" && span.start >= start && span.end <= end
    );
  }

  /** The number of errors so far. */
  get errorCount(): number {
    return this.diagnostics.filter((diagnostic) => diagnostic.severity === "error").length;
  }

  /** A fix of one edit in this file. */
  fix(title: string, applicability: Applicability, span: Span, text: string): Fix {
    return { title, applicability, edits: [this.edit(span, text)] };
  }

  /** An edit in this file. */
  edit(span: Span, text: string): Edit {
    return { file: this.file, span, text };
  }

  /** A fix that puts text in at an offset. */
  insert(title: string, applicability: Applicability, offset: number, text: string): Fix {
    return this.fix(title, applicability, { start: offset, end: offset }, text);
  }

  /** A label in this file. */
  label(span: Span, message: string): Label {
    return { file: this.file, span, message };
  }

  /** The source text of a span. */
  text(span: Span): string {
    return this.file.text.slice(span.start, span.end);
  }
}
