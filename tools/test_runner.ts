/**
 * `deno task test [unit|oracles|examples|e2e …] [options of deno test] [files]`: runs the groups of tests one after
 * the other and ends with a line of its own that says `N passed, N failed` for all of them together.
 *
 * - `unit`: every `_test.ts` outside the folders of the other groups; the files run in parallel, so they share no
 *   port and no folder.
 * - `oracles`: whole engines compared with recorded answers, other databases, models and themselves, and put under
 *   large, slow and hostile input; in parallel, too.
 * - `examples`: the code blocks in the documentation comments of `mod.ts`.
 * - `e2e`: `tests/cluster/`, `tests/e2e/` and `tests/lang/browser/`; real programs, on free ports and in folders of
 *   their own, in parallel.
 *
 * What a test reports as not run (see `not_run.ts`) and what the runner reports as ignored is named before the last
 * line. Every test runs with `check_input.ts` and `bounded_tests.ts`. Output passes through as it comes. Exit code 0
 * when nothing failed, 1 otherwise, 2 for bad usage. Limits: a file that cannot even be loaded counts as one failure.
 * Types are checked by `deno task ok` only.
 */
import { dirname } from "node:path";
import { compiledPrograms } from "./compiled_programs.ts";
import { notRunMarker } from "./not_run.ts";
import { projectRoot, sourceFiles, withoutColor } from "./project.ts";
import { writeTestModules } from "./test_modules.ts";

/** What one run of `deno test` came to. */
export interface Tally {
  /** Tests that passed. */
  readonly passed: number;
  /** Tests that failed. */
  readonly failed: number;
  /** Tests that were ignored. */
  readonly ignored: number;
}

const endToEndFolders = ["tests/cluster", "tests/e2e", "tests/lang/browser"] as const;
const oracleFolders = [
  "tests/answers",
  "tests/bench",
  "tests/faults",
  "tests/fuzz",
  "tests/hostile",
  "tests/isolation",
  "tests/large",
  "tests/mutation",
  "tests/pruning",
  "tests/sharding",
  "tests/simulation",
  "tests/slt",
] as const;
/**
 * The files that take longest, fetch much, or need much memory. They come first, or a processor would wait for one of
 * them at the end, and each has a thread of its own.
 */
const longestFiles = [
  "tests/sharding/equality_test.ts",
  "tests/sharding/crash_test.ts",
  "tests/sharding/joins_test.ts",
  "tests/sharding/shard_by_test.ts",
  "tests/sharding/isolation_test.ts",
  "tests/sharding/stream_test.ts",
  "tests/sharding/look_ups_test.ts",
  "tests/sharding/logic_test.ts",
  "tests/sharding/memory_test.ts",
  "tests/sharding/lookup_joins_test.ts",
  "tests/parallel/threads_test.ts",
  "tests/life/life_test.ts",
  "tests/pg/clients/installed_clients_test.ts",
  "tests/pg/clients/jdbc_test.ts",
  "tests/lang/serve/archive_test.ts",
  "tests/lang/lsp/editing_test.ts",
  "tests/bench/smoke_test.ts",
  "tests/answers/answers_test.ts",
  "tests/pruning/index_ranges_test.ts",
  "tests/fuzz/sql_oracle_test.ts",
  "tests/slt/storage_states_test.ts",
  "tests/fuzz/mutated_statements_test.ts",
  "tests/lang/run_test.ts",
  "tests/fuzz/metamorphic/metamorphic_test.ts",
  "tests/fuzz/programs/programs_test.ts",
  "tests/simulation/cluster/cluster_test.ts",
  "tests/large/spilling_test.ts",
  "tests/large/large_statements_test.ts",
  "tests/large/many_rows_test.ts",
  "tests/faults/every_operation_test.ts",
  "tests/fuzz/frames/binary_frames_test.ts",
  "tests/fuzz/frames/http_frames_test.ts",
  "tests/fuzz/frames/pg_frames_test.ts",
  "tests/fuzz/frames/websocket_frames_test.ts",
  "tests/fuzz/edge_oracle_test.ts",
  "tests/simulation/shards/shard_simulation_test.ts",
  "tests/simulation/engine_simulation_test.ts",
  "tests/isolation/list_append_test.ts",
  "tests/isolation/filled_histories_test.ts",
  "tests/isolation/levels_test.ts",
  "tests/slt/logic_test.ts",
  "tests/bench/tpch/answers_test.ts",
  "tests/bench/tpch/sharded_answers_test.ts",
  "tests/e2e/object_stores_test.ts",
  "tests/e2e/tour_test.ts",
  "tests/e2e/sigkill_test.ts",
  "tests/e2e/postgresql_random_statements_test.ts",
  "tests/cluster/kill_test.ts",
  "tests/cluster/damage_test.ts",
  "tests/e2e/postgresql_answers_test.ts",
  "tests/e2e/failing_shards_test.ts",
  "tests/cluster/space_test.ts",
  "tests/cluster/fault_test.ts",
  "tests/e2e/user_functions_test.ts",
  "tests/cluster/shards_test.ts",
  "tests/e2e/kill_points_test.ts",
  "tests/e2e/hostile_clients_test.ts",
  "tests/e2e/damage_test.ts",
] as const;
/** Oracles outside of those folders: next to what they compare with a model or with a second evaluator. */
const otherOracles = [
  "tests/lang/run_test.ts",
  "tests/lang/agent/hostile_test.ts",
  "tests/lang/lsp/hostile_test.ts",
  "tests/lang/mcp/hostile_test.ts",
  "tests/pg/long_statements_test.ts",
  "lang/wasm/library_test.ts",
  "registry/archive/archive_test.ts",
  "tests/tooling/feature_links_test.ts",
  "engine/types/regular_expression/compile_test.ts",
  "engine/execution/compile_statement_test.ts",
  "engine/storage/storage_engine_test.ts",
  "engine/storage/table/table_store_test.ts",
  "engine/execution/expression_test.ts",
  "engine/execution/codegen/accumulator_flush_test.ts",
] as const;

