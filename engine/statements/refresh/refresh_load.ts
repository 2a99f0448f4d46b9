/**
 * Puts the rows of a refresh into the table: those with a new key are created, in whole batches where it goes, those
 * that differ are changed, and those that are the same are left alone. Rows that the source no longer has stay.
 *
 * All of it is one statement, and may run again after a wait: what was read is only looked at. Changed rows are written
 * before the batches, because a transaction keeps batches only as long as no single row is written behind them.
 */
import { assertDefined } from "../../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { columnPosition } from "../../catalog/catalog.ts";
import type { ColumnDefinition, TableDefinition } from "../../catalog/definitions.ts";
import type { LastRefresh } from "../../catalog/external_source.ts";
import type {
  CompiledStatement,
  ExecutionContext,
  StatementExecution,
} from "../../execution/runtime/execution.ts";
import type { ResultWriter } from "../../execution/runtime/result_writer.ts";
import { findFirst, readRow, routeTo, sameStored } from "../../execution/modify/key_route.ts";
import { checkRowId, RowChanges } from "../../execution/modify/row_changes.ts";
import { detachedState, RowCompletion } from "../../execution/modify/row_completion.ts";
import type { BatchColumn, RowBatch, RowId, StoredRow, StoredValue } from "../../operations/effect.ts";
import { NO_ROW, type RowLocation } from "../../storage/access/block.ts";
import type { ReadableTable } from "../../storage/access/readable_table.ts";
import { batchRow, batchValue } from "../../transactions/batch_values.ts";
import type { Transaction } from "../../transactions/transaction.ts";
import { storageClassOf } from "../../types/physical_type.ts";
import { reserveIds } from "../copy/batch_writer.ts";
import { columnOf } from "../copy/computed_columns.ts";
import { withContext } from "../copy/copy_options.ts";
import { RowWalk } from "../ddl/row_walk.ts";
import { SourceKeys } from "./source_keys.ts";

/** Rows written in one piece. */
const PIECE = 256;
/** A table that is so many times larger than the source is asked for each key, a smaller one is walked over. */
const LARGER = 8;

/** What is to be put into the table. */
export interface RefreshLoad {
  readonly table: TableDefinition;
  readonly batches: readonly RowBatch[];
  readonly refresh: LastRefresh;
  readonly transaction: () => Transaction;
}

/** The load as a statement. */
export function refreshStatement(load: RefreshLoad): CompiledStatement {
  return { source: () => "", start: (context) => new RefreshExecution(context, load) };
}

class RefreshExecution implements StatementExecution {
  readonly insertedId = null;
  readonly profile = [];
  readonly rowCount: number;
  readonly #context: ExecutionContext;
  readonly #load: RefreshLoad;
  readonly #table: TableDefinition;
  readonly #changes: RowChanges;
  readonly #state: ReturnType<typeof detachedState>;
  readonly #steps: Generator<void, void>;

  constructor(context: ExecutionContext, load: RefreshLoad) {
    this.#context = context;
    this.#load = load;
    this.#table = currentTable(context, load.table);
    this.rowCount = load.refresh.rows;
    const state = this.#state = detachedState(context);
    this.#changes = new RowChanges(context, this.#table.id, state);
    this.#steps = this.#run();
  }

  step(_writer: ResultWriter): boolean {
    this.#context.checkCanceled();
    return this.#steps.next().done === true;
  }

