/**
 * Rows divided by the hash of their keys, which is the last column of their buffer: rows with equal keys are in one
 * part, in the order in which they came. What does not fit into memory is written to a file, a block for each part
 * whenever the buffer is full; a part that is too large is divided again, by other bits of the hash.
 */
import { assertDefined } from "../../base/assert.ts";
import type { SortedRows } from "./external_sort.ts";
import type { RowBuffer } from "./row_buffer.ts";
import { blockBytesFor, SpilledRows, type WrittenRows } from "./spilled_rows.ts";
import { GeneratorWork, type Work } from "./work.ts";

/** Parts of each division; a power of two. */
export const PART_COUNT = 64;
const PART_BITS = 6;
/** How often rows can be divided: the bits of a hash are used up then. */
export const MAX_LEVELS = 5;
/** What a buffer takes of the memory while a part is divided again. */
const SHARE = 1 / 8;
/** Rows in memory take about so many times their encoded bytes. */
const DECODED_BYTES = 3;
/** Rows that are looked at in one piece; a power of two. */
const PIECE_ROWS = 1 << 16;

/** A part of the rows. */
export interface Part {
  readonly written: WrittenRows[];
  rows: number;
  bytes: number;
  /** The hash of all rows; null: they have several. */
  hash: number | null;
}

function newParts(): Part[] {
  return Array.from({ length: PART_COUNT }, () => ({ written: [], rows: 0, bytes: 0, hash: null }));
}

/** Several parts as one. */
export function joinParts(parts: readonly Part[]): Part {
  const sum = (of: (part: Part) => number) => parts.reduce((total, part) => total + of(part), 0);
  const written = parts.flatMap(({ written }) => written);
  return { written, rows: sum(({ rows }) => rows), bytes: sum(({ bytes }) => bytes), hash: null };
}

/** Notes rows that were written. */
function addTo(part: Part, written: WrittenRows, rows: Int32Array, hashes: Int32Array): void {
  const hash = part.rows === 0 ? hashes[rows[0] as number] as number : part.hash;
  part.hash = hash !== null && haveHash(rows, hashes, hash) ? hash : null;
  part.written.push(written);
  part.rows += written.rows;
  part.bytes += written.block.length;
}

function haveHash(rows: Int32Array, hashes: Int32Array, hash: number): boolean {
  for (let index = 0; index < rows.length; index++) {
    if (hashes[rows[index] as number] !== hash) return false;
  }
  return true;
}

/** See the file's head. */
export class PartitionedRows extends SpilledRows {
  #parts: Part[] | null = null;

  /** Writes the buffer's rows and empties it; its arrays are filled again unless others need their memory. */
  writeAll(buffer: RowBuffer): Work {
    return new GeneratorWork(this.#writeAll(buffer, false));
  }

  /** Writes the buffer's last rows and releases it. */
  writeRest(buffer: RowBuffer): Work {
    return new GeneratorWork(this.#writeAll(buffer, true));
  }

  *#writeAll(buffer: RowBuffer, isLast: boolean): Generator<void, void, void> {
    this.#parts ??= newParts();
    yield* this.#divide(buffer, this.#parts, 0);
    buffer.reset();
    if (isLast || buffer.measure() > this.share) buffer.release();
    this.full = 0;
  }

  /** Writes the rows of each part behind one another. */
  *#divide(buffer: RowBuffer, parts: readonly Part[], level: number): Generator<void, void, void> {
    const { count } = buffer;
    if (count === 0) return;
    this.state.beganPass(level + 1);
    const hashes = buffer.columns.at(-1)?.data as Int32Array;
    const shift = PART_BITS * level;
    const begins = new Int32Array(PART_COUNT + 1);
    const partOf = (row: number) => (hashes[row] as number) >>> shift & PART_COUNT - 1;
    for (let row = 0; row < count; row++) {
      const part = partOf(row);
      begins[part] = begins[part] as number + 1;
      if (row % PIECE_ROWS === PIECE_ROWS - 1) yield;
    }
    let sum = 0;
    for (let part = 0; part <= PART_COUNT; part++) {
      const rows = begins[part] as number;
      begins[part] = sum;
      sum += rows;
    }
    const order = new Int32Array(count);
    const next = begins.slice();
    for (let row = 0; row < count; row++) {
      const part = partOf(row);
      const at = next[part] as number;
      order[at] = row;
      next[part] = at + 1;
      if (row % PIECE_ROWS === PIECE_ROWS - 1) yield;
    }
    const most = { bytes: blockBytesFor(this.state.context.memoryLimitBytes) };
    for (const [index, part] of parts.entries()) {
      let from = begins[index] as number;
      for (const written of this.write(buffer, { order, from, to: begins[index + 1] as number }, most)) {
        if (part.rows === 0) this.state.beganRun();
        addTo(part, written, order.subarray(from, from + written.rows), hashes);
        from += written.rows;
        yield;
      }
    }
  }

