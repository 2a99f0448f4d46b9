/**
 * Walks over an index of a whole table: the index cursors of its parts, merged in key order, ties by row id.
 *
 * A table has at most a handful of parts, so the least head is found by comparing them all. Parts may hold number
 * keys or text keys for the same index; heads of different forms are compared as text keys.
 */
import { NO_ROW, type RowLocation } from "../access/block.ts";
import type { StoredValue } from "../../operations/effect.ts";
import type { LocationCursor } from "../access/readable_table.ts";
import { compareNumberKeys, type IndexKeyEncoder } from "./index_key.ts";
import { type Part, PART_ROWS, type PartIndexCursor } from "./part.ts";

/** A cursor with nothing in it. */
export const NO_LOCATIONS: LocationCursor = { next: () => NO_ROW };

/** A walk over one part. */
export class PartLocations implements LocationCursor {
  readonly #base: number;
  readonly #cursor: PartIndexCursor;

  constructor(part: Part, cursor: PartIndexCursor) {
    this.#base = part.number * PART_ROWS;
    this.#cursor = cursor;
  }

  next(): RowLocation {
    return this.#cursor.advance() ? this.#base + this.#cursor.row : NO_ROW;
  }

  keyValue(column: number): StoredValue | undefined {
    return this.#cursor.keyValue?.(column);
  }
}

/** A cursor and what its rows are rows of. */
export interface Head {
  readonly part: Pick<Part, "idAt">;
  readonly cursor: PartIndexCursor;
}

/** The same of a part of a table. */
export interface PartHead extends Head {
  readonly part: Part;
}

/** Merges cursors in key order. */
export class MergedHeads<H extends Head> {
  readonly #encoder: IndexKeyEncoder;
  readonly #direction: 1 | -1;
  /** Heads that are on an entry, the next entry's first. */
  readonly #heads: H[] = [];
  #hasBegun = false;

  constructor(encoder: IndexKeyEncoder, heads: readonly H[], backward: boolean) {
    this.#encoder = encoder;
    this.#direction = backward ? -1 : 1;
    for (const head of heads) {
      if (!head.cursor.advance()) continue;
      this.#heads.unshift(head);
      this.#sink(1);
    }
  }

  /** The value of a column of the current entry, when its index tells it. */
  keyValue(column: number): StoredValue | undefined {
    return this.#heads[0]?.cursor.keyValue?.(column);
  }

  /** Goes to the next entry; the head that is on it, or null at the end. */
  advance(): H | null {
    const heads = this.#heads;
    const current = heads[0];
    if (current === undefined) return null;
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      return current;
    }
    if (!current.cursor.advance()) {
      heads.shift();
    } else if (heads.length > 1 && this.#compare(current, heads[1] as H) > 0) {
      // Entries of one head often follow each other: its place is looked for only when another one's come first.
      this.#sink(2);
    }
    return heads[0] ?? null;
  }

  /** Brings the first head to its place, which is not before `low`, among the others. */
  #sink(low: number): void {
    const heads = this.#heads;
    const head = heads[0] as H;
    for (let high = heads.length; low < high;) {
      const middle = (low + high) >> 1;
      if (this.#compare(head, heads[middle] as H) > 0) low = middle + 1;
      else high = middle;
    }
    for (let at = 1; at < low; at++) heads[at - 1] = heads[at] as H;
    heads[low - 1] = head;
  }

  #compare(left: H, right: H): number {
    const order = this.#compareKeys(left.cursor, right.cursor);
    if (order !== 0) return order * this.#direction;
    const a = left.part.idAt(left.cursor.row);
    const b = right.part.idAt(right.cursor.row);
    return a < b ? -this.#direction : a > b ? this.#direction : 0;
  }

  #compareKeys(left: PartIndexCursor, right: PartIndexCursor): number {
    const leftText = left.textKey;
    const rightText = right.textKey;
    if (leftText === null && rightText === null) {
      return compareNumberKeys(left.numberKey, right.numberKey, this.#encoder.nullsFirst);
    }
    const a = leftText ?? this.#encoder.textOfNumberKey(left.numberKey);
    const b = rightText ?? this.#encoder.textOfNumberKey(right.numberKey);
    return a < b ? -1 : a > b ? 1 : 0;
  }
}

/** A merged walk over several parts. */
export class MergedLocations implements LocationCursor {
  readonly #merged: MergedHeads<PartHead>;

  constructor(encoder: IndexKeyEncoder, heads: readonly PartHead[], backward: boolean) {
    this.#merged = new MergedHeads(encoder, heads, backward);
  }

  next(): RowLocation {
    const head = this.#merged.advance();
    return head === null ? NO_ROW : head.part.number * PART_ROWS + head.cursor.row;
  }

  keyValue(column: number): StoredValue | undefined {
    return this.#merged.keyValue(column);
  }
}
