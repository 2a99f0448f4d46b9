/** Reading one column of a part row by row, for building segments; mostly in ascending row order. */
import { encodeUtf8 } from "../../base/bytes.ts";
import type { StoredValue } from "../../operations/effect.ts";
import type { StorageClass } from "../../types/physical_type.ts";
import type { BytesSink } from "../access/readable_table.ts";

/** Pseudo-column: the row's id. */
export const ID_COLUMN = 0;
/** Pseudo-column: the op number that wrote the version. */
export const VERSION_COLUMN = -1;

/** Values of a column. Which methods are of use depends on the column's storage class. */
export interface ColumnReader {
  isNull(row: number): boolean;
  /** Of a non-NULL int or float; NaN when the value is in {@link bigAt}. */
  numberAt(row: number): number;
  bigAt(row: number): bigint | undefined;
  /** Of a non-NULL text or bytes value. */
  bytesAt(row: number, sink: BytesSink): void;
}

/** A column that holds one value in each row. */
export class ConstantReader implements ColumnReader {
  readonly #isNull: boolean;
  readonly #number: number;
  readonly #big: bigint | undefined;
  readonly #bytes: Uint8Array;

  constructor(value: StoredValue) {
    this.#isNull = value === null;
    this.#number = typeof value === "number" ? value : NaN;
    this.#big = typeof value === "bigint" ? value : undefined;
    this.#bytes = typeof value === "string"
      ? encodeUtf8(value)
      : value instanceof Uint8Array
      ? value
      : new Uint8Array(0);
  }

  isNull(_row: number): boolean {
    return this.#isNull;
  }

  numberAt(_row: number): number {
    return this.#number;
  }

  bigAt(_row: number): bigint | undefined {
    return this.#big;
  }

  bytesAt(_row: number, sink: BytesSink): void {
    sink.bytes = this.#bytes;
    sink.start = 0;
    sink.end = this.#bytes.length;
  }
}

/** Whether values of the class are numbers to storage. */
export function isNumberClass(storageClass: StorageClass): boolean {
  return storageClass === "int" || storageClass === "float";
}
