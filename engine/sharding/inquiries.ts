/**
 * Questions to one shard each that are answered soon: a row by its id, a fragment at one place. Nothing is made for one
 * of them but itself and its promise. All that wait are looked at together once a while, so one that is canceled or
 * late ends up to that much later than others.
 */
import { assertDefined } from "../base/assert.ts";
import type { Host } from "../host/host.ts";
import { tooLate } from "./asking.ts";
import type { ShardReply, ShardRequest } from "./shard_messages.ts";
import type { ShardPort, Waiting } from "./shard_port.ts";
import type { StopFlags } from "./stop_flags.ts";

/** How often those that wait are looked at. */
const LOOK_MICROSECONDS = 10_000;

/** Who waits, and how long. */
export interface InquiryPatience {
  readonly abort: AbortSignal;
  /** How long the shard may take, from the question or what it has sent last; 0: for ever. */
  readonly milliseconds: number;
}

/** One question, and what comes of it. */
export abstract class Inquiry<Result> implements Waiting {
  readonly result: Promise<Result>;
  readonly patience: InquiryPatience;
  readonly #resolve: (result: Result) => void;
  readonly #reject: (error: unknown) => void;
  /** Its place among those that wait; -1: it is over. */
  place = -1;
  /** When it was first looked at since something has come; -1: not yet. */
  seenAt = -1;
  #inquiries: Inquiries | null = null;
  shard = 0;
  call = 0;
  stop = 0;

  constructor(patience: InquiryPatience) {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.result = promise;
    this.patience = patience;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** What the shard is sent. */
  abstract request(): Extract<ShardRequest, { readonly stop: number }>;

  /** Takes what has come, and ends it by throwing. true: no more is wanted. */
  protected abstract take(value: ShardReply["value"], isLast: boolean): boolean;

  protected abstract answer(): Result;

  /** What is answered in the place of an error; throws what it fails with. */
  protected failed(error: unknown): Result {
    throw error;
  }

  /** It is asked from now on. */
  begin(inquiries: Inquiries, place: number): void {
    this.#inquiries = inquiries;
    this.place = place;
  }

  part(value: ShardReply["value"]): void {
    this.#came(value, false);
  }

  resolve(value: ShardReply["value"]): void {
    this.#came(value, true);
  }

  reject(error: unknown): void {
    if (this.place < 0) return;
    this.#inquiries?.leave(this);
    try {
      this.#resolve(this.failed(error));
    } catch (thrown) {
      this.#reject(thrown);
    }
  }

  #came(value: ShardReply["value"], isLast: boolean): void {
    if (this.place < 0) return;
    this.seenAt = -1;
    try {
      const isEnough = this.take(value, isLast);
      if (!isEnough && !isLast) return;
      if (!isLast) this.#inquiries?.stop(this);
      this.#inquiries?.leave(this);
      this.#resolve(this.answer());
    } catch (error) {
      if (!isLast) this.#inquiries?.stop(this);
      this.reject(error);
    }
  }
}

/** One that waits, whatever it answers. */
type Open = Pick<
  Inquiry<unknown>,
  "place" | "seenAt" | "patience" | "shard" | "call" | "stop" | "reject"
>;

/** See the file's head. */
export class Inquiries {
  readonly #ports: readonly ShardPort[];
  readonly #stops: StopFlags;
  readonly #host: Pick<Host, "clock" | "timers">;
  readonly #open: Open[] = [];
  #isWatched = false;

  constructor(ports: readonly ShardPort[], stops: StopFlags, host: Pick<Host, "clock" | "timers">) {
    this.#ports = ports;
    this.#stops = stops;
    this.#host = host;
  }

  /** Fails when the shard does, when it is aborted, and with 57014 when it takes too long. */
  ask<Result>(inquiry: Inquiry<Result>, shard: number): Promise<Result> {
    const port = this.#port(shard);
    inquiry.shard = shard;
    inquiry.call = port.number();
    inquiry.stop = this.#stops.next();
    inquiry.begin(this, this.#open.push(inquiry) - 1);
    port.ask(inquiry.request(), inquiry);
    if (!this.#isWatched) this.#watch();
    return inquiry.result;
  }

  /** It waits no more. */
  leave(inquiry: Open): void {
    const last = assertDefined(this.#open.pop(), "one that waits");
    if (last !== inquiry) {
      this.#open[inquiry.place] = last;
      last.place = inquiry.place;
    }
    inquiry.place = -1;
  }

  /** The shard need not go on. */
  stop({ shard, call, stop }: Open): void {
    this.#stops.stop(stop);
    this.#port(shard).tell({ kind: "stop", call });
  }

  #watch(): void {
    this.#isWatched = true;
    this.#host.timers.setTimer(LOOK_MICROSECONDS, this.#look);
  }

  readonly #look = (): void => {
    this.#isWatched = false;
    const now = this.#host.clock.monotonic();
    // Whoever leaves has its place taken by one that was looked at.
    for (let place = this.#open.length - 1; place >= 0; place--) {
      const inquiry = assertDefined(this.#open[place], "one that waits");
      const { patience: { abort, milliseconds }, shard } = inquiry;
      if (inquiry.seenAt < 0) inquiry.seenAt = now;
      const isLate = milliseconds > 0 && now - inquiry.seenAt >= milliseconds * 1000;
      if (!abort.aborted && !isLate) continue;
      this.stop(inquiry);
      inquiry.reject(abort.aborted ? abort.reason : tooLate([shard], milliseconds));
    }
    if (this.#open.length > 0) this.#watch();
  };

  #port(shard: number): ShardPort {
    return assertDefined(this.#ports[shard], `shard ${shard}`);
  }
}
