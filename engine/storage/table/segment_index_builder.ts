/**
 * Writing index files: from the sorted indexes of the segments that a segment is merged from (merged, so that nothing
 * is sorted again), or from the rows of a frozen delta, or of a finished segment when an index is added later, which
 * are sorted here. All in steps.
 */
import type { StoredValue } from "../../operations/effect.ts";
import type { DiskFile } from "../../host/disk.ts";
import { BLOCK_ROWS } from "../access/block.ts";
import { Delta } from "./delta.ts";
import { BloomFilter, hashNumber, hashText } from "./bloom_filter.ts";
import { ChunkFileWriter, type FinishedChunkFile } from "./chunk_file.ts";
import type { IndexKeyEncoder } from "./index_key.ts";
import { mergeHeads, type PartHead } from "./location_cursor.ts";
import type { IndexKeys, Part } from "./part.ts";
import { encodeIndexDescription, encodeNumberEntries, encodeTextEntries } from "./segment_index_format.ts";
import { sortInSteps, sortNumbersInSteps } from "./sort_order.ts";

/** Entries put in place between two yields. */
const STEP_ROWS = 16384;

const EVERYTHING = { prefix: [], low: null, high: null, backward: false } as const;

/** The name of an index file, a function of the log. */
export function indexFileName(tableId: number, op: number, object: number, indexId: number): string {
  return `${objectName(tableId, op, object)}-${indexId}.index`;
}

/** What the names of a segment's files begin with. */
export function objectName(tableId: number, op: number, object: number): string {
  const kind = object === 0 ? "flush" : object === 1 ? "merge" : `cut-${object - 1}`;
  return `${tableId}-${op.toString(16).padStart(14, "0")}-${kind}`;
}

/** An index file to be written along with a segment. */
export interface IndexFileOrder {
  readonly tableId: number;
  readonly op: number;
  readonly object: number;
  readonly keys: IndexKeys;
  readonly sources: readonly Part[];
  /** The rows of the segment. */
  readonly rows: { readonly count: number; readonly rows: Uint32Array };
  /** For each source, the segment row of each of its rows; not for a single delta. */
  readonly positions: readonly Uint32Array[];
  readonly files: { create(name: string): Pick<DiskFile, "writeAt"> };
}

/** Entries in index order: number keys, or text keys when there is a value without a number key. */
interface SortedEntries {
  readonly rows: Uint32Array;
  readonly numbers: Float64Array | null;
  readonly texts: readonly string[] | null;
}

/** Writes an index file; yields after each few thousand entries. */
export function* buildIndexFile(order: IndexFileOrder): Generator<void, FinishedChunkFile> {
  const [first] = order.sources;
  const { count, rows } = order.rows;
  const entries = first instanceof Delta && order.sources.length === 1
    ? yield* sortEntries(order.keys.encoder, first, { count, rowAt: (index) => rows[index] as number })
    : yield* collectEntries(order);
  return yield* writeEntries(order, entries);
}

function* collectEntries(order: IndexFileOrder): Generator<void, SortedEntries> {
  const { encoder } = order.keys;
  const heads: PartHead[] = [];
  for (const part of order.sources) {
    const cursor = part.openIndex(order.keys, encoder.bounds(EVERYTHING), order.op, false);
    if (cursor !== null) heads.push({ part, cursor });
    yield;
  }
  const rows = new Uint32Array(order.rows.count);
  let numbers: Float64Array | null = encoder.numeric ? new Float64Array(order.rows.count) : null;
  let texts: string[] | null = encoder.numeric ? null : [];
  const merged = mergeHeads(encoder, heads);
  let count = 0;
  for (let head = merged.advance(); head !== null; head = merged.advance()) {
    const positions = order.positions[order.sources.indexOf(head.part)];
    rows[count] = positions?.[head.cursor.row] ?? 0;
    const text = head.cursor.textKey;
    if (numbers !== null && text !== null) {
      texts = [];
      for (let index = 0; index < count; index++) {
        texts.push(encoder.textOfNumberKey(numbers[index] as number));
      }
      numbers = null;
    }
    if (numbers !== null) numbers[count] = head.cursor.numberKey;
    else texts?.push(text ?? encoder.textOfNumberKey(head.cursor.numberKey));
    count++;
    if ((count & (BLOCK_ROWS - 1)) === 0) yield;
  }
  return {
    rows: rows.subarray(0, count),
    numbers: numbers === null ? null : numbers.subarray(0, count),
    texts,
  };
}

function* writeEntries(
  order: Pick<IndexFileOrder, "tableId" | "op" | "object" | "files" | "keys">,
  entries: SortedEntries,
): Generator<void, FinishedChunkFile> {
  const { rows, numbers, texts } = entries;
  const count = rows.length;
  const name = indexFileName(order.tableId, order.op, order.object, order.keys.indexId);
  const writer = new ChunkFileWriter(order.files.create(name), name, {
    kind: "index",
    tableId: order.tableId,
    op: order.op,
    object: order.keys.indexId * 2 + order.object,
  });
  const narrow = numbers !== null && isNarrow(numbers);
  const bloom = BloomFilter.forKeys(count);
  const blocks = Math.ceil(count / BLOCK_ROWS);
  const firstNumbers = new Float64Array(numbers === null ? 0 : blocks);
  const firstTexts: string[] = [];
  for (let block = 0; block < blocks; block++) {
    const from = block * BLOCK_ROWS;
    const to = Math.min(count, from + BLOCK_ROWS);
    if (numbers !== null) {
      firstNumbers[block] = numbers[from] as number;
      for (let index = from; index < to; index++) bloom.add(hashNumber(numbers[index] as number));
      writer.addChunk(encodeNumberEntries(rows.subarray(from, to), numbers.subarray(from, to), narrow));
    } else if (texts !== null) {
      const keys = texts.slice(from, to);
      firstTexts.push(keys[0] as string);
      for (const key of keys) bloom.add(hashText(key));
      writer.addChunk(encodeTextEntries(rows.subarray(from, to), keys));
    }
    yield;
  }
  yield;
  return yield* writer.finish(encodeIndexDescription({
    entryCount: count,
    form: numbers === null ? "text" : narrow ? "i32" : "f64",
    firstNumbers,
    firstTexts,
    bloom,
  }));
}

function isNarrow(keys: Float64Array): boolean {
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as number;
    if ((key | 0) !== key) return false;
  }
  return true;
}

/** Writes the index file of a finished segment: sorts its rows. */
export function* buildIndexOfSegment(
  order: Pick<IndexFileOrder, "tableId" | "op" | "object" | "files" | "keys">,
  segment: Part,
): Generator<void, FinishedChunkFile> {
  const rows = { count: segment.rowLimit, rowAt: (index: number) => index };
  return yield* writeEntries(order, yield* sortEntries(order.keys.encoder, segment, rows));
}

/** The entries of rows that are in id order; equal keys keep that order. */
function* sortEntries(
  encoder: IndexKeyEncoder,
  part: Part,
  rows: { readonly count: number; rowAt(index: number): number },
): Generator<void, SortedEntries> {
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
  rows: { readonly count: number; rowAt(index: number): number },
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
