/**
 * `test`: runs the tests of a package, and writes new snapshots where asked.
 *
 * A test ends at its first snapshot that differs, so snapshots are renewed in rounds until none differs. Who runs the
 * tests is given: threads of the terminal's command, which can be stopped, or this thread.
 */
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { applyToFiles } from "../diagnostics/edits.ts";
import { LANG_LIMITS } from "../limits.ts";
import { prepareTests, RUN_HERE } from "../testing/run_tests.ts";
import { snapshotEdits } from "../testing/snapshots.ts";
import { planTests, type TestSelection } from "../testing/test_plan.ts";
import type { TestResult } from "../testing/test_result.ts";
import type { TestRunner } from "../testing/test_suite.ts";
import { makePatch, writePatches } from "./patch.ts";
import type { CheckedPackage, Workspace } from "./workspace.ts";

/** What is asked of `test`. */
export interface TestOptions extends TestSelection {
  /** What the arguments of properties are made of. */
  readonly seed?: number;
  /** How often a property is tried. */
  readonly tries?: number;
  /** What each run of a test may use; without it nothing is counted. */
  readonly gas?: number | null;
  /** How long one test may take; null, or a runner in this thread, is without a limit. */
  readonly timeoutMilliseconds?: number | null;
  /** Ends all of it; the command then fails with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Who runs the tests; this thread when nobody is named. */
  readonly runner?: TestRunner;
  /** Writes what snapshots are given into the sources. */
  readonly update?: boolean;
  /** Called before each step that may take long. */
  readonly onStep?: (step: string) => void;
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

/** How long one test may take when nobody says. */
export const DEFAULT_TIMEOUT_MILLISECONDS = 10_000;

/** Runs the tests of a package that are asked for. */
export async function test(workspace: Workspace, options: TestOptions = {}): Promise<TestOutcome> {
  const { runner = RUN_HERE, timeoutMilliseconds = DEFAULT_TIMEOUT_MILLISECONDS, signal } = options;
  const updated = new Set<string>();
  let checked: CheckedPackage = workspace.check();
  for (let round = 0;; round++) {
    const { diagnostics, program } = checked;
    if (program === null) return { diagnostics, results: null, isPassed: false, updatedPaths: [...updated] };
    const planned = planTests(program, options);
    options.onStep?.(`running ${planned.length} tests`);
    const prepared = prepareTests(program, planned, options);
    const limits = { timeoutMilliseconds, ...(signal === undefined ? {} : { signal }) };
    const results = prepared.results(await runner.run(prepared.suite, limits));
    const edits = options.update === true && round < LANG_LIMITS.maximumSnapshotRounds
      ? snapshotEdits(program, results)
      : [];
    if (edits.length === 0) {
      return {
        diagnostics,
        results,
        isPassed: results.every((result) => result.isPassed),
        updatedPaths: [...updated].sort(),
      };
    }
    const patches = [...applyToFiles(edits)].map(([path, { before, after }]) =>
      makePatch(path, before, after)
    );
    writePatches(workspace.files, patches);
    for (const { path } of patches) updated.add(path);
    checked = workspace.check();
  }
}
