/** Calls on large values that workers compute, as the thread of the sessions sees them. */
import { factsOf } from "../sharding/fragment_needs.ts";
import { fromRemote } from "../sharding/shard_messages.ts";
import { callText } from "../sql/fragments/fragment_text.ts";
import type { BoundCast, BoundFunction, EvaluationContext } from "../sql/functions/definition.ts";
import type { CallOutcome } from "../statements/large_calls.ts";
import type { SqlValue } from "../types/value.ts";
import type { CallReply } from "./messages.ts";
import { PartedValue, partsOf } from "./value_parts.ts";
import type { WorkerPort } from "./worker_port.ts";

/** Parts of arguments that are sent before others get their turn, and parts of a value on their way. */
const PARTS_AHEAD = 4;

/** What is to be called, and for whom. */
export interface LargeCall {
  readonly called: BoundFunction | BoundCast;
  readonly args: readonly SqlValue[];
  readonly evaluation: EvaluationContext;
  yieldToLoop(): Promise<void>;
}

interface Running {
  readonly worker: WorkerPort;
  readonly value: PartedValue;
  /** null: it cannot be computed there. */
  resolve(outcome: CallOutcome | null): void;
}

/** See the file's head. */
export class WorkerCalls {
  readonly #running = new Map<number, Running>();
  #next = 1;

  /** What comes of a call; null: it must be computed elsewhere. Rejects when it is aborted. */
  async run(ports: readonly WorkerPort[], given: LargeCall, abort: AbortSignal): Promise<CallOutcome | null> {
    const worker = this.#leastBusy(ports);
    if (worker === undefined) return null;
    const { called, evaluation } = given;
    const call = this.#next++;
    const { promise, resolve, reject } = Promise.withResolvers<CallOutcome | null>();
    const type = "to" in called ? called.to : called.returnType;
    this.#running.set(call, { worker, value: new PartedValue(type), resolve });
    const stop = (): void => reject(abort.reason);
    abort.addEventListener("abort", stop, { once: true });
    // Arguments may still be on their way then.
    promise.catch(() => {});
    try {
      worker.tell({ kind: "call", call, text: callText(called), session: factsOf(evaluation) });
      await this.#sendArguments(worker, call, given, abort);
      for (let part = 0; part < PARTS_AHEAD; part++) worker.tell({ kind: "call_more", call });
      return await promise;
    } finally {
      abort.removeEventListener("abort", stop);
      this.#running.delete(call);
      worker.tell({ kind: "call_end", call });
    }
  }

  #leastBusy(ports: readonly WorkerPort[]): WorkerPort | undefined {
    const busy = (port: WorkerPort): number => {
      let calls = 0;
      for (const { worker } of this.#running.values()) if (worker === port) calls++;
      return calls;
    };
    return ports.toSorted((one, other) => busy(one) - busy(other))[0];
  }

  async #sendArguments(
    worker: WorkerPort,
    call: number,
    { called, args, yieldToLoop }: LargeCall,
    abort: AbortSignal,
  ): Promise<void> {
    const types = "to" in called ? [called.from] : called.argumentTypes;
    let parts = 0;
    for (const [index, type] of types.entries()) {
      for (const part of partsOf(type, args[index] ?? null)) {
        worker.tell({ kind: "call_argument", call, part });
        if (++parts % PARTS_AHEAD > 0) continue;
        await yieldToLoop();
        abort.throwIfAborted();
      }
      worker.tell({ kind: "call_argument", call, part: null });
    }
  }

  take({ call, part, error }: CallReply): void {
    const running = this.#running.get(call);
    if (running === undefined) return;
    const { worker, value, resolve } = running;
    if (error !== null) return resolve({ error: fromRemote(error) });
    if (part === null) return resolve({ value: value.value });
    value.add(part);
    worker.tell({ kind: "call_more", call });
  }

  /** A worker cannot go on. */
  lost(worker: WorkerPort): void {
    for (const running of this.#running.values()) if (running.worker === worker) running.resolve(null);
  }
}
