/**
 * Where the reader of a source's format puts its rows: columns of a batch under construction, one row at a time.
 *
 * A reader sets the columns that the row has and calls {@link RowTarget.endRow}; columns that it has not set are NULL.
 * Errors get the place in the source: the page, the row within it and the column. Rows are only collected here; they
 * reach the table later, all in one transaction.
 */
import { encodeUtf8 } from "../../base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import type { TableDefinition } from "../../catalog/definitions.ts";
import type { RowBatch } from "../../operations/effect.ts";
import { batchMemory } from "../../transactions/batch_values.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { toStored } from "../../types/stored_value.ts";
import type { TextOptions } from "../../types/text_io.ts";
import type { SqlValue } from "../../types/value.ts";
import {
  BATCH_ROWS,
  BatchBuilder,
  type ColumnBuilder,
  NumberColumn,
} from "../../transactions/batch_builder.ts";
import { withContext } from "../copy/copy_options.ts";
import { type FieldReader, fieldReader } from "../copy/field_readers.ts";

/** How long a reader works before others get their turn. */
const SLICE_MICROSECONDS = 1_000;

/** A column that is filled from the source. */
export interface TargetColumn {
  readonly name: string;
  readonly type: SqlType;
  /** Its path within the row, or its header in CSV, as the source's definition has it. */
  readonly from: string;
  readonly notNull: boolean;
  /** Position among the table's columns. */
  readonly position: number;
  readonly builder: ColumnBuilder;
  /** Reads a text of the type from bytes into the builder. */
  readonly reader: FieldReader;
}

/** Time, and what ends the statement. */
export interface TargetEnvironment {
  monotonic(): number;
  yieldToLoop(): Promise<void>;
  checkCanceled(): void;
}

/** What has been read so far. */
export interface RefreshProgress {
  pages: number;
  rows: number;
  bytes: number;
}

/** See the file's head. */
export class RowTarget {
  readonly tableName: string;
  readonly columns: readonly TargetColumn[];
  readonly progress: RefreshProgress = { pages: 0, rows: 0, bytes: 0 };
  /** What has been collected. */
  readonly batches: RowBatch[] = [];
  /** Whether any row had the column's field. */
  readonly found: Uint8Array;
  readonly #builder: BatchBuilder;
  readonly #environment: TargetEnvironment;
  /** The row, by its number since the beginning, in which a column was set last. */
  readonly #setIn: Float64Array;
  #rowsBefore = 0;
  #sliceEnd = 0;
  #memory = 0;

  constructor(table: TableDefinition, options: {
    readonly textOptions: TextOptions;
    readonly environment: TargetEnvironment;
  }) {
    this.tableName = table.name;
    this.#environment = options.environment;
    this.#builder = new BatchBuilder(table);
    const fields = table.external?.fields ?? [];
    this.columns = table.columns.map((column, position): TargetColumn => {
      const builder = this.#builder.columns[position] as ColumnBuilder;
      return {
        name: column.name,
        type: column.type,
        from: fields.find((field) => field.columnId === column.id)?.from ?? column.name,
        notNull: column.notNull || column.id === table.rowIdColumn,
        position,
        builder,
        reader: fieldReader(column.type, builder, options.textOptions),
      };
    });
    this.found = new Uint8Array(this.columns.length);
    this.#setIn = new Float64Array(this.columns.length).fill(-1);
    this.#sliceEnd = options.environment.monotonic() + SLICE_MICROSECONDS;
  }

  /** The row under construction, counted from 1 within the page. */
  get rowNumber(): number {
    return this.progress.rows - this.#rowsBefore + 1;
  }

  /** A page begins. */
  beginPage(): void {
    this.progress.pages++;
    this.#rowsBefore = this.progress.rows;
  }

