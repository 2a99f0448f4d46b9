/** Measures what functions cost in a thread of its own, which can be stopped. */
import type { CostMeter, CostRun, MeasuredCost } from "../../../lang/commands/cost_run.ts";
import { failureOf, Thread } from "./thread.ts";

/** Measures, each time in a new thread. */
export class CostThread implements CostMeter {
  /** @inheritdoc */
  async measure(run: CostRun, signal?: AbortSignal): Promise<MeasuredCost> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<MeasuredCost>();
    const stop = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const thread = new Thread();
    thread.onMessage = (message) => {
      if (message.kind === "measured") resolve(message.measured);
      else if (message.kind === "failed") reject(failureOf(message));
    };
    const abort = () => reject(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    thread.ask({ kind: "cost", run, stop });
    try {
      return await promise;
    } finally {
      signal?.removeEventListener("abort", abort);
      // A thread that computes goes on when it is let go of; it has to see by itself that nobody waits any more.
      Atomics.store(stop, 0, 1);
      thread.stop();
    }
  }
}
