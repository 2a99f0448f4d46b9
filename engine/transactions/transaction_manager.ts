/**
 * Begins, validates and commits transactions, and knows which snapshots are still needed.
 *
 * Serializability: a transaction that wrote something commits at the end of the log. If its snapshot is older than
 * that, everything it read must be untouched by the entries in between (see `read_set.ts`); writes cannot collide, for
 * they were locked. A read-only transaction is serial at its snapshot.
 *
 * A large transaction commits in steps ({@link TransactionManager.commitInSteps}). Others read and write meanwhile, at
 * snapshots before its entry, but no other transaction commits: who serves them lets commits wait for their turn.
 *
 * History of committed writes is kept only while an interruptible transaction is open that might have to be checked
 * against it.
 */
import { assert } from "../base/assert.ts";
import { LIMITS } from "../base/limits.ts";
import { removeItem } from "../base/remove_item.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { IndexDefinition, TableDefinition } from "../catalog/definitions.ts";
import type { ClientRequest, Effect, OpNumber, RowId, StoredRow, StoredValue } from "../operations/effect.ts";
import type { EntryPart, StateMachine } from "../state_machine/state_machine.ts";
import type { TableStore } from "../storage/table/table_store.ts";
import { NO_ROW } from "../storage/access/block.ts";
import { ColumnFills } from "./column_fills.ts";
import { serializationFailure } from "./conflicts.ts";
import { LockTable } from "./lock_table.ts";
import { Losses } from "./losses.ts";
import { TableWait } from "./signals.ts";
import type { HeldKey, TableWriteSet } from "./write_set.ts";
import { batches } from "./written_rows.ts";
import { requireStillNew } from "./row_locks.ts";
import {
  type CommittedBulk,
  type CommittedWrite,
  type Conflict,
  conflictWith,
  type ReadPredicate,
} from "./read_set.ts";
import type { ReadableTable } from "../storage/access/readable_table.ts";
import type { RemoteTables } from "./remote_tables.ts";
import { type BatchStore, fileOf } from "./stored_batches.ts";
import { type BeginOptions, Transaction } from "./transaction.ts";
import { effectList, effectSource, stagedEffects } from "./transaction_effects.ts";

/** Waits for a table after which a transaction keeps new writers out of it. */
const PATIENT_WAITS = 8;
/** Locks given up between two yields of a commit in steps. */
const LOCKS_AT_ONCE = 1024;

/** What transactions use of the state machine. */
type CommittedState = Pick<
  StateMachine,
  | "lastOp"
  | "catalog"
  | "store"
  | "newestSequenceValue"
  | "reserveRowIds"
  | "unloggedNumbers"
  | "commit"
  | "commitInSteps"
  | "applyPart"
>;

/** What one entry wrote, for validation. */
interface HistoryRecord {
  readonly op: OpNumber;
  readonly writes: readonly CommittedWrite[];
  readonly bulk: readonly CommittedBulk[];
}

/** What a shard has agreed to and not applied. */
export interface PendingPart {
  readonly transaction: Transaction;
  readonly record: Omit<HistoryRecord, "op">;
}

/** Begins, validates and commits transactions, and knows which snapshots are still needed. */
export class TransactionManager {
  readonly locks = new LockTable();
  readonly losses = new Losses();
  readonly now: () => number;
  readonly #stateMachine: CommittedState;
  readonly #active: Transaction[] = [];
  readonly #history: HistoryRecord[] = [];
  readonly #pending: PendingPart[] = [];
  /** Writes in the history. */
  #historyWrites = 0;
  /** The history is complete for entries after this op. */
  #historyFloor = 0;
  readonly #claims = new Map<number, Transaction>();
  readonly #tableWaits = new WeakMap<Transaction, number>();
  readonly fills = new ColumnFills();
  #catalogOwner: Transaction | undefined;
  /** The transaction that commits in steps. */
  #committing: Transaction | undefined;
  /** The newest entry that was committed in steps. */
  #lastInSteps = 0;
  /** States before this op may be gone, or may be older than what other members have sent. */
  #readableFrom: OpNumber;
  /** Numbers were handed out to transactions that were rolled back, and no entry says so yet. */
  #lostNumbers = false;
  /** Transactions whose changes were undone, since the start. */
  rollbacks = 0;
  /** Whether it is noted which columns a statement reads: what is read at shards is looked at elsewhere. */
  notesColumns = true;
  /** False only in tests that show what validation is for. */
  validates = true;
  /** Up to which op answers may be given; the newest where that is not known. */
  tellableOp: () => OpNumber = () => this.lastOp;
  /** Whether an effect may have a list of rows: all who read the log know it. */
  writesLists: () => boolean = () => true;
  /** Where batches of large transactions go; null: they stay in memory. */
  batchStore: BatchStore | null = null;
  /** The tables whose rows are elsewhere; null: all are here. */
  remote: RemoteTables<Transaction> | null = null;

