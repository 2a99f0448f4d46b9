/**
 * Rows divided by the hash of their keys, which is the last column of their buffer: rows with equal keys are in one
 * part, in the order in which they came. What does not fit into memory is written to a file, a block for each part
 * whenever the buffer is full; a part that is too large is divided again, by other bits of the hash.
 */
import type { SortedRows } from "./external_sort.ts";
import type { RowBuffer } from "./row_buffer.ts";
import { blockBytesFor, SpilledRows, type WrittenRows } from "./spilled_rows.ts";
import { GeneratorWork, type Work } from "./work.ts";

/** Parts of each division; a power of two. */
export const PART_COUNT = 64;
export const PART_BITS = 6;
/** How often rows can be divided: the bits of a hash are used up then. */
export const MAX_LEVELS = 5;
/** The part of the memory that an operator takes at most for what it keeps of the rows of a part, or of a group. */
export const ROUND_SHARE = 1 / 3;
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
  /** Rows that have another hash than the row before: there are no more hashes. */
  changes: number;
  bytes: number;
  /** The hash of all rows; null: they have several. */
  hash: number | null;
}

/** Each part is a group of its own. */
const EACH_APART = Uint8Array.from({ length: PART_COUNT }, (_, part) => part);

function newParts(): Part[] {
  return Array.from(
    { length: PART_COUNT },
    () => ({ written: [], rows: 0, changes: 0, bytes: 0, hash: null }),
  );
}

/** Several parts as one, whose blocks are read in the order in which they are in the file. */
export function joinParts(parts: readonly Part[]): Part {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return first;
  const sum = (of: (part: Part) => number) => parts.reduce((total, part) => total + of(part), 0);
  const written = parts.flatMap(({ written }) => written)
    .sort((left, right) => left.block.position - right.block.position);
  return {
    written,
    rows: sum(({ rows }) => rows),
    changes: sum(({ changes }) => changes),
    bytes: sum(({ bytes }) => bytes),
    hash: null,
  };
}

/**
 * Groups of parts that lie one behind the other, of so many bytes at most or of one part: for each part the first one
 * of its group. Parts of a group are all chosen or none.
 */
export function groupParts(bytes: readonly number[], most: number, chosen: Uint8Array): Uint8Array {
  let first = 0, sum = 0;
  return Uint8Array.from(bytes, (size, part) => {
    sum += size;
    if (chosen[part] !== chosen[first] || chosen[part] === 0 && sum > most) {
      first = part;
      sum = size;
    }
    return first;
  });
}

/** Notes rows that were written. */
function addTo(part: Part, written: WrittenRows, rows: Int32Array, hashes: Int32Array): void {
  const first = hashes[rows[0] as number] as number;
  let before = first, changes = 1;
  for (let index = 1; index < rows.length; index++) {
    const hash = hashes[rows[index] as number] as number;
    if (hash !== before) changes++;
    before = hash;
  }
  part.hash = changes === 1 && (part.rows === 0 || part.hash === first) ? first : null;
  part.written.push(written);
  part.rows += written.rows;
  part.changes += changes;
  part.bytes += written.block.length;
}

