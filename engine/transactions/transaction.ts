/**
 * One transaction: a snapshot, what it has read, and what it wants to write.
 *
 * An autocommit statement that runs to its end without yielding can meet no other transaction, so it neither takes
 * locks nor notes its reads: it only respects the locks of others. As soon as a transaction may be interleaved (a
 * block, or a statement that yields) it is *interruptible*, and does both.
 *
 * Invariants: writes are private until commit. A row is locked before it is written; after that no other transaction
 * changes it, and its newest committed version is not newer than the snapshot.
 */
import { assert, assertDefined } from "../base/assert.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogChange } from "../catalog/catalog_change.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import type { Effect, OpNumber, RowBatch, RowId, StoredRow } from "../operations/effect.ts";
import type { ReadableTable } from "../storage/access/readable_table.ts";
import { mayGoOn, newParents, onlyAddsColumns } from "./added_columns.ts";
import type { AwaitedLock } from "./awaited_lock.ts";
import { checkBatch, requireBatchOutside } from "./batch_check.ts";
import { BulkWrites } from "./bulk_writes.ts";
import { takesNewRows, writeNewRows } from "./new_rows.ts";
import { type CatchingUp, catchUp, checkRows, type RowMaker } from "./catch_up.ts";
import { isTemporarySchema } from "../catalog/temporary_schema.ts";
import type { CommitMessage } from "./commit_message.ts";
import { claimCatalog, claimTable } from "./claims.ts";
import { DeferredChecks } from "./deferred_checks.ts";
import { type JournalEntry, type Mark, takeBackTo } from "./journal.ts";
import type { IsolationLevel } from "./isolation_level.ts";
import { type Lock, LOCK_MODES, type LockKey, type LockMode, type LockOwner } from "./lock_table.ts";
import type { WaitingClient } from "./wait_cycles.ts";
import { readOnlyTransaction } from "./conflicts.ts";
import { changedTable, PrivateCatalog } from "./private_catalog.ts";
import type { NontransactionalEffects } from "./nontransactional_effects.ts";
import { type Done, lastSequences } from "./transaction_effects.ts";
import { TransactionSize } from "./transaction_size.ts";
import { type Reading, TransactionViews } from "./transaction_views.ts";
import { type HeldKey, TableWriteSet, type WriteSetRow } from "./write_set.ts";
import { requireStorableBatch, requireStorableRow } from "./storable_rows.ts";
import type { ReadPredicate } from "./read_set.ts";
import { duplicateId } from "./duplicates.ts";
import { LoadLocks } from "./load_locks.ts";
import {
  isLocked,
  lockWritten,
  modeOfWrite,
  requireFree,
  requireNewKeys,
  requireOutside,
  takeId,
  takeLock,
} from "./row_locks.ts";
import { StaleSnapshot, TableWait } from "./signals.ts";
import { fileOf, keptBatch } from "./stored_batches.ts";
import { referencedPositions } from "./referenced_columns.ts";
import type { RowIdSet } from "./row_id_set.ts";
import { HandedOutNumbers } from "./handed_out_numbers.ts";
import type { TransactionManager } from "./transaction_manager.ts";
import type { TransactionOptions } from "./transaction_options.ts";

const NO_VALUES: StoredRow = [];

/** How a transaction begins. */
export type BeginOptions = TransactionOptions<Transaction, RowMaker>;

