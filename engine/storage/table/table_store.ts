/**
 * A table: the current delta, and the older parts that hold what it no longer does (frozen deltas and segments).
 *
 * The apply side is synchronous and total: an effect that reaches it is valid, and anything else is a bug. The read
 * side answers for any snapshot that the horizon protects; each live row version is in exactly one part, and older
 * parts are asked newest first. Writers look for the live version in the same way and mark its end where it is.
 *
 * Locations name a part and a row in it, and are good until the part is released, which is after every snapshot that
 * was open when the part was replaced.
 */
import { assert, assertDefined } from "../../base/assert.ts";
import { encodeUtf8 } from "../../base/bytes.ts";
import type { TableDefinition } from "../../catalog/definitions.ts";
import { batchWeight } from "../../operations/batch_codec.ts";
import type { OpNumber, RowBatch, RowId, StoredRow, StoredValue } from "../../operations/effect.ts";
import { type BlockCursor, NO_ROW, type RowLocation } from "../access/block.ts";
import type {
  BytesSink,
  ColumnStatistics,
  IndexBounds,
  LocationCursor,
  ZonePredicate,
} from "../access/readable_table.ts";
import { LIMITS } from "../../base/limits.ts";
import type { DiskFile } from "../../host/disk.ts";
import { MemoryDisk } from "../../host/memory_host.ts";
import { BlockCache, type BlockCount } from "./block_cache.ts";
import { Delta } from "./delta.ts";
import { DistinctSketch } from "./distinct_sketch.ts";
import type { IndexFile } from "./index_file.ts";
import { IndexKeyEncoder, type KeyBounds } from "./index_key.ts";
import { MergedLocations, NO_LOCATIONS, type PartHead, PartLocations } from "./location_cursor.ts";
import { type IndexKeys, type Part, PART_ROWS, ROW_ID_INDEX, type TableShape } from "./part.ts";
import { PartSet } from "./part_set.ts";
import type { ScanPiece } from "../access/readable_table.ts";
import { areInOrderOf, pieceOf } from "./stored_segment.ts";
import type { TablePiece } from "./table_piece.ts";
import { Segment } from "./segment.ts";
import { type SegmentFiles, segmentFilesIn } from "./segment_files.ts";
import { TableReader } from "./table_reader.ts";
import { TableScan } from "./table_scan.ts";
import { type AnalysisRequest, analyzeRows, type SampledPart, type TableAnalysis } from "./table_analysis.ts";
import { joinStatistics, type PartStatistics, sampleStatistics } from "./table_statistics.ts";

/** Tells which versions may still be read. */
export interface SnapshotHorizon {
  /**
   * The oldest snapshot that an open reader holds. When there is none: any op number from the last applied one on;
   * with Infinity (or at least the op being applied) updates happen in place.
   */
  oldestSnapshot(): number;
  /** Between two turns of the event loop: whether any snapshot is held. When missing, one may be. */
  hasReaders?(): boolean;
  /**
   * Whether the log is being replayed, so that there are no readers. {@link TableStore.endReplay} is called at the
   * end.
   */
  isReplaying?(): boolean;
}

/** What a table needs from its surroundings. */
export interface TableStoreOptions {
  readonly definition: TableDefinition;
  readonly horizon: SnapshotHorizon;
  /** Where segments go; in memory when not given. */
  readonly files?: SegmentFiles;
  /** Shared by all tables; an own one when not given. */
  readonly cache?: BlockCache;
  /**
   * Called when all rows were removed at once: {@link TableStore.releaseOldVersions} frees them after their last
   * readers.
   */
  readonly onTruncated?: () => void;
}

/** Rows of bulk loads that may wait for the first reader of an index. */
const UNSORTED_ROWS = 4096;
/** Versions that are reclaimed at once where nothing is written. */
const RECLAIMED_AT_ONCE = 1024;

const ROW_ID_KEYS: IndexKeys = { indexId: ROW_ID_INDEX, encoder: IndexKeyEncoder.forRowIds() };

