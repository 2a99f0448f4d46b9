/**
 * Puts the rows that COPY has parsed into the table.
 *
 * Parsing and loading are apart: the client's data comes only once, but a statement may have to run again after a
 * wait, so the parsed batches are kept until the load is through. Batches are written as they are: unique indexes,
 * foreign keys, triggers, checks and generated columns are worked through batch by batch. Only COPY … WHERE, and
 * tables whose triggers set the row's id, take row by row what INSERT does. Either way the first bad line of the data
 * is the one that is named.
 */
import { assertDefined } from "../../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { gas } from "../../base/gas.ts";
import type { ColumnDefinition, TableDefinition } from "../../catalog/definitions.ts";
import type {
  CompiledStatement,
  ExecutionContext,
  StatementExecution,
} from "../../execution/runtime/execution.ts";
import type { ResultWriter } from "../../execution/runtime/result_writer.ts";
import { checkRowId, RowChanges } from "../../execution/modify/row_changes.ts";
import {
  compileTableExpression,
  detachedState,
  type RowFunction,
} from "../../execution/modify/row_completion.ts";
import { type CompiledTriggers, NO_STORED_ROW, setsRowId } from "../../execution/modify/row_triggers.ts";
import { rulesOf, type TableRules } from "../../execution/modify/table_rules.ts";
import { duplicateRowId, notNullViolation } from "../../execution/modify/violations.ts";
import type { BatchColumn, RowBatch, RowId, StoredRow, StoredValue } from "../../operations/effect.ts";
import type { ColumnRef, Expression } from "../../sql/plan/expression.ts";
import { NO_ROW } from "../../storage/access/block.ts";
import { onlyAddsColumns } from "../../transactions/added_columns.ts";
import { batchRow, constantColumn } from "../../transactions/batch_values.ts";
import { RowIdSet } from "../../transactions/row_id_set.ts";
import { fileOf } from "../../transactions/stored_batches.ts";
import { storageClassOf } from "../../types/physical_type.ts";
import { columnOf, type ColumnReader, columnReader } from "./computed_columns.ts";
import { reserveIds } from "./batch_writer.ts";
import { withContext } from "./copy_options.ts";
import type { ParsedBatch } from "../parsed_copy.ts";

/** Rows loaded one by one, or completed, in one piece. */
const PIECE = 2048;
/** Time after which a piece of rows that are loaded one by one ends early. */
const PIECE_MICROSECONDS = 1_000;
/** From so many batches on a bit for each id is kept, to find one that comes twice. */
const MANY_BATCHES = 256;
/** Rows whose foreign keys are looked up in one piece. */
const PARENTS_PIECE = 256;

/** What is to be loaded. */
export interface CopyLoad {
  readonly table: TableDefinition;
  /** Positions of the columns that the data has; the others get their defaults. */
  readonly positions: readonly number[];
  readonly batches: readonly ParsedBatch[];
  /** Other statements may follow in the same transaction. */
  readonly inBlock: boolean;
  /** COPY … WHERE. */
  readonly where: { readonly expression: Expression; readonly columns: readonly ColumnRef[] } | null;
}

/** The load as a statement. */
export function loadStatement(load: CopyLoad): CompiledStatement {
  return { source: () => "", start: (context) => new LoadExecution(context, load) };
}

/** Whether rows can be written batch by batch. */
function takesBatches(load: CopyLoad, context: ExecutionContext): boolean {
  const { table } = load;
  const { writer } = context;
  return load.where === null && !setsRowId(table, "insert") &&
    (writer.checkBatch !== undefined || !hasKeys(table)) &&
    (!load.inBlock || writer.changesBatches === true);
}

/** Whether rows may have an id or a key that another one has. */
function hasKeys(table: TableDefinition): boolean {
  return table.rowIdColumn !== null || table.indexes.some((index) => index.unique);
}

/** Whether rows have to be computed or checked one by one, beyond triggers and NOT NULL. */
function needsCompletion(table: TableDefinition): boolean {
  return table.columns.some((column) => column.generatedText !== null) ||
    table.constraints.some((constraint) => constraint.kind === "check");
}

