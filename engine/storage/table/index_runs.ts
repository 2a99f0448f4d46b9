/**
 * Index entries of rows, sorted. Of many rows some are sorted at a time: each such run of entries goes to a temporary
 * file, and is read again block by block while all are merged, so that an index of any size is made in bounded memory.
 */
import type { StoredValue } from "../../operations/effect.ts";
import { BLOCK_ROWS } from "../access/block.ts";
import type { SpillBlock, SpillFile } from "../../host/spill_file.ts";
import type { IndexKeyEncoder } from "./index_key.ts";
import type { IndexEntries } from "./index_writer.ts";
import type { Part, PartIndexCursor } from "./part.ts";
import {
  decodeEntries,
  encodeNumberEntries,
  encodeTextEntries,
  type IndexBlock,
  textOfEntry,
} from "./segment_index_format.ts";
import { sortInSteps, sortNumbersInSteps } from "./sort_order.ts";

/** Entries put in place between two yields. */
const STEP_ROWS = 16384;

/** Rows of a part, in id order. */
export interface SortedRows {
  readonly count: number;
  rowAt(index: number): number;
}

/** A run in a temporary file, as a walk over its entries. */
export class IndexRun implements PartIndexCursor {
  readonly #file: SpillFile;
  readonly #form: "f64" | "text";
  readonly #blocks: readonly SpillBlock[];
  readonly #count: number;
  #position = -1;
  #block: IndexBlock | null = null;
  row = 0;
  numberKey = 0;
  textKey: string | null = null;

  private constructor(file: SpillFile, form: "f64" | "text", blocks: readonly SpillBlock[], count: number) {
    this.#file = file;
    this.#form = form;
    this.#blocks = blocks;
    this.#count = count;
  }

  /** Writes entries; yields after each block. Raises 53100 on a full disk. */
  static *write(file: SpillFile, { rows, numbers, texts }: IndexEntries): Generator<void, IndexRun> {
    const blocks: SpillBlock[] = [];
    for (let from = 0; from < rows.length; from += BLOCK_ROWS) {
      const to = from + BLOCK_ROWS;
      const own = rows.subarray(from, to);
      blocks.push(file.write(
        numbers === null
          ? encodeTextEntries(own, texts?.slice(from, to) ?? [])
          : encodeNumberEntries(own, numbers.subarray(from, to), false),
      ));
      yield;
    }
    return new IndexRun(file, numbers === null ? "text" : "f64", blocks, rows.length);
  }

  advance(): boolean {
    const position = ++this.#position;
    if (position >= this.#count) return false;
    const at = position % BLOCK_ROWS;
    if (at === 0) {
      const bytes = this.#file.read(this.#blocks[position / BLOCK_ROWS] as SpillBlock);
      this.#block = decodeEntries(bytes, this.#form, Math.min(BLOCK_ROWS, this.#count - position));
    }
    const block = this.#block as IndexBlock;
    this.row = block.rows[at] as number;
    if (block.numbers === null) this.textKey = textOfEntry(block, at);
    else this.numberKey = block.numbers[at] as number;
    return true;
  }
}

/** The entries of rows; equal keys are in the order of the rows. `rows` of the result are places in these. */
export function* sortEntries(
  encoder: IndexKeyEncoder,
  part: Part,
  rows: SortedRows,
): Generator<void, IndexEntries> {
  const { count } = rows;
  const numbers = encoder.numeric ? yield* numberKeysOf(encoder, part, rows) : null;
  if (numbers !== null) {
    const order = nullsInPlace(
      yield* sortNumbersInSteps(numbers, count),
      numbers,
      encoder.nullsFirst,
    );
    const sorted = new Float64Array(count);
    for (let index = 0; index < count; index++) {
      sorted[index] = numbers[order[index] as number] as number;
      if ((index & (STEP_ROWS - 1)) === STEP_ROWS - 1) yield;
    }
    return { rows: order, numbers: sorted, texts: null };
  }
  const texts: string[] = [];
  const { columnIds } = encoder;
  for (let index = 0; index < count; index++) {
    const values: StoredValue[] = [];
    for (let at = 0; at < columnIds.length; at++) {
      values.push(part.valueAt(rows.rowAt(index), columnIds[at] as number));
    }
    texts.push(encoder.textKey(values));
    if ((index & 2047) === 2047) yield;
  }
  const order = yield* sortInSteps(count, (left, right) => {
    const a = texts[left] as string;
    const b = texts[right] as string;
    return a < b ? -1 : a > b ? 1 : left - right;
  });
  const sorted: string[] = [];
  for (let index = 0; index < count; index++) {
    sorted.push(texts[order[index] as number] as string);
    if ((index & (STEP_ROWS - 1)) === STEP_ROWS - 1) yield;
  }
  return { rows: order, numbers: null, texts: sorted };
}

function* numberKeysOf(
  encoder: IndexKeyEncoder,
  part: Part,
  rows: SortedRows,
): Generator<void, Float64Array | null> {
  const columnId = encoder.columnIds[0] as number;
  const keys = new Float64Array(rows.count);
  for (let index = 0; index < keys.length; index++) {
    const key = encoder.numberKey(part.valueAt(rows.rowAt(index), columnId));
    if (key === undefined) return null;
    keys[index] = key;
    if ((index & 4095) === 4095) yield;
  }
  return keys;
}

/** The sort puts NULLs last; moves them to the front where the index wants them there. */
function nullsInPlace(order: Uint32Array, keys: Float64Array, nullsFirst: boolean): Uint32Array {
  if (!nullsFirst) return order;
  let nulls = 0;
  for (let index = 0; index < keys.length; index++) if (keys[index] !== keys[index]) nulls++;
  if (nulls === 0) return order;
  const rotated = new Uint32Array(order.length);
  rotated.set(order.subarray(order.length - nulls), 0);
  rotated.set(order.subarray(0, order.length - nulls), nulls);
  return rotated;
}
