/**
 * The process that tries one tree: runs tests one after the other and ends at the first that fails.
 *
 * The only argument names a file with the plan, a list of modules and names of tests; without names all tests of a
 * module run. On standard output each test is a line of JSON before it begins and when it has ended. Exit code 0 when
 * all passed, 1 otherwise.
 *
 * With `--all` it goes on after a failure, and runs the tests of each module backward: a test that needs others
 * before it fails, and cannot be taken for one that notices mutants when it runs alone.
 */
import "../../tools/check_input.ts";
import type { PlannedTest, TestLine } from "./suite_plan.ts";

interface Collected {
  readonly name: string;
  readonly run: (context: unknown) => unknown;
}

const modules = new Map<string, Collected[]>();
let current: Collected[] = [];

/** What `Deno.test` does while a module of tests is loaded. */
function collect(...args: readonly unknown[]): void {
  const run = args.find((arg) => typeof arg === "function");
  const options = args.find((arg) => typeof arg === "object" && arg !== null) as
    | { name?: string; fn?: Collected["run"] }
    | undefined;
  const fn = (run ?? options?.fn) as Collected["run"];
  const name = typeof args[0] === "string" ? args[0] : options?.name ?? fn.name;
  current.push({ name, run: fn });
}

const step = {
  step: async (name: unknown, run?: (context: unknown) => unknown) => {
    const fn = run ?? (typeof name === "function" ? name : (name as { fn: Collected["run"] }).fn);
    await (fn as Collected["run"])(step);
    return true;
  },
};

async function testsOf(module: string): Promise<readonly Collected[]> {
  const known = modules.get(module);
  if (known !== undefined) return known;
  current = [];
  await import(new URL(`../../${module}`, import.meta.url).href);
  modules.set(module, current);
  return current;
}

const encoder = new TextEncoder();

function report(line: TestLine): void {
  Deno.stdout.writeSync(encoder.encode(JSON.stringify(line) + "\n"));
}

async function runPlanned({ module, name }: PlannedTest, keepsGoing: boolean): Promise<boolean> {
  let hasPassed = true;
  try {
    const tests = await testsOf(module);
    for (const test of keepsGoing ? tests.toReversed() : tests) {
      if (name !== null && test.name !== name) continue;
      report({ kind: "begin", module, name: test.name });
      const start = performance.now();
      try {
        await test.run(step);
      } catch (error) {
        report({ kind: "failure", module, name: test.name, message: String(error).slice(0, 500) });
        hasPassed = false;
        if (!keepsGoing) return false;
      }
      report({ kind: "end", module, name: test.name, milliseconds: performance.now() - start });
    }
  } catch (error) {
    report({ kind: "failure", module, name: "(loading)", message: String(error).slice(0, 500) });
    return false;
  }
  return hasPassed;
}

if (import.meta.main) {
  Object.assign(Deno, { test: Object.assign(collect, Deno.test) });
  const [file = "", keepsGoing] = Deno.args;
  const plan: PlannedTest[] = JSON.parse(Deno.readTextFileSync(file));
  let hasPassed = true;
  for (const planned of plan) {
    if (await runPlanned(planned, keepsGoing === "--all")) continue;
    hasPassed = false;
    if (keepsGoing !== "--all") break;
  }
  // What a mutant left running is nobody's.
  Deno.exit(hasPassed ? 0 : 1);
}
