/**
 * The reads that statements make of a table: scans, look-ups and ranges, at one snapshot.
 */
import type { StoredValue } from "../../operations/effect.ts";
import type { ColumnDistribution } from "./column_distribution.ts";
import type { BlockCursor, RowLocation } from "./block.ts";

/** A half-open description of what a scan can skip: rows with `column op value` are wanted. */
export interface ZonePredicate {
  readonly columnId: number;
  readonly operator: "=" | "<" | "<=" | ">" | ">=" | "is null" | "is not null";
  readonly value: StoredValue;
  /** Of a number: whether one that is wanted may lie from one to the other; absent: nobody knows. */
  readonly between?: (low: number, high: number) => boolean;
}

/** Bounds of an ordered index scan: equality on a prefix of the key, then at most one range on the next key column. */
export interface IndexBounds {
  readonly prefix: readonly StoredValue[];
  readonly low: { readonly value: StoredValue; readonly inclusive: boolean } | null;
  readonly high: { readonly value: StoredValue; readonly inclusive: boolean } | null;
  /** Walk from the high end to the low end of the index order. */
  readonly backward: boolean;
}

/** Receives the place of a value's bytes, which are good until the next write. */
export interface BytesSink {
  bytes: Uint8Array;
  start: number;
  end: number;
}

/** Hands out row locations one by one. */
export interface LocationCursor {
  /** The next location, or `NO_ROW` at the end. */
  next(): RowLocation;
  /**
   * The value of a column of the index at the location, by its position in the key, when the index tells it without a
   * look at the row. Absent, or undefined: {@link ReadableTable.valueAt} does.
   */
  keyValue?(column: number): StoredValue | undefined;
}

/** Estimates for the planner; never needed for correctness. */
export interface ColumnStatistics {
  readonly distinct: number;
  readonly nullFraction: number;
  readonly minimum: StoredValue;
  readonly maximum: StoredValue;
  readonly averageBytes: number;
  /** What ANALYZE has found; absent: it was not here, or the rows are elsewhere. */
  readonly distribution?: ColumnDistribution;
}

/** A file of a table's rows that never changes, as another thread finds it. */
export interface StoredFile {
  readonly path: string;
  readonly tableId: number;
  readonly op: number;
  readonly object: number;
  readonly summary: { readonly name: string; readonly size: number; readonly checksum: number };
}

/** Numbers from the one to the other. */
export interface Bounds {
  readonly low: number;
  readonly high: number;
}

/** Rows that follow one another in a scan. */
export interface ScanPiece {
  /** The file that they are in; null: they are in memory of this thread. */
  readonly file: {
    readonly stored: StoredFile;
    readonly blockCount: number;
    /** Whether a block may hold rows that satisfy the predicates. */
    admits(block: number, prune: readonly ZonePredicate[]): boolean;
    /** The least and the greatest number in a column of some blocks; null: not known. */
    bounds(columnId: number, from: number, to: number): Bounds | null;
    /** The mask of a block's rows that the snapshot does not see; null: it sees them all. */
    hidden(block: number): Uint8Array | null;
  } | null;
  /** Reads them here; of a file the blocks from `from` to below `to`. */
  scan(
    columnIds: readonly number[],
    options: { readonly ids: boolean; readonly prune: readonly ZonePredicate[] },
    from: number,
    to: number,
  ): BlockCursor;
}

/** What a reader asks of each row, as a question about a row by itself. */
export interface RowCondition {
  /** Texts and parameters of equal ones are equal. */
  readonly text: string;
  readonly parameters: readonly unknown[];
  /** Whether a row may meet it. `valueOf` answers what is stored in a column; undefined: not known. */
  readonly admits: (valueOf: (columnId: number) => StoredValue | undefined) => boolean;
}

/** Makes it, for those who note what is read; null: nothing is known. */
export type MakeCondition = () => RowCondition | null;

/**
 * A table at one snapshot, as statements read it; a transaction's own writes included. Implemented by committed tables
 * (`TableStore.at`) and by `TableView` of `engine/transactions`, which lays the transaction's write set on top.
 */
export interface ReadableTable {
  /** Rows that are visible, roughly. */
  readonly estimatedRows: number;
  /** Every visible row, by block; blocks that the predicates exclude by their zone maps are skipped. */
  scan(
    columnIds: readonly number[],
    options: { readonly ids: boolean; readonly prune: readonly ZonePredicate[] },
    condition?: MakeCondition,
  ): BlockCursor;
  /** Bytes of the files that hold its rows; absent: it has none. */
  readonly fileBytes?: number;
  /** Where the rows of a scan with these predicates are, in its order, to be shared out; absent: unknown. */
  pieces?(prune: readonly ZonePredicate[]): readonly ScanPiece[];
  /** The row with this id, or NO_ROW. */
  find(id: number | bigint): RowLocation;
  /** Rows by row id range, ascending or descending by id. */
  findRange(bounds: IndexBounds, condition?: MakeCondition): LocationCursor;
  /** Rows whose index key begins with these values, in index order; NULL in `key` matches NULL. */
  lookup(indexId: number, key: readonly StoredValue[], condition?: MakeCondition): LocationCursor;
  /** Rows in index order within bounds. */
  range(indexId: number, bounds: IndexBounds, condition?: MakeCondition): LocationCursor;
  /**
   * Whether there may be rows in a range of an index, or of row ids (null). Not given: to be looked for by
   * {@link range} and {@link findRange}, for which nothing has to be fetched.
   */
  mayHave?(indexId: number | null, bounds: IndexBounds): boolean;
  idAt(location: RowLocation): number | bigint;
  valueAt(location: RowLocation, columnId: number): StoredValue;
  /**
   * Tells where the UTF-8 of a text value is, without decoding it. false: {@link valueAt} has to be asked, for the
   * value is NULL, or not there as bytes.
   */
  textBytesAt(location: RowLocation, columnId: number, sink: BytesSink): boolean;
  /** Visible rows, exactly, when that is known without a scan; else undefined. */
  exactRowCount(): number | undefined;
  statistics(columnId: number): ColumnStatistics | undefined;
}