/** The first row of all whose id is taken. */
interface BadRow {
  readonly parsed: ParsedBatch;
  readonly row: number;
  readonly error: DatabaseError;
}

/** A batch, and what is wrong with the row after its last one. */
interface CheckedBatch {
  readonly batch: RowBatch;
  readonly error: unknown;
}

/** Rows of a batch on their way through triggers, generated columns and checks. */
interface RowsWork {
  readonly batch: RowBatch;
  /** Positions of what is read of a row, and how. */
  readonly reads: readonly number[];
  readonly readers: readonly ColumnReader[];
  /** Positions of what is computed, and by position what has come of it. */
  readonly makes: readonly number[];
  readonly made: readonly StoredValue[][];
  /** One row for all: only what is read of it is filled in. */
  readonly values: StoredValue[];
  row: number;
  error: unknown;
}

/** The batch with room for columns that were added to the table while the data came. */
function widened({ batch, ...others }: ParsedBatch, { columns }: TableDefinition): ParsedBatch {
  const added = columns.slice(batch.columns.length).map(({ type }) =>
    constantColumn(storageClassOf(type), null, batch.rowCount)
  );
  return { batch: { ...batch, columns: [...batch.columns, ...added] }, ...others };
}

function idsIn(columns: readonly BatchColumn[], position: number, rowCount: number): Float64Array {
  return (columns[position] as Extract<BatchColumn, { storageClass: "int" }>).data.subarray(0, rowCount);
}

class LoadExecution implements StatementExecution {
  rowCount = 0;
  readonly insertedId = null;
  readonly profile = [];
  readonly #context: ExecutionContext;
  readonly #load: CopyLoad;
  readonly #rules: TableRules;
  /** Positions with a default of their own. */
  readonly #defaulted: readonly number[];
  readonly #state: ReturnType<typeof detachedState>;
  readonly #inBatches: boolean;
  readonly #completes: boolean;
  readonly #changes: RowChanges;
  readonly #where: RowFunction | null;
  readonly #triggers: CompiledTriggers | null;
  #batch = 0;
  #row = 0;
  #checking: Generator<void, BadRow | null> | null = null;
  #badId: BadRow | null = null;
  /** The batch on its way. */
  #loading: Generator<void, void> | null = null;

