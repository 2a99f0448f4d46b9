/**
 * Two million rows go in through COPY, survive a restart, and three analytical queries answer right and at once.
 *
 * The rows are a function of their number, so that every answer can be computed here. Times are printed, not judged,
 * but for one generous bound that only a plan interpreted row by row would miss.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { once } from "node:events";
import type { Writable } from "node:stream";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { startDbd } from "../bench/peers/dbd.ts";
import { connectPg, postgresPool, type ServerAddress, type SqlClient } from "../support/clients.ts";

const rowCount = 2_000_000;
const rowsPerChunk = 20_000;
const regions = ["north", "south", "east", "west"];
const boundMilliseconds = 5000;

const quantityOf = (id: number) => (id * 7919) % 100;
/** In cents. */
const priceOf = (id: number) => (id * 104_729) % 1_000_000;
const regionOf = (id: number) => regions[(id * 31) % 7 % regions.length] ?? "";
const filterOf = (id: number) => quantityOf(id) < 30 && priceOf(id) >= 250_000;

function decimal(cents: number): string {
  const digits = String(cents).padStart(3, "0");
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

function chunk(first: number): string {
  let text = "";
  for (let id = first; id < first + rowsPerChunk; id++) {
    text += `${id},${quantityOf(id)},${decimal(priceOf(id))},${regionOf(id)}\n`;
  }
  return text;
}

async function load(address: ServerAddress): Promise<void> {
  const sql = postgresPool(address, 1);
  try {
    const stream: Writable = await sql`COPY sale FROM STDIN WITH (FORMAT csv)`.writable();
    const finished = once(stream, "finish");
    for (let first = 1; first <= rowCount; first += rowsPerChunk) {
      if (!stream.write(chunk(first))) await Promise.race([once(stream, "drain"), finished]);
    }
    stream.end();
    await finished;
  } finally {
    await sql.end();
  }
}

interface Expected {
  readonly filtered: number;
  readonly groups: ReadonlyMap<string, { readonly count: number; readonly cents: number }>;
}

function expected(): Expected {
  const groups = new Map(regions.map((region) => [region, { count: 0, cents: 0 }]));
  let filtered = 0;
  for (let id = 1; id <= rowCount; id++) {
    const group = groups.get(regionOf(id));
    if (group === undefined) throw new Error("every row has a region");
    group.count++;
    group.cents += priceOf(id);
    if (filterOf(id)) filtered += priceOf(id) * quantityOf(id);
  }
  return { filtered, groups };
}

async function timed(
  label: string,
  client: SqlClient,
  sql: string,
): Promise<{ rows: Record<string, unknown>[]; milliseconds: number }> {
  const start = performance.now();
  const rows = await client.query(sql);
  const milliseconds = performance.now() - start;
  console.log(`${label.padEnd(24)} ${milliseconds.toFixed(1).padStart(8)} ms`);
  return { rows, milliseconds };
}

async function checkAnswers(client: SqlClient, answers: Expected, when: string): Promise<void> {
  const count = await timed(`count(*), ${when}`, client, "SELECT count(*) AS n FROM sale");
  strictEqual(Number(count.rows[0]?.n), rowCount);
  const sum = await timed(
    `filtered sum, ${when}`,
    client,
    "SELECT sum(price * quantity) AS total FROM sale WHERE quantity < 30 AND price >= 2500",
  );
  strictEqual(sum.rows[0]?.total, decimal(answers.filtered));
  const groups = await timed(
    `group by, ${when}`,
    client,
    "SELECT region, count(*) AS n, sum(price) AS total FROM sale GROUP BY region ORDER BY region",
  );
  deepStrictEqual(
    groups.rows.map(({ region, n, total }) => [region, Number(n), total]),
    [...answers.groups].sort(([a], [b]) => a < b ? -1 : 1)
      .map(([region, { count, cents }]) => [region, count, decimal(cents)]),
  );
  const all = count.milliseconds + sum.milliseconds + groups.milliseconds;
  ok(all < boundMilliseconds, `three queries took ${all.toFixed(0)} ms, ${when}`);
}

Deno.test("a table of 2 million rows loads through COPY, survives a restart and answers at once", async () => {
  const { dbd } = await compiledPrograms();
  const directory = await Deno.makeTempDir({ prefix: "large-" });
  const answers = expected();
  try {
    const first = await startDbd({ binary: dbd, directory });
    try {
      const client = await connectPg(first);
      await client.query(
        `CREATE TABLE sale (id BIGINT PRIMARY KEY, quantity INT NOT NULL, price NUMERIC(12,2) NOT NULL,
           region TEXT NOT NULL)`,
      );
      const start = performance.now();
      await load(first);
      console.log(
        `COPY of ${rowCount} rows ${((performance.now() - start) / 1000).toFixed(1).padStart(8)} s`,
      );
      await checkAnswers(client, answers, "loaded");
      await client.close();
    } finally {
      await first.stop();
    }
    const start = performance.now();
    const second = await startDbd({ binary: dbd, directory });
    console.log(`restart ${((performance.now() - start) / 1000).toFixed(1).padStart(23)} s`);
    try {
      const client = await connectPg(second);
      await checkAnswers(client, answers, "cold");
      await checkAnswers(client, answers, "warm");
      deepStrictEqual(
        (await client.query("SELECT quantity, price, region FROM sale WHERE id = $1", [1_234_567]))[0],
        {
          quantity: quantityOf(1_234_567),
          price: decimal(priceOf(1_234_567)),
          region: regionOf(1_234_567),
        },
      );
      await client.close();
    } finally {
      await second.stop();
    }
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