  /** `now` gives a transaction its timestamp: microseconds since 2000-01-01 UTC. */
  constructor(stateMachine: CommittedState, now: () => number) {
    this.#stateMachine = stateMachine;
    this.now = now;
    this.#readableFrom = stateMachine.lastOp;
  }

  get lastOp(): OpNumber {
    return this.#stateMachine.lastOp;
  }

  get catalog(): Catalog {
    return this.#stateMachine.catalog;
  }

  /** Open transactions that others may run in between of. */
  get activeCount(): number {
    return this.#active.length;
  }

  store(tableId: number): TableStore {
    return this.#stateMachine.store(tableId);
  }

  /** The committed rows of a table at a transaction's snapshot, in the newest state, or at an op if they are here. */
  committed(
    transaction: Transaction,
    tableId: number,
    snapshot: OpNumber | "newest" = transaction.snapshot,
  ): ReadableTable {
    const isNewest = snapshot === "newest";
    // The statement was planned before another transaction dropped the table.
    if (!this.#isCommitted(tableId)) {
      throw serializationFailure(this.catalog, { tableId, id: null, op: null });
    }
    if (this.remote?.has(tableId) !== true) return this.store(tableId).at(isNewest ? this.lastOp : snapshot);
    return isNewest ? this.remote.newestTable(transaction, tableId) : this.remote.table(transaction, tableId);
  }

  /** What a sequence has handed out last, to whichever transaction. */
  newestSequenceValue(
    sequenceId: number,
  ): { readonly value: number | bigint; readonly called: boolean } | undefined {
    return this.#stateMachine.newestSequenceValue(sequenceId);
  }

  /** The first of `count` consecutive new ids from the table's counter. */
  reserveRowIds(tableId: number, count: number): RowId {
    return this.#stateMachine.reserveRowIds(tableId, count);
  }