/** Reads the summary line of `deno test`; `undefined` when the line is another one. */
export function parseSummary(line: string): Tally | undefined {
  const match = /^(?:ok|FAILED) \| (\d+) passed(?: \(\d+ steps?\))? \| (\d+) failed(?: \(\d+ steps?\))?(.*)$/
    .exec(withoutColor(line).trim());
  if (match === null) return undefined;
  const ignored = /\| (\d+) ignored/.exec(match[3] ?? "");
  return { passed: Number(match[1]), failed: Number(match[2]), ignored: Number(ignored?.[1] ?? 0) };
}

/** The name of a test that `deno test` reports as ignored; `undefined` for any other line. */
export function parseIgnored(line: string): string | undefined {
  return /^(.*) \.\.\. ignored(?: \(.*\))?$/.exec(withoutColor(line).trim())?.[1];
}

/** Tests that are run by one `deno test`. */
export interface Group {
  /** The name by which the group is chosen. */
  readonly name: string;
  /** Its own parameters of `deno test`. */
  readonly parameters: readonly string[];
  /** Whether it needs the compiled programs. */
  readonly isEndToEnd?: boolean;
  /** Its test files. */
  readonly files: readonly string[];
}

/** Where output goes. */
export interface ByteTarget {
  /** Writes a part of the bytes and returns how many. */
  write(bytes: Uint8Array): Promise<number>;
}

/** Where a group's output goes, and the list that what was not run is added to. */
export interface GroupReport {
  /** Receives one line for each thing that was not run. */
  readonly notRun: string[];
  /** Receives the standard output as it comes. */
  readonly stdout: ByteTarget;
  /** Receives the standard error as it comes. */
  readonly stderr: ByteTarget;
}

function groupsOf(files: readonly string[]): Group[] {
  const tests = files.filter((path) => /(^|[/_])test\.tsx?$/.test(path));
  const within = (folders: readonly string[]) =>
    tests.filter((path) => folders.some((folder) => path.startsWith(`${folder}/`)));
  const inOrder = (chosen: readonly string[]): string[] => {
    const longest = longestFiles.filter((path) => chosen.includes(path));
    const longer = chosen.filter((path) => path.startsWith("tests/"));
    return [...new Set([...longest, ...longer, ...chosen])];
  };
  const endToEnd = within(endToEndFolders);
  const oracles = [...within(oracleFolders), ...otherOracles.filter((path) => tests.includes(path))];
  const rest = tests.filter((path) => !endToEnd.includes(path) && !oracles.includes(path));
  return [
    { name: "unit", parameters: ["--parallel"], files: inOrder(rest) },
    { name: "oracles", parameters: ["--parallel"], files: inOrder(oracles) },
    { name: "examples", parameters: ["--doc"], files: files.filter((path) => path === "mod.ts") },
    { name: "e2e", parameters: ["--parallel"], isEndToEnd: true, files: inOrder(endToEnd) },
  ];
}

/** Passes a stream on as it comes and hands each whole line to the observer. */
async function pass(
  source: ReadableStream<Uint8Array>,
  target: ByteTarget,
  observe: (line: string) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of source) {
    for (let written = 0; written < chunk.length;) written += await target.write(chunk.subarray(written));
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(observe);
  }
  if (rest !== "") observe(rest);
}