/** One transaction: a snapshot, what it has read, and what it wants to write. */
export class Transaction {
  /** Entries up to this op are visible. */
  snapshot: OpNumber;
  /** Microseconds since 2000-01-01 UTC. */
  get timestamp(): number {
    if (this.#timestamp !== this.#timestamp) this.#timestamp = this.#manager.now();
    return this.#timestamp;
  }

  /** The locks it holds: space and key of each, in the order in which they were taken. */
  readonly locks: LockKey[] = [];
  grants = 0;
  /** What it waits for, for deadlock detection. */
  waitsFor: Lock | LockOwner | null = null;
  awaited: AwaitedLock | null = null;
  readonly client: WaitingClient | undefined;
  /** Called when the transaction has ended, for those who wait for it as a whole. */
  readonly ended: (() => void)[] = [];
  readonly reads: ReadPredicate[] = [];
  /** Its first `reads` reads have been compared with the entries up to `op`. */
  compared = { op: 0, reads: 0 };
  /** Messages that go out after the commit. */
  readonly messages: CommitMessage[] = [];
  /** What the running statement has done that must not be done twice; made when it is needed first. */
  outside: NontransactionalEffects | null = null;
  /** What the running statement has got of sequences and counters, where rows may be elsewhere. */
  numbers: HandedOutNumbers | null = null;
  /** Writes are refused, except to temporary tables. */
  readOnly = false;
  /** Read-only from its beginning to its end: what it reads is never compared with what others have written. */
  neverWrites = false;
  interruptible: boolean;
  /** What it is kept apart from; see {@link isolate}. */
  level: IsolationLevel = "serializable";
  /** Checks of constraints that were left to the commit run now, where nobody can be kept from writing. */
  notesChecks = false;
  /** It is one statement and no more. */
  isAlone = false;
  isOpen = true;
  /** It has got numbers of sequences or new row ids; some of them are in none of its effects. */
  tookNumbers = false;
  lostNumbers = false;
  /** Its effects are in the log. */
  isCommitted = false;
  /** The committed catalog when the running statement was compiled; null: it has not yielded. */
  compiledCatalog: Catalog | null = null;
  /** Statements that were begun. */
  statements = 0;
  /** Its rows lack something that others have added to their tables; see `catch_up.ts`. */
  isBehind = false;
  readonly #makerFor: BeginOptions["makerFor"];
  readonly #manager: TransactionManager;
  /** NaN until it is needed, which in most reads it never is. */
  #timestamp: number;
  readonly #writeSets = new Map<number, TableWriteSet>();
  /** The tables as it sees them. */
  readonly views: TransactionViews<Transaction>;
  /** Tables and rows that foreign keys refer to and that are to be locked as soon as others may run in between. */
  #referenced: [tableId: number, id: RowId][] | null = null;
  readonly #journal: JournalEntry[] = [];
  readonly #sequences: Extract<Effect, { kind: "sequence" }>[] = [];
  readonly #catalog: PrivateCatalog;
  readonly #size = new TransactionSize();
  readonly #loads: LoadLocks;
  readonly #bulk = new BulkWrites({
    mayKeep: (kind, { definition }) =>
      this.#manager.remote === null &&
      (kind === "deleted" ||
        this.#manager.writesLists() && referencedPositions(this.catalog, definition).length === 0),
    setBegan: (kind, writeSet, set) => {
      writeSet[kind].push(set);
      this.#note({ kind: "bulkSet", writeSet, of: kind });
      if (this.interruptible) this.#manager.locks.lockSet(writeSet.definition.id, set, this);
    },
    batchCame: (writeSet, batch) => writeSet.replacing.add(this.#addBatch(writeSet, batch)),
    mayCreate: (writeSet, id) =>
      this.#manager.remote === null && takesNewRows(this, writeSet, { id, lastOp: this.#manager.lastOp }),
    rowsCame: ({ definition }, batch) => writeNewRows(this, definition.id, batch),
  });

  constructor(manager: TransactionManager, options: BeginOptions) {
    this.#manager = manager;
    this.#loads = new LoadLocks(manager.locks, this);
    this.level = options.level ?? "serializable";
    this.snapshot = manager.tellableSnapshot(options.floor ?? null);
    this.#timestamp = options.timestamp ?? NaN;
    this.interruptible = options.interruptible;
    this.#makerFor = options.makerFor;
    this.client = options.client;
    this.views = new TransactionViews(manager, this);
    this.#catalog = new PrivateCatalog(manager);
    if (manager.remote !== null) this.numbers = new HandedOutNumbers();
  }

  /** The catalog with this transaction's own DDL. */
  get catalog(): Catalog {
    return this.#catalog.now;
  }

  /** true: commit will append an entry. */
  get hasEffects(): boolean {
    if (this.hasDdl || this.#sequences.length > 0) return true;
    for (const writeSet of this.#writeSets.values()) if (!writeSet.isEmpty) return true;
    return false;
  }

  /** Chooses a level, before its first statement. */
  isolate(level: IsolationLevel, floor: number): void {
    this.level = level;
    // What was committed since it began may be in no history: at another level nobody had to be validated.
    this.snapshot = this.#manager.tellableSnapshot(level === "read committed" ? floor : null);
    this.views.clear();
  }

  /** What it reads is compared with what others write, when it commits or goes on at a newer snapshot. */
  get notesReads(): boolean {
    return this.interruptible && !this.neverWrites && (this.level === "serializable" || this.notesChecks);
  }

  /** What it sees of rows that are elsewhere is gone with the next statement, which sees a newer state. */
  get seesAnew(): boolean {
    return this.level === "read committed" && this.#manager.remote !== null;
  }

  /** What the running attempt of a statement has read is not all true; see `RemoteTables`. */
  get isGuess(): boolean {
    return (this.#manager.remote?.missedCount(this) ?? 0) > 0;
  }

  /** Stops an attempt that guesses before it does what cannot be taken back. */
  requireTrue(): void {
    const missed = this.isGuess ? this.#manager.remote?.missed(this) : null;
    if (missed) throw missed;
  }

  get repeatsChecks(): boolean {
    return this.level !== "serializable";
  }

  /** true: the transaction changed the catalog. */
  get hasDdl(): boolean {
    return this.#catalog.isChanged;
  }

  /** The table as this transaction sees it. */
  table(tableId: number): ReadableTable {
    if (this.snapshot < this.#manager.fills.lastOp) this.#requireFilled(tableId);
    const writeSet = this.#writeSets.get(tableId);
    if (writeSet === undefined && !this.interruptible && !this.hasDdl) {
      return this.#manager.committed(this, tableId);
    }
    return this.views.of(tableId, writeSet);
  }

  /**
   * The table in the newest state with this transaction's own rows, for constraints: where what it reads is not
   * compared with what others write, no row may be missed that came after its snapshot. Serializable: as it sees it.
   */
  newestTable(tableId: number): ReadableTable {
    if (this.level === "serializable") return this.table(tableId);
    const { remote } = this.#manager;
    if (remote?.has(tableId) === true) remote.requireNewest(this, this.#definition(tableId), null);
    return this.referencedTable(tableId);
  }

  /** The same whatever the level: for rows that are locked as soon as they are found, with {@link keepReferenced}. */
  referencedTable(tableId: number): ReadableTable {
    const isValidated = this.#manager.remote !== null && this.level === "serializable";
    if (isValidated || !this.interruptible) return this.table(tableId);
    return this.views.anew(tableId, this.#writeSets.get(tableId), this.notesChecks, "newest");
  }

  /** Columns that were filled after the snapshot would be empty: the statement has to run at a newer one. */
  #requireFilled(tableId: number): void {
    if (this.#manager.fills.isFilledSince(tableId, this.snapshot, this.compiledCatalog)) {
      throw new StaleSnapshot(tableId, null);
    }
  }

  /** Runs a part of a query that was compiled for a catalog. */
  compiledFor<T>(catalog: Catalog, reading: Reading, run: () => T): T {
    const { compiledCatalog, snapshot } = this;
    this.compiledCatalog = catalog;
    // Rows that it has written itself are read ahead of their changes; see `TransactionBlock.readAhead`.
    const isOlder = reading.snapshot !== snapshot && this.level === "read committed";
    const views = isOlder ? this.views.exchange(reading.views) : null;
    if (isOlder) this.snapshot = reading.snapshot;
    try {
      return run();
    } finally {
      this.compiledCatalog = compiledCatalog;
      this.snapshot = snapshot;
      if (views !== null) this.views.exchange(views);
    }
  }

  /** The oldest state that it may still read. */
  get oldestSnapshot(): OpNumber {
    return this.views.oldestSnapshot;
  }

  /** The table as it is now, whatever this transaction writes to it later. */
  tableNow(tableId: number): ReadableTable {
    if (this.snapshot < this.#manager.fills.lastOp) this.#requireFilled(tableId);
    const writeSet = this.#writeSets.get(tableId);
    this.#bulk.end();
    return this.views.anew(
      tableId,
      writeSet === undefined || writeSet.isEmpty ? undefined : writeSet.copy(),
      true,
    );
  }

  /**
   * From now on others may run in between: reads are noted, and the locks on what was written are taken. Nobody else
   * has run since the snapshot, so that these are free, but for those that were checked.
   */
  becomeInterruptible(): void {
    if (this.interruptible) return;
    this.interruptible = true;
    this.views.clear();
    this.#manager.register(this);
    for (const writeSet of this.#writeSets.values()) {
      lockWritten(this.#manager, this, writeSet);
      this.#loads.lockLoaded(writeSet);
    }
    for (const [tableId, id] of this.#referenced ?? []) {
      takeLock(this.#manager, this, tableId, id, LOCK_MODES.keyShare, () => `row ${id}`);
    }
    this.#referenced = null;
  }

  /** Keeps a row that a foreign key refers to from going, and its key as it is, until this transaction ends. */
  keepReferenced(tableId: number, id: RowId): void {
    const describe = () => `row ${id} of relation "${this.#definition(tableId).name}"`;
    takeLock(this.#manager, this, tableId, id, LOCK_MODES.keyShare, describe);
    if (!this.interruptible) (this.#referenced ??= []).push([tableId, id]);
    const { remote } = this.#manager;
    if (this.level === "serializable" || remote?.has(tableId) !== true) return;
    remote.requireNewest(this, this.#definition(tableId), { ids: [id], key: null });
  }

  lockRow(
    tableId: number,
    id: RowId,
    wait: "wait" | "nowait" | "skip locked",
    mode: LockMode = LOCK_MODES.update,
  ): boolean {
    const table = this.#definition(tableId);
    if (wait !== "wait" && isLocked(this.#manager, this, table, { id, mode, refuses: wait === "nowait" })) {
      return false;
    }
    this.#lockAndCheck(table, id, mode);
    return true;
  }

  awaitHolder(table: TableDefinition, id: RowId, key: HeldKey | null): void {
    this.#manager.awaitHolder(table, id, key, this);
  }

  /** Rows of a batch can be changed later in the same transaction: they become rows of their own then. */
  readonly changesBatches = true;

  reserveRowIds(tableId: number, count: number): RowId {
    this.tookNumbers = true;
    if (this.numbers === null) return this.#manager.reserveRowIds(tableId, count);
    return this.numbers.get(tableId, count, () => this.#manager.reserveRowIds(tableId, count));
  }

  /** Checks that wait for the commit. */
  readonly deferred = new DeferredChecks(() => this.isGuess);

  notePending(tableId: number, constraintId: number): void {
    this.deferred.notePending(tableId, constraintId);
  }

  /** Runs a check of a constraint when the transaction commits, before its effects are formed. */
  beforeCommit(check: () => void, constraintId = 0): void {
    this.deferred.add(check, constraintId);
  }

  /** What SET CONSTRAINTS has said of a deferrable constraint; undefined: nothing. */
  constraintMode(constraintId: number): "deferred" | "immediate" | undefined {
    return this.deferred.mode(constraintId);
  }

  /** Whether there are any bulk loads. */
  get hasBatches(): boolean {
    return this.#writeSets.values().some(({ batches }) => batches.length > 0);
  }

  nextRowId(tableId: number): RowId {
    return this.reserveRowIds(tableId, 1);
  }

  create(tableId: number, id: RowId, values: StoredRow): void {
    const table = this.#definition(tableId);
    const writeSet = this.#writable(table);
    this.#requireWhole(table, values.length);
    requireStorableRow(table, values);
    takeId(this.#manager, this, table, id);
    const own = writeSet.own(id, this.#journal);
    const existed = own === undefined
      ? !writeSet.truncated && this.#manager.existsNow(tableId, id, this)
      : own.existed;
    if (own === undefined ? existed : own.values !== null) {
      // Who has it may be there only because the attempt does not know better: what else it misses is to be found out.
      if (this.isGuess) return;
      if (own?.isFilled === true && !this.#manager.existsNow(tableId, id, this)) {
        throw new StaleSnapshot(tableId, id);
      }
      throw duplicateId(table, id);
    }
    requireNewKeys(this.#manager, this, writeSet, { table, id, values });
    this.#size.addRow(values);
    if (own === undefined) {
      writeSet.add(id, values, false);
      this.#note(writeSet.added);
    } else this.#set(writeSet, own, values);
  }

  createOneOfMany(tableId: number, id: RowId, values: StoredRow): void {
    const writeSet = this.#writable(this.#definition(tableId), { spread: false });
    if (this.#bulk.takesNew(writeSet, id, this.#size.isHeavy)) this.#bulk.add(id as number, values);
    else this.create(tableId, id, values);
  }

  update(tableId: number, id: RowId, values: StoredRow): void {
    const table = this.#definition(tableId);
    const writeSet = this.#writable(table);
    this.#requireWhole(table, values.length);
    requireStorableRow(table, values);
    this.#lockAndCheck(table, id, modeOfWrite(this.#manager, this, table, id, values));
    requireNewKeys(this.#manager, this, writeSet, { table, id, values });
    this.#write(writeSet, id, values);
  }

  /**
   * Gives a row a value in a column that this transaction adds while others write to the table. It is not locked, and
   * for whoever has read it it has not changed.
   */
  fill(tableId: number, id: RowId, values: StoredRow): void {
    const table = this.#definition(tableId);
    const writeSet = this.#writable(table);
    requireStorableRow(table, values);
    this.#size.addRow(values);
    writeSet.filled ??= { at: this.snapshot, since: this.snapshot };
    const own = writeSet.own(id, this.#journal);
    if (own !== undefined) this.#set(writeSet, own, values, own.isFilled);
    else {
      writeSet.add(id, values, true, true);
      this.#note(writeSet.added);
    }
  }

  /** Whether a definition changes a committed table in another way than by adding columns. */
  rewrites(table: TableDefinition): boolean {
    return this.#catalog.rewrites(table);
  }

  /** Whether others may write to a table whose rows this transaction fills or looks at for new columns. */
  sharesTable(tableId: number): boolean {
    const after = this.catalog.table(tableId);
    return this.hasDdl && after !== undefined &&
      this.#writeSets.get(tableId)?.truncated !== true &&
      this.#manager.alteringTransaction(tableId) !== this &&
      !this.rewrites(after);
  }

  delete(tableId: number, id: RowId): void {
    const table = this.#definition(tableId);
    const writeSet = this.#writable(table);
    const set = this.#bulk.setFor("deleted", writeSet, id);
    if (set === null) {
      this.#lockAndCheck(table, id);
      requireOutside(this.#manager, this, table, id, null);
      this.#write(writeSet, id, null);
    } else this.#hide(table, set, id);
  }

  #hide(table: TableDefinition, set: RowIdSet, id: RowId): void {
    requireFree(this.#manager, this, table, id);
    requireOutside(this.#manager, this, table, id, null);
    this.#requireUnchanged(table, id);
    this.#size.addDeleted(set.add(id as number));
  }

  updateKeepingKeys(tableId: number, id: RowId, values: StoredRow): void {
    const table = this.#definition(tableId);
    const spread = !this.#bulk.isReplacing(this.#writeSets.get(tableId));
    const set = this.#bulk.setFor("replaced", this.#writable(table, { spread }), id);
    if (set === null) return this.update(tableId, id, values);
    this.#requireWhole(table, values.length);
    requireStorableRow(table, values);
    this.#hide(table, set, id);
    this.#bulk.add(id as number, values);
  }

  endRows(): void {
    this.#bulk.end();
  }

  moved(tableId: number, moves: Iterable<{ readonly from: RowId; readonly to: RowId }>): void {
    const writeSet = this.#writeSets.get(tableId);
    writeSet?.noteMoves(moves, (id, origin) => this.#note({ kind: "origin", writeSet, id, origin }));
  }

  checkBatch(tableId: number, batch: RowBatch): ReturnType<typeof checkBatch> {
    const table = this.#definition(tableId);
    const writeSet = this.#writable(table, { spread: false });
    return checkBatch({ manager: this.#manager, transaction: this, table, writeSet, batch }, this.#loads);
  }

  /** Ids must be new (from the table's counter, or shown to be free), and {@link checkBatch} have found nothing. */
  createBatch(tableId: number, batch: RowBatch): void {
    const table = this.#definition(tableId);
    const writeSet = this.#writable(table, { spread: false });
    this.#requireWhole(table, batch.columns.length);
    requireStorableBatch(table, batch);
    requireBatchOutside(this.#manager, this, table, batch);
    this.#addBatch(writeSet, batch);
  }

  /** Answers the batch as it is kept: in a file, where those in memory take much of it. */
  #addBatch(writeSet: TableWriteSet, batch: RowBatch): RowBatch {
    const kept = keptBatch(this, batch, this.#size.storesBatches ? this.#manager.batchStore : null);
    this.#size.addBatch(kept, fileOf(kept) !== undefined);
    this.#size.checkBatches();
    writeSet.batches.push(kept);
    this.#note({ kind: "batch", writeSet });
    return kept;
  }

  truncate(tableId: number): void {
    const table = this.#definition(tableId);
    claimTable(this.#manager, this, tableId, table.name);
    const before = this.#writeSets.get(tableId);
    const writeSet = new TableWriteSet(table);
    writeSet.truncated = true;
    this.#writeSets.set(tableId, writeSet);
    this.views.forget(tableId);
    this.#note({ kind: "writeSet", tableId, before });
  }

  /** Applies a DDL change to the private catalog and to the transaction's own rows of that table. */
  change(change: CatalogChange, temporarySchema: string | null = null): void {
    claimCatalog(this.#manager, this, change, temporarySchema);
    const tableId = changedTable(change);
    const before = this.#manager.catalog.table(tableId);
    if (change.kind === "put_table") {
      // Rows that others delete there were looked up by rules without the new key.
      for (const parent of newParents(before, change.table)) this.requireAlone(parent);
    }
    const remote = this.#manager.remote?.has(tableId) === true ? this.#manager.remote : null;
    if (change.kind === "put_table" && before) remote?.prepareMoves(this, before, change.table);
    if (change.kind === "put_table" && onlyAddsColumns(before, change.table) && remote === null) {
      const rival = this.#manager.alteringTransaction(tableId);
      if (rival !== undefined && rival !== this) {
        throw new TableWait(rival, `relation "${change.table.name}"`);
      }
    } else this.requireAlone(tableId);
    this.#catalog.apply(change);
    this.views.clear();
    const writeSet = this.#writeSets.get(tableId);
    if (writeSet !== undefined && change.kind === "drop_table") {
      this.#note({ kind: "writeSet", tableId, before: writeSet });
      this.#writeSets.delete(tableId);
    } else if (writeSet !== undefined && change.kind === "put_table") {
      this.#note({ kind: "contents", writeSet, saved: writeSet.copy() });
      writeSet.spreadBatches();
      writeSet.remap(change.table);
    }
  }

  /** Waits until no other open transaction has uncommitted rows in a table that was there before. */
  requireAlone(tableId: number): void {
    const table = this.#manager.catalog.table(tableId);
    if (table === undefined) return;
    claimTable(this.#manager, this, tableId, this.catalog.table(tableId)?.name ?? table.name);
  }

  /** Records that a sequence has advanced; the manager hands out the value. */
  noteSequence(sequenceId: number, value: number | bigint, called: boolean): void {
    this.tookNumbers = true;
    this.#sequences.push({ kind: "sequence", sequenceId, value, called });
  }

  get writeSets(): Iterable<TableWriteSet> {
    return this.#writeSets.values();
  }

  /** What its effects are made of. */
  get done(): Done {
    const sequences = lastSequences(this.#sequences, this.catalog, this.#manager);
    return { changes: this.#catalog.changes, writeSets: this.#writeSets.values(), sequences };
  }

  /** What its entry brings, roughly. */
  get weight(): TransactionSize["weight"] {
    return this.#size.weight;
  }

  /** Whether its entry is so large that it is committed in steps. */
  get isLarge(): boolean {
    const indexed = this.indexedTables.map(({ id }) => this.#manager.store(id).rowsInMemory);
    return this.#size.isLarge(this.#writeSets.values(), indexed);
  }

  /** The definitions of tables that were there before and get indexes with this transaction. */
  get indexedTables(): TableDefinition[] {
    return this.#catalog.indexedTables;
  }

  mark(): Mark {
    this.#bulk.end();
    this.#loads.end();
    return {
      journal: this.#journal.length,
      reads: this.reads.length,
      locks: this.locks.length,
      sequences: this.#sequences.length,
      messages: this.messages.length,
      deferred: this.deferred.mark(),
      catalog: this.#catalog.mark(),
    };
  }

  /** Takes back everything since the mark; locks taken since are released unless `keepLocks`. */
  rollbackTo(mark: Mark, options: { readonly keepLocks: boolean; readonly forgetReads: boolean }): void {
    this.#bulk.discard();
    this.#loads.giveUp();
    takeBackTo(mark, this.#journal, this.#writeSets, (batch) => this.#size.removeBatch(batch));
    for (const writeSet of this.#writeSets.values()) {
      const { filled } = writeSet;
      if (filled === null || filled.at === filled.since) continue;
      writeSet.filled = { at: filled.since, since: filled.since };
      this.isBehind = true;
    }
    this.lostNumbers ||= this.tookNumbers;
    if (options.forgetReads) this.keepReads(mark.reads);
    this.messages.length = mark.messages;
    this.deferred.rollbackTo(mark.deferred);
    if (!options.keepLocks) this.#manager.locks.releaseAfter(this, mark.locks);
    this.#catalog.rollbackTo(mark.catalog);
    this.views.clear();
  }

  /** Forgets reads but for the first ones. */
  keepReads(count: number): void {
    this.reads.length = count;
    this.compared.reads = Math.min(this.compared.reads, count);
  }

  /** Reads at a state from now on: for a session's transaction of single reads, which notes nothing. */
  renew(snapshot: OpNumber = this.#manager.lastOp): void {
    this.snapshot = snapshot;
    this.#timestamp = NaN;
    this.views.clear();
  }

  /** Moves the snapshot; the manager has shown that nothing read so far changed. */
  moveSnapshot(snapshot: OpNumber): void {
    assert(snapshot >= this.snapshot, "a snapshot moves forward");
    this.snapshot = snapshot;
    this.views.clear();
    for (const { filled } of this.#writeSets.values()) this.isBehind ||= filled !== null;
  }

  /**
   * Another transaction has changed the catalog: views are laid anew over the new definitions. A table with
   * uncommitted rows can only have got columns, which its rows lack.
   */
  catalogChanged(): void {
    this.#catalog.rebase();
    this.views.clear();
    for (const [tableId, { definition }] of this.#writeSets) {
      const next = this.catalog.table(tableId);
      this.isBehind ||= next !== undefined && next !== definition;
    }
  }

  /** Brings rows up to date with what others have done to their tables, in pieces. */
  *catchUp(): Generator<void, void> {
    while (this.isBehind) {
      this.isBehind = false;
      let isDone = false;
      try {
        yield* catchUp(this.#catchingUp());
        isDone = true;
      } finally {
        this.views.clear();
        this.isBehind ||= !isDone;
      }
    }
  }

  /** Its uncommitted rows in the table; undefined: there are none. */
  writtenTo(tableId: number): TableWriteSet | undefined {
    return this.#writeSets.get(tableId);
  }

  /** Whether rows are to be brought up to date or looked at, at the newest state, before the commit. */
  get needsNewest(): boolean {
    if (this.isBehind || !this.deferred.isEmpty && this.snapshot < this.#manager.fills.lastOp) {
      return true;
    }
    for (const { filled, unchecked } of this.#writeSets.values()) {
      if (filled !== null || unchecked !== null) return true;
    }
    return false;
  }

  /** What is left of that when nobody else commits any more. */
  *finishRows(): Generator<void, void> {
    this.compiledCatalog = this.#manager.catalog;
    yield* this.catchUp();
    yield* checkRows(this.#catchingUp());
  }

  #catchingUp(): CatchingUp {
    return {
      manager: this.#manager,
      transaction: this,
      maker: assertDefined(this.#makerFor, "what computes values")(this),
      writeSets: this.#writeSets.values(),
      journal: this.#journal,
      noteAdded: (writeSet) => this.#note(writeSet.added),
      replaceBatch: (before, after) => {
        this.#size.removeBatch(before);
        this.#size.addBatch(after);
      },
    };
  }

  /** Ids of the tables with uncommitted rows. */
  get writtenTables(): Iterable<number> {
    return this.#writeSets.keys();
  }

  /** Ids of the tables that its DDL makes, drops, or alters in another way than by adding columns. */
  get rewrittenTables(): number[] {
    return this.#catalog.rewrittenTables;
  }

  /** The definition that the running statement knows: rows are brought to a newer one after it. */
  #definition(tableId: number): TableDefinition {
    const own = this.#writeSets.get(tableId);
    if (own !== undefined) return own.definition;
    const now = this.catalog.table(tableId);
    const table = now && !this.hasDdl ? this.compiledCatalog?.table(tableId) ?? now : now;
    // Another transaction has dropped it since the statement was compiled.
    if (table === undefined && this.compiledCatalog?.table(tableId) !== undefined) {
      throw new StaleSnapshot(tableId, null);
    }
    return assertDefined(table, `table ${tableId}`);
  }

  /** The write set to write to; waits for a transaction that alters the table. */
  #writable(table: TableDefinition, options: { readonly spread: boolean } = { spread: true }): TableWriteSet {
    if (this.readOnly && !isTemporarySchema(table.schema)) throw readOnlyTransaction();
    const { catalog } = this.#manager;
    // The statement was compiled for a definition that another transaction has changed while it yielded.
    if (
      this.compiledCatalog !== null && this.compiledCatalog !== catalog &&
      (!mayGoOn(this.compiledCatalog, catalog, table.id) ||
        this.#manager.remote !== null && this.compiledCatalog.table(table.id) !== catalog.table(table.id))
    ) throw new StaleSnapshot(table.id, null);
    const existing = this.#writeSets.get(table.id);
    if (existing !== undefined) {
      if (options.spread && existing.batches.length > 0) {
        this.#bulk.end();
        this.#size.checkSpread(existing.batches);
        this.#note({ kind: "contents", writeSet: existing, saved: existing.copy() });
        existing.spreadBatches();
        this.views.forget(table.id);
      }
      return existing;
    }
    const altering = this.#manager.alteringTransaction(table.id);
    if (altering !== undefined && altering !== this) {
      throw new TableWait(altering, `relation "${table.name}"`);
    }
    const writeSet = new TableWriteSet(table);
    this.#writeSets.set(table.id, writeSet);
    this.isBehind ||= this.catalog.table(table.id) !== table;
    this.views.forget(table.id);
    // An empty write set is taken back too: it would keep a later ALTER of another transaction waiting.
    this.#note({ kind: "writeSet", tableId: table.id, before: undefined });
    return writeSet;
  }

  #write(writeSet: TableWriteSet, id: RowId, values: StoredRow | null): void {
    this.#size.addRow(values ?? NO_VALUES);
    const own = writeSet.own(id, this.#journal);
    if (own !== undefined) {
      if (values === null) this.lostNumbers ||= this.tookNumbers;
      this.#set(writeSet, own, values);
      return;
    }
    assert(!writeSet.truncated, "a truncated table has no committed rows");
    writeSet.add(id, values, true);
    this.#note(writeSet.added);
  }

  #set(writeSet: TableWriteSet, row: WriteSetRow, values: StoredRow | null, isFilled = false): void {
    this.#note({ kind: "set", writeSet, id: row.id, values: row.values, isFilled: row.isFilled });
    writeSet.set(row, values);
    row.isFilled = isFilled;
  }

  /** A query that is fetched piece by piece and writes may be older than the rows of its transaction. */
  #requireWhole(table: TableDefinition, columns: number): void {
    if (columns < table.columns.length) throw new StaleSnapshot(table.id, null);
  }

  #note(entry: JournalEntry): void {
    this.#journal.push(entry);
  }

  #lockAndCheck(table: TableDefinition, id: RowId, mode: LockMode = LOCK_MODES.update): void {
    try {
      takeLock(this.#manager, this, table.id, id, mode, () => `row ${id} of relation "${table.name}"`);
    } finally {
      // Who would have to wait for it, too, learns at once that it has lost.
      this.#requireUnchanged(table, id);
    }
  }

  #requireUnchanged(table: TableDefinition, id: RowId): void {
    // Nobody has committed anything since the snapshot: it is not even worth a look whether the row is its own.
    const isNewest = this.snapshot === this.#manager.lastOp && this.#manager.remote === null;
    if (isNewest || this.#writeSets.get(table.id)?.byId.get(id)?.isFilled === false) return;
    if (this.#manager.changedSince(table.id, id, this.snapshot, this)) throw new StaleSnapshot(table.id, id);
  }
}
