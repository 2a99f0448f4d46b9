/**
 * The states of all shards that transactions read at. A *cut* is taken at all shards in one turn, so that it is one
 * state of all of them: messages keep their order. What needs one row only takes it at that row's shard alone.
 *
 * SERIALIZABLE and REPEATABLE READ keep the cut of their first statement, which SERIALIZABLE leaves for a newer one
 * where all that it has read is the same there. Each statement of READ COMMITTED has a cut of its own. What
 * constraints look at without noting it they read at a cut behind the locks that they need.
 */
import { assert, assertDefined } from "../base/assert.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import { movesRows } from "../catalog/placement.ts";
import type { RowId } from "../operations/effect.ts";
import type { Fragment } from "../sql/plan/plan.ts";
import { changedMeanwhile } from "../transactions/conflicts.ts";
import type { ReadPredicate } from "../transactions/read_set.ts";
import type { LookedAt } from "../transactions/remote_tables.ts";
import { RemoteWait, StaleSnapshot } from "../transactions/signals.ts";
import type { Transaction } from "../transactions/transaction.ts";
import type { Asking } from "./asking.ts";
import { Branch, type GivenRow } from "./branch.ts";
import type { CommittedChanges } from "./committed_changes.ts";
import type { ShardPort } from "./shard_port.ts";

/** What it needs of the router. */
export interface CutRouter {
  readonly ports: readonly ShardPort[];
  readonly changes: CommittedChanges;
  readonly asking: Pick<Asking, "within">;
  catalog(): Catalog;
  /** Resolves when all shards know the definitions that the router knows; null: they do. */
  defined(): Promise<void> | null;
  /** What the transaction has read, by shard. */
  readsAt(transaction: Transaction, branch: Branch, shards: readonly number[]): Map<number, ReadPredicate[]>;
  /** Whether a row that was asked for without a transaction is the newest one. */
  isNewest(given: GivenRow): boolean;
}

/** See the file's head. */
export class Cuts {
  readonly #router: CutRouter;
  readonly #changes: CommittedChanges;
  readonly #branches = new WeakMap<Transaction, Branch>();
  readonly #all: readonly number[];
  #numbers = 0;

  constructor(router: CutRouter) {
    this.#router = router;
    this.#changes = router.changes;
    this.#all = router.ports.map((_, shard) => shard);
  }

  /** A name at the shards that nothing has had before. */
  newNumber(): number {
    return ++this.#numbers;
  }

  /** What a transaction reads at shards, if it does. */
  known(transaction: Transaction): Branch | undefined {
    return this.#branches.get(transaction);
  }

  /** What a transaction reads at shards. */
  of(transaction: Transaction): Branch {
    let branch = this.#branches.get(transaction);
    if (branch === undefined) this.#branches.set(transaction, branch = new Branch(this.newNumber()));
    return branch;
  }

  /** The same for constraints where reads are not noted. */
  newestOf(transaction: Transaction): Branch {
    const branch = this.of(transaction);
    if (transaction.level !== "repeatable read") return branch;
    if (branch.newest === null) {
      branch.newest = new Branch(this.newNumber());
      branch.newest.milliseconds = branch.milliseconds;
      branch.newest.isGuessing = branch.isGuessing;
    }
    return branch.newest;
  }

  /** See `RemoteTables`. */
  requireNewest(transaction: Transaction, table: TableDefinition, looked: LookedAt | null): void {
    const branch = this.newestOf(transaction);
    if (branch.begun.size === 0 || looked?.isFree !== true && isBehindLocks(branch, transaction)) return;
    const { cut } = branch;
    const isKept = looked === null
      ? !this.#changes.isWritten(table.id, cut)
      : this.#changes.hasKept(table, looked, cut);
    if (isKept) return;
    throw new RemoteWait((_abort, done) => {
      this.leave(transaction, branch);
      done();
    });
  }

