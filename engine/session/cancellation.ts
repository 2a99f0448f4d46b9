/** A request from outside that a session's running statement ends. */
import type { DatabaseError } from "../base/errors.ts";

/** One per session, renewed after each statement that was canceled. */
export class Cancellation {
  #controller = new AbortController();
  #reason: DatabaseError | null = null;

  /** Aborted with the error when the statement is to end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The statement is to end with this error. */
  request(reason: DatabaseError): void {
    if (this.#reason !== null) return;
    this.#reason = reason;
    this.#controller.abort(reason);
  }

  /** Raises the error once it has been requested. */
  check(): void {
    if (this.#reason !== null) throw this.#reason;
  }

  /** The statement has ended: the next one was not meant. */
  renew(): void {
    if (this.#reason === null) return;
    this.#reason = null;
    this.#controller = new AbortController();
  }
}
