/** The thread of a shard: opens it, and passes messages between it and the router. */
import { denoHost } from "../host/deno_host.ts";
import { threadOwner } from "../host/deno_threads.ts";
import { memoryHost } from "../host/memory_host.ts";
import { Shard, type ShardOptions } from "./shard.ts";
import { type FromShard, type ShardRequest, toRemote } from "./shard_messages.ts";

/** What comes to the thread first. */
export type ShardThreadOptions = Omit<ShardOptions, "host" | "send">;

/** What comes to the thread. */
export type ToShardThread = ShardThreadOptions | readonly ShardRequest[];

/** What the thread says: answers, and once that the shard is open. */
export type FromShardThread = readonly FromShard[] | "open";

const owner = threadOwner<FromShardThread, ToShardThread>();

owner.onMessage = (options) => void open(options as ShardThreadOptions);

async function open(options: ShardThreadOptions): Promise<void> {
  try {
    const host = options.directory === ":memory:" ? memoryHost() : denoHost();
    const shard = await Shard.open({ ...options, host, send: (replies) => owner.post(replies) });
    owner.onMessage = (requests) => shard.receive(requests as readonly ShardRequest[]);
    void shard.closed.then(() => host.timers.close()).then(() => owner.end());
    owner.post("open");
  } catch (error) {
    owner.post([{ failure: toRemote(error) }]);
  }
}
