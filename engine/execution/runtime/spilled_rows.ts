/**
 * Rows of a buffer that are written to a file when the buffer has taken its share of a statement's memory.
 */
import type { SpillBlock, SpillFile } from "../../host/spill_file.ts";
import type { MemoryUser } from "./memory_user.ts";
import {
  beginBlocks,
  type ChosenRows,
  decodeRows,
  encodedBlocks,
  encodeRows,
  type SpilledColumn,
} from "./row_codec.ts";
import type { RowBuffer } from "./row_buffer.ts";

/** The part of a statement's memory that a buffer takes before it is written to a file. */
const SHARE = 1 / 4;
/** What it takes at least for that, when others have taken half of the memory. */
const MIN_SHARE = 1 / 32;
/** Rows between two looks at what texts take. */
const LOOK_ROWS = 4096;
/** What a block takes of the memory at most, unless it has one row only: several are read at a time. */
const BLOCK_SHARE = 1 / 64;
const MIN_BLOCK_BYTES = 2048;
const MAX_BLOCK_BYTES = 1 << 18;
/** Blocks are written together until they have so many bytes: a write costs as much as some thousand of them. */
const WRITE_BYTES = 1 << 16;

/** What blocks of rows take in a memory of so many bytes. */
export function blockBytesFor(memoryLimitBytes: number): number {
  return Math.min(MAX_BLOCK_BYTES, Math.max(MIN_BLOCK_BYTES, Math.floor(memoryLimitBytes * BLOCK_SHARE)));
}

const NO_CUTS = new Int32Array(0);

/** Rows that are one block. */
export interface WrittenRows {
  readonly block: SpillBlock;
  readonly rows: number;
}

/** Blocks are decoded as they are read, and none is kept. */
let room = new Uint8Array(MAX_BLOCK_BYTES);

function roomFor(bytes: number): Uint8Array {
  if (bytes > 4 * MAX_BLOCK_BYTES) return new Uint8Array(bytes);
  if (bytes > room.length) room = new Uint8Array(Math.max(bytes, 2 * room.length));
  return room.subarray(0, bytes);
}

/** See the file's head. */
export abstract class SpilledRows {
  /** {@link isDue} is to be asked behind the row of this number. */
  full: number;
  /** Rows may be written soon. */
  isNear = false;
  protected readonly state: MemoryUser;
  readonly #layout: readonly SpilledColumn[];
  #share: number;
  #file: SpillFile | null = null;

  constructor(state: MemoryUser, layout: readonly SpilledColumn[]) {
    const { memoryLimitBytes, spillFile } = state.context;
    this.state = state;
    this.#layout = layout;
    this.#share = memoryLimitBytes * SHARE;
    this.full = spillFile === undefined ? Infinity : 0;
  }

  /** They are due at so many bytes at the latest. */
  limitShare(bytes: number): void {
    this.#share = Math.min(this.#share, bytes);
  }

  /** What the buffer takes before it is written. */
  protected get share(): number {
    const { isHalfFull, context } = this.state;
    return isHalfFull ? context.memoryLimitBytes * MIN_SHARE : this.#share;
  }

  /** Whether the buffer has taken its share, or would with one more row; otherwise {@link full} is moved on. */
  isDue(buffer: RowBuffer): boolean {
    const { count, capacity } = buffer;
    const bytes = buffer.measure();
    const { share } = this;
    if (count > 1 && (count === capacity ? 2 * bytes : bytes) > share) {
      this.isNear = true;
      return true;
    }
    this.isNear = bytes > share / 4;
    // Within the arrays only texts take more; they are looked at in time, too.
    const { textBytes } = buffer;
    const look = textBytes === 0
      ? Infinity
      : Math.min(LOOK_ROWS, Math.floor((share - bytes) * count / textBytes / 2));
    this.full = Math.max(count, Math.min(count + look, capacity) - 1);
    return false;
  }

  /** Writes the rows `order[from]` up to `order[to]` in blocks of so many bytes and rows, which end at `cuts`, too. */
  protected *write(
    buffer: RowBuffer,
    chosen: ChosenRows,
    most: { readonly bytes: number; readonly rows?: number; readonly cuts?: Int32Array },
  ): Generator<WrittenRows, void, void> {
    const file = this.#file ??= this.state.context.spillFile?.() ?? null;
    const { rows = Infinity, cuts = NO_CUTS } = most;
    const { order, from, to } = chosen;
    if (file === null) throw new TypeError("there is nowhere to spill to");
    for (let begin = from, cut = 0; begin < to;) {
      const counts: number[] = [];
      const ends: number[] = [];
      beginBlocks();
      for (let bytes = 0; begin < to && bytes < WRITE_BYTES;) {
        while ((cuts[cut] ?? to) <= begin) cut++;
        const end = buffer.endWithin(order, begin, Math.min(cuts[cut] ?? to, begin + rows), most.bytes);
        bytes = encodeRows(buffer, this.#layout, { ...chosen, from: begin, to: end });
        ends.push(bytes);
        counts.push(end - begin);
        begin = end;
      }
      const blocks = file.writeBlocks(encodedBlocks(), ends);
      for (const [index, block] of blocks.entries()) {
        this.state.wrote(block.length);
        yield { block, rows: counts[index] as number };
      }
    }
  }

  /**
   * Reads written rows, whose blocks lie one behind the other, into a buffer that has room for them, from row `at` on;
   * the answer is how many.
   */
  protected read(buffer: RowBuffer, written: readonly WrittenRows[], at: number): number {
    const blocks = written.map(({ block }) => block);
    const room = roomFor(blocks.reduce((sum, { length }) => sum + length, 0));
    this.#file?.readBlocks(blocks, room);
    let begin = 0, count = 0;
    for (const { block, rows } of written) {
      const bytes = room.subarray(begin, begin + block.length);
      decodeRows(buffer, this.#layout, bytes, { at: at + count, count: rows });
      begin += block.length;
      count += rows;
    }
    return count;
  }

  /** Removes the file. */
  release(): void {
    this.#file?.close();
    this.#file = null;
    this.full = this.state.context.spillFile === undefined ? Infinity : 0;
  }
}
