/** Tries a property with many arguments, and makes a failure small before it is shown. */
import { SeededRandom } from "../../engine/base/random.ts";
import type { TrapReport } from "../host/wasm_trap.ts";
import type { WasmProgram } from "../host/wasm_program.ts";
import { ChoiceHost, shrink } from "./choices.ts";
import { startRun } from "./run_job.ts";
import {
  type JobOutcome,
  type RawTrap,
  type ReportedArgument,
  type TestJob,
  type TestSuite,
  trappedOutcome,
} from "./test_suite.ts";
import { trapOf } from "./trap_of.ts";

/** How often a property is tried when nobody says. */
export const DEFAULT_TRIES = 100;

/** Called while a property runs, so that one that does not end leaves a trace. */
export interface PropertyWatcher {
  /** A try begins, counted from 0. */
  onTry?(attempt: number): void;
  /** It fails with these arguments, which are made small now; the first time and whenever smaller ones are found. */
  onFailure?(outcome: JobOutcome): void;
}

/** The host that makes the arguments of a try. */
export function hostOfTry(
  seed: number,
  attempt: number,
  onReported?: (argument: ReportedArgument) => void,
): ChoiceHost {
  const random = new SeededRandom(seed * 1_000 + attempt);
  return new ChoiceHost({
    more: (limit) => random.below(limit),
    ...(onReported === undefined ? {} : { isReporting: true, onReported }),
  });
}

/** Tries a property. */
export function runProperty(
  compiled: WasmProgram,
  suite: TestSuite,
  job: TestJob,
  watcher: PropertyWatcher = {},
): JobOutcome {
  let heapBytesLeft = 0;
  const once = (host: ChoiceHost): RawTrap | null => {
    const run = startRun(compiled, suite, host);
    const before = run.heapBytes;
    const trap = trapOf(() => run.call(job.name));
    if (trap === null) heapBytesLeft = Math.max(heapBytesLeft, run.heapBytes - before);
    return trap;
  };
  for (let attempt = 0; attempt < suite.tries; attempt++) {
    watcher.onTry?.(attempt);
    const host = hostOfTry(suite.seed, attempt);
    const trap = once(host);
    if (trap === null) continue;
    const outcomeOf = (given: readonly number[], shrinks: number): JobOutcome => {
      const reporting = new ChoiceHost({ given, isReporting: true });
      const told = once(reporting) ?? trap;
      return trappedOutcome(told, {
        counterexample: reporting.reportedArguments,
        output: reporting.output,
        tries: attempt + 1,
        shrinks,
      });
    };
    watcher.onFailure?.(outcomeOf(host.choices, 0));
    const small = shrink(host.choices, (given) => {
      const other = new ChoiceHost({ given });
      const failed = once(other);
      if (failed === null || !isSameFailure(failed.report, trap.report)) return null;
      if (watcher.onFailure !== undefined) watcher.onFailure(outcomeOf(other.choices, 0));
      return other.choices;
    });
    return outcomeOf(small.choices, small.tries);
  }
  return trappedOutcome(null, { tries: suite.tries, heapBytesLeft });
}

/** Whether two failures are of one kind and at one place, so that a small failure explains the first. */
function isSameFailure(left: TrapReport, right: TrapReport): boolean {
  return left.kind === right.kind && left.place?.file === right.place?.file &&
    left.place?.line === right.place?.line && left.place?.column === right.place?.column;
}