  /** Whether a row that the transaction has locked has changed since its cut. */
  changedSince(transaction: Transaction, branch: Branch, tableId: number, id: RowId): boolean {
    if (this.#changes.hasChanged(tableId, id, branch.cut)) return true;
    if (transaction.level === "serializable" || isBehindLocks(branch, transaction)) return false;
    const table = this.#router.catalog().table(tableId);
    if (table === undefined || this.#changes.hasKept(table, { ids: [id], key: null }, branch.cut)) {
      return false;
    }
    if (transaction.seesAnew) return true;
    // What is forgotten here its shard knows, which looks when the transaction commits.
    transaction.reads.push({ kind: "id", tableId, id });
    return false;
  }

  /** Whether a table has been written to since the transaction's cut. */
  isWrittenSince(transaction: Transaction, tableId: number): boolean {
    const branch = this.#branches.get(transaction);
    return branch !== undefined && branch.begun.size > 0 && this.#changes.isWritten(tableId, branch.cut);
  }

  /** The statement of this number reads at a cut of its own, or its constraints do, if their level says so. */
  beginStatement(transaction: Transaction, statement = transaction.statements): void {
    const branch = this.#branches.get(transaction);
    if (branch === undefined || branch.cutFor === statement) return;
    branch.cutFor = statement;
    if (transaction.seesAnew) this.leave(transaction, branch);
    else if (branch.newest !== null) this.leave(transaction, branch.newest);
  }

  /** What is read from now on is read as of now. */
  take(transaction: Transaction): void {
    const branch = this.of(transaction);
    if (branch.begun.size === 0 && this.#router.defined() === null) {
      this.#begin(transaction, branch, this.#all);
    }
  }

  /** What is read next is read at a new cut. */
  leave(transaction: Transaction, branch: Branch): void {
    for (const stream of branch.streams) stream.close();
    branch.streams.clear();
    branch.forgetAll();
    branch.isLoose = false;
    branch.cut = this.#changes.count;
    transaction.views.clear();
    if (branch.begun.size === 0) return;
    this.end(branch);
    branch.number = this.newNumber();
  }

  /** Leaves the cuts with which what is left to the commit cannot begin, and takes one for all that it reads. */
  async renewForChecks(transaction: Transaction): Promise<void> {
    const branch = this.of(transaction);
    if (transaction.seesAnew) this.leave(transaction, branch);
    if (branch.newest !== null) this.leave(transaction, branch.newest);
    await this.#router.defined();
    await this.reach(transaction, branch, this.#all);
  }

  /** Gives the transaction a snapshot at these shards. */
  async reach(transaction: Transaction, branch: Branch, shards: readonly number[]): Promise<void> {
    if (shards.every((shard) => branch.begun.has(shard))) return;
    // A block is going to read more: its cut is taken at once. So is that of what one shard cannot answer.
    const isAlone = branch.begun.size === 0 && shards.length === 1 &&
      (transaction.isAlone || transaction.seesAnew);
    // It notes nothing that would have to be the same at another cut.
    const isFree = transaction.seesAnew || branch !== this.of(transaction);
    if (isFree && branch.begun.size > 0) this.leave(transaction, branch);
    if (isAlone || branch.begun.size === 0) this.#begin(transaction, branch, isAlone ? shards : this.#all);
    else if (!await this.#renew(transaction, branch)) throw changedMeanwhile();
  }

  #begin(transaction: Transaction, branch: Branch, shards: readonly number[]): void {
    if (branch.isLoose) branch.gathered.forget();
    branch.isLoose = false;
    const { given } = branch;
    // What the row's statement is wanting is asked for in the turn in which it got the row.
    assert(given === null || this.#router.isNewest(given), "a row of the newest state");
    branch.given = null;
    branch.cut = this.#changes.count;
    branch.grants = transaction.grants;
    for (const shard of shards) {
      if (branch.begun.has(shard)) continue;
      branch.begun.add(shard);
      const { timestamp } = transaction;
      this.#port(shard).tell({ kind: "begin", branch: branch.number, timestamp });
    }
  }

  /** Moves a transaction to a new cut; false: it has to keep the one that it has. */
  async advance(transaction: Transaction): Promise<boolean> {
    const branch = this.#branches.get(transaction);
    if (branch !== undefined && transaction.seesAnew) this.leave(transaction, branch);
    if (branch === undefined || branch.begun.size === 0) return true;
    const notesNothing = transaction.neverWrites || transaction.level !== "serializable";
    if (notesNothing && transaction.statements > 1) return false;
    await this.#router.defined();
    return await this.#renew(transaction, branch);
  }

  /** Moves the transaction to a new cut of all shards, if what it has read is the same there. */
  async #renew(transaction: Transaction, branch: Branch): Promise<boolean> {
    // A portal goes on reading at the cut that it has.
    if (branch.streams.size > 0) return false;
    branch.forgetAll();
    const reads = this.#router.readsAt(transaction, branch, [...branch.begun]);
    const moved = Array.from(reads, ([shard, list]) => {
      const request = { kind: "advance", branch: branch.number, reads: list } as const;
      return { shard, done: this.#port(shard).call(request).done };
    });
    this.#begin(transaction, branch, this.#all);
    const answers = await this.#router.asking.within(moved, branch.milliseconds);
    return answers.every((answer) => {
      if (answer.status === "rejected") throw answer.reason;
      return answer.value === true;
    });
  }

  /**
   * Columns that were filled after its cut would be empty, and rows that have moved since would be looked for where
   * they were not: the statement has to run at a newer one.
   */
  requireFilled(branch: Branch, tableId: number): void {
    if (
      branch.begun.size > 0 && this.#changes.isFilled(tableId, branch.cut) || this.isMoved(branch, tableId)
    ) {
      throw new StaleSnapshot(tableId, null);
    }
  }

  /** Whether the rows of a table have moved to other shards since the cut. */
  isMoved(branch: Branch, tableId: number): boolean {
    return branch.begun.size > 0 && this.#changes.isMoved(tableId, branch.cut);
  }

  /** Whether a fragment's plan goes by where rows are. */
  isPlannedFor(branch: Branch, { tables }: Fragment): boolean {
    return tables.every((table) => {
      const now = this.#router.catalog().table(table.id);
      return !this.isMoved(branch, table.id) &&
        (now === table || now !== undefined && !movesRows(table, now));
    });
  }

  /** A transaction has ended. */
  ended(transaction: Transaction): void {
    const branch = this.#branches.get(transaction);
    if (branch === undefined) return;
    this.#branches.delete(transaction);
    for (const stream of branch.streams) stream.close();
    for (const each of branch.all) this.end(each);
  }

  /** It reads at no shard any more. */
  end(branch: Branch): void {
    for (const shard of branch.begun) this.#port(shard).tellLater({ kind: "end", branch: branch.number });
    branch.begun.clear();
  }

  #port(shard: number): ShardPort {
    return assertDefined(this.#router.ports[shard], `shard ${shard}`);
  }
}

/** Whether the transaction has got all of its locks before the cut, which so sees what others did before. */
function isBehindLocks(branch: Branch, transaction: Transaction): boolean {
  return branch.grants === transaction.grants;
}
