/**
 * The client's data of a COPY … FROM STDIN on its way into the statement: pieces in order, one at a time, with the
 * receiver able to slow the sender down.
 */
import { DatabaseError, SQLSTATE } from "../../../engine/base/errors.ts";
import type { CopyTarget } from "../../../engine/statements/outcome.ts";

/**
 * The client's data of a COPY … FROM STDIN on its way into the statement: pieces in order, one at a time, with the
 * receiver able to slow the sender down.
 */
export class CopyIn {
  /** Resolves at the end of the data; rejects when the client breaks off or the statement refuses a piece. */
  readonly finished: Promise<void>;
  readonly #target: CopyTarget;
  readonly #onBusy: (busy: boolean) => void;
  #pieces: Uint8Array[] = [];
  #isBusy = false;
  #isDone = false;
  #settled = false;
  readonly #resolve: () => void;
  readonly #reject: (error: unknown) => void;

  /** `onBusy` is called when the sender should stop, and when it may go on. */
  constructor(target: CopyTarget, onBusy: (busy: boolean) => void) {
    this.#target = target;
    this.#onBusy = onBusy;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.finished = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** A piece of data; valid only during the call. */
  data(bytes: Uint8Array): void {
    if (this.#settled || this.#isDone) return;
    if (this.#isBusy) this.#pieces.push(bytes.slice());
    else this.#write(bytes);
  }

  /** The end of the data. */
  done(): void {
    this.#isDone = true;
    if (!this.#isBusy) this.#settle();
  }

  /** The client breaks off. */
  fail(message: string): void {
    this.abort(new DatabaseError(SQLSTATE.queryCanceled, `COPY from stdin failed: ${message}`));
  }

  /** The statement cannot go on. */
  abort(error: unknown): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#pieces = [];
    this.#onBusy(false);
    this.#reject(error);
  }

  #write(bytes: Uint8Array): void {
    try {
      const writing = this.#target.write(bytes);
      if (!(writing instanceof Promise)) return;
      this.#isBusy = true;
      this.#onBusy(true);
      writing.then(() => this.#next(), (error: unknown) => this.abort(error));
    } catch (error) {
      this.abort(error);
    }
  }

  #next(): void {
    this.#isBusy = false;
    while (!this.#isBusy && !this.#settled) {
      const piece = this.#pieces.shift();
      if (piece === undefined) break;
      this.#write(piece);
    }
    if (this.#isBusy || this.#settled) return;
    if (this.#isDone) this.#settle();
    else this.#onBusy(false);
  }

  #settle(): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#onBusy(false);
    this.#resolve();
  }
}
