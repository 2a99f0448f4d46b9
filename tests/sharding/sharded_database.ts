/** Databases of shards for tests: in memory, all shards in the thread of the test. */
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Database } from "../../engine/session/database.ts";
import { openSharded, shardInThisThread } from "../../engine/sharding/open_sharded.ts";

/** Opens a database of so many shards. */
export async function openShards(shardCount: number): Promise<Database> {
  const engine = await openSharded({
    host: memoryHost(),
    directory: ":memory:",
    shardCount,
    startShard: (options, index) => shardInThisThread(memoryHost())(options, index),
  });
  return Database.over(engine, () => engine.close());
}
