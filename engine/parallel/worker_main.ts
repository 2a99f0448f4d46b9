/** The thread of a worker: passes messages between it and the thread of the sessions, and works while there is work. */
import { denoHost } from "../host/deno_host.ts";
import { giveWay, handedToThread } from "../host/deno_threads.ts";
import { Doorbell } from "../host/doorbell.ts";
import { RingChannel, type Rings } from "../sharding/ring_channel.ts";
import type { FromWorker, ToWorker } from "./messages.ts";
import { MorselWorker } from "./morsel_worker.ts";

/** What the thread is handed when it starts. */
export interface HandedToWorker {
  readonly rings: Rings;
  readonly bells: { readonly sessions: SharedArrayBuffer; readonly worker: SharedArrayBuffer };
  readonly stopFlags: SharedArrayBuffer;
  readonly sharedMemory: SharedArrayBuffer;
  readonly blockCacheBytes: number;
}

/** What the thread says, and once that it is ready. */
export type FromWorkerThread = FromWorker | "open";

void handedToThread<HandedToWorker>().then(open);

function open({ rings, bells, stopFlags, sharedMemory, blockCacheBytes }: HandedToWorker): void {
  // Those who answer clients come first.
  giveWay();
  const { disk, clock } = denoHost();
  const bell = new Doorbell(bells.worker);
  const channel = new RingChannel<FromWorkerThread, readonly ToWorker[]>({
    writes: rings.toRouter,
    reads: rings.toShard,
    bell,
    otherBell: new Doorbell(bells.sessions),
    onMessage: (requests) => {
      for (const request of requests) worker.receive(request);
    },
  });
  const worker = new MorselWorker({
    disk,
    blockCacheBytes,
    stopFlags,
    sharedMemory,
    monotonic: () => clock.monotonic(),
    send: (reply) => channel.send(reply),
  });
  // The channel is looked after first, whenever the bell rings. What comes meanwhile is seen between two steps.
  bell.attend({
    hasWork: () => false,
    work: () => {
      while (worker.step()) if (channel.hasWork()) channel.work();
    },
  });
  channel.send("open");
}
