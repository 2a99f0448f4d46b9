/** The answers to TPC-H's queries at scale 0.01 with four shards are those without. */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { TPCH_QUERIES } from "../../../engine/sql/planner/tpch_queries_for_test.ts";
import { connect } from "../cases/client.ts";
import { ask, loadTables, SMOKE_SCALE } from "../cases/tpch.ts";
import { startDbd } from "../peers/dbd.ts";
import { difference, type Rows } from "./answers.ts";

async function answers(flags: readonly string[]): Promise<Map<string, Rows>> {
  const peer = await startDbd({ flags });
  const client = connect(peer);
  try {
    await loadTables(client, SMOKE_SCALE);
    const found = new Map<string, Rows>();
    for (const [name, text] of Object.entries(TPCH_QUERIES)) found.set(name, await ask(client, text));
    return found;
  } finally {
    await client.end();
    await peer.stop();
  }
}

Deno.test("TPC-H's answers at scale 0.01 with four shards are those without", async () => {
  const alone = await answers([]);
  const sharded = await answers(["--shards", "4"]);
  strictEqual(alone.size, 22);
  const differing = [...alone].flatMap(([name, rows]) =>
    difference(name, sharded.get(name) ?? [], rows) ?? []
  );
  deepStrictEqual(differing, []);
});
