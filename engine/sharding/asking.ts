/**
 * Asks several shards for something of which parts come, until all have ended, nobody wants it any more, or a shard has
 * not answered for too long.
 */
import { assertDefined } from "../base/assert.ts";
import { removeItem } from "../base/remove_item.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { Host } from "../host/host.ts";
import type { ShardReply } from "./shard_messages.ts";
import type { ShardRequest } from "./shard_messages.ts";
import type { ShardPort } from "./shard_port.ts";
import type { StopFlags } from "./stop_flags.ts";

const MICROSECONDS = 1000;

/** What is asked of one shard. */
export interface Question {
  readonly shard: number;
  readonly request: Numberless<Extract<ShardRequest, { readonly stop: number }>>;
}

type Numberless<Each> = Each extends unknown ? Omit<Each, "call" | "stop"> : never;

/** How each has ended, as far as it has. */
export type Ends = readonly (ShardReply["value"] | undefined)[];

/** When it is given up. */
export interface Patience {
  readonly abort: AbortSignal;
  /** How long a shard may take; 0: for ever. */
  readonly milliseconds: number;
  /** Whether the others' answers are good enough when some take longer. */
  readonly leavesOut: boolean;
  /** Whether what has come is enough, though some have not ended; asked whenever something has come. */
  readonly isEnough?: ((ends: Ends) => boolean) | null;
  /** Since when a shard is waited for; Infinity: it is not. Absent: since it has last sent something. */
  readonly waitsSince?: (index: number) => number;
}

/** A question to several shards that is under way. */
export interface Conversation {
  readonly ends: Promise<Ends>;
  /** Tells one of them something, if it has not ended; the message names the call. */
  tell(index: number, message: (call: number) => Extract<ShardRequest, { readonly kind: "credit" }>): void;
}

/** One that waits. */
interface Asked {
  deadline: number;
  expire(): void;
}

/** See the file's head. */
export class Asking {
  readonly #ports: readonly ShardPort[];
  readonly #host: Pick<Host, "clock" | "timers">;
  readonly #stops: StopFlags;
  #waiting: Asked[] = [];
  /** When the only timer goes off; Infinity: it is not set. */
  #next = Infinity;

  constructor(ports: readonly ShardPort[], stops: StopFlags, host: Pick<Host, "clock" | "timers">) {
    this.#ports = ports;
    this.#stops = stops;
    this.#host = host;
  }

  /**
   * Answers how each has ended, in order, undefined for one that was left out; `part` takes what comes, and ends all by
   * throwing. Fails when one fails, when it is aborted, and with 57014 when one takes too long.
   */
  all(
    questions: readonly Question[],
    part: (value: ShardReply["value"], index: number, isLast: boolean) => void,
    patience: Patience,
  ): Promise<Ends> {
    return this.open(questions, part, patience).ends;
  }

