/**
 * Sorting of more rows than fit into a statement's memory: sorted runs are written to a file and merged (Knuth, "The
 * Art of Computer Programming", volume 3, section 5.4).
 *
 * A run is written when the buffer has taken its share of the memory. In the end each run has a window in the same
 * buffer, into which its next block of rows is read when the one before has been given out; so the comparison that
 * sorts rows of the buffer merges them, too. With more runs than there are windows, the oldest ones are merged into one
 * first. Equal rows keep their order.
 */
import type { ExecutionState } from "./execution_state.ts";
import type { MemoryUser } from "./memory_user.ts";
import type { RowBuffer } from "./row_buffer.ts";
import { RowPages, WrittenBlocks } from "./row_pages.ts";
import { slotObject } from "./slot_object.ts";
import type { RowComparison } from "./sorting.ts";
import { SpilledRows, type WrittenRows } from "./spilled_rows.ts";
import type { SpilledColumn } from "./row_codec.ts";
import { GeneratorWork, type Work } from "./work.ts";

/** Rows in their order, a part at a time: row numbers of a buffer, of which the first is the `base`th of all. */
export interface SortedRows {
  readonly order: Int32Array;
  readonly base: number;
  /** How many there are in all parts together, where that is known. */
  readonly total?: number;
  /** Goes on with the next part. false: there is none. */
  more(): boolean;
  release(): void;
}

/** All rows of a buffer, in their order. */
export function sortedRows(order: Int32Array): SortedRows {
  return { order, base: 0, more: () => false, release: () => {} };
}

/** What the windows of all runs that are merged take of the memory, roughly, before their rows are decoded. */
const WINDOWS_SHARE = 1 / 8;
/** Runs merged at a time at most; with large rows there are fewer. */
const MAX_WINDOWS = 256;
const MIN_BLOCK_BYTES = 4096;
const MAX_BLOCK_BYTES = 1 << 18;
/** Windows, if no row is larger than a block. */
const USUAL_WINDOWS = 8;
/** Rows of a part of the result. */
const MORSEL_ROWS = 2048;
/** A sorted part of the rows in the file. */
interface Run {
  readonly written: WrittenRows[];
}

/** Reads written rows into the buffer, from a row on. */
type ReadRows = (written: WrittenRows, at: number) => void;

/** The sort of a slot, made at first use. */
export function externalSort(
  state: ExecutionState,
  slot: number,
  layout: readonly SpilledColumn[],
): ExternalSort {
  return slotObject(state, slot, ExternalSort, layout);
}

/** What a sort has written to its file. */
export class ExternalSort extends SpilledRows {
  readonly #windowsBytes: number;
  readonly #blockBytes: number;
  #runs: Run[] = [];

  constructor(state: MemoryUser, layout: readonly SpilledColumn[]) {
    super(state, layout);
    const bytes = this.#windowsBytes = state.context.memoryLimitBytes * WINDOWS_SHARE;
    const windows = Math.min(MAX_WINDOWS, Math.max(USUAL_WINDOWS, Math.floor(bytes / MIN_BLOCK_BYTES)));
    this.#blockBytes = Math.min(MAX_BLOCK_BYTES, Math.floor(bytes / windows));
  }

  /** Whether something has been written. */
  get hasRuns(): boolean {
    return this.#runs.length > 0;
  }