  constructor(context: ExecutionContext, load: CopyLoad) {
    const table = context.writer.catalog.table(load.table.id);
    if (table === undefined || !onlyAddsColumns(load.table, table)) {
      throw new DatabaseError(
        SQLSTATE.objectNotInPrerequisiteState,
        `relation "${load.table.name}" was altered while COPY received its data`,
        { hint: "Run the COPY again." },
      );
    }
    this.#context = context;
    const isWider = table.columns.length > load.table.columns.length;
    const batches = isWider ? load.batches.map((parsed) => widened(parsed, table)) : load.batches;
    this.#load = load = { ...load, table, batches };
    this.#rules = rulesOf(context.writer.catalog, table.id);
    this.#state = detachedState(context);
    this.#changes = new RowChanges(context, table.id, this.#state);
    this.#defaulted = table.columns.flatMap((column, position) =>
      (column.defaultText !== null || column.identity !== null) && !load.positions.includes(position)
        ? [position]
        : []
    );
    this.#inBatches = takesBatches(load, context) && (table.rowIdColumn === null || !this.#hasBigIds());
    this.#completes = needsCompletion(table);
    this.#triggers = this.#rules.triggers.of("insert");
    this.#where = load.where === null
      ? null
      : compileTableExpression(context, table, load.where, { kind: "bool" });
  }

  step(_writer: ResultWriter): boolean {
    const { batches } = this.#load;
    gas.beginTurn();
    this.#context.checkCanceled();
    const parsed = batches[this.#batch];
    if (parsed === undefined) {
      return this.#changes.finish();
    }
    if (!this.#inBatches) {
      this.#loadRows(parsed);
      return false;
    }
    this.#checking ??= this.#firstBadId();
    const check = this.#checking.next();
    if (check.done !== true) return false;
    this.#badId ??= check.value ?? null;
    this.#loading ??= this.#loadBatch(parsed);
    if (this.#loading.next().done === true) {
      this.#loading = null;
      this.#batch++;
    }
    return false;
  }

  #idColumn(): number {
    const { table } = this.#load;
    return table.columns.findIndex((column) => column.id === table.rowIdColumn);
  }

  #hasBigIds(): boolean {
    const position = this.#idColumn();
    if (!this.#load.positions.includes(position)) return true;
    return this.#load.batches.some(({ ids }) => ids === null);
  }

  #place(line: number): string {
    return `COPY ${this.#load.table.name}, line ${line}`;
  }

  // Whole batches.

  *#loadBatch(parsed: ParsedBatch): Generator<void, void> {
    const { table } = this.#load;
    const { writer } = this.#context;
    const { firstLine } = parsed;
    const complete: RowBatch = { ...parsed.batch, columns: yield* this.#withDefaults(parsed.batch) };
    let checked = this.#completes || this.#triggers !== null
      ? yield* this.#completed(complete)
      : { batch: complete, error: null };
    if (!this.#completes) checked = this.#withoutNulls(checked);
    const bad = this.#badId;
    if (bad?.parsed === parsed && bad.row < checked.batch.rowCount) {
      checked = { batch: { ...checked.batch, rowCount: bad.row }, error: bad.error };
    }
    const { rowCount } = checked.batch;
    const ids = this.#idsFor(checked.batch);
    if (!(ids instanceof Float64Array)) {
      this.#loadApart(checked, ids, firstLine);
      return;
    }
    const batch: RowBatch = { ...checked.batch, ids };
    if (rowCount > 0 && hasKeys(table)) {
      const conflict = yield* assertDefined(writer.checkBatch, "check of batches").call(
        writer,
        table.id,
        batch,
      );
      if (conflict !== null) throw withContext(conflict.error, this.#place(firstLine + conflict.row));
    }
    if (checked.error !== null) throw withContext(checked.error, this.#place(firstLine + rowCount));
    writer.createBatch(table.id, this.#asStored(parsed, batch));
    this.rowCount += rowCount;
    if (this.#rules.outgoing.length === 0) return;
    for (let row = 0; row < rowCount; row += PARENTS_PIECE) {
      yield;
      this.#changes.createdBatch(batch, row, Math.min(row + PARENTS_PIECE, rowCount));
    }
  }

  /** The batch as it lies in a file already, where it is as it was parsed. */
  #asStored({ batch }: ParsedBatch, complete: RowBatch): RowBatch {
    const file = fileOf(batch);
    const isParsed = complete.rowCount === batch.rowCount &&
      complete.columns.every((column, position) => column === batch.columns[position]);
    if (file === undefined || !isParsed) return complete;
    const position = this.#idColumn();
    const { rowCount, ids } = complete;
    const first = ids[0] ?? 0;
    return file.withIds(
      batch,
      position < 0
        ? () => Float64Array.from({ length: rowCount }, (_, row) => first + row)
        : (columns) => idsIn(columns, position, rowCount),
    );
  }

  #idsFor({ rowCount, columns }: RowBatch): Float64Array | readonly RowId[] {
    const position = this.#idColumn();
    if (position < 0) return reserveIds(this.#context.writer, this.#load.table.id, rowCount);
    return idsIn(columns, position, rowCount);
  }

  /** Rows whose ids from the table's counter are too large for a batch. */
  #loadApart({ batch, error }: CheckedBatch, ids: readonly RowId[], firstLine: number): void {
    const { id: tableId } = this.#load.table;
    for (const [row, id] of ids.entries()) {
      try {
        const values = batchRow(batch, row);
        this.#context.writer.create(tableId, id, values);
        this.#changes.created(id, values);
      } catch (thrown) {
        throw withContext(thrown, this.#place(firstLine + row));
      }
    }
    if (error !== null) throw withContext(error, this.#place(firstLine + batch.rowCount));
    this.rowCount += batch.rowCount;
  }

  /** The batch up to the first NULL where there must be none. */
  #withoutNulls(checked: CheckedBatch): CheckedBatch {
    const { table } = this.#load;
    const { batch } = checked;
    let rowCount = batch.rowCount, bad = -1;
    for (const [position, column] of table.columns.entries()) {
      if (!column.notNull && column.id !== table.rowIdColumn) continue;
      const row = batch.columns[position]?.nulls?.subarray(0, rowCount).indexOf(1) ?? -1;
      if (row < 0) continue;
      rowCount = row;
      bad = position;
    }
    if (bad < 0) return checked;
    const error = notNullViolation(table, bad, batchRow(batch, rowCount));
    return { batch: { ...batch, rowCount }, error };
  }

  /** The batch as triggers and generated columns make it, up to the first row that violates NOT NULL or a check. */
  *#completed(batch: RowBatch): Generator<void, CheckedBatch> {
    const { table } = this.#load;
    const uses = new Set(this.#triggers?.uses);
    if (this.#completes) { for (const position of this.#rules.completion.uses) uses.add(position); }
    const isMade = (column: ColumnDefinition, position: number): boolean =>
      column.generatedText !== null || this.#triggers?.sets.has(position) === true;
    const work: RowsWork = {
      batch,
      reads: [...uses],
      readers: [...uses].map((position) =>
        columnReader(batch.columns[position] as BatchColumn, batch.rowCount)
      ),
      makes: table.columns.flatMap((column, position) => isMade(column, position) ? [position] : []),
      made: table.columns.map(() => []),
      values: table.columns.map(() => null),
      row: 0,
      error: null,
    };
    while (!this.#completeRows(work)) yield;
    const columns = batch.columns.slice();
    for (const position of work.makes) {
      const { storageClass } = batch.columns[position] as BatchColumn;
      columns[position] = columnOf(storageClass, work.made[position] ?? []);
    }
    return { batch: { ...batch, rowCount: work.row, columns }, error: work.error };
  }

  /** Works through a piece of the rows; true: through the last one, or the first bad one. No generator: it is hot. */
  #completeRows(work: RowsWork): boolean {
    const { batch, reads, readers, makes, made, values } = work;
    const fire = this.#triggers?.fire ?? null;
    const completion = this.#completes ? this.#rules.completion : null;
    const state = this.#state;
    const end = Math.min(batch.rowCount, work.row + PIECE);
    try {
      for (; work.row < end; work.row++) {
        for (let index = 0; index < reads.length; index++) {
          values[reads[index] as number] = (readers[index] as ColumnReader)(work.row);
        }
        if (fire !== null) fire(state, values, NO_STORED_ROW);
        if (completion !== null) completion.complete(this.#context, values, state);
        for (let index = 0; index < makes.length; index++) {
          const position = makes[index] as number;
          (made[position] as StoredValue[]).push(values[position] as StoredValue);
        }
        if (gas.isTurnDue) {
          work.row++;
          break;
        }
      }
    } catch (thrown) {
      if (!(thrown instanceof DatabaseError)) throw thrown;
      work.error = this.#failureOf(batch, work.row, thrown);
      return true;
    }
    return work.row >= batch.rowCount;
  }

  /** The error of a row with all of its values in it. */
  #failureOf(batch: RowBatch, row: number, otherwise: DatabaseError): unknown {
    const values = batchRow(batch, row);
    try {
      this.#triggers?.fire(this.#state, values, NO_STORED_ROW);
      this.#rules.completion.complete(this.#context, values, this.#state);
    } catch (thrown) {
      return thrown;
    }
    return otherwise;
  }

  /** The batch's columns; those that the data lacks hold defaults. */
  *#withDefaults(batch: RowBatch): Generator<void, readonly BatchColumn[]> {
    if (this.#load.positions.length === this.#load.table.columns.length) return batch.columns;
    const { rowCount } = batch;
    const columns: BatchColumn[] = [];
    for (const [position, column] of batch.columns.entries()) {
      if (this.#load.positions.includes(position)) columns.push(column);
      else if (!this.#defaulted.includes(position)) {
        columns.push(constantColumn(column.storageClass, null, rowCount));
      } else columns.push(columnOf(column.storageClass, yield* this.#defaults(position, rowCount)));
    }
    return columns;
  }

  /** The defaults of a column for so many rows. */
  *#defaults(position: number, rowCount: number): Generator<void, readonly StoredValue[]> {
    const values: StoredValue[] = [];
    for (let row = 0; row < rowCount; row++) {
      if (row % PIECE === PIECE - 1 || gas.isTurnDue) yield;
      values.push(this.#rules.completion.newValue(this.#context, position, [], this.#state));
    }
    return values;
  }

  /** The first row whose id is not new: ascending ids above everything in the table need one look, others one each. */
  *#firstBadId(): Generator<void, BadRow | null> {
    const { table, batches } = this.#load;
    const position = this.#idColumn();
    if (position < 0) return null;
    let previous = -Infinity, isAscending = true, lowest = Infinity;
    for (const { ids } of batches) {
      if (ids === null || ids.lowest === Infinity) continue;
      if (!ids.isAscending || ids.first <= previous) isAscending = false;
      previous = ids.last;
      lowest = Math.min(lowest, ids.lowest);
    }
    if (lowest === Infinity) return null;
    const reader = this.#context.table(table.id);
    const above = { prefix: [], low: { value: lowest, inclusive: true }, high: null, backward: false };
    const isFree = !(reader.mayHave?.(null, above) ?? reader.findRange(above).next() !== NO_ROW);
    if (isAscending && isFree) return null;
    // A Set holds no more than 2^24, and takes less where ids are few.
    const seen = batches.length < MANY_BATCHES ? new Set<number>() : new RowIdSet();
    for (const parsed of batches) {
      yield;
      const { batch } = parsed;
      const column = batch.columns[position] as Extract<BatchColumn, { storageClass: "int" }>;
      for (let row = 0; row < batch.rowCount; row++) {
        const id = column.data[row] as number;
        if (column.nulls?.[row] === 1) continue;
        const isTaken = !isFree && reader.find(id) !== NO_ROW;
        if (isTaken) this.#context.writer.awaitHolder?.(table, id, null);
        if (isTaken || !isAscending && seen.has(id)) {
          return { parsed, row, error: duplicateRowId(table, id) };
        }
        if (!isAscending) seen.add(id);
      }
    }
    return null;
  }

  // Row by row.

  #loadRows({ batch, firstLine }: ParsedBatch): void {
    const end = Math.min(batch.rowCount, this.#row + PIECE);
    // A condition is the statement's own: it has no steps, but may take long.
    const due = this.#context.monotonic() + PIECE_MICROSECONDS;
    for (; this.#row < end && !gas.isTurnDue && this.#context.monotonic() < due; this.#row++) {
      try {
        this.#loadRow(batch, this.#row);
      } catch (thrown) {
        throw withContext(thrown, this.#place(firstLine + this.#row));
      }
    }
    if (this.#row < batch.rowCount) return;
    this.#row = 0;
    this.#batch++;
  }

  #loadRow(batch: RowBatch, index: number): void {
    const { table, positions } = this.#load;
    const { writer } = this.#context;
    const row: StoredValue[] = batchRow(batch, index);
    for (let position = 0; position < row.length; position++) {
      if (!positions.includes(position)) row[position] = null;
    }
    for (const position of this.#defaulted) {
      row[position] = this.#rules.completion.newValue(this.#context, position, row, this.#state);
    }
    if (this.#where !== null && this.#where(row) !== 1) return;
    this.#triggers?.fire(this.#state, row, NO_STORED_ROW);
    this.#rules.completion.complete(this.#context, row, this.#state);
    const id = this.#rowId(row);
    writer.create(table.id, id, row);
    this.#changes.created(id, row);
    this.rowCount++;
  }

  #rowId(row: StoredRow): RowId {
    const position = this.#idColumn();
    return position < 0
      ? this.#context.writer.nextRowId(this.#load.table.id)
      : checkRowId(this.#load.table, row[position] ?? null);
  }
}
