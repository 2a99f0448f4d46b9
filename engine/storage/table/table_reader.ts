/**
 * A committed table at one snapshot: what `TableStore.at` hands out. A reader holds no state but its snapshot; it stays
 * good as long as the snapshot is within the store's horizon.
 */
import type { OpNumber, RowId, StoredValue } from "../../operations/effect.ts";
import type { BlockCursor, RowLocation } from "../access/block.ts";
import type {
  BytesSink,
  ColumnStatistics,
  IndexBounds,
  LocationCursor,
  ReadableTable,
  ScanPiece,
  ZonePredicate,
} from "../access/readable_table.ts";
import type { TableStore } from "./table_store.ts";

/** A table at a snapshot. */
export class TableReader implements ReadableTable {
  readonly store: TableStore;
  readonly snapshot: OpNumber;

  constructor(store: TableStore, snapshot: OpNumber) {
    this.store = store;
    this.snapshot = snapshot;
  }

  get estimatedRows(): number {
    return this.store.rowCount;
  }

  scan(
    columnIds: readonly number[],
    options: { readonly ids: boolean; readonly prune: readonly ZonePredicate[] },
  ): BlockCursor {
    return this.store.scan(columnIds, options, this.snapshot);
  }

  get fileBytes(): number {
    return this.store.fileBytes;
  }

  pieces(): ScanPiece[] {
    return this.store.pieces(this.snapshot);
  }

  find(id: RowId): RowLocation {
    return this.store.find(id, this.snapshot);
  }

  findRange(bounds: IndexBounds): LocationCursor {
    return this.store.findRange(bounds, this.snapshot);
  }

  lookup(indexId: number, key: readonly StoredValue[]): LocationCursor {
    return this.store.lookup(indexId, key, this.snapshot);
  }

  range(indexId: number, bounds: IndexBounds): LocationCursor {
    return this.store.range(indexId, bounds, this.snapshot);
  }

  idAt(location: RowLocation): RowId {
    return this.store.idAt(location);
  }

  valueAt(location: RowLocation, columnId: number): StoredValue {
    return this.store.valueAt(location, columnId);
  }

  textBytesAt(location: RowLocation, columnId: number, sink: BytesSink): boolean {
    return this.store.textBytesAt(location, columnId, sink);
  }

  /** The op number that wrote the version. */
  versionOp(location: RowLocation): number {
    return this.store.versionOp(location);
  }

  exactRowCount(): number | undefined {
    return this.snapshot >= this.store.lastModifiedOp ? this.store.rowCount : undefined;
  }

  statistics(columnId: number): ColumnStatistics | undefined {
    return this.store.statistics(columnId);
  }
}
