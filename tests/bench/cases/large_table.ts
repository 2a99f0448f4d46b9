/**
 * Tables larger than the memory for data: point reads on 20 million rows whose data is ten times the cache, and reads
 * through range indexes of 10 million rows.
 *
 * The point reads have servers of their own, whose caches are equally small on both sides; the system's cache of files
 * serves both as well. Values do not compress.
 */
import type { Benchmark, Peer, Scale } from "../benchmark.ts";
import { connect, copyIn, execute, transactionRate } from "./client.ts";

const ACCOUNTS = { smoke: 5_000, full: 20_000_000 } as const;
const READINGS = { smoke: 5_000, full: 10_000_000 } as const;
const CACHE_BYTES = 64 * 1024 * 1024;
const ROWS_A_PIECE = 10_000;
/** Rows of one COPY, and so of one transaction. */
const ROWS_A_LOAD = 500_000;

/** Servers with a small cache, by the peer they belong to. */
const small = new Map<Peer, Peer>();
const loaded = new Set<Peer>();

/** Point reads on the large table. */
export const largeTable: readonly Benchmark[] = [1, 8].map((clients, index, all): Benchmark => ({
  name: `point read, 20 million rows, ten times the cache, ${clients} client${clients === 1 ? "" : "s"}`,
  unit: "transactions/s",
  higherIsBetter: true,
  bar: "≥ 0.5",
  prepare: async (peer, scale) => {
    if (small.has(peer)) return;
    const server = await peer.another({ cacheBytes: CACHE_BYTES });
    small.set(peer, server);
    await load(server, {
      table: "big (id int PRIMARY KEY, balance int, payload text)",
      statement: "COPY big FROM STDIN",
      rows: ACCOUNTS[scale],
      rowOf: bigRow,
    });
  },
  measure: (peer, scale) =>
    transactionRate(
      serverOf(peer),
      "\\set id random(1, :rows)\nSELECT balance, payload FROM big WHERE id = :id;\n",
      {
        mode: "prepared",
        clients,
        variables: { rows: ACCOUNTS[scale] },
        seconds: scale === "smoke" ? null : 5,
      },
    ),
  ...(index < all.length - 1 ? {} : {
    finish: async () => {
      for (const server of small.values()) await server.stop();
      small.clear();
    },
  }),
}));

/** Scripts on the table of readings: `at` grows with the id but for its last digits, `place` is scattered. */
const RANGES = {
  "range read of 100 rows in order of the table":
    "\\set low random(1, :rows - 100)\nSELECT id, value FROM readings WHERE at BETWEEN :low AND :low + 99;\n",
  "range read of 100 scattered rows":
    "\\set low random(1, :rows - 100)\nSELECT id, value FROM readings WHERE place BETWEEN :low AND :low + 99;\n",
  "min and max by index": "SELECT min(at), max(at), min(place), max(place) FROM readings;\n",
} as const;

/** Reads through range indexes. */
export const ranges: readonly Benchmark[] = Object.entries(RANGES).flatMap(([name, script]) =>
  [1, 8].map((clients): Benchmark => ({
    driver: "pgbench",
    name: `${name}, 10 million rows, ${clients} client${clients === 1 ? "" : "s"}`,
    unit: "transactions/s",
    higherIsBetter: true,
    bar: "≥ 1.0",
    prepare: prepareReadings,
    measure: (peer, scale) =>
      transactionRate(peer, script, {
        mode: "prepared",
        clients,
        variables: { rows: READINGS[scale] },
        seconds: scale === "smoke" ? null : 5,
      }),
  }))
);

async function prepareReadings(peer: Peer, scale: Scale): Promise<void> {
  if (loaded.has(peer)) return;
  loaded.add(peer);
  await loadReadings(peer, READINGS[scale]);
}

/** Makes the table of readings, with its indexes. */
export async function loadReadings(peer: Peer, rows: number, table = "readings"): Promise<void> {
  await load(peer, {
    table: `${table} (id int PRIMARY KEY, at int, place int, value int)`,
    statement: `COPY ${table} FROM STDIN`,
    rows,
    rowOf: (id) => `${id}\t${neighbor(id, rows)}\t${scattered(id, rows)}\t${random(id) % 1_000_000}\n`,
  });
  await execute(peer, [
    `CREATE INDEX ON ${table} (at)`,
    `CREATE INDEX ON ${table} (place)`,
    `VACUUM ANALYZE ${table}`,
  ]);
}

function serverOf(peer: Peer): Peer {
  const server = small.get(peer);
  if (server === undefined) throw new Error(`${peer.name} was not prepared`);
  return server;
}

async function load(peer: Peer, data: {
  readonly table: string;
  readonly statement: string;
  readonly rows: number;
  readonly rowOf: (id: number) => string;
}): Promise<void> {
  await execute(peer, [`CREATE TABLE ${data.table}`]);
  const client = connect(peer);
  try {
    for (let first = 1; first <= data.rows; first += ROWS_A_LOAD) {
      await copyIn(
        client,
        data.statement,
        pieces(first, Math.min(first + ROWS_A_LOAD - 1, data.rows), data.rowOf),
      );
    }
  } finally {
    await client.end();
  }
  await execute(peer, ["VACUUM ANALYZE"]);
}

function* pieces(first: number, last: number, rowOf: (id: number) => string): Generator<string> {
  for (let start = first; start <= last; start += ROWS_A_PIECE) {
    let text = "";
    const end = Math.min(start + ROWS_A_PIECE - 1, last);
    for (let id = start; id <= end; id++) text += rowOf(id);
    yield text;
  }
}

/** A number of 32 bits that looks random: the finalizer of MurmurHash3. */
function random(id: number): number {
  let x = id | 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

function bigRow(id: number): string {
  const payload = random(id).toString(36).padStart(7, "0") +
    random(id ^ 0x5bd1e995).toString(36).padStart(7, "0") +
    random(~id).toString(36).padStart(7, "0") + random(id + 0x3c6ef372).toString(36).padStart(7, "0");
  return `${id}\t${random(id) % 1_000_000}\t${payload}\n`;
}

/** The rows in blocks of 10, each block reversed: nearly the order of ids. */
function neighbor(id: number, rows: number): number {
  const block = Math.floor((id - 1) / 10) * 10;
  return Math.min(block + 10, rows) - (id - 1 - block);
}

/** A permutation of 1 … rows, which must not be a multiple of the factor, a prime. */
function scattered(id: number, rows: number): number {
  return 1 + (id * 7_368_787) % rows;
}