  /** The same, for who has something to tell them meanwhile. */
  open(
    questions: readonly Question[],
    part: (value: ShardReply["value"], index: number, isLast: boolean) => void,
    { abort, milliseconds, leavesOut, isEnough, waitsSince }: Patience,
  ): Conversation {
    // A signal that was given before says nothing any more.
    abort.throwIfAborted();
    const result = Promise.withResolvers<void>();
    const ends = new Array<ShardReply["value"] | undefined>(questions.length);
    const open = new Map<number, number>();
    let isOver = false;
    const number = this.#stops.next();
    const { clock } = this.#host;
    const patience = milliseconds * MICROSECONDS;
    const begun = milliseconds === 0 ? 0 : clock.monotonic();
    const heardAt = questions.map(() => begun);
    const take = (value: ShardReply["value"], index: number, isLast: boolean): void => {
      try {
        part(value, index, isLast);
        if (open.size > 0 && isEnough?.(ends) === true) stopOpen();
        if (open.size === 0) result.resolve();
      } catch (error) {
        result.reject(error);
      }
    };
    const asked = questions.map(({ shard, request }, index) => {
      const { call, done } = this.#port(shard).call({ ...request, stop: number }, (value) => {
        if (isOver || !open.has(index)) return;
        if (milliseconds > 0) heardAt[index] = clock.monotonic();
        take(value, index, false);
      });
      open.set(index, shard);
      done.then((value) => {
        if (isOver || !open.delete(index)) return;
        ends[index] = value;
        take(value, index, true);
      }, (error: unknown) => result.reject(error));
      return { shard, call };
    });
    // Who is left out is so whole: what has come of it does not help it.
    const since = waitsSince ?? ((index: number) => leavesOut ? begun : heardAt[index] ?? begun);
    const stopOpen = (): void => {
      if (open.size === 0) return;
      this.#stops.stop(number);
      for (const index of open.keys()) {
        const { shard, call } = assertDefined(asked[index], `question ${index}`);
        this.#port(shard).tell({ kind: "stop", call });
      }
      open.clear();
      result.resolve();
    };
    const waiting: Asked = {
      deadline: begun + patience,
      expire: () => {
        const now = clock.monotonic();
        const late = [...open].filter(([index]) => since(index) + patience <= now);
        if (late.length > 0 && leavesOut) return stopOpen();
        if (late.length > 0) return result.reject(tooLate(late.map(([, shard]) => shard), milliseconds));
        waiting.deadline = Math.min(
          now + patience,
          ...[...open.keys()].map((index) => since(index) + patience),
        );
        this.#watch(waiting);
      },
    };
    const onAbort = (): void => result.reject(abort.reason);
    abort.addEventListener("abort", onAbort, { once: true });
    if (milliseconds > 0) this.#watch(waiting);
    const ended = async (): Promise<Ends> => {
      try {
        await result.promise;
        return ends;
      } catch (error) {
        // What still works does so for nobody.
        stopOpen();
        throw error;
      } finally {
        isOver = true;
        if (milliseconds > 0) removeItem(this.#waiting, waiting);
        abort.removeEventListener("abort", onAbort);
      }
    };
    const tell: Conversation["tell"] = (index, message) => {
      const { shard, call } = assertDefined(asked[index], `question ${index}`);
      if (open.has(index)) this.#port(shard).tell(message(call));
    };
    return { ends: ended(), tell };
  }

  /** Waits until calls that are on their way have settled. Raises 57014 when one takes too long. */
  async within<Value>(
    calls: readonly { readonly shard: number; readonly done: Promise<Value> }[],
    milliseconds: number,
  ): Promise<PromiseSettledResult<Value>[]> {
    if (milliseconds === 0) return await Promise.allSettled(calls.map(({ done }) => done));
    const late = Promise.withResolvers<never>();
    const open = new Set(calls);
    const settling = calls.map(async (call) => {
      try {
        return await call.done;
      } finally {
        open.delete(call);
      }
    });
    const waiting: Asked = {
      deadline: this.#host.clock.monotonic() + milliseconds * MICROSECONDS,
      expire: () => late.reject(tooLate([...open].map(({ shard }) => shard), milliseconds)),
    };
    this.#watch(waiting);
    try {
      return await Promise.race([Promise.allSettled(settling), late.promise]);
    } finally {
      removeItem(this.#waiting, waiting);
    }
  }

  /** One timer serves all: what has been answered costs no more than its place in a set. */
  #watch(asked: Asked): void {
    this.#waiting.push(asked);
    if (asked.deadline >= this.#next) return;
    this.#next = asked.deadline;
    const delay = Math.max(0, asked.deadline - this.#host.clock.monotonic());
    this.#host.timers.setTimer(delay, () => this.#look(asked.deadline));
  }

  #look(set: number): void {
    // A nearer one was set since.
    if (set !== this.#next) return;
    this.#next = Infinity;
    const now = this.#host.clock.monotonic();
    const all = this.#waiting;
    this.#waiting = [];
    for (const asked of all) if (asked.deadline > now) this.#watch(asked);
    for (const asked of all) if (asked.deadline <= now) asked.expire();
  }

  #port(shard: number): ShardPort {
    return assertDefined(this.#ports[shard], `shard ${shard}`);
  }
}

/** What a statement fails with when shards do not answer in time. */
export function tooLate(shards: readonly number[], milliseconds: number): DatabaseError {
  const names = shards.length === 1 ? `shard ${shards[0]}` : `shards ${shards.join(", ")}`;
  return new DatabaseError(
    SQLSTATE.queryCanceled,
    `canceling statement: ${names} did not answer within ${milliseconds} ms`,
    {
      hint:
        "scatter_timeout says how long a shard may take. SET partial_on_timeout = on answers with what the others have.",
    },
  );
}
