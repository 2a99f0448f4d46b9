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
import { forbidsDuplicates } from "../catalog/index_keys.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { assert, assertDefined } from "../base/assert.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogChange } from "../catalog/catalog_change.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import { batchBytes } from "../operations/batch_codec.ts";
import type { Effect, EffectSource, OpNumber, RowBatch, RowId, StoredRow } from "../operations/effect.ts";
import type { ReadableTable } from "../storage/access/readable_table.ts";
import { mayGoOn, newParents, onlyAddsColumns, widenedBatch, widenedRow } from "./added_columns.ts";
import { firstTakenKey } from "./batch_check.ts";
import { batchMemory, batchRow } from "./batch_values.ts";
import { isTemporarySchema } from "../catalog/temporary_schema.ts";
import type { CommitMessage } from "./commit_message.ts";
import type { JournalEntry, Mark, PendingChecks } from "./journal.ts";
import type { Lock, LockKey } from "./lock_table.ts";
import type { NontransactionalEffects } from "./nontransactional_effects.ts";
import { rowBytes, TableWriteSet, type WriteSetRow } from "./write_set.ts";
import { requireStorableBatch, requireStorableRow } from "./storable_rows.ts";
import type { ReadPredicate } from "./read_set.ts";
import { duplicateId, duplicateKey } from "./duplicates.ts";
import { LockWait, StaleSnapshot, TableWait } from "./signals.ts";
import { keyColumns, keyOf, keyText } from "./stored_key.ts";
import { TableView } from "./table_view.ts";
import type { TransactionManager } from "./transaction_manager.ts";

/** What a row in an write set takes besides its values, its lock included. */
const ROW_OVERHEAD_BYTES = 240;
const NO_VALUES: StoredRow = [];

/** A row of a bulk load takes so much less work than one that was written by itself. */
const BATCH_ROWS_PER_ROW = 16;

