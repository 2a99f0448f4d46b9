/** Workers in the thread of a test, which take turns with it: what is said between them travels as between threads. */
import type { Disk } from "../host/disk.ts";
import { MessageDecoder, MessageEncoder } from "../sharding/message_codec.ts";
import type { WorkerContext } from "../statements/statement_host.ts";
import type { FromWorker, ToWorker } from "./messages.ts";
import { MorselWorker } from "./morsel_worker.ts";
import { WorkerPort } from "./worker_port.ts";
import type { StartWorker } from "./worker_thread.ts";
import { Workers, type WorkersOptions } from "./workers.ts";

/** What travels is what the other end decodes. */
function travelling<Message>(): (message: Message) => Message {
  const encoder = new MessageEncoder(), decoder = new MessageDecoder();
  // The length stands in front.
  return (message) => decoder.decode(encoder.encode(message).slice(4)) as Message;
}

/** Starts workers that share the disk of the test. */
export function workersInThisThread(disk: Disk): StartWorker {
  return ({ index, blockCacheBytes, stopFlags, sharedMemory, receive }) => {
    const out = travelling<readonly ToWorker[]>(), back = travelling<FromWorker>();
    let isWorking = false, isClosed = false;
    const worker = new MorselWorker({
      disk,
      blockCacheBytes,
      stopFlags,
      sharedMemory,
      monotonic: () => performance.now() * 1000,
      send: (reply) => receive(back(reply)),
    });
    const work = async (): Promise<void> => {
      isWorking = true;
      // Whoever has asked goes on meanwhile.
      do await new Promise((resolve) => setTimeout(resolve, 0)); while (!isClosed && worker.step());
      isWorking = false;
    };
    const port = new WorkerPort(index, (requests) => {
      for (const request of out(requests)) worker.receive(request);
      if (!isWorking) void work();
    }, () => {
      isClosed = true;
    });
    return Promise.resolve(port);
  };
}

/** So many of them, whose morsels have one block, for any table; they can be left out. */
export class WorkersForTest extends Workers {
  /** How many statements get; undefined: as many as their settings say. */
  given: number | undefined;
  /** Fragments that have been run. */
  runs = 0;
  /** Calls on large values that have been computed. */
  calls = 0;

  constructor(disk: Disk, count: number, options: Pick<WorkersOptions, "leastCallSteps"> = {}) {
    super({ count, start: workersInThisThread(disk), morselBlocks: 1, ...options });
  }

  override call(...given: Parameters<Workers["call"]>): ReturnType<Workers["call"]> {
    this.calls++;
    return super.call(...given);
  }

  override stream(...given: Parameters<Workers["stream"]>): ReturnType<Workers["stream"]> {
    this.runs++;
    return super.stream(...given);
  }

  override allowed(settings: WorkerContext["settings"]): number {
    return Math.min(this.given ?? Infinity, super.allowed(settings));
  }
}
