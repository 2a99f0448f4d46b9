/**
 * The one diagnostic object: what the terminal renders, `check --format json` prints, and agent, editors and SARIF
 * are given.
 *
 * Inside the compiler a place is a file and a span; `toJson` of `json.ts` turns it into the form with lines, columns
 * and bytes. Invariants: `code` is in the registry (`codes/`); the edits of a fix do not overlap; one error gives
 * one diagnostic.
 */
import type { Severity } from "./codes/code_page.ts";
import type { SourceFile, Span } from "../source/source_file.ts";

/**
 * How far a fix may be trusted: `safe` keeps or restores the meaning, `maybe` is a guess at it, `placeholder` leaves
 * something to fill in.
 */
export type Applicability = "safe" | "maybe" | "placeholder";

/** A place in a file. */
export interface Location {
  readonly file: SourceFile;
  readonly span: Span;
}

/** A remark on another place that explains the error. */
export interface Label extends Location {
  readonly message: string;
}

/** Replaces the span by the text. */
export interface Edit extends Location {
  readonly text: string;
}

/** One way to fix an error. */
export interface Fix {
  /** Imperative and short: "add the missing cases". */
  readonly title: string;
  readonly applicability: Applicability;
  readonly edits: readonly Edit[];
}

/** One error. */
export interface Diagnostic extends Location {
  /** Two letters for the phase and four digits, never renumbered. */
  readonly code: string;
  readonly severity: Severity;
  /** What kind of error this is, the same for every case of the code. */
  readonly title: string;
  /** What was expected, what was found and why, for this case; names in backquotes. */
  readonly message: string;
  readonly labels: readonly Label[];
  readonly hint?: string;
  /** The type or token that was expected, where that is the error. */
  readonly expected?: string;
  /** What stands there instead. */
  readonly actual?: string;
  readonly fixes: readonly Fix[];
  readonly seeAlso: readonly string[];
}
