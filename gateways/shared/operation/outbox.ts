/**
 * Messages on their way to a client, in order, each held back until the entry that it depends on is durable.
 *
 * One {@link DurabilityWatch} listens to the engine for all connections of a server; outboxes that wait register with
 * it.
 */
import { busyPoll } from "../../../engine/host/busy_poll.ts";
import type { OpNumber } from "../../../engine/operations/effect.ts";

/** The engine, as far as durability goes. */
export interface DurabilitySource {
  readonly durableOp: OpNumber;
  onDurable(listener: (durableOp: OpNumber) => void): () => void;
}

/** Tells waiting outboxes of each group commit. */
export class DurabilityWatch {
  readonly #source: DurabilitySource;
  readonly #unsubscribe: () => void;
  #waiting = new Set<Outbox>();

  constructor(source: DurabilitySource) {
    this.#source = source;
    this.#unsubscribe = source.onDurable(() => this.#flush());
  }

  get durableOp(): number {
    return this.#source.durableOp;
  }

  /** Calls the outbox's flush at the next group commit. */
  add(outbox: Outbox): void {
    this.#waiting.add(outbox);
  }

  /** Forgets an outbox. */
  remove(outbox: Outbox): void {
    this.#waiting.delete(outbox);
  }

  close(): void {
    this.#unsubscribe();
    this.#waiting.clear();
  }

  #flush(): void {
    if (this.#waiting.size === 0) return;
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const outbox of waiting) outbox.flush();
  }
}

/** Where the bytes go. */
export interface MessageTransport {
  /** Sends messages, each with its four-byte length in front. */
  send(messages: Uint8Array): void;
  /** Bytes that were sent but not taken by the system yet. */
  readonly backlogBytes: number;
}

interface Held {
  readonly bytes: Uint8Array;
  readonly op: number;
}

/** Above this a statement waits before it makes more rows. */
const FULL_BYTES = 1 << 20;
/** Messages that are ready at the same time are joined up to this size, so that they leave in one write. */
const JOINED_BYTES = 64 * 1024;

/** Messages on their way to a client, in order, each held back until the entry that it depends on is durable. */
export class Outbox {
  readonly #transport: MessageTransport;
  readonly #watch: DurabilityWatch;
  #held: Held[] = [];
  #heldBytes = 0;
  #closed = false;
  /** Nothing more is taken. */
  #isOver = false;
  #waiters: (() => void)[] = [];
  #handOverWaiters: (() => void)[] = [];

  constructor(transport: MessageTransport, watch: DurabilityWatch) {
    this.#transport = transport;
    this.#watch = watch;
  }

  /** Adds messages that may leave when the op is durable. */
  push(bytes: Uint8Array, op: number): void {
    if (this.#closed || this.#isOver || bytes.length === 0) return;
    this.#held.push({ bytes, op });
    this.#heldBytes += bytes.length;
  }

  /** Sends last messages at once in the place of those whose op is not durable, and takes no more. */
  endWith(bytes: Uint8Array): void {
    this.flush();
    this.#held = [];
    this.#heldBytes = 0;
    this.push(bytes, 0);
    this.flush();
    this.#isOver = true;
  }

  /** Whether nothing waits here or in the transport. */
  get isEmpty(): boolean {
    return this.#held.length === 0 && this.#transport.backlogBytes === 0;
  }

  get isFull(): boolean {
    return !this.#closed && this.#heldBytes + this.#transport.backlogBytes > FULL_BYTES;
  }

  /** Resolves when the outbox is no longer full, or closed. */
  drained(): Promise<void> {
    if (!this.isFull) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  /** Resolves when everything that was pushed has been handed to the transport, or the outbox is closed. */
  handedOver(): Promise<void> {
    if (this.#held.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#handOverWaiters.push(resolve));
  }

  /** Sends what may be sent. Also to be called when the transport's backlog has shrunk. */
  flush(): void {
    if (this.#closed) return;
    const { durableOp } = this.#watch;
    const held = this.#held;
    let count = 0, bytes = 0;
    while (count < held.length && (held[count] as Held).op <= durableOp) {
      bytes += (held[count] as Held).bytes.length;
      count++;
    }
    if (count > 0) {
      this.#held = held.slice(count);
      this.#heldBytes -= bytes;
      this.#send(held, count);
      busyPoll.answered(this);
    }
    if (this.#held.length > 0) this.#watch.add(this);
    else this.#handOverWaiters = wake(this.#handOverWaiters);
    if (this.#waiters.length > 0 && !this.isFull) this.#waiters = wake(this.#waiters);
  }

  /** The connection is gone: nothing more is sent, and no call waits any longer. */
  close(): void {
    this.#closed = true;
    this.#held = [];
    this.#heldBytes = 0;
    this.#watch.remove(this);
    this.#waiters = wake(this.#waiters);
    this.#handOverWaiters = wake(this.#handOverWaiters);
  }

  #send(held: readonly Held[], count: number): void {
    for (let at = 0; at < count;) {
      let end = at, size = 0;
      while (end < count && (end === at || size + (held[end] as Held).bytes.length <= JOINED_BYTES)) {
        size += (held[end] as Held).bytes.length;
        end++;
      }
      if (end === at + 1) this.#transport.send((held[at] as Held).bytes);
      else {
        const joined = new Uint8Array(size);
        let position = 0;
        for (; at < end; at++) {
          joined.set((held[at] as Held).bytes, position);
          position += (held[at] as Held).bytes.length;
        }
        this.#transport.send(joined);
      }
      at = end;
    }
  }
}

/** Resolves all that wait; answers the new, empty list. */
function wake(waiters: readonly (() => void)[]): (() => void)[] {
  for (const resolve of waiters) resolve();
  return [];
}
