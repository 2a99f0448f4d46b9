/**
 * Runs the tests of a package in the WebAssembly that ships: one module with all tests, a new instance with a memory of its own for each.
 *
 * Nothing here depends on clock or order: the same program, selection and seed give the same results.
 */
import { RecordingHost } from "../interpret/host.ts";
import { type TrapReport, trapReportOf } from "../host/trap_report.ts";
import { WasmProgram } from "../host/wasm_program.ts";
import type { TypedProgram } from "../typed/tree.ts";
import { compile } from "../wasm/compile.ts";
import { expectationAt } from "./expectations.ts";
import type { PlannedTest } from "./test_plan.ts";
import type { EvalCaseResult, TestFailure, TestResult } from "./test_result.ts";

/** Runs tests and gives their results in the same order. */
export function runTests(program: TypedProgram, planned: readonly PlannedTest[]): TestResult[] {
  if (planned.length === 0) return [];
  const { bytes } = compile(program, { target: "core", tests: planned });
  const compiled = new WasmProgram(bytes, program);
  return planned.map((each, index) =>
    each.test.kind === "eval" ? runEval(compiled, each, index) : runTest(program, compiled, each, index)
  );
}

function runTest(
  program: TypedProgram,
  compiled: WasmProgram,
  planned: PlannedTest,
  index: number,
): TestResult {
  const host = new RecordingHost();
  const run = compiled.instantiate(host);
  const before = run.heapBytes;
  const trap = trapOf(() => run.call(`test_${index}`));
  return {
    ...described(planned),
    isPassed: trap === null,
    failure: trap === null ? null : failureOf(program, trap),
    output: host.output,
    heapBytesLeft: trap === null ? run.heapBytes - before : 0,
  };
}

function described({ module, test, place }: PlannedTest) {
  return {
    kind: test.kind,
    module: module.name,
    name: test.name,
    place,
    tries: 1,
    shrinks: 0,
    evaluation: null,
  };
}

/** The trap that a piece of work ends with, or null. */
export function trapOf(work: () => unknown): TrapReport | null {
  try {
    work();
    return null;
  } catch (error) {
    const trap = trapReportOf(error);
    if (trap === null) throw error;
    return trap;
  }
}

/** What there is to say of a trap in a test. */
export function failureOf(
  program: TypedProgram,
  trap: TrapReport,
  counterexample: TestFailure["counterexample"] = [],
): TestFailure {
  const { place } = trap;
  const expectation = place === null || trap.kind !== "expect" ? null : expectationAt(program, place);
  const node = expectation?.node;
  const condition = node?.kind === "expect" ? node.condition : null;
  const file = program.modules.find((module) => module.file.path === place?.file)?.file;
  return {
    trap,
    condition: node?.kind === "expect" ? node.source : null,
    operator: condition?.kind === "compare" ? condition.operator : null,
    isSnapshot: node?.kind === "snapshot",
    sourceLine: file === undefined || place === null ? null : file.lineText(place.line - 1),
    counterexample,
  };
}

function runEval(compiled: WasmProgram, planned: PlannedTest, index: number): TestResult {
  const host = new RecordingHost();
  const cases = planned.test.cases.map(({ name }, number): EvalCaseResult => {
    const run = compiled.instantiate(host);
    let score: number | null = null;
    const trap = trapOf(() => score = Number(run.call(`test_${index}_case_${number}`)));
    return { name, score, trap };
  });
  const threshold = Number(compiled.instantiate(host).call(`test_${index}_threshold`));
  const total = cases.reduce((sum, { score }) => sum + (score ?? 0), 0);
  const mean = cases.length === 0 ? 0 : total / cases.length;
  return {
    ...described(planned),
    isPassed: cases.every(({ trap }) => trap === null) && mean >= threshold,
    failure: null,
    output: host.output,
    heapBytesLeft: 0,
    evaluation: { threshold, mean, cases },
  };
}
