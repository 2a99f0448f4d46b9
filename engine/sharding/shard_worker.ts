/** The thread of a shard: opens it, and passes messages between it and the router. */
import { denoHost } from "../host/deno_host.ts";
import { handedToThread } from "../host/deno_threads.ts";
import { Doorbell } from "../host/doorbell.ts";
import { memoryHost } from "../host/memory_host.ts";
import { openPeers, type PeerRings } from "./peer_rings.ts";
import { RingChannel, type Rings } from "./ring_channel.ts";
import { Shard, type ShardOptions } from "./shard.ts";
import { type FromShard, type ShardRequest, toRemote } from "./shard_messages.ts";

/** How the shard is opened. */
export type ShardThreadOptions = Omit<ShardOptions, "host" | "send" | "drained" | "openPeers">;

/** What the thread is handed when it starts. */
export interface HandedToShard {
  readonly options: ShardThreadOptions;
  readonly rings: Rings;
  readonly bells: { readonly router: SharedArrayBuffer; readonly shard: SharedArrayBuffer };
  /** Which shard it is, and its ways to the others; null: there are none. */
  readonly place: number;
  readonly peers: PeerRings | null;
}

/** What the thread says: answers, and once that the shard is open. */
export type FromShardThread = readonly FromShard[] | "open";

void handedToThread<HandedToShard>().then(open);

async function open({ options, rings, bells, place, peers }: HandedToShard): Promise<void> {
  const bell = new Doorbell(bells.shard);
  const channel = new RingChannel<FromShardThread, readonly ShardRequest[]>({
    writes: rings.toRouter,
    reads: rings.toShard,
    bell,
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
      ...(peers === null ? {} : { openPeers: (receive) => openPeers(peers, { place, bell }, receive) }),
    });
    receive = (requests) => shard.receive(requests);
    void shard.closed.then(() => host.timers.close());
    channel.send("open");
  } catch (error) {
    channel.send([{ failure: toRemote(error) }]);
  }
}
