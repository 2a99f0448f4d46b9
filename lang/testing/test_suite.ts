/**
 * Tests that are compiled and ready to run: plain data, which can be given to another thread, and what comes back of
 * it.
 *
 * Whoever runs them knows nothing of sources; {@link prepareTests} makes results of what comes back.
 */
import type { TrapOrigin, TrapReport } from "../host/wasm_trap.ts";
import type { RunnableModule } from "../host/wasm_program.ts";
import type { TestKind } from "./test_result.ts";

/** One test. */
export interface TestJob {
  readonly kind: TestKind;
  /** What the module exports it as; of an eval what the names of its cases begin with. */
  readonly name: string;
  /** Names of a property's parameters. */
  readonly parameters: readonly string[];
  /** Names of an eval's cases. */
  readonly cases: readonly string[];
}

/** The tests of one module. */
export interface TestSuite {
  readonly module: RunnableModule;
  readonly jobs: readonly TestJob[];
  /** What the arguments of properties are made of. */
  readonly seed: number;
  /** How often a property is tried. */
  readonly tries: number;
  /** What each run of a test may use; null without a limit. */
  readonly gas: number | null;
}

/** A trap as a thread without the sources knows it. */
export interface RawTrap {
  readonly report: TrapReport;
  readonly origin: TrapOrigin;
}

/** An argument of a property and what it shows. */
export interface ReportedArgument {
  readonly name: string;
  readonly value: string;
}

/** What running one test gave. */
export interface JobOutcome {
  readonly trap: RawTrap | null;
  readonly output: string;
  /** Bytes of the heap that were not given back, when it did not trap. */
  readonly heapBytesLeft: number;
  readonly counterexample: readonly ReportedArgument[];
  readonly tries: number;
  readonly shrinks: number;
  readonly cases: readonly {
    readonly name: string;
    readonly score: number | null;
    readonly trap: RawTrap | null;
  }[];
  /** Of an eval. */
  readonly threshold: number | null;
}

/** An outcome of which nothing but the trap is known. */
export function trappedOutcome(trap: RawTrap | null, more: Partial<JobOutcome> = {}): JobOutcome {
  return {
    trap,
    output: "",
    heapBytesLeft: 0,
    counterexample: [],
    tries: 1,
    shrinks: 0,
    cases: [],
    threshold: null,
    ...more,
  };
}

/** How long all of it may take, and who may end it. */
export interface TestLimits {
  /** For one test; null without a limit. */
  readonly timeoutMilliseconds: number | null;
  /** Ends all of it. */
  readonly signal?: AbortSignal;
}

/** Runs tests, here or in other threads. */
export interface TestRunner {
  /** Outcomes in the order of the jobs; fails with the signal's reason when that ends it. */
  run(suite: TestSuite, limits: TestLimits): Promise<readonly JobOutcome[]>;
}

/** The trap of what is stopped because it took too long. */
export function timeoutTrap(milliseconds: number, what: "test" | "program" = "test"): RawTrap {
  const seconds = milliseconds / 1000;
  const message = `Cannot go on: the ${what} was stopped after ${seconds} second${seconds === 1 ? "" : "s"}`;
  return {
    report: { kind: "timeout", message, place: null, library: null, sides: null },
    origin: { site: null, offsets: [] },
  };
}
