/**
 * A segment: an immutable part of a table, sorted by row id, read block by block through the cache.
 *
 * What stays in memory is the description of the file (zones, Bloom filter, dictionaries on first use), the cached
 * blocks and the deletion vector, which is the only thing that changes. All vectors of a column have one shape.
 */
import { assert } from "../../base/assert.ts";
import type { OpNumber, RowId, StoredValue } from "../../operations/effect.ts";
import { type Block, BLOCK_ROWS, type BlockCursor } from "../access/block.ts";
import { type NumberArray, type Span, spanOf, type Vector } from "../access/vector.ts";
import type { BlockCache, BlockCount, CacheEntry } from "./block_cache.ts";
import { hashId } from "./bloom_filter.ts";
import { decodeBytes, decodeCodes, decodeDictionary, type Dictionary, readBytesAt } from "./bytes_block.ts";
import type { ChunkFile } from "./chunk_file.ts";
import { type ColumnReader, ConstantReader, ID_COLUMN, VERSION_COLUMN } from "./column_reader.ts";
import { LivePositions, TombstoneRanges } from "./tombstone_ranges.ts";
import { DeletionVector } from "./deletion_vector.ts";
import type { BytesSink } from "../access/readable_table.ts";
import { decodeTextRange } from "./delta_column.ts";
import { IndexKeyEncoder, type KeyBounds } from "./index_key.ts";
import {
  allocateElements,
  BASE_CHUNK_BYTES,
  baseOfNumbers,
  decodeNumbers,
  elementBytes,
  isPlainNumbers,
  NUMBER_DATA_AT,
  readElement,
} from "./number_block.ts";
import {
  type IndexKeys,
  type Part,
  PART_ROWS,
  type PartIndexCursor,
  type PartScan,
  ROW_ID_INDEX,
  type TableShape,
} from "./part.ts";
import {
  decodeSegmentDescription,
  type SegmentColumnDescription,
  type SegmentDescription,
} from "./segment_format.ts";
import type { SegmentIndex } from "./segment_index.ts";
import type { PartStatistics } from "./table_statistics.ts";
import { zoneAdmits } from "./zone_map.ts";

const SHIFT = 12;
const MASK = BLOCK_ROWS - 1;
/** A scan reads ahead about this many bytes of each column at once. */
const READ_AHEAD_BYTES = 1 << 18;

class VectorEntry implements CacheEntry {
  readonly vector: Vector;
  readonly bytes: number;
  referenced: boolean;
  readonly #owner: (VectorEntry | null)[];
  readonly #at: number;

  constructor(
    vector: Vector,
    bytes: number,
    place: { owner: (VectorEntry | null)[]; at: number; hot: boolean },
  ) {
    this.vector = vector;
    this.bytes = bytes;
    this.referenced = place.hot;
    this.#owner = place.owner;
    this.#at = place.at;
  }

  evict(): void {
    this.#owner[this.#at] = null;
  }
}

/**
 * Values that are read one by one, page by page, before their block is taken into the cache. Few blocks of a table
 * much larger than the cache are asked for again while they would stay in it.
 */
const SINGLE_READS = 32;

/** What is known of a block of numbers whose values are read one by one. */
const UNKNOWN = 0, PLAIN = 1, ENCODED = 2, CONSTANT = 3, SEQUENCE = 4;

/** A column of a segment with its cached blocks. */
export interface SegmentColumn {
  readonly description: SegmentColumnDescription;
  readonly entries: (VectorEntry | null)[];
  /** The one vector of a constant column. */
  readonly constant: Vector | null;
  /** Bounds of a column of integers; null: it has others, or not all are safe. */
  readonly span: Span | null;
  /** Values read one by one of each block that is not in the cache. */
  singleReads: Uint8Array | null;
  /** The block that such a value was last read of. */
  lastSingle: number;
  /** Whether the numbers of each block can be read so. */
  readonly forms: Uint8Array | null;
  /**
   * The first value of each block that is constant or a sequence: such a block need not be in the cache for single
   * values.
   */
  bases: Float64Array | null;
  dictionary: Dictionary | null;
  constantReader: ConstantReader | null;
}

