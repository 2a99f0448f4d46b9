/** A worker, as the thread of the sessions sees it. */
import type { DatabaseError } from "../base/errors.ts";
import { KnownFragments } from "../sharding/known_fragments.ts";
import type { ToWorker } from "./messages.ts";

/** See the file's head. */
export class WorkerPort {
  readonly index: number;
  /** What it has the code of. */
  readonly known = new KnownFragments<true>();
  /** Why it cannot go on; null: it can. */
  failure: DatabaseError | null = null;
  readonly #send: (requests: readonly ToWorker[]) => void;
  readonly #release: () => void;
  #outgoing: ToWorker[] = [];

  /** `release` is called when it is closed or has failed. */
  constructor(index: number, send: (requests: readonly ToWorker[]) => void, release: () => void) {
    this.index = index;
    this.#send = send;
    this.#release = release;
  }

  /** Sends it with all else of this turn. */
  tell(request: ToWorker): void {
    if (this.failure !== null || this.#outgoing.push(request) > 1) return;
    queueMicrotask(() => {
      const requests = this.#outgoing;
      this.#outgoing = [];
      if (this.failure === null) this.#send(requests);
    });
  }

  /** It does nothing from now on. */
  close(failure: DatabaseError): void {
    if (this.failure !== null) return;
    this.failure = failure;
    this.#release();
  }
}