/** Runs one group to its end. */
export async function runGroup(group: Group, { notRun, stdout, stderr }: GroupReport): Promise<Tally> {
  const child = new Deno.Command(Deno.execPath(), {
    // Types are checked once for all, by `deno task ok`.
    args: [
      "test",
      "-A",
      "--no-check",
      // With less room for young objects, `answers_test.ts` takes a tenth more processor time.
      "--v8-flags=--min-semi-space-size=16",
      "--config",
      "deno.json",
      "--preload",
      "tools/check_input.ts",
      "--preload",
      "tools/bounded_tests.ts",
      ...group.parameters,
      ...group.files,
    ],
    cwd: projectRoot,
    env: Deno.stdout.isTerminal() ? {} : { NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let tally: Tally | undefined;
  const observe = (line: string) => {
    tally = parseSummary(line) ?? tally;
    const ignored = parseIgnored(line);
    if (ignored !== undefined) notRun.push(`${ignored} (ignored)`);
    const reported = withoutColor(line).indexOf(notRunMarker);
    if (reported >= 0) notRun.push(withoutColor(line).slice(reported + notRunMarker.length).trim());
  };
  const [status] = await Promise.all([
    child.status,
    pass(child.stdout, stdout, observe),
    pass(child.stderr, stderr, observe),
  ]);
  const { passed, failed, ignored } = tally ?? { passed: 0, failed: 0, ignored: 0 };
  return { passed, failed: status.success ? failed : Math.max(failed, 1), ignored };
}

interface Choice {
  readonly groups: readonly string[];
  readonly options: readonly string[];
  readonly files: readonly string[];
}

function parseParameters(parameters: readonly string[], names: readonly string[]): Choice {
  const groups: string[] = [];
  const options: string[] = [];
  const files: string[] = [];
  for (const parameter of parameters) {
    if (parameter === "--") continue;
    if (names.includes(parameter)) groups.push(parameter);
    else if (parameter.startsWith("-")) options.push(parameter);
    else files.push(parameter.replace(/^\.\//, "").replace(/\/$/, ""));
  }
  return { groups: groups.length === 0 ? names : groups, options, files };
}

/** What programs have used that this one has started and that are over; 0 where the system does not say. */
async function processorSeconds(): Promise<number> {
  const text = await Deno.readTextFile("/proc/self/stat").catch(() => "");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const TICKS = 100;
  // Of user and system, as proc(5) counts its fields 16 and 17.
  return (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) / TICKS;
}

/** Whether a file does not take long. */
function isSmall(path: string): boolean {
  return !longestFiles.some((long) => long === path);
}

/** Runs the chosen groups; returns the exit code. */
export async function runTests(parameters: readonly string[]): Promise<number> {
  const groups = groupsOf(await sourceFiles(projectRoot));
  const choice = parseParameters(parameters, groups.map((group) => group.name));
  const isChosen = (path: string) =>
    choice.files.length === 0 ||
    choice.files.some((chosen) => path === chosen || path.startsWith(`${chosen}/`));
  const notRun: string[] = [];
  const total = { passed: 0, failed: 0 };
  const durations: string[] = [];
  for (const group of groups.filter(({ name }) => choice.groups.includes(name))) {
    let files: readonly string[] = group.files.filter(isChosen);
    if (files.length === 0) continue;
    console.log(`\n== ${group.name}: ${files.length} ${files.length === 1 ? "file" : "files"}`);
    const begun = performance.now();
    const usedBefore = await processorSeconds();
    // Before the tests, which have a time to end in; each that needs them would say what is wrong, too.
    if (group.isEndToEnd === true && choice.files.length === 0) {
      await compiledPrograms().then(
        // Each test file would look at all sources to see whether they are current.
        ({ dbd }) => Deno.env.set("DB_PROGRAMS", dirname(dbd)),
        (error: unknown) => console.error(String(error)),
      );
    }
    const modules = await Deno.makeTempDir({ prefix: "test-modules-" });
    if (choice.files.length === 0 && group.parameters.includes("--parallel")) {
      files = await writeTestModules(modules, files, isSmall);
    }
    const { passed, failed } = await runGroup(
      { ...group, parameters: [...group.parameters, ...choice.options], files },
      { notRun, stdout: Deno.stdout, stderr: Deno.stderr },
    );
    await Deno.remove(modules, { recursive: true });
    total.passed += passed;
    total.failed += failed;
    const used = Math.round(await processorSeconds() - usedBefore);
    durations.push(
      `${group.name} ${Math.round((performance.now() - begun) / 1000)} s (processors ${used} s)`,
    );
  }
  if (durations.length === 0 && choice.files.length > 0) {
    console.error(`Cannot run tests: no test file matches ${choice.files.join(" ")}`);
    return 2;
  }
  const missing = [...new Set(notRun)];
  if (missing.length > 0) {
    console.log(`\nnot run on this machine:\n${missing.map((what) => `  ${what}`).join("\n")}`);
  }
  console.log(`\ntimes: ${durations.join(", ")}`);
  console.log(`\n${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(await runTests(Deno.args));
