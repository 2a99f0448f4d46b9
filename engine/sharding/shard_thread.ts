/** Starts a shard in a thread of its own. */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { ByteRing } from "../host/byte_ring.ts";
import { startThread } from "../host/deno_threads.ts";
import { Doorbell, ownBell } from "../host/doorbell.ts";
import { type PeerRings, peerRings } from "./peer_rings.ts";
import { RING_BYTES, RingChannel } from "./ring_channel.ts";
import type { FromShard, ShardRequest } from "./shard_messages.ts";
import { ShardPort } from "./shard_port.ts";
import { threadSource } from "./thread_source.ts";
import type { FromShardThread, HandedToShard, ShardThreadOptions } from "./shard_worker.ts";

/** Starts shards in threads that have ways to each other. */
export function shardThreads(count: number): typeof startShardThread {
  const peers = peerRings(count);
  return (options, index) => startShardThread(options, index, peers);
}

/** Starts the thread; resolves when the shard is open, rejects with the reason why it cannot be opened. */
export function startShardThread(
  options: ShardThreadOptions,
  index: number,
  peers: PeerRings | null = null,
): Promise<ShardPort> {
  const rings = { toShard: ByteRing.memory(RING_BYTES), toRouter: ByteRing.memory(RING_BYTES) };
  const shardBell = new Doorbell(peers?.bells[index]);
  const bells = { router: ownBell.memory, shard: shardBell.memory };
  const handed: HandedToShard = { options, rings, bells, place: index, peers };
  return new Promise((resolve, reject) => {
    const channel = new RingChannel<readonly ShardRequest[], FromShardThread>({
      writes: rings.toShard,
      reads: rings.toRouter,
      bell: ownBell,
      otherBell: shardBell,
      onMessage: (message) =>
        message === "open" ? resolve(port) : port.receive(message as readonly FromShard[]),
    });
    const thread = startThread(threadSource(), `shard ${index}`, handed);
    // It is ended here: while it runs, this thread does not end for having nothing to do, and hears its last answer.
    const release = (): void => {
      channel.close();
      thread.stop();
    };
    const port = new ShardPort((requests) => channel.send(requests), release);
    thread.onError = (message) =>
      port.fail(new DatabaseError(SQLSTATE.internalError, `shard ${index} has ended: ${message}`));
    // Before it is open a failure means that it cannot be.
    void port.failed.then((error) => {
      release();
      reject(error);
    });
  });
}