function spanOfColumn({ layout, minimum, maximum }: SegmentColumnDescription): Span | null {
  if (layout.kind !== "number" || layout.big || layout.element === "f32") return null;
  if (typeof minimum !== "number" || typeof maximum !== "number") return null;
  if (!Number.isSafeInteger(minimum) || !Number.isSafeInteger(maximum)) return null;
  // A column of floats may hold a fraction between the two: the reader of the vector knows its type.
  return spanOf(minimum, maximum);
}

/** An immutable part of a table. */
export class Segment implements Part {
  readonly number: number;
  from: number;
  until = Infinity;
  readonly file: ChunkFile;
  /** How the manifest names it. */
  readonly op: OpNumber;
  readonly object: number;
  readonly deletions: DeletionVector;
  readonly #shape: TableShape;
  readonly #cache: BlockCache;
  /** Where blocks asked for are counted, those of all segments of the table together. */
  readonly blocks: BlockCount;
  readonly #needIndex: (keys: IndexKeys) => void;
  readonly #description: SegmentDescription;
  readonly #columns: (SegmentColumn | undefined)[] = [];
  readonly #ids: SegmentColumn;
  readonly #versions: SegmentColumn;
  readonly #indexes = new Map<number, SegmentIndex>();
  /** Stretches of rows that have ended. */
  readonly #dead = new TombstoneRanges();

