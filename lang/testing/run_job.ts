/** Runs one compiled test: in this thread, without sources, without a limit of time. */
import type { WasmProgram, WasmRun } from "../host/wasm_program.ts";
import type { Host } from "../interpret/host.ts";
import { type PropertyWatcher, runProperty } from "./run_property.ts";
import { type JobOutcome, type TestJob, type TestSuite, trappedOutcome } from "./test_suite.ts";
import { TestHost } from "./test_host.ts";
import { trapOf } from "./trap_of.ts";

/** A fresh instance with the gas that the suite allows. */
export function startRun(compiled: WasmProgram, suite: Pick<TestSuite, "gas">, host: Host): WasmRun {
  const run = compiled.instantiate(host);
  if (suite.gas !== null) run.gasLeft = BigInt(suite.gas);
  return run;
}

/** Runs a test. */
export function runJob(
  compiled: WasmProgram,
  suite: TestSuite,
  job: TestJob,
  watcher: PropertyWatcher = {},
): JobOutcome {
  switch (job.kind) {
    case "eval":
      return runEval(compiled, suite, job);
    case "property":
      return runProperty(compiled, suite, job, watcher);
    case "test":
    case "example":
      return runTest(compiled, suite, job);
  }
}

function runTest(compiled: WasmProgram, suite: TestSuite, job: TestJob): JobOutcome {
  const host = new TestHost();
  const run = startRun(compiled, suite, host);
  const before = run.heapBytes;
  const trap = trapOf(() => run.call(job.name));
  return trappedOutcome(trap, {
    output: host.output,
    heapBytesLeft: trap === null ? run.heapBytes - before : 0,
  });
}

function runEval(compiled: WasmProgram, suite: TestSuite, job: TestJob): JobOutcome {
  const host = new TestHost();
  const score = (name: string): { readonly score: number | null; readonly trap: JobOutcome["trap"] } => {
    const run = startRun(compiled, suite, host);
    let score: number | null = null;
    const trap = trapOf(() => score = Number(run.call(name)));
    return { score, trap };
  };
  const cases = job.cases.map((name, index) => ({ name, ...score(`${job.name}_case_${index}`) }));
  const threshold = score(`${job.name}_threshold`);
  return trappedOutcome(threshold.trap, { output: host.output, cases, threshold: threshold.score });
}
