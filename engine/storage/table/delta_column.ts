/**
 * Columns of a delta, indexed by slot. They grow by chunks of {@link CHUNK_ROWS} slots, so that growing never copies
 * more than one chunk (only the first one grows by doubling, for small tables). Numbers (classes int and float) are
 * in a Float64Array a chunk; integers outside the safe range are NaN there and kept in a map. Text (as UTF-8) and
 * bytes are in one arena a chunk, with a start and an end per slot. NULL flags are allocated with a chunk's first
 * NULL.
 *
 * Invariant: the value of a slot stays where it is until that slot is set again; arrays that have been handed out as
 * vectors stay valid (with their old content) when a column grows. Limit: 4 GiB of text and bytes per chunk.
 */
import { decodeAscii } from "../../base/ascii_text.ts";
import { assert } from "../../base/assert.ts";
import { decodeUtf8 } from "../../base/bytes.ts";
import type { BatchColumn, StoredValue } from "../../operations/effect.ts";
import type { StorageClass } from "../../types/physical_type.ts";
import type { BytesSink } from "../access/readable_table.ts";
import { type Span, spanOf, type Vector } from "../access/vector.ts";

const textEncoder = new TextEncoder();
const EMPTY = new Uint8Array(0);
const ARENA_LIMIT = 4294967295;
const SHORT_TEXT = 40;

/** Slots of a chunk are numbered by the lowest bits of a slot, chunks by the rest. */
export const CHUNK_SHIFT = 12;
/** Slots of a chunk; a multiple of the rows of a block. */
export const CHUNK_ROWS = 1 << CHUNK_SHIFT;
/** The bits of a slot that number it within its chunk. */
export const CHUNK_MASK = CHUNK_ROWS - 1;

/** How long the arrays of a chunk are when a column has room for `capacity` slots. */
export function chunkLength(capacity: number): number {
  return Math.min(capacity, CHUNK_ROWS);
}

/** Makes room for `capacity` slots in chunks of numbers. */
export function growNumbers(chunks: Float64Array[], capacity: number): void {
  const [first] = chunks;
  const length = chunkLength(capacity);
  if (first === undefined) chunks.push(new Float64Array(length));
  else if (first.length < length) {
    const larger = new Float64Array(length);
    larger.set(first);
    chunks[0] = larger;
  }
  while (chunks.length * CHUNK_ROWS < capacity) chunks.push(new Float64Array(CHUNK_ROWS));
}

/** Calls back with each piece of `count` slots from `slot` on that lies in one chunk. */
export function eachPiece(
  slot: number,
  count: number,
  visit: (chunk: number, at: number, from: number, count: number) => void,
): void {
  for (let done = 0; done < count;) {
    const at = (slot + done) & CHUNK_MASK;
    const piece = Math.min(count - done, CHUNK_ROWS - at);
    visit((slot + done) >>> CHUNK_SHIFT, at, done, piece);
    done += piece;
  }
}

/** A column of a delta. */
export type DeltaColumn = NumberColumn | BytesColumn;

/** Makes an empty column of the class. */
export function createDeltaColumn(
  columnId: number,
  storageClass: StorageClass,
  capacity: number,
): DeltaColumn {
  return storageClass === "int" || storageClass === "float"
    ? new NumberColumn(columnId, storageClass === "int" ? new WrittenBounds() : null, capacity)
    : new BytesColumn(columnId, storageClass === "text", capacity);
}

function grown(array: Uint8Array | null, length: number): Uint8Array | null {
  if (array === null || array.length >= length) return array;
  const next = new Uint8Array(length);
  next.set(array);
  return next;
}

/** Decodes UTF-8, fast for short ASCII texts. */
export function decodeTextRange(bytes: Uint8Array, start: number, end: number): string {
  return decodeAscii(bytes, start, end) ?? decodeUtf8(bytes.subarray(start, end));
}

/**
 * Bounds of all integers that were ever written to a column, so that code over rows in memory needs no more tests than
 * code over segments. They only widen, in a few large steps, for each step is a new shape that code is generated for.
 */
class WrittenBounds {
  /** Null: there are others than safe integers up to the last step. */
  span: Span | null = spanOf(0, 0);
  #low = 0;
  #high = 0;

