/**
 * What a transaction has fetched of a table whose rows are at shards. Reading it answers from there, or asks for what
 * is missing. Points that are asked for one by one become a fetch of the whole table before they are too many, for each
 * of them runs the statement again.
 */
import { assertDefined } from "../base/assert.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import type { OpNumber, RowId, StoredRow, StoredValue } from "../operations/effect.ts";
import { type BlockCursor, NO_ROW, type RowLocation } from "../storage/access/block.ts";
import type {
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
import { readKey } from "./read_key.ts";
import type { FetchedRows, Wanted } from "./shard_messages.ts";

/** Points asked for one by one before the whole table is. */
const MAX_POINTS = 24;
/** The same of a table with many rows. */
const MAX_POINTS_OF_LARGE = 1000;
/** Single rows in a list, which is looked through. */
const MAX_SCANNED = 32;
const LARGE_ROWS = 1_000_000;
/** Rough memory of a row besides its values. */
const ROW_BYTES = 64;

const WHOLE: Wanted = { kind: "scan", prune: [] };
const files = segmentFilesIn(new MemoryDisk(), "fetched");
const cache = new BlockCache(1 << 20);

/** See the file's head. */
export class FetchedTable implements ReadableTable {
  readonly definition: TableDefinition;
  readonly estimatedRows: number;
  readonly #ask: (wanted: Wanted) => never;
  /** Rows that were asked for by their ids, as long as nothing else was: most statements want no more than one. */
  #points: { readonly ids: RowId[]; readonly rows: StoredRow[] } | null = { ids: [], rows: [] };
  #store: TableStore | null = null;
  #op = 1;
  /** Ids and other things that were asked for. */
  readonly #knownIds = new Set<RowId>();
  readonly #known = new Set<string>();
  #isWhole = false;
  #count: number | undefined;
  #pointCount = 0;

  /** `ask` stops the statement until what is wanted has been fetched. */
  constructor(definition: TableDefinition, estimatedRows: number, ask: (wanted: Wanted) => never) {
    this.definition = definition;
    this.estimatedRows = estimatedRows;
    this.#ask = ask;
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
    if (wanted.kind === "id" && rows.kind === "rows" && points !== null && points.ids.length < MAX_SCANNED) {
      const [id] = rows.ids, [row] = rows.rows;
      if (id === undefined || row === undefined || points.ids.includes(id)) return 0;
      points.ids.push(id);
      points.rows.push(row);
      return ROW_BYTES + rowBytes(row);
    }
    const store = this.#whole();
    const op = (++this.#op) as OpNumber;
    const isNew = (id: RowId): boolean => store.find(id, op) === NO_ROW;
    let bytes = 0;
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
    if (this.#knownIds.size === 0 && this.#known.size === 0) {
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
  complete(wanted: Wanted): void {
    if (wanted.kind === "id") {
      this.#knownIds.add(wanted.id);
      return;
    }
    // What has been found stays where it was found while a statement runs.
    if (wanted.kind !== "count") this.#whole();
    if (wanted.kind === "scan" && wanted.prune.length === 0) this.#isWhole = true;
    this.#known.add(readKey(wanted));
  }

  #need(wanted: Wanted): void {
    if (this.#isWhole) return;
    if (wanted.kind === "id" ? this.#knownIds.has(wanted.id) : this.#known.has(readKey(wanted))) return;
    const isPoint = wanted.kind === "id" || wanted.kind === "lookup";
    if (isPoint) this.#pointCount++;
    const isTooMuch = this.#pointCount > (this.estimatedRows > LARGE_ROWS ? MAX_POINTS_OF_LARGE : MAX_POINTS);
    this.#ask(isPoint && isTooMuch ? WHOLE : wanted);
  }

  get #reader(): TableReader {
    return this.#whole().at(this.#op as OpNumber);
  }

  /** A value of a row that has been fetched; undefined: it has not. */
  knownValue(id: RowId, columnId: number): StoredValue | undefined {
    const location = this.#points === null ? this.#reader.find(id) : this.#points.ids.indexOf(id);
    return location < 0 ? undefined : this.valueAt(location as RowLocation, columnId);
  }

  scan(
    columnIds: readonly number[],
    options: { readonly ids: boolean; readonly prune: readonly ZonePredicate[] },
  ): BlockCursor {
    this.#need({ kind: "scan", prune: options.prune });
    return this.#reader.scan(columnIds, options);
  }

  find(id: RowId): RowLocation {
    const location = this.#points === null ? this.#reader.find(id) : this.#points.ids.indexOf(id);
    if (location >= 0) return location as RowLocation;
    this.#need({ kind: "id", id });
    return NO_ROW;
  }

  findRange(bounds: IndexBounds): LocationCursor {
    this.#need({ kind: "id_range", bounds });
    return this.#reader.findRange(bounds);
  }

  lookup(indexId: number, key: readonly StoredValue[]): LocationCursor {
    this.#need({ kind: "lookup", indexId, key });
    return this.#reader.lookup(indexId, key);
  }

  range(indexId: number, bounds: IndexBounds): LocationCursor {
    this.#need({ kind: "range", indexId, bounds });
    return this.#reader.range(indexId, bounds);
  }

  idAt(location: RowLocation): RowId {
    return this.#points === null ? this.#reader.idAt(location) : this.#points.ids[location] as RowId;
  }

  valueAt(location: RowLocation, columnId: number): StoredValue {
    if (this.#points === null) return this.#reader.valueAt(location, columnId);
    const position = this.definition.columns.findIndex((column) => column.id === columnId);
    return this.#points.rows[location]?.[position] ?? null;
  }

  exactRowCount(): number {
    if (this.#isWhole) return this.#whole().rowCount;
    if (this.#count === undefined) this.#ask({ kind: "count" });
    return this.#count as number;
  }

  statistics(): ColumnStatistics | undefined {
    return undefined;
  }
}