/** See the file's head. */
export class PartitionedRows extends SpilledRows {
  #parts: Part[] | null = null;
  #groupOf: Uint8Array = EACH_APART;

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
    const groupOf = level === 0 ? this.#groupOf : EACH_APART;
    const partOf = new Uint8Array(count);
    const ends = new Int32Array(PART_COUNT);
    for (let row = 0; row < count; row++) {
      const part = groupOf[(hashes[row] as number) >>> shift & PART_COUNT - 1] as number;
      partOf[row] = part;
      ends[part] = ends[part] as number + 1;
      if (row % PIECE_ROWS === PIECE_ROWS - 1) yield;
    }
    const next = new Int32Array(PART_COUNT);
    for (let part = 1; part < PART_COUNT; part++) {
      next[part] = ends[part - 1] as number;
      ends[part] = ends[part] as number + (next[part] as number);
    }
    const order = new Int32Array(count);
    for (let row = 0; row < count; row++) {
      const part = partOf[row] as number;
      const at = next[part] as number;
      order[at] = row;
      next[part] = at + 1;
      if (row % PIECE_ROWS === PIECE_ROWS - 1) yield;
    }
    const most = { bytes: blockBytesFor(this.state.context.memoryLimitBytes), cuts: ends };
    let from = 0;
    for (const written of this.write(buffer, { order, from, to: count }, most)) {
      const part = parts[partOf[order[from] as number] as number] as Part;
      if (part.rows === 0) this.state.beganRun();
      addTo(part, written, order.subarray(from, from + written.rows), hashes);
      from += written.rows;
      yield;
    }
  }

  /** Takes parts together from now on: `groupOf` has for each of them the number of the first one of its group. */
  group(groupOf: Uint8Array): void {
    this.#groupOf = groupOf;
    const parts = this.#parts;
    this.#parts =
      parts?.map((_, number) => joinParts(parts.filter((_, index) => groupOf[index] === number))) ??
        null;
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
      let at = 0;
      for (const run of runsOf(part.written.slice(next, end), this.#runBytes)) {
        at += this.read(buffer, run, at);
        yield;
      }
      next = end;
      buffer.count = rows;
      yield* this.#divide(buffer, parts, level);
      buffer.release();
    }
    return parts;
  }

  /** The rows of a part, read into the buffer block by block; null: those that the buffer has. */
  open(buffer: RowBuffer, part: Part | null): SortedRows {
    if (part === null) return new PartReader(identity(buffer.count), [], () => 0);
    const runs = runsOf(part.written, this.#runBytes);
    const rows = runs.reduce((most, run) => Math.max(most, rowsOf(run)), 0);
    const bytes = runs.reduce((most, run) => Math.max(most, bytesOf(run)), 0);
    buffer.release();
    buffer.reserve(rows, bytes * DECODED_BYTES);
    return new PartReader(identity(rows), runs, (run) => this.read(buffer, run, 0));
  }

  /** What is read at once, unless it is one block. */
  get #runBytes(): number {
    return blockBytesFor(this.state.context.memoryLimitBytes);
  }

  override release(): void {
    super.release();
    this.#parts = null;
    this.#groupOf = EACH_APART;
  }
}

/** The numbers of so many rows. */
export function identity(count: number): Int32Array {
  const rows = new Int32Array(count);
  for (let row = 0; row < count; row++) rows[row] = row;
  return rows;
}

/** Blocks that lie one behind the other in the file. */
type BlockRun = readonly WrittenRows[];

const rowsOf = (run: BlockRun): number => run.reduce((sum, { rows }) => sum + rows, 0);
const bytesOf = (run: BlockRun): number => run.reduce((sum, { block }) => sum + block.length, 0);

/** Blocks in runs of so many bytes at most, or of one block. */
function runsOf(written: readonly WrittenRows[], mostBytes: number): readonly BlockRun[] {
  const runs: WrittenRows[][] = [];
  let end = -1, bytes = 0;
  for (const each of written) {
    const { position, length } = each.block;
    const run = runs.at(-1);
    bytes += length;
    if (run !== undefined && position === end && bytes <= mostBytes) run.push(each);
    else {
      runs.push([each]);
      bytes = length;
    }
    end = position + length;
  }
  return runs;
}

/**
 * The rows of a part, one run of blocks after the other. Rows that are there already have the same class: the code that
 * reads both would be made slow by another one.
 */
class PartReader implements SortedRows {
  order: Int32Array;
  base = 0;
  readonly total: number;
  readonly #runs: readonly BlockRun[];
  readonly #all: Int32Array;
  readonly #read: (run: BlockRun) => number;
  #next = 0;

  /** `all`: as many rows as are in the buffer at most; without runs these are there already. */
  constructor(all: Int32Array, runs: readonly BlockRun[], read: (run: BlockRun) => number) {
    this.total = runs.length === 0 ? all.length : runs.reduce((sum, run) => sum + rowsOf(run), 0);
    this.#runs = runs;
    this.#all = all;
    this.order = runs.length === 0 ? all : all.subarray(0, 0);
    this.#read = read;
  }

  more(): boolean {
    const run = this.#runs[this.#next];
    if (run === undefined) return false;
    this.#next++;
    this.base += this.order.length;
    this.order = this.#all.subarray(0, this.#read(run));
    return true;
  }

  release(): void {}
}
