/**
 * Keeps result rows until they are fetched: for portals with a row limit, cursors, and the library's row objects.
 */
import { type ResultWriter, writeMethodOf } from "../execution/runtime/result_writer.ts";
import { ValueWriter } from "../execution/runtime/value_writer.ts";
import type { ResultColumn } from "../sql/plan/plan.ts";
import type { SqlValue } from "../types/value.ts";
import type { CopyFormat, CopyTarget, ResultSink } from "./outcome.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";

/** A sink that collects rows as values; see the file's head. */
export class RowBuffer extends ValueWriter implements ResultSink {
  columns: readonly ResultColumn[] = [];
  rows: SqlValue[][] = [];
  readonly full = false;
  #first = 0;

  begin(columns: readonly ResultColumn[]): void {
    this.columns = columns;
    this.#first = this.rows.length;
  }

  retract(): void {
    this.rows.length = this.#first;
  }

  drained(): Promise<void> {
    return Promise.resolve();
  }

  endRow(): void {
    this.rows.push(this.row);
  }

  copyOutBegin(_format: CopyFormat): void {
    throw new DatabaseError(SQLSTATE.featureNotSupported, "COPY to standard output is not available here");
  }

  copyOutData(_bytes: Uint8Array): void {}

  copyIn(_format: CopyFormat, _target: CopyTarget): Promise<void> {
    return Promise.reject(
      new DatabaseError(SQLSTATE.featureNotSupported, "COPY from standard input is not available here"),
    );
  }
}

/** A sink that only counts its rows. */
export class RowCounter implements ResultSink {
  rows = 0;

  get full(): boolean {
    return false;
  }

  begin(): void {
    this.rows = 0;
  }

  retract(): void {
    this.rows = 0;
  }

  drained(): Promise<void> {
    return Promise.resolve();
  }

  beginRow(): void {}

  writeNull(): void {}

  writeInteger(): void {}

  writeText(): void {}

  writeUtf8(): void {}

  writeValue(): void {}

  endRow(): void {
    this.rows++;
  }

  copyOutBegin(): void {
    throw new DatabaseError(SQLSTATE.featureNotSupported, "COPY to standard output is not available here");
  }

  copyOutData(): void {}

  copyIn(): Promise<void> {
    return Promise.reject(
      new DatabaseError(SQLSTATE.featureNotSupported, "COPY from standard input is not available here"),
    );
  }
}

/** Writes one row of values to a writer, each by its column's type. */
export function writeRow(
  writer: ResultWriter,
  columns: readonly ResultColumn[],
  row: readonly SqlValue[],
): void {
  writer.beginRow();
  for (const [position, column] of columns.entries()) {
    const value = row[position] ?? null;
    if (value === null) {
      writer.writeNull();
      continue;
    }
    const method = writeMethodOf(column.type.kind);
    if (method === "writeInteger") writer.writeInteger(value as number | bigint);
    else if (method === "writeText") writer.writeText(value as string);
    else writer.writeValue(position, value);
  }
  writer.endRow();
}
