/**
 * What statements gather of shards: the rows of fragments, kept until the statement has ended, or read while they come.
 * Rows are kept where the statement runs anew for each thing that it has to fetch, and where shards may be left out.
 */
import { appendAll } from "../base/append_all.ts";
import type { BatchSource, GatherExplanation } from "../execution/runtime/execution.ts";
import type { Fragment } from "../sql/plan/plan.ts";
import type { AloneRows, GatherContext, GatheredStream } from "../statements/statement_host.ts";
import { changedMeanwhile } from "../transactions/conflicts.ts";
import { RemoteWait } from "../transactions/signals.ts";
import type { Transaction } from "../transactions/transaction.ts";
import type { SqlValue } from "../types/value.ts";
import { Branch } from "./branch.ts";
import { type FragmentRequest, type Fragments, ShardFull } from "./fragments.ts";
import { GatherStream } from "./gather_stream.ts";
import { type Gathered, inOrder } from "./gathered_rows.ts";
import { mergedRows } from "./merge_rows.ts";
import type { Routes } from "./routes.ts";

/** For what no transaction is needed for. */
const NO_BRANCH = new Branch(0);

/** What it needs of the router. */
export interface GatheringRouter {
  readonly count: number;
  readonly routes: Routes;
  readonly fragments: Fragments;
  /** How many commits it has seen. */
  commits(): number;
  monotonic(): number;
  branchOf(transaction: Transaction): Branch;
  /** Resolves when all shards know the definitions that the router knows; null: they do. */
  defined(): Promise<void> | null;
  /** Raises a signal when the branch's cut is too old for the table's definition. */
  requireFilled(branch: Branch, tableId: number): void;
  /** Whether a fragment's plan goes by where rows are. */
  isPlannedFor(branch: Branch, fragment: Fragment): boolean;
  /** Whether an error is none for the transaction, whose statement runs anew at a newer cut. */
  mayRunAnew(transaction: Transaction, error: unknown): boolean;
  /** Gives the transaction a snapshot at these shards. */
  reach(transaction: Transaction, branch: Branch, shards: readonly number[]): Promise<void>;
}

/** What is gathered for whom. */
interface Gathering {
  readonly branch: Branch;
  readonly fragment: Fragment;
  readonly context: GatherContext;
}

/** See the file's head. */
export class Gathers {
  readonly #router: GatheringRouter;
  #nextCopy = 0;
  /** Reads by themselves take each copy in turn. */
  readonly #anyCopy = { copyAt: (count: number): number => this.#nextCopy++ % count };

  constructor(router: GatheringRouter) {
    this.#router = router;
  }

