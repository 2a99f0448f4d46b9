/**
 * The rows of a running fragment, read while they come. The shards may be ahead of the reader by a few batches each:
 * see `exchange_ends.ts`. Nothing of it outlives the statement or portal that reads it.
 */
import { assertDefined } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { BatchSource, PlaceWork } from "../execution/runtime/execution.ts";
import type { Fragment } from "../sql/plan/plan.ts";
import type { GatheredStream } from "../statements/statement_host.ts";
import type { ReadPredicate } from "../transactions/read_set.ts";
import { ExchangeEnds, TO_ROUTER } from "./exchange_ends.ts";
import { mergedRows } from "./merge_rows.ts";
import type { FragmentRows } from "./shard_messages.ts";

/** What the stream needs to know of the run that feeds it. */
export interface StreamRun {
  /** How many shards run it. */
  readonly count: number;
  /** How many batches each of them may be ahead. */
  readonly credits: number;
  /** Nothing is given out before a shard has sent so many batches or all have ended: the run may begin anew. */
  readonly holds: boolean;
  /** Lets a shard send one more batch. */
  grant(index: number): void;
}

/** See the file's head. */
export class GatherStream implements GatheredStream {
  /** Ends the run. */
  readonly abort = new AbortController();
  readonly next: BatchSource;
  /** What each shard has done. */
  work: PlaceWork[] = [];
  readonly #fragment: Pick<Fragment, "columns" | "merge">;
  readonly #monotonic: () => number;
  readonly #note: (reads: readonly ReadPredicate[]) => void;
  #wake: () => void = () => {};
  #run: StreamRun | null = null;
  #ends: ExchangeEnds | null = null;
  #rows: BatchSource | null = null;
  #begin = 0;
  /** By shard: when it was last heard of, or let go on. */
  #turnedAt: number[] = [];
  #failure: { readonly error: unknown } | null = null;
  #isHolding = false;
  #ended = 0;
  /** Something has been given out. */
  hasBegun = false;

  /** `note` hears of what was read for the rows that are given out. */
  constructor(
    fragment: Pick<Fragment, "columns" | "merge">,
    monotonic: () => number,
    note: (reads: readonly ReadPredicate[]) => void,
  ) {
    this.#fragment = fragment;
    this.#monotonic = monotonic;
    this.#note = note;
    this.next = () => this.#next();
  }

  get bytes(): number {
    return this.work.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** What is called when something has come. */
  onChange(wake: () => void): void {
    this.#wake = wake;
  }

  /** A run begins, or begins anew: what came of the one before is forgotten. */
  open(run: StreamRun): void {
    const now = this.#begin = this.#monotonic();
    const { count } = run;
    this.#run = run;
    this.#turnedAt = Array.from({ length: count }, () => now);
    this.work = Array.from({ length: count }, () => ({ rows: 0, bytes: 0, batches: 0, microseconds: 0 }));
    this.#ended = 0;
    this.#isHolding = run.holds;
    const ends = this.#ends = new ExchangeEnds({ run: 0, count, place: -1 }, (index) => {
      this.#turnedAt[index] = this.#monotonic();
      run.grant(index);
    });
    const { merge, columns } = this.#fragment;
    const sources = Array.from({ length: count }, (_, index) => this.#noted(ends.sourceOf(TO_ROUTER, index)));
    this.#rows = merge === null || count === 1
      ? this.#noted(ends.source(TO_ROUTER))
      : mergedRows(sources, { columns, merge });
  }

  /** Takes rows of a shard, `bytes` of them. */
  take(batch: FragmentRows, bytes: number, index: number, isLast: boolean): void {
    const now = this.#monotonic();
    const work = assertDefined(this.work[index], `shard ${index}`);
    this.work[index] = {
      rows: work.rows + batch.rowCount,
      bytes: work.bytes + bytes,
      batches: work.batches + (batch.rowCount === 0 ? 0 : 1),
      microseconds: now - this.#begin,
    };
    this.#turnedAt[index] = now;
    if (isLast) this.#ended++;
    const ends = assertDefined(this.#ends ?? undefined, "an open run");
    ends.receive({ run: 0, edge: TO_ROUTER, from: index, batch, isLast });
    this.#wake();
  }

  /** Since when the next batch of a shard is waited for; Infinity: it is not. */
  waitsSince(index: number): number {
    const unread = this.#ends?.unread(TO_ROUTER, index) ?? 0;
    return unread > 0 ? Infinity : this.#turnedAt[index] ?? this.#begin;
  }

  /** The rows that have come are the last. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake();
  }

  close(): void {
    if (this.#failure !== null) return;
    const error = new DatabaseError(SQLSTATE.queryCanceled, "canceling statement due to user request");
    this.#failure = { error };
    this.#ends = this.#rows = null;
    this.abort.abort(error);
  }

  #noted(source: BatchSource): BatchSource {
    return () => {
      const batch = source();
      if (batch !== null && batch !== undefined) this.#note((batch as FragmentRows).reads);
      return batch;
    };
  }

  #next(): ReturnType<BatchSource> {
    if (this.#failure !== null) throw this.#failure.error;
    if (this.#rows === null || this.#holds()) return null;
    const batch = this.#rows();
    this.hasBegun ||= batch !== null;
    return batch;
  }

  #holds(): boolean {
    const run = this.#run;
    if (!this.#isHolding || run === null) return false;
    const isFull = Array.from({ length: run.count }, (_, index) => this.#ends?.unread(TO_ROUTER, index) ?? 0)
      .some((unread) => unread >= run.credits);
    return this.#isHolding = !isFull && this.#ended < run.count;
  }
}
