/**
 * What uncommitted rows get when a column is added to their table while the transaction is open. Nobody waits: the
 * one who adds gives committed rows their values without locking them, and each of the others brings its own rows up
 * to date before its next statement and before its commit.
 *
 * - A row that was committed when it was changed has the value that the new column has in its committed version, so
 *   that a volatile default is drawn once for it. One that was created gets a default of its own, and what is
 *   generated is computed from the row as it was written. So the transaction is like one that began after the other.
 * - The one who adds does the same with rows that others commit before it: {@link refill}.
 * - Constraints over the column are looked at when the transaction commits, at the newest state.
 *
 * Rows in the journal are brought up to date as well, so that going back to a savepoint takes nothing of this back.
 */
import { assert } from "../base/assert.ts";
import { gas } from "../base/gas.ts";
import { forbidsDuplicates } from "../catalog/index_keys.ts";
import type { ColumnDefinition, IndexDefinition, TableDefinition } from "../catalog/definitions.ts";
import type { BatchColumn, RowBatch, RowId, StoredRow, StoredValue } from "../operations/effect.ts";
import { storageClassOf } from "../types/physical_type.ts";
import { NO_ROW } from "../storage/access/block.ts";
import { batchRow, constantColumn } from "./batch_values.ts";
import { duplicateKey } from "./duplicates.ts";
import type { JournalEntry } from "./journal.ts";
import { keyColumns, keyOf, keyText } from "./stored_key.ts";
import type { Transaction } from "./transaction.ts";
import { serializationFailure } from "./conflicts.ts";
import type { TransactionManager } from "./transaction_manager.ts";
import type { TableWriteSet } from "./write_set.ts";

/** Rows in one piece. */
const PIECE = 128;

/** Computes and checks values of rows outside of a statement. */
export interface RowMaker {
  /** What a new row has in a column: its default, or what is generated from the row's other values. */
  value(tableId: number, position: number, row: readonly StoredValue[]): StoredValue;
  /** A column of a bulk load. */
  column(storageClass: BatchColumn["storageClass"], values: readonly StoredValue[]): BatchColumn;
  /** Raises what is wrong with rows, some of it only when they are finished. */
  checker(tableId: number): { check(id: RowId, values: StoredRow): void; finish(): boolean };
}

/** A transaction from inside. */
export interface CatchingUp {
  readonly manager: TransactionManager;
  readonly transaction: Transaction;
  readonly maker: RowMaker;
  readonly writeSets: Iterable<TableWriteSet>;
  readonly journal: readonly JournalEntry[];
  readonly noteAdded: (writeSet: TableWriteSet) => void;
  readonly replaceBatch: (before: RowBatch, after: RowBatch) => void;
}

/** Ends pieces of work on rows. */
class Pieces {
  #rows = 0;

  /** Whether a piece ends behind this row. */
  get isDue(): boolean {
    if (++this.#rows % PIECE !== 0 && !gas.isTurnDue) return false;
    gas.beginTurn();
    return true;
  }
}

/** Brings the rows of all tables up to date. Left in between, it can be begun anew. */
export function* catchUp(work: CatchingUp): Generator<void, void> {
  for (const writeSet of work.writeSets) {
    yield* widen(work, writeSet);
    yield* refill(work, writeSet);
  }
}

/** Values of columns that rows do not have yet. */
class Tails {
  readonly #work: CatchingUp;
  readonly #writeSet: TableWriteSet;
  readonly #table: TableDefinition;

  constructor(work: CatchingUp, writeSet: TableWriteSet, table: TableDefinition) {
    this.#work = work;
    this.#writeSet = writeSet;
    this.#table = table;
  }