  /** Writes the buffer's rows as a run and empties it; `limit`: no more than so many of them. */
  writeRun(buffer: RowBuffer, order: Int32Array, limit: number): Work {
    return new GeneratorWork(this.#writeRun(buffer, order, limit));
  }

  *#writeRun(buffer: RowBuffer, order: Int32Array, limit: number): Generator<void, void, void> {
    const to = Math.min(order.length, limit);
    if (to === 0) return buffer.release();
    buffer.decodeTexts();
    this.state.beganRun();
    this.state.beganPass(1);
    const run: Run = { written: [] };
    for (const written of this.write(buffer, { order, from: 0, to }, { bytes: this.#blockBytes })) {
      run.written.push(written);
      yield;
    }
    this.#runs.push(run);
    buffer.release();
    this.full = 0;
  }

  /** Makes room for the windows in the buffer, which is empty. */
  open(buffer: RowBuffer): void {
    const windows = Math.min(this.#windows, this.#runs.length);
    buffer.reserve(windows * this.#most(({ rows }) => rows), windows * this.#largest);
  }

  #most(of: (written: WrittenRows) => number): number {
    let most = 0;
    for (const { written } of this.#runs) for (const each of written) most = Math.max(most, of(each));
    return most;
  }

  /** Bytes of the largest block: more than usual if a row is. */
  get #largest(): number {
    return this.#most(({ block }) => block.length);
  }

  /** Runs merged at a time. */
  get #windows(): number {
    const bytes = Math.max(this.#blockBytes, this.#largest);
    return Math.min(MAX_WINDOWS, Math.max(2, Math.floor(this.#windowsBytes / bytes)));
  }

  /** Merges what has been written; the result has the rows, of which no more than `limit` are wanted. */
  merge(buffer: RowBuffer, compare: RowComparison, limit: number): GeneratorWork<SortedRows> {
    return new GeneratorWork(this.#merge(buffer, compare, limit));
  }

  *#merge(buffer: RowBuffer, compare: RowComparison, limit: number): Generator<void, SortedRows, void> {
    const rows = yield* this.#mergeUpTo(this.#windows, buffer, compare, limit);
    yield* rows.open();
    return rows;
  }

  /** The rows by their positions: all runs are merged into one. The buffer has its pages in the end. */
  pages(buffer: RowBuffer, compare: RowComparison): GeneratorWork<RowPages> {
    return new GeneratorWork(this.#mergeToPages(buffer, compare));
  }

  *#mergeToPages(buffer: RowBuffer, compare: RowComparison): Generator<void, RowPages, void> {
    yield* this.#mergeUpTo(1, buffer, compare, Infinity);
    buffer.release();
    const blocks = new WrittenBlocks();
    for (const { written } of this.#runs) for (const each of written) blocks.add(each);
    const { mostRows, mostBytes } = blocks;
    return new RowPages(buffer, {
      count: blocks.count,
      page: { rows: mostRows, bytes: mostBytes, count: Math.floor(this.#windowsBytes / mostBytes) },
      readPage: (target, position, at) => {
        const { written, begin } = blocks.at(position);
        this.read(target, [written], at);
        return { begin, end: begin + written.rows };
      },
    });
  }

  /** Merges runs until there are no more than so many; the answer merges those. */
  *#mergeUpTo(
    count: number,
    buffer: RowBuffer,
    compare: RowComparison,
    limit: number,
  ): Generator<void, MergedRows, void> {
    const windows = this.#windows;
    const windowRows = this.#most(({ rows }) => rows);
    const read: ReadRows = (written, at) => this.read(buffer, [written], at);
    const merged = (runs: readonly Run[]) =>
      new MergedRows(runs.map((run, index) => new Window(run, index, { windowRows, read })), compare, limit);
    const most = { bytes: this.#blockBytes, rows: windowRows };
    // Each row is written once more in each pass.
    for (let pass = 2; this.#runs.length > count; pass++) {
      this.state.beganPass(pass);
      const before = this.#runs;
      const runs: Run[] = [];
      for (let from = 0; from < before.length; from += windows) {
        const group = before.slice(from, from + windows);
        runs.push(group.length === 1 ? group[0] as Run : yield* this.#mergeInto(buffer, merged(group), most));
      }
      this.#runs = runs;
    }
    return merged(this.#runs);
  }

  *#mergeInto(
    buffer: RowBuffer,
    rows: MergedRows,
    most: { readonly bytes: number; readonly rows: number },
  ): Generator<void, Run, void> {
    const run: Run = { written: [] };
    for (yield* rows.open(); rows.order.length > 0; rows.more()) {
      const { order } = rows;
      run.written.push(...this.write(buffer, { order, from: 0, to: order.length }, most));
      yield;
    }
    return run;
  }

  override release(): void {
    super.release();
    this.#runs = [];
  }
}

/** Where rows of a run are in the buffer. */
class Window {
  /** The run's next row. */
  row: number;
  /** Of equal rows those of the first run come first. */
  readonly index: number;
  readonly #run: Run;
  readonly #at: number;
  readonly #read: ReadRows;
  #end: number;
  #next = 0;

  constructor(
    run: Run,
    index: number,
    { windowRows, read }: { readonly windowRows: number; readonly read: ReadRows },
  ) {
    this.index = index;
    this.#run = run;
    this.#at = this.row = this.#end = index * windowRows;
    this.#read = read;
  }

  /** All of its rows that are in the buffer have been given out. */
  get isEmpty(): boolean {
    return this.row === this.#end;
  }

  /** Reads the run's next rows. false: there are no more. */
  fill(): boolean {
    const written = this.#run.written[this.#next++];
    if (written === undefined) return false;
    this.#read(written, this.#at);
    this.row = this.#at;
    this.#end = this.#at + written.rows;
    return true;
  }
}

/** Rows of several windows in their order. */
class MergedRows implements SortedRows {
  order: Int32Array = new Int32Array(0);
  base = 0;
  readonly #rows = new Int32Array(MORSEL_ROWS);
  readonly #compare: RowComparison;
  /** A heap: none comes before the one at half of its place. */
  readonly #heap: Window[];
  #left: number;

  constructor(windows: Window[], compare: RowComparison, limit: number) {
    this.#heap = windows;
    this.#compare = compare;
    this.#left = limit;
  }

  /** Reads the first rows of all runs. */
  *open(): Generator<void, void, void> {
    for (const window of this.#heap) {
      window.fill();
      yield;
    }
    for (let place = this.#heap.length >> 1; place >= 0; place--) this.#sink(place);
    this.more();
  }

  /** See {@link SortedRows.more}: what was given out is overwritten. */
  more(): boolean {
    const heap = this.#heap;
    const rows = this.#rows;
    this.base += this.order.length;
    if (heap[0]?.isEmpty === true && this.#left > 0) this.#refill(heap[0]);
    const most = Math.min(MORSEL_ROWS, this.#left);
    let count = 0;
    while (count < most) {
      const first = heap[0];
      if (first === undefined) break;
      rows[count++] = first.row++;
      if (first.isEmpty) break;
      this.#sink(0);
    }
    this.#left -= count;
    this.order = rows.subarray(0, count);
    return count > 0;
  }

  #refill(first: Window): void {
    const heap = this.#heap;
    if (!first.fill()) {
      const last = heap.pop();
      if (last === undefined || last === first) return;
      heap[0] = last;
    }
    this.#sink(0);
  }

  /** Moves a window down until those beneath come after it. */
  #sink(place: number): void {
    const heap = this.#heap;
    const window = heap[place];
    if (window === undefined) return;
    for (;;) {
      let next = 2 * place + 1;
      let best = heap[next];
      if (best === undefined) break;
      const other = heap[next + 1];
      if (other !== undefined && this.#comesFirst(other, best)) {
        best = other;
        next++;
      }
      if (!this.#comesFirst(best, window)) break;
      heap[place] = best;
      place = next;
    }
    heap[place] = window;
  }

  #comesFirst(left: Window, right: Window): boolean {
    const order = this.#compare(left.row, right.row);
    return order < 0 || order === 0 && left.index < right.index;
  }

  release(): void {}
}
