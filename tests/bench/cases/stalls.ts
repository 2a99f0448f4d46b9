/**
 * The longest wait of a point read while COPY, flushes and compaction run beside it: the 99.9th percentile of what
 * pgbench saw. pgbench sends at a fixed rate and counts from the time a read was due, so a stall counts for all reads
 * that fell into it.
 */
import type { Benchmark, Peer, Scale } from "../benchmark.ts";
import { runPgbench, runPsql } from "./client.ts";
import { accountsFile, removeAccountsFile } from "./accounts_file.ts";
import { ACCOUNTS_PER_SCALE, initialize, SCRIPTS } from "./pgbench.ts";

/** Reads a second of all clients; few enough that one that had to wait is not behind with the next. */
const RATE = 400;
const CLIENTS = 8;
const SECONDS = { smoke: 1, full: 15 } as const;
/** After so many loads the table is made anew, so that segments are merged but the disk is not filled. */
const LOADS = 4;

/** Point reads beside loads. */
export const stalls: readonly Benchmark[] = [{
  name: "wait of a point read beside COPY, flush and compaction, p99.9",
  driver: "pgbench",
  unit: "ms",
  higherIsBetter: false,
  bar: "≤ 25 ms",
  prepare: async (peer, scale) => {
    await initialize(peer, 1);
    await accountsFile(scale);
  },
  measure: async (peer, scale) => {
    let running = true;
    const loads = loadUntil(peer, scale, () => !running);
    try {
      return await waitOfReads(peer, SECONDS[scale]);
    } finally {
      running = false;
      await loads;
    }
  },
  finish: removeAccountsFile,
}];

async function loadUntil(peer: Peer, scale: Scale, isOver: () => boolean): Promise<void> {
  const file = await accountsFile(scale);
  const load = `\\copy loaded FROM '${file}'`;
  while (!isOver()) {
    await runPsql(peer, [
      "-c",
      "DROP TABLE IF EXISTS loaded",
      "-c",
      "CREATE TABLE loaded (aid int, bid int, abalance int, filler char(84))",
    ]);
    for (let count = 0; count < LOADS && !isOver(); count++) await runPsql(peer, ["-c", load]);
  }
}

/** The 99.9th percentile of the reads' waits, in milliseconds. */
async function waitOfReads(peer: Peer, seconds: number): Promise<number> {
  const folder = await Deno.makeTempDir({ prefix: "stalls-" });
  try {
    await Deno.writeTextFile(`${folder}/script.sql`, SCRIPTS["point read"]);
    await runPgbench(peer, [
      ...["-n", "-f", `${folder}/script.sql`, "-M", "prepared", "-c", String(CLIENTS), "-j", "1"],
      ...["-D", `rows=${ACCOUNTS_PER_SCALE}`, "-T", String(seconds), "-R", String(RATE)],
      ...["-l", `--log-prefix=${folder}/waits`],
    ]);
    const waits: number[] = [];
    for await (const { name } of Deno.readDir(folder)) {
      if (!name.startsWith("waits")) continue;
      for (const line of (await Deno.readTextFile(`${folder}/${name}`)).split("\n")) {
        // client, number, microseconds, script, time, microseconds of time, lag
        const microseconds = line.split(" ")[2];
        if (microseconds !== undefined) waits.push(Number(microseconds) / 1000);
      }
    }
    waits.sort((a, b) => a - b);
    return waits[Math.min(waits.length - 1, Math.floor(waits.length * 0.999))] ?? NaN;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
