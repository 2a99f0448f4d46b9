/**
 * Requests that run or wait, by their ids, so that `cancel` finds them. Requests may have the same id; a cancel stops
 * all of them.
 */
import type { RequestId } from "./requests.ts";
import { AgentFailure } from "./environment.ts";

/** Requests that can be stopped. */
export class RunningRequests {
  readonly #byId = new Map<RequestId, Set<AbortController>>();

  /** Notes a request; what it gives forgets it again. */
  add(id: RequestId, turn: AbortController): () => void {
    const turns = this.#byId.get(id) ?? new Set();
    turns.add(turn);
    this.#byId.set(id, turns);
    return () => {
      turns.delete(turn);
      if (turns.size === 0 && this.#byId.get(id) === turns) this.#byId.delete(id);
    };
  }

  /** Stops the requests of an id; tells whether there were any that were not stopped before. */
  cancel(id: RequestId | undefined): boolean {
    const turns = id === undefined ? undefined : this.#byId.get(id);
    let isAny = false;
    for (const turn of turns ?? []) {
      isAny ||= !turn.signal.aborted;
      turn.abort(cancellation());
    }
    return isAny;
  }
}

/** Why a request that was canceled is not answered. */
export function cancellation(): AgentFailure {
  return new AgentFailure("canceled", "Cannot go on: the request was canceled", { exitCode: 1 });
}