  /**
   * The oldest snapshot that may still be read; versions no newer reader can see are reclaimed. As long as transactions
   * are open, what may be sent already stays readable for those that come: see {@link tellableSnapshot}.
   */
  oldestSnapshot(): OpNumber {
    let oldest = this.lastOp;
    if (this.#active.length > 0) {
      oldest = this.tellableSnapshot(0);
      for (const { oldestSnapshot } of this.#active) if (oldestSnapshot < oldest) oldest = oldestSnapshot;
    }
    this.forgetBefore(oldest);
    return oldest;
  }

  /** Whether any snapshot is held. false: what no newer one needs may be reclaimed. */
  hasReaders(): boolean {
    if (this.#active.length > 0) return true;
    this.forgetBefore(this.lastOp);
    return false;
  }

  /** Nobody who comes from now on reads a state before the op. */
  forgetBefore(op: OpNumber): void {
    if (op > this.#readableFrom) this.#readableFrom = op;
  }

  /**
   * The newest state that may be sent without a wait, but none before `floor`; null: the newest. It may have to be a
   * newer one: older versions are kept only while transactions are open.
   */
  tellableSnapshot(floor: number | null): OpNumber {
    const { lastOp } = this;
    if (floor === null || this.remote !== null) return lastOp;
    return Math.min(lastOp, Math.max(this.tellableOp(), floor, this.#readableFrom)) as OpNumber;
  }

  /** A new transaction at the newest snapshot. An interruptible one is registered at once. */
  begin(options: BeginOptions): Transaction {
    const transaction = new Transaction(this, options);
    if (options.interruptible) this.register(transaction);
    return transaction;
  }

  /** Keeps the transaction's snapshot readable from now on. */
  register(transaction: Transaction): void {
    if (!this.#active.includes(transaction)) this.#active.push(transaction);
  }

  /** Whether a row of this id exists in the newest committed state. */
  existsNow(tableId: number, id: RowId, transaction: Transaction): boolean {
    if (!this.#isCommitted(tableId)) return false;
    const { remote } = this;
    if (remote?.has(tableId) !== true) return this.store(tableId).find(id, this.lastOp) !== NO_ROW;
    const isValidated = transaction.level === "serializable";
    // Whether another transaction creates it meanwhile is looked up by the commit.
    if (isValidated) transaction.reads.push({ kind: "id", tableId, id });
    if (remote.isAboveAll(tableId, id)) return false;
    const state = isValidated ? transaction.snapshot : "newest";
    const isThere = this.committed(transaction, tableId, state).find(id) !== NO_ROW;
    const table = this.catalog.table(tableId);
    if (!isValidated && table !== undefined) {
      remote.requireNewest(transaction, table, { ids: [id], key: null });
    }
    return isThere;
  }

  /** Whether a row exists in a committed state; of one that is elsewhere, whether it has been fetched. */
  isThere(
    tableId: number,
    id: RowId,
    transaction: { readonly snapshot: OpNumber },
    snapshot: OpNumber = this.lastOp,
  ): boolean {
    if (this.remote?.has(tableId) === true) {
      return this.remote.hasFetched(transaction as Transaction, tableId, id);
    }
    return this.#isCommitted(tableId) && this.store(tableId).find(id, snapshot) !== NO_ROW;
  }

  /** Whether a row that was visible at the snapshot has been changed or deleted since. */
  changedSince(tableId: number, id: RowId, snapshot: OpNumber, transaction?: Transaction): boolean {
    const lastOp = this.lastOp;
    if (this.remote?.has(tableId) === true) {
      return transaction !== undefined && this.remote.changedSince(transaction, tableId, id);
    }
    if (snapshot === lastOp || !this.#isCommitted(tableId)) return false;
    const store = this.store(tableId);
    const location = store.find(id, lastOp);
    if (location === NO_ROW) return store.find(id, snapshot) !== NO_ROW;
    return store.versionOp(location) > snapshot;
  }

  /**
   * Whether another committed row than `id`, not replaced by the write set, holds the key of a unique index.
   * `isNoted`: what is read is part of something that has been noted.
   */
  keyHolderNow(
    table: TableDefinition,
    index: IndexDefinition,
    key: readonly StoredValue[],
    transaction: Transaction,
    writeSet: TableWriteSet,
    id: RowId,
    isNoted = false,
  ): RowId | null {
    const committed = this.catalog.table(table.id);
    if (committed === undefined) return null;
    const known = committed.indexes.some((each) => each.id === index.id);
    const remote = this.remote?.has(table.id) === true ? this.remote : null;
    const isValidated = remote !== null && transaction.level === "serializable";
    if (isValidated && !isNoted) {
      const columnIds = index.columns.map((part) => part.columnId);
      const bounds = { prefix: key, low: null, high: null, backward: false };
      transaction.reads.push({ kind: "index", tableId: table.id, columnIds, bounds });
    }
    const reader = !known
      ? transaction.table(table.id)
      : this.committed(transaction, table.id, isValidated ? transaction.snapshot : "newest");
    const cursor = reader.lookup(index.id, key);
    let holder: RowId | null = null;
    for (let location = cursor.next(); location !== NO_ROW && holder === null; location = cursor.next()) {
      const found = reader.idAt(location);
      if (found === id) continue;
      const own = writeSet.byId.get(found);
      if (own === undefined ? !writeSet.hides(found) : own.isFilled) holder = found;
    }
    if (remote !== null && !isValidated) {
      remote.requireNewest(transaction, table, { ids: [], key: { index, key } });
    }
    return holder;
  }

  /**
   * Raises a wait for the end of a transaction that takes a key (null: the id) from the committed row which has it:
   * until then nobody knows whether the key is free. Nor is it known where that row may have changed already.
   */
  awaitHolder(table: TableDefinition, id: RowId, key: HeldKey | null, transaction: Transaction): void {
    if (this.remote?.has(table.id) === true && transaction.level !== "serializable") {
      this.remote.requireNewest(transaction, table, { ids: [id], key: null, isFree: true });
    }
    const held = this.locks.heldByOther(table.id, id, transaction);
    if (held === undefined) return;
    const rival = this.#active.find((each) =>
      held.owners.has(each) && each.writtenTo(table.id)?.frees(id, key)
    );
    if (rival !== undefined) throw new TableWait(rival, `row ${id} of relation "${table.name}"`);
  }

  /** The transaction that alters the table, if any. */
  alteringTransaction(tableId: number): Transaction | undefined {
    return this.#claims.get(tableId);
  }

  /**
   * Reserves a table for DDL. Answers the transaction that is in the way, if there is one. One that has waited often
   * keeps new writers out while it waits again: without an end to those there are, it would never have its turn.
   */
  claimTable(tableId: number, transaction: Transaction): Transaction | undefined {
    const owner = this.#claims.get(tableId);
    if (owner !== undefined && owner !== transaction) return owner;
    let rival: Transaction | undefined;
    for (const other of this.#active) {
      if (other !== transaction && other.writtenTo(tableId) !== undefined) rival ??= other;
    }
    const waits = this.#tableWaits.get(transaction) ?? 0;
    if (rival !== undefined) this.#tableWaits.set(transaction, waits + 1);
    if (rival === undefined || waits >= PATIENT_WAITS) this.#claims.set(tableId, transaction);
    return rival;
  }

  /** Open transactions that have written to a table. */
  writersOf(tableId: number): Transaction[] {
    return this.#active.filter((each) => each.writtenTo(tableId) !== undefined);
  }

  /** Reserves the catalog for DDL. Answers the transaction that is in the way, if there is one. */
  catalogOwner(transaction: Transaction): Transaction | undefined {
    if (this.#catalogOwner !== undefined && this.#catalogOwner !== transaction) return this.#catalogOwner;
    this.#catalogOwner = transaction;
    return undefined;
  }

  /**
   * Commits: validates, appends, applies; `given` are the effects where the transaction itself does not hold them all:
   * then the caller ends it, and its locks are held until then. Answers the entry's op, or 0 when there was nothing to
   * write. Raises 40001 on a serialization conflict; the transaction is rolled back then.
   */
  commit(
    transaction: Transaction,
    client: ((op: OpNumber) => ClientRequest) | null = null,
    given: readonly Effect[] | null = null,
  ): OpNumber {
    assert(transaction.isOpen, "a transaction is committed once");
    const hasEffects = transaction.hasEffects || given !== null;
    try {
      if (!hasEffects && client === null) return 0 as OpNumber;
      assert(this.#committing === undefined, "no other transaction commits");
      const { snapshot } = transaction;
      if (transaction.needsNewest) { for (const _ of this.finishRows(transaction)); }
      transaction.deferred.run();
      if (transaction.snapshot < this.lastOp && hasEffects) this.#validate(transaction);
      if (snapshot < this.#lastInSteps) requireStillNew(this, transaction);
      this.#noteLostNumbers(transaction);
      const effects = given ?? effectList(transaction.done, this.writesLists());
      if (effects.length === 0 && client === null) return 0 as OpNumber;
      const record = this.#isNeeded(transaction) ? this.#recordOf(effects, transaction) : null;
      const { catalog } = this;
      const op = this.#stateMachine.commit({
        timestamp: transaction.timestamp,
        client: client === null ? null : client((this.lastOp + 1) as OpNumber),
        effects,
      });
      transaction.isCommitted = true;
      if (record !== null) this.#remember({ op, ...record });
      if (catalog !== this.catalog) this.catalogChanged(transaction, catalog);
      return op;
    } finally {
      if (given === null) this.end(transaction);
    }
  }

  /**
   * An entry has changed the catalog from what it was before: that of this transaction, or null if another node has
   * made it.
   */
  catalogChanged(by: Transaction | null, before: Catalog): void {
    // Statements are compiled for the newest one.
    this.forgetBefore(this.lastOp);
    this.fills.note(this, before, () => this.oldestSnapshot());
    for (const other of this.#active) if (other !== by) other.catalogChanged();
  }

  /**
   * A statement of the transaction begins: READ COMMITTED reads the newest state with each, blocks of the other levels
   * with their first. One that only reads has a `floor`, and reads the newest one that may be sent, but none before
   * that op.
   */
  beginStatement(transaction: Transaction, floor: number | null = null): void {
    transaction.statements++;
    this.remote?.beginStatement(transaction);
    this.requireWinnable(transaction);
    const { level, snapshot } = transaction;
    if (snapshot === this.lastOp || level !== "read committed" && !this.#mayMove(transaction)) return;
    transaction.moveSnapshot(this.tellableSnapshot(floor === null ? null : Math.max(floor, snapshot)));
  }

  /** Whether a block has read and written nothing, as far as that is noted. */
  #mayMove({ isAlone, statements, reads, hasEffects }: Transaction): boolean {
    return statements === 1 && !isAlone && reads.length === 0 && !hasEffects && this.remote === null;
  }

  /**
   * Before a query is opened that cannot begin anew: brings the transaction's rows up to date, and its snapshot where
   * one of the tables was filled after it. Answers the catalog that it is compiled for.
   */
  renew(transaction: Transaction, tableIds: readonly number[], floor: number | null): Catalog {
    this.beginStatement(transaction, floor);
    if (transaction.isBehind) { for (const _ of transaction.catchUp()); }
    const stale = transaction.snapshot < this.fills.lastOp
      ? tableIds.find((each) => this.fills.isFilledSince(each, transaction.snapshot, null))
      : undefined;
    if (stale !== undefined && !this.advanceSnapshot(transaction)) {
      throw serializationFailure(this.catalog, { tableId: stale, id: null, op: null });
    }
    return this.catalog;
  }

  /**
   * Raises 40001 when a SERIALIZABLE transaction that has written cannot commit any more: it learns that with the first
   * statement behind what it lost by, or with its own first write.
   */
  requireWinnable(transaction: Transaction): void {
    if (!transaction.notesReads || transaction.snapshot === this.lastOp || this.remote !== null) return;
    if (transaction.hasEffects) this.#validate(transaction);
  }

  /** Brings a transaction to the newest state, and its rows up to date with it. Nobody else commits meanwhile. */
  *finishRows(transaction: Transaction): Generator<void, void> {
    if (transaction.snapshot < this.lastOp) {
      this.#validate(transaction);
      transaction.moveSnapshot(this.lastOp);
    }
    yield* transaction.finishRows();
  }

  /** Whether a transaction is committing in steps. */
  get isCommitting(): boolean {
    return this.#committing !== undefined;
  }

  /**
   * Commits a large transaction in steps. Until the last one its entry is invisible, its locks are held, and no other
   * transaction may commit. It cannot be ended from outside meanwhile. `stagedBytes`: of its rows, where they are in
   * the stage, and as they are to be.
   */
  commitInSteps(
    transaction: Transaction,
    client: ((op: OpNumber) => ClientRequest) | null,
    stagedBytes: number | null = null,
  ): Generator<void, OpNumber> {
    assert(transaction.isOpen, "a transaction is committed once");
    assert(this.#committing === undefined, "one transaction commits at a time");
    // Nobody came in between so far, so what it has written can be locked, and what it has read need not be looked at.
    transaction.becomeInterruptible();
    this.#committing = transaction;
    return this.#commitSteps(transaction, client, stagedBytes);
  }

  *#commitSteps(
    transaction: Transaction,
    client: ((op: OpNumber) => ClientRequest) | null,
    stagedBytes: number | null,
  ): Generator<void, OpNumber> {
    try {
      yield;
      const { snapshot } = transaction;
      const { catalog } = this;
      if (transaction.needsNewest && stagedBytes === null) yield* this.finishRows(transaction);
      transaction.deferred.run();
      if (transaction.snapshot < this.lastOp) this.#validate(transaction);
      if (snapshot < this.#lastInSteps) requireStillNew(this, transaction);
      const rewritten = transaction.rewrittenTables;
      this.#noteLostNumbers(transaction);
      const effects = stagedBytes === null
        ? effectSource(transaction.done, transaction.weight.bytes, this.writesLists())
        : stagedEffects(transaction.done, stagedBytes);
      if (effects.count === 0 && client === null) return 0 as OpNumber;
      const op = yield* this.#stateMachine.commitInSteps({
        timestamp: transaction.timestamp,
        client: client === null ? null : client((this.lastOp + 1) as OpNumber),
        effects,
      });
      transaction.isCommitted = true;
      this.#lastInSteps = op;
      // Others may have begun meanwhile.
      const bulk = [...batches(transaction)].map(({ table: { id: tableId }, batch }): CommittedBulk =>
        // What is in a file goes with the transaction.
        fileOf(batch) === undefined ? { tableId, batch } : { tableId, batch: null, byVersion: true }
      );
      for (const { definition, writesRows } of transaction.writeSets) {
        if (writesRows) bulk.push({ tableId: definition.id, batch: null, byVersion: true });
      }
      for (const tableId of rewritten) bulk.push({ tableId, batch: null });
      this.#remember({ op, writes: [], bulk });
      if (transaction.hasDdl) this.catalogChanged(transaction, catalog);
      while (!this.locks.releaseSome(transaction, LOCKS_AT_ONCE)) yield;
      return op;
    } finally {
      this.#committing = undefined;
      this.end(transaction);
    }
  }

  /** Ends a transaction; what it has not committed is gone. One that is committing in steps ends with its commit. */
  end(transaction: Transaction): void {
    if (!transaction.isOpen || transaction === this.#committing) return;
    if (!transaction.isCommitted && transaction.hasEffects) this.rollbacks++;
    if (!transaction.isCommitted) this.#lostNumbers ||= transaction.tookNumbers;
    transaction.isOpen = false;
    removeItem(this.#active, transaction);
    this.locks.releaseAll(transaction);
    this.losses.ended(transaction);
    if (this.#catalogOwner === transaction) this.#catalogOwner = undefined;
    for (const [tableId, owner] of this.#claims) if (owner === transaction) this.#claims.delete(tableId);
    for (const listener of transaction.ended) listener();
    this.remote?.ended(transaction);
    this.#pruneHistory();
  }

  /** The next entry says which numbers have been handed out in vain, so that nobody gets them again after a restart. */
  #noteLostNumbers(transaction: Transaction): void {
    if (!this.#lostNumbers && !transaction.lostNumbers) return;
    for (const { sequenceId, value, called } of this.#stateMachine.unloggedNumbers()) {
      transaction.noteSequence(sequenceId, value, called);
    }
    this.#lostNumbers = false;
  }

  /** Logs such numbers when no further transaction will: before the engine is closed. */
  logLostNumbers(): void {
    if (!this.#lostNumbers) return;
    const effects = this.#stateMachine.unloggedNumbers();
    this.#lostNumbers = false;
    if (effects.length > 0) this.#stateMachine.commit({ timestamp: this.now(), client: null, effects });
  }

  /** Moves a transaction's snapshot to the newest state if nothing that it has read has changed since. */
  advanceSnapshot(transaction: Transaction): boolean {
    // Where nothing is noted, what earlier statements have read must stay as it was.
    const { level, neverWrites } = transaction;
    const isFixed = neverWrites ? level !== "read committed" : level === "repeatable read";
    if (isFixed && transaction.statements > 1) return transaction.snapshot === this.lastOp;
    if (this.#conflict(transaction) !== null) return false;
    transaction.moveSnapshot(this.lastOp);
    return true;
  }

  /** The newest entry that has written to a table. */
  lastModifiedOp(tableId: number): number {
    return this.remote?.has(tableId) === true
      ? this.remote.lastModifiedOp(tableId)
      : this.store(tableId).lastModifiedOp;
  }

  /**
   * The newest op among what was read since a mark (only what is not durable matters); 0 when all of it is durable.
   * Single rows are looked at one by one, everything else counts as the newest write to its table.
   */
  newestRead(transaction: Transaction, since: number, durable: number): number {
    let newest = 0;
    for (let index = since; index < transaction.reads.length; index++) {
      const read = transaction.reads[index] as ReadPredicate;
      if (this.catalog.table(read.tableId) === undefined) continue;
      const store = this.store(read.tableId);
      let op = this.lastModifiedOp(read.tableId);
      if (op <= durable) continue;
      if (read.kind === "id") {
        if (transaction.writtenTo(read.tableId)?.byId.get(read.id) !== undefined) continue;
        const location = store.find(read.id, transaction.snapshot);
        if (location >= 0) op = store.versionOp(location);
      }
      if (op > durable && op > newest) newest = op;
    }
    return newest;
  }

  /**
   * As a shard: raises 40001 when something that the transaction has read has changed since its snapshot, or is changed
   * by what is pending.
   */
  validate(transaction: Transaction): void {
    this.#validate(transaction);
    if (!this.validates) return;
    for (const { record } of this.#pending) {
      const conflict = this.#conflictWith(record, transaction);
      if (conflict !== null) throw serializationFailure(this.catalog, { ...conflict, op: null });
    }
  }

  /** As a shard: keeps what is going to be applied, so that others are validated against it. */
  keep(transaction: Transaction, effects: readonly Effect[]): PendingPart {
    const part = { transaction, record: this.#recordOf(effects, transaction) };
    this.#pending.push(part);
    return part;
  }

  /** It is not going to be applied. */
  giveUp(part: PendingPart): void {
    removeItem(this.#pending, part);
    this.end(part.transaction);
  }

  /** As a shard: applies what an entry has for it; `pending`: what was kept of that, where it has been asked. */
  applyPart(op: OpNumber, timestamp: number, part: EntryPart | null, pending: PendingPart | null): void {
    const { catalog } = this;
    const isNew = pending === null && part !== null && this.#isNeeded(null);
    const record = pending?.record ?? (isNew ? this.#recordOf(part.effects, null) : null);
    this.#stateMachine.applyPart(op, timestamp, part);
    if (record !== null) this.#remember({ op, ...record });
    if (pending !== null) {
      removeItem(this.#pending, pending);
      pending.transaction.isCommitted = true;
    }
    if (catalog !== this.catalog) this.catalogChanged(pending?.transaction ?? null, catalog);
    if (pending !== null) this.end(pending.transaction);
  }

  #validate(transaction: Transaction): void {
    if (!this.validates) return;
    const conflict = this.#conflict(transaction);
    if (conflict !== null) throw serializationFailure(this.catalog, conflict);
  }

  #conflict(transaction: Transaction): { tableId: number; id: RowId | null; op: OpNumber } | null {
    const read = transaction.reads[0];
    if (transaction.snapshot === this.lastOp || read === undefined) return null;
    if (transaction.snapshot < this.#historyFloor) {
      return { tableId: read.tableId, id: null, op: this.#historyFloor as OpNumber };
    }
    // Each entry is compared once with each read, however often the transaction is looked at.
    const { op: comparedTo, reads } = transaction.compared;
    for (const record of this.#history) {
      if (record.op <= transaction.snapshot) continue;
      const conflict = this.#conflictWith(record, transaction, record.op <= comparedTo ? reads : 0);
      if (conflict === null) continue;
      const table = this.catalog.table(conflict.tableId);
      return { ...this.losses.noted(transaction, conflict, table), op: record.op };
    }
    transaction.compared = { op: this.lastOp, reads: transaction.reads.length };
    return null;
  }

  #conflictWith(
    record: Omit<HistoryRecord, "op">,
    { reads, snapshot }: Transaction,
    from = 0,
  ): Conflict | null {
    const changed = (tableId: number, id: RowId): boolean => this.changedSince(tableId, id, snapshot);
    for (let index = from; index < reads.length; index++) {
      const conflict = conflictWith(record, reads[index] as ReadPredicate, changed);
      if (conflict !== null) return conflict;
    }
    return null;
  }

  #isNeeded(committing: Transaction | null): boolean {
    for (const other of this.#active) if (other !== committing && other.notesReads) return true;
    return false;
  }

  /** What later validations must know of effects; `committing` null: of no transaction here. Rows before are read. */
  #recordOf(effects: readonly Effect[], committing: Transaction | null): Omit<HistoryRecord, "op"> {
    const catalog = committing?.catalog ?? this.catalog;
    const writes: CommittedWrite[] = [];
    const bulk: CommittedBulk[] = [];
    for (const effect of effects) {
      switch (effect.kind) {
        case "create":
        case "update":
        case "delete": {
          const table = catalog.table(effect.tableId);
          if (
            table === undefined ||
            committing?.writtenTo(effect.tableId)?.byId.get(effect.id)?.isFilled === true
          ) {
            break;
          }
          writes.push({
            tableId: effect.tableId,
            columnIds: table.columns.map((column) => column.id),
            id: effect.id,
            before: effect.kind === "create" ? null : this.rowNow(table, effect.id),
            after: effect.kind === "delete" ? null : effect.values,
          });
          break;
        }
        case "create_batch": {
          const { tableId, batch } = effect;
          const columnIds = catalog.table(tableId)?.columns.map(({ id }) => id);
          const isWhole = columnIds?.length === batch.columns.length;
          bulk.push({ tableId, batch, ...(isWhole ? { columnIds } : {}) });
          break;
        }
        case "truncate":
          bulk.push({ tableId: effect.tableId, batch: null });
          break;
        case "update_batch":
        case "delete_batch":
          bulk.push({ tableId: effect.tableId, batch: null, byVersion: true });
          break;
        case "ddl": {
          // Those of the transaction's own changes are looked at below.
          const { change } = effect;
          if (committing?.hasDdl === true) break;
          if (change.kind === "put_table") bulk.push({ tableId: change.table.id, batch: null });
          if (change.kind === "drop_table") bulk.push({ tableId: change.tableId, batch: null });
          break;
        }
        case "sequence":
        case "checkpoint":
        case "slices":
        case "stage":
        case "staged":
        case "unstage":
          break;
      }
    }
    for (const tableId of committing?.rewrittenTables ?? []) bulk.push({ tableId, batch: null });
    return { writes, bulk };
  }

  /** A row in the newest committed state, in the columns of the definition; null: there is none. */
  rowNow(table: TableDefinition, id: RowId): StoredRow | null {
    if (!this.#isCommitted(table.id)) return null;
    const store = this.store(table.id);
    const location = store.find(id, this.lastOp);
    if (location === NO_ROW) return null;
    const known = new Set(this.catalog.table(table.id)?.columns.map((column) => column.id));
    return table.columns.map((column) =>
      known.has(column.id) ? store.valueAt(location, column.id) : column.missingValue
    );
  }

  #isCommitted(tableId: number): boolean {
    return this.catalog.table(tableId) !== undefined;
  }

  /** Adds to the history, which is bounded: a transaction that is open for too many writes of others fails. */
  #remember(record: HistoryRecord): void {
    this.#history.push(record);
    this.#historyWrites += record.writes.length + record.bulk.length;
    while (this.#historyWrites > LIMITS.validationHistoryWrites) {
      const oldest = this.#history.shift();
      if (oldest === undefined) break;
      this.#historyWrites -= oldest.writes.length + oldest.bulk.length;
      this.#historyFloor = oldest.op;
    }
  }

  #pruneHistory(): void {
    if (this.#history.length === 0) return;
    let oldest = Infinity;
    for (const transaction of this.#active) {
      if (transaction.notesReads && transaction.snapshot < oldest) oldest = transaction.snapshot;
    }
    let keepFrom = 0;
    while (keepFrom < this.#history.length && (this.#history[keepFrom]?.op ?? 0) <= oldest) keepFrom++;
    for (const record of this.#history.splice(0, keepFrom)) {
      this.#historyWrites -= record.writes.length + record.bulk.length;
    }
  }
}
