/**
 * A table: the current delta, and the older parts that hold what it no longer does (frozen deltas and segments).
 *
 * The apply side is synchronous and total: an effect that reaches it is valid, and anything else is a bug. The read
 * side answers for any snapshot that the horizon protects; each live row version stands in exactly one part, and older
 * parts are asked newest first. Writers look for the live version in the same way and mark its end where it stands.
 *
 * Locations name a part and a row in it, and are good until the part is released, which is after every snapshot that
 * was open when the part was replaced.
 */
import { assert, assertDefined } from "../../base/assert.ts";
import { encodeUtf8 } from "../../base/bytes.ts";
import type { TableDefinition } from "../../catalog/definitions.ts";
import type { OpNumber, RowBatch, RowId, StoredRow, StoredValue } from "../../operations/effect.ts";
import {
  type BlockCursor,
  type ColumnStatistics,
  type IndexBounds,
  type LocationCursor,
  NO_ROW,
  type RowLocation,
  type ZonePredicate,
} from "../vector.ts";
import { Delta } from "./delta.ts";
import type { BytesSink } from "./delta_column.ts";
import { IndexKeyEncoder, type KeyBounds } from "./index_key.ts";
import { MergedLocations, NO_LOCATIONS, type PartHead, PartLocations } from "./location_cursor.ts";
import { type IndexKeys, type Part, PART_ROWS, ROW_ID_INDEX, type TableShape } from "./part.ts";
import { TableReader } from "./table_reader.ts";
import { TableScan } from "./table_scan.ts";
import { joinStatistics, type PartStatistics, sampleStatistics } from "./table_statistics.ts";

/** Tells which versions may still be read. */
export interface SnapshotHorizon {
  /**
   * The oldest snapshot that an open reader holds. When there is none: any op number from the last applied one on;
   * with Infinity (or at least the op being applied) updates happen in place.
   */
  oldestSnapshot(): number;
}

/** What a table needs from its surroundings. */
export interface TableStoreOptions {
  readonly definition: TableDefinition;
  readonly horizon: SnapshotHorizon;
}

const ROW_ID_KEYS: IndexKeys = { indexId: ROW_ID_INDEX, encoder: IndexKeyEncoder.forRowIds() };

interface CachedStatistics {
  readonly rowCount: number;
  readonly partVersion: number;
  readonly statistics: ColumnStatistics | undefined;
}

/** A table's rows in all versions that may still be read. */
export class TableStore implements TableShape {
  readonly #horizon: SnapshotHorizon;
  #definition: TableDefinition;
  #delta: Delta;
  /** Frozen deltas and segments, newest first; retired ones included. */
  #older: Part[] = [];
  /** By part number. */
  readonly #parts: (Part | undefined)[] = [];
  #partVersion = 0;
  #rowCount = 0;
  #lastModifiedOp = 0;
  readonly #indexes = new Map<number, IndexKeys>();
  readonly #missing: StoredValue[] = [];
  readonly #missingBytes: (Uint8Array | undefined)[] = [];
  #reader: TableReader | null = null;
  readonly #statistics = new Map<number, CachedStatistics>();

