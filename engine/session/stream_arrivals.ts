/**
 * What one execution reads of shards while it comes. Who steps the execution waits for what is still to come, and
 * closes it in the end.
 */
import type {
  BatchSource,
  ExecutionContext,
  GatheredBatch,
  MemoryCount,
} from "../execution/runtime/execution.ts";
import type { MemoryShare } from "../execution/runtime/query_memory.ts";
import type { Fragment } from "../sql/plan/plan.ts";
import type { GatheredStream } from "../statements/statement_host.ts";

/** The context of an execution, which is closed when that has ended. */
export type WaitingContext = ExecutionContext & {
  /** What it reads while it comes; absent: all has come before a step. */
  readonly arrivals?: StreamArrivals;
  /** See {@link ExecutionContext.spills}. */
  spills?: boolean;
  /** What its statement has of the memory of all; absent: nothing. */
  share?: MemoryShare | undefined;
  /** Lets go of what the execution still has; again is no error. Absent: it has nothing. */
  close?(): void;
};

/** See the file's head. */
export class StreamArrivals {
  /** The last step has ended because something is still to come. */
  isStarved = false;
  readonly #streams: GatheredStream[] = [];
  #wake: () => void = () => {};

  /** What may be read again, by fragment. */
  readonly #kept = new Map<Fragment, KeptRows>();

  /** What has been read of a fragment once, and is read again from its beginning. */
  again(fragment: Fragment): BatchSource | null {
    return this.#kept.get(fragment)?.read() ?? null;
  }

  /** The same as {@link add} for what is going to be read again, and is kept until the execution ends. */
  keep(fragment: Fragment, stream: GatheredStream, memory: Pick<MemoryCount, "charge">): BatchSource {
    let charged = 0;
    const rows = new KeptRows(this.add(stream), () => {
      const { bytes } = stream;
      memory.charge(bytes - charged);
      charged = bytes;
    });
    this.#kept.set(fragment, rows);
    return rows.read();
  }

  /** Takes what is going to be read, and answers how. */
  add(stream: GatheredStream): BatchSource {
    this.#streams.push(stream);
    stream.onChange(() => {
      this.isStarved = false;
      this.#wake();
    });
    return () => {
      const batch = stream.next();
      if (batch === null) this.isStarved = true;
      return batch;
    };
  }

  /** Resolves when something has come; rejects when it is aborted. */
  wait(abort: AbortSignal): Promise<void> {
    if (!this.isStarved) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void) => (): void => {
        this.isStarved = false;
        this.#wake = () => {};
        abort.removeEventListener("abort", onAbort);
        settle();
      };
      const onAbort = finish(() => reject(abort.reason));
      if (abort.aborted) return onAbort();
      abort.addEventListener("abort", onAbort, { once: true });
      this.#wake = finish(resolve);
    });
  }

  /** Nobody wants any more of it. */
  close(): void {
    for (const stream of this.#streams.splice(0)) stream.close();
  }
}

/** Rows that have come and those that still come, for any number of readers. */
class KeptRows {
  readonly #source: BatchSource;
  readonly #charge: () => void;
  readonly #batches: GatheredBatch[] = [];

  constructor(source: BatchSource, charge: () => void) {
    this.#source = source;
    this.#charge = charge;
  }

  read(): BatchSource {
    let next = 0;
    return () => {
      if (next === this.#batches.length) {
        const batch = this.#source();
        if (batch === null || batch === undefined) return batch;
        this.#batches.push(batch);
        this.#charge();
      }
      return this.#batches[next++];
    };
  }
}