  constructor(
    place: { readonly number: number; readonly op: OpNumber; readonly object: number },
    file: ChunkFile,
    surroundings: {
      readonly shape: TableShape;
      readonly cache: BlockCache;
      readonly blocks: BlockCount;
      /** Builds an index that is not there yet, if the table has it. */
      readonly needIndex: (keys: IndexKeys) => void;
    },
  ) {
    this.number = place.number;
    this.op = place.op;
    this.object = place.object;
    this.from = place.op;
    this.file = file;
    this.#shape = surroundings.shape;
    this.#cache = surroundings.cache;
    this.blocks = surroundings.blocks;
    this.#needIndex = surroundings.needIndex;
    this.#description = decodeSegmentDescription(file.takeDescription());
    this.deletions = new DeletionVector(this.#description.rowCount);
    const blocks = Math.ceil(this.#description.rowCount / BLOCK_ROWS);
    const special = new Map<number, SegmentColumn>();
    for (const description of this.#description.columns) {
      const column: SegmentColumn = {
        description,
        entries: new Array<VectorEntry | null>(blocks).fill(null),
        constant: description.layout.kind === "constant"
          ? { kind: "constant", value: description.layout.value }
          : null,
        span: spanOfColumn(description),
        singleReads: null,
        lastSingle: -1,
        forms: description.layout.kind === "number" ? new Uint8Array(blocks) : null,
        bases: null,
        dictionary: null,
        constantReader: null,
      };
      if (description.columnId > 0) this.#columns[description.columnId] = column;
      else special.set(description.columnId, column);
    }
    const ids = special.get(ID_COLUMN);
    const versions = special.get(VERSION_COLUMN);
    assert(ids !== undefined && versions !== undefined, "a segment has ids and versions");
    this.#ids = ids;
    this.#versions = versions;
  }

  get rowLimit(): number {
    return this.#description.rowCount;
  }

  /** Rows that have not ended. */
  get liveCount(): number {
    return this.#description.rowCount - this.deletions.count;
  }

  get memoryBytes(): number {
    let bytes = this.file.memoryBytes + this.deletions.memoryBytes;
    bytes += this.#description.bloom?.words.byteLength ?? 0;
    for (const index of this.#indexes.values()) bytes += index.memoryBytes;
    return bytes;
  }

  /** Bytes of the segment's files. */
  get fileBytes(): number {
    let bytes = this.file.summary.size;
    for (const index of this.#indexes.values()) bytes += index.file.summary.size;
    return bytes;
  }

  get indexes(): ReadonlyMap<number, SegmentIndex> {
    return this.#indexes;
  }

  addIndex(indexId: number, index: SegmentIndex): void {
    this.#indexes.set(indexId, index);
  }

  /** Forgets an index; answers its file. */
  dropIndex(indexId: number): SegmentIndex | undefined {
    const index = this.#indexes.get(indexId);
    this.#indexes.delete(indexId);
    return index;
  }

  close(): void {
    this.file.close();
    for (const index of this.#indexes.values()) index.close();
    for (const column of [this.#ids, this.#versions, ...this.#columns]) {
      for (const entry of column?.entries ?? []) if (entry !== null) this.#cache.remove(entry);
    }
  }

  // Blocks.

  #rowsIn(block: number): number {
    return Math.min(BLOCK_ROWS, this.#description.rowCount - block * BLOCK_ROWS);
  }

  /** A block of a column, through the cache. */
  vector(column: SegmentColumn, block: number): Vector {
    const entry = column.entries[block];
    if (entry !== null && entry !== undefined) {
      entry.referenced = true;
      this.blocks.hit++;
      return entry.vector;
    }
    if (column.constant !== null) return column.constant;
    const chunk = this.#chunkOf(column, block);
    return this.#keep(column, block, chunk < 0 ? null : this.file.readChunk(chunk), true);
  }

  #chunkOf(column: SegmentColumn, block: number): number {
    const layout = column.description.layout;
    return layout.kind === "constant" || layout.kind === "sequence" ? -1 : layout.firstChunk + block;
  }

  #keep(column: SegmentColumn, block: number, chunk: Uint8Array | null, hot: boolean): Vector {
    if (chunk !== null) this.blocks.read++;
    const vector = this.#decode(column, block, chunk);
    const decoded = vector.kind === "number" ? vector.data.byteLength : 0;
    const entry = new VectorEntry(vector, Math.max(decoded, chunk?.length ?? 0) + 128, {
      owner: column.entries,
      at: block,
      hot,
    });
    column.entries[block] = entry;
    if (column.singleReads !== null) column.singleReads[block] = 0;
    this.#cache.add(entry);
    return vector;
  }

  #decode(column: SegmentColumn, block: number, chunk: Uint8Array | null): Vector {
    const layout = column.description.layout;
    const rowCount = this.#rowsIn(block);
    if (layout.kind === "sequence") {
      const data = allocateElements(layout.element, rowCount);
      const base = layout.base + block * BLOCK_ROWS;
      for (let row = 0; row < rowCount; row++) data[row] = base + row;
      return { kind: "number", data, nulls: null, big: null };
    }
    assert(chunk !== null, "blocks that are kept have a chunk");
    switch (layout.kind) {
      case "number":
        return {
          kind: "number",
          ...decodeNumbers(chunk, layout.element, rowCount, layout),
          ...(column.span === null ? {} : { span: column.span }),
        };
      case "bytes":
        return { kind: "bytes", ...decodeBytes(chunk, rowCount, layout.nulls) };
      case "dictionary": {
        const { codes, nulls } = decodeCodes(chunk, rowCount, { nullable: layout.nulls, wide: layout.wide });
        return { kind: "dictionary", codes, dictionary: this.#dictionaryOf(column).texts, nulls };
      }
      case "constant":
        return { kind: "constant", value: layout.value };
    }
  }

  #dictionaryOf(column: SegmentColumn): Dictionary {
    const layout = column.description.layout;
    assert(layout.kind === "dictionary", "a column with a dictionary");
    return column.dictionary ??= decodeDictionary(this.file.readChunk(layout.dictionaryChunk));
  }

  /** Blocks of a column for a scan: from `block` on, as many below `to` as one read brings in. */
  readAhead(column: SegmentColumn, block: number, to: number): Vector[] {
    const first = this.#chunkOf(column, block);
    if (first < 0) return [this.vector(column, block)];
    let last = block;
    let bytes = this.file.lengthOf(first);
    while (
      last + 1 < to && column.entries[last + 1] === null &&
      bytes + this.file.lengthOf(first + (last + 1 - block)) <= READ_AHEAD_BYTES
    ) {
      last++;
      bytes += this.file.lengthOf(first + (last - block));
    }
    const chunks = this.file.readChunks(first, first + (last - block));
    return chunks.map((chunk, index) => this.#keep(column, block + index, chunk, false));
  }

  // Rows.

  idAt(row: number): RowId {
    const layout = this.#ids.description.layout;
    if (layout.kind === "sequence") return layout.base + row;
    return numberIn(this.vector(this.#ids, row >>> SHIFT), row & MASK);
  }

  versionOp(row: number): number {
    return Number(numberIn(this.vector(this.#versions, row >>> SHIFT), row & MASK));
  }

  endOp(row: number): number {
    const end = this.deletions.endOf(row);
    return end === 0 ? Infinity : end;
  }

  isVisible(row: number, snapshot: number): boolean {
    return this.deletions.isVisible(row, snapshot);
  }

  markEnd(row: number, op: number): void {
    this.deletions.mark(row, op);
  }

  endedAfter(op: number): Generator<number, void> {
    return this.deletions.endedAfter(op);
  }

  hasColumn(columnId: number): boolean {
    return this.#columns[columnId] !== undefined;
  }

  valueAt(row: number, columnId: number): StoredValue {
    const column = this.#columns[columnId];
    if (column === undefined) return this.#shape.missingValue(columnId);
    const layout = column.description.layout;
    const entry = column.entries[row >>> SHIFT];
    let vector: Vector;
    if (entry !== null && entry !== undefined) {
      entry.referenced = true;
      this.blocks.hit++;
      vector = entry.vector;
    } else if (layout.kind === "number") {
      const value = this.#readSingleNumber(column, row);
      if (value !== null) return value;
      vector = this.vector(column, row >>> SHIFT);
    } else if (layout.kind === "bytes" && this.#readsSingly(column, row >>> SHIFT)) {
      const bytes = this.#readSingle(column, row);
      if (bytes === null) return null;
      return layout.isText ? decodeTextRange(bytes, 0, bytes.length) : bytes.slice();
    } else vector = this.vector(column, row >>> SHIFT);
    const at = row & MASK;
    switch (vector.kind) {
      case "number": {
        if (vector.nulls !== null && vector.nulls[at] === 1) return null;
        const value = vector.data[at] as number;
        return value !== value && vector.big !== null ? vector.big.get(at) ?? value : value;
      }
      case "dictionary":
        return vector.nulls !== null && vector.nulls[at] === 1
          ? null
          : vector.dictionary[vector.codes[at] as number] ?? null;
      case "bytes": {
        if (vector.nulls !== null && vector.nulls[at] === 1) return null;
        const start = vector.starts[at] as number;
        const end = vector.ends[at] as number;
        return layout.kind === "bytes" && layout.isText
          ? decodeTextRange(vector.bytes, start, end)
          : vector.bytes.slice(start, end);
      }
      case "constant":
        return vector.value;
    }
  }

  bytesAt(row: number, columnId: number, sink: BytesSink): boolean {
    const column = this.#columns[columnId];
    if (column === undefined) return false;
    if (column.description.layout.kind === "bytes" && this.#readsSingly(column, row >>> SHIFT)) {
      const bytes = this.#readSingle(column, row);
      if (bytes === null) return false;
      sink.bytes = bytes.slice();
      sink.start = 0;
      sink.end = bytes.length;
      return true;
    }
    return this.#bytesIn(column, this.vector(column, row >>> SHIFT), row & MASK, sink);
  }

  /** Whether a value of a block is read without the block; counts how often. */
  #readsSingly(column: SegmentColumn, block: number): boolean {
    if (column.entries[block] !== null) return false;
    const chunk = this.#chunkOf(column, block);
    if (chunk < 0 || !this.file.isPaged(chunk)) return false;
    const reads = column.singleReads ??= new Uint8Array(column.entries.length);
    if ((reads[block] as number) >= SINGLE_READS) return false;
    // A second value in a row: its neighbors will be wanted too.
    if (column.lastSingle === block) return false;
    column.lastSingle = block;
    this.blocks.read++;
    reads[block] = (reads[block] as number) + 1;
    return true;
  }

  /** One value of a block of numbers that is not in the cache; null: the block has to be decoded for it. */
  #readSingleNumber(column: SegmentColumn, row: number): number | null {
    const { layout } = column.description;
    const { forms } = column;
    assert(layout.kind === "number" && forms !== null, "a column of numbers");
    const block = row >>> SHIFT;
    const form = forms[block] as number;
    if (form >= CONSTANT) {
      const base = (column.bases as Float64Array)[block] as number;
      return form === SEQUENCE ? base + (row & MASK) : base;
    }
    const chunk = this.#chunkOf(column, block);
    if (form === UNKNOWN && this.file.lengthOf(chunk) <= BASE_CHUNK_BYTES) {
      this.#noteForm(column, block, this.file.readChunk(chunk));
      return this.#readSingleNumber(column, row);
    }
    if (!this.#readsSingly(column, block)) return null;
    if (form === UNKNOWN) this.#noteForm(column, block, this.file.readRange(chunk, 0, NUMBER_DATA_AT));
    if (forms[block] !== PLAIN) return null;
    const width = elementBytes(layout.element);
    const at = NUMBER_DATA_AT + (row & MASK) * width;
    return readElement(this.file.readRange(chunk, at, at + width), layout.element);
  }

  #noteForm(column: SegmentColumn, block: number, chunk: Uint8Array): void {
    const { forms } = column;
    assert(forms !== null, "a column of numbers");
    const base = baseOfNumbers(chunk);
    if (base === null) forms[block] = isPlainNumbers(chunk) ? PLAIN : ENCODED;
    else {
      column.bases ??= new Float64Array(column.entries.length);
      column.bases[block] = base.value;
      forms[block] = base.isSequence ? SEQUENCE : CONSTANT;
    }
  }

  /** One value of a block of texts from its pages; null: NULL. */
  #readSingle(column: SegmentColumn, row: number): Uint8Array | null {
    const block = row >>> SHIFT;
    const layout = column.description.layout;
    assert(layout.kind === "bytes", "a column of texts");
    return readBytesAt(
      (start, end) => this.file.readRange(this.#chunkOf(column, block), start, end),
      { at: row & MASK, rowCount: this.#rowsIn(block), nullable: layout.nulls },
    );
  }

  #bytesIn(column: SegmentColumn, vector: Vector, at: number, sink: BytesSink): boolean {
    if (vector.kind === "constant") {
      if (vector.value === null) return false;
      column.constantReader ??= new ConstantReader(vector.value);
      column.constantReader.bytesAt(0, sink);
      return true;
    }
    if (vector.nulls !== null && vector.nulls[at] === 1) return false;
    if (vector.kind === "bytes") {
      sink.bytes = vector.bytes;
      sink.start = vector.starts[at] as number;
      sink.end = vector.ends[at] as number;
      return true;
    }
    if (vector.kind !== "dictionary") return false;
    const dictionary = this.#dictionaryOf(column);
    const code = vector.codes[at] as number;
    sink.bytes = dictionary.bytes;
    sink.start = dictionary.offsets[code] as number;
    sink.end = dictionary.offsets[code + 1] as number;
    return true;
  }

  visibleRow(id: RowId, snapshot: number): number {
    const row = this.#rowOf(id);
    return row >= 0 && this.deletions.isVisible(row, snapshot) ? row : -1;
  }

  liveRow(id: RowId): number {
    const row = this.#rowOf(id);
    return row >= 0 && this.deletions.endOf(row) === 0 ? row : -1;
  }

  #rowOf(id: RowId): number {
    const description = this.#description;
    if (id < description.minimumId || id > description.maximumId) return -1;
    const layout = this.#ids.description.layout;
    if (layout.kind === "sequence") return Number.isInteger(id) ? Number(id) - layout.base : -1;
    if (description.bloom !== null && !description.bloom.mayContain(hashId(id))) return -1;
    const row = this.#firstRowFrom(id, false);
    return row < description.rowCount && this.idAt(row) === id ? row : -1;
  }

  /** The first row whose id is not below `id`, or with `after` is above it. */
  #firstRowFrom(id: RowId, after: boolean): number {
    const description = this.#description;
    const layout = this.#ids.description.layout;
    if (layout.kind === "sequence") {
      const offset = Math.ceil(Number(id) - layout.base);
      const exact = after && Number.isInteger(Number(id)) ? offset + 1 : offset;
      return Math.max(0, Math.min(description.rowCount, exact));
    }
    assert(layout.kind === "number", "ids are numbers");
    if (layout.big || typeof id !== "number") return this.#firstRowByComparison(id, after);
    const firsts = this.#ids.description.zones.minima;
    let low = 0;
    let high = firsts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const first = firsts[middle] as number;
      if (after ? first <= id : first < id) low = middle + 1;
      else high = middle;
    }
    // The block before may hold the id, or end below it.
    const block = low === 0 ? 0 : after || firsts[low] !== id ? low - 1 : low;
    const vector = this.vector(this.#ids, block);
    assert(vector.kind === "number", "ids are numbers");
    return block * BLOCK_ROWS + searchNumbers(vector.data, id, after);
  }

  #firstRowByComparison(id: RowId, after: boolean): number {
    let low = 0;
    let high = this.#description.rowCount;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.idAt(middle);
      if (after ? other <= id : other < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // Walks.

  openIndex(keys: IndexKeys, bounds: KeyBounds, snapshot: number, backward: boolean): PartIndexCursor | null {
    if (keys.indexId !== ROW_ID_INDEX) {
      if (!this.#indexes.has(keys.indexId)) this.#needIndex(keys);
      return this.#indexes.get(keys.indexId)?.open(bounds, this.deletions, snapshot, backward) ?? null;
    }
    const range = bounds.idRange();
    if (range === null) return null;
    const from = range.low === null ? 0 : this.#firstRowFrom(range.low, range.lowAfter);
    const to = range.high === null
      ? this.#description.rowCount
      : this.#firstRowFrom(range.high, range.highAfter);
    if (from >= to) return null;
    const rows = { dead: this.#dead, ends: this.deletions, rowAt: null };
    return new RowCursor(this, new LivePositions(rows, snapshot, { from, to, backward }));
  }

  /** `from` and `to`: the blocks that are wanted. */
  scan(scan: PartScan, from = 0, to = this.blockCount): BlockCursor {
    return new SegmentScan(this, scan, from, to);
  }

  /** The vectors of a block of a scan, and its mask; `vectorOf` brings a column's vector. */
  block(at: number, scan: PartScan, vectorOf: (column: SegmentColumn, slot: number) => Vector): Block {
    const columns: Vector[] = [];
    for (let index = 0; index < scan.columnIds.length; index++) {
      const columnId = scan.columnIds[index] as number;
      const column = this.#columns[columnId];
      columns.push(
        column === undefined
          ? { kind: "constant", value: this.#shape.missingValue(columnId) }
          : vectorOf(column, index),
      );
    }
    const rowCount = this.#rowsIn(at);
    return {
      rowCount,
      firstLocation: this.number * PART_ROWS + at * BLOCK_ROWS,
      ids: scan.ids ? vectorOf(this.#ids, scan.columnIds.length) : null,
      columns,
      hidden: this.deletions.hidden(at, rowCount, scan.snapshot),
    };
  }

  get blockCount(): number {
    return Math.ceil(this.#description.rowCount / BLOCK_ROWS);
  }

  /** Whether a block may hold rows that satisfy the scan's predicates. */
  admits(at: number, scan: Pick<PartScan, "prune">): boolean {
    for (const predicate of scan.prune) {
      const column = this.#columns[predicate.columnId];
      if (column === undefined) continue;
      if (!zoneAdmits(column.description, at, this.#rowsIn(at), predicate)) return false;
    }
    return true;
  }

  columnReader(columnId: number): ColumnReader {
    const column = columnId === ID_COLUMN
      ? this.#ids
      : columnId === VERSION_COLUMN
      ? this.#versions
      : this.#columns[columnId];
    if (column === undefined) return new ConstantReader(this.#shape.missingValue(columnId));
    if (column.constant !== null && column.constant.kind === "constant") {
      return new ConstantReader(column.constant.value);
    }
    return new SegmentColumnReader(
      (block) => this.vector(column, block),
      (vector, at, sink) => this.#bytesIn(column, vector, at, sink),
    );
  }

  /** Statistics of a column as of when the segment was written; undefined when it does not have it. */
  statistics(columnId: number): PartStatistics | undefined {
    const column = this.#columns[columnId]?.description;
    const rows = this.#description.rowCount;
    if (column === undefined || rows === 0) return undefined;
    const present = rows - column.nullCount;
    return {
      rows: this.liveCount,
      distinct: Math.min(present, column.sketch.estimate()),
      nullFraction: column.nullCount / rows,
      minimum: column.minimum,
      maximum: column.maximum,
      averageBytes: present === 0 ? 0 : column.valueBytes / present,
    };
  }

  zonesOf(columnId: number): SegmentColumnDescription["zones"] | undefined {
    return this.#columns[columnId]?.description.zones;
  }

  /** The sketch of a column's distinct values. */
  sketch(columnId: number): SegmentColumnDescription["sketch"] | undefined {
    return this.#columns[columnId]?.description.sketch;
  }

  /** Reads every chunk and checks it; raises XX001 naming file and offset. */
  verify(): void {
    this.file.verify();
    for (const index of this.#indexes.values()) index.file.verify();
  }
}

function numberIn(vector: Vector, at: number): RowId {
  if (vector.kind === "constant") return vector.value as RowId;
  assert(vector.kind === "number", "ids and versions are numbers");
  const value = vector.data[at] as number;
  return value !== value ? vector.big?.get(at) ?? value : value;
}

function searchNumbers(data: NumberArray, id: number, after: boolean): number {
  let low = 0;
  let high = data.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const value = data[middle] as number;
    if (after ? value <= id : value < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Walks rows in id order. */
class RowCursor implements PartIndexCursor {
  readonly #segment: Segment;
  readonly #live: LivePositions;

  constructor(segment: Segment, live: LivePositions) {
    this.#segment = segment;
    this.#live = live;
  }

  get row(): number {
    return this.#live.row;
  }

  advance(): boolean {
    return this.#live.advance();
  }

  get numberKey(): number {
    return Number(this.#segment.idAt(this.row));
  }

  get textKey(): string | null {
    const id = this.#segment.idAt(this.row);
    return typeof id === "number" ? null : IndexKeyEncoder.forRowIds().textKey([id]);
  }
}

class SegmentScan implements BlockCursor {
  readonly #segment: Segment;
  readonly #scan: PartScan;
  #next: number;
  readonly #to: number;
  /** Per column of the scan: vectors read ahead, and the block of the first. */
  readonly #ahead: { first: number; vectors: Vector[] }[] = [];

  constructor(segment: Segment, scan: PartScan, from: number, to: number) {
    this.#segment = segment;
    this.#scan = scan;
    this.#next = from;
    this.#to = to;
    for (let index = 0; index <= scan.columnIds.length; index++) this.#ahead.push({ first: 0, vectors: [] });
  }

  next(): Block | null {
    const segment = this.#segment;
    while (this.#next < this.#to && !segment.admits(this.#next, this.#scan)) this.#next++;
    if (this.#next >= this.#to) return null;
    const at = this.#next++;
    return segment.block(at, this.#scan, (column, slot) => this.#vector(column, slot, at));
  }

  #vector(column: SegmentColumn, slot: number, at: number): Vector {
    if (column.constant !== null) return column.constant;
    const ahead = this.#ahead[slot];
    assert(ahead !== undefined, "a slot per column");
    const ready = ahead.vectors[at - ahead.first];
    if (ready !== undefined) return ready;
    const entry = column.entries[at];
    if (entry !== null && entry !== undefined) {
      entry.referenced = true;
      this.#segment.blocks.hit++;
      return entry.vector;
    }
    ahead.first = at;
    ahead.vectors = this.#segment.readAhead(column, at, this.#to);
    return ahead.vectors[0] as Vector;
  }
}

/** Reads a column row by row, keeping hold of the block it is in. */
class SegmentColumnReader implements ColumnReader {
  readonly #vectorOf: (block: number) => Vector;
  readonly #bytesOf: (vector: Vector, at: number, sink: BytesSink) => boolean;
  #block = -1;
  #vector: Vector = { kind: "constant", value: null };

  constructor(
    vectorOf: (block: number) => Vector,
    bytesOf: (vector: Vector, at: number, sink: BytesSink) => boolean,
  ) {
    this.#vectorOf = vectorOf;
    this.#bytesOf = bytesOf;
  }

  #load(row: number): Vector {
    const block = row >>> SHIFT;
    if (block !== this.#block) {
      this.#vector = this.#vectorOf(block);
      this.#block = block;
    }
    return this.#vector;
  }

  isNull(row: number): boolean {
    const vector = this.#load(row);
    if (vector.kind === "constant") return vector.value === null;
    return vector.nulls !== null && vector.nulls[row & MASK] === 1;
  }

  numberAt(row: number): number {
    const vector = this.#load(row);
    return vector.kind === "number" ? vector.data[row & MASK] as number : NaN;
  }

  bigAt(row: number): bigint | undefined {
    const vector = this.#load(row);
    return vector.kind === "number" ? vector.big?.get(row & MASK) : undefined;
  }

  bytesAt(row: number, sink: BytesSink): void {
    this.#bytesOf(this.#load(row), row & MASK, sink);
  }
}
