/**
 * Runs the tests of a package in the WebAssembly that ships: one module with all tests, a new instance with a memory of its own for each.
 *
 * Nothing here depends on clock or order: the same program, selection and seed give the same results.
 */
import { RecordingHost } from "../interpret/host.ts";
import type { TrapReport } from "../host/trap_report.ts";
import { WasmProgram } from "../host/wasm_program.ts";
import type { TypedProgram, TypedTest } from "../typed/tree.ts";
import { compile } from "../wasm/compile.ts";
import { expectationAt } from "./expectations.ts";
import { CannotGenerate, PropertyMaker } from "./generators.ts";
import { runProperty } from "./run_property.ts";
import type { PlannedTest } from "./test_plan.ts";
import type { EvalCaseResult, TestFailure, TestResult } from "./test_result.ts";
import { trapOf } from "./trap_of.ts";

/** How tests are run. */
export interface RunOptions {
  /** What the arguments of properties are made of. */
  readonly seed?: number;
  /** How often a property is tried. */
  readonly tries?: number;
}

/** Runs tests and gives their results in the same order. */
export function runTests(
  program: TypedProgram,
  planned: readonly PlannedTest[],
  options: RunOptions = {},
): TestResult[] {
  if (planned.length === 0) return [];
  const maker = new PropertyMaker(program);
  const runnable: { module: PlannedTest["module"]; test: TypedTest }[] = [];
  const works = planned.map((each): (compiled: WasmProgram) => TestResult => {
    const made = each.test.kind === "property" ? propertyOrFailure(maker, each) : each.test;
    if (!("body" in made)) return () => made;
    const index = runnable.push({ module: each.module, test: made }) - 1;
    switch (each.test.kind) {
      case "eval":
        return (compiled) => runEval(compiled, each, index);
      case "property":
        return (compiled) => runPropertyTest(program, compiled, { planned: each, index, options });
      case "test":
      case "example":
        return (compiled) => runTest(program, compiled, each, index);
    }
  });
  const { bytes } = compile(program, { target: "core", tests: runnable });
  const compiled = new WasmProgram(bytes, program);
  return works.map((work) => work(compiled));
}

/** The property as a test, or the result of one whose arguments cannot be made. */
function propertyOrFailure(maker: PropertyMaker, planned: PlannedTest): TypedTest | TestResult {
  try {
    return maker.testOf(planned.test);
  } catch (error) {
    if (!(error instanceof CannotGenerate)) throw error;
    const trap = { kind: "panic", message: error.message, place: planned.place, sides: null };
    return {
      ...described(planned),
      isPassed: false,
      failure: {
        trap,
        condition: null,
        operator: null,
        isSnapshot: false,
        sourceLine: null,
        counterexample: [],
      },
      output: "",
      heapBytesLeft: 0,
      tries: 0,
    };
  }
}

function runPropertyTest(
  program: TypedProgram,
  compiled: WasmProgram,
  { planned, index, options }: {
    readonly planned: PlannedTest;
    readonly index: number;
    readonly options: RunOptions;
  },
): TestResult {
  const { trap, counterexample, output, tries, shrinks, heapBytesLeft } = runProperty(
    compiled,
    `test_${index}`,
    { seed: options.seed ?? 0, ...(options.tries === undefined ? {} : { tries: options.tries }) },
  );
  return {
    ...described(planned),
    isPassed: trap === null,
    failure: trap === null ? null : failureOf(program, trap, counterexample),
    output,
    heapBytesLeft,
    tries,
    shrinks,
  };
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
