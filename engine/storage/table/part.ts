/**
 * A part of a table: the current delta, a frozen delta or a segment. Each live row version is in exactly one part;
 * a part serves the snapshots `from ≤ snapshot < until`, so that a segment can replace its sources for new snapshots
 * while older ones go on reading these.
 */
import type { RowId, StoredValue } from "../../operations/effect.ts";
import type { BlockCursor } from "../access/block.ts";
import type { BytesSink, ZonePredicate } from "../access/readable_table.ts";
import type { ColumnReader } from "./column_reader.ts";
import type { IndexKeyEncoder, KeyBounds } from "./index_key.ts";

/** Locations are `part number × PART_ROWS + row`. */
export const PART_ROWS = 4294967296;

/** The id of the index over row ids that each part can walk. */
export const ROW_ID_INDEX = -1;

/** Walks the visible entries of one index of one part, in index order or backward. */
export interface PartIndexCursor {
  /** Row within the part of the current entry. */
  readonly row: number;
  /** The key of the current entry: a number, or a text key. */
  readonly numberKey: number;
  /** null while entries have number keys. */
  readonly textKey: string | null;
  /** Whether all keys are known to be 32-bit integers. */
  readonly isNarrow?: boolean;
  /** The value of a column in the key of the current entry. Absent, or undefined: the row has to be asked. */
  keyValue?(column: number): StoredValue | undefined;
  /** Goes to the next visible entry; false at the end. Begins before the first. */
  advance(): boolean;
}

/** Stands among the rows of `Part.endedAfter` for a moment to let others have their turn. */
export const PAUSE = -1;
/** Stands among the rows of `Part.endedAfter` for "no more so far". */
export const DRAINED = -2;

/** What parts need to know of the table. */
export interface TableShape {
  /** What rows written before the column was added hold in it. */
  missingValue(columnId: number): StoredValue;
}

/** What the store knows of an index besides its definition. */
export interface IndexKeys {
  readonly indexId: number;
  readonly encoder: IndexKeyEncoder;
}

/** How a scan of a part is to be done. */
export interface PartScan {
  readonly columnIds: readonly number[];
  readonly ids: boolean;
  readonly prune: readonly ZonePredicate[];
  readonly snapshot: number;
}

/** A part of a table. Rows are numbered from 0; a row is a row *version*. */
export interface Part {
  readonly number: number;
  from: number;
  until: number;
  /** The version of the row that the snapshot sees in this part, or -1. */
  visibleRow(id: RowId, snapshot: number): number;
  /** The version of the row in this part that has not ended, or -1. */
  liveRow(id: RowId): number;
  idAt(row: number): RowId;
  /** The row's value; the column's missing value when the part does not have the column. */
  valueAt(row: number, columnId: number): StoredValue;
  /** Whether the part has the column of its own. */
  hasColumn(columnId: number): boolean;
  /** Tells where the UTF-8 (or bytes) of a value is; false for NULL. Only for a column that the part has. */
  bytesAt(row: number, columnId: number, sink: BytesSink): boolean;
  /** The op number that wrote the version. */
  versionOp(row: number): number;
  /** The op number that replaced or deleted the version; Infinity when none has. */
  endOp(row: number): number;
  /** Records that the version ended. */
  markEnd(row: number, op: number): void;
  scan(scan: PartScan): BlockCursor;
  /** A cursor over an index ({@link ROW_ID_INDEX} for row ids), or null when nothing can match. */
  openIndex(keys: IndexKeys, bounds: KeyBounds, snapshot: number, backward: boolean): PartIndexCursor | null;
  /** Rows are numbered below this. */
  readonly rowLimit: number;
  /** Reads a column (or a pseudo-column) for building a segment. */
  columnReader(columnId: number): ColumnReader;
  /**
   * Rows that ended after an op number, and then those that end while they are being walked over; some may come
   * twice. In between {@link PAUSE}, when only some work was done, and {@link DRAINED} whenever there are no more
   * just now.
   */
  endedAfter(op: number): Generator<number, void>;
  /** Bytes of memory that the part holds outside the block cache. */
  readonly memoryBytes: number;
}
