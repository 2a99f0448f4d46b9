/**
 * COPY … FROM STDIN as the protocol sees it: the client's data goes to the statement's target until the client says
 * that it is done or gives up. The target may ask to wait, which stops the reading of further data.
 */
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";
import type { CopyTarget } from "../../engine/statements/outcome.ts";
import type { MessageReader } from "./message_reader.ts";
import { FRONTEND } from "./protocol.ts";

/**
 * COPY … FROM STDIN as the protocol sees it: the client's data goes to the statement's target until the client says
 * that it is done or gives up.
 */
export class CopyIn {
  /** Settles at the end of the data. */
  readonly ended: Promise<void>;
  /** true: no data is taken at the moment. */
  isWaiting = false;
  /** true: the data has ended, one way or the other. */
  isOver = false;
  readonly #target: CopyTarget;
  readonly #resume: () => void;
  readonly #resolve: () => void;
  readonly #reject: (reason: unknown) => void;

  /** `resume` is called when data is taken again. */
  constructor(target: CopyTarget, resume: () => void) {
    this.#target = target;
    this.#resume = resume;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.ended = promise;
    // Nobody may be waiting any more when the connection breaks off.
    promise.catch(() => {});
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Takes the message at the reader's position. */
  message(reader: MessageReader): void {
    switch (reader.type) {
      case FRONTEND.copyData:
        this.#write(reader);
        return;
      case FRONTEND.copyDone:
        this.#over();
        this.#resolve();
        return;
      case FRONTEND.copyFail: {
        let reason: string;
        try {
          reason = reader.readText();
        } catch (thrown) {
          this.fail(thrown);
          return;
        }
        this.fail(new DatabaseError(SQLSTATE.queryCanceled, `COPY from stdin failed: ${reason}`));
        return;
      }
      case FRONTEND.flush:
      case FRONTEND.sync:
        // The client may have sent these before it knew that the statement is a COPY.
        return;
      default:
        this.fail(
          new DatabaseError(
            SQLSTATE.protocolViolation,
            `unexpected message type 0x${
              reader.type.toString(16).toUpperCase().padStart(2, "0")
            } during COPY from stdin`,
          ),
        );
    }
  }

  /** Ends the data with an error. */
  fail(reason: unknown): void {
    if (this.isOver) return;
    this.#over();
    this.#reject(reason);
  }

  #write({ bytes, start, end }: MessageReader): void {
    try {
      const waiting = this.#target.write(bytes, start, end);
      if (!(waiting instanceof Promise)) return;
      this.isWaiting = true;
      waiting.then(() => {
        this.isWaiting = false;
        this.#resume();
      }, (thrown) => {
        this.isWaiting = false;
        this.fail(thrown);
      });
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  #over(): void {
    this.isOver = true;
    this.isWaiting = false;
  }
}
