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

/** A part's cursor that is on an entry. */
export interface PartHead {
  readonly part: Part;
  readonly cursor: PartIndexCursor;
}

/** Merges cursors in key order. */
export class MergedHeads {
  readonly #encoder: IndexKeyEncoder;
  readonly #direction: 1 | -1;
  /** Heads that are on an entry. */
  readonly #heads: PartHead[] = [];
  #current = -1;

  constructor(encoder: IndexKeyEncoder, heads: readonly PartHead[], backward: boolean) {
    this.#encoder = encoder;
    this.#direction = backward ? -1 : 1;
    for (const head of heads) if (head.cursor.advance()) this.#heads.push(head);
  }

  /** The value of a column of the current entry, when its index tells it. */
  keyValue(column: number): StoredValue | undefined {
    return this.#heads[this.#current]?.cursor.keyValue?.(column);
  }

  /** Goes to the next entry; the head that is on it, or null at the end. */
  advance(): PartHead | null {
    const heads = this.#heads;
    if (this.#current >= 0) {
      const current = heads[this.#current] as PartHead;
      if (!current.cursor.advance()) heads.splice(this.#current, 1);
      this.#current = -1;
    }
    if (heads.length === 0) return null;
    let best = heads[0] as PartHead;
    this.#current = 0;
    for (let index = 1; index < heads.length; index++) {
      const head = heads[index] as PartHead;
      if (this.#compare(head, best) * this.#direction < 0) {
        best = head;
        this.#current = index;
      }
    }
    return best;
  }

  #compare(left: PartHead, right: PartHead): number {
    const order = this.#compareKeys(left.cursor, right.cursor);
    if (order !== 0) return order;
    const a = left.part.idAt(left.cursor.row);
    const b = right.part.idAt(right.cursor.row);
    return a < b ? -1 : a > b ? 1 : 0;
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

/** Merges cursors, forward. */
export function mergeHeads(encoder: IndexKeyEncoder, heads: readonly PartHead[]): MergedHeads {
  return new MergedHeads(encoder, heads, false);
}

/** A merged walk over several parts. */
export class MergedLocations implements LocationCursor {
  readonly #merged: MergedHeads;

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
