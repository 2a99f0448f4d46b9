/**
 * Runs the tests of a package in the WebAssembly that ships: one module with all tests, a new instance with a memory
 * of its own for each.
 *
 * Nothing here depends on clock or order: the same program, selection and seed give the same results, however many
 * threads run them.
 */
import { CodeMap } from "../host/code_map.ts";
import { externsOf, WasmProgram } from "../host/wasm_program.ts";
import type { TrapReport } from "../host/wasm_trap.ts";
import type { TypedProgram, TypedTest } from "../typed/tree.ts";
import { compile } from "../compiler/compile.ts";
import { expectationAt } from "./expectations.ts";
import { CannotGenerate, PropertyMaker } from "./generators.ts";
import { runJob } from "./run_job.ts";
import { DEFAULT_TRIES } from "./run_property.ts";
import type { PlannedTest } from "./test_plan.ts";
import type { TestFailure, TestResult } from "./test_result.ts";
import type { JobOutcome, RawTrap, TestJob, TestRunner, TestSuite } from "./test_suite.ts";

/** How tests are run. */
export interface RunOptions {
  /** What the arguments of properties are made of. */
  readonly seed?: number;
  /** How often a property is tried. */
  readonly tries?: number;
  /** What each run of a test may use; without it nothing is counted. */
  readonly gas?: number | null;
}

/** Tests that are compiled. */
export interface PreparedTests {
  readonly suite: TestSuite;
  /** The results of all tests that were planned, from the outcomes of the suite's. */
  results(outcomes: readonly JobOutcome[]): TestResult[];
}

/** Compiles tests. */
export function prepareTests(
  program: TypedProgram,
  planned: readonly PlannedTest[],
  options: RunOptions = {},
): PreparedTests {
  const maker = new PropertyMaker(program);
  const runnable: { module: PlannedTest["module"]; test: TypedTest }[] = [];
  const jobs: TestJob[] = [];
  // Of each test the number of its job, or the result of one that cannot be run.
  const places = planned.map((each): number | TestResult => {
    const made = each.test.kind === "property" ? propertyOrFailure(maker, each) : each.test;
    if (!("body" in made)) return made;
    const index = runnable.push({ module: each.module, test: made }) - 1;
    jobs.push({
      kind: each.test.kind,
      name: `test_${index}`,
      parameters: each.test.parameters.map(({ name }) => name),
      cases: each.test.cases.map(({ name }) => name),
    });
    return index;
  });
  const gas = options.gas ?? null;
  const compiled = compile(program, { target: "core", tests: runnable, hasGas: gas !== null });
  const map = new CodeMap(compiled);
  return {
    suite: {
      module: { bytes: compiled.bytes, externs: externsOf(program) },
      jobs,
      seed: options.seed ?? 0,
      tries: options.tries ?? DEFAULT_TRIES,
      gas,
    },
    results: (outcomes) =>
      planned.flatMap((each, index): TestResult[] => {
        const place = places[index];
        if (place === undefined) return [];
        if (typeof place !== "number") return [place];
        const outcome = outcomes[place];
        if (outcome === undefined) throw new Error(`Cannot tell of ${each.test.name}: nobody ran it`);
        return [resultOf(program, map, each, outcome)];
      }),
  };
}

/** Runs tests in this thread, one after the other and without a limit of time. */
export const RUN_HERE: TestRunner = {
  run: (suite, { signal }) => {
    signal?.throwIfAborted();
    return Promise.resolve(runSuite(suite));
  },
};

/** Outcomes of all tests of a suite. */
function runSuite(suite: TestSuite): JobOutcome[] {
  if (suite.jobs.length === 0) return [];
  const compiled = new WasmProgram(suite.module);
  return suite.jobs.map((job) => runJob(compiled, suite, job));
}

/** Runs tests in this thread and gives their results in the same order. */
export function runTests(
  program: TypedProgram,
  planned: readonly PlannedTest[],
  options: RunOptions = {},
): TestResult[] {
  const prepared = prepareTests(program, planned, options);
  return prepared.results(runSuite(prepared.suite));
}

/** The property as a test, or the result of one whose arguments cannot be made. */
function propertyOrFailure(maker: PropertyMaker, planned: PlannedTest): TypedTest | TestResult {
  try {
    return maker.testOf(planned.test);
  } catch (error) {
    if (!(error instanceof CannotGenerate)) throw error;
    const trap = { kind: "panic", message: error.message, place: planned.place, library: null, sides: null };
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

/** What there is to say of an outcome. */
function resultOf(
  program: TypedProgram,
  map: CodeMap,
  planned: PlannedTest,
  outcome: JobOutcome,
): TestResult {
  const { output, heapBytesLeft, tries, shrinks, counterexample, threshold } = outcome;
  const located = (trap: RawTrap | null) => trap === null ? null : map.located(trap.report, trap.origin);
  const trap = located(outcome.trap);
  const failure = trap === null ? null : failureOf(program, trap, counterexample);
  const common = { ...described(planned), failure, output, heapBytesLeft, tries, shrinks };
  if (planned.test.kind !== "eval") return { ...common, isPassed: trap === null };
  const cases = outcome.cases.map((each) => ({ ...each, trap: located(each.trap) }));
  const total = cases.reduce((sum, { score }) => sum + (score ?? 0), 0);
  const mean = cases.length === 0 ? 0 : total / cases.length;
  return {
    ...common,
    isPassed: trap === null && cases.every((each) => each.trap === null) && mean >= (threshold ?? 0),
    evaluation: { threshold: threshold ?? 0, mean, cases },
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