const NO_CONSTRAINTS: ReadonlySet<number> = new Set();

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
  /** What it waits for, for deadlock detection. */
  waitsFor: Lock | Transaction | null = null;
  /** Called when the transaction has ended, for those who wait for it as a whole. */
  readonly ended: (() => void)[] = [];
  readonly reads: ReadPredicate[] = [];
  /** Messages that go out after the commit. */
  readonly messages: CommitMessage[] = [];
  /** What the running statement has done that must not be done twice; made when it is needed first. */
  outside: NontransactionalEffects | null = null;
  /** Writes are refused, except to temporary tables. */
  readOnly = false;
  /** Read-only from its beginning to its end: what it reads is never compared with what others have written. */
  neverWrites = false;
  interruptible: boolean;
  isOpen = true;
  /** It has got numbers of sequences or new row ids; some of them are in none of its effects. */
  tookNumbers = false;
  lostNumbers = false;
  /** Its effects are in the log. */
  isCommitted = false;
  /** The committed catalog when the running statement was compiled; null: it has not yielded. */
  compiledCatalog: Catalog | null = null;
  readonly #manager: TransactionManager;
  /** NaN until it is needed, which in most reads it never is. */
  #timestamp: number;
  readonly #writeSets = new Map<number, TableWriteSet>();
  readonly #views = new Map<number, ReadableTable>();
  readonly #journal: JournalEntry[] = [];
  readonly #changes: CatalogChange[] = [];
  readonly #commitChecks: { readonly check: () => void; readonly constraintId: number }[] = [];
  readonly #sequences: Extract<Effect, { kind: "sequence" }>[] = [];
  #catalog: Catalog;
  /** Roughly what the uncommitted rows take; never given back, for a transaction that rolls much back is rare. */
  #bytes = 0;
  /** What bulk loads take in memory, and about what they add to the entry. */
  #batchMemory = 0;
  #batchBytes = 0;
  /** By constraint, and by null for all others: what SET CONSTRAINTS has said. */
  constraintModes: ReadonlyMap<number | null, "deferred" | "immediate"> = new Map();
  #pending: PendingChecks = new Map();
  readonly #track = (predicate: ReadPredicate): void => {
    this.reads.push(predicate);
  };

  constructor(
    manager: TransactionManager,
    options: { readonly interruptible: boolean; readonly timestamp?: number },
  ) {
    this.#manager = manager;
    this.snapshot = manager.lastOp;
    this.#timestamp = options.timestamp ?? NaN;
    this.interruptible = options.interruptible;
    this.#catalog = manager.catalog;
  }

  /** The catalog with this transaction's own DDL. */
  get catalog(): Catalog {
    return this.#changes.length > 0 ? this.#catalog : this.#manager.catalog;
  }

  /** true: commit will append an entry. */
  get hasEffects(): boolean {
    if (this.#changes.length > 0 || this.#sequences.length > 0) return true;
    for (const writeSet of this.#writeSets.values()) if (!writeSet.isEmpty) return true;
    return false;
  }

  /** true: the transaction changed the catalog. */
  get hasDdl(): boolean {
    return this.#changes.length > 0;
  }

  /** The table as this transaction sees it. */
  table(tableId: number): ReadableTable {
    const writeSet = this.#writeSets.get(tableId);
    if (writeSet === undefined && !this.interruptible && this.#changes.length === 0) {
      return this.#manager.store(tableId).at(this.snapshot);
    }
    const cached = this.#views.get(tableId);
    if (cached !== undefined) return cached;
    const definition = assertDefined(this.catalog.table(tableId), `table ${tableId}`);
    const beneath = this.#manager.catalog.table(tableId) ?? null;
    const view = new TableView({
      definition,
      beneath,
      committed: beneath === null ? null : this.#manager.store(tableId).at(this.snapshot),
      writeSet: writeSet ?? null,
      track: this.interruptible && !this.neverWrites ? this.#track : null,
    });
    this.#views.set(tableId, view);
    return view;
  }

  /** The table as it is now, whatever this transaction writes to it later. */
  tableNow(tableId: number): ReadableTable {
    const writeSet = this.#writeSets.get(tableId);
    const definition = assertDefined(this.catalog.table(tableId), `table ${tableId}`);
    const beneath = this.#manager.catalog.table(tableId) ?? null;
    return new TableView({
      definition,
      beneath,
      committed: beneath === null ? null : this.#manager.store(tableId).at(this.snapshot),
      writeSet: writeSet === undefined || writeSet.isEmpty ? null : writeSet.copy(),
      track: (predicate) => {
        if (this.interruptible && !this.neverWrites) this.#track(predicate);
      },
    });
  }

  /**
   * From now on others may run in between: reads are noted and the locks on what was written are taken. No other
   * transaction has run since this one's snapshot, so nothing can be locked by another transaction unless it was
   * checked.
   */
  becomeInterruptible(): void {
    if (this.interruptible) return;
    this.interruptible = true;
    this.#views.clear();
    this.#manager.register(this);
    for (const writeSet of this.#writeSets.values()) {
      for (const row of writeSet.rows) {
        this.#lock(writeSet.definition.id, row.id, () => `row ${row.id}`);
        if (row.values !== null) this.#lockKeys(writeSet.definition, row.values);
      }
    }
  }

  lockRow(tableId: number, id: RowId, wait: "wait" | "nowait" | "skip locked"): boolean {
    const table = this.#definition(tableId);
    if (wait !== "wait") {
      const held = this.#manager.locks.heldByOther(tableId, id, this);
      if (held !== undefined) {
        if (wait === "skip locked") return false;
        throw new DatabaseError(
          SQLSTATE.lockNotAvailable,
          `could not obtain lock on row in relation "${table.name}"`,
        );
      }
    }
    this.#lockAndCheck(table, id);
    return true;
  }

  /** Rows of a batch can be changed later in the same transaction: they become rows of their own then. */
  readonly changesBatches = true;

  reserveRowIds(tableId: number, count: number): RowId {
    this.tookNumbers = true;
    return this.#manager.reserveRowIds(tableId, count);
  }

  /** Notes that changes of a table concern a constraint whose checks wait for the commit. */
  notePending(tableId: number, constraintId: number): void {
    const known = this.#pending.get(tableId) ?? NO_CONSTRAINTS;
    if (known.has(constraintId)) return;
    this.#pending = new Map([...this.#pending, [tableId, new Set([...known, constraintId])]]);
  }

  /** Whether checks that concern the table's rows wait for the commit. */
  hasPendingChecks(tableId: number): boolean {
    return this.#pending.has(tableId);
  }

  /** Runs a check of a constraint when the transaction commits, before its effects are formed. */
  beforeCommit(check: () => void, constraintId = 0): void {
    this.#commitChecks.push({ check, constraintId });
  }

  /** Runs the checks that were put off to the commit. They may not add further ones. */
  runCommitChecks(): void {
    for (const { check } of this.#commitChecks.splice(0)) check();
  }

  /** What SET CONSTRAINTS has said of a deferrable constraint; undefined: nothing. */
  constraintMode(constraintId: number): "deferred" | "immediate" | undefined {
    return this.constraintModes.get(constraintId) ?? this.constraintModes.get(null);
  }

  /**
   * SET CONSTRAINTS; null: all. Checks that were put off are made now when they may not wait any longer. They stay
   * for the commit all the same: a savepoint may take back what satisfies them.
   */
  setConstraints(ids: readonly number[] | null, mode: "deferred" | "immediate"): void {
    if (ids === null) this.constraintModes = new Map([[null, mode]]);
    else this.constraintModes = new Map([...this.constraintModes, ...ids.map((id) => [id, mode] as const)]);
    if (mode === "deferred") return;
    this.#pending = new Map(
      [...this.#pending].flatMap(([tableId, constraints]) => {
        const left = [...constraints].filter((id) => ids !== null && !ids.includes(id));
        return left.length === 0 ? [] : [[tableId, new Set(left)] as const];
      }),
    );
    for (const { check, constraintId } of this.#commitChecks) {
      if (ids === null || ids.includes(constraintId)) check();
    }
  }

  /** Bulk loads, for the last look at their ids before the commit. `replacesAll`: the table was emptied before. */
  *batches(): Iterable<
    {
      readonly table: TableDefinition;
      readonly batch: RowBatch;
      readonly writeSet: TableWriteSet;
      readonly replacesAll: boolean;
    }
  > {
    for (const writeSet of this.#writeSets.values()) {
      const { batches, definition, truncated } = writeSet;
      for (const batch of batches) yield { table: definition, batch, writeSet, replacesAll: truncated };
    }
  }

  /** Whether there are any {@link batches}. */
  get hasBatches(): boolean {
    for (const writeSet of this.#writeSets.values()) if (writeSet.batches.length > 0) return true;
    return false;
  }

  nextRowId(tableId: number): RowId {
    this.tookNumbers = true;
    return this.#manager.nextRowId(tableId);
  }

  create(tableId: number, id: RowId, written: StoredRow): void {
    const table = this.#definition(tableId);
    const writeSet = this.#writable(table);
    const values = widenedRow(written, table.columns);
    requireStorableRow(table, values);
    this.#lock(tableId, id, () => `row ${id} of relation "${table.name}"`);
    const own = writeSet.byId.get(id);
    const existed = own === undefined
      ? this.#manager.existsNow(tableId, id) && !writeSet.truncated
      : own.existed;
    if (own === undefined ? existed : own.values !== null) throw duplicateId(table, id);
    this.#checkUnique(table, writeSet, values, id);
    this.#account(values);
    if (own === undefined) {
      writeSet.add(id, values, false);
      this.#note(writeSet.added);
    } else {
      this.#note({ kind: "set", writeSet, id, values: own.values });
      writeSet.set(own, values);
    }
  }

  update(tableId: number, id: RowId, written: StoredRow): void {
    const table = this.#definition(tableId);
    const writeSet = this.#writable(table);
    const values = widenedRow(written, table.columns);
    requireStorableRow(table, values);
    this.#lockAndCheck(table, id);
    this.#checkUnique(table, writeSet, values, id);
    this.#write(writeSet, id, values);
  }

  delete(tableId: number, id: RowId): void {
    const table = this.#definition(tableId);
    const writeSet = this.#writable(table);
    this.#lockAndCheck(table, id);
    this.#write(writeSet, id, null);
  }

  /** See `RowTransaction`. */
  *checkBatch(
    tableId: number,
    batch: RowBatch,
  ): Generator<void, { readonly row: number; readonly error: DatabaseError } | null> {
    const table = this.#definition(tableId);
    const writeSet = this.#writable(table, { spread: false });
    let limit = batch.rowCount;
    let error: DatabaseError | null = null;
    for (const index of table.indexes) {
      if (!index.unique) continue;
      const own = writeSet.batchKeys(index).add(batch);
      yield;
      const before = own >= 0 && own < limit ? own : limit;
      const check = { manager: this.#manager, transaction: this, table, writeSet, batch, limit: before };
      const taken = yield* firstTakenKey(check, index);
      if (taken !== null && taken.lock !== null) {
        throw new LockWait(taken.lock, `key of index "${index.name}"`);
      }
      const row = taken?.row ?? before;
      if (row === limit) continue;
      limit = row;
      error = duplicateKey(table, index, batchRow(batch, row));
    }
    return error === null ? null : { row: limit, error };
  }

  /** Ids must be new (from the table's counter, or shown to be free), and {@link checkBatch} have found nothing. */
  createBatch(tableId: number, written: RowBatch): void {
    const table = this.#definition(tableId);
    const writeSet = this.#writable(table, { spread: false });
    const batch = widenedBatch(written, table.columns);
    requireStorableBatch(table, batch);
    this.#take(batch);
    if (this.#batchMemory > LIMITS.transactionBatchBytes) {
      throw new DatabaseError(SQLSTATE.outOfMemory, "transaction holds too many uncommitted rows", {
        hint: "Split it into several transactions.",
      });
    }
    writeSet.batches.push(batch);
    this.#note({ kind: "batch", writeSet });
  }

  truncate(tableId: number): void {
    const table = this.#definition(tableId);
    this.#requireExclusive(tableId, table.name);
    const before = this.#writeSets.get(tableId);
    const writeSet = new TableWriteSet(table);
    writeSet.truncated = true;
    this.#writeSets.set(tableId, writeSet);
    this.#views.delete(tableId);
    this.#note({ kind: "writeSet", tableId, before });
  }

  /** Applies a DDL change to the private catalog and to the transaction's own rows of that table. */
  change(change: CatalogChange): void {
    this.#requireCatalog();
    const tableId = change.kind === "put_table"
      ? change.table.id
      : change.kind === "drop_table"
      ? change.tableId
      : 0;
    const before = this.#manager.catalog.table(tableId);
    if (change.kind === "put_table") {
      // Rows that others delete there were looked up by rules without the new key.
      for (const parent of newParents(before, change.table)) this.requireAlone(parent);
    }
    if (change.kind === "put_table" && onlyAddsColumns(before, change.table)) {
      this.#requireWidening(change.table, before?.columns.length ?? 0);
    } else this.requireAlone(tableId);
    this.#catalog = this.catalog.apply(change);
    this.#changes.push(change);
    this.#views.clear();
    const writeSet = this.#writeSets.get(tableId);
    if (writeSet === undefined) return;
    if (change.kind === "drop_table") {
      this.#note({ kind: "writeSet", tableId, before: writeSet });
      this.#writeSets.delete(tableId);
    } else if (change.kind === "put_table") {
      this.#note({ kind: "contents", writeSet, saved: writeSet.copy() });
      writeSet.spreadBatches();
      writeSet.remap(change.table);
    }
  }

  /** Waits until no other open transaction has uncommitted rows in a table that was there before. */
  requireAlone(tableId: number): void {
    const table = this.#manager.catalog.table(tableId);
    if (table !== undefined) this.#requireExclusive(tableId, this.catalog.table(tableId)?.name ?? table.name);
  }

  /** Records that a sequence has advanced; the manager hands out the value. */
  noteSequence(sequenceId: number, value: number | bigint, called: boolean): void {
    this.tookNumbers = true;
    this.#sequences.push({ kind: "sequence", sequenceId, value, called });
  }

  /** The effects of the whole transaction, catalog changes first. */
  effects(): Effect[] {
    const effects: Effect[] = this.#changes.map((change) => ({ kind: "ddl", change }));
    for (const writeSet of this.#writeSets.values()) writeSet.appendEffects(effects);
    if (this.#sequences.length > 0) effects.push(...this.#lastSequences());
    return effects;
  }

  /** The same effects one after the other, for a transaction of many. */
  effectSource(): EffectSource {
    const sequences = this.#lastSequences();
    let count = this.#changes.length + sequences.length;
    for (const writeSet of this.#writeSets.values()) count += writeSet.effectCount;
    const each = function* (this: Transaction): Generator<Effect, void> {
      for (const change of this.#changes) yield { kind: "ddl", change };
      for (const writeSet of this.#writeSets.values()) {
        const tableId = writeSet.definition.id;
        if (writeSet.truncated) yield { kind: "truncate", tableId };
        for (const row of writeSet.rows) {
          const effect = writeSet.effectOf(row);
          if (effect !== null) yield effect;
        }
        for (const batch of writeSet.batches) yield { kind: "create_batch", tableId, batch };
      }
      yield* sequences;
    };
    return { count, estimatedBytes: this.estimatedBytes, each: () => each.call(this) };
  }

  #lastSequences(): Effect[] {
    if (this.#sequences.length === 0) return [];
    const last = new Map<number, Effect>();
    for (const effect of this.#sequences) {
      const id = effect.sequenceId;
      if (this.catalog.sequence(id) === undefined && this.catalog.table(id) === undefined) continue;
      // Others that asked later may have committed already: the value in the log must not go back.
      last.set(effect.sequenceId, { ...effect, ...this.#manager.newestSequenceValue(effect.sequenceId) });
    }
    return [...last.values()];
  }

  /** Roughly the bytes of its entry. */
  get estimatedBytes(): number {
    return this.#bytes + this.#batchBytes;
  }

  /** Whether its entry is so large that it is committed in steps. */
  get isLarge(): boolean {
    if (this.estimatedBytes > LIMITS.commitAtOnceBytes) return true;
    let rows = 0;
    for (const writeSet of this.#writeSets.values()) {
      rows += writeSet.rows.length;
      for (const batch of writeSet.batches) rows += Math.ceil(batch.rowCount / BATCH_ROWS_PER_ROW);
    }
    for (const { id } of this.indexedTables) {
      rows += Math.ceil(this.#manager.store(id).rowsInMemory / BATCH_ROWS_PER_ROW);
    }
    return rows > LIMITS.commitAtOnceRows;
  }

  /** The definitions of tables that were there before and get indexes with this transaction. */
  get indexedTables(): TableDefinition[] {
    if (this.#changes.length === 0) return [];
    const ids = new Set(this.#changes.flatMap((each) => each.kind === "put_table" ? [each.table.id] : []));
    return [...ids].flatMap((id) => {
      const before = this.#manager.catalog.table(id);
      const after = this.#catalog.table(id);
      if (before === undefined || after === undefined) return [];
      const isNew = after.indexes.some((index) => !before.indexes.some((each) => each.id === index.id));
      return isNew ? [after] : [];
    });
  }

  /** Rows that it creates or changes one by one, in tables that were there before. */
  *written(): Iterable<
    { readonly writeSet: TableWriteSet; readonly row: WriteSetRow; readonly values: StoredRow }
  > {
    for (const writeSet of this.#writeSets.values()) {
      if (writeSet.truncated) continue;
      for (const row of writeSet.rows) if (row.values !== null) yield { writeSet, row, values: row.values };
    }
  }

  /** A place to return to with {@link rollbackTo}. */
  mark(): Mark {
    return {
      journal: this.#journal.length,
      reads: this.reads.length,
      locks: this.locks.length,
      changes: this.#changes.length,
      sequences: this.#sequences.length,
      messages: this.messages.length,
      commitChecks: this.#commitChecks.length,
      pending: this.#pending,
      catalog: this.#catalog,
    };
  }

  /** Takes back everything since the mark; locks taken since are released unless `keepLocks`. */
  rollbackTo(mark: Mark, options: { readonly keepLocks: boolean; readonly forgetReads: boolean }): void {
    while (this.#journal.length > mark.journal) {
      const entry = assertDefined(this.#journal.pop(), "journal entry");
      switch (entry.kind) {
        case "add":
          entry.writeSet.removeLast();
          break;
        case "set":
          entry.writeSet.set(
            assertDefined(entry.writeSet.byId.get(entry.id), "writeSet row"),
            // Others may have added columns since.
            entry.values && widenedRow(entry.values, entry.writeSet.definition.columns),
          );
          break;
        case "batch":
          this.#takeBack(entry.writeSet.batches.pop());
          break;
        case "contents":
          entry.writeSet.restore(entry.saved);
          break;
        case "writeSet":
          if (entry.before === undefined) this.#writeSets.delete(entry.tableId);
          else this.#writeSets.set(entry.tableId, entry.before);
          break;
      }
    }
    this.lostNumbers ||= this.tookNumbers;
    if (options.forgetReads) this.reads.length = mark.reads;
    this.messages.length = mark.messages;
    this.#commitChecks.length = mark.commitChecks;
    this.#pending = mark.pending;
    if (!options.keepLocks) this.#manager.locks.releaseAfter(this, mark.locks);
    if (this.#changes.length > mark.changes) {
      this.#changes.length = mark.changes;
      this.#catalog = mark.catalog;
    }
    this.#views.clear();
  }

  /**
   * The newest op among what was read since a mark (only what is not durable matters); 0 when all of it is durable.
   * Single rows are looked at one by one, everything else counts as the newest write to its table.
   */
  newestRead(since: number, durable: number): number {
    let newest = 0;
    for (let index = since; index < this.reads.length; index++) {
      const read = this.reads[index] as ReadPredicate;
      if (this.#manager.catalog.table(read.tableId) === undefined) continue;
      const store = this.#manager.store(read.tableId);
      if (store.lastModifiedOp <= durable) continue;
      let op: number = store.lastModifiedOp;
      if (read.kind === "id") {
        if (this.#writeSets.get(read.tableId)?.byId.has(read.id)) continue;
        const location = store.find(read.id, this.snapshot);
        if (location >= 0) op = store.versionOp(location);
      }
      if (op > durable && op > newest) newest = op;
    }
    return newest;
  }

  /** Reads at the newest state from now on: for a session's transaction of single reads, which notes nothing. */
  renew(): void {
    this.snapshot = this.#manager.lastOp;
    this.#timestamp = NaN;
    if (this.#views.size > 0) this.#views.clear();
  }

  /** Moves the snapshot; the manager has shown that nothing read so far changed. */
  moveSnapshot(snapshot: OpNumber): void {
    assert(snapshot >= this.snapshot, "a snapshot moves forward");
    this.snapshot = snapshot;
    this.#views.clear();
  }

  /**
   * Another transaction has changed the catalog: views are laid anew over the new definitions. A table with
   * uncommitted rows can only have got columns.
   */
  catalogChanged(): void {
    this.#views.clear();
    for (const [tableId, writeSet] of this.#writeSets) {
      const next = this.catalog.table(tableId);
      if (next !== undefined && next !== writeSet.definition) this.#widen(writeSet, next);
    }
  }

  #widen(writeSet: TableWriteSet, next: TableDefinition): void {
    const added = next.columns.slice(writeSet.definition.columns.length);
    this.#bytes += writeSet.rows.length * rowBytes(added.map((column) => column.missingValue));
    for (const batch of writeSet.batches) this.#takeBack(batch);
    writeSet.remap(next);
    for (const batch of writeSet.batches) this.#take(batch);
    for (const entry of this.#journal) {
      if (entry.kind === "contents" && entry.writeSet === writeSet) entry.saved.remap(next);
    }
  }

  /** How many uncommitted rows it has in the table; undefined: none. */
  writtenTo(tableId: number): Pick<TableWriteSet, "rowCount" | "written"> | undefined {
    return this.#writeSets.get(tableId);
  }

  /** Ids of the tables with uncommitted rows. */
  get writtenTables(): Iterable<number> {
    return this.#writeSets.keys();
  }

  /** Whether it has rows of its own in the table besides bulk loads, or has truncated it. */
  writesRows(tableId: number): boolean {
    const writeSet = this.#writeSets.get(tableId);
    return writeSet !== undefined && (writeSet.rows.length > 0 || writeSet.truncated);
  }

  /** Ids of the tables that its DDL makes, drops, or alters in another way than by adding columns. */
  get rewrittenTables(): number[] {
    const altered = this.#changes.flatMap((change) =>
      change.kind === "put_table" ? [change.table.id] : change.kind === "drop_table" ? [change.tableId] : []
    );
    return [...new Set(altered)].filter((id) => {
      const after = this.#catalog.table(id);
      return after === undefined || !onlyAddsColumns(this.#manager.catalog.table(id), after);
    });
  }

  #definition(tableId: number): TableDefinition {
    const table = this.catalog.table(tableId);
    // Another transaction has dropped it since the statement was compiled.
    if (table === undefined && this.compiledCatalog?.table(tableId) !== undefined) {
      throw new StaleSnapshot(tableId, 0);
    }
    return assertDefined(table, `table ${tableId}`);
  }

  /** The write set to write to; waits for a transaction that alters the table. */
  #writable(table: TableDefinition, options: { readonly spread: boolean } = { spread: true }): TableWriteSet {
    if (this.readOnly && !isTemporarySchema(table.schema)) {
      throw new DatabaseError(
        SQLSTATE.readOnlySqlTransaction,
        "cannot execute a write in a read-only transaction",
      );
    }
    const { catalog } = this.#manager;
    // The statement was compiled for a definition that another transaction has changed while it yielded.
    if (
      this.compiledCatalog !== null && this.compiledCatalog !== catalog &&
      !mayGoOn(this.compiledCatalog, catalog, table.id)
    ) throw new StaleSnapshot(table.id, 0);
    const existing = this.#writeSets.get(table.id);
    if (existing !== undefined) {
      const widening = this.#manager.wideningTransaction(table.id);
      if (widening !== undefined && widening !== this && existing.rowCount >= LIMITS.widenedRows) {
        throw new TableWait(widening, `relation "${table.name}"`);
      }
      if (options.spread && existing.batches.length > 0) {
        this.#note({ kind: "contents", writeSet: existing, saved: existing.copy() });
        existing.spreadBatches();
        this.#views.delete(table.id);
      }
      return existing;
    }
    const altering = this.#manager.alteringTransaction(table.id);
    if (altering !== undefined && altering !== this) {
      throw new TableWait(altering, `relation "${table.name}"`);
    }
    const writeSet = new TableWriteSet(table);
    this.#writeSets.set(table.id, writeSet);
    this.#views.delete(table.id);
    // An empty write set is taken back too: it would keep a later ALTER of another transaction waiting.
    this.#note({ kind: "writeSet", tableId: table.id, before: undefined });
    return writeSet;
  }

  /** Counts what the transaction holds; raises 53200 beyond the limit. */
  #account(values: StoredRow): void {
    this.#bytes += ROW_OVERHEAD_BYTES + rowBytes(values);
    if (this.#bytes > LIMITS.transactionMemoryBytes) {
      throw new DatabaseError(SQLSTATE.outOfMemory, "transaction holds too many uncommitted rows", {
        hint: "Split it into several transactions, or load the rows with COPY.",
      });
    }
  }

  #write(writeSet: TableWriteSet, id: RowId, values: StoredRow | null): void {
    this.#account(values ?? NO_VALUES);
    const own = writeSet.byId.get(id);
    if (own !== undefined) {
      if (values === null) this.lostNumbers ||= this.tookNumbers;
      this.#note({ kind: "set", writeSet, id, values: own.values });
      writeSet.set(own, values);
      return;
    }
    assert(!writeSet.truncated, "a truncated table has no committed rows");
    writeSet.add(id, values, true);
    this.#note(writeSet.added);
  }

  #take(batch: RowBatch): void {
    this.#batchMemory += batchMemory(batch);
    this.#batchBytes += batchBytes(batch);
  }

  #takeBack(batch: RowBatch | undefined): void {
    if (batch === undefined) return;
    this.#batchMemory -= batchMemory(batch);
    this.#batchBytes -= batchBytes(batch);
  }

  #note(entry: JournalEntry): void {
    this.#journal.push(entry);
  }

  #lockAndCheck(table: TableDefinition, id: RowId): void {
    this.#lock(table.id, id, () => `row ${id} of relation "${table.name}"`);
    // Nobody has committed anything since the snapshot: it is not even worth a look whether the row is its own.
    if (this.snapshot === this.#manager.lastOp || this.#writeSets.get(table.id)?.byId.has(id)) return;
    if (this.#manager.changedSince(table.id, id, this.snapshot)) throw new StaleSnapshot(table.id, id);
  }

  #lock(space: number, key: RowId | string, describe: () => string): void {
    const held = this.interruptible
      ? this.#manager.locks.acquire(space, key, this)
      : this.#manager.locks.heldByOther(space, key, this);
    if (held !== undefined) throw new LockWait(held, describe());
  }

  #lockKeys(table: TableDefinition, values: StoredRow): void {
    for (const index of table.indexes) {
      if (!index.unique) continue;
      const key = keyOf(table, index, values, index.columns.length);
      if (!forbidsDuplicates(index, key)) continue;
      this.#lock(index.id, keyText(keyColumns(table, index), key), () => `key of index "${index.name}"`);
    }
  }

  #checkUnique(table: TableDefinition, writeSet: TableWriteSet, values: StoredRow, id: RowId): void {
    for (const index of table.indexes) {
      if (!index.unique) continue;
      const key = keyOf(table, index, values, index.columns.length);
      if (!forbidsDuplicates(index, key)) continue;
      this.#lock(index.id, keyText(keyColumns(table, index), key), () => `key of index "${index.name}"`);
      for (const row of writeSet.lookup(index, key)) {
        if (row.id !== id) throw duplicateKey(table, index, values);
      }
      if (writeSet.truncated) continue;
      const rival = this.#manager.keyHolderNow(table, index, key, this, writeSet, id);
      if (rival) throw duplicateKey(table, index, values);
    }
  }

  /** One transaction at a time changes the catalog. */
  #requireCatalog(): void {
    this.becomeInterruptible();
    const rival = this.#manager.catalogOwner(this);
    if (rival !== undefined) throw new TableWait(rival, "the catalog");
    if (this.#changes.length === 0 && this.#catalog !== this.#manager.catalog) {
      this.#catalog = this.#manager.catalog;
    }
  }

  /** Waits for a transaction that alters the table, and for those with too many uncommitted rows to widen. */
  #requireWidening(table: TableDefinition, former: number): void {
    this.becomeInterruptible();
    const rival = this.#manager.widenTable(table.id, this, table.columns.slice(former));
    if (rival !== undefined) throw new TableWait(rival, `relation "${table.name}"`);
  }

  /** Waits until no other open transaction has uncommitted rows in the table, and keeps new ones out. */
  #requireExclusive(tableId: number, name: string): void {
    this.becomeInterruptible();
    const rival = this.#manager.claimTable(tableId, this);
    if (rival !== undefined) throw new TableWait(rival, `relation "${name}"`);
  }

  /** Whether this transaction has uncommitted rows in the table. */
  writes(tableId: number): boolean {
    return this.#writeSets.has(tableId);
  }

  /** Whether a committed row is replaced or deleted by this transaction. */
  writeSetRow(tableId: number, id: RowId): WriteSetRow | undefined {
    return this.#writeSets.get(tableId)?.byId.get(id);
  }
}
