/**
 * Materialized rows, column by column in growable typed arrays.
 *
 * Storage by value form: `i32`, `f64`, `bool` as typed arrays; `mixed` as Float64Array in which NaN means "see the
 * column's map of bigints"; `code` as Float64Array of key codes; `ref` as a JavaScript array that holds null itself.
 * All but `ref` and `code` mark NULLs in a byte array when the column can have them. Generated code keeps the arrays
 * in local variables and reloads them after {@link RowBuffer.grow}; it writes `count` back when its loop ends.
 */
import { physicalTypeOf } from "../../types/physical_type.ts";
import { SqlArray } from "../../types/sql_array.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import type { BytesSink } from "../../storage/access/readable_table.ts";
import { KeptTexts, type TextKind } from "./kept_texts.ts";
import type { MemoryUser } from "./memory_user.ts";

/** How a column's values are kept. */
export type ColumnStorage = "i32" | "f64" | "bool" | "number_or_bigint" | "code" | "ref";

/** One column of a buffer. */
export interface ColumnLayout {
  readonly storage: ColumnStorage;
  readonly nullable: boolean;
  /** Texts of a few stored rows are kept as they are there ({@link KeptTexts}), in a column of references. */
  readonly texts?: TextKind;
}

/** Arrays of one column. */
export class ColumnBuffer {
  readonly storage: ColumnStorage;
  data: Int32Array | Float64Array | Uint8Array | unknown[];
  nulls: Uint8Array | null;
  big: Map<number, bigint> | null = null;
  /** Null: the data has all texts themselves, and not the numbers of some. */
  readonly texts: KeptTexts | null;

  constructor(layout: ColumnLayout) {
    this.storage = layout.storage;
    this.texts = layout.texts === undefined ? null : new KeptTexts(layout.texts);
    this.data = newArray(layout.storage, 0);
    this.nulls = layout.nullable && layout.storage !== "ref" && layout.storage !== "code" ? NO_BYTES : null;
  }

  /** Keeps a value of any form but that of codes. */
  put(row: number, value: SqlValue): void {
    const { data, nulls } = this;
    if (Array.isArray(data)) data[row] = value;
    else {
      if (nulls !== null) nulls[row] = value === null ? 1 : 0;
      data[row] = typeof value === "bigint" ? NaN : Number(value);
      if (typeof value === "bigint") this.putBig(row, value);
    }
  }

  /** The value of a row, of any form but that of codes. */
  get(row: number): SqlValue {
    const { data, nulls, storage } = this;
    if (Array.isArray(data)) return this.decoded(data[row]);
    if (nulls !== null && nulls[row] !== 0) return null;
    const value = data[row] as number;
    if (storage === "bool") return value !== 0;
    return storage === "number_or_bigint" && Number.isNaN(value) ? this.getBig(row) : value;
  }

  /** What the data of a column of references stands for. */
  decoded(kept: unknown): SqlValue {
    return this.texts !== null && typeof kept === "number" ? this.texts.decode(kept) : kept as SqlValue;
  }

  /** Bytes that the data of a row takes besides its place. */
  bytesOf(kept: unknown): number {
    return this.texts !== null && typeof kept === "number" ? this.texts.bytesOf(kept) : valueBytes(kept);
  }

  /** Has all texts themselves in the data from now on, until the buffer is empty. */
  decodeTexts(): void {
    const { data, texts } = this;
    if (texts === null || !Array.isArray(data)) return;
    for (let row = 0; row < data.length; row++) data[row] = this.decoded(data[row]);
  }

  /** Keeps an integer that is not safe; the data holds NaN in its place. */
  putBig(row: number, value: bigint): void {
    this.big ??= new Map();
    this.big.set(row, value);
  }

  /** The integer of a row whose data is NaN. */
  getBig(row: number): bigint {
    return this.big?.get(row) ?? 0n;
  }
}

const NO_INTEGERS = new Int32Array(0);
const NO_BYTES = new Uint8Array(0);
const NO_NUMBERS = new Float64Array(0);

/**
 * Rows of a buffer's first arrays: of no more than 64 bytes each, which V8 makes many times faster than larger ones.
 */
const FIRST_ROWS = 8;

