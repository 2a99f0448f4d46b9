/**
 * The flow of a connection's input over `node:net`: it stands still while requests wait for their turn, and now and
 * then so that others get theirs. A read of what has come already is no turn of the event loop: a client that sends
 * without pause, as COPY does, would be the only one that is heard.
 */

/** Input of at least so many bytes at once is taken for a part of bulk data. */
const BULK_BYTES = 4096;
/** How long bulk data is processed before others get a turn. */
const TURN_MILLISECONDS = 1;

/** What a flow needs of its connection. */
export interface InputFlowOptions {
  /** Stops or resumes the reading. */
  readonly setStopped: (isStopped: boolean) => void;
  /** Resolves when input may be processed again, behind some that took so many microseconds. */
  readonly nextSlice: (tookMicroseconds: number) => Promise<void>;
}

/**
 * The flow of a connection's input over `node:net`: it stands still while requests wait for their turn, and now and
 * then so that others get theirs.
 */
export class InputFlow {
  readonly #options: InputFlowOptions;
  #isHeld = false;
  #isResting = false;
  #isStopped = false;
  #busyMilliseconds = 0;

  constructor(options: InputFlowOptions) {
    this.#options = options;
  }

  /** Requests wait, or do so no more. */
  setHeld(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#update();
  }

  /** Does what is to be done with input of so many bytes, and leaves others a turn when that takes long. */
  process(byteCount: number, work: () => void): void {
    if (byteCount < BULK_BYTES) {
      work();
      return;
    }
    const began = performance.now();
    work();
    this.#busyMilliseconds += performance.now() - began;
    if (this.#busyMilliseconds < TURN_MILLISECONDS || this.#isResting) return;
    this.#isResting = true;
    this.#update();
    this.#options.nextSlice(this.#busyMilliseconds * 1000).then(() => {
      this.#isResting = false;
      this.#busyMilliseconds = 0;
      this.#update();
    });
  }

  #update(): void {
    const isStopped = this.#isHeld || this.#isResting;
    if (isStopped === this.#isStopped) return;
    this.#isStopped = isStopped;
    this.#options.setStopped(isStopped);
  }
}
