/** What tests give: data that terminal, JSON and agent show. */
import type { TrapReport } from "../host/wasm_trap.ts";

/** What kind of test it is. */
export type TestKind = "test" | "property" | "example" | "eval";

/** Where a test stands. */
export interface TestPosition {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Why a test failed. */
export interface TestFailure {
  readonly trap: TrapReport;
  /** What `expect` was given, as written; null for other traps. */
  readonly condition: string | null;
  /** The operator between the sides. */
  readonly operator: string | null;
  /** Whether the sides are those of `expect_snapshot`. */
  readonly isSnapshot: boolean;
  /** The line of the source on which it failed. */
  readonly sourceLine: string | null;
  /** Of a property: the arguments that it failed with, as small as could be found. */
  readonly counterexample: readonly { readonly name: string; readonly value: string }[];
}

/** One case of an eval. */
export interface EvalCaseResult {
  readonly name: string;
  /** From 0 to 1; null when it trapped. */
  readonly score: number | null;
  readonly trap: TrapReport | null;
}

/** One test that was run. */
export interface TestResult {
  readonly kind: TestKind;
  readonly module: string;
  readonly name: string;
  readonly place: TestPosition;
  readonly isPassed: boolean;
  readonly failure: TestFailure | null;
  /** What it printed. */
  readonly output: string;
  /** Bytes of the heap that were not given back by a test that passed. */
  readonly heapBytesLeft: number;
  /** Of a property: how often it was tried, and how often to make the failure small. */
  readonly tries: number;
  readonly shrinks: number;
  /** Of an eval. */
  readonly evaluation: {
    readonly threshold: number;
    readonly mean: number;
    readonly cases: readonly EvalCaseResult[];
  } | null;
}
