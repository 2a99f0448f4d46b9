/**
 * Which rows of a segment have ended, and at which op number: by block of rows, an array allocated with the first end
 * in it. 0 stands for "has not ended".
 */
import { assert } from "../../base/assert.ts";
import { BLOCK_ROWS } from "../access/block.ts";
import { DRAINED, PAUSE } from "./part.ts";

const SHIFT = 12;
const MASK = BLOCK_ROWS - 1;

/** The ends of a segment's rows. */
export class DeletionVector {
  readonly #blocks: (Float64Array | null)[];
  #count = 0;
  /** Rows that ended since a walk of {@link endedAfter} began; null when there is none. */
  #recent: number[] | null = null;

  constructor(rowCount: number) {
    this.#blocks = new Array<Float64Array | null>((rowCount + MASK) >>> SHIFT).fill(null);
  }

  /** Rows that have ended. */
  get count(): number {
    return this.#count;
  }

  get memoryBytes(): number {
    let bytes = this.#blocks.length * 8;
    for (const block of this.#blocks) if (block !== null) bytes += block.byteLength;
    return bytes;
  }

  /** The op number at which the row ended; 0 when it has not. */
  endOf(row: number): number {
    const block = this.#blocks[row >>> SHIFT] as Float64Array | null;
    return block === null ? 0 : block[row & MASK] as number;
  }

  /** Whether a snapshot still sees the row. */
  isVisible(row: number, snapshot: number): boolean {
    const block = this.#blocks[row >>> SHIFT] as Float64Array | null;
    if (block === null) return true;
    const end = block[row & MASK] as number;
    return end === 0 || snapshot < end;
  }

  mark(row: number, op: number): void {
    const at = row >>> SHIFT;
    const block = this.#blocks[at] ??= new Float64Array(BLOCK_ROWS);
    assert(block[row & MASK] === 0, "a version ends once");
    block[row & MASK] = op;
    this.#count++;
    if (this.#recent !== null) this.#recent.push(row);
  }

  /** See `Part.endedAfter`. One walk at a time. */
  *endedAfter(after: number): Generator<number, void> {
    assert(this.#recent === null, "one walk over the ended rows at a time");
    const recent: number[] = this.#recent = [];
    try {
      for (let at = 0; at < this.#blocks.length; at++) {
        if (this.#blocks[at] === null) continue;
        for (const row of this.#endedInBlock(at, after, Infinity)) yield row;
        yield PAUSE;
      }
      for (let index = 0;;) {
        while (index < recent.length) yield recent[index++] as number;
        yield DRAINED;
      }
    } finally {
      this.#recent = null;
    }
  }

  /** Rows that ended after `after` and not after `until`, ascending; yields after each few blocks. */
  *endedWithin(after: number, until: number): Generator<void, number[]> {
    const rows: number[] = [];
    for (let at = 0; at < this.#blocks.length; at++) {
      if (this.#blocks[at] === null) continue;
      for (const row of this.#endedInBlock(at, after, until)) rows.push(row);
      if ((at & 15) === 15) yield;
    }
    return rows;
  }

  #endedInBlock(at: number, after: number, until: number): number[] {
    const rows: number[] = [];
    const block = this.#blocks[at] as Float64Array;
    for (let index = 0; index < BLOCK_ROWS; index++) {
      const end = block[index] as number;
      if (end > after && end <= until) rows.push(at * BLOCK_ROWS + index);
    }
    return rows;
  }

  /** The mask of a block's rows that the snapshot does not see; null: it sees them all. */
  hidden(at: number, rowCount: number, snapshot: number): Uint8Array | null {
    const block = this.#blocks[at] as Float64Array | null;
    if (block === null) return null;
    const hidden = new Uint8Array(rowCount);
    let any = 0;
    for (let index = 0; index < rowCount; index++) {
      const end = block[index] as number;
      if (end !== 0 && end <= snapshot) {
        hidden[index] = 1;
        any = 1;
      }
    }
    return any === 0 ? null : hidden;
  }
}
