/**
 * A column without lists, straight from its pages into a column of a batch: the hot path, in loops over typed arrays.
 *
 * Rows are read in pieces that end where a page of any column ends, so that within a piece nothing is asynchronous.
 */
import { BytesColumn, type ColumnBuilder, NumberColumn } from "../../transactions/batch_builder.ts";
import type { ColumnPages, DataPage, PageConsumer } from "./column_pages.ts";
import { PARQUET_LIMITS } from "./limits.ts";
import { type Conversion, naturalConversion } from "./natural_values.ts";
import type { FilePosition } from "./parquet_error.ts";
import type { Leaf } from "./schema.ts";
import { checkStoredText, type TargetConversion } from "./target_values.ts";
import { type BytesVector, type NumberVector, ValueError, type Vector } from "./vector.ts";

const CAPACITY = PARQUET_LIMITS.pieceRows;
// Bounds on how many are needed at once: one piece is read at a time.
const levels = new Int32Array(CAPACITY);
const indices = new Int32Array(CAPACITY);

/** See the file's head. */
export class FlatColumn implements PageConsumer {
  readonly kind = "flat";
  readonly leaf: Leaf;
  readonly #builder: ColumnBuilder;
  readonly #position: FilePosition;
  readonly #natural: Conversion | null;
  readonly #target: TargetConversion;
  #pages: ColumnPages | null = null;
  #page: DataPage | null = null;

  constructor(leaf: Leaf, target: TargetConversion, options: {
    readonly builder: ColumnBuilder;
    readonly position: FilePosition;
  }) {
    this.leaf = leaf;
    this.#builder = options.builder;
    this.#position = options.position;
    this.#natural = naturalConversion(leaf);
    this.#target = target;
  }

  get dictionaryConversion(): Conversion {
    return (vector, count) => {
      const converted = this.#convert(vector, count);
      if (this.#target.kind === "text" && converted.kind === "bytes") {
        for (let index = 0; index < count; index++) {
          checkStoredText(converted.bytes.subarray(converted.starts[index], converted.ends[index]));
        }
      }
      return converted;
    };
  }

  #convert(vector: Vector, count: number): Vector {
    const natural = this.#natural === null ? vector : this.#natural(vector, count);
    const target = this.#target;
    return target.kind === "convert" || target.kind === "text"
      ? target.convert?.(natural, count) ?? natural
      : natural;
  }

  begin(pages: ColumnPages): void {
    this.#pages = pages;
    this.#page = null;
  }

  /** Rows of the page that have not been read; 0: a page must be fetched. */
  get left(): number {
    return this.#page?.left ?? 0;
  }

  /** Fetches the next page. */
  async fetch(): Promise<void> {
    this.#page = await this.#pages?.next() ?? null;
    if (this.#page === null) throw this.#position.damaged("a column has fewer rows than its row group");
  }

  /** How many rows the texts of the page allow in one piece. */
  get rowLimit(): number {
    const values = this.#page?.values;
    const longest = values?.kind === "dictionary"
      ? values.dictionary.maxLength
      : values?.reader.maxLength ?? 0;
    return longest === 0 ? CAPACITY : Math.max(1, Math.floor(PARQUET_LIMITS.pieceBytes / longest));
  }

  /** Reads rows of the page to rows of the batch. */
  read(count: number, row: number): void {
    const page = this.#page as DataPage;
    try {
      this.#read(page, count, row);
    } catch (error) {
      this.#pages?.locate();
      throw error instanceof ValueError
        ? this.#position.damaged(error.message)
        : this.#position.located(error);
    }
    page.left -= count;
  }

  #read(page: DataPage, count: number, row: number): void {
    const { definitions } = page;
    let present = count;
    const { maxDefinition } = this.leaf;
    if (definitions !== null) {
      const level = definitions.runOf(count);
      if (level === undefined) {
        definitions.read(levels, count);
        present = 0;
        for (let index = 0; index < count; index++) {
          const each = levels[index] as number;
          if (each === maxDefinition) present++;
          else if (each > maxDefinition) throw new ValueError("a level is too high");
        }
      } else {
        if (level > maxDefinition || level < 0) throw new ValueError("a level is too high");
        if (level < maxDefinition) present = 0;
      }
    }
    const column = this.#builder;
    if (present === 0) {
      for (let index = 0; index < count; index++) column.setNull(row + index);
      return;
    }
    const { values } = page;
    let vector: Vector;
    let chosen: Int32Array | null = null;
    if (values.kind === "dictionary") {
      const { dictionary } = values;
      vector = dictionary.vector;
      values.indices.read(indices, present);
      const { size } = dictionary;
      for (let index = 0; index < present; index++) {
        if ((indices[index] as number) >>> 0 >= size) {
          throw new ValueError("an index is beyond the dictionary");
        }
      }
      chosen = indices;
    } else {
      values.reader.read(present);
      vector = this.#convert(values.reader.vector, present);
    }
    const mask = present === count ? null : levels;
    if (column instanceof NumberColumn) {
      if (vector.kind !== "number") throw new ValueError("the values are of another kind");
      putNumbers(column, vector, { row, count, chosen, mask, maxDefinition });
    } else {
      if (vector.kind !== "bytes") throw new ValueError("the values are of another kind");
      const isPlain = putBytes(column, vector, { row, count, chosen, mask, maxDefinition });
      if (this.#target.kind === "text" && chosen === null && !isPlain) {
        for (let index = row; index < row + count; index++) {
          checkStoredText(column.bytes.subarray(column.offsets[index], column.offsets[index + 1]));
        }
      }
    }
  }
}

