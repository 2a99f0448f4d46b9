/**
 * Columns of a delta: growable arrays indexed by slot. Numbers (classes int and float) stand in a Float64Array; integers
 * outside the safe range are NaN there and kept in a map. Text (as UTF-8) and bytes stand in one arena, with a start and
 * an end per slot. NULL flags are allocated with the first NULL.
 *
 * Invariant: the value of a slot stays where it is until that slot is set again; arrays that have been handed out as
 * vectors stay valid (with their old content) when a column grows. Limit: 4 GiB of text and bytes per column.
 */
import { assert } from "../../base/assert.ts";
import { decodeUtf8 } from "../../base/bytes.ts";
import type { BatchColumn, StoredValue } from "../../operations/effect.ts";
import type { StorageClass } from "../../types/sql_type.ts";
import type { Vector } from "../vector.ts";

/** Receives the place of a value's bytes; see `TableStore.textBytesAt`. */
export interface BytesSink {
  bytes: Uint8Array;
  start: number;
  end: number;
}

const textEncoder = new TextEncoder();
const EMPTY = new Uint8Array(0);
const ARENA_LIMIT = 4294967295;
const SHORT_TEXT = 40;

/** A column of a delta. */
export type DeltaColumn = NumberColumn | BytesColumn;

/** Makes an empty column of the class. */
export function createDeltaColumn(
  columnId: number,
  storageClass: StorageClass,
  capacity: number,
): DeltaColumn {
  return storageClass === "int" || storageClass === "float"
    ? new NumberColumn(columnId, capacity)
    : new BytesColumn(columnId, storageClass === "text", capacity);
}

function grown(array: Uint8Array | null, capacity: number): Uint8Array | null {
  if (array === null) return null;
  const next = new Uint8Array(capacity);
  next.set(array);
  return next;
}

/** Decodes UTF-8, fast for short ASCII texts. */
export function decodeTextRange(bytes: Uint8Array, start: number, end: number): string {
  if (end - start <= SHORT_TEXT) {
    let text = "";
    for (let index = start; index < end; index++) {
      const code = bytes[index] as number;
      if (code >= 0x80) return decodeUtf8(bytes.subarray(start, end));
      text += String.fromCharCode(code);
    }
    return text;
  }
  return decodeUtf8(bytes.subarray(start, end));
}

/** Storage classes int and float. */
export class NumberColumn {
  readonly kind = "number";
  readonly columnId: number;
  data: Float64Array;
  nulls: Uint8Array | null = null;
  /** Integers outside the safe range, by slot. */
  big: Map<number, bigint> | null = null;

  constructor(columnId: number, capacity: number) {
    this.columnId = columnId;
    this.data = new Float64Array(capacity);
  }

  /** Bytes of memory held. */
  get bytes(): number {
    return this.data.byteLength + (this.nulls?.length ?? 0) + (this.big?.size ?? 0) * 64;
  }

  grow(capacity: number): void {
    const data = new Float64Array(capacity);
    data.set(this.data);
    this.data = data;
    this.nulls = grown(this.nulls, capacity);
  }

  set(slot: number, value: StoredValue): void {
    if (typeof value === "number") {
      this.data[slot] = value;
      if (this.nulls !== null) this.nulls[slot] = 0;
      if (this.big !== null) this.big.delete(slot);
      return;
    }
    if (value === null) {
      this.nulls ??= new Uint8Array(this.data.length);
      this.nulls[slot] = 1;
      this.data[slot] = 0;
      if (this.big !== null) this.big.delete(slot);
      return;
    }
    assert(typeof value === "bigint", "a value of a numeric storage class is a number or a bigint");
    this.big ??= new Map();
    this.big.set(slot, value);
    this.data[slot] = NaN;
    if (this.nulls !== null) this.nulls[slot] = 0;
  }

  get(slot: number): StoredValue {
    if (this.nulls !== null && this.nulls[slot] === 1) return null;
    const value = this.data[slot] as number;
    if (value !== value && this.big !== null) return this.big.get(slot) ?? value;
    return value;
  }

