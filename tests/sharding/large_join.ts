/**
 * `deno task soak:large-join [rows] [shards]`: two tables of ten million rows are joined by repartition, and the
 * process that does so, with its threads, has less than 1 GiB resident. Another process loads them before.
 */
import { openLarge, soakLarge } from "./large_tables.ts";

const JOIN = "SELECT count(*), sum(a.v), sum(b.v), sum(a.id) FROM large_a a JOIN large_b b ON a.k = b.k";

/** What the join answers, and what it has to. */
export async function joinLarge(
  directory: string,
  shardCount: number,
  rows: number,
): Promise<{ readonly answer: string; readonly expected: string; readonly plan: string }> {
  const client = await openLarge(directory, shardCount);
  await client.run("SET scatter_timeout = 0", "SET broadcast_limit = 0");
  const plan = (await client.rows(`EXPLAIN ${JOIN}`)).join("\n");
  const [answer = ""] = await client.rows(JOIN);
  await client.close();
  const values = rows / 1000 * 499_500;
  return { answer, expected: [rows, values, values, rows * (rows + 1) / 2].join("|"), plan };
}

if (import.meta.main) {
  Deno.exit(await soakLarge({ name: "large-join", file: import.meta.filename, run: joinLarge }, Deno.args));
}