function newArray(storage: ColumnStorage, capacity: number): ColumnBuffer["data"] {
  if (capacity === 0) return emptyArray(storage);
  switch (storage) {
    case "i32":
      return new Int32Array(capacity);
    case "bool":
      return new Uint8Array(capacity);
    case "ref":
      return [];
    default:
      return new Float64Array(capacity);
  }
}

/** Arrays without elements are shared. */
function emptyArray(storage: ColumnStorage): ColumnBuffer["data"] {
  switch (storage) {
    case "i32":
      return NO_INTEGERS;
    case "bool":
      return NO_BYTES;
    case "ref":
      return [];
    default:
      return NO_NUMBERS;
  }
}

const rowBytes: Readonly<Record<ColumnStorage, number>> = {
  i32: 4,
  bool: 1,
  f64: 8,
  number_or_bigint: 8,
  code: 8,
  ref: 24,
};

/** How values of a type are kept. */
export function storageOf(type: SqlType): ColumnStorage {
  const { form, isInt32 } = physicalTypeOf(type);
  switch (form) {
    case "boolean":
      return "bool";
    case "number":
      return isInt32 ? "i32" : "f64";
    case "number_or_bigint":
      return "number_or_bigint";
    default:
      return "ref";
  }
}

/** What a value that is kept as an object takes besides its place. */
function valueBytes(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (value === null) return 0;
  if (typeof value === "number") return 8;
  if (value instanceof Uint8Array) return value.byteLength;
  if (!(value instanceof SqlArray)) return OBJECT_BYTES;
  return value.elements.reduce<number>((sum, each) => sum + valueBytes(each), OBJECT_BYTES);
}

const OBJECT_BYTES = 32;

/** Materialized rows, column by column in growable typed arrays. */
export class RowBuffer {
  readonly columns: readonly ColumnBuffer[];
  count = 0;
  capacity = 0;
  readonly #state: MemoryUser;
  readonly #rowBytes: number;
  #charged = 0;
  /** Of that what texts take. */
  #texts = 0;
  #measured = 0;
  /** Rows that are going to come; see {@link expect}. */
  #expected = 0;