interface CachedStatistics {
  readonly rowCount: number;
  readonly partVersion: number;
  readonly statistics: ColumnStatistics | undefined;
}

/** A table's rows in all versions that may still be read. */
export class TableStore implements TableShape {
  readonly #horizon: SnapshotHorizon;
  readonly #cache: BlockCache;
  readonly #onTruncated: () => void;
  #definition: TableDefinition;
  readonly #parts: PartSet;
  #rowCount = 0;
  #lastModifiedOp = 0;
  /**
   * Between {@link beginEntry} and {@link endEntry}: what the entry adds to the count, and its op once it has done
   * anything.
   */
  #isInEntry = false;
  #heldRows = 0;
  #heldOp = 0;
  /** The last entry that was cut, and what has come of it since. */
  #cutting = { op: 0, bytes: 0 };
  readonly #indexes = new Map<number, IndexKeys>();
  readonly #missing: StoredValue[] = [];
  readonly #missingBytes: (Uint8Array | undefined)[] = [];
  #reader: TableReader | null = null;
  readonly #statistics = new Map<number, CachedStatistics>();
  #analysis: TableAnalysis | null = null;
  #analysisVersion = 0;

  constructor(options: TableStoreOptions) {
    this.#horizon = options.horizon;
    this.#cache = options.cache ?? new BlockCache(LIMITS.blockCacheBytes);
    this.#onTruncated = options.onTruncated ?? (() => {});
    this.#definition = options.definition;
    this.#noteDefinition(options.definition);
    this.#parts = new PartSet(options.definition, [...this.#indexes.values()], {
      shape: this,
      files: options.files ?? segmentFilesIn(new MemoryDisk(), "tables"),
      cache: this.#cache,
      defersIndexes: options.horizon.isReplaying?.() ?? false,
    });
  }

  /** The table that a manifest describes, with its definition as of that checkpoint. */
  static restore(piece: TablePiece, options: TableStoreOptions): TableStore {
    const table = new TableStore(options);
    table.#rowCount = piece.rowCount;
    table.#lastModifiedOp = piece.lastModifiedOp;
    table.#parts.latestSnapshot = piece.op;
    table.#parts.restore(piece);
    return table;
  }

  /** How often blocks of the table, or of one of its indexes, were asked for since the start. */
  blocksOf(id: number): Readonly<BlockCount> {
    return this.#cache.blocksOf(id);
  }

  /** The table's definition as of the last {@link alter}. */
  get definition(): TableDefinition {
    return this.#definition;
  }

  /** Live rows. */
  get rowCount(): number {
    return this.#rowCount;
  }

  /** The last op that changed a row; 0 when none has. */
  get lastModifiedOp(): number {
    return this.#lastModifiedOp;
  }

  /** Memory and file bytes that the table takes, roughly. */
  get bytes(): number {
    return this.#parts.memoryBytes + this.#parts.fileBytes;
  }

  /** Bytes of memory, the block cache apart. */
  get memoryBytes(): number {
    return this.#parts.memoryBytes;
  }

  #noteDefinition(definition: TableDefinition): void {
    for (const column of definition.columns) {
      this.#missing[column.id] = column.missingValue;
      const value = column.missingValue;
      this.#missingBytes[column.id] = typeof value === "string"
        ? encodeUtf8(value)
        : value instanceof Uint8Array
        ? value
        : undefined;
    }
    const present = new Set(definition.indexes.map((index) => index.id));
    for (const indexId of this.#indexes.keys()) if (!present.has(indexId)) this.#indexes.delete(indexId);
    for (const index of definition.indexes) {
      if (this.#indexes.has(index.id)) continue;
      this.#indexes.set(index.id, {
        indexId: index.id,
        encoder: new IndexKeyEncoder(definition, index.columns),
      });
    }
  }

  // Apply side.

  /** Adds a row that does not exist. */
  create(op: OpNumber, id: RowId, values: StoredRow): void {
    this.#parts.delta.reclaim(this.#horizon.oldestSnapshot());
    this.#parts.delta.insert(op, id, values);
    this.#countRows(1);
    this.#modified(op);
  }

  /** Gives a row that exists new values. */
  update(op: OpNumber, id: RowId, values: StoredRow): void {
    const oldest = this.#horizon.oldestSnapshot();
    const delta = this.#parts.delta;
    delta.reclaim(oldest);
    const newest = delta.newestRow(id);
    if (delta.isLive(newest)) delta.update(op, newest, values, oldest);
    else {
      this.#endOlder(op, id);
      delta.insert(op, id, values, newest);
    }
    this.#modified(op);
  }

  /** Removes a row that exists. */
  delete(op: OpNumber, id: RowId): void {
    const delta = this.#parts.delta;
    const slot = delta.liveRow(id);
    if (slot >= 0) delta.markEnd(slot, op);
    else this.#endOlder(op, id);
    delta.reclaim(this.#horizon.oldestSnapshot());
    this.#countRows(-1);
    this.#modified(op);
  }

  /** Removes many rows that exist. */
  endRows(op: OpNumber, ids: Float64Array): void {
    for (const id of ids) this.delete(op, id);
  }

  /** Adds many rows that do not exist. */
  createBatch(op: OpNumber, batch: RowBatch): void {
    const { delta } = this.#parts;
    delta.appendBatch(op, batch);
    this.#countRows(batch.rowCount);
    this.#modified(op);
    // While the log is replayed there are no readers, and most of what comes will be in a segment before the first.
    if (!this.#isInEntry && this.#horizon.oldestSnapshot() !== Infinity) delta.settle(UNSORTED_ROWS);
  }

  /**
   * Another batch of an entry that is too large for memory has come; from so many bytes on they become a segment.
   * `waitForSpace`: see {@link PartSet.cut}.
   */
  *cutInSteps(
    op: OpNumber,
    batch: RowBatch,
    cutBytes: number,
    waitForSpace: (() => void) | null = null,
  ): Generator<void, void> {
    if (this.#cutting.op !== op) this.#cutting = { op, bytes: 0 };
    this.#cutting.bytes += batchWeight(batch);
    if (this.#cutting.bytes < cutBytes) return;
    this.#cutting.bytes = 0;
    yield* this.#parts.cut(op, waitForSpace);
  }

  // An entry that is applied in steps.

  /**
   * From now to {@link endEntry} the effects of one entry come, and readers in between see the table as it was before:
   * counts stay, and indexes keep rows of bulk loads apart.
   */
  beginEntry(): void {
    assert(!this.#isInEntry, "one entry is applied at a time");
    this.#isInEntry = true;
    this.#parts.delta.settle(0);
    this.#parts.holdsRanges = true;
  }

  /** Sorts into the indexes what bulk loads of the entry have brought. */
  *settleInSteps(): Generator<void, void> {
    for (const delta of this.#parts.deltas) yield* delta.settleInSteps();
  }

  /** The entry is complete, and visible from its op on. */
  endEntry(): void {
    assert(this.#isInEntry, "an entry was begun");
    this.#isInEntry = false;
    this.#parts.holdsRanges = false;
    this.#rowCount += this.#heldRows;
    this.#heldRows = 0;
    const op = this.#heldOp;
    this.#heldOp = 0;
    if (op !== 0) this.#modified(op);
  }

  /** Rows in memory: altering the table's indexes takes work in proportion. */
  get rowsInMemory(): number {
    return this.#parts.deltas.reduce((sum, delta) => sum + delta.slotCount, 0);
  }

  /**
   * Builds for the segments, in steps, indexes that a definition has and the table does not, so that they are there
   * when the table takes the definition on. Otherwise {@link forgetIndexesAhead} must be called.
   */
  buildIndexesAhead(definition: TableDefinition): Generator<void, void> {
    return this.#parts.buildIndexesAhead(this.#keysAhead(definition));
  }

  /** The files that {@link buildIndexesAhead} would make, for other threads to make. */
  indexFilesAhead(definition: TableDefinition): IndexFile[] {
    return this.#parts.indexFilesAhead(this.#keysAhead(definition), definition);
  }

  #keysAhead(definition: TableDefinition): IndexKeys[] {
    return definition.indexes.filter((index) => !this.#indexes.has(index.id))
      .map((index) => ({ indexId: index.id, encoder: new IndexKeyEncoder(definition, index.columns) }));
  }

  /** Drops what {@link buildIndexesAhead} has built. */
  forgetIndexesAhead(): void {
    this.#parts.forgetIndexesAhead();
  }

  /**
   * The log was replayed: rows go into the indexes as they come. Those that are there are sorted in with {@link
   * indexStep}, or when an index is used first.
   */
  endReplay(): void {
    this.#parts.endReplay();
  }

  #countRows(difference: number): void {
    if (this.#isInEntry) this.#heldRows += difference;
    else this.#rowCount += difference;
  }

  /** Marks the end of the row's live version in an older part. */
  #endOlder(op: number, id: RowId): void {
    for (const part of this.#parts.older) {
      if (part.until !== Infinity) continue;
      const row = part.liveRow(id);
      if (row < 0) continue;
      part.markEnd(row, op);
      return;
    }
    assert(false, `table ${this.#definition.name} has no row ${id}`);
  }

  #modified(op: number): void {
    assert(op >= this.#lastModifiedOp, `op ${op} comes after op ${this.#lastModifiedOp}`);
    if (this.#isInEntry) {
      this.#heldOp = op;
      return;
    }
    this.#lastModifiedOp = op;
    if (op > this.#parts.latestSnapshot) this.#parts.latestSnapshot = op;
  }

  /** Removes all rows. */
  truncate(op: OpNumber): void {
    this.#parts.truncate(op);
    this.#countRows(-this.#rowCount - this.#heldRows);
    this.#modified(op);
    this.#onTruncated();
  }

  /** Takes a new definition: columns and indexes that came are added to all data, those that went are forgotten. */
  alter(definition: TableDefinition, _op: OpNumber): void {
    this.#definition = definition;
    this.#noteDefinition(definition);
    this.#parts.alter(definition, [...this.#indexes.values()]);
    this.#statistics.clear();
  }

  // Read side.

  /** The table at a snapshot. Cheap: the last reader is kept. */
  at(snapshot: OpNumber): TableReader {
    const reader = this.#reader;
    if (reader !== null && reader.snapshot === snapshot) return reader;
    if (snapshot > this.#parts.latestSnapshot) this.#parts.latestSnapshot = snapshot;
    return this.#reader = new TableReader(this, snapshot);
  }

  missingValue(columnId: number): StoredValue {
    return this.#missing[columnId] ?? null;
  }

  /** What the newest {@link find} has answered, so that a caller can ask for the version behind a point read. */
  lastFound: RowLocation = NO_ROW;

  /** The row's version at the snapshot, or NO_ROW. */
  find(id: RowId, snapshot: number): RowLocation {
    return this.lastFound = this.#find(id, snapshot);
  }

  #find(id: RowId, snapshot: number): RowLocation {
    const delta = this.#parts.delta;
    const slot = delta.visibleRow(id, snapshot);
    if (slot >= 0) return delta.number * PART_ROWS + slot;
    const older = this.#parts.older;
    for (let index = 0; index < older.length; index++) {
      const part = older[index] as Part;
      if (part.from > snapshot || snapshot >= part.until) continue;
      const row = part.visibleRow(id, snapshot);
      if (row >= 0) return part.number * PART_ROWS + row;
    }
    return NO_ROW;
  }

  #partAt(location: RowLocation): Part {
    const delta = this.#parts.delta;
    const number = Math.floor(location / PART_ROWS);
    if (number === delta.number) return delta;
    const part = this.#parts.part(number);
    if (part === undefined) assert(false, `location ${location} is in a part that is gone`);
    return part;
  }

  idAt(location: RowLocation): RowId {
    return this.#partAt(location).idAt(location >>> 0);
  }

  valueAt(location: RowLocation, columnId: number): StoredValue {
    return this.#partAt(location).valueAt(location >>> 0, columnId);
  }

  /** See `ReadableTable.textBytesAt`; also of a bytes value. */
  textBytesAt(location: RowLocation, columnId: number, sink: BytesSink): boolean {
    const part = this.#partAt(location);
    if (part.hasColumn(columnId)) return part.bytesAt(location >>> 0, columnId, sink);
    const bytes = this.#missingBytes[columnId];
    if (bytes === undefined) return false;
    sink.bytes = bytes;
    sink.start = 0;
    sink.end = bytes.length;
    return true;
  }

  /** The op number that wrote the version at the location. */
  versionOp(location: RowLocation): number {
    return this.#partAt(location).versionOp(location >>> 0);
  }

  /** The op number that replaced or deleted the version at the location; Infinity when none has. */
  endOp(location: RowLocation): number {
    return this.#partAt(location).endOp(location >>> 0);
  }

  /** All rows at the snapshot, by block. */
  scan(
    columnIds: readonly number[],
    options: { readonly ids: boolean; readonly prune: readonly ZonePredicate[] },
    snapshot: number,
  ): BlockCursor {
    return new TableScan(this.#partsAt(snapshot), {
      columnIds,
      ids: options.ids,
      prune: options.prune,
      snapshot,
    });
  }

  /** The parts that a snapshot sees, in the order of a scan. */
  #partsAt(snapshot: number): Part[] {
    const parts: Part[] = [];
    const older = this.#parts.older;
    for (let index = older.length - 1; index >= 0; index--) {
      const part = older[index] as Part;
      if (part.from <= snapshot && snapshot < part.until) parts.push(part);
    }
    parts.push(this.#parts.delta);
    return parts;
  }

  /** Where the rows of {@link scan} are. */
  pieces(snapshot: number): ScanPiece[] {
    return this.#partsAt(snapshot).filter(({ rowLimit }) => rowLimit > 0)
      .map((part) => pieceOf(part, this.#definition.id, snapshot));
  }

  /** Whether blocks in files that follow one another have greater numbers in a column, nearly all. */
  isInOrderOf(columnId: number, snapshot: number): boolean {
    return areInOrderOf(this.#partsAt(snapshot), columnId);
  }

  /** Bytes of the files of segments. */
  get fileBytes(): number {
    return this.#parts.fileBytes;
  }

  /** Rows by row id; see `ReadableTable.findRange`. */
  findRange(bounds: IndexBounds, snapshot: number): LocationCursor {
    return this.#walk(ROW_ID_KEYS, ROW_ID_KEYS.encoder.bounds(bounds), snapshot, bounds.backward);
  }

  /** Rows whose index key begins with these values, in index order; NULL matches NULL. */
  lookup(indexId: number, key: readonly StoredValue[], snapshot: number): LocationCursor {
    const keys = this.#keysOf(indexId);
    return this.#walk(
      keys,
      keys.encoder.bounds({ prefix: key, low: null, high: null, backward: false }),
      snapshot,
      false,
    );
  }

  /** Rows in index order within bounds, which are on the column's value (also of a descending column). */
  range(indexId: number, bounds: IndexBounds, snapshot: number): LocationCursor {
    const keys = this.#keysOf(indexId);
    return this.#walk(keys, keys.encoder.bounds(bounds), snapshot, bounds.backward);
  }

  #keysOf(indexId: number): IndexKeys {
    return assertDefined(this.#indexes.get(indexId), `index ${indexId} of table ${this.#definition.name}`);
  }

  #walk(keys: IndexKeys, bounds: KeyBounds, snapshot: number, backward: boolean): LocationCursor {
    const delta = this.#parts.delta;
    const first = delta.openIndex(keys, bounds, snapshot, backward);
    let heads: PartHead[] | null = null;
    let single: PartHead | null = first === null ? null : { part: delta, cursor: first };
    const older = this.#parts.older;
    for (let index = 0; index < older.length; index++) {
      const part = older[index] as Part;
      if (part.from > snapshot || snapshot >= part.until) continue;
      const cursor = part.openIndex(keys, bounds, snapshot, backward);
      if (cursor === null) continue;
      const head: PartHead = { part, cursor };
      if (single === null) single = head;
      else if (heads === null) heads = [single, head];
      else heads.push(head);
    }
    if (heads !== null) return new MergedLocations(keys.encoder, heads, backward);
    return single === null ? NO_LOCATIONS : new PartLocations(single.part, single.cursor);
  }

  /** Estimates about a column; recomputed when the table has changed much. */
  statistics(columnId: number): ColumnStatistics | undefined {
    const cached = this.#statistics.get(columnId);
    const count = this.#rowCount;
    if (
      cached !== undefined && cached.partVersion === this.#parts.version &&
      Math.abs(cached.rowCount - count) <= 64 + cached.rowCount * 0.1
    ) return cached.statistics;
    const parts: PartStatistics[] = [];
    const sketch = new DistinctSketch();
    for (const part of [this.#parts.delta, ...this.#parts.older]) {
      if (part.until !== Infinity) continue;
      let found: PartStatistics | undefined;
      if (part instanceof Segment) {
        found = part.statistics(columnId);
        const segmentSketch = part.sketch(columnId);
        if (segmentSketch !== undefined) sketch.merge(segmentSketch);
      } else if (part instanceof Delta) found = sampleStatistics(part, columnId);
      if (found !== undefined) parts.push(found);
    }
    const statistics = this.#withDistribution(columnId, joinStatistics(parts, sketch.estimate()));
    this.#statistics.set(columnId, { rowCount: count, partVersion: this.#parts.version, statistics });
    return statistics;
  }

  #withDistribution(columnId: number, known: ColumnStatistics | undefined): ColumnStatistics | undefined {
    const distribution = this.#analysis?.columns.get(columnId);
    if (known === undefined || distribution === undefined) return known;
    // Of rows in memory the larger sample knows more; files have counted all values.
    if (this.#parts.delta.liveCount * 10 < this.#rowCount) return { ...known, distribution };
    const { distinct, nullFraction, averageBytes } = distribution;
    return { ...known, distinct, nullFraction, averageBytes, distribution };
  }

  /** What ANALYZE has found last; null: it was not here since the start. */
  get analysis(): TableAnalysis | null {
    return this.#analysis;
  }

  /** Grows with each {@link analyzeInSteps}. */
  get analysisVersion(): number {
    return this.#analysisVersion;
  }

  /** Samples the rows and notes how their values are distributed. Whoever drives it may let others go first. */
  *analyzeInSteps(request: AnalysisRequest): Generator<void, void> {
    const analysis = yield* analyzeRows(this, request);
    const before = this.#analysis;
    // What was not asked for stays as it was.
    this.#analysis = before === null ? analysis : {
      ...analysis,
      columns: new Map([...before.columns, ...analysis.columns]),
      groups: new Map([...before.groups, ...analysis.groups]),
    };
    this.#analysisVersion++;
    this.#statistics.clear();
  }

  /** The parts that hold live rows, as {@link analyzeRows} wants them. */
  sampledParts(): readonly SampledPart[] {
    return [this.#parts.delta, ...this.#parts.older].filter((part) => part.until === Infinity).map((
      part,
    ) => ({
      rowLimit: part.rowLimit,
      isLive: (row) => part.endOp(row) === Infinity && (!(part instanceof Delta) || part.isOccupied(row)),
      valueAt: (row, columnId) => part.valueAt(row, columnId),
    }));
  }

  /** The sketch of the distinct values of a column in files; null: none is in files. */
  sketch(columnId: number): DistinctSketch | null {
    let sketch: DistinctSketch | null = null;
    for (const part of this.#parts.older) {
      const own = part.until === Infinity && part instanceof Segment ? part.sketch(columnId) : undefined;
      if (own !== undefined) (sketch ??= new DistinctSketch()).merge(own);
    }
    return sketch;
  }

  // Checkpoint side.

  /**
   * Freezes the table at the op number, which is the last one applied (to any table). Cheap; when the build of the last
   * checkpoint is not done, it is done first.
   */
  freeze(op: OpNumber): void {
    if (op > this.#parts.latestSnapshot) this.#parts.latestSnapshot = op;
    this.#parts.freeze(op, { rowCount: this.#rowCount, lastModifiedOp: this.#lastModifiedOp });
  }

  /** Builds the segment of the last {@link freeze} for about so many column values; true: it is done. */
  buildStep(budgetValues: number): boolean {
    this.#parts.step(budgetValues, "built");
    return !this.#parts.isBuilding;
  }

  /** Whether the segment of the last {@link freeze} is done, so that {@link describe} may be called. */
  get isBuilt(): boolean {
    return !this.#parts.isBuilding;
  }

  /** Works on queued merges for about so many column values; true: nothing is left to do. */
  compactionStep(budgetValues: number): boolean {
    this.#parts.step(budgetValues, "all");
    return !this.#parts.hasWork;
  }

  /**
   * Works on indexes that were added to segments for about so many column values, or sorts some rows into indexes of
   * deltas; true: nothing is left to do.
   */
  indexStep(budgetValues: number): boolean {
    const unsorted = this.#unsortedDelta();
    if (unsorted !== undefined) {
      unsorted.settleStep();
      return false;
    }
    this.#parts.step(budgetValues, "indexed");
    return !this.#parts.hasIndexWork;
  }

  /** Whether segments wait for indexes, or rows of deltas to be sorted into them. */
  get hasIndexWork(): boolean {
    return this.#parts.hasIndexWork || this.#unsortedDelta() !== undefined;
  }

  /** One whose rows wait to be sorted into indexes; those that a segment has replaced will hardly be read. */
  #unsortedDelta(): Delta | undefined {
    return this.#parts.deltas.find((delta) => delta.until === Infinity && delta.hasUnsorted);
  }

  /** Whether segments have indexes that no manifest names, and that would have to be built again. */
  get hasUnnamedIndexes(): boolean {
    return this.#parts.hasUnnamedIndexes;
  }

  /** Whether a build, a merge or an index is queued. */
  get hasWork(): boolean {
    return this.#parts.hasWork;
  }

  /** Gathers in steps what {@link describe} needs; optional. */
  prepareDescription(): Generator<void, void> {
    return this.#parts.prepareDescription();
  }

  /**
   * The table at the last frozen op number, as plain JSON data for the manifest. The files that {@link takeUnsynced}
   * hands out afterwards must be durable before the manifest is.
   */
  describe(): TablePiece {
    return this.#parts.describe();
  }

  /**
   * Files written since the last call: sync them (and their directory) before installing a manifest, then close them.
   */
  takeUnsynced(): DiskFile[] {
    return this.#parts.takeUnsynced();
  }

  /** The manifest with the last description is durable: files that only older ones named are removed. */
  manifestInstalled(): void {
    this.#parts.manifestInstalled();
  }

  /** Lets go of versions and parts that no open snapshot can see; `unread`: the table has no readers just now. */
  releaseOldVersions(unread = false): void {
    const oldest = this.#horizon.oldestSnapshot();
    // What an entry on its way has ended is read until the entry is complete, and its indexes are being sorted.
    if (!this.#isInEntry) this.#parts.delta.reclaim(oldest, RECLAIMED_AT_ONCE);
    this.#parts.release(unread && !this.#isInEntry ? Infinity : oldest);
  }

  /** Names of all files that the table uses or that the last manifests name. */
  fileNames(): string[] {
    return this.#parts.fileNames();
  }

  /** Reads and checks every file; damage raises XX001 naming file and offset. */
  verify(): void {
    this.#parts.verify();
  }

  /** How the table is kept, for monitoring and tests. */
  layout(): { readonly frozenDeltas: number; readonly segments: number; readonly fileBytes: number } {
    const current = this.#parts.older.filter((part) => part.until === Infinity);
    return {
      frozenDeltas: current.filter((part) => part instanceof Delta).length,
      segments: current.filter((part) => part instanceof Segment).length,
      fileBytes: this.#parts.fileBytes,
    };
  }

  /** Closes all files. */
  close(): void {
    this.#parts.close();
  }
}
