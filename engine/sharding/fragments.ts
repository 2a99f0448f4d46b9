/** Has shards run fragments, and takes what comes. */
import { assertDefined } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { countOf } from "../sql/fragments/sole_fragment.ts";
import type { Fragment } from "../sql/plan/plan.ts";
import type { AloneRows, GatherContext } from "../statements/statement_host.ts";
import type { ReadPredicate } from "../transactions/read_set.ts";
import { toStored } from "../types/stored_value.ts";
import type { SqlValue } from "../types/value.ts";
import type { Asking, Ends, Patience, Question } from "./asking.ts";
import { type Inquiries, Inquiry, type InquiryPatience } from "./inquiries.ts";
import { type Gathered, inOrder } from "./gathered_rows.ts";
import { KnownFragments } from "./known_fragments.ts";
import { readKey } from "../transactions/read_key.ts";
import { CREDITS } from "./exchange_ends.ts";
import type { GatherStream } from "./gather_stream.ts";
import { batchBytes, factsOf } from "./fragment_needs.ts";
import type { FragmentRows, ShardReply, ShardRequest } from "./shard_messages.ts";
import type { ShardPort } from "./shard_port.ts";

/** What a shard may hold for a fragment with exchanges at least. */
const LEAST_BYTES = 1 << 18;
const MAX_PASSES = 256;

/** Batches of all shards together that are held while a run may still begin anew. */
const HELD_BATCHES = 128;

/** How a run is done. */
interface RunSize {
  readonly passes: number;
  /** What each shard may hold. */
  readonly memoryLimitBytes: number;
}

/** A shard has more to keep than it may. */
export class ShardFull extends DatabaseError {
  constructor({ code, message, detail, hint }: DatabaseError) {
    super(code, message, {
      ...(detail === undefined ? {} : { detail }),
      ...(hint === undefined ? {} : { hint }),
    });
  }
}

/** What is to be run. */
export interface FragmentRequest {
  /** null: the fragment reads the newest state, and is all that is read. */
  readonly branch: number | null;
  readonly fragment: Fragment;
  readonly context: Pick<GatherContext, "parameters" | "memoryLimitBytes" | "evaluation" | "fragmentBytes">;
  readonly notesReads: boolean;
}

type RunRequest = Extract<ShardRequest, { readonly kind: "run" }>;

/** A fragment that one shard runs, for a statement by itself. */
class SoleRun extends Inquiry<AloneRows | null> {
  readonly #fragment: Pick<RunRequest, "fragment" | "text" | "parameters" | "session">;
  readonly #memoryLimitBytes: number;
  readonly #shareBytes: number;
  readonly #atMost: number;
  readonly #batches: FragmentRows[] = [];
  #rows = 0;
  #bytes = 0;

  /** `shareBytes`: what the shard may hold. */
  constructor(
    patience: InquiryPatience,
    fragment: Pick<RunRequest, "fragment" | "text" | "parameters" | "session">,
    limits: { readonly memoryLimitBytes: number; readonly shareBytes: number; readonly atMost: number },
  ) {
    super(patience);
    this.#fragment = fragment;
    this.#memoryLimitBytes = limits.memoryLimitBytes;
    this.#shareBytes = limits.shareBytes;
    this.#atMost = limits.atMost;
  }

  request(): RunRequest {
    const { fragment, text, parameters, session } = this.#fragment;
    return {
      kind: "run",
      call: this.call,
      stop: this.stop,
      branch: null,
      fragment,
      text,
      parameters,
      session,
      notesReads: false,
      memoryLimitBytes: this.#shareBytes,
      credits: null,
      exchange: null,
    };
  }

  protected take(value: ShardReply["value"]): boolean {
    const batch = value as FragmentRows;
    this.#batches.push(batch);
    this.#rows += batch.rowCount;
    this.#bytes += batchBytes(batch);
    if (this.#bytes > this.#memoryLimitBytes) throw outOfMemory(this.#memoryLimitBytes);
    return this.#rows > this.#atMost;
  }

  protected answer(): AloneRows | null {
    return this.#rows > this.#atMost ? null : { source: inOrder(this.#batches) };
  }

  protected override failed(error: unknown): null {
    if (error instanceof DatabaseError && error.code === SQLSTATE.outOfMemory) return null;
    throw error;
  }
}

/** See the file's head. */
export class Fragments {
  readonly #asking: Asking;
  readonly #inquiries: Inquiries;
  readonly #monotonic: () => number;
  /** What each shard has the text of. */
  readonly #known: readonly KnownFragments<true>[];
  readonly #numbers = new WeakMap<Fragment, number>();
  #next = 1;
  #nextRun = 1;

