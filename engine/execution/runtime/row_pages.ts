/**
 * Rows that are read by their position, in any order: those of a buffer, or those of a file, of which a buffer has some
 * pages. The rows of the two pages that were asked for last stay where they are.
 */
import type { RowBuffer } from "./row_buffer.ts";
import type { WrittenRows } from "./spilled_rows.ts";

/** See the file's head. */
export interface RowSequence {
  readonly count: number;
  /** The buffer's row at a position. */
  at(position: number): number;
  /** The position behind those that are in the buffer together with this one. */
  endTogether(position: number): number;
}

/** Rows of a buffer that are all there. */
export class OrderedRows implements RowSequence {
  readonly count: number;
  readonly #order: Int32Array;

  constructor(order: Int32Array) {
    this.#order = order;
    this.count = order.length;
  }

  /** See {@link RowSequence.at}. */
  at(position: number): number {
    return this.#order[position] as number;
  }

  /** See {@link RowSequence.endTogether}. */
  endTogether(): number {
    return this.count;
  }
}

/** Rows of a buffer in the order in which they came; more may come. */
export class BufferRows implements RowSequence {
  readonly #buffer: RowBuffer;

  constructor(buffer: RowBuffer) {
    this.#buffer = buffer;
  }

  /** See {@link RowSequence.count}. */
  get count(): number {
    return this.#buffer.count;
  }

  /** See {@link RowSequence.at}. */
  at(position: number): number {
    return position;
  }

  /** See {@link RowSequence.endTogether}. */
  endTogether(): number {
    return this.count;
  }
}

/** Blocks of a file, one behind the other. */
export class WrittenBlocks {
  count = 0;
  /** Of any block. */
  mostRows = 0;
  mostBytes = 0;
  readonly #written: WrittenRows[] = [];
  /** The position of the first row of each. */
  readonly #begins: number[] = [];

  /** Adds one behind the others. */
  add(written: WrittenRows): void {
    this.#written.push(written);
    this.#begins.push(this.count);
    this.count += written.rows;
    this.mostRows = Math.max(this.mostRows, written.rows);
    this.mostBytes = Math.max(this.mostBytes, written.block.length);
  }

  /** The block that has a position, and that of its first row. */
  at(position: number): { readonly written: WrittenRows; readonly begin: number } {
    let low = 0;
    let high = this.#begins.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#begins[middle] as number) <= position) low = middle;
      else high = middle;
    }
    return { written: this.#written[low] as WrittenRows, begin: this.#begins[low] as number };
  }
}

/** Where pages come from. */
export interface PageSource {
  readonly count: number;
  /** What a page has at most, and how many there should be. */
  readonly page: { readonly rows: number; readonly bytes: number; readonly count: number };
  /** Puts some rows into the buffer from `at` on, one of which has the position; the answer is their positions. */
  readPage(buffer: RowBuffer, position: number, at: number): { readonly begin: number; readonly end: number };
}

/** A place in the buffer, and the rows that it has. */
interface Page {
  /** The buffer's row of the first one. */
  readonly at: number;
  /** Its positions; `begin` −1: none. */
  begin: number;
  end: number;
  /** When it was asked for last. */
  used: number;
}

/** Pages at most. */
const MAX_PAGES = 64;
const MIN_PAGES = 3;

/** Rows of a source, of which pages are in a buffer. */
export class RowPages implements RowSequence {
  readonly source: PageSource;
  readonly buffer: RowBuffer;
  readonly #pages: readonly Page[];
  #page: Page;
  #asked = 0;

  /** The buffer is empty. */
  constructor(buffer: RowBuffer, source: PageSource) {
    this.source = source;
    this.buffer = buffer;
    const { rows, bytes, count } = source.page;
    const pages = Math.min(MAX_PAGES, Math.max(MIN_PAGES, count));
    buffer.reserve(pages * rows, pages * bytes);
    const made = Array.from({ length: pages }, (_, index): Page => ({
      at: index * rows,
      begin: -1,
      end: -1,
      used: 0,
    }));
    this.#pages = made;
    this.#page = made[0] as Page;
  }

  /** See {@link RowSequence.count}. */
  get count(): number {
    return this.source.count;
  }

  /** See {@link RowSequence.at}. */
  at(position: number): number {
    const page = this.#page;
    const { begin } = page;
    return position >= begin && position < page.end ? page.at + position - begin : this.#turnTo(position);
  }

  /** See {@link RowSequence.endTogether}. */
  endTogether(position: number): number {
    this.at(position);
    return this.#page.end;
  }

  #turnTo(position: number): number {
    let page = this.#pages.find(({ begin, end }) => position >= begin && position < end);
    if (page === undefined) {
      page = this.#pages.reduce((oldest, each) => each.used < oldest.used ? each : oldest);
      const { begin, end } = this.source.readPage(this.buffer, position, page.at);
      page.begin = begin;
      page.end = end;
    }
    page.used = ++this.#asked;
    this.#page = page;
    return page.at + position - page.begin;
  }
}
