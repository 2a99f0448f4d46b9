/**
 * What a transaction has fetched of a table whose rows are at shards. Reading it answers from there, or asks for what
 * is missing: of many rows by stopping the statement; of single ones the statement may miss several before it stops,
 * and is answered meanwhile as if they were not there.
 */
import { assertDefined } from "../base/assert.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import type { OpNumber, RowId, StoredRow, StoredValue } from "../operations/effect.ts";
import { type BlockCursor, NO_ROW, type RowLocation } from "../storage/access/block.ts";
import type {
  BytesSink,
  ColumnStatistics,
  IndexBounds,
  LocationCursor,
  ReadableTable,
  ZonePredicate,
} from "../storage/access/readable_table.ts";
import { BlockCache } from "../storage/table/block_cache.ts";
import { segmentFilesIn } from "../storage/table/segment_files.ts";
import { MemoryDisk } from "../host/memory_host.ts";
import { TableStore } from "../storage/table/table_store.ts";
import type { TableReader } from "../storage/table/table_reader.ts";
import { batchMemory, batchRow } from "../transactions/batch_values.ts";
import { rowBytes } from "../transactions/write_set.ts";
import { readKey } from "../transactions/read_key.ts";
import { type Point, type PointKey, pointKey, rangeOf } from "./points.ts";
import type { BulkWanted, FetchedRows, Wanted } from "./shard_messages.ts";

/** Single rows in a list, which is looked through. */
const MAX_SCANNED = 32;
/** Rough memory of a row besides its values. */
const ROW_BYTES = 64;

const EMPTY: LocationCursor = { next: () => NO_ROW };
const files = segmentFilesIn(new MemoryDisk(), "fetched");
const cache = new BlockCache(1 << 20);

/** Who is asked for what is missing. */
export interface MissingRows {
  /** Stops the statement until it has been fetched. */
  fetch(table: FetchedTable, wanted: BulkWanted): never;
  /** The same of a single thing, or notes that it is missing. */
  miss(table: FetchedTable, point: Point, key: PointKey): void;
}

/** See the file's head. */
export class FetchedTable implements ReadableTable {
  readonly definition: TableDefinition;
  readonly estimatedRows: number;
  readonly #missing: MissingRows;
  /** Rows that were asked for by their ids, as long as nothing else was: most statements want no more than one. */
  #points: { readonly ids: RowId[]; readonly rows: StoredRow[] } | null = { ids: [], rows: [] };
  #store: TableStore | null = null;
  #op = 1;
  /** What has been asked for. */
  readonly #known = new Set<PointKey>();
  #isWhole = false;
  #count: number | undefined;

  constructor(definition: TableDefinition, estimatedRows: number, missing: MissingRows) {
    this.definition = definition;
    this.estimatedRows = estimatedRows;
    this.#missing = missing;
  }

