/** Collects rows by column, in batches of a size that travels well. */
import type { StoredValue } from "../../operations/effect.ts";
import type { Fragment } from "../../sql/plan/plan.ts";
import { storageClassOf } from "../../types/physical_type.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { toStored } from "../../types/stored_value.ts";
import type { SqlValue } from "../../types/value.ts";
import type { GatheredBatch } from "./execution.ts";

/** Rows that travel together. */
const BATCH_ROWS = 4096;
/** The same by what they take, roughly. */
const BATCH_BYTES = 256 << 10;
/** So many numbers travel as one block of memory, for each of them alone costs more. */
const BLOCK_NUMBERS = 64;

/** See the file's head. */
export class ColumnLists {
  readonly #columns: readonly ColumnList[];
  readonly #send: (batch: GatheredBatch) => void;
  readonly #maxRows: number;
  #rows = 0;
  /** What texts take. */
  #bytes = 0;

  constructor(columns: Fragment["columns"], send: (batch: GatheredBatch) => void) {
    this.#columns = columns.map(({ type }) => new ColumnList(type));
    this.#send = send;
    this.#maxRows = Math.min(BATCH_ROWS, Math.ceil(BATCH_BYTES / (8 * Math.max(1, columns.length))));
  }

  readonly add = (values: readonly SqlValue[]): void => {
    const columns = this.#columns;
    const row = this.#rows++;
    for (let index = 0; index < columns.length; index++) {
      this.#bytes += (columns[index] as ColumnList).put(row, values[index] as SqlValue);
    }
    if (this.#rows >= this.#maxRows || this.#bytes > BATCH_BYTES) this.#send(this.take());
  };

  take(): GatheredBatch {
    const rowCount = this.#rows;
    this.#rows = this.#bytes = 0;
    return { rowCount, columns: this.#columns.map((column) => column.take(rowCount)) };
  }
}

/** The values of one column. */
class ColumnList {
  readonly #type: SqlType;
  readonly #isNumber: boolean;
  #list: StoredValue[] = [];
  /** In the place of the list, as long as there are nothing but numbers. */
  #numbers: Float64Array | null = null;
  /** Room for those, which the next batch gets as well. */
  #room: Float64Array | null = null;

  constructor(type: SqlType) {
    const storage = storageClassOf(type);
    this.#type = type;
    this.#isNumber = storage === "int" || storage === "float";
  }

  /** Puts the value of the row behind the last one; answers what its text takes. */
  put(row: number, value: SqlValue): number {
    const numbers = this.#numbers;
    if (numbers !== null) {
      if (typeof value === "number") {
        numbers[row] = value;
        return 0;
      }
      if (typeof value === "boolean") {
        numbers[row] = value ? 1 : 0;
        return 0;
      }
      this.#list = Array.from(numbers.subarray(0, row));
      this.#numbers = null;
    }
    const stored = toStored(this.#type, value);
    this.#list.push(stored);
    if (row === BLOCK_NUMBERS - 1 && this.#isNumber) this.#asNumbers();
    return typeof stored === "string" || stored instanceof Uint8Array ? stored.length : 0;
  }

  #asNumbers(): void {
    const list = this.#list;
    if (!list.every((value) => typeof value === "number")) return;
    this.#numbers = this.#room ??= new Float64Array(BATCH_ROWS);
    this.#numbers.set(list);
    this.#list = [];
  }

  take(rowCount: number): ArrayLike<StoredValue> {
    const taken = this.#numbers?.slice(0, rowCount) ?? this.#list;
    this.#list = [];
    this.#numbers = null;
    return taken;
  }
}