  /** Whether the slot holds this very value. */
  holds(slot: number, value: StoredValue): boolean {
    const own = this.get(slot);
    return own === value || (own !== own && value !== value);
  }

  append(slot: number, column: BatchColumn, rowCount: number): void {
    assert(
      column.storageClass === "int" || column.storageClass === "float",
      "a batch column of the same class",
    );
    this.data.set(rowCount === column.data.length ? column.data : column.data.subarray(0, rowCount), slot);
    this.nulls = appendNulls(this.nulls, column.nulls, slot, rowCount, this.data.length);
    if (column.storageClass === "int" && column.big !== null) {
      this.big ??= new Map();
      for (const [row, value] of column.big) if (row < rowCount) this.big.set(slot + row, value);
    }
  }

  /** Sets the slots below `count` to one value. */
  fill(count: number, value: StoredValue): void {
    if (typeof value === "number") this.data.fill(value, 0, count);
    else for (let slot = 0; slot < count; slot++) this.set(slot, value);
  }

  vector(from: number, to: number): Vector {
    let big: Map<number, bigint> | null = null;
    if (this.big !== null) {
      big = new Map();
      for (let slot = from; slot < to; slot++) {
        const value = this.data[slot] as number;
        if (value === value) continue;
        const exact = this.big.get(slot);
        if (exact !== undefined) big.set(slot - from, exact);
      }
    }
    return {
      kind: "number",
      data: this.data.subarray(from, to),
      nulls: this.nulls === null ? null : this.nulls.subarray(from, to),
      big,
    };
  }

  bytesAt(_slot: number, _sink: BytesSink): boolean {
    return false;
  }
}

/** Storage classes text and bytes. */
export class BytesColumn {
  readonly kind = "bytes";
  readonly columnId: number;
  readonly isText: boolean;
  arena: Uint8Array = EMPTY;
  arenaLength = 0;
  starts: Uint32Array;
  ends: Uint32Array;
  nulls: Uint8Array | null = null;
  /** Arena bytes below this belong to several slots at once and are never overwritten. */
  #sharedEnd = 0;

  constructor(columnId: number, isText: boolean, capacity: number) {
    this.columnId = columnId;
    this.isText = isText;
    this.starts = new Uint32Array(capacity);
    this.ends = new Uint32Array(capacity);
  }

  /** Bytes of memory held. */
  get bytes(): number {
    return this.arena.length + 2 * this.starts.byteLength + (this.nulls?.length ?? 0);
  }

  grow(capacity: number): void {
    const starts = new Uint32Array(capacity);
    const ends = new Uint32Array(capacity);
    starts.set(this.starts);
    ends.set(this.ends);
    this.starts = starts;
    this.ends = ends;
    this.nulls = grown(this.nulls, capacity);
  }

