/** Starts a worker in a thread of its own. */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { ByteRing } from "../host/byte_ring.ts";
import { startThread } from "../host/deno_threads.ts";
import { Doorbell, ownBell } from "../host/doorbell.ts";
import { RING_BYTES, RingChannel } from "../sharding/ring_channel.ts";
import type { FromWorker, ToWorker } from "./messages.ts";
import { threadSource } from "./thread_source.ts";
import type { FromWorkerThread, HandedToWorker } from "./worker_main.ts";
import { WorkerPort } from "./worker_port.ts";

/** What a worker is started with. */
export interface WorkerStart {
  readonly index: number;
  readonly blockCacheBytes: number;
  readonly stopFlags: SharedArrayBuffer;
  readonly sharedMemory: SharedArrayBuffer;
  receive(reply: FromWorker): void;
  /** It cannot go on. */
  failed(port: WorkerPort, error: DatabaseError): void;
}

/** Starts one; resolves when it is ready. */
export type StartWorker = (start: WorkerStart) => Promise<WorkerPort>;

/** Starts the thread. */
export function startWorkerThread(
  { index, blockCacheBytes, stopFlags, sharedMemory, receive, failed }: WorkerStart,
): Promise<WorkerPort> {
  const rings = { toShard: ByteRing.memory(RING_BYTES), toRouter: ByteRing.memory(RING_BYTES) };
  const workerBell = new Doorbell();
  const bells = { sessions: ownBell.memory, worker: workerBell.memory };
  const handed: HandedToWorker = { rings, bells, stopFlags, sharedMemory, blockCacheBytes };
  return new Promise((resolve, reject) => {
    const channel = new RingChannel<readonly ToWorker[], FromWorkerThread>({
      writes: rings.toShard,
      reads: rings.toRouter,
      bell: ownBell,
      otherBell: workerBell,
      onMessage: (message) => message === "open" ? resolve(port) : receive(message),
    });
    const thread = startThread(threadSource(), `worker ${index}`, handed);
    const port = new WorkerPort(index, (requests) => channel.send(requests), () => {
      channel.close();
      thread.stop();
    });
    thread.onError = (message) => {
      const error = new DatabaseError(SQLSTATE.internalError, `worker ${index} has ended: ${message}`);
      port.close(error);
      failed(port, error);
      reject(error);
    };
  });
}
