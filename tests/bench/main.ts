/**
 * `deno task bench [NAME…] [--binary FILE] [--before DIR] [--rounds N] [--rows TEXT] [--smoke] [--json]
 * [--report PAGE]`: compares dbd with the peers that are installed, and the language with others, in turn, and prints
 * medians, spreads and ratios.
 */
import { parseArgs } from "node:util";
import { AGED_GROUPS } from "./aged/all.ts";
import { age } from "./aged/corpus.ts";
import { type Benchmark, compare, type Comparison, type Peer, type Scale } from "./benchmark.ts";
import { BENCHMARKS } from "./cases/all.ts";
import { canRun, hasDriver } from "./cases/client.ts";
import { CLUSTER_GROUPS } from "./cluster/all.ts";
import { LANGUAGE, LANGUAGE_GROUPS } from "./lang/all.ts";
import { isDbd, longTurns, startDbd } from "./peers/dbd.ts";
import { EMBEDDED, type EmbeddedPeer, startEmbedded } from "./peers/embedded.ts";
import { runProgram } from "./peers/process.ts";
import { SHARD_GROUPS } from "./shards/all.ts";
import { startPostgresql } from "./peers/postgresql.ts";
import { WORKER_GROUPS } from "./workers/all.ts";
import { type Group, mergeRuns, reportFiles, type Run, withReport } from "./report.ts";

/** What can be asked for, in the report's order. */
const NAMES = [
  ...Object.keys(BENCHMARKS),
  ...Object.keys(AGED_GROUPS),
  ...Object.keys(WORKER_GROUPS),
  ...Object.keys(CLUSTER_GROUPS),
  ...Object.keys(SHARD_GROUPS),
  ...LANGUAGE,
];

/** How many other programs ran, on average of a minute. */
const LOAD = Deno.loadavg()[0]?.toFixed(1);

/** What clients ask of a server that has lived. */
const OF_LONG_LIFE: readonly string[] = ["point-read", "point-write", "tpc-b", "insert", "copy"];

/** What starts its peers itself. */
const GROUPS = { ...AGED_GROUPS, ...WORKER_GROUPS, ...CLUSTER_GROUPS, ...SHARD_GROUPS, ...LANGUAGE_GROUPS };

const HELP = `Usage: deno task bench [NAME…] [options]

Runs the same work on dbd and its peers in turn: PostgreSQL, where it is installed, and for TPC-H DuckDB, SQLite and PGlite,
whose packages are fetched when they are first needed. parquet reads lineitem as DuckDB does. lang-speed runs programs of the language, of AssemblyScript (fetched
likewise) and JavaScript; lang-toolchain measures check, fmt, build and sizes; agent how quickly lang agent answers;
pkg resolves and unpacks packages; lang is all of them. cluster measures three members against one server alone,
PostgreSQL with two synchronous standbys, and etcd. aged measures a server that has run 60 000 statements of every kind
against a fresh one. workers asks one server with two workers and without. shards measures two and four shards against a server without.

Names: ${NAMES.join(", ")} (all when none is given)

Options:
  --binary FILE   measure a compiled dbd instead of the sources; for lang-toolchain, a compiled lang
  --before DIR    measure the sources in another checkout as well, as a peer
  --rounds N      measurements of each peer (default 5)
  --rows TEXT     of cluster, only the rows whose names have the text
  --fresh         measure point-read, point-write, tpc-b, insert and copy on a server that has just been started, and not
                  on one that has run 60 000 statements of every kind
  --alone         do not start a peer that is not part of Deno
  --smoke         tiny sizes, to see that everything runs
  --json          print JSON
  --report PAGE   write tables into PAGE (docs/benchmarks.md), figures and plots into the folder of its name;
                  what earlier runs measured under other names stays
  --help          print this text
`;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    args: Deno.args,
    allowPositionals: true,
    options: {
      binary: { type: "string" },
      before: { type: "string" },
      rounds: { type: "string", default: "5" },
      rows: { type: "string", default: "" },
      fresh: { type: "boolean", default: false },
      alone: { type: "boolean", default: false },
      smoke: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      report: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const asked = positionals.flatMap((name) => name === "lang" ? LANGUAGE : [name]);
  const names = asked.length === 0 ? NAMES : asked;
  const unknown = names.find((name) => !NAMES.includes(name));
  if (unknown !== undefined) {
    console.error(`bench: no benchmark is called "${unknown}"; there are lang, ${NAMES.join(", ")}`);
    return 2;
  }
  const missing: string[] = [];
  const options: RunOptions = {
    scale: values.smoke ? "smoke" : "full",
    rounds: Number(values.rounds),
    rows: values.rows,
    fresh: values.fresh,
    alone: values.alone,
    binary: values.binary ?? null,
    before: values.before ?? null,
    missing,
    tell: (result) => {
      if (!values.json) console.log(format(result));
    },
  };
  const ofDatabase = names.filter((name) => BENCHMARKS[name] !== undefined);
  const groups = ofDatabase.length === 0 ? [] : await measureDatabase(ofDatabase, options);
  for (const name of names) {
    const group = GROUPS[name];
    if (group === undefined) continue;
    groups.push({ name, results: await group.measure(options, options.tell), ...await whereAndWhen() });
  }
  for (const what of missing) console.error(`bench: not run: ${what}`);
  const run: Run = { groups, missing };
  if (values.json) {
    console.log(JSON.stringify({ ...run, results: groups.flatMap(({ results }) => results) }, null, 2));
  }
  if (values.report !== undefined) await writeReport(values.report, run);
  return 0;
}