  /** Whether what is in memory would better be in the file, while others need more. */
  get isPressed(): boolean {
    return this.#parts !== null || this.state.isHalfFull;
  }

  /** The parts that were written. */
  get parts(): readonly Part[] {
    return this.#parts ?? [];
  }

  /** Divides a part again; the result has the new ones. The buffer is empty. */
  divide(buffer: RowBuffer, part: Part, level: number): GeneratorWork<readonly Part[]> {
    return new GeneratorWork(this.#divideAgain(buffer, part, level));
  }

  *#divideAgain(buffer: RowBuffer, part: Part, level: number): Generator<void, readonly Part[], void> {
    const parts = newParts();
    const most = this.state.context.memoryLimitBytes * SHARE;
    for (let next = 0; next < part.written.length;) {
      let rows = 0, bytes = 0, end = next;
      while (end < part.written.length && (end === next || bytes * DECODED_BYTES < most)) {
        const written = part.written[end++] as WrittenRows;
        rows += written.rows;
        bytes += written.block.length;
      }
      buffer.reserve(rows, bytes);
      for (let at = 0; next < end; next++) {
        const written = part.written[next] as WrittenRows;
        this.read(buffer, written, at);
        at += written.rows;
        yield;
      }
      buffer.count = rows;
      yield* this.#divide(buffer, parts, level);
      buffer.release();
    }
    return parts;
  }

  /** The rows of a part, read into the buffer block by block; null: those that the buffer has. */
  open(buffer: RowBuffer, part: Part | null): SortedRows {
    if (part === null) {
      return {
        order: identity(buffer.count),
        base: 0,
        total: buffer.count,
        more: () => false,
        release: () => {},
      };
    }
    const rows = part.written.reduce((most, written) => Math.max(most, written.rows), 0);
    const bytes = part.written.reduce((most, { block }) => Math.max(most, block.length), 0);
    buffer.release();
    buffer.reserve(rows, bytes * DECODED_BYTES);
    return new PartReader(part, rows, (written) => this.read(buffer, written, 0));
  }

  override release(): void {
    super.release();
    this.#parts = null;
  }
}

/** The numbers of so many rows. */
export function identity(count: number): Int32Array {
  const rows = new Int32Array(count);
  for (let row = 0; row < count; row++) rows[row] = row;
  return rows;
}

/** The rows of one part after the other block. */
class PartReader implements SortedRows {
  order: Int32Array;
  base = 0;
  readonly total: number;
  readonly #part: Part;
  readonly #all: Int32Array;
  readonly #read: (written: WrittenRows) => void;
  #next = 0;

  constructor(part: Part, most: number, read: (written: WrittenRows) => void) {
    this.total = part.rows;
    this.#part = part;
    this.#all = identity(most);
    this.order = this.#all.subarray(0, 0);
    this.#read = read;
  }

  more(): boolean {
    const written = this.#part.written[this.#next];
    if (written === undefined) return false;
    this.#next++;
    this.base += this.order.length;
    this.#read(assertDefined(written, "the next block"));
    this.order = this.#all.subarray(0, written.rows);
    return true;
  }

  release(): void {}
}
