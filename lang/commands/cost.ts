/**
 * `inspect --cost`: what functions cost in gas, by bounds that the code has and by what the tests used; how much
 * memory was in use; which copies remained.
 *
 * Measured is from call to return, with all that is called within. Calls stay calls, also where
 * a build would put small functions in their place, so that each can be measured; a build uses less.
 */
import { type CostBound, CostBounds } from "../ir/cost_bound.ts";
import type { IrFunction, IrModule, IrPosition, Statement } from "../ir/node.ts";
import { polynomialText } from "../ir/polynomial.ts";
import { addProbes, PROBE_MODULE } from "../ir/probe.ts";
import { bodiesOf } from "../ir/visit.ts";
import { externsOf, type HostFunction } from "../host/wasm_program.ts";
import { LANG_LIMITS } from "../limits.ts";
import { CannotGenerate, PropertyMaker } from "../testing/generators.ts";
import { type PlannedTest, planTests } from "../testing/test_plan.ts";
import type { TypedProgram } from "../typed/tree.ts";
import { lowerProgram } from "../compiler/compile.ts";
import { encodeModule } from "../wasm/module_encoder.ts";
import { type CostMeter, MEASURE_HERE, type UsedGas } from "./cost_run.ts";

/** A place in a source. */
export interface CostPosition {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** What one function costs. */
export interface FunctionCost {
  readonly name: string;
  readonly place: CostPosition;
  /** A formula of the sizes of its arguments; null when it is unbounded. */
  readonly bound: string | null;
  /** Why it is unbounded, and where. */
  readonly unbounded: { readonly reason: string; readonly place: CostPosition | null } | null;
  /** What the tests used; null when they did not call it. */
  readonly measured: UsedGas | null;
  /** Where it copies what is shared, when it is. */
  readonly copies: readonly CostPosition[];
}

/** What a package costs. */
export interface CostReport {
  readonly functions: readonly FunctionCost[];
  /** Most bytes of the heap in use at a call or return in the tests. */
  readonly heapHighWater: number;
  readonly tests: number;
}

/** More than any test uses. */
const GAS = 1n << 50n;
/** How often properties are tried to measure them. */
const PROPERTY_TRIES = 20;
/** What functions tell of themselves by. */
const PROBES: readonly HostFunction[] = ["enter", "leave"].map((name) => ({
  module: PROBE_MODULE,
  name,
  parameters: ["Int"],
  result: "()",
}));

/** How to measure. */
export interface CostOptions {
  /** What each run of a test may use. */
  readonly gas?: bigint;
  /** Who runs the tests; this thread when nobody is named. */
  readonly meter?: CostMeter;
  /** Ends the tests, where the meter can. */
  readonly signal?: AbortSignal;
}

/** Measures what the functions of a package cost. */
export async function measureCost(
  program: TypedProgram,
  { gas = GAS, meter = MEASURE_HERE, signal }: CostOptions = {},
): Promise<CostReport> {
  const tests = runnableTests(program);
  const own = program.modules.filter((module) => !module.isLibrary).flatMap((module) =>
    module.functions.filter((each) => each.typeParameters.length === 0 && each.body !== null)
  );
  const lowered = lowerProgram(program, {
    target: "core",
    exports: own,
    tests,
    hasGas: true,
    keepsCalls: true,
  });
  // Names of methods may meet; nobody calls these exports.
  const exports = lowered.exports.map((each, index) =>
    index < own.length ? { ...each, name: `own_${index}` } : each
  );
  const entries = new Set(exports.slice(own.length).map((each) => each.function));
  const module: IrModule = { ...lowered, exports };
  const bounds = new CostBounds();
  const isOwn = (target: IrFunction) =>
    target.place !== null && target.place.file.path.endsWith(".lang") && !entries.has(target);
  const functions = module.functions.filter((target) => target.body !== null && isOwn(target));
  const static_ = functions.map((target) => ({ bound: bounds.of(target), copies: copiesOf(target) }));
  const probed = addProbes(module, isOwn);
  const { bytes } = encodeModule(probed.module, { maximumPages: LANG_LIMITS.memoryPages, hasNames: false });
  const measured = await meter.measure({
    module: { bytes, externs: [...externsOf(program), ...PROBES] },
    functionCount: probed.functions.length,
    tries: tests.map(({ tries }) => tries),
    gas,
  }, signal);
  return {
    functions: functions.map((target, index): FunctionCost => {
      const { bound, copies } = static_[index] ?? { bound: bounds.of(target), copies: [] };
      return {
        name: target.name,
        place: placeOf(target.place) ?? { file: "", line: 0, column: 0 },
        ...boundOf(bound),
        measured: measured.used[probed.functions.indexOf(target)] ?? null,
        copies,
      };
    }).toSorted((left, right) => left.name < right.name ? -1 : 1),
    heapHighWater: measured.heapHighWater,
    tests: tests.length,
  };
}

function boundOf(bound: CostBound): Pick<FunctionCost, "bound" | "unbounded"> {
  return bound.kind === "bounded"
    ? { bound: polynomialText(bound.formula), unbounded: null }
    : { bound: null, unbounded: { reason: bound.reason, place: placeOf(bound.place) } };
}

function placeOf(place: IrPosition | null): CostPosition | null {
  if (place === null) return null;
  const { line, column } = place.file.positionOf({ start: place.offset, end: place.offset });
  return { file: place.file.path, line, column };
}

/** Places where a block that may be shared is made its own. */
function copiesOf(target: IrFunction): CostPosition[] {
  const found = new Map<string, CostPosition>();
  let place = target.place;
  const visit = (statements: readonly Statement[]): void => {
    for (const statement of statements) {
      if (statement.kind === "at") place = statement.place;
      if (statement.kind === "unique") {
        const at = placeOf(place);
        if (at !== null) found.set(`${at.file}:${at.line}:${at.column}`, at);
      }
      bodiesOf(statement).forEach(visit);
    }
  };
  visit(target.body ?? []);
  return [...found.values()];
}

interface MeasuredTest extends PlannedTest {
  readonly tries: number;
}

function runnableTests(program: TypedProgram): MeasuredTest[] {
  const maker = new PropertyMaker(program);
  return planTests(program).flatMap((planned) => {
    if (planned.test.kind !== "property") return [{ ...planned, tries: 1 }];
    try {
      return [{ ...planned, test: maker.testOf(planned.test), tries: PROPERTY_TRIES }];
    } catch (error) {
      if (error instanceof CannotGenerate) return [];
      throw error;
    }
  });
}