  #reserve(extra: number): void {
    const needed = this.arenaLength + extra;
    if (needed <= this.arena.length) return;
    assert(needed <= ARENA_LIMIT, `column ${this.columnId} of a delta holds more than 4 GiB`);
    const arena = new Uint8Array(
      Math.min(ARENA_LIMIT, Math.max(needed, 1024, Math.ceil(this.arena.length * 1.5))),
    );
    arena.set(this.arena.subarray(0, this.arenaLength));
    this.arena = arena;
  }

  set(slot: number, value: StoredValue): void {
    if (value === null) {
      this.nulls ??= new Uint8Array(this.starts.length);
      this.nulls[slot] = 1;
      this.ends[slot] = this.starts[slot] as number;
      return;
    }
    if (this.nulls !== null) this.nulls[slot] = 0;
    if (typeof value === "string") {
      const length = value.length;
      if (length <= SHORT_TEXT) {
        let position = this.#place(slot, length);
        const arena = this.arena;
        let index = 0;
        for (; index < length; index++) {
          const code = value.charCodeAt(index);
          if (code >= 0x80) break;
          arena[position++] = code;
        }
        if (index === length) return;
      }
      this.#setBytes(slot, textEncoder.encode(value));
      return;
    }
    assert(value instanceof Uint8Array, "a value of storage class bytes is a Uint8Array");
    this.#setBytes(slot, value);
  }

  #setBytes(slot: number, bytes: Uint8Array): void {
    // The place first: finding it may replace the arena.
    const position = this.#place(slot, bytes.length);
    this.arena.set(bytes, position);
  }

  /** Room for a value of `length` bytes: the slot's old room when that is enough, else the end of the arena. */
  #place(slot: number, length: number): number {
    const start = this.starts[slot] as number;
    const end = this.ends[slot] as number;
    if (end - start >= length && (start >= this.#sharedEnd || length === 0)) {
      this.ends[slot] = start + length;
      return start;
    }
    this.#reserve(length);
    const position = this.arenaLength;
    this.arenaLength = position + length;
    this.starts[slot] = position;
    this.ends[slot] = position + length;
    return position;
  }

  get(slot: number): StoredValue {
    if (this.nulls !== null && this.nulls[slot] === 1) return null;
    const start = this.starts[slot] as number;
    const end = this.ends[slot] as number;
    return this.isText ? decodeTextRange(this.arena, start, end) : this.arena.slice(start, end);
  }

  /** Whether the slot holds this very value. */
  holds(slot: number, value: StoredValue): boolean {
    const own = this.get(slot);
    if (own === null || value === null || typeof own === "string") return own === value;
    if (!(own instanceof Uint8Array) || !(value instanceof Uint8Array) || own.length !== value.length) {
      return false;
    }
    for (let index = 0; index < own.length; index++) if (own[index] !== value[index]) return false;
    return true;
  }

  append(slot: number, column: BatchColumn, rowCount: number): void {
    assert(
      column.storageClass === "text" || column.storageClass === "bytes",
      "a batch column of the same class",
    );
    const offsets = column.offsets;
    const first = offsets[0] ?? 0;
    const last = offsets[rowCount] ?? first;
    this.#reserve(last - first);
    this.arena.set(column.bytes.subarray(first, last), this.arenaLength);
    const shift = this.arenaLength - first;
    const starts = this.starts;
    const ends = this.ends;
    for (let row = 0; row < rowCount; row++) {
      starts[slot + row] = (offsets[row] as number) + shift;
      ends[slot + row] = (offsets[row + 1] as number) + shift;
    }
    this.arenaLength += last - first;
    this.nulls = appendNulls(this.nulls, column.nulls, slot, rowCount, starts.length);
  }

  /** Sets the slots below `count`, which were never set, to one value. */
  fill(count: number, value: StoredValue): void {
    if (count === 0) return;
    if (value === null) {
      for (let slot = 0; slot < count; slot++) this.set(slot, null);
      return;
    }
    this.set(0, value);
    this.starts.fill(this.starts[0] as number, 0, count);
    this.ends.fill(this.ends[0] as number, 0, count);
    this.#sharedEnd = this.arenaLength;
  }

  vector(from: number, to: number): Vector {
    return {
      kind: "bytes",
      bytes: this.arena,
      starts: this.starts.subarray(from, to),
      ends: this.ends.subarray(from, to),
      nulls: this.nulls === null ? null : this.nulls.subarray(from, to),
    };
  }

  /** Tells where the value's bytes are; false for NULL. */
  bytesAt(slot: number, sink: BytesSink): boolean {
    if (this.nulls !== null && this.nulls[slot] === 1) return false;
    sink.bytes = this.arena;
    sink.start = this.starts[slot] as number;
    sink.end = this.ends[slot] as number;
    return true;
  }
}

function appendNulls(
  own: Uint8Array | null,
  added: Uint8Array | null,
  slot: number,
  rowCount: number,
  capacity: number,
): Uint8Array | null {
  if (added === null) {
    if (own !== null) own.fill(0, slot, slot + rowCount);
    return own;
  }
  const nulls = own ?? new Uint8Array(capacity);
  nulls.set(added.subarray(0, rowCount), slot);
  return nulls;
}
