/** The thread of a worker: passes messages between it and the thread of the sessions, and works while there is work. */
import { denoHost } from "../host/deno_host.ts";
import { giveWay, handedToThread } from "../host/deno_threads.ts";
import { Doorbell } from "../host/doorbell.ts";
import { RingChannel, type Rings } from "../sharding/ring_channel.ts";
import type { FromWorker, ToWorker } from "./messages.ts";
import { MorselWorker } from "./morsel_worker.ts";

/** How long what is sent may be unheard of: waking a thread costs both more than a small morsel's rows. */
const LATE_MICROSECONDS = 2_000;

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
  /** Since when the other thread has not been woken for what was sent; null: it has been. */
  let unheardSince: number | null = null;
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
    send: (reply, isLate = false) => {
      channel.send(reply, isLate);
      unheardSince = isLate ? unheardSince ?? clock.monotonic() : null;
    },
  });
  const ring = (): void => {
    if (unheardSince !== null) channel.ring();
    unheardSince = null;
  };
  // The channel is looked after first, whenever the bell rings. What comes meanwhile is seen between two steps.
  bell.attend({
    hasWork: () => false,
    work: () => {
      while (worker.step()) {
        if (unheardSince !== null && clock.monotonic() - unheardSince >= LATE_MICROSECONDS) ring();
        if (channel.hasWork()) channel.work();
      }
      ring();
    },
  });
  channel.send("open");
}