  *#run(): Generator<void, void> {
    // First, so that statements which change the table wait for this one.
    this.#load.transaction().change({
      kind: "note_refresh",
      tableId: this.#table.id,
      refresh: this.#load.refresh,
    });
    const { position, column } = this.#key();
    const batches = yield* this.#completed();
    const keys = new SourceKeys(batches, column, position);
    yield* keys.prepare();
    const known = yield* this.#changeKnown(keys, column);
    yield* this.#create(batches, keys, known);
    while (!this.#changes.finish()) yield;
  }

  /** The rows with what the table computes of each: keys of indexes over expressions. */
  *#completed(): Generator<void, readonly RowBatch[]> {
    const { batches } = this.#load;
    const computed = [...this.#table.columns.entries()].filter(([, { generatedText }]) =>
      generatedText !== null
    );
    if (computed.length === 0) return batches;
    const completion = new RowCompletion(this.#context.writer.catalog, this.#table);
    const completed: RowBatch[] = [];
    let number = 0;
    for (const batch of batches) {
      const made = computed.map((): StoredValue[] => []);
      for (let row = 0; row < batch.rowCount; row++, number++) {
        const values = [...batchRow(batch, row)];
        try {
          completion.complete(this.#context, values, this.#state);
        } catch (thrown) {
          throw withContext(thrown, this.#place(number));
        }
        for (const [index, [position]] of computed.entries()) made[index]?.push(values[position] ?? null);
        if (row % PIECE === PIECE - 1) yield;
      }
      const columns = [...batch.columns];
      for (const [index, [position, { type }]] of computed.entries()) {
        columns[position] = columnOf(storageClassOf(type), made[index] ?? []);
      }
      completed.push({ ...batch, columns });
    }
    return completed;
  }

  #key(): { readonly position: number; readonly column: ColumnDefinition } {
    const { external } = this.#table;
    const position = columnPosition(this.#table, assertDefined(external, "external source").keyColumn);
    return { position, column: assertDefined(this.#table.columns[position], "key column") };
  }

  /** Writes rows that the table has in another form. Answers which rows of the source it has. */
  *#changeKnown(keys: SourceKeys, column: ColumnDefinition): Generator<void, Uint8Array | null> {
    const reader = this.#context.table(this.#table.id);
    if (reader.exactRowCount() === 0) return null;
    const known = new Uint8Array(keys.rowCount);
    const changed: { readonly number: number; readonly id: RowId; readonly before: StoredRow }[] = [];
    const meet = (number: number, location: RowLocation) => {
      known[number] = 1;
      const { batch, row } = keys.locate(number);
      if (this.#isSame(reader, location, batch, row)) return;
      changed.push({ number, id: reader.idAt(location), before: readRow(reader, this.#table, location) });
    };
    if (reader.estimatedRows > keys.rowCount * LARGER) yield* this.#lookUp(keys, column, reader, meet);
    else {
      const walk = new RowWalk(this.#context, this.#table.id, []);
      while (
        !walk.advance((location) => {
          const number = keys.find(reader.valueAt(location, column.id));
          if (number >= 0) meet(number, location);
        })
      ) yield;
    }
    for (const [index, { number, id, before }] of changed.entries()) {
      const { batch, row } = keys.locate(number);
      const values = batchRow(batch, row);
      try {
        this.#context.writer.update(this.#table.id, id, values);
      } catch (thrown) {
        throw withContext(thrown, this.#place(number));
      }
      this.#changes.updated(id, before, values);
      if (index % PIECE === PIECE - 1) yield;
    }
    return known;
  }

  *#lookUp(
    keys: SourceKeys,
    column: ColumnDefinition,
    reader: ReadableTable,
    meet: (number: number, location: RowLocation) => void,
  ): Generator<void, void> {
    const route = routeTo(this.#table, [column.id]);
    const position = columnPosition(this.#table, column.id);
    for (let number = 0; number < keys.rowCount; number++) {
      if (number % PIECE === PIECE - 1) yield;
      if (!keys.counts(number)) continue;
      const { batch, row } = keys.locate(number);
      const location = findFirst(reader, route, [column], [batchValue(batch, row, position)]);
      if (location !== NO_ROW) meet(number, location);
    }
  }

  #isSame(reader: ReadableTable, location: RowLocation, batch: RowBatch, row: number): boolean {
    const { columns } = this.#table;
    for (let position = 0; position < columns.length; position++) {
      const column = columns[position] as ColumnDefinition;
      if (!identical(column, reader.valueAt(location, column.id), batchValue(batch, row, position))) {
        return false;
      }
    }
    return true;
  }

  *#create(
    batches: readonly RowBatch[],
    keys: SourceKeys,
    known: Uint8Array | null,
  ): Generator<void, void> {
    let first = 0;
    const whole: { readonly batch: RowBatch; readonly first: number }[] = [];
    for (const batch of batches) {
      const wanted: number[] = [];
      for (let row = 0; row < batch.rowCount; row++) {
        if (known?.[first + row] !== 1 && keys.counts(first + row)) wanted.push(row);
      }
      if (wanted.length > 0) {
        whole.push({ batch: wanted.length === batch.rowCount ? batch : chosenRows(batch, wanted), first });
      }
      first += batch.rowCount;
      yield;
    }
    // Single rows first: see the file's head.
    const ready: { readonly batch: RowBatch; readonly first: number }[] = [];
    for (const each of whole) {
      const ids = this.#idsFor(each.batch);
      if (ids instanceof Float64Array) ready.push({ ...each, batch: { ...each.batch, ids } });
      else yield* this.#createRows(each.batch, ids, each.first);
    }
    for (const { batch, first: number } of ready) yield* this.#createBatch(batch, number);
  }

  *#createRows(batch: RowBatch, ids: readonly RowId[], first: number): Generator<void, void> {
    for (const [row, id] of ids.entries()) {
      const values = batchRow(batch, row);
      try {
        this.#context.writer.create(this.#table.id, id, values);
      } catch (thrown) {
        throw withContext(thrown, this.#place(first + row));
      }
      if (row % PIECE === PIECE - 1) yield;
    }
  }

  *#createBatch(batch: RowBatch, first: number): Generator<void, void> {
    const { writer } = this.#context;
    if (this.#table.rowIdColumn !== null || this.#table.indexes.some((index) => index.unique)) {
      const check = assertDefined(writer.checkBatch, "check of batches");
      const conflict = yield* check.call(writer, this.#table.id, batch);
      if (conflict !== null) throw withContext(conflict.error, this.#place(first + conflict.row));
    }
    writer.createBatch(this.#table.id, batch);
    yield;
  }

  #idsFor(batch: RowBatch): Float64Array | readonly RowId[] {
    const { rowIdColumn } = this.#table;
    if (rowIdColumn === null) return reserveIds(this.#context.writer, this.#table.id, batch.rowCount);
    const position = columnPosition(this.#table, rowIdColumn);
    const column = batch.columns[position] as Extract<BatchColumn, { storageClass: "int" }>;
    if (column.big === null) return column.data.subarray(0, batch.rowCount);
    return Array.from(
      { length: batch.rowCount },
      (_, row) => checkRowId(this.#table, batchValue(batch, row, position)),
    );
  }

  #place(number: number): string {
    return `REFRESH ${this.#table.name}, row ${number + 1} of all`;
  }
}

/** The table as it is now. Raises 55000 when it is no longer what the rows were read for. */
function currentTable(context: ExecutionContext, read: TableDefinition): TableDefinition {
  const now = context.writer.catalog.table(read.id);
  const isSame = now !== undefined && now.external !== undefined &&
    now.columns.length === read.columns.length &&
    now.columns.every((column, position) => column.id === read.columns[position]?.id);
  if (isSame) return now;
  throw new DatabaseError(
    SQLSTATE.objectNotInPrerequisiteState,
    `external source "${read.name}" was ${
      now === undefined ? "dropped" : "altered"
    } while REFRESH read its rows`,
  );
}

/** Whether two stored values are the same to the last bit that a query could tell. */
function identical(column: ColumnDefinition, left: StoredValue, right: StoredValue): boolean {
  if (left === right) return true;
  if (left === null || right === null) return false;
  if (left instanceof Uint8Array && right instanceof Uint8Array) {
    return left.length === right.length && left.every((byte, index) => byte === right[index]);
  }
  return typeof left !== "string" && Object.is(left, right) || sameStored(column, left, right);
}

/** A batch of some rows of another. */
function chosenRows(batch: RowBatch, rows: readonly number[]): RowBatch {
  const nullsOf = (nulls: Uint8Array | null): Uint8Array | null =>
    nulls === null ? null : Uint8Array.from(rows, (row) => nulls[row] as number);
  const columns = batch.columns.map((column): BatchColumn => {
    const nulls = nullsOf(column.nulls);
    switch (column.storageClass) {
      case "int":
      case "float": {
        const data = Float64Array.from(rows, (row) => column.data[row] as number);
        if (column.storageClass === "float") return { storageClass: "float", data, nulls };
        if (column.big === null) return { storageClass: "int", data, nulls, big: null };
        const big = new Map<number, bigint>();
        for (const [at, row] of rows.entries()) {
          const value = column.big.get(row);
          if (value !== undefined) big.set(at, value);
        }
        return { storageClass: "int", data, nulls, big: big.size === 0 ? null : big };
      }
      default: {
        const offsets = new Uint32Array(rows.length + 1);
        for (const [at, row] of rows.entries()) {
          offsets[at + 1] = (offsets[at] as number) + (column.offsets[row + 1] as number) -
            (column.offsets[row] as number);
        }
        const bytes = new Uint8Array(offsets[rows.length] as number);
        for (const [at, row] of rows.entries()) {
          bytes.set(column.bytes.subarray(column.offsets[row], column.offsets[row + 1]), offsets[at]);
        }
        return { storageClass: column.storageClass, offsets, bytes, nulls };
      }
    }
  });
  return { rowCount: rows.length, ids: new Float64Array(0), columns };
}
