/**
 * Making index files: from the sorted indexes of the segments that a segment is merged from (merged, so that nothing is
 * sorted again), or from the rows of a frozen delta, or of a finished segment when an index is added later, which are
 * sorted. All in steps, and nothing has all keys in memory.
 */
import type { DiskFile } from "../../host/disk.ts";
import { BLOCK_ROWS } from "../access/block.ts";
import type { SpillFile } from "../../host/spill_file.ts";
import type { FinishedChunkFile } from "./chunk_file.ts";
import { Delta } from "./delta.ts";
import type { IndexKeyEncoder } from "./index_key.ts";
import { IndexRun, sortEntries } from "./index_runs.ts";
import { type IndexEntries, type IndexFileIdentity, type IndexShape, IndexWriter } from "./index_writer.ts";
import { type Head, MergedHeads } from "./location_cursor.ts";
import type { Part } from "./part.ts";

const EVERYTHING = { prefix: [], low: null, high: null, backward: false } as const;

/** Rows that are sorted at a time: a text key takes some 150 bytes meanwhile. */
const RUN_ROWS = 1 << 18;

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
export interface IndexFileOrder extends IndexFileIdentity {
  readonly sources: readonly Part[];
  /** The rows of the segment. */
  readonly rows: { readonly count: number; readonly rows: Uint32Array };
  /** For each source, the segment row of each of its rows; not for a single delta. */
  readonly positions: readonly Uint32Array[];
  readonly files: { create(name: string): Pick<DiskFile, "writeAt"> };
}

/** Where an index file of a finished segment is written, and what is too much for memory until then. */
export interface IndexFilesOfSegment {
  create(name: string): Pick<DiskFile, "writeAt">;
  temporary(name: string): SpillFile;
}

/** A walk over an index of a source, whose rows have places in the segment. */
interface SourceHead extends Head {
  readonly positions: Uint32Array | null;
}

/** Writes an index file; yields after each few thousand entries. */
export function* buildIndexFile(order: IndexFileOrder): Generator<void, FinishedChunkFile> {
  const [first] = order.sources;
  const { count, rows } = order.rows;
  if (first instanceof Delta && order.sources.length === 1) {
    const rowAt = (index: number) => rows[index] as number;
    return yield* writeEntries(order, yield* sortEntries(order.keys.encoder, first, { count, rowAt }));
  }
  const form = yield* formOf(order.keys.encoder, openSources(order));
  return yield* writeMerged(order, openSources(order), { form, count });
}

function openSources({ keys, sources, positions, op }: IndexFileOrder): SourceHead[] {
  return sources.flatMap((part, index) => {
    const cursor = part.openIndex(keys, keys.encoder.bounds(EVERYTHING), op, false);
    return cursor === null ? [] : [{ part, cursor, positions: positions[index] ?? null }];
  });
}

/** What form all keys have; yields after each few thousand of those that must be looked at. */
function* formOf(encoder: IndexKeyEncoder, heads: readonly Head[]): Generator<void, IndexShape["form"]> {
  if (!encoder.numeric) return "text";
  let form: IndexShape["form"] = "i32";
  let count = 0;
  for (const { cursor } of heads) {
    if (cursor.isNarrow === true) continue;
    while (cursor.advance()) {
      if (cursor.textKey !== null) return "text";
      if ((cursor.numberKey | 0) !== cursor.numberKey) form = "f64";
      if ((++count & (BLOCK_ROWS - 1)) === 0) yield;
    }
  }
  return form;
}

function* writeMerged(
  order: Pick<IndexFileOrder, keyof IndexFileIdentity | "files">,
  heads: readonly SourceHead[],
  shape: IndexShape,
): Generator<void, FinishedChunkFile> {
  const { encoder } = order.keys;
  const writer = writerFor(order, shape);
  const rows = new Uint32Array(BLOCK_ROWS);
  const isText = shape.form === "text";
  const numbers = new Float64Array(isText ? 0 : BLOCK_ROWS);
  const texts: string[] = [];
  let count = 0;
  const block = (): IndexEntries => ({
    rows: rows.subarray(0, count),
    numbers: isText ? null : numbers.subarray(0, count),
    texts: isText ? texts.slice(0, count) : null,
  });
  const merged = new MergedHeads(encoder, heads, false);
  for (let head = merged.advance(); head !== null; head = merged.advance()) {
    const { cursor, positions } = head;
    rows[count] = positions === null ? cursor.row : positions[cursor.row] as number;
    if (isText) texts[count] = cursor.textKey ?? encoder.textOfNumberKey(cursor.numberKey);
    else numbers[count] = cursor.numberKey;
    if (++count < BLOCK_ROWS) continue;
    yield* writer.add(block());
    count = 0;
  }
  if (count > 0) yield* writer.add(block());
  return yield* writer.finish();
}

function* writeEntries(
  order: Pick<IndexFileOrder, keyof IndexFileIdentity | "files">,
  entries: IndexEntries,
): Generator<void, FinishedChunkFile> {
  const { rows, numbers } = entries;
  const form = numbers === null ? "text" : isNarrow(numbers) ? "i32" : "f64";
  const writer = writerFor(order, { form, count: rows.length });
  yield* writer.add(entries);
  return yield* writer.finish();
}

function writerFor(
  order: Pick<IndexFileOrder, keyof IndexFileIdentity | "files">,
  shape: IndexShape,
): IndexWriter {
  const name = indexFileName(order.tableId, order.op, order.object, order.keys.indexId);
  return new IndexWriter(order.files.create(name), name, order, shape);
}

function isNarrow(keys: Float64Array): boolean {
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as number;
    if ((key | 0) !== key) return false;
  }
  return true;
}

/** Writes the index file of a finished segment: sorts its rows, `runRows` at a time. */
export function* buildIndexOfSegment(
  order: IndexFileIdentity & { readonly files: IndexFilesOfSegment },
  segment: Part,
  runRows = RUN_ROWS,
): Generator<void, FinishedChunkFile> {
  const { keys: { encoder, indexId }, files } = order;
  const count = segment.rowLimit;
  if (count <= runRows) {
    return yield* writeEntries(
      order,
      yield* sortEntries(encoder, segment, { count, rowAt: (index) => index }),
    );
  }
  const file = files.temporary(`${indexFileName(order.tableId, order.op, order.object, indexId)}-runs.tmp`);
  try {
    const heads: SourceHead[] = [];
    let form: IndexShape["form"] = encoder.numeric ? "i32" : "text";
    for (let from = 0; from < count; from += runRows) {
      const rowAt = (index: number) => from + index;
      const entries = yield* sortEntries(encoder, segment, { count: Math.min(runRows, count - from), rowAt });
      const { rows, numbers } = entries;
      for (let index = 0; index < rows.length; index++) rows[index] = (rows[index] as number) + from;
      if (numbers === null) form = "text";
      else if (form === "i32" && !isNarrow(numbers)) form = "f64";
      const cursor = yield* IndexRun.write(file, entries);
      heads.push({ part: { idAt: (row) => row }, cursor, positions: null });
    }
    return yield* writeMerged(order, heads, { form, count });
  } finally {
    file.close();
  }
}
