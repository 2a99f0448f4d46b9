/** The thread of a shard: opens it, and passes messages between it and the router. */
import { denoHost } from "../host/deno_host.ts";
import { endThread, handedToThread } from "../host/deno_threads.ts";
import { Doorbell } from "../host/doorbell.ts";
import { memoryHost } from "../host/memory_host.ts";
import { RingChannel, type Rings } from "./ring_channel.ts";
import { Shard, type ShardOptions } from "./shard.ts";
import { type FromShard, type ShardRequest, toRemote } from "./shard_messages.ts";

/** How the shard is opened. */
export type ShardThreadOptions = Omit<ShardOptions, "host" | "send" | "drained">;

/** What the thread is handed when it starts. */
export interface HandedToShard {
  readonly options: ShardThreadOptions;
  readonly rings: Rings;
  readonly bells: { readonly router: SharedArrayBuffer; readonly shard: SharedArrayBuffer };
}

/** What the thread says: answers, and once that the shard is open. */
export type FromShardThread = readonly FromShard[] | "open";

void handedToThread<HandedToShard>().then(open);

async function open({ options, rings, bells }: HandedToShard): Promise<void> {
  const channel = new RingChannel<FromShardThread, readonly ShardRequest[]>({
    writes: rings.toRouter,
    reads: rings.toShard,
    bell: new Doorbell(bells.shard),
    otherBell: new Doorbell(bells.router),
    onMessage: (requests) => receive(requests),
  });
  // Nothing is asked of a shard that has not said that it is open.
  let receive = (_: readonly ShardRequest[]): void => {};
  try {
    const host = options.directory === ":memory:" ? memoryHost() : denoHost();
    const shard = await Shard.open({
      ...options,
      host,
      send: (replies) => channel.send(replies),
      drained: () => channel.drained(),
    });
    receive = (requests) => shard.receive(requests);
    void shard.closed
      .then(() => channel.drained())
      .then(() => host.timers.close())
      .then(endThread);
    channel.send("open");
  } catch (error) {
    channel.send([{ failure: toRemote(error) }]);
  }
}
