/**
 * Building a segment: the rows of one or more parts that are live at one op number, in id order, written column by
 * column, with one index file per index.
 *
 * The work is a generator that yields after each block of one column, so that it can be done in slices between
 * requests. Sources do not change while they are read (marks with later op numbers do not count), so the bytes
 * written are a function of the log up to the op number. Limits: 255 sources, 2^32 rows; row order takes 5 bytes a
 * row meanwhile.
 */
import { assert } from "../../base/assert.ts";
import type { TableDefinition } from "../../catalog/definitions.ts";
import type { RowId } from "../../operations/effect.ts";
import { type StorageClass, storageClassOf } from "../../types/physical_type.ts";
import { BLOCK_ROWS } from "../access/block.ts";
import { encodeCodes, encodeDictionary, startBytes } from "./bytes_block.ts";
import { BloomFilter, hashId } from "./bloom_filter.ts";
import { ChunkFileWriter, type FinishedChunkFile } from "./chunk_file.ts";
import { analyzeColumn, type BlockRows, type ColumnSummary } from "./column_analysis.ts";
import { type ColumnReader, ID_COLUMN, VERSION_COLUMN } from "./column_reader.ts";
import { Delta } from "./delta.ts";
import type { BytesSink } from "../access/readable_table.ts";
import { decodeTextRange } from "./delta_column.ts";
import { encodeNumbers } from "./number_block.ts";
import type { IndexKeys, Part } from "./part.ts";
import {
  type ColumnLayout,
  encodeSegmentDescription,
  type SegmentColumnDescription,
} from "./segment_format.ts";
import type { SegmentFiles } from "./segment_files.ts";
import { buildIndexFile, objectName } from "./segment_index_builder.ts";
import { sortInSteps, sortNumbersInSteps } from "./sort_order.ts";

/** Rows that are ordered between two yields. */
const STEP_ROWS = 16384;

/** Tells a merge apart from what else was made at its op. */
export const MERGED_OBJECT = 1;

/** What is to be built. */
export interface SegmentOrder {
  readonly definition: TableDefinition;
  readonly indexes: readonly IndexKeys[];
  readonly sources: readonly Part[];
  /** Rows live at this op number go in. */
  readonly op: number;
  /** 0 for a flush, {@link MERGED_OBJECT} for a merge, more for the cuts of an entry. */
  readonly object: number;
  readonly files: SegmentFiles;
}

/** The files of a segment. */
export interface SegmentFileSet {
  readonly op: number;
  readonly object: number;
  readonly rows: number;
  readonly data: FinishedChunkFile;
  readonly indexes: readonly { readonly indexId: number; readonly file: FinishedChunkFile }[];
}

/** The name of a segment's data file, a function of the log. */
export function segmentName(tableId: number, op: number, object: number): string {
  return `${objectName(tableId, op, object)}.segment`;
}

/** The rows of a segment to be, in id order. */
export interface RowOrder {
  readonly count: number;
  readonly rows: Uint32Array;
  readonly sourceOf: Uint8Array | null;
}

/** Builds the files; the result is null when no row is live. */
export function* buildSegment(order: SegmentOrder): Generator<void, SegmentFileSet | null> {
  const rows = yield* orderRows(order.sources, order.op);
  if (rows.count === 0) return null;
  const tableId = order.definition.id;
  const name = segmentName(tableId, order.op, order.object);
  const writer = new ChunkFileWriter(order.files.create(name), name, {
    kind: "segment",
    tableId,
    op: order.op,
    object: order.object,
  });
  const columns: SegmentColumnDescription[] = [];
  columns.push(yield* buildColumn(writer, order.sources, rows, ID_COLUMN, "int"));
  columns.push(yield* buildColumn(writer, order.sources, rows, VERSION_COLUMN, "int"));
  for (const column of order.definition.columns) {
    columns.push(yield* buildColumn(writer, order.sources, rows, column.id, storageClassOf(column.type)));
  }
  const idColumn = columns[0];
  const bloom = idColumn?.layout.kind === "sequence" ? null : yield* buildBloom(order.sources, rows);
  const data = yield* writer.finish(encodeSegmentDescription({
    rowCount: rows.count,
    minimumId: idOfRow(order.sources, rows, 0),
    maximumId: idOfRow(order.sources, rows, rows.count - 1),
    columns,
    bloom,
  }));
  yield;
  const indexes: { indexId: number; file: FinishedChunkFile }[] = [];
  if (order.indexes.length > 0) {
    const positions = yield* invertOrder(order.sources, rows);
    for (const keys of order.indexes) {
      const file = yield* buildIndexFile({
        tableId,
        op: order.op,
        object: order.object,
        keys,
        sources: order.sources,
        rows,
        positions,
        files: order.files,
      });
      indexes.push({ indexId: keys.indexId, file });
    }
  }
  return { op: order.op, object: order.object, rows: rows.count, data, indexes };
}

