/**
 * Tries mutants: each in a copy of the tree, by the tests of its layer, until one of them fails.
 *
 * Before that, all tests run once without a mutant: what fails then is left out, and what the others took is the
 * measure for a test that hangs. The tests beside a mutated file go first; after them those that have noticed most
 * mutants for their time.
 */
import { type Layer, modulesOf } from "./layers.ts";
import type { PlannedTest } from "./suite_plan.ts";
import { nameOf, type Outcome, TreeCopy } from "./tree_copy.ts";

/** What is tried. */
export interface Trial {
  readonly id: string;
  readonly layer: Layer;
  /** The mutated file whose own tests go first. */
  readonly file: string;
  /** Changed files by path. */
  readonly files: ReadonlyMap<string, string>;
}

/** What came of it. */
export interface TrialResult {
  readonly id: string;
  readonly layer: string;
  /** Whether a test noticed it, and how. */
  readonly outcome: "survived" | "failed" | "hung" | "crashed";
  /** The test that noticed it. */
  readonly by: string;
  readonly message: string;
  readonly seconds: number;
}

interface KnownTest extends PlannedTest {
  readonly name: string;
  readonly milliseconds: number;
  noticed: number;
}

/** Options of {@link runTrials}. */
export interface RunOptions {
  readonly root: string;
  readonly paths: readonly string[];
  readonly workers: number;
  /** Tests that take longer on the unchanged tree are left out. */
  readonly longestMilliseconds?: number;
  /** Where the times of the tests on the unchanged tree are kept for the next run. */
  readonly baseline?: string;
  /** Only these tests; those of the layers when absent. */
  readonly tests?: readonly PlannedTest[];
  readonly report: (result: TrialResult, done: number) => void;
  readonly log: (line: string) => void;
}

/** What a test may take beyond many times its usual time, on a machine with other work. */
const PATIENCE_MILLISECONDS = 120_000;
const MAX_FACTOR = 10;

/** Runs all trials and answers their results in the order of the trials. */
export async function runTrials(trials: readonly Trial[], options: RunOptions): Promise<TrialResult[]> {
  const { root, paths, log } = options;
  const layers = [...new Set(trials.map(({ layer }) => layer))];
  const results: TrialResult[] = [];
  using first = TreeCopy.make(root, paths);
  const modules = new Set(layers.flatMap((layer) => modulesOf(layer, paths)));
  const planned = options.tests ?? [...modules].map((module) => ({ module, name: null }));
  const tests = await knownTests(first, planned, options);
  log(`${tests.length} tests in ${Math.round(total(tests) / 1000)} s without a mutant`);
  let next = 0;
  let done = 0;
  const work = async (copy: TreeCopy) => {
    for (let index = next++; index < trials.length; index = next++) {
      const trial = trials[index];
      if (trial === undefined) break;
      const known = new Set(modulesOf(trial.layer, paths));
      const usable = options.tests === undefined ? tests.filter(({ module }) => known.has(module)) : tests;
      const result = await tryOne(copy, trial, usable);
      results[index] = result;
      options.report(result, ++done);
    }
  };
  const others = Array.from({ length: options.workers - 1 }, async () => {
    using copy = TreeCopy.make(root, paths);
    await work(copy);
  });
  await Promise.all([work(first), ...others]);
  return results;
}

function total(tests: readonly KnownTest[]): number {
  return tests.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
}

async function knownTests(
  copy: TreeCopy,
  plan: readonly PlannedTest[],
  options: RunOptions,
): Promise<KnownTest[]> {
  const { baseline } = options;
  if (baseline === undefined) return await measure(copy, plan, options);
  try {
    return JSON.parse(Deno.readTextFileSync(baseline));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const tests = await measure(copy, plan, options);
  Deno.writeTextFileSync(baseline, JSON.stringify(tests));
  return tests;
}

async function measure(
  copy: TreeCopy,
  plan: readonly PlannedTest[],
  options: RunOptions,
): Promise<KnownTest[]> {
  const tests: KnownTest[] = [];
  const failed = new Set<string>();
  await copy.run(plan, {
    limitMilliseconds: () => 600_000,
    all: true,
    observe: (line) => {
      if (line.kind === "failure") {
        failed.add(nameOf(line));
        options.log(`fails without a mutant, left out: ${nameOf(line)}: ${line.message}`);
      } else if (line.kind === "end") {
        const { module, name, milliseconds } = line;
        tests.push({ module, name, milliseconds, noticed: 0 });
      }
    },
  });
  const longest = options.longestMilliseconds ?? Infinity;
  return tests.filter((test) => test.milliseconds <= longest && !failed.has(nameOf(test)));
}

/** What it costs to load the whole engine, as the modules under `tests/` do; tests of single modules go before. */
const ENGINE_MILLISECONDS = 1500;

/** Tests of the file's own module first, those of its folder next, then by what they have noticed for their time. */
function ordered(tests: readonly KnownTest[], file: string): KnownTest[] {
  const own = file.replace(/\.ts$/, "_test.ts");
  const folder = file.slice(0, file.lastIndexOf("/") + 1);
  const rank = ({ module, milliseconds, noticed }: KnownTest) => {
    const closeness = module === own ? 100 : module.startsWith(folder) ? 2 : 1;
    const loading = module.startsWith("tests/") ? ENGINE_MILLISECONDS : 20;
    return closeness * (noticed + 0.2) / (milliseconds + loading);
  };
  return [...tests].sort((a, b) => rank(b) - rank(a));
}

async function tryOne(copy: TreeCopy, trial: Trial, tests: readonly KnownTest[]): Promise<TrialResult> {
  const start = performance.now();
  const restore = [...trial.files].map(([path, text]) => copy.write(path, text));
  let outcome: Outcome;
  try {
    const plan = ordered(tests, trial.file);
    const usual = new Map(plan.map((test) => [nameOf(test), test.milliseconds]));
    outcome = await copy.run(plan.map(({ module, name }) => ({ module, name })), {
      limitMilliseconds: (test) =>
        PATIENCE_MILLISECONDS + MAX_FACTOR * (test === null ? 0 : usual.get(nameOf(test)) ?? 0),
    });
  } finally {
    for (const undo of restore) undo();
  }
  const common = { id: trial.id, layer: trial.layer.name, seconds: (performance.now() - start) / 1000 };
  if (outcome.kind === "passed") return { ...common, outcome: "survived", by: "", message: "" };
  const { kind, test, message } = outcome;
  const noticing = tests.find((known) => nameOf(known) === test);
  if (noticing !== undefined) noticing.noticed++;
  return { ...common, outcome: kind, by: test, message };
}
