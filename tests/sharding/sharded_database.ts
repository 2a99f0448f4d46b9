/** Databases of shards for tests: in memory, all shards in the thread of the test. */
import { SeededRandom } from "../../engine/base/random.ts";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Database } from "../../engine/session/database.ts";
import type { Engine } from "../../engine/session/engine.ts";
import { openSharded, shardInThisThread, type StartShard } from "../../engine/sharding/open_sharded.ts";
import { Shard } from "../../engine/sharding/shard.ts";
import { ShardPort } from "../../engine/sharding/shard_port.ts";

/** Opens a database of so many shards. */
export async function openShards(shardCount: number): Promise<Database> {
  const engine = await openShardedEngine(
    shardCount,
    (options, index) => shardInThisThread(memoryHost())(options, index),
  );
  return Database.over(engine, () => engine.close());
}

/** The same with a way to shards of the test's own, as an engine. */
export function openShardedEngine(shardCount: number, startShard: StartShard): Promise<Engine> {
  return openSharded({ host: memoryHost(), directory: ":memory:", shardCount, startShard });
}

/** Shards whose messages keep their order, and take a time that differs from shard to shard and from turn to turn. */
export function lateShards(seed: number, change: (shard: Shard) => void = () => {}): StartShard {
  return async (options, index) => {
    const random = new SeededRandom(seed * 31 + index);
    const send = inOrder(random, (replies: Parameters<ShardPort["receive"]>[0]) => port.receive(replies));
    const shard = await Shard.open({ ...options, host: memoryHost(), send });
    change(shard);
    const port = new ShardPort(inOrder(random, (requests) => shard.receive(requests)));
    return port;
  };
}

function inOrder<Message>(
  random: SeededRandom,
  deliver: (message: Message) => void,
): (message: Message) => void {
  let last: Promise<void> = Promise.resolve();
  return (message) => {
    last = last.then(async () => {
      const turns = random.below(4);
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
      deliver(message);
    });
  };
}
