/**
 * Puts the rows that COPY has parsed into the table.
 *
 * Parsing and loading are apart: the client's data comes only once, but a statement may have to run again after a wait, so
 * the parsed batches are kept until the load is through. Tables without rules beyond NOT NULL take whole batches; others
 * take row by row what INSERT does.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { TableDefinition } from "../../catalog/definitions.ts";
import type { CompiledStatement, ExecutionContext, StatementExecution } from "../../execution/execution.ts";
import type { ResultWriter } from "../../execution/result_writer.ts";
import { checkRowId, RowChanges } from "../../execution/modify/row_changes.ts";
import {
  compileTableExpression,
  detachedState,
  type RowFunction,
} from "../../execution/modify/row_completion.ts";
import { rulesOf, type TableRules } from "../../execution/modify/table_rules.ts";
import { duplicateRowId, notNullViolation } from "../../execution/modify/violations.ts";
import type { BatchColumn, RowBatch, RowId, StoredRow, StoredValue } from "../../operations/effect.ts";
import type { ColumnRef, Expression } from "../../sql/plan/expression.ts";
import { NO_ROW } from "../../storage/vector.ts";
import { batchRow } from "../../transactions/overlay.ts";
import { reserveIds } from "./batch_writer.ts";
import { withContext } from "./copy_options.ts";

/** Rows loaded one by one in one piece. */
const PIECE = 2048;

/** Parsed rows and the line of the data that the first came from. */
export interface ParsedBatch {
  readonly batch: RowBatch;
  readonly firstLine: number;
}

/** What is to be loaded. */
export interface CopyLoad {
  readonly table: TableDefinition;
  /** Positions of the columns that the data has; the others get their defaults. */
  readonly positions: readonly number[];
  readonly batches: readonly ParsedBatch[];
  /** Other statements may follow in the same transaction. */
  readonly inBlock: boolean;
  /** Whether other transactions are open that may have taken the same ids. */
  readonly othersActive: () => boolean;
  /** COPY … WHERE. */
  readonly where: { readonly expression: Expression; readonly columns: readonly ColumnRef[] } | null;
}

/** The load as a statement. */
export function loadStatement(load: CopyLoad): CompiledStatement {
  return { source: "", start: (context) => new LoadExecution(context, load) };
}