  /** Sets a column of the row from a text of its type. Raises the type's errors, with the place. */
  setText(column: number, bytes: Uint8Array, start: number, end: number): void {
    const target = this.columns[column] as TargetColumn;
    try {
      target.reader.read(bytes, start, end, this.#builder.rowCount);
    } catch (thrown) {
      throw this.failure(thrown, target, bytes.subarray(start, end));
    }
    this.mark(column);
  }

  /** Sets a column of the row to a value of its type. */
  setValue(column: number, value: SqlValue): void {
    const { type, builder } = this.columns[column] as TargetColumn;
    const row = this.#builder.rowCount;
    const stored = toStored(type, value);
    if (stored === null) builder.setNull(row);
    else if (builder instanceof NumberColumn) builder.set(row, stored as number | bigint);
    else {
      const bytes = typeof stored === "string" ? encodeUtf8(stored) : stored as Uint8Array;
      builder.set(row, bytes, 0, bytes.length);
    }
    this.mark(column);
  }

  /** Sets a column of the row to NULL, because the source says so. */
  setNull(column: number): void {
    (this.columns[column] as TargetColumn).builder.setNull(this.#builder.rowCount);
    this.found[column] = 1;
    this.#setIn[column] = -1;
  }

  /** For readers that write into the builders themselves: the column of this row holds a value. */
  mark(column: number): void {
    this.#setIn[column] = this.progress.rows;
    this.found[column] = 1;
  }

  /** Where in the batch the row is, for readers that write into the builders themselves. */
  get batchRow(): number {
    return this.#builder.rowCount;
  }

  /** The row is whole. Raises 23502 when a value is missing. */
  endRow(): void {
    const { columns } = this;
    const row = this.#builder.rowCount;
    const number = this.progress.rows;
    for (let index = 0; index < columns.length; index++) {
      if (this.#setIn[index] === number) continue;
      const column = columns[index] as TargetColumn;
      if (column.notNull) throw this.#missing(column);
      column.builder.setNull(row);
    }
    this.#builder.rowCount++;
    this.progress.rows++;
    if (this.#builder.isFull) this.#flush();
  }

  /** How many rows the batch has room for. */
  get room(): number {
    return BATCH_ROWS - this.#builder.rowCount;
  }

  /**
   * For readers that write whole rows into the builders themselves, their NULLs as well: so many more rows are whole.
   * Raises 23502 when a value is missing.
   */
  endRows(count: number): void {
    const first = this.#builder.rowCount;
    let bad: TargetColumn | undefined, row = count;
    for (const column of this.columns) {
      const at = column.notNull ? column.builder.nulls?.subarray(first, first + row).indexOf(1) ?? -1 : -1;
      if (at >= 0) [bad, row] = [column, at];
    }
    this.progress.rows += row;
    if (bad !== undefined) throw this.#missing(bad);
    this.#builder.rowCount += count;
    if (this.#builder.isFull) this.#flush();
  }

  /** The row is given up: what was set of it is forgotten. */
  dropRow(): void {
    this.#setIn.fill(-1);
  }

  /** All rows are there. */
  finish(): void {
    this.#flush();
  }

  /** Lets others have their turn when it is time. Raises 57014 when the statement has been canceled. */
  pause(): Promise<void> | undefined {
    const { monotonic, checkCanceled } = this.#environment;
    if (monotonic.call(this.#environment) < this.#sliceEnd) return undefined;
    checkCanceled.call(this.#environment);
    return this.#environment.yieldToLoop().then(() => {
      checkCanceled.call(this.#environment);
      this.#sliceEnd = this.#environment.monotonic() + SLICE_MICROSECONDS;
    });
  }

  /** `REFRESH p, page 2, row 17`. */
  get place(): string {
    return `REFRESH ${this.tableName}, page ${this.progress.pages}, row ${this.rowNumber}`;
  }

  /** An error about a value, with its place. */
  failure(thrown: unknown, column: TargetColumn, shown: Uint8Array | string | null): unknown {
    const text = shown === null ? "" : typeof shown === "string" ? shown : decodeShown(shown);
    const value = shown === null ? "" : `: "${text.length > 100 ? `${text.slice(0, 100)}...` : text}"`;
    return withContext(thrown, `${this.place}, column ${column.name}${value}`);
  }

  /** An error about the row, with its place. */
  rowFailure(error: DatabaseError): unknown {
    return withContext(error, this.place);
  }

  #missing(column: TargetColumn): unknown {
    return withContext(
      new DatabaseError(
        SQLSTATE.notNullViolation,
        `null value in column "${column.name}" of relation "${this.tableName}" violates not-null constraint`,
        {
          table: this.tableName,
          column: column.name,
          hint: `The row has no value at "${column.from}".`,
        },
      ),
      this.place,
    );
  }

  #flush(): void {
    if (this.#builder.rowCount === 0) return;
    const batch = this.#builder.take(NO_IDS);
    this.#memory += batchMemory(batch);
    if (this.#memory > LIMITS.transactionBatchBytes) {
      throw new DatabaseError(
        SQLSTATE.outOfMemory,
        `the rows of external source "${this.tableName}" do not fit in memory`,
        {
          hint: "Read fewer columns, or split the source.",
        },
      );
    }
    this.batches.push(batch);
  }
}

const NO_IDS = new Float64Array(0);

function decodeShown(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, 400));
}