  constructor(state: MemoryUser, layout: readonly ColumnLayout[]) {
    this.#state = state;
    this.columns = layout.map((column) => new ColumnBuffer(column));
    this.#rowBytes = layout.reduce(
      (sum, { storage, nullable }) => sum + rowBytes[storage] + (nullable ? 1 : 0),
      0,
    );
  }

  /** Makes room for at least one more row after `count` rows. */
  grow(count: number): void {
    this.count = count;
    const capacity = this.#expected > count
      ? this.#expected
      : this.capacity === 0
      ? FIRST_ROWS
      : this.capacity < 1024
      ? this.capacity * 4
      : this.capacity * 2;
    this.#chargeTexts(this.#textBytes());
    this.#resize(capacity);
  }

  /** Says how many rows are going to be there: the arrays are made as long as that at once. */
  expect(rows: number): void {
    this.#expected = rows;
  }

  /** Makes room for so many rows, whose texts are going to take `bytes`, in a buffer without rows. */
  reserve(capacity: number, bytes: number): void {
    this.#chargeTexts(bytes);
    this.#resize(capacity);
    for (const column of this.columns) {
      // Rows are put at any place of it: an array with holes would be a table.
      if (Array.isArray(column.data)) column.data = new Array(capacity).fill(null);
    }
  }

  /** Counts what the texts of the rows take, and answers what all of them take. */
  measure(): number {
    this.#chargeTexts(this.#textBytes());
    return this.#charged;
  }

  /** Of what was last measured what texts take. */
  get textBytes(): number {
    return this.#texts;
  }

  /** What a row takes besides its texts. */
  get rowBytes(): number {
    return this.#rowBytes;
  }

  /** What the rows would take in arrays that are no longer than they. */
  get usedBytes(): number {
    this.measure();
    return this.count * this.#rowBytes + this.#texts;
  }

  #resize(capacity: number): void {
    this.#charge((capacity - this.capacity) * this.#rowBytes);
    for (const column of this.columns) {
      if (Array.isArray(column.data)) continue;
      const larger = newArray(column.storage, capacity) as Float64Array;
      larger.set(column.data as Float64Array);
      column.data = larger;
      if (column.nulls !== null) {
        const nulls = new Uint8Array(capacity);
        nulls.set(column.nulls);
        column.nulls = nulls;
      }
    }
    this.capacity = capacity;
  }

  /** See `ReadableTable.textBytesAt`; a column is known by its position. */
  textBytesAt(row: number, position: number, place: BytesSink): boolean {
    const column = this.columns[position] as ColumnBuffer;
    const kept = column.data[row];
    if (column.texts === null || typeof kept !== "number") return false;
    column.texts.find(kept, place);
    return true;
  }

  /** What {@link textBytesAt} has not found. */
  valueAt(row: number, position: number): unknown {
    return this.columns[position]?.data[row];
  }

  /** Has all texts themselves in the columns' data. */
  decodeTexts(): void {
    for (const column of this.columns) column.decodeTexts();
  }

  /** Appends a row by its values: for the few that generated code does not append itself. */
  append(values: readonly SqlValue[]): void {
    const row = this.count;
    if (row === this.capacity) this.grow(row);
    this.count = row + 1;
    this.columns.forEach((column, index) => column.put(row, values[index] ?? null));
  }

  /** Forgets the rows and keeps the room. */
  reset(): void {
    this.count = 0;
    this.#measured = 0;
    this.#chargeTexts(-this.#texts);
    for (const column of this.columns) {
      if (Array.isArray(column.data)) column.data = [];
      column.big = null;
      column.texts?.release();
    }
  }

  /** Forgets rows and room. */
  release(): void {
    this.reset();
    this.#state.charge(-this.#charged);
    this.#charged = 0;
    this.capacity = 0;
    for (const column of this.columns) {
      column.data = newArray(column.storage, 0);
      if (column.nulls !== null) column.nulls = NO_BYTES;
    }
  }

  /** Keeps only these rows, in this order; `rows` must ascend or be a selection into fresh arrays. */
  keep(rows: Int32Array): void {
    for (const column of this.columns) {
      const { data, nulls, big } = column;
      if (Array.isArray(data)) {
        column.data = Array.from(rows, (row) => data[row]);
      } else {
        const kept = newArray(column.storage, this.capacity) as Float64Array;
        for (let index = 0; index < rows.length; index++) kept[index] = data[rows[index] as number] as number;
        column.data = kept;
      }
      if (nulls !== null) {
        const kept = new Uint8Array(this.capacity);
        for (let index = 0; index < rows.length; index++) {
          kept[index] = nulls[rows[index] as number] as number;
        }
        column.nulls = kept;
      }
      if (big !== null) {
        const kept = new Map<number, bigint>();
        for (let index = 0; index < rows.length; index++) {
          const value = big.get(rows[index] as number);
          if (value !== undefined) kept.set(index, value);
        }
        column.big = kept;
      }
    }
    this.count = rows.length;
    this.#measured = Math.min(this.#measured, this.count);
  }

  /** Where rows of `order` from `from` on have taken so many bytes; behind one of them at least. */
  endWithin(order: Int32Array, from: number, to: number, bytes: number): number {
    const texts = this.columns.flatMap(({ data }) => Array.isArray(data) ? [data] : []);
    const rowBytes = Math.max(1, this.#rowBytes);
    if (texts.length === 0) return Math.min(to, from + Math.max(1, Math.floor(bytes / rowBytes)));
    let end = from;
    for (let left = bytes; end < to; end++) {
      left -= rowBytes;
      for (const data of texts) left -= valueBytes(data[order[end] as number]);
      if (left < 0 && end > from) break;
    }
    return end;
  }

  #chargeTexts(bytes: number): void {
    this.#texts += bytes;
    this.#charge(bytes);
  }

  #charge(bytes: number): void {
    this.#charged += bytes;
    this.#state.charge(bytes);
  }

  /** Bytes of the texts added since the last look. */
  #textBytes(): number {
    let bytes = 0;
    for (const column of this.columns) {
      const { data } = column;
      if (!Array.isArray(data)) continue;
      for (let row = this.#measured; row < data.length; row++) bytes += column.bytesOf(data[row]);
    }
    this.#measured = this.count;
    return bytes;
  }
}