/** Whether rows need nothing but NOT NULL, ids and writing. */
function isPlain(load: CopyLoad): boolean {
  const { table } = load;
  return load.where === null && table.triggers.length === 0 &&
    !table.indexes.some((index) => index.unique) &&
    table.columns.every((column) => column.generatedText === null) &&
    table.constraints.every((constraint) => constraint.kind !== "check" && constraint.kind !== "foreign_key");
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
  readonly #plain: boolean;
  readonly #changes: RowChanges;
  readonly #where: RowFunction | null;
  #batch = 0;
  #row = 0;
  #idsChecked = false;

  constructor(context: ExecutionContext, load: CopyLoad) {
    const { table } = load;
    const now = context.writer.catalog.table(table.id);
    if (now !== table) {
      throw new DatabaseError(
        SQLSTATE.objectNotInPrerequisiteState,
        `relation "${table.name}" was altered while COPY received its data`,
        { hint: "Run the COPY again." },
      );
    }
    this.#context = context;
    this.#load = load;
    this.#rules = rulesOf(context.writer.catalog, table.id);
    this.#state = detachedState(context);
    this.#changes = new RowChanges(context, table.id, (bytes) => this.#state.charge(bytes));
    this.#defaulted = table.columns.flatMap((column, position) =>
      column.defaultText !== null && !load.positions.includes(position) ? [position] : []
    );
    this.#plain = isPlain(load) && (!load.inBlock || context.writer.changesBatches === true) &&
      (table.rowIdColumn === null || !this.#hasBigIds());
    this.#where = load.where === null
      ? null
      : compileTableExpression(context, table, load.where, { kind: "bool" });
  }

  step(_writer: ResultWriter): boolean {
    const { batches } = this.#load;
    this.#context.checkCancelled();
    const parsed = batches[this.#batch];
    if (parsed === undefined) {
      if (this.#plain && this.#load.othersActive()) this.#lockIds();
      return this.#changes.finish();
    }
    if (!this.#plain) {
      this.#loadRows(parsed);
      return false;
    }
    if (!this.#idsChecked) {
      this.#idsChecked = true;
      this.#checkIds();
    }
    this.#loadBatch(parsed);
    this.#batch++;
    return false;
  }

  #idColumn(): number {
    const { table } = this.#load;
    return table.columns.findIndex((column) => column.id === table.rowIdColumn);
  }

  #hasBigIds(): boolean {
    const position = this.#idColumn();
    if (!this.#load.positions.includes(position)) return true;
    return this.#load.batches.some(({ batch }) => {
      const column = batch.columns[position];
      return column?.storageClass !== "int" || column.big !== null;
    });
  }

  #place(line: number): string {
    return `COPY ${this.#load.table.name}, line ${line}`;
  }

  // Whole batches.

  #loadBatch({ batch, firstLine }: ParsedBatch): void {
    const { table } = this.#load;
    const columns = this.#withDefaults(batch);
    for (const [position, column] of table.columns.entries()) {
      if (!column.notNull && column.id !== table.rowIdColumn) continue;
      const row = columns[position]?.nulls?.indexOf(1) ?? -1;
      if (row < 0) continue;
      throw withContext(
        notNullViolation(table, position, batchRow({ ...batch, columns }, row)),
        this.#place(firstLine + row),
      );
    }
    const { writer } = this.#context;
    const position = this.#idColumn();
    if (position >= 0) {
      const ids = columns[position] as Extract<BatchColumn, { storageClass: "int" }>;
      writer.createBatch(table.id, { rowCount: batch.rowCount, ids: ids.data, columns });
    } else {
      const ids = reserveIds(writer, table.id, batch.rowCount);
      if (ids instanceof Float64Array) {
        writer.createBatch(table.id, { rowCount: batch.rowCount, ids, columns });
      } else ids.forEach((id, row) => writer.create(table.id, id, batchRow({ ...batch, columns }, row)));
    }
    this.rowCount += batch.rowCount;
  }

  /** The batch's columns; those that the data lacks hold defaults. */
  #withDefaults(batch: RowBatch): readonly BatchColumn[] {
    if (this.#load.positions.length === this.#load.table.columns.length) return batch.columns;
    const { rowCount } = batch;
    return batch.columns.map((column, position): BatchColumn => {
      if (this.#load.positions.includes(position)) return column;
      if (!this.#defaulted.includes(position)) return nullColumn(column, rowCount);
      const values: StoredValue[] = [];
      for (let row = 0; row < rowCount; row++) {
        values.push(this.#rules.completion.defaultValue(this.#context, position, this.#state));
      }
      return columnOf(column, values);
    });
  }

  /** The ids of all rows are new: ascending ones above everything in the table need one look, others one each. */
  #checkIds(): void {
    const { table, batches } = this.#load;
    const position = this.#idColumn();
    if (position < 0) return;
    let previous = -Infinity, isAscending = true, count = 0, lowest = Infinity;
    for (const { batch } of batches) {
      const column = batch.columns[position] as Extract<BatchColumn, { storageClass: "int" }>;
      for (let row = 0; row < batch.rowCount; row++) {
        const id = column.data[row] as number;
        if (column.nulls?.[row] === 1) continue;
        if (id <= previous) isAscending = false;
        if (id < lowest) lowest = id;
        previous = id;
        count++;
      }
    }
    if (count === 0) return;
    const reader = this.#context.table(table.id);
    const above = { prefix: [], low: { value: lowest, inclusive: true }, high: null, backward: false };
    const isFree = reader.findRange(above).next() === NO_ROW;
    if (isAscending && isFree) return;
    const seen = new Set<number>();
    for (const { batch, firstLine } of batches) {
      const column = batch.columns[position] as Extract<BatchColumn, { storageClass: "int" }>;
      for (let row = 0; row < batch.rowCount; row++) {
        const id = column.data[row] as number;
        if (column.nulls?.[row] === 1) continue;
        if ((!isAscending && seen.has(id)) || (!isFree && reader.find(id) !== NO_ROW)) {
          throw withContext(duplicateRowId(table, id), this.#place(firstLine + row));
        }
        if (!isAscending) seen.add(id);
      }
    }
  }

  /** Waits for transactions that have taken one of the ids; batches themselves take no locks. */
  #lockIds(): void {
    const { table, batches } = this.#load;
    const position = this.#idColumn();
    if (position < 0) return;
    for (const { batch } of batches) {
      const column = batch.columns[position] as Extract<BatchColumn, { storageClass: "int" }>;
      for (let row = 0; row < batch.rowCount; row++) {
        this.#context.writer.lockRow(table.id, column.data[row] as number, "wait");
      }
    }
  }

  // Row by row.

  #loadRows({ batch, firstLine }: ParsedBatch): void {
    const end = Math.min(batch.rowCount, this.#row + PIECE);
    for (; this.#row < end; this.#row++) {
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
      row[position] = this.#rules.completion.defaultValue(this.#context, position, this.#state);
    }
    if (this.#where !== null && this.#where(row) !== 1) return;
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

function nullColumn(like: BatchColumn, rowCount: number): BatchColumn {
  const nulls = new Uint8Array(rowCount).fill(1);
  switch (like.storageClass) {
    case "int":
      return { storageClass: "int", data: new Float64Array(rowCount), nulls, big: null };
    case "float":
      return { storageClass: "float", data: new Float64Array(rowCount), nulls };
    default:
      return {
        storageClass: like.storageClass,
        offsets: new Uint32Array(rowCount + 1),
        bytes: new Uint8Array(0),
        nulls,
      };
  }
}

/** A column of a batch from values. */
function columnOf(like: BatchColumn, values: readonly StoredValue[]): BatchColumn {
  const hasNulls = values.includes(null);
  const nulls = hasNulls ? Uint8Array.from(values, (value) => value === null ? 1 : 0) : null;
  if (like.storageClass === "float") {
    return { storageClass: "float", data: Float64Array.from(values, (value) => Number(value ?? 0)), nulls };
  }
  if (like.storageClass === "int") {
    let big: Map<number, bigint> | null = null;
    const data = new Float64Array(values.length);
    for (const [row, value] of values.entries()) {
      if (typeof value === "bigint") {
        big ??= new Map();
        big.set(row, value);
        data[row] = NaN;
      } else data[row] = Number(value ?? 0);
    }
    return { storageClass: "int", data, nulls, big };
  }
  const encoder = new TextEncoder();
  const pieces = values.map((value) =>
    value === null
      ? new Uint8Array(0)
      : typeof value === "string"
      ? encoder.encode(value)
      : value as Uint8Array
  );
  const offsets = new Uint32Array(values.length + 1);
  for (const [row, piece] of pieces.entries()) offsets[row + 1] = (offsets[row] as number) + piece.length;
  const bytes = new Uint8Array(offsets[values.length] as number);
  for (const [row, piece] of pieces.entries()) bytes.set(piece, offsets[row]);
  return { storageClass: like.storageClass, offsets, bytes, nulls };
}
