/**
 * Runs the tests of a build that tells what its functions use: plain data goes in and comes out, so that another
 * thread can do it.
 */
import { type RunnableModule, WasmProgram, type WasmRun } from "../host/wasm_program.ts";
import type { HostCall, HostValue } from "../interpret/host.ts";
import { PROBE_MODULE } from "../ir/probe.ts";
import { ChoiceHost } from "../testing/choices.ts";
import { trapOf } from "../testing/trap_of.ts";
import { SeededRandom } from "../../engine/base/random.ts";

/** Most measurements of a function that are kept. */
const MAX_SAMPLES = 100_000;

/** What is measured. */
export interface CostRun {
  readonly module: RunnableModule;
  /** How many functions tell of themselves. */
  readonly functionCount: number;
  /** How often each test runs; they are exported as `test_0` and so on. */
  readonly tries: readonly number[];
  /** What each run of a test may use. */
  readonly gas: bigint;
}

/** What calls of a function used. */
export interface UsedGas {
  readonly calls: number;
  readonly minimum: number;
  readonly median: number;
  readonly maximum: number;
}

/** What measuring gives. */
export interface MeasuredCost {
  /** By the numbers of the functions; null where nobody called. */
  readonly used: readonly (UsedGas | null)[];
  /** Most bytes of the heap in use at a call or return. */
  readonly heapHighWater: number;
}

/** Measures, here or in another thread. */
export interface CostMeter {
  /** Fails with the signal's reason when that ends it. */
  measure(run: CostRun, signal?: AbortSignal): Promise<MeasuredCost>;
}

/** Measures in this thread, to the end. */
export const MEASURE_HERE: CostMeter = { measure: (run) => Promise.resolve(measureRun(run)) };

/** Measures; can be canceled between two runs of tests. */
export function measureRun(
  { module, functionCount, tries, gas }: CostRun,
  isStopped: () => boolean = () => false,
): MeasuredCost {
  const compiled = new WasmProgram(module);
  const samples = Array.from({ length: functionCount }, (): number[] => []);
  let heapHighWater = 0;
  for (const [index, count] of tries.entries()) {
    for (let attempt = 0; attempt < count && !isStopped(); attempt++) {
      const random = new SeededRandom(attempt);
      const host = new CostHost((limit) => random.below(limit), samples);
      const run = compiled.instantiate(host);
      run.gasLeft = gas;
      host.run = run;
      // A test that fails has still used what it used.
      trapOf(() => run.call(`test_${index}`));
      heapHighWater = Math.max(heapHighWater, host.heapHighWater);
    }
  }
  return { used: samples.map(summary), heapHighWater };
}

function summary(samples: readonly number[]): UsedGas | null {
  const sorted = samples.toSorted((left, right) => left - right);
  const at = (index: number) => sorted[index] ?? 0;
  if (sorted.length === 0) return null;
  return {
    calls: sorted.length,
    minimum: at(0),
    median: at(sorted.length >> 1),
    maximum: at(sorted.length - 1),
  };
}

/** Keeps what the functions that tell of themselves have used. */
class CostHost extends ChoiceHost {
  run: WasmRun | null = null;
  heapHighWater = 0;
  readonly #samples: readonly number[][];
  readonly #open: bigint[] = [];

  constructor(more: (limit: number) => number, samples: readonly number[][]) {
    super({ more });
    this.#samples = samples;
  }

  override call(call: HostCall): HostValue {
    const { run } = this;
    if (call.module !== PROBE_MODULE || run === null) return super.call(call);
    this.heapHighWater = Math.max(this.heapHighWater, run.heapBytes);
    if (call.name === "enter") this.#open.push(run.gasLeft);
    else {
      const used = (this.#open.pop() ?? 0n) - run.gasLeft;
      const samples = this.#samples[Number(call.args[0])];
      if (samples !== undefined && samples.length < MAX_SAMPLES) samples.push(Number(used));
    }
    return null;
  }
}