  /** The row with all columns. `existed`: those that are there have the committed values. */
  complete(id: RowId, values: StoredRow, existed: boolean): StoredRow {
    const { columns } = this.#table;
    if (values.length >= columns.length) return values;
    const row = values.slice();
    const origin = this.#writeSet.origins.get(id);
    const committed = origin === undefined ? (existed ? id : null) : origin;
    const store = committed === null ? null : this.#work.manager.store(this.#table.id);
    const location = store?.find(committed as RowId, this.#work.manager.lastOp) ?? NO_ROW;
    for (let position = values.length; position < columns.length; position++) {
      const column = columns[position] as ColumnDefinition;
      row.push(
        column.generatedText !== null
          ? null
          : store !== null && location !== NO_ROW
          ? store.valueAt(location, column.id)
          : this.fresh(id, position),
      );
    }
    this.generate(row, values.length);
    return row;
  }

  /** The default of a new row. */
  fresh(id: RowId, position: number): StoredValue {
    const column = this.#table.columns[position] as ColumnDefinition;
    if (column.missingValue !== null) return column.missingValue;
    if (column.defaultText === null && column.identity === null) return null;
    let byColumn = this.#writeSet.drawn.get(id);
    if (byColumn === undefined) this.#writeSet.drawn.set(id, byColumn = new Map());
    let value = byColumn.get(column.id);
    if (value === undefined) {
      byColumn.set(column.id, value = this.#work.maker.value(this.#table.id, position, []));
    }
    return value;
  }

  /** Computes generated columns of the row, from a position on. */
  generate(row: StoredValue[], from: number): void {
    for (let position = from; position < row.length; position++) {
      if ((this.#table.columns[position] as ColumnDefinition).generatedText === null) continue;
      row[position] = this.#work.maker.value(this.#table.id, position, row);
    }
  }
}

/** Gives the rows of a write set the columns that others have added to its table. */
function* widen(work: CatchingUp, writeSet: TableWriteSet): Generator<void, void> {
  const before = writeSet.definition;
  const next = work.transaction.catalog.table(before.id);
  if (next === undefined || next === before) return;
  assert(next.columns.length >= before.columns.length, "a table with uncommitted rows only gets columns");
  const tails = new Tails(work, writeSet, next);
  const pieces = new Pieces();
  for (const row of writeSet.rows) {
    if (row.values !== null) row.values = tails.complete(row.id, row.values, row.existed);
    if (pieces.isDue) yield;
  }
  const wider = new Map<RowBatch, RowBatch>();
  for (const [at, batch] of writeSet.batches.entries()) {
    const wide = yield* widerBatch(work, tails, batch, next, writeSet.replacing.has(batch));
    wider.set(batch, wide);
    if (writeSet.replacing.delete(batch)) writeSet.replacing.add(wide);
    writeSet.batches[at] = wide;
    work.replaceBatch(batch, wide);
  }
  for (const entry of work.journal) {
    if (!("writeSet" in entry) || entry.writeSet !== writeSet) continue;
    if (entry.kind === "set" && entry.values !== null) {
      entry.values = tails.complete(entry.id, entry.values, writeSet.byId.get(entry.id)?.existed === true);
      if (pieces.isDue) yield;
    } else if (entry.kind === "contents") {
      const { saved } = entry;
      for (const row of saved.rows) {
        if (row.values !== null) row.values = tails.complete(row.id, row.values, row.existed);
        if (pieces.isDue) yield;
      }
      for (const [at, batch] of saved.batches.entries()) {
        const isReplacing = saved.replacing.delete(batch);
        const wide = wider.get(batch) ?? (yield* widerBatch(work, tails, batch, next, isReplacing));
        saved.batches[at] = wide;
        if (isReplacing) saved.replacing.add(wide);
      }
      saved.takeDefinition(next);
    }
  }
  writeSet.takeDefinition(next);
  for (const { id } of next.indexes) {
    if (!before.indexes.some((each) => each.id === id)) writeSet.unlocked.add(id);
  }
  if (hasNewRules(before, next)) writeSet.unchecked = "all";
}

/** Whether a definition asks more of rows than the one before. */
function hasNewRules(before: TableDefinition, next: TableDefinition): boolean {
  return next.columns.slice(before.columns.length).some((column) => column.notNull) ||
    next.constraints.some(({ id }) => !before.constraints.some((each) => each.id === id)) ||
    next.indexes.some(({ id, unique }) => unique && !before.indexes.some((each) => each.id === id));
}

function* widerBatch(
  work: CatchingUp,
  tails: Tails,
  batch: RowBatch,
  { columns }: TableDefinition,
  existed: boolean,
): Generator<void, RowBatch> {
  const from = batch.columns.length;
  if (from >= columns.length) return batch;
  const added = columns.slice(from);
  const isComputed = ({ missingValue, defaultText, identity, generatedText }: ColumnDefinition): boolean =>
    generatedText !== null || missingValue === null && (defaultText !== null || identity !== null);
  if (!added.some(isComputed)) {
    const constants = added.map(({ type, missingValue }) =>
      constantColumn(storageClassOf(type), missingValue, batch.rowCount)
    );
    return { ...batch, columns: [...batch.columns, ...constants] };
  }
  const values: StoredValue[][] = added.map(() => []);
  const pieces = new Pieces();
  for (let row = 0; row < batch.rowCount; row++) {
    const complete = tails.complete(batch.ids[row] as number, batchRow(batch, row), existed);
    for (let at = 0; at < added.length; at++) values[at]?.push(complete[from + at] as StoredValue);
    if (pieces.isDue) yield;
  }
  const computed = added.map(({ type }, at) => work.maker.column(storageClassOf(type), values[at] ?? []));
  return { ...batch, columns: [...batch.columns, ...computed] };
}

/**
 * What others have committed since committed rows were given values of a new column: rows that came get values of
 * their own, those that changed keep theirs, those that went are forgotten.
 */
function* refill(work: CatchingUp, writeSet: TableWriteSet): Generator<void, void> {
  const { manager, transaction } = work;
  const { filled, definition: table } = writeSet;
  const { snapshot } = transaction;
  const committed = manager.catalog.table(table.id);
  if (filled === null || committed === undefined || snapshot === filled.at || writeSet.truncated) return;
  const store = manager.store(table.id);
  if (store.lastModifiedOp > filled.at) {
    const pieces = new Pieces();
    const touched = writeSet.unchecked ?? new Set<RowId>();
    for (const row of writeSet.rows) {
      if (row.isFilled && row.values !== null && store.find(row.id, snapshot) === NO_ROW) {
        writeSet.set(row, null);
        row.existed = false;
      }
      if (pieces.isDue) yield;
    }
    const known = new Set(committed.columns.map((column) => column.id));
    const tails = new Tails(work, writeSet, table);
    const cursor = store.at(snapshot).scan([], { ids: false, prune: [] });
    for (let block = cursor.next(); block !== null; block = cursor.next()) {
      for (let at = 0; at < block.rowCount; at++) {
        if (pieces.isDue) yield;
        if (block.hidden !== null && block.hidden[at] !== 0) continue;
        const location = block.firstLocation + at;
        if (store.versionOp(location) <= filled.at) continue;
        const id = store.idAt(location);
        const own = writeSet.byId.get(id);
        if (own === undefined ? writeSet.hides(id) : !own.isFilled) continue;
        const row = table.columns.map(({ id: columnId, generatedText }, position): StoredValue =>
          known.has(columnId)
            ? store.valueAt(location, columnId)
            : generatedText !== null
            ? null
            : own?.values?.[position] ?? tails.fresh(id, position)
        );
        tails.generate(row, 0);
        if (own === undefined) {
          writeSet.add(id, row, true, true);
          work.noteAdded(writeSet);
        } else {
          own.existed = true;
          writeSet.set(own, row);
        }
        if (touched !== "all") touched.add(id);
      }
    }
    writeSet.unchecked = touched;
  }
  writeSet.filled = { ...filled, at: snapshot };
}

/** Looks at the rows whose constraints have not been looked at. Nobody else commits meanwhile. */
export function* checkRows(work: CatchingUp): Generator<void, void> {
  for (const writeSet of work.writeSets) {
    const { unchecked, definition: table } = writeSet;
    if (unchecked === null) continue;
    const pieces = new Pieces();
    const checker = work.maker.checker(table.id);
    for (const [id, values] of rowsOf(writeSet)) {
      if (unchecked === "all" || unchecked.has(id)) checker.check(id, values());
      if (pieces.isDue) yield;
    }
    while (!checker.finish()) yield;
    const committed = work.manager.catalog.table(table.id);
    for (const index of table.indexes) {
      const isKnown = committed?.indexes.some(({ id }) => id === index.id) === true &&
        !writeSet.unlocked.has(index.id);
      if (index.unique && !isKnown) yield* checkKeys(work, writeSet, index);
    }
    writeSet.unchecked = null;
  }
}

function* rowsOf(writeSet: TableWriteSet): Iterable<readonly [RowId, () => StoredRow]> {
  for (const { id, values } of writeSet.rows) if (values !== null) yield [id, () => values];
  for (const batch of writeSet.batches) {
    for (let row = 0; row < batch.rowCount; row++) {
      yield [batch.ids[row] as number, () => batchRow(batch, row)];
    }
  }
}

/** Keys that no lock was taken for: none of the transaction's own, committed, or locked by another one is the same. */
function* checkKeys(
  { manager, transaction }: CatchingUp,
  writeSet: TableWriteSet,
  index: IndexDefinition,
): Generator<void, void> {
  const { definition: table } = writeSet;
  const columns = keyColumns(table, index);
  const isCommitted = manager.catalog.table(table.id)?.indexes.some((each) => each.id === index.id) === true;
  const seen = new Set<string>();
  const pieces = new Pieces();
  for (const [id, values] of rowsOf(writeSet)) {
    if (pieces.isDue) yield;
    const row = values();
    const key = keyOf(table, index, row, index.columns.length);
    if (!forbidsDuplicates(index, key)) continue;
    const text = keyText(columns, key);
    const isTaken = seen.has(text) ||
      isCommitted && manager.keyHolderNow(table, index, key, transaction, writeSet, id) !== null;
    if (isTaken) throw duplicateKey(table, index, row);
    if (manager.locks.heldByOther(index.id, text, transaction) !== undefined) {
      throw serializationFailure(manager.catalog, { tableId: table.id, id: null, op: null });
    }
    seen.add(text);
  }
}
