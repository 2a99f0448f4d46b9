/**
 * What an operator waits for and pays: opening a data directory after a clean stop and after SIGKILL, and resident
 * memory. Only dbd is measured; the bars are absolute.
 */
import type { Benchmark, Peer, Scale } from "../benchmark.ts";
import { type DbdPeer, isDbd } from "../peers/dbd.ts";
import { connect } from "./client.ts";
import { loadReadings } from "./large_table.ts";
import { initialize } from "./pgbench.ts";

/** More than the log of the last measurement grows to, so that no checkpoint shortens the replay. */
const CHECKPOINT_LOG_BYTES = 512 * 1024 * 1024;
const LOG_BYTES = { smoke: 200_000, full: 100_000_000 } as const;
const ROWS = { smoke: 5_000, full: 10_000_000 } as const;
/** Rows that one statement changes while the log is filled. */
const ROWS_A_STATEMENT = 100;
const UPDATES_BETWEEN_LOOKS = 100;
/** After so long the server has given back what it does not use. */
const IDLE_MILLISECONDS = 25_000;

let directory: string | null = null;

/** Opening after a clean stop, and after SIGKILL. */
export const restart: readonly Benchmark[] = [
  {
    name: "open, 10 million rows, after a clean stop",
    unit: "ms",
    higherIsBetter: false,
    bar: "≤ 1000",
    alone: true,
    prepare: async (peer, scale) => {
      directory ??= await Deno.makeTempDir({ prefix: "dbd-restart-" });
      const server = await start(peer);
      await loadReadings(server, ROWS[scale]);
      await server.stop();
    },
    measure: async (peer) => {
      const server = await start(peer);
      await server.stop();
      return server.startMilliseconds;
    },
  },
  {
    name: "open, 10 million rows and 100 MB of log, after SIGKILL",
    unit: "ms",
    higherIsBetter: false,
    bar: "≤ 5000",
    alone: true,
    prepare: async (peer, scale) => {
      const server = await start(peer);
      await fillLog(server, scale);
      await server.kill();
    },
    measure: async (peer) => {
      const server = await start(peer);
      await server.kill();
      return server.startMilliseconds;
    },
    finish: async () => {
      if (directory !== null) await Deno.remove(directory, { recursive: true });
      directory = null;
    },
  },
];

/** Resident memory of the server, in MB. */
export const memory: readonly Benchmark[] = [
  {
    name: "resident memory, empty",
    isFullOnly: true,
    unit: "MB",
    higherIsBetter: false,
    bar: "≤ 120",
    alone: true,
    prepare: async () => {},
    measure: (peer) => residentAfter(peer, async () => {}),
  },
  {
    driver: "pgbench",
    name: "resident memory, after 1 million pgbench_accounts rows",
    isFullOnly: true,
    unit: "MB",
    higherIsBetter: false,
    bar: "≤ 400",
    alone: true,
    prepare: async () => {},
    measure: (peer, scale) => residentAfter(peer, (server) => initialize(server, scale === "smoke" ? 1 : 10)),
  },
  {
    driver: "pgbench",
    name: "resident memory, after 1 million pgbench_accounts rows and 25 idle seconds",
    unit: "MB",
    higherIsBetter: false,
    bar: "≤ 350",
    alone: true,
    prepare: async () => {},
    measure: (peer, scale) =>
      residentAfter(peer, async (server) => {
        await initialize(server, scale === "smoke" ? 1 : 10);
        if (scale === "full") await new Promise((resolve) => setTimeout(resolve, IDLE_MILLISECONDS));
      }),
  },
];

async function residentAfter(peer: Peer, work: (server: DbdPeer) => Promise<void>): Promise<number> {
  const server = await dbdOf(peer).another({});
  try {
    await work(server);
    return residentBytes(server.processId) / 1e6;
  } finally {
    await server.stop();
  }
}

/** Resident memory of a process; NaN where the system does not tell in Linux's way. */
function residentBytes(processId: number): number {
  if (Deno.build.os !== "linux") return NaN;
  const status = Deno.readTextFileSync(`/proc/${processId}/status`);
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? NaN) * 1024;
}

function dbdOf(peer: Peer): DbdPeer {
  if (!isDbd(peer)) throw new Error(`${peer.name} cannot be measured so`);
  return peer;
}

function start(peer: Peer): Promise<DbdPeer> {
  if (directory === null) throw new Error("the data directory was not prepared");
  return dbdOf(peer).another({ directory, flags: ["--checkpoint-log", String(CHECKPOINT_LOG_BYTES)] });
}

/** Changes rows all over the table, until the log is as long as wanted. */
async function fillLog(server: DbdPeer, scale: Scale): Promise<void> {
  const client = connect(server);
  const end = logBytes(server.directory) + LOG_BYTES[scale];
  try {
    for (let low = 1; logBytes(server.directory) < end;) {
      for (let update = 0; update < UPDATES_BETWEEN_LOOKS; update++) {
        await client.unsafe(
          `UPDATE readings SET value = value + 1 WHERE id BETWEEN ${low} AND ${low + ROWS_A_STATEMENT - 1}`,
        );
        low = (low + 7919 * ROWS_A_STATEMENT) % (ROWS[scale] - ROWS_A_STATEMENT);
      }
    }
  } finally {
    await client.end();
  }
}

/** Bytes of the log's files, within the step in which space is reserved. */
function logBytes(data: string): number {
  let bytes = 0;
  for (const file of Deno.readDirSync(`${data}/log`)) bytes += Deno.statSync(`${data}/log/${file.name}`).size;
  return bytes;
}