interface Piece {
  readonly row: number;
  readonly count: number;
  /** Positions of the values in the vector; null: one after the other. */
  readonly chosen: Int32Array | null;
  /** Levels, where rows without a value have a lower one; null: every row has one. */
  readonly mask: Int32Array | null;
  readonly maxDefinition: number;
}

function putNumbers(column: NumberColumn, vector: NumberVector, piece: Piece): void {
  const { row, count, chosen, mask, maxDefinition } = piece;
  const { data } = column;
  const source = vector.data;
  if (mask === null) {
    if (chosen === null) data.set(count === source.length ? source : source.subarray(0, count), row);
    else {for (let index = 0; index < count; index++) {
        data[row + index] = source[chosen[index] as number] as number;
      }}
  } else {
    for (let index = 0, next = 0; index < count; index++) {
      if (mask[index] === maxDefinition) {
        data[row + index] = source[chosen === null ? next : chosen[next] as number] as number;
        next++;
      } else column.setNull(row + index);
    }
  }
  if (vector.big === null) return;
  for (let index = 0, next = 0; index < count; index++) {
    if (mask !== null && mask[index] !== maxDefinition) continue;
    const big = vector.big.get(chosen === null ? next : chosen[next] as number);
    if (big !== undefined) column.set(row + index, big);
    next++;
  }
}

/** Answers whether all bytes are ASCII and none is zero. */
function putBytes(column: BytesColumn, vector: BytesVector, piece: Piece): boolean {
  const { row, count, chosen, mask, maxDefinition } = piece;
  const { bytes: source, starts, ends } = vector;
  column.length = column.offsets[row] as number;
  let size = 0, next = 0;
  for (let index = 0; index < count; index++) {
    if (mask !== null && mask[index] !== maxDefinition) continue;
    const from = chosen === null ? next : chosen[next] as number;
    size += (ends[from] as number) - (starts[from] as number);
    next++;
  }
  column.reserve(size);
  const { bytes, offsets } = column;
  // Four bytes at a time: most texts are too short for a call to copy them.
  const reads = new DataView(source.buffer, source.byteOffset, source.byteLength);
  const writes = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let to = column.length, seen = 0;
  next = 0;
  for (let index = 0; index < count; index++) {
    if (mask !== null && mask[index] !== maxDefinition) {
      offsets[row + index] = to;
      column.setNull(row + index);
      continue;
    }
    const which = chosen === null ? next : chosen[next] as number;
    next++;
    let from = starts[which] as number;
    const end = ends[which] as number;
    for (; from + 4 <= end; from += 4, to += 4) {
      const word = reads.getInt32(from, true);
      writes.setInt32(to, word, true);
      seen |= word | word - 0x01010101 & ~word;
    }
    for (; from < end; from++, to++) {
      const byte = source[from] as number;
      bytes[to] = byte;
      seen |= byte | byte - 1;
    }
    offsets[row + index + 1] = to;
  }
  column.length = to;
  return (seen & 0x80808080) === 0;
}