  note(value: number): void {
    // NaN stands for a bigint and lies within no bounds.
    if (!(value >= this.#low && value <= this.#high) && this.span !== null) this.#widen(value);
  }

  noteAll(values: Float64Array): void {
    for (let index = 0; index < values.length; index++) this.note(values[index] as number);
  }

  #widen(value: number): void {
    const step = BOUND_STEPS.find((each) => value >= -each && value < each);
    if (step === undefined || !Number.isInteger(value)) {
      this.span = null;
      this.#low = -Infinity;
      this.#high = Infinity;
      return;
    }
    if (value < 0) this.#low = Math.min(this.#low, -step);
    else this.#high = Math.max(this.#high, step - 1);
    this.span = spanOf(this.#low, this.#high);
  }
}

const BOUND_STEPS = [4, 8, 12, 16, 20, 24, 28, 31, 36, 40, 44, 48].map((exponent) => 2 ** exponent);

/** Storage classes int and float. */
export class NumberColumn {
  readonly kind = "number";
  readonly columnId: number;
  /** By chunk. */
  readonly data: Float64Array[] = [];
  readonly nulls: (Uint8Array | null)[] = [];
  /** Integers outside the safe range, by slot. */
  big: Map<number, bigint> | null = null;
  /** Null: the values are no integers. */
  readonly #bounds: WrittenBounds | null;

  constructor(columnId: number, bounds: WrittenBounds | null, capacity: number) {
    this.columnId = columnId;
    this.#bounds = bounds;
    this.grow(capacity);
  }

  /** Bytes of memory held. */
  get bytes(): number {
    let bytes = (this.big?.size ?? 0) * 64;
    for (const chunk of this.data) bytes += chunk.byteLength;
    for (const chunk of this.nulls) bytes += chunk?.length ?? 0;
    return bytes;
  }

  grow(capacity: number): void {
    growNumbers(this.data, capacity);
    while (this.nulls.length < this.data.length) this.nulls.push(null);
    this.nulls[0] = grown(this.nulls[0] ?? null, chunkLength(capacity));
  }

  set(slot: number, value: StoredValue): void {
    const at = slot & CHUNK_MASK;
    const data = this.data[slot >>> CHUNK_SHIFT] as Float64Array;
    const nulls = this.nulls[slot >>> CHUNK_SHIFT] as Uint8Array | null;
    if (typeof value === "number") {
      data[at] = value;
      if (this.#bounds !== null) this.#bounds.note(value);
      if (nulls !== null) nulls[at] = 0;
      if (this.big !== null) this.big.delete(slot);
      return;
    }
    if (value === null) {
      this.#nullsOf(slot)[at] = 1;
      data[at] = 0;
      if (this.big !== null) this.big.delete(slot);
      return;
    }
    assert(typeof value === "bigint", "a value of a numeric storage class is a number or a bigint");
    this.big ??= new Map();
    this.big.set(slot, value);
    data[at] = NaN;
    this.#bounds?.note(NaN);
    if (nulls !== null) nulls[at] = 0;
  }

  #nullsOf(slot: number): Uint8Array {
    const chunk = slot >>> CHUNK_SHIFT;
    return this.nulls[chunk] ??= new Uint8Array((this.data[chunk] as Float64Array).length);
  }

  isNull(slot: number): boolean {
    const nulls = this.nulls[slot >>> CHUNK_SHIFT] as Uint8Array | null;
    return nulls !== null && nulls[slot & CHUNK_MASK] === 1;
  }

  numberAt(slot: number): number {
    return (this.data[slot >>> CHUNK_SHIFT] as Float64Array)[slot & CHUNK_MASK] as number;
  }

  get(slot: number): StoredValue {
    if (this.isNull(slot)) return null;
    const value = this.numberAt(slot);
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
    const { data, nulls } = column;
    this.#bounds?.noteAll(data.subarray(0, rowCount));
    eachPiece(slot, rowCount, (chunk, at, from, count) => {
      const piece = count === data.length ? data : data.subarray(from, from + count);
      (this.data[chunk] as Float64Array).set(piece, at);
      this.nulls[chunk] = appendNulls(
        this.nulls[chunk] as Uint8Array | null,
        nulls === null ? null : nulls.subarray(from, from + count),
        at,
        count,
        (this.data[chunk] as Float64Array).length,
      );
    });
    if (column.storageClass === "int" && column.big !== null) {
      this.big ??= new Map();
      for (const [row, value] of column.big) if (row < rowCount) this.big.set(slot + row, value);
    }
  }

  /** Sets the slots below `count` to one value. */
  fill(count: number, value: StoredValue): void {
    if (typeof value === "number") {
      this.#bounds?.note(value);
      eachPiece(0, count, (chunk, at, _from, piece) => {
        (this.data[chunk] as Float64Array).fill(value, at, at + piece);
      });
    } else for (let slot = 0; slot < count; slot++) this.set(slot, value);
  }

  /** The slots of a block. */
  vector(from: number, to: number): Vector {
    const chunk = from >>> CHUNK_SHIFT;
    const at = from & CHUNK_MASK;
    const data = (this.data[chunk] as Float64Array).subarray(at, at + to - from);
    let big: Map<number, bigint> | null = null;
    if (this.big !== null) {
      big = new Map();
      for (let row = 0; row < data.length; row++) {
        const value = data[row] as number;
        if (value === value) continue;
        const exact = this.big.get(from + row);
        if (exact !== undefined) big.set(row, exact);
      }
    }
    const nulls = this.nulls[chunk] as Uint8Array | null;
    const span = this.#bounds?.span ?? null;
    return {
      kind: "number",
      data,
      nulls: nulls === null ? null : nulls.subarray(at, at + to - from),
      big,
      ...(span === null ? {} : { span }),
    };
  }

  bytesAt(_slot: number, _sink: BytesSink): boolean {
    return false;
  }
}

/** The texts or bytes of one chunk of slots. */
class BytesChunk {
  arena: Uint8Array = EMPTY;
  arenaLength = 0;
  starts: Uint32Array;
  ends: Uint32Array;
  nulls: Uint8Array | null = null;
  /** Arena bytes below this belong to several slots at once and are never overwritten. */
  sharedEnd = 0;

  constructor(length: number) {
    this.starts = new Uint32Array(length);
    this.ends = new Uint32Array(length);
  }

  grow(length: number): void {
    if (length <= this.starts.length) return;
    const starts = new Uint32Array(length);
    const ends = new Uint32Array(length);
    starts.set(this.starts);
    ends.set(this.ends);
    this.starts = starts;
    this.ends = ends;
    this.nulls = grown(this.nulls, length);
  }

  /** Room for more bytes; `expected`: what the chunk may come to. */
  reserve(extra: number, expected = 0): void {
    const needed = this.arenaLength + extra;
    if (needed <= this.arena.length) return;
    assert(needed <= ARENA_LIMIT, "a chunk of a delta holds more than 4 GiB of text in one column");
    const arena = new Uint8Array(
      Math.min(ARENA_LIMIT, Math.max(needed, expected, 1024, Math.ceil(this.arena.length * 1.5))),
    );
    arena.set(this.arena.subarray(0, this.arenaLength));
    this.arena = arena;
  }

  /** Room for a value of `length` bytes: the slot's old room when that is enough, else the end of the arena. */
  place(at: number, length: number): number {
    const start = this.starts[at] as number;
    const end = this.ends[at] as number;
    if (end - start >= length && (start >= this.sharedEnd || length === 0)) {
      this.ends[at] = start + length;
      return start;
    }
    this.reserve(length);
    const position = this.arenaLength;
    this.arenaLength = position + length;
    this.starts[at] = position;
    this.ends[at] = position + length;
    return position;
  }
}

/** Storage classes text and bytes. */
export class BytesColumn {
  readonly kind = "bytes";
  readonly columnId: number;
  readonly isText: boolean;
  readonly #chunks: BytesChunk[] = [];

  constructor(columnId: number, isText: boolean, capacity: number) {
    this.columnId = columnId;
    this.isText = isText;
    this.grow(capacity);
  }

  /** Bytes of memory held. */
  get bytes(): number {
    let bytes = 0;
    for (const { arena, starts, nulls } of this.#chunks) {
      bytes += arena.length + 2 * starts.byteLength + (nulls?.length ?? 0);
    }
    return bytes;
  }

  grow(capacity: number): void {
    const [first] = this.#chunks;
    if (first === undefined) this.#chunks.push(new BytesChunk(chunkLength(capacity)));
    else first.grow(chunkLength(capacity));
    while (this.#chunks.length * CHUNK_ROWS < capacity) this.#chunks.push(new BytesChunk(CHUNK_ROWS));
  }

  #chunkOf(slot: number): BytesChunk {
    return this.#chunks[slot >>> CHUNK_SHIFT] as BytesChunk;
  }

  set(slot: number, value: StoredValue): void {
    const chunk = this.#chunkOf(slot);
    const at = slot & CHUNK_MASK;
    if (value === null) {
      chunk.nulls ??= new Uint8Array(chunk.starts.length);
      chunk.nulls[at] = 1;
      chunk.ends[at] = chunk.starts[at] as number;
      return;
    }
    if (chunk.nulls !== null) chunk.nulls[at] = 0;
    if (typeof value === "string") {
      const length = value.length;
      if (length <= SHORT_TEXT) {
        let position = chunk.place(at, length);
        const arena = chunk.arena;
        let index = 0;
        for (; index < length; index++) {
          const code = value.charCodeAt(index);
          if (code >= 0x80) break;
          arena[position++] = code;
        }
        if (index === length) return;
      }
      setBytes(chunk, at, textEncoder.encode(value));
      return;
    }
    assert(value instanceof Uint8Array, "a value of storage class bytes is a Uint8Array");
    setBytes(chunk, at, value);
  }

  isNull(slot: number): boolean {
    const { nulls } = this.#chunkOf(slot);
    return nulls !== null && nulls[slot & CHUNK_MASK] === 1;
  }

  get(slot: number): StoredValue {
    if (this.isNull(slot)) return null;
    const chunk = this.#chunkOf(slot);
    const at = slot & CHUNK_MASK;
    const start = chunk.starts[at] as number;
    const end = chunk.ends[at] as number;
    return this.isText ? decodeTextRange(chunk.arena, start, end) : chunk.arena.slice(start, end);
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
    const { offsets, bytes, nulls } = column;
    eachPiece(slot, rowCount, (number, at, from, count) => {
      const chunk = this.#chunks[number] as BytesChunk;
      const first = offsets[from] ?? 0;
      const last = offsets[from + count] ?? first;
      // As much as the last chunk took: what grows is copied, and its pages are fresh each time.
      const expected = at === 0 ? this.#chunks[number - 1]?.arenaLength : undefined;
      chunk.reserve(last - first, expected);
      chunk.arena.set(bytes.subarray(first, last), chunk.arenaLength);
      const shift = chunk.arenaLength - first;
      const { starts, ends } = chunk;
      for (let row = 0; row < count; row++) {
        starts[at + row] = (offsets[from + row] as number) + shift;
        ends[at + row] = (offsets[from + row + 1] as number) + shift;
      }
      chunk.arenaLength += last - first;
      const piece = nulls === null ? null : nulls.subarray(from, from + count);
      chunk.nulls = appendNulls(chunk.nulls, piece, at, count, starts.length);
    });
  }

  /** Sets the slots below `count`, which were never set, to one value. */
  fill(count: number, value: StoredValue): void {
    if (value === null) {
      for (let slot = 0; slot < count; slot++) this.set(slot, null);
      return;
    }
    eachPiece(0, count, (number, at, from, piece) => {
      const chunk = this.#chunks[number] as BytesChunk;
      this.set(from, value);
      chunk.starts.fill(chunk.starts[at] as number, at, at + piece);
      chunk.ends.fill(chunk.ends[at] as number, at, at + piece);
      chunk.sharedEnd = chunk.arenaLength;
    });
  }

  /** The slots of a block. */
  vector(from: number, to: number): Vector {
    const { arena, starts, ends, nulls } = this.#chunkOf(from);
    const at = from & CHUNK_MASK;
    const end = at + to - from;
    return {
      kind: "bytes",
      bytes: arena,
      starts: starts.subarray(at, end),
      ends: ends.subarray(at, end),
      nulls: nulls === null ? null : nulls.subarray(at, end),
    };
  }

  /** Tells where the value's bytes are; false for NULL. */
  bytesAt(slot: number, sink: BytesSink): boolean {
    const chunk = this.#chunkOf(slot);
    const at = slot & CHUNK_MASK;
    if (chunk.nulls !== null && chunk.nulls[at] === 1) return false;
    sink.bytes = chunk.arena;
    sink.start = chunk.starts[at] as number;
    sink.end = chunk.ends[at] as number;
    return true;
  }
}

function setBytes(chunk: BytesChunk, at: number, bytes: Uint8Array): void {
  // The place first: finding it may replace the arena.
  const position = chunk.place(at, bytes.length);
  chunk.arena.set(bytes, position);
}

function appendNulls(
  own: Uint8Array | null,
  added: Uint8Array | null,
  at: number,
  count: number,
  length: number,
): Uint8Array | null {
  if (added === null) {
    if (own !== null) own.fill(0, at, at + count);
    return own;
  }
  const nulls = own ?? new Uint8Array(length);
  nulls.set(added, at);
  return nulls;
}
