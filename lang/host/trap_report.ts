/** How a program ended before its end, in the words of both evaluators. */
import { ExpectationTrap, ProgramTrap } from "../interpret/interpreter.ts";

/** What went wrong and where. */
export interface TrapReport {
  /** As in `typed/trap.ts`. */
  readonly kind: string;
  readonly message: string;
  /** Null where the compiler's own code traps. */
  readonly place: { readonly file: string; readonly line: number; readonly column: number } | null;
  /** The sides of a comparison in `expect`; of a snapshot what is there and what was written. */
  readonly sides: { readonly left: string; readonly right: string } | null;
}

const MESSAGES: Readonly<Record<string, string>> = {
  overflow: "Cannot compute: the result does not fit in its type",
  division: "Cannot divide: the right side is zero",
  index: "Cannot take the element: the list has none at this index",
  conversion: "Cannot convert: the number does not fit",
  expect: "expect does not hold",
  depth: "Cannot call the function: the calls are too deep",
  memory: "Cannot take memory: the heap is full",
  gas: "Cannot go on: no gas is left",
};

/** What a trap says when the program said nothing. */
export function trapMessage(kind: string): string {
  return MESSAGES[kind] ?? `Cannot go on: ${kind}`;
}

/** The end of a compiled program before its end. */
export class WasmTrap extends Error {
  readonly report: TrapReport;

  constructor(report: TrapReport) {
    super(report.message);
    this.name = "WasmTrap";
    this.report = report;
  }
}

/** What is known of a trap of either evaluator; null for other errors. */
export function trapReportOf(error: unknown): TrapReport | null {
  if (error instanceof WasmTrap) return error.report;
  if (!(error instanceof ProgramTrap)) return null;
  const { file, span } = error.site;
  const { line, column } = file.positionOf(span);
  const sides = error instanceof ExpectationTrap && error.sides !== null
    ? { left: error.sides.left, right: error.sides.right }
    : null;
  return { kind: error.kind, message: error.message, place: { file: file.path, line, column }, sides };
}
