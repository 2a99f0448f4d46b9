/**
 * `deno task bench [NAME…] [--binary FILE] [--rounds N] [--smoke] [--json]`: compares dbd with the peers that are
 * installed, in turn, and prints medians, spreads and ratios.
 */
import { parseArgs } from "node:util";
import { type Benchmark, compare, type Comparison, type Peer } from "./benchmark.ts";
import { BENCHMARKS } from "./cases/all.ts";
import { hasPgbench } from "./cases/client.ts";
import { startDbd } from "./peers/dbd.ts";
import { startPostgresql } from "./peers/postgresql.ts";

const HELP = `Usage: deno task bench [NAME…] [options]

Runs the same work on dbd and on PostgreSQL, where it is installed, in turn.

Names: ${Object.keys(BENCHMARKS).join(", ")} (all when none is given)

Options:
  --binary FILE   measure a compiled dbd instead of the sources
  --rounds N      measurements of each peer (default 5)
  --alone         do not start a peer
  --smoke         tiny sizes, to see that everything runs
  --json          print JSON
  --help          print this text
`;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    args: Deno.args,
    allowPositionals: true,
    options: {
      binary: { type: "string" },
      rounds: { type: "string", default: "5" },
      alone: { type: "boolean", default: false },
      smoke: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const names = positionals.length === 0 ? Object.keys(BENCHMARKS) : positionals;
  const chosen: Benchmark[] = [];
  for (const name of names) {
    const list = BENCHMARKS[name];
    if (list === undefined) {
      console.error(
        `bench: no benchmark is called "${name}"; there are ${Object.keys(BENCHMARKS).join(", ")}`,
      );
      return 2;
    }
    chosen.push(...list);
  }
  if (!hasPgbench()) {
    console.error("bench: pgbench is not installed (Debian: postgresql); its benchmarks are left out");
  }
  const runnable = chosen.filter((each) => hasPgbench() || each.unit !== "transactions/s");
  const peers: Peer[] = [await startDbd(values.binary === undefined ? {} : { binary: values.binary })];
  try {
    const postgresql = values.alone ? null : await startPostgresql();
    if (postgresql !== null) peers.push(postgresql);
    const results: Comparison[] = [];
    for (const benchmark of runnable) {
      const result = await compare(benchmark, peers, {
        scale: values.smoke ? "smoke" : "full",
        rounds: Number(values.rounds),
      });
      results.push(result);
      if (!values.json) console.log(format(result));
    }
    if (values.json) console.log(JSON.stringify({ machine: machine(), results }, null, 2));
    return 0;
  } finally {
    for (const peer of peers) await peer.stop();
  }
}

function format(result: Comparison): string {
  const series = result.series.map((each) =>
    `${each.peer} ${number(each.median)} (${number(each.minimum)}–${number(each.maximum)})`
  ).join("  ");
  const ratio = result.ratio === null
    ? ""
    : `  ratio ${result.ratio.toFixed(2)}${result.bar === null ? "" : ` (${result.bar})`}`;
  return `${result.benchmark.padEnd(40)} ${series} ${result.unit}${ratio}`;
}

function number(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3);
}

function machine(): string {
  return `${Deno.build.os} ${Deno.build.arch}, ${navigator.hardwareConcurrency} processors, Deno ${Deno.version.deno}`;
}

if (import.meta.main) Deno.exit(await main());