  constructor(options: TableStoreOptions) {
    this.#horizon = options.horizon;
    this.#definition = options.definition;
    this.#noteDefinition(options.definition);
    this.#delta = this.#newDelta();
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
    let bytes = this.#delta.memoryBytes;
    for (const part of this.#older) bytes += part.memoryBytes;
    return bytes;
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

  #newDelta(): Delta {
    const delta = new Delta(this.#freePartNumber(), this);
    delta.setColumns(this.#definition.columns);
    delta.setIndexes([...this.#indexes.values()]);
    this.#parts[delta.number] = delta;
    return delta;
  }

  #freePartNumber(): number {
    const free = this.#parts.findIndex((part) => part === undefined);
    return free < 0 ? this.#parts.length : free;
  }

  // Apply side.

  /** Adds a row that does not exist. */
  create(op: OpNumber, id: RowId, values: StoredRow): void {
    this.#delta.reclaim(this.#horizon.oldestSnapshot());
    this.#delta.insert(op, id, values);
    this.#rowCount++;
    this.#modified(op);
  }

  /** Gives a row that exists new values. */
  update(op: OpNumber, id: RowId, values: StoredRow): void {
    const oldest = this.#horizon.oldestSnapshot();
    const delta = this.#delta;
    delta.reclaim(oldest);
    const slot = delta.liveRow(id);
    if (slot >= 0) delta.update(op, slot, values, oldest);
    else {
      this.#endOlder(op, id);
      delta.insert(op, id, values);
    }
    this.#modified(op);
  }

  /** Removes a row that exists. */
  delete(op: OpNumber, id: RowId): void {
    const delta = this.#delta;
    const slot = delta.liveRow(id);
    if (slot >= 0) delta.markEnd(slot, op);
    else this.#endOlder(op, id);
    delta.reclaim(this.#horizon.oldestSnapshot());
    this.#rowCount--;
    this.#modified(op);
  }

  /** Adds many rows that do not exist. */
  createBatch(op: OpNumber, batch: RowBatch): void {
    this.#delta.appendBatch(op, batch);
    this.#rowCount += batch.rowCount;
    this.#modified(op);
  }

  /** Marks the end of the row's live version in an older part. */
  #endOlder(op: number, id: RowId): void {
    for (const part of this.#older) {
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
    this.#lastModifiedOp = op;
  }

  /** Removes all rows. */
  truncate(op: OpNumber): void {
    this.#delta.until = op;
    this.#older.unshift(this.#delta);
    for (const part of this.#older) if (part.until === Infinity) part.until = op;
    this.#delta = this.#newDelta();
    this.#delta.from = op;
    this.#rowCount = 0;
    this.#partVersion++;
    this.#modified(op);
  }

  /** Takes a new definition: columns and indexes that came are added to all data, those that went are forgotten. */
  alter(definition: TableDefinition, _op: OpNumber): void {
    this.#definition = definition;
    this.#noteDefinition(definition);
    this.#delta.setColumns(definition.columns);
    const indexes = [...this.#indexes.values()];
    this.#delta.setIndexes(indexes);
    for (const part of this.#older) if (part instanceof Delta) part.setIndexes(indexes);
    this.#statistics.clear();
  }

  // Read side.

  /** The table at a snapshot. Cheap: the last reader is kept. */
  at(snapshot: OpNumber): TableReader {
    const reader = this.#reader;
    if (reader !== null && reader.snapshot === snapshot) return reader;
    return this.#reader = new TableReader(this, snapshot);
  }

  missingValue(columnId: number): StoredValue {
    return this.#missing[columnId] ?? null;
  }

  /** The row's version at the snapshot, or NO_ROW. */
  find(id: RowId, snapshot: number): RowLocation {
    const delta = this.#delta;
    const slot = delta.visibleRow(id, snapshot);
    if (slot >= 0) return delta.number * PART_ROWS + slot;
    const older = this.#older;
    for (let index = 0; index < older.length; index++) {
      const part = older[index] as Part;
      if (part.from > snapshot || snapshot >= part.until) continue;
      const row = part.visibleRow(id, snapshot);
      if (row >= 0) return part.number * PART_ROWS + row;
    }
    return NO_ROW;
  }

  #partAt(location: RowLocation): Part {
    const delta = this.#delta;
    const number = Math.floor(location / PART_ROWS);
    if (number === delta.number) return delta;
    const part = this.#parts[number];
    if (part === undefined) assert(false, `location ${location} is in a part that is gone`);
    return part;
  }

  idAt(location: RowLocation): RowId {
    return this.#partAt(location).idAt(location >>> 0);
  }

  valueAt(location: RowLocation, columnId: number): StoredValue {
    return this.#partAt(location).valueAt(location >>> 0, columnId);
  }

  /**
   * Tells where the UTF-8 of a text value (or the bytes of a bytes value) stands, without decoding it; false for NULL.
   * The bytes are good until the next write.
   */
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
    const parts: Part[] = [];
    for (let index = this.#older.length - 1; index >= 0; index--) {
      const part = this.#older[index] as Part;
      if (part.from <= snapshot && snapshot < part.until) parts.push(part);
    }
    parts.push(this.#delta);
    return new TableScan(parts, { columnIds, ids: options.ids, prune: options.prune, snapshot });
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
    const delta = this.#delta;
    const first = delta.openIndex(keys, bounds, snapshot, backward);
    let heads: PartHead[] | null = null;
    let single: PartHead | null = first === null ? null : { part: delta, cursor: first };
    const older = this.#older;
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
      cached !== undefined && cached.partVersion === this.#partVersion &&
      Math.abs(cached.rowCount - count) <= 64 + cached.rowCount * 0.1
    ) return cached.statistics;
    const parts: PartStatistics[] = [];
    const sampled = sampleStatistics(this.#delta, columnId);
    if (sampled !== undefined) parts.push(sampled);
    const statistics = joinStatistics(parts, 0);
    this.#statistics.set(columnId, { rowCount: count, partVersion: this.#partVersion, statistics });
    return statistics;
  }
}