function idOfRow(sources: readonly Part[], rows: RowOrder, index: number): RowId {
  const source = sources[rows.sourceOf === null ? 0 : rows.sourceOf[index] as number] as Part;
  return source.idAt(rows.rows[index] as number);
}

function* orderRows(sources: readonly Part[], op: number): Generator<void, RowOrder> {
  const single = sources[0];
  if (sources.length === 1 && single instanceof Delta) {
    const rows = yield* deltaOrder(single, op);
    return { count: rows.length, rows, sourceOf: null };
  }
  return yield* mergeOrder(sources, op);
}

/** The slots of a delta that are live at the op number, by id. */
function* deltaOrder(delta: Delta, op: number): Generator<void, Uint32Array> {
  const slots = new Uint32Array(delta.slotCount);
  const ids = new Float64Array(delta.slotCount);
  let count = 0;
  let anyBig = false;
  for (let slot = 0; slot < delta.slotCount; slot++) {
    if (!delta.isVisible(slot, op)) continue;
    const id = delta.idAt(slot);
    if (typeof id !== "number") anyBig = true;
    ids[count] = Number(id);
    slots[count++] = slot;
    if ((count & (STEP_ROWS - 1)) === 0) yield;
  }
  const order = yield* anyBig
    ? sortInSteps(
      count,
      (left, right) => delta.compareSlots(slots[left] as number, slots[right] as number),
    )
    : sortNumbersInSteps(ids, count);
  for (let index = 0; index < count; index++) {
    order[index] = slots[order[index] as number] as number;
    if ((index & (STEP_ROWS - 1)) === STEP_ROWS - 1) yield;
  }
  return order;
}

/** Merges the live rows of parts whose rows are in id order. */
function* mergeOrder(sources: readonly Part[], op: number): Generator<void, RowOrder> {
  assert(sources.length <= 255, "a merge has at most 255 sources");
  let capacity = 0;
  for (const source of sources) capacity += source.rowLimit;
  const rows = new Uint32Array(capacity);
  const sourceOf = new Uint8Array(capacity);
  const next = sources.map((source) => firstLive(source, 0, op));
  const heads: (RowId | null)[] = sources.map((source, index) => headOf(source, next[index] as number));
  let count = 0;
  for (;;) {
    let best = -1;
    for (let index = 0; index < sources.length; index++) {
      const head = heads[index] as RowId | null;
      if (head !== null && (best < 0 || head < (heads[best] as RowId))) best = index;
    }
    if (best < 0) return { count, rows, sourceOf };
    const source = sources[best] as Part;
    const row = next[best] as number;
    rows[count] = row;
    sourceOf[count] = best;
    count++;
    next[best] = firstLive(source, row + 1, op);
    heads[best] = headOf(source, next[best] as number);
    if ((count & (BLOCK_ROWS - 1)) === 0) yield;
  }
}

function firstLive(source: Part, from: number, op: number): number {
  let row = from;
  while (row < source.rowLimit && source.endOp(row) <= op) row++;
  return row;
}

