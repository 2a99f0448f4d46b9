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

/** Rows of a file. */
export class RowPages implements RowSequence {
  readonly count: number;
  readonly #written: readonly WrittenRows[];
  readonly #read: (written: WrittenRows, at: number) => void;
  /** The position of the first row of each block. */
  readonly #begins: Float64Array;
  readonly #pages: readonly Page[];
  #page: Page;
  #asked = 0;

  /** The buffer is empty; pages take about so many bytes of it, and `read` puts rows of the file into it. */
  constructor(
    buffer: RowBuffer,
    written: readonly WrittenRows[],
    { bytes, read }: { readonly bytes: number; readonly read: (written: WrittenRows, at: number) => void },
  ) {
    this.#written = written;
    this.#read = read;
    this.#begins = new Float64Array(written.length);
    let count = 0, mostRows = 0, mostBytes = 1;
    written.forEach(({ rows, block }, index) => {
      this.#begins[index] = count;
      count += rows;
      mostRows = Math.max(mostRows, rows);
      mostBytes = Math.max(mostBytes, block.length);
    });
    this.count = count;
    const pages = Math.min(written.length, MAX_PAGES, Math.max(MIN_PAGES, Math.floor(bytes / mostBytes)));
    buffer.reserve(pages * mostRows, pages * mostBytes);
    this.#pages = Array.from(
      { length: pages },
      (_, index) => ({ at: index * mostRows, begin: -1, end: -1, used: 0 }),
    );
    this.#page = this.#pages[0] ?? { at: 0, begin: -1, end: -1, used: 0 };
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
      const block = this.#blockOf(position);
      const written = this.#written[block] as WrittenRows;
      page.begin = this.#begins[block] as number;
      page.end = page.begin + written.rows;
      this.#read(written, page.at);
    }
    page.used = ++this.#asked;
    this.#page = page;
    return page.at + position - page.begin;
  }

  /** The last block that begins at a position or before it. */
  #blockOf(position: number): number {
    let low = 0;
    let high = this.#begins.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#begins[middle] as number) <= position) low = middle;
      else high = middle;
    }
    return low;
  }
}
