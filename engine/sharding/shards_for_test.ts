/**
 * How tests open their engine: alone, or with as many shards as `TEST_SHARDS` says, in the thread of the test. So the
 * tests of protocols, clients and sources run over shards: `TEST_SHARDS=4 deno test -A tests/pg`.
 */
import { memoryHost } from "../host/memory_host.ts";
import type { Engine, EngineOptions } from "../session/engine.ts";
import { openSharded, shardInThisThread } from "./open_sharded.ts";

/** Opens an engine; see the file's head. */
export function openEngineForTest(options: EngineOptions, wanted?: number): Promise<Engine> {
  const text = Deno.env.get("TEST_SHARDS");
  return openSharded({
    ...options,
    shardCount: wanted ?? (text === undefined ? null : Number(text)),
    startShard: (shard, index) => shardInThisThread(memoryHost())(shard, index),
  });
}
