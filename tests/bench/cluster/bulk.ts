/** Work with much data: what members fetch that are empty or were away, and a load of a gigabyte. */
import { assert } from "../../../engine/base/assert.ts";
import type { PeerAddress, Scale, Worker } from "../benchmark.ts";
import { connect, copyIn, execute } from "../cases/client.ts";
import { runProgram } from "../peers/process.ts";
import { addressOf, backupsOf, NAME } from "./own_servers.ts";
import type { Measurement, Servers } from "./servers.ts";

const ROW_BYTES = 1024;
const ROWS_A_PIECE = 1024;
const STATE_ROWS = { smoke: 2048, full: 384 * 1024 } as const;
const LOADED_ROWS = 1024 * 1024;
/** More log than members keep for each other. */
const CHURNED_ROWS = 192 * 1024;

/** See the head of the file. */
export const bulk: readonly Measurement[] = [
  {
    name: "everything fetched by an empty member",
    unit: "MB/s",
    bar: "≥ 200, cp ≥ 0.5",
    usesPgbench: false,
    maximumRounds: 3,
    workers: transferWorkers,
  },
  {
    name: "fetched by a member that was away while 1 % changed",
    unit: "% of the bytes",
    bar: "≤ 5",
    usesPgbench: false,
    isFullOnly: true,
    maximumRounds: 2,
    workers: async ({ cluster }) => {
      const primary = await cluster.primary();
      const [backup] = backupsOf(cluster, primary);
      assert(backup !== undefined, "a cluster has backups");
      const address = addressOf(primary, NAME);
      return [worker(NAME, async () => {
        await cluster.level();
        await backup.stop("SIGTERM");
        await execute(address, ["UPDATE loaded SET value = reverse(value) WHERE id % 100 = 0", "CHECKPOINT"]);
        await load(address, "churned", CHURNED_ROWS);
        await execute(address, ["DROP TABLE churned", "CHECKPOINT"]);
        backup.start();
        await cluster.level(120_000);
        return 100 * await receivedBytes(backup.httpPort) / (megabytes(backup.directory) * 1e6);
      })];
    },
  },
  {
    name: "replicated COPY of 1 GiB",
    unit: "MB/s",
    bar: "alone ≥ 0.5",
    usesPgbench: false,
    isFullOnly: true,
    maximumRounds: 2,
    workers: async ({ cluster, single }) => {
      const loaded = (address: PeerAddress) =>
        worker(address.name, async () => {
          const start = performance.now();
          await load(address, "loaded", LOADED_ROWS);
          return LOADED_ROWS * ROW_BYTES / 1000 / (performance.now() - start);
        });
      return [loaded(addressOf(await cluster.primary(), NAME)), loaded(single)];
    },
  },
  {
    name: "most memory of a member so far",
    unit: "MB",
    bar: "",
    usesPgbench: false,
    isFullOnly: true,
    maximumRounds: 1,
    workers: ({ cluster, single }) =>
      Promise.resolve([
        worker(NAME, () => Promise.resolve(Math.max(...cluster.members.map(mostMemory)))),
        worker(single.name, () => Promise.resolve(mostMemory(single))),
      ]),
  },
];

function worker(name: string, measure: () => Promise<number>): Worker {
  return { name, prepare: async () => {}, measure };
}

/** Loads a table anew with rows of 1 KiB that do not repeat. */
async function load(address: PeerAddress, table: string, rows: number): Promise<void> {
  await execute(address, [
    `DROP TABLE IF EXISTS ${table}`,
    `CREATE TABLE ${table} (id int PRIMARY KEY, value text)`,
  ]);
  const client = connect(address);
  try {
    await copyIn(client, `COPY ${table} FROM STDIN`, pieces(rows));
  } finally {
    await client.end();
  }
}

/** Lines of COPY's text format. */
function* pieces(rows: number): Generator<string> {
  const bytes = new Uint8Array(768 * 1024);
  for (let at = 0; at < bytes.length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  const text = bytes.toBase64();
  for (let first = 0; first < rows; first += ROWS_A_PIECE) {
    let piece = "";
    for (let id = first; id < Math.min(first + ROWS_A_PIECE, rows); id++) {
      const head = `${id}\t${id}`;
      const from = (id * 7919) % (text.length - ROW_BYTES);
      piece += `${head}${text.slice(from, from + ROW_BYTES - 1 - head.length)}\n`;
    }
    yield piece;
  }
}

async function transferWorkers({ cluster }: Servers, scale: Scale): Promise<readonly Worker[]> {
  const primary = await cluster.primary();
  const address = addressOf(primary, NAME);
  await load(address, "loaded", STATE_ROWS[scale]);
  await execute(address, ["CHECKPOINT"]);
  const [backup] = backupsOf(cluster, primary);
  assert(backup !== undefined, "a cluster has backups");
  return [
    // From the start of its program until it has what the others have.
    worker(NAME, async () => {
      await cluster.level();
      await backup.stop("SIGTERM");
      await Deno.remove(backup.directory, { recursive: true });
      const start = performance.now();
      backup.start();
      await cluster.level(120_000);
      return megabytes(backup.directory) * 1000 / (performance.now() - start);
    }),
    worker("cp", () => copyRate(backup.directory, false)),
    // What a member has fetched is durable.
    worker("cp, sync", () => copyRate(backup.directory, true)),
  ];
}

/** How quickly a folder is copied, in MB a second. */
async function copyRate(directory: string, isSynced: boolean): Promise<number> {
  const copy = await Deno.makeTempDir({ prefix: "cluster-copy-" });
  try {
    const start = performance.now();
    await runProgram("cp", ["-r", directory, `${copy}/data`]);
    if (isSynced) await runProgram("sync", ["-f", copy]);
    return megabytes(directory) * 1000 / (performance.now() - start);
  } finally {
    await Deno.remove(copy, { recursive: true });
  }
}

/** The size of the files in a folder, in MB. */
function megabytes(directory: string): number {
  let bytes = 0;
  for (const { name, isDirectory } of Deno.readDirSync(directory)) {
    const path = `${directory}/${name}`;
    bytes += isDirectory ? megabytes(path) * 1e6 : Deno.statSync(path).size;
  }
  return bytes / 1e6;
}

/** What a member has received of the others since its start. */
async function receivedBytes(httpPort: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${httpPort}/v1/metrics`)).text();
  const values = [...text.matchAll(/^db_cluster_peer_received_bytes_total\{[^}]*\} (\d+)$/gm)];
  assert(values.length > 0, "a member counts what it receives");
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
}

/** The most memory that a process has had, in MB; NaN where the system is not Linux. */
function mostMemory({ processId }: { readonly processId: number }): number {
  if (Deno.build.os !== "linux") return NaN;
  const status = Deno.readTextFileSync(`/proc/${processId}/status`);
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1000;
}