function headOf(source: Part, row: number): RowId | null {
  return row < source.rowLimit ? source.idAt(row) : null;
}

/** For each source, the position in the new segment of each of its rows; 2^32 - 1 where it has none. */
function* invertOrder(sources: readonly Part[], rows: RowOrder): Generator<void, Uint32Array[]> {
  // The index of a delta's rows is sorted from the rows themselves.
  if (rows.sourceOf === null) return [];
  const positions = sources.map((source) => new Uint32Array(source.rowLimit).fill(0xffffffff));
  for (let index = 0; index < rows.count; index++) {
    const source = rows.sourceOf[index] as number;
    (positions[source] as Uint32Array)[rows.rows[index] as number] = index;
    if ((index & (STEP_ROWS - 1)) === STEP_ROWS - 1) yield;
  }
  return positions;
}

function* buildBloom(sources: readonly Part[], rows: RowOrder): Generator<void, BloomFilter> {
  const bloom = BloomFilter.forKeys(rows.count);
  for (let index = 0; index < rows.count; index++) {
    bloom.add(hashId(idOfRow(sources, rows, index)));
    if ((index & (BLOCK_ROWS - 1)) === BLOCK_ROWS - 1) yield;
  }
  return bloom;
}

function* buildColumn(
  writer: ChunkFileWriter,
  sources: readonly Part[],
  order: RowOrder,
  columnId: number,
  storageClass: StorageClass,
): Generator<void, SegmentColumnDescription> {
  const readers = sources.map((source) => source.columnReader(columnId));
  const analysis = analyzeColumn(storageClass, Math.ceil(order.count / BLOCK_ROWS));
  for (const block of blocksOf(order, readers)) {
    analysis.addBlock(block);
    yield;
  }
  const summary = analysis.finish();
  const layout = yield* writeColumn(writer, order, readers, summary, columnId, storageClass);
  return {
    columnId,
    layout,
    zones: summary.zones,
    nullCount: summary.nullCount,
    minimum: summary.minimum,
    maximum: summary.maximum,
    valueBytes: summary.valueBytes,
    sketch: summary.sketch,
  };
}

function* blocksOf(order: RowOrder, sources: readonly ColumnReader[]): Generator<BlockRows> {
  for (let from = 0; from < order.count; from += BLOCK_ROWS) {
    yield {
      sources,
      sourceOf: order.sourceOf,
      rows: order.rows,
      from,
      count: Math.min(BLOCK_ROWS, order.count - from),
    };
  }
}

function* writeColumn(
  writer: ChunkFileWriter,
  order: RowOrder,
  readers: readonly ColumnReader[],
  summary: ColumnSummary,
  columnId: number,
  storageClass: StorageClass,
): Generator<void, ColumnLayout> {
  if (columnId === ID_COLUMN && summary.sequenceBase !== undefined) {
    return { kind: "sequence", base: summary.sequenceBase, element: summary.element };
  }
  if (columnId !== ID_COLUMN && summary.constant !== undefined) {
    return { kind: "constant", value: summary.constant };
  }
  const nulls = summary.nullCount > 0;
  if (storageClass === "int" || storageClass === "float") {
    const firstChunk = writer.chunkCount;
    const element = summary.element;
    const scratch = new Float64Array(BLOCK_ROWS);
    for (const block of blocksOf(order, readers)) {
      writer.addChunk(encodeNumbers(gatherNumbers(block, scratch), element));
      yield;
    }
    return { kind: "number", element, nulls, big: summary.hasBig, firstChunk };
  }
  if (summary.dictionary !== null) {
    const dictionaryChunk = writer.addChunk(encodeDictionary(summary.dictionary));
    const firstChunk = writer.chunkCount;
    const wide = summary.dictionary.length > 256;
    const codeOf = new Map<string, number>();
    summary.dictionary.forEach((entry, code) => codeOf.set(decodeTextRange(entry, 0, entry.length), code));
    for (const block of blocksOf(order, readers)) {
      const { codes, flags } = gatherCodes(block, codeOf);
      writer.addChunk(encodeCodes(codes, flags, block.count, wide));
      yield;
    }
    return { kind: "dictionary", wide, nulls, firstChunk, dictionaryChunk };
  }
  const firstChunk = writer.chunkCount;
  for (const block of blocksOf(order, readers)) {
    writer.addChunk(encodeBytes(block));
    yield;
  }
  return { kind: "bytes", isText: storageClass === "text", nulls, firstChunk };
}