/** What the command line asks for. */
interface RunOptions {
  readonly scale: Scale;
  readonly rounds: number;
  readonly rows: string;
  readonly fresh: boolean;
  readonly alone: boolean;
  readonly binary: string | null;
  /** A checkout of another commit. */
  readonly before: string | null;
  /** Takes what is left out, and why. */
  readonly missing: string[];
  /** Prints a result as soon as it is there. */
  tell(result: Comparison): void;
}

/** Starts dbd and its peers, and lets them run the benchmarks of these names. */
async function measureDatabase(names: readonly string[], options: RunOptions): Promise<Group[]> {
  const { missing, alone } = options;
  const chosen = names.map((name): { readonly name: string; readonly benchmarks: readonly Benchmark[] } => ({
    name,
    benchmarks: (BENCHMARKS[name] ?? []).filter((each) => canRun(each, options.scale)),
  }));
  const undriven = names.flatMap((name) => BENCHMARKS[name] ?? []).filter(({ driver }) => !hasDriver(driver));
  for (const program of new Set(undriven.map(({ driver }) => driver))) {
    missing.push(
      `what ${program} drives, as it is not installed (Debian: ${
        program === "pgbench" ? "postgresql" : program
      })`,
    );
  }
  const peers: Peer[] = [await startDbd(options.binary === null ? {} : { binary: options.binary })];
  const embedded: EmbeddedPeer[] = [];
  try {
    if (options.before !== null) peers.push(await startDbd({ checkout: options.before }));
    if (!options.fresh && names.some((name) => OF_LONG_LIFE.includes(name))) {
      for (const peer of peers.filter(isDbd)) await age(peer, options.scale);
    }
    const postgresql = alone ? null : await startPostgresql();
    if (postgresql !== null) peers.push(postgresql);
    else if (!alone) missing.push("PostgreSQL, as it is not installed");
    const needsEmbedded = chosen.some(({ benchmarks }) =>
      benchmarks.some((each) => each.embedded !== undefined)
    );
    if (needsEmbedded && !alone) embedded.push(...await startAllEmbedded(missing));
    const groups: Group[] = [];
    for (const { name, benchmarks } of chosen) {
      const results: Comparison[] = [];
      for (const benchmark of benchmarks) {
        const { scale, rounds } = options;
        const result = await compare(benchmark, peers, { scale, rounds, embedded });
        results.push(result);
        options.tell(result);
      }
      groups.push({ name, results, ...await whereAndWhen() });
    }
    for (const peer of peers.filter(isDbd)) {
      const turns = await longTurns(peer);
      if (turns.length > 0) console.error(`bench: longest turns of ${peer.name}: ${turns.join(", ")}`);
    }
    return groups;
  } finally {
    for (const peer of [...peers, ...embedded]) await peer.stop();
  }
}

async function whereAndWhen(): Promise<Pick<Group, "machine" | "commit" | "date">> {
  return { machine: machine(), commit: await commit(), date: new Date().toISOString().slice(0, 10) };
}

async function startAllEmbedded(missing: string[]): Promise<EmbeddedPeer[]> {
  const started: EmbeddedPeer[] = [];
  for (const name of EMBEDDED) {
    const peer = await startEmbedded(name);
    if ("missing" in peer) missing.push(`${name}: ${peer.missing}`);
    else started.push(peer);
  }
  return started;
}

/**
 * Writes the tables into the page and everything else into the folder of its name beside it. What earlier runs have
 * measured under other names stays.
 */
async function writeReport(page: string, run: Run): Promise<void> {
  const folder = page.replace(/\.md$/, "");
  const name = folder.split("/").at(-1) ?? folder;
  await Deno.mkdir(folder, { recursive: true });
  const earlier = await readRun(`${folder}/results.json`);
  const whole = mergeRuns(earlier, run, NAMES);
  for (const [file, content] of reportFiles(whole)) await Deno.writeTextFile(`${folder}/${file}`, content);
  const before = await Deno.readTextFile(page).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return "# Benchmarks\n";
    throw error;
  });
  await Deno.writeTextFile(page, withReport(before, whole, name));
}

async function readRun(file: string): Promise<Run> {
  try {
    return JSON.parse(await Deno.readTextFile(file)) as Run;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { groups: [], missing: [] };
    throw error;
  }
}

async function commit(): Promise<string> {
  try {
    const folder = new URL("../..", import.meta.url).pathname;
    return (await runProgram("git", ["-C", folder, "rev-parse", "--short", "HEAD"])).trim();
  } catch (error) {
    return error instanceof Deno.errors.NotFound ? "unknown" : "of no repository";
  }
}

function format(result: Comparison): string {
  const series = result.series.filter((each) => Number.isFinite(each.median)).map((each) =>
    `${each.peer} ${number(each.median)} (${number(each.minimum)}–${number(each.maximum)})`
  ).join("  ");
  const ratios = result.ratios.filter(({ ratio }) => Number.isFinite(ratio))
    .map(({ peer, ratio }) => `  / ${peer} ${ratio.toFixed(2)}`).join("");
  const bar = result.bar === null ? "" : ` (${result.bar})`;
  const turn = result.longestTurnMilliseconds === undefined
    ? ""
    : `  longest turn ${number(result.longestTurnMilliseconds)} ms`;
  return `${result.benchmark.padEnd(40)} ${series} ${result.unit}${ratios}${bar}${turn}`;
}

function number(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3);
}

function machine(): string {
  const { hardwareConcurrency } = navigator;
  const { os, arch } = Deno.build;
  return `${os} ${arch}, ${hardwareConcurrency} processors, Deno ${Deno.version.deno}, load ${LOAD} before it began`;
}

if (import.meta.main) Deno.exit(await main());
