/** What one execution reads of shards while it comes. */
import type { Arrivals, BatchSource } from "../execution/runtime/execution.ts";
import type { GatheredStream } from "../statements/statement_host.ts";

/** See the file's head. */
export class StreamArrivals implements Arrivals {
  isStarved = false;
  readonly #streams: GatheredStream[] = [];
  #wake: () => void = () => {};

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

  close(): void {
    for (const stream of this.#streams.splice(0)) stream.close();
  }
}
