/**
 * Which rows of a segment have ended, and at which op number. By block of rows, made with the first end in it: a bit
 * for each row while all ends are at one op; else an op number for each row, where 0 stands for "has not ended".
 */
import { assert } from "../../base/assert.ts";
import { BLOCK_ROWS } from "../access/block.ts";
import { DRAINED, PAUSE } from "./part.ts";

const SHIFT = 12;
const MASK = BLOCK_ROWS - 1;

/** The ends of a block of rows. */
class BlockEnds {
  /** Where all that have ended did at one op. */
  #op: number;
  #bits: Uint32Array | null = new Uint32Array(BLOCK_ROWS >>> 5);
  #ops: Float64Array | null = null;

  constructor(op: number) {
    this.#op = op;
  }

  get memoryBytes(): number {
    return this.#bits?.byteLength ?? this.#ops?.byteLength ?? 0;
  }

  endOf(row: number): number {
    if (this.#ops !== null) return this.#ops[row] as number;
    return ((this.#bits as Uint32Array)[row >>> 5] as number) >>> (row & 31) & 1 ? this.#op : 0;
  }

  mark(row: number, op: number): void {
    if (this.#bits !== null) {
      if (op === this.#op) {
        const word = this.#bits[row >>> 5] as number;
        this.#bits[row >>> 5] = word | 1 << (row & 31);
        return;
      }
      const ops = new Float64Array(BLOCK_ROWS);
      for (let each = 0; each < BLOCK_ROWS; each++) ops[each] = this.endOf(each);
      this.#ops = ops;
      this.#bits = null;
    }
    (this.#ops as Float64Array)[row] = op;
  }

  hidden(rowCount: number, snapshot: number): Uint8Array | null {
    const bits = this.#bits, ops = this.#ops;
    if (ops === null && this.#op > snapshot) return null;
    const hidden = new Uint8Array(rowCount);
    let any = 0;
    for (let row = 0; row < rowCount; row++) {
      let isHidden = 0;
      if (bits !== null) isHidden = (bits[row >>> 5] as number) >>> (row & 31) & 1;
      else if (ops !== null) {
        const end = ops[row] as number;
        isHidden = end !== 0 && end <= snapshot ? 1 : 0;
      }
      hidden[row] = isHidden;
      any |= isHidden;
    }
    return any === 0 ? null : hidden;
  }
}

/** The ends of a segment's rows. */
export class DeletionVector {
  readonly #blocks: (BlockEnds | null)[];
  #count = 0;
  /** Rows that ended since a walk of {@link endedAfter} began; null when there is none. */
  #recent: number[] | null = null;

  constructor(rowCount: number) {
    this.#blocks = new Array<BlockEnds | null>((rowCount + MASK) >>> SHIFT).fill(null);
  }

  /** Rows that have ended. */
  get count(): number {
    return this.#count;
  }

  get memoryBytes(): number {
    let bytes = this.#blocks.length * 8;
    for (const block of this.#blocks) if (block !== null) bytes += block.memoryBytes;
    return bytes;
  }

  /** The op number at which the row ended; 0 when it has not. */
  endOf(row: number): number {
    const block = this.#blocks[row >>> SHIFT] as BlockEnds | null;
    return block === null ? 0 : block.endOf(row & MASK);
  }

  /** Whether a snapshot still sees the row. */
  isVisible(row: number, snapshot: number): boolean {
    const end = this.endOf(row);
    return end === 0 || snapshot < end;
  }

  mark(row: number, op: number): void {
    const at = row >>> SHIFT;
    const block = this.#blocks[at] ??= new BlockEnds(op);
    assert(block.endOf(row & MASK) === 0, "a version ends once");
    block.mark(row & MASK, op);
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
  *endedWithin(after: number, until: number): Generator<void, Uint32Array> {
    // What ends meanwhile does so after `until`.
    const rows = new Uint32Array(this.#count);
    let count = 0;
    for (let at = 0; at < this.#blocks.length; at++) {
      if (this.#blocks[at] === null) continue;
      for (const row of this.#endedInBlock(at, after, until)) rows[count++] = row;
      if ((at & 15) === 15) yield;
    }
    return rows.subarray(0, count);
  }

  #endedInBlock(at: number, after: number, until: number): number[] {
    const rows: number[] = [];
    const block = this.#blocks[at] as BlockEnds;
    for (let index = 0; index < BLOCK_ROWS; index++) {
      const end = block.endOf(index);
      if (end > after && end <= until) rows.push(at * BLOCK_ROWS + index);
    }
    return rows;
  }

  /** The mask of a block's rows that the snapshot does not see; null: it sees them all. */
  hidden(at: number, rowCount: number, snapshot: number): Uint8Array | null {
    const block = this.#blocks[at] as BlockEnds | null;
    if (block === null) return null;
    return block.hidden(rowCount, snapshot);
  }
}