  constructor(
    { asking, inquiries }: { readonly asking: Asking; readonly inquiries: Inquiries },
    ports: readonly ShardPort[],
    monotonic: () => number,
  ) {
    this.#asking = asking;
    this.#inquiries = inquiries;
    this.#monotonic = monotonic;
    this.#known = ports.map(() => new KnownFragments());
  }

  /**
   * Runs a fragment at these shards, at the snapshots that the branch has there, and keeps its rows. `atMost`: null is
   * answered when there are more.
   */
  async run(
    shards: readonly number[],
    request: FragmentRequest,
    patience: Patience,
    atMost = Infinity,
  ): Promise<Gathered | null> {
    const size = { rows: 0, bytes: 0, isTooLarge: false };
    return await this.#inPasses(shards, request, {
      attempt: (run) => this.#keep(shards, request, patience, { run, size, atMost }),
      mayRepeat: () => true,
      // What is too much for the router does not become less.
      isOwn: () => size.isTooLarge,
    });
  }

  /**
   * The same at one shard and the newest state, in the shortest way. null: there are more than `atMost` rows, or
   * no memory for them, so that it has to be run in another way.
   */
  sole(
    shard: number,
    { fragment, context }: Pick<FragmentRequest, "fragment" | "context">,
    patience: InquiryPatience,
    atMost: number,
  ): Promise<AloneRows | null> {
    const { memoryLimitBytes } = context;
    const limits = { memoryLimitBytes, shareBytes: this.#shareOf(context), atMost };
    return this.#inquiries.ask(new SoleRun(patience, this.#named(shard, fragment, context), limits), shard);
  }

  /** The same for rows that are read while they come. */
  async feed(
    stream: GatherStream,
    shards: readonly number[],
    request: FragmentRequest,
    patience: Pick<Patience, "milliseconds">,
  ): Promise<void> {
    await this.#inPasses(shards, request, {
      attempt: (run) => this.#pass(stream, shards, request, { ...patience, run }),
      mayRepeat: () => !stream.hasBegun,
      isOwn: () => false,
    });
  }

  /** Runs a fragment in as many passes as are expected to do, and in more if a shard had more to keep. */
  async #inPasses<Result>(
    shards: readonly number[],
    { fragment, context }: FragmentRequest,
    { attempt, mayRepeat, isOwn }: {
      attempt(run: RunSize): Promise<Result>;
      /** Nothing has been given out. */
      mayRepeat(): boolean;
      /** Memory was wanting here. */
      isOwn(): boolean;
    },
  ): Promise<Result> {
    const memoryLimitBytes = this.#shareOf(context);
    for (let passes = passesFor(fragment, shards.length, memoryLimitBytes);; passes *= 4) {
      try {
        return await attempt({ passes, memoryLimitBytes });
      } catch (error) {
        if (!(error instanceof DatabaseError) || error.code !== SQLSTATE.outOfMemory || isOwn()) throw error;
        const hasPasses = fragment.exchangedBytes !== null && passes * 4 <= MAX_PASSES;
        if (!hasPasses || !mayRepeat()) throw new ShardFull(error);
      }
    }
  }

  async #pass(
    stream: GatherStream,
    shards: readonly number[],
    request: FragmentRequest,
    { run, milliseconds }: { readonly run: RunSize; readonly milliseconds: number },
  ): Promise<void> {
    const holds = request.fragment.exchangedBytes !== null;
    const credits = holds ? Math.max(CREDITS, Math.floor(HELD_BATCHES / shards.length)) : CREDITS;
    const asked = this.#asking.open(
      this.#questions(shards, request, { ...run, credits }),
      (rows, index, isLast) => {
        const batch = rows as FragmentRows;
        stream.take(batch, batchBytes(batch), index, isLast);
      },
      {
        abort: stream.abort.signal,
        milliseconds,
        leavesOut: false,
        waitsSince: (index) => stream.waitsSince(index),
      },
    );
    stream.open({
      count: shards.length,
      credits,
      holds,
      grant: (index) => asked.tell(index, (call) => ({ kind: "credit", call })),
    });
    await asked.ends;
  }

  /** What a shard may hold. */
  #shareOf({ fragmentBytes }: FragmentRequest["context"]): number {
    return Math.max(LEAST_BYTES, fragmentBytes / this.#known.length);
  }

  /** What a shard is sent of a fragment. */
  #named(
    shard: number,
    fragment: Fragment,
    { parameters, evaluation }: FragmentRequest["context"],
  ): Pick<RunRequest, "fragment" | "text" | "parameters" | "session"> {
    let number = this.#numbers.get(fragment);
    if (number === undefined) this.#numbers.set(fragment, number = this.#next++);
    return {
      fragment: number,
      text: this.#textFor(shard, number, fragment),
      parameters: fragment.parameters.map(({ index, type }) => toStored(type, parameters[index] ?? null)),
      session: fragment.asksSession ? factsOf(evaluation) : null,
    };
  }

  #questions(
    shards: readonly number[],
    request: FragmentRequest,
    { passes, memoryLimitBytes, credits }: RunSize & { readonly credits: number | null },
  ): Question[] {
    const { branch, fragment, notesReads, context } = request;
    const run = fragment.hasExchanges ? this.#nextRun++ : null;
    return shards.map((shard) => ({
      shard,
      request: {
        kind: "run",
        branch,
        ...this.#named(shard, fragment, context),
        notesReads,
        memoryLimitBytes,
        credits,
        exchange: run === null ? null : { run, count: shards.length, place: shard, passes },
      } as const,
    }));
  }

  async #keep(
    shards: readonly number[],
    request: FragmentRequest,
    patience: Patience,
    { run, size: sum, atMost }: {
      readonly run: RunSize;
      readonly size: { rows: number; bytes: number; isTooLarge: boolean };
      readonly atMost: number;
    },
  ): Promise<Gathered | null> {
    const { fragment } = request;
    const { parameters, memoryLimitBytes } = request.context;
    const questions = this.#questions(shards, request, { ...run, credits: null });
    sum.rows = sum.bytes = 0;
    const batches: FragmentRows[][] = shards.map(() => []);
    const work = shards.map(() => ({ rows: 0, bytes: 0, batches: 0, microseconds: 0 }));
    const begin = this.#monotonic();
    const take = (batch: FragmentRows, index: number): void => {
      const done = assertDefined(work[index], `shard ${index}`);
      done.microseconds = this.#monotonic() - begin;
      batches[index]?.push(batch);
      if (batch.rowCount === 0) return;
      const size = batchBytes(batch);
      done.rows += batch.rowCount;
      done.bytes += size;
      done.batches++;
      sum.rows += batch.rowCount;
      sum.bytes += size;
      // The shards are stopped when more has come than the statement may hold.
      if (sum.bytes > memoryLimitBytes) {
        sum.isTooLarge = true;
        throw outOfMemory(memoryLimitBytes);
      }
    };
    const limit = limitOf(fragment, parameters);
    const isOver = (): boolean => sum.rows > atMost;
    /** Rows are given out in the order of shards. */
    const isEnough = (ends: Ends): boolean => {
      if (isOver()) return true;
      let rows = 0;
      for (const [index, end] of ends.entries()) {
        for (const batch of batches[index] ?? []) rows += batch.rowCount;
        if (rows >= limit) return true;
        if (end === undefined) return false;
      }
      return false;
    };
    const ends = await this.#asking.all(questions, (rows, index) => take(rows as FragmentRows, index), {
      ...patience,
      isEnough: limit === Infinity && atMost === Infinity ? null : isEnough,
    });
    if (isOver()) return null;
    const isCut = limit < Infinity && isEnough(ends);
    const failedShards: number[] = [];
    const reads = new Map<string, ReadPredicate>();
    for (const [index, end] of ends.entries()) {
      if (end === undefined && !isCut) {
        failedShards.push(assertDefined(shards[index], `shard ${index}`));
        batches[index] = [];
      }
      for (const batch of batches[index] ?? []) {
        for (const read of batch.reads) reads.set(readKey(read), read);
      }
    }
    return { parameters, batches, reads: [...reads.values()], work, failedShards };
  }

  #textFor(shard: number, number: number, fragment: Fragment): string | null {
    const known = assertDefined(this.#known[shard], `shard ${shard}`);
    if (known.get(number) === true) return null;
    known.add(number, true);
    return fragment.text;
  }
}

/** How many rows are wanted of all shards together; Infinity: all. */
function limitOf({ plan, merge }: Fragment, parameters: readonly SqlValue[]): number {
  if (plan.kind !== "limit" || merge !== null) return Infinity;
  const value = plan.limit === null ? null : countOf(plan.limit, parameters);
  return typeof value === "number" && value >= 0 ? value : Infinity;
}

/** In how many passes the rows of exchanges are to come, so that what a shard keeps of them fits its share. */
function passesFor({ exchangedBytes }: Fragment, count: number, share: number): number {
  return Math.max(1, Math.min(MAX_PASSES, Math.ceil((exchangedBytes ?? 0) / count / share)));
}

function outOfMemory(limit: number): DatabaseError {
  return new DatabaseError(SQLSTATE.outOfMemory, "out of memory", {
    detail: `The rows of the shards need more than the statement's limit of ${
      Math.round(limit / 1048576)
    } MB.`,
    hint: "Narrow the statement by conditions, or select fewer columns.",
  });
}
