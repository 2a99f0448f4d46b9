/** Scans, filters and groups over one wide table of two million rows, loaded through COPY. */
import type { Benchmark, Peer, Scale } from "../benchmark.ts";
import { connect, copyIn } from "./client.ts";

const ROWS = { smoke: 2_000, full: 2_000_000 } as const;

const QUERIES = {
  "count(*)": "SELECT count(*) FROM events",
  "sum with a filter":
    "SELECT sum(amount) FROM events WHERE kind = 'view' AND quantity < 24 AND day >= DATE '2024-03-01'",
  "group by":
    "SELECT kind, region, count(*), sum(amount), avg(quantity) FROM events GROUP BY kind, region ORDER BY 1, 2",
  "top 10": "SELECT id, amount FROM events ORDER BY amount DESC, id LIMIT 10",
} as const;

const loaded = new Set<string>();

/** One benchmark per query, and one for the load. */
export const analytics: readonly Benchmark[] = [
  {
    name: "COPY in",
    unit: "rows/s",
    higherIsBetter: true,
    prepare: async () => {},
    measure: load,
  },
  ...Object.entries(QUERIES).map(([name, sql]): Benchmark => ({
    name: `${name}, 2 million rows`,
    unit: "ms",
    higherIsBetter: false,
    prepare: async (peer, scale) => {
      if (!loaded.has(key(peer))) await load(peer, scale);
    },
    measure: async (peer) => {
      const client = connect(peer);
      try {
        await client.unsafe(sql);
        const start = performance.now();
        await client.unsafe(sql);
        return performance.now() - start;
      } finally {
        await client.end();
      }
    },
  })),
];

function key(peer: Peer): string {
  return `${peer.name}:${peer.port}`;
}

/** Loads the table anew; answers rows a second. */
async function load(peer: Peer, scale: Scale): Promise<number> {
  const client = connect(peer);
  try {
    await client.unsafe("DROP TABLE IF EXISTS events");
    await client.unsafe(
      "CREATE TABLE events (id bigint PRIMARY KEY, kind text NOT NULL, region text NOT NULL, day date NOT NULL, quantity int NOT NULL, amount numeric(12,2) NOT NULL)",
    );
    const rows = ROWS[scale];
    const start = performance.now();
    await copyIn(client, "COPY events FROM STDIN", chunks(rows));
    loaded.add(key(peer));
    return rows / ((performance.now() - start) / 1000);
  } finally {
    await client.end();
  }
}

const KINDS = ["view", "click", "buy", "return"];
const REGIONS = ["north", "south", "east", "west", "center"];

function* chunks(rows: number): Generator<string> {
  for (let first = 0; first < rows; first += 10_000) yield chunkOf(first, Math.min(first + 10_000, rows));
}

/** Rows in COPY's text format; a simple multiplicative sequence stands for chance. */
function chunkOf(first: number, end: number): string {
  let text = "";
  for (let id = first; id < end; id++) {
    const random = Math.imul(id + 1, 2654435761) >>> 0;
    const day = 1 + random % 28, month = 1 + (random >>> 5) % 12;
    const amount = (random % 1_000_000) / 100;
    text += `${id}\t${KINDS[random % 4]}\t${REGIONS[(random >>> 8) % 5]}\t2024-${
      String(month).padStart(2, "0")
    }-${String(day).padStart(2, "0")}\t${(random >>> 3) % 50}\t${amount.toFixed(2)}\n`;
  }
  return text;
}
