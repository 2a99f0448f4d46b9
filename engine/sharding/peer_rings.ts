/** The ways of shards in threads to each other: rings in shared memory, read as soon as there is need of them. */
import { assertDefined } from "../base/assert.ts";
import { ByteRing } from "../host/byte_ring.ts";
import { Doorbell } from "../host/doorbell.ts";
import type { PeerMessage, SendToPeer } from "./exchange_ends.ts";
import { RingChannel } from "./ring_channel.ts";

/** The size of a ring: what finds no room waits, and is bounded by credits. */
const PEER_RING_BYTES = 1 << 18;

/** The memory of all of them. */
export interface PeerRings {
  /** By shard: what wakes it. */
  readonly bells: readonly SharedArrayBuffer[];
  /** By sender and receiver. */
  readonly rings: readonly (readonly SharedArrayBuffer[])[];
}

/** Makes the memory for so many shards. */
export function peerRings(count: number): PeerRings {
  const places = Array.from({ length: count }, (_, place) => place);
  return {
    bells: places.map(() => new Doorbell().memory),
    rings: places.map((from) => places.map((to) => ByteRing.memory(from === to ? 0 : PEER_RING_BYTES))),
  };
}

/** Begins to read what others send to a shard, whose own bell is given. */
export function openPeers(
  { bells, rings }: PeerRings,
  { place, bell }: { readonly place: number; readonly bell: Doorbell },
  receive: (message: PeerMessage) => void,
): SendToPeer {
  const ring = (from: number, to: number): SharedArrayBuffer => assertDefined(rings[from]?.[to], "a ring");
  const channels = bells.map((memory, other) =>
    other === place ? null : new RingChannel<PeerMessage, PeerMessage>({
      writes: ring(place, other),
      reads: ring(other, place),
      bell,
      otherBell: new Doorbell(memory),
      onMessage: receive,
    })
  );
  return (to, message) => assertDefined(channels[to], `shard ${to}`).send(message);
}
