/** `test`: runs the tests of a package. */
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { planTests, type TestSelection } from "../testing/test_plan.ts";
import { runTests } from "../testing/run_tests.ts";
import type { TestResult } from "../testing/test_result.ts";
import type { Workspace } from "./workspace.ts";

/** What is asked of `test`. */
export interface TestOptions extends TestSelection {
  /** What the arguments of properties are made of. */
  readonly seed?: number;
  /** Writes what snapshots are given into the sources. */
  readonly update?: boolean;
}

/** What testing gives. */
export interface TestOutcome {
  readonly diagnostics: readonly Diagnostic[];
  /** Null when the package has errors. */
  readonly results: readonly TestResult[] | null;
  readonly isPassed: boolean;
  /** Sources with new snapshots. */
  readonly updatedPaths: readonly string[];
}

/** Runs the tests of a package that are asked for. */
export function test(workspace: Workspace, options: TestOptions = {}): TestOutcome {
  const { diagnostics, program } = workspace.check();
  if (program === null) return { diagnostics, results: null, isPassed: false, updatedPaths: [] };
  const results = runTests(program, planTests(program, options));
  return { diagnostics, results, isPassed: results.every((result) => result.isPassed), updatedPaths: [] };
}
