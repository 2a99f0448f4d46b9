/** The parsing of a COPY's data by a worker, as the thread of the sessions sees it. */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { fromRemote } from "../sharding/shard_messages.ts";
import type { ParsedBatch } from "../statements/parsed_copy.ts";
import type { CopyElsewhere } from "../statements/parsed_copy.ts";
import type { MaybePromise } from "../statements/outcome.ts";
import type { CopyReply } from "./messages.ts";
import type { WorkerPort } from "./worker_port.ts";

/** Data travels in pieces of this size: clients send less at a time. */
const PIECE_BYTES = 1 << 17;
/** Up to here bytes are copied one by one: clients send a piece for each row, and a view of each would be garbage. */
const SMALL_BYTES = 256;
/** The client waits when so many have not been parsed. */
const PIECES_AHEAD = 16;

/** See the file's head. */
export class CopyParsing implements CopyElsewhere {
  readonly worker: WorkerPort;
  readonly #copy: number;
  readonly #emit: (parsed: ParsedBatch) => void;
  readonly #forget: () => void;
  #piece = new Uint8Array(PIECE_BYTES);
  #filled = 0;
  /** Pieces that have been sent and are not parsed. */
  #ahead = 0;
  #failure: { readonly error: unknown } | null = null;
  #isLast = false;
  #wake: () => void = () => {};

  /** `forget` is called when nothing more is wanted of it. */
  constructor(
    worker: WorkerPort,
    copy: number,
    { emit, forget }: { readonly emit: (parsed: ParsedBatch) => void; readonly forget: () => void },
  ) {
    this.worker = worker;
    this.#copy = copy;
    this.#emit = emit;
    this.#forget = forget;
  }

  /** See {@link CopyElsewhere.write}. */
  write(bytes: Uint8Array, start: number, end: number): MaybePromise<void> {
    this.#requireWhole();
    for (let from = start; from < end;) {
      const count = Math.min(end - from, PIECE_BYTES - this.#filled);
      if (count < SMALL_BYTES) this.#copyFew(bytes, from, count);
      else this.#piece.set(bytes.subarray(from, from + count), this.#filled);
      this.#filled += count;
      from += count;
      if (this.#filled === PIECE_BYTES) this.#sendPiece();
    }
    if (this.#ahead > PIECES_AHEAD) return this.#until(() => this.#ahead <= PIECES_AHEAD / 2);
  }

  #copyFew(bytes: Uint8Array, from: number, count: number): void {
    const piece = this.#piece;
    for (let at = 0, to = this.#filled; at < count; at++, to++) piece[to] = bytes[from + at] as number;
  }

  #sendPiece(): void {
    const bytes = this.#piece.subarray(0, this.#filled);
    this.#piece = new Uint8Array(PIECE_BYTES);
    this.#filled = 0;
    this.#ahead++;
    this.worker.tell({ kind: "copy_data", copy: this.#copy, bytes });
  }

  async finish(): Promise<void> {
    this.#requireWhole();
    if (this.#filled > 0) this.#sendPiece();
    this.worker.tell({ kind: "copy_data", copy: this.#copy, bytes: null });
    await this.#until(() => this.#isLast);
  }

  async #until(isReached: () => boolean): Promise<void> {
    while (this.#failure === null && !isReached()) {
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    this.#requireWhole();
  }

  #requireWhole(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }

  take({ parsed, pieces, error, isLast }: CopyReply): void {
    try {
      if (parsed !== null) this.#emit(parsed);
      if (error !== null) throw fromRemote(error);
    } catch (thrown) {
      return this.fail(thrown);
    }
    this.#ahead -= pieces;
    this.#isLast = isLast;
    this.#wake();
  }

  /** It cannot go on. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake();
  }

  release(): void {
    this.worker.tell({ kind: "copy_end", copy: this.#copy });
    this.fail(new DatabaseError(SQLSTATE.queryCanceled, "canceling statement due to user request"));
    this.#forget();
  }
}
