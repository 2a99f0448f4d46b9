/** Writes an index file from entries in index order, block by block. */
import type { DiskFile } from "../../host/disk.ts";
import { assert } from "../../base/assert.ts";
import { BLOCK_ROWS } from "../access/block.ts";
import { BloomFilter, hashNumber, hashText } from "./bloom_filter.ts";
import { ChunkFileWriter, type FinishedChunkFile } from "./chunk_file.ts";
import type { IndexKeys } from "./part.ts";
import {
  encodeIndexDescription,
  encodeNumberEntries,
  encodeTextEntries,
  type IndexDescription,
} from "./segment_index_format.ts";

/** Which index of which segment a file is of. */
export interface IndexFileIdentity {
  readonly tableId: number;
  readonly op: number;
  readonly object: number;
  readonly keys: IndexKeys;
}

/** Entries in index order: number keys, or text keys when there is a value without a number key. */
export interface IndexEntries {
  readonly rows: Uint32Array;
  readonly numbers: Float64Array | null;
  readonly texts: readonly string[] | null;
}

/** What all entries together are like, and how many there are. */
export interface IndexShape {
  readonly form: IndexDescription["form"];
  readonly count: number;
}

/** See the file's head. */
export class IndexWriter {
  readonly #shape: IndexShape;
  readonly #writer: ChunkFileWriter;
  readonly #bloom: BloomFilter;
  readonly #firstNumbers: number[] = [];
  readonly #firstTexts: string[] = [];
  #added = 0;

  constructor(
    file: Pick<DiskFile, "writeAt">,
    name: string,
    { tableId, op, object, keys }: IndexFileIdentity,
    shape: IndexShape,
  ) {
    this.#shape = shape;
    this.#bloom = BloomFilter.forKeys(shape.count);
    this.#writer = new ChunkFileWriter(file, name, {
      kind: "index",
      tableId,
      op,
      object: keys.indexId * 2 + object,
    });
  }

  /** Adds entries behind a full block; yields after each block. */
  *add({ rows, numbers, texts }: IndexEntries): Generator<void> {
    const bloom = this.#bloom;
    for (let from = 0; from < rows.length; from += BLOCK_ROWS) {
      const to = Math.min(rows.length, from + BLOCK_ROWS);
      if (numbers !== null) {
        this.#firstNumbers.push(numbers[from] as number);
        for (let index = from; index < to; index++) bloom.add(hashNumber(numbers[index] as number));
        const isNarrow = this.#shape.form === "i32";
        this.#writer.addChunk(
          encodeNumberEntries(rows.subarray(from, to), numbers.subarray(from, to), isNarrow),
        );
      } else if (texts !== null) {
        const keys = texts.slice(from, to);
        this.#firstTexts.push(keys[0] as string);
        for (const key of keys) bloom.add(hashText(key));
        this.#writer.addChunk(encodeTextEntries(rows.subarray(from, to), keys));
      }
      yield;
    }
    this.#added += rows.length;
  }

  /** Ends the file, which has all entries. */
  *finish(): Generator<void, FinishedChunkFile> {
    const { form, count } = this.#shape;
    assert(this.#added === count, `an index file has ${this.#added} of ${count} entries`);
    yield;
    return yield* this.#writer.finish(encodeIndexDescription({
      entryCount: count,
      form,
      firstNumbers: Float64Array.from(this.#firstNumbers),
      firstTexts: this.#firstTexts,
      bloom: this.#bloom,
    }));
  }
}
