/** Takes each row of a result as an array of values: for what keeps rows, and for tests. */
import type { SqlValue } from "../../types/value.ts";
import type { ResultWriter } from "./result_writer.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** See the file's head. */
export abstract class ValueWriter implements ResultWriter {
  /** The row that is being written. */
  protected row: SqlValue[] = [];

  beginRow(): void {
    this.row = [];
  }

  writeNull(): void {
    this.row.push(null);
  }

  writeInteger(value: number | bigint): void {
    this.row.push(value);
  }

  writeText(value: string): void {
    this.row.push(value);
  }

  writeUtf8(bytes: Uint8Array, start: number, end: number): void {
    this.row.push(decoder.decode(bytes.subarray(start, end)));
  }

  writeValue(_column: number, value: SqlValue): void {
    this.row.push(value);
  }

  abstract endRow(): void;
}