  /** Where rows are from now on that are more than single ones. */
  #whole(): TableStore {
    if (this.#store !== null) return this.#store;
    const store = this.#store = new TableStore({
      definition: this.definition,
      horizon: { oldestSnapshot: () => Infinity },
      files,
      cache,
    });
    const { ids, rows } = assertDefined(this.#points ?? undefined, "single rows");
    this.#points = null;
    if (ids.length > 0) this.#op++;
    ids.forEach((id, index) => store.create(this.#op as OpNumber, id, rows[index] ?? []));
    return store;
  }

  /** Takes rows that have come. Answers roughly the memory that they take. */
  add(rows: FetchedRows, wanted: Wanted): number {
    if (rows.kind === "count") {
      this.#count = (this.#count ?? 0) + rows.count;
      return 0;
    }
    const points = this.#points;
    let bytes = 0;
    if (
      points !== null && rows.kind === "rows" && wanted.kind === "points" && wanted.lookups.length === 0 &&
      wanted.ranges.length === 0 && points.ids.length + rows.ids.length <= MAX_SCANNED
    ) {
      for (const [index, id] of rows.ids.entries()) {
        const row = rows.rows[index];
        if (row === undefined || points.ids.includes(id)) continue;
        points.ids.push(id);
        points.rows.push(row);
        bytes += ROW_BYTES + rowBytes(row);
      }
      return bytes;
    }
    const store = this.#whole();
    const op = (++this.#op) as OpNumber;
    const isNew = (id: RowId): boolean => store.find(id, op) === NO_ROW;
    if (rows.kind === "rows") {
      for (const [index, id] of rows.ids.entries()) {
        const values = rows.rows[index];
        if (values === undefined || !isNew(id)) continue;
        store.create(op, id, values);
        bytes += ROW_BYTES + rowBytes(values);
      }
      return bytes;
    }
    const { batch } = rows;
    if (this.#known.size === 0) {
      store.createBatch(op, batch);
      return batchMemory(batch);
    }
    for (let row = 0; row < batch.rowCount; row++) {
      const id = batch.ids[row] as number;
      if (isNew(id)) store.create(op, id, batchRow(batch, row));
    }
    return batchMemory(batch);
  }

  /** All that was wanted has come. */
  complete(wanted: BulkWanted): void {
    // What has been found stays where it was found while a statement runs.
    if (wanted.kind !== "count") this.#whole();
    if (wanted.kind === "scan" && wanted.prune.length === 0) this.#isWhole = true;
    this.#known.add(readKey(wanted));
  }

  /** The same of single things. */
  know(keys: Iterable<PointKey>): void {
    for (const key of keys) {
      if (typeof key === "string") this.#whole();
      this.#known.add(key);
    }
  }

  #need(wanted: BulkWanted): void {
    if (this.#isWhole || this.#known.has(readKey(wanted))) return;
    this.#missing.fetch(this, wanted);
  }

  /** false: whether it is there is not known. */
  #knows(point: Point): boolean {
    if (this.#isWhole) return true;
    const key = pointKey(point);
    if (this.#known.has(key)) return true;
    this.#missing.miss(this, point, key);
    return false;
  }

  get #reader(): TableReader {
    return this.#whole().at(this.#op as OpNumber);
  }

  /** Whether it is known whether there is a row of this id, and which. */
  knows(id: RowId): boolean {
    return this.#isWhole || this.#known.has(id);
  }

  /** Whether a row has been fetched, and is there. */
  has(id: RowId): boolean {
    return this.#locate(id) >= 0;
  }

  #locate(id: RowId): RowLocation {
    return (this.#points === null ? this.#reader.find(id) : this.#points.ids.indexOf(id)) as RowLocation;
  }

  /** A value of such a row; undefined: it has not been fetched. */
  knownValue(id: RowId, columnId: number): StoredValue | undefined {
    const location = this.#locate(id);
    return location < 0 ? undefined : this.valueAt(location, columnId);
  }

  scan(
    columnIds: readonly number[],
    options: { readonly ids: boolean; readonly prune: readonly ZonePredicate[] },
  ): BlockCursor {
    this.#need({ kind: "scan", prune: options.prune });
    return this.#reader.scan(columnIds, options);
  }

  find(id: RowId): RowLocation {
    const location = this.#locate(id);
    if (location >= 0) return location;
    this.#knows({ kind: "id", id });
    return NO_ROW;
  }

  findRange(bounds: IndexBounds): LocationCursor {
    this.#need({ kind: "id_range", bounds });
    return this.#reader.findRange(bounds);
  }

  lookup(indexId: number, key: readonly StoredValue[]): LocationCursor {
    return this.#knows({ kind: "lookup", indexId, key }) ? this.#reader.lookup(indexId, key) : EMPTY;
  }

  range(indexId: number, bounds: IndexBounds): LocationCursor {
    this.#need({ kind: "range", indexId, bounds });
    return this.#reader.range(indexId, bounds);
  }

  mayHave(indexId: number | null, bounds: IndexBounds): boolean {
    return this.#knows({ kind: "any", indexId, bounds }) &&
      rangeOf(this.#reader, indexId, bounds).next() !== NO_ROW;
  }

  idAt(location: RowLocation): RowId {
    return this.#points === null ? this.#reader.idAt(location) : this.#points.ids[location] as RowId;
  }

  valueAt(location: RowLocation, columnId: number): StoredValue {
    if (this.#points === null) return this.#reader.valueAt(location, columnId);
    const position = this.definition.columns.findIndex((column) => column.id === columnId);
    return this.#points.rows[location]?.[position] ?? null;
  }

  textBytesAt(location: RowLocation, columnId: number, sink: BytesSink): boolean {
    return this.#points === null && this.#reader.textBytesAt(location, columnId, sink);
  }

  exactRowCount(): number {
    if (this.#isWhole) return this.#whole().rowCount;
    return this.#count ?? this.#missing.fetch(this, { kind: "count" });
  }

  statistics(): ColumnStatistics | undefined {
    return undefined;
  }
}