  /** Rows that have been kept; a signal when they are still to come. */
  gather(transaction: Transaction, fragment: Fragment, context: GatherContext): BatchSource {
    const branch = this.#branchFor(transaction, fragment);
    const known = branch.gathered.of(fragment, context.parameters, transaction.statements);
    if (known === undefined) {
      throw new RemoteWait((abort, done, failed) => {
        this.#keep(transaction, { branch, fragment, context }, abort).then(done, (error: unknown) => {
          if (this.#runsAnew(transaction, error)) done();
          else failed(error);
        });
      });
    }
    if (transaction.notesReads) appendAll(transaction.reads, known.reads);
    return sourceOf(fragment, known);
  }

  /** Rows that are read while they come; null: they have to be kept. */
  stream(transaction: Transaction, fragment: Fragment, context: GatherContext): GatheredStream | null {
    const branch = this.#branchFor(transaction, fragment);
    const { neverWrites, isAlone, interruptible, readOnly } = transaction;
    // Nobody may come in between.
    if (!interruptible && !readOnly || branch.keepsIn === transaction.statements) return null;
    if (isAlone && neverWrites && context.settings.isOn("partial_on_timeout")) return null;
    if (branch.gathered.of(fragment, context.parameters, transaction.statements) !== undefined) return null;
    const { notesReads } = transaction;
    const stream = new GatherStream(fragment, () => this.#router.monotonic(), (reads) => {
      if (notesReads && reads.length > 0) appendAll(transaction.reads, reads);
    });
    branch.streams.add(stream);
    const feed = async (): Promise<void> => {
      const { shards, isLoose } = await this.#begin(
        transaction,
        { branch, fragment, context },
        stream.abort.signal,
      );
      const request = { fragment, context, branch: isLoose ? null : branch.number, notesReads };
      branch.gathered.working(fragment, stream);
      await this.#router.fragments.feed(stream, shards, request, {
        milliseconds: context.settings.milliseconds("scatter_timeout"),
      });
    };
    const failed = (error: unknown): void => {
      // The statement runs anew.
      stream.fail(this.#runsAnew(transaction, error) ? new RemoteWait((_, done) => done(), error) : error);
    };
    feed().catch(failed).finally(() => branch.streams.delete(stream));
    return stream;
  }

  /** Rows for a statement by itself that reads nothing else, `atMost` of them; null: it has to gather them itself. */
  gatherAlone(
    fragment: Fragment,
    context: GatherContext,
    limits: { readonly abort: AbortSignal; readonly atMost: number },
  ): Promise<AloneRows | null> {
    const defined = this.#router.defined();
    const shard = defined === null ? this.#soleShard(fragment, context) : null;
    if (shard === null) return this.#gatherAlone(defined, fragment, context, limits);
    const milliseconds = context.settings.milliseconds("scatter_timeout");
    return this.#router.fragments.sole(
      shard,
      { fragment, context },
      { abort: limits.abort, milliseconds },
      limits.atMost,
    );
  }

  /** The shard that has all of it, where no others are left out; null: there are several, or it was planned anew. */
  #soleShard(fragment: Fragment, { parameters, settings }: GatherContext): number | null {
    if (fragment.hasExchanges || settings.isOn("partial_on_timeout")) return null;
    if (!this.#router.isPlannedFor(NO_BRANCH, fragment)) return null;
    const { shards: [shard, ...more] } = this.#router.routes.ofFragment(this.#anyCopy, fragment, parameters);
    return shard === undefined || more.length > 0 ? null : shard;
  }

  async #gatherAlone(
    defined: Promise<void> | null,
    fragment: Fragment,
    context: GatherContext,
    { abort, atMost }: { readonly abort: AbortSignal; readonly atMost: number },
  ): Promise<AloneRows | null> {
    if (defined !== null) await defined;
    abort.throwIfAborted();
    if (!this.#router.isPlannedFor(NO_BRANCH, fragment)) return null;
    const { shards } = this.#router.routes.ofFragment(this.#anyCopy, fragment, context.parameters);
    const request = { fragment, context, branch: null, notesReads: false };
    try {
      const gathered = await this.#gathered(shards, request, { abort, mayLeaveOut: true, atMost });
      return gathered === null ? null : { source: sourceOf(fragment, gathered) };
    } catch (error) {
      if (error instanceof ShardFull) return null;
      throw error;
    }
  }

  /** For EXPLAIN. */
  explain(transaction: Transaction, fragment: Fragment, parameters: readonly SqlValue[]): GatherExplanation {
    const branch = this.#router.branchOf(transaction);
    const { shards, route } = this.#router.routes.ofFragment(branch, fragment, parameters);
    return { places: shards, route, count: this.#router.count, work: branch.gathered.lastWork(fragment) };
  }

  /**
   * Whether an error is no reason to fail: another plan needs less memory at shards, and is the plan from now on, or
   * goes by where rows are by now.
   */
  #runsAnew(transaction: Transaction, error: unknown): boolean {
    if (this.#router.mayRunAnew(transaction, error)) return true;
    return error instanceof ShardFull &&
      this.#router.branchOf(transaction).hasLessRoom(transaction.statements);
  }

  #branchFor(transaction: Transaction, fragment: Fragment): Branch {
    const branch = this.#router.branchOf(transaction);
    for (const tableId of fragment.tableIds) this.#router.requireFilled(branch, tableId);
    return branch;
  }

  async #keep(transaction: Transaction, gathering: Gathering, abort: AbortSignal): Promise<void> {
    if (!transaction.isOpen) return;
    const { branch, fragment, context } = gathering;
    // What it reads while rows come would be read again.
    branch.keepsIn = transaction.statements;
    const { shards, isLoose } = await this.#begin(transaction, gathering, abort);
    const gathered = await this.#gathered(
      shards,
      { fragment, context, branch: isLoose ? null : branch.number, notesReads: transaction.notesReads },
      { abort, mayLeaveOut: transaction.isAlone && transaction.neverWrites },
    );
    if (gathered !== null && isLoose === branch.isLoose) branch.gathered.keep(fragment, gathered);
  }

  /** The transaction reads at these shards from now on. */
  async #begin(
    transaction: Transaction,
    { branch, fragment, context }: Gathering,
    abort: AbortSignal,
  ): Promise<{ readonly shards: readonly number[]; readonly isLoose: boolean }> {
    const router = this.#router;
    const defined = router.defined();
    if (defined !== null) await defined;
    abort.throwIfAborted();
    if (!router.isPlannedFor(branch, fragment)) throw changedMeanwhile();
    const find = (): number[] => router.routes.ofFragment(branch, fragment, context.parameters).shards;
    // All shards are asked in one turn, which is a cut; most statements read no more than that.
    const isLoose = (transaction.isAlone || transaction.seesAnew) && fragment.isAlone &&
      !transaction.notesReads && branch.begun.size === 0 && !branch.isLoose;
    if (isLoose) {
      branch.isLoose = true;
      branch.cut = router.commits();
    } else {
      // Where it reads more, its cut is that of all shards from the beginning.
      const all = Array.from({ length: router.count }, (_, shard) => shard);
      await router.reach(transaction, branch, fragment.isAlone ? find() : all);
      if (!router.isPlannedFor(branch, fragment)) throw changedMeanwhile();
    }
    return { shards: find(), isLoose };
  }

  /** Has shards run a fragment, and says so where some are left out. */
  async #gathered(
    shards: readonly number[],
    request: FragmentRequest & { readonly context: GatherContext },
    { abort, mayLeaveOut, atMost }: {
      readonly abort: AbortSignal;
      readonly mayLeaveOut: boolean;
      readonly atMost?: number;
    },
  ): Promise<Gathered | null> {
    const { settings } = request.context;
    const gathered = await this.#router.fragments.run(shards, request, {
      abort,
      milliseconds: settings.milliseconds("scatter_timeout"),
      leavesOut: mayLeaveOut && settings.isOn("partial_on_timeout"),
    }, atMost);
    const failedShards = gathered?.failedShards ?? [];
    if (failedShards.length > 0) {
      const names = `${failedShards.length === 1 ? "shard" : "shards"} ${failedShards.join(", ")}`;
      request.context.notice({
        severity: "WARNING",
        code: "01000",
        message: `the answer lacks the rows of ${names}, which did not answer in time`,
        failedShards,
      });
    }
    return gathered;
  }
}

/** What was kept: merged, or shard by shard. */
function sourceOf(fragment: Fragment, { batches }: Gathered): BatchSource {
  const { merge } = fragment;
  const sources = batches.map((list): BatchSource => {
    const values = list.values();
    return () => values.next().value;
  });
  if (merge !== null && batches.length > 1) return mergedRows(sources, { ...fragment, merge });
  return inOrder(batches.flat());
}