function gatherNumbers(block: BlockRows, data: Float64Array): Parameters<typeof encodeNumbers>[0] {
  const { sources, sourceOf, rows, from, count } = block;
  let reader = sources[0] as ColumnReader;
  let nulls: Uint8Array | null = null;
  let big: Map<number, bigint> | null = null;
  for (let at = 0; at < count; at++) {
    if (sourceOf !== null) reader = sources[sourceOf[from + at] as number] as ColumnReader;
    const row = rows[from + at] as number;
    if (reader.isNull(row)) {
      nulls ??= new Uint8Array(BLOCK_ROWS);
      nulls[at] = 1;
      data[at] = 0;
      continue;
    }
    const value = reader.numberAt(row);
    data[at] = value;
    if (value !== value) {
      const exact = reader.bigAt(row);
      if (exact !== undefined) {
        big ??= new Map();
        big.set(at, exact);
      }
    }
  }
  return { data, rowCount: count, nulls, big };
}

function gatherCodes(
  block: BlockRows,
  codeOf: ReadonlyMap<string, number>,
): { readonly codes: Uint16Array; readonly flags: Uint8Array | null } {
  const { sources, sourceOf, rows, from, count } = block;
  const codes = new Uint16Array(BLOCK_ROWS);
  const sink: BytesSink = { bytes: new Uint8Array(0), start: 0, end: 0 };
  let flags: Uint8Array | null = null;
  let reader = sources[0] as ColumnReader;
  for (let at = 0; at < count; at++) {
    if (sourceOf !== null) reader = sources[sourceOf[from + at] as number] as ColumnReader;
    const row = rows[from + at] as number;
    if (reader.isNull(row)) {
      flags ??= new Uint8Array(BLOCK_ROWS);
      flags[at] = 1;
      continue;
    }
    reader.bytesAt(row, sink);
    const code = codeOf.get(decodeTextRange(sink.bytes, sink.start, sink.end));
    assert(code !== undefined, "a dictionary has every text of its column");
    codes[at] = code;
  }
  return { codes, flags };
}

function encodeBytes(block: BlockRows): Uint8Array {
  const { sources, sourceOf, rows, from, count } = block;
  const offsets = new Uint32Array(count + 1);
  const sink: BytesSink = { bytes: new Uint8Array(0), start: 0, end: 0 };
  let nulls: Uint8Array | null = null;
  let length = 0;
  let reader = sources[0] as ColumnReader;
  for (let at = 0; at < count; at++) {
    if (sourceOf !== null) reader = sources[sourceOf[from + at] as number] as ColumnReader;
    const row = rows[from + at] as number;
    if (reader.isNull(row)) {
      nulls ??= new Uint8Array(BLOCK_ROWS);
      nulls[at] = 1;
    } else {
      reader.bytesAt(row, sink);
      length += sink.end - sink.start;
    }
    offsets[at + 1] = length;
  }
  const { chunk, textsAt } = startBytes(offsets, nulls);
  for (let at = 0; at < count; at++) {
    const start = textsAt + (offsets[at] as number);
    const size = textsAt + (offsets[at + 1] as number) - start;
    if (size === 0) continue;
    if (sourceOf !== null) reader = sources[sourceOf[from + at] as number] as ColumnReader;
    reader.bytesAt(rows[from + at] as number, sink);
    if (size <= 32) {
      for (let index = 0; index < size; index++) {
        chunk[start + index] = sink.bytes[sink.start + index] as number;
      }
    } else chunk.set(sink.bytes.subarray(sink.start, sink.end), start);
  }
  return chunk;
}
