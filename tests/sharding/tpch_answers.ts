/** The answers to TPC-H's queries of a server with so many shards. */
import { TPCH_QUERIES } from "../../engine/sql/planner/tpch_queries_for_test.ts";
import { connect } from "../bench/cases/client.ts";
import { ask, loadTables } from "../bench/cases/tpch.ts";
import { startDbd } from "../bench/peers/dbd.ts";
import type { Rows } from "../bench/tpch/answers.ts";

/** `shardCount` null: a server that was not asked for shards; `binary`: instead of the sources. */
export async function tpchAnswers(
  scale: number,
  { shardCount, binary }: { readonly shardCount: number | null; readonly binary?: string },
): Promise<Map<string, Rows>> {
  const flags = shardCount === null ? [] : ["--shards", String(shardCount)];
  const peer = await startDbd({ flags, ...(binary === undefined ? {} : { binary }) });
  const client = connect(peer);
  try {
    await loadTables(client, scale);
    const found = new Map<string, Rows>();
    for (const [name, text] of Object.entries(TPCH_QUERIES)) found.set(name, await ask(client, text));
    return found;
  } finally {
    await client.end();
    await peer.stop();
  }
}
