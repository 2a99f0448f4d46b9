/**
 * The router's end of a shard: calls and their answers over any way by which messages keep their order. What is sent in
 * one turn travels as one message, for it costs about as much as one alone.
 */
import { assertDefined } from "../base/assert.ts";
import { NumberMap } from "../base/number_map.ts";
import type { DatabaseError } from "../base/errors.ts";
import type { HashedFile } from "../storage/file_hashes.ts";
import type { PeerMessage } from "./exchange_ends.ts";
import {
  fromRemote,
  type FromShard,
  type ShardReply,
  type ShardReport,
  type ShardRequest,
} from "./shard_messages.ts";

/** Carries messages to a shard; the other direction calls {@link ShardPort.receive}. */
export type SendRequests = (requests: readonly ShardRequest[]) => void;

/** A request that is answered, without the number of its call. */
type Call = Extract<ShardRequest, { readonly call: number }>;
/** The same without the number. */
export type Unnumbered = Call extends infer Each ? Each extends Call ? Omit<Each, "call"> : never : never;

/** Promises in a row that may lie between an answer and the next request of whoever gets it. */
const HOPS_IN_A_TURN = 24;

/** So many requests that nobody waits for are sent at once. */
const MAX_WAITING = 128;

/** Who waits for the answer to a request. */
export interface Waiting {
  /** Takes what comes before the end; null: nothing does. */
  readonly part: ((value: ShardReply["value"]) => void) | null;
  resolve(value: ShardReply["value"]): void;
  reject(error: DatabaseError): void;
}

/** See the file's head. */
export class ShardPort {
  /** Resolves when the shard cannot go on. */
  readonly failed: Promise<DatabaseError>;
  readonly #announceFailure: (error: DatabaseError) => void;
  readonly #send: SendRequests;
  readonly #waiting = new NumberMap<Waiting>();
  #nextCall = 1;
  #outgoing: ShardRequest[] = [];
  /** It is sent at the end of this turn. */
  #isSending = false;
  /** A timer looks after what nobody waits for. */
  #isWatched = false;
  #error: DatabaseError | null = null;
  /** Messages sent, and requests in them. */
  readonly sent = { messages: 0, requests: 0 };
  /** Entries of the log that were sent to it. */
  sentEntries = 0;
  /** Hears of each message, with the requests in it. */
  onSend: (requests: number) => void = () => {};
  /** Calls back in a while; null: what nobody waits for is sent as all else is. */
  later: ((run: () => void) => void) | null = null;
  /** Passes on what the shard says to another one. */
  onPeer: (to: number, message: PeerMessage) => void = () => {};
  /** Hears of damage in a file of the shard's checkpoint. */
  onDamage: (file: HashedFile) => void = () => {};

  readonly #release: () => void;

  /** `release` is called when the shard is closed. */
  constructor(send: SendRequests, release: () => void = () => {}) {
    this.#send = send;
    this.#release = release;
    const { promise, resolve } = Promise.withResolvers<DatabaseError>();
    this.failed = promise;
    this.#announceFailure = resolve;
  }

  /** Sends what has no answer. */
  tell(
    request:
      | Exclude<ShardRequest, { readonly call: number }>
      | Extract<ShardRequest, { kind: "stop" | "credit" }>,
  ): void {
    this.#outgoing.push(request);
    if (!this.#isSending) void this.#sendSoon();
  }

  /** The same for what nobody waits for: it goes with the next request, or when it has waited for a while or two. */
  tellLater(request: Exclude<ShardRequest, { readonly call: number }>): void {
    const { later } = this;
    if (later === null) return this.tell(request);
    const count = this.#outgoing.push(request);
    if (count >= MAX_WAITING && !this.#isSending) return void this.#sendSoon();
    if (!this.#isWatched) this.#watch(later);
  }

  /** Where requests go in every turn anyway, one timer serves all, and finds nothing that has waited for so long. */
  #watch(later: (run: () => void) => void): void {
    this.#isWatched = true;
    const { messages } = this.sent;
    later(() => {
      this.#isWatched = false;
      if (this.#outgoing.length === 0 || this.#isSending) return;
      if (this.sent.messages === messages) this.#sendAll();
      else this.#watch(later);
    });
  }

  /** Sends when those whose turn it is have had their say: what answers set free comes some promises later. */
  async #sendSoon(): Promise<void> {
    this.#isSending = true;
    for (let hops = 0, known = this.#outgoing.length; hops < HOPS_IN_A_TURN; hops++) {
      await undefined;
      if (this.#outgoing.length > known) hops = 0;
      known = this.#outgoing.length;
    }
    this.#isSending = false;
    this.#sendAll();
  }

  #sendAll(): void {
    const requests = this.#outgoing;
    this.#outgoing = [];
    this.sent.messages++;
    this.sent.requests += requests.length;
    this.onSend(requests.length);
    this.#send(requests);
  }

  /** A number for what names no call. */
  number(): number {
    return this.#nextCall++;
  }

  /** Sends a request; answers the number of its call, and what comes of it. `part` takes what comes before the end. */
  call(
    request: Unnumbered,
    part: ((value: ShardReply["value"]) => void) | null = null,
  ): { readonly call: number; readonly done: Promise<ShardReply["value"]> } {
    const call = this.number();
    const { promise, resolve, reject } = Promise.withResolvers<ShardReply["value"]>();
    this.ask({ ...request, call } as Call, { part, resolve, reject });
    return { call, done: promise };
  }

  /** The same for a request that has its number, and who waits for it. */
  ask(request: Call, waiting: Waiting): void {
    if (this.#error !== null) return waiting.reject(this.#error);
    this.#waiting.set(request.call, waiting);
    this.#outgoing.push(request);
    if (!this.#isSending) void this.#sendSoon();
  }

  /** What the shard says of itself. */
  async report(): Promise<ShardReport> {
    return await this.call({ kind: "report" }).done as ShardReport;
  }

  /** Takes answers of the shard, in order. */
  receive(replies: readonly FromShard[]): void {
    for (const reply of replies) {
      if ("failure" in reply) {
        this.fail(fromRemote(reply.failure));
        continue;
      }
      if ("damage" in reply) {
        this.onDamage(reply.damage);
        continue;
      }
      if ("to" in reply) {
        this.onPeer(reply.to, reply.message);
        continue;
      }
      const { call, isLast, value, error } = reply;
      if (this.#error !== null) continue;
      const waiting = assertDefined(this.#waiting.get(call), `call ${call}`);
      if (!isLast) {
        waiting.part?.(value);
        continue;
      }
      this.#waiting.delete(call);
      if (error === null) waiting.resolve(value);
      else waiting.reject(fromRemote(error));
    }
  }

  /** Closes the shard. */
  async close(): Promise<void> {
    try {
      await this.call({ kind: "close" }).done;
    } finally {
      this.#release();
    }
  }

  /** The shard is gone. */
  fail(error: DatabaseError): void {
    if (this.#error !== null) return;
    this.#error = error;
    for (const [, waiting] of this.#waiting.entries()) waiting.reject(error);
    this.#waiting.clear();
    this.#announceFailure(error);
  }
}
