/**
 * Column vectors: what a scan hands to generated code, one vector per column for a block of at most
 * {@link BLOCK_ROWS} rows.
 *
 * Generated code is specialized by the *shape* of a block's vectors (element type, nulls or not, …; see `vector_shape.ts`), so
 * that each specialization only ever sees one kind of typed array and V8 keeps its loops monomorphic.
 */
import type { StoredValue } from "../../operations/effect.ts";

/** Rows in a full block, in segments and when a delta is scanned. */
export const BLOCK_ROWS = 4096;

/** Typed arrays that integer and float vectors come in. */
export type NumberArray =
  | Int8Array
  | Int16Array
  | Int32Array
  | Uint8Array
  | Uint16Array
  | Uint32Array
  | Float32Array
  | Float64Array;

/** The values of one column in one block. `nulls[row] === 1` means NULL; `nulls` null: no NULL in the block. */
export type Vector =
  | {
    /** Storage classes int and float. In `int`, a value outside the safe integers is NaN in `data` and in `big`. */
    readonly kind: "number";
    readonly data: NumberArray;
    readonly nulls: Uint8Array | null;
    readonly big: ReadonlyMap<number, bigint> | null;
    /** Bounds of integers that are known to be safe, rounded so that blocks and segments have few different ones. */
    readonly span?: Span;
  }
  | {
    /** Storage classes text (UTF-8) and bytes. Row r is `bytes[starts[r] … ends[r])`. */
    readonly kind: "bytes";
    readonly bytes: Uint8Array;
    readonly starts: Uint32Array;
    readonly ends: Uint32Array;
    readonly nulls: Uint8Array | null;
  }
  | {
    /** Low-cardinality text: `dictionary[codes[row]]`. One dictionary serves a whole segment (same object identity). */
    readonly kind: "dictionary";
    readonly codes: Uint8Array | Uint16Array | Uint32Array;
    readonly dictionary: readonly string[];
    readonly nulls: Uint8Array | null;
  }
  | {
    /** The same value in each row: a column added after the rows were written, or a run. */
    readonly kind: "constant";
    readonly value: StoredValue;
  };

/** Bounds of a column's integers; both ends belong to it. */
export interface Span {
  readonly low: number;
  readonly high: number;
  /** The bounds as a part of a shape's name. */
  readonly name: string;
}

/** The span of integers between two safe ones: from 0, or the negative power of two below, to a power of two less one. */
export function spanOf(minimum: number, maximum: number): Span {
  const low = minimum >= 0 ? 0 : -powerFrom(-minimum);
  const high = maximum <= 0 ? 0 : powerFrom(maximum + 1) - 1;
  return { low, high, name: `[${low}..${high}]` };
}

/** The least power of two that is not less; a logarithm would be rounded, and be one too small near 2^50. */
function powerFrom(value: number): number {
  let power = 1;
  while (power < value) power *= 2;
  return power;
}

/** The element types of typed arrays, as they are named in shapes. */
export type ElementName = "i8" | "i16" | "i32" | "u8" | "u16" | "u32" | "f32" | "f64";

/** The element type of a typed array. */
export function elementName(data: NumberArray): ElementName {
  if (data instanceof Float64Array) return "f64";
  if (data instanceof Int32Array) return "i32";
  if (data instanceof Int16Array) return "i16";
  if (data instanceof Int8Array) return "i8";
  if (data instanceof Uint8Array) return "u8";
  if (data instanceof Uint16Array) return "u16";
  if (data instanceof Uint32Array) return "u32";
  return "f32";
}

/** A block of rows as a scan sees it at one snapshot. Valid until the next block is taken from the same scan. */
export interface Block {
  readonly rowCount: number;
  /** Location of row 0; row r is at `firstLocation + r`. */
  readonly firstLocation: RowLocation;
  /** Ids of the rows; like an int column. Present only when the scan asked for ids. */
  readonly ids: Vector | null;
  /** In the order in which the scan named its columns. */
  readonly columns: readonly Vector[];
  /** `hidden[row] !== 0`: not visible at the snapshot. null: every row is visible. */
  readonly hidden: Uint8Array | null;
}

/**
 * Where a row version stands: `part × 2^32 + row within the part`. Good for the table and the duration of one statement's step.
 */
export type RowLocation = number;

/** No such row. */
export const NO_ROW: RowLocation = -1;

/** A half-open description of what a scan can skip: rows with `column op value` are wanted. */
export interface ZonePredicate {
  readonly columnId: number;
  readonly operator: "=" | "<" | "<=" | ">" | ">=" | "is null" | "is not null";
  readonly value: StoredValue;
}

/** Bounds of an ordered index scan: equality on a prefix of the key, then at most one range on the next key column. */
export interface IndexBounds {
  readonly prefix: readonly StoredValue[];
  readonly low: { readonly value: StoredValue; readonly inclusive: boolean } | null;
  readonly high: { readonly value: StoredValue; readonly inclusive: boolean } | null;
  /** Walk from the high end to the low end of the index order. */
  readonly backward: boolean;
}

/** Hands out row locations one by one. */
export interface LocationCursor {
  /** The next location, or {@link NO_ROW} at the end. */
  next(): RowLocation;
}

/** Hands out blocks one by one. */
export interface BlockCursor {
  next(): Block | null;
}

/** Estimates for the planner; never needed for correctness. */
export interface ColumnStatistics {
  readonly distinct: number;
  readonly nullFraction: number;
  readonly minimum: StoredValue;
  readonly maximum: StoredValue;
  readonly averageBytes: number;
}

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
  ): BlockCursor;
  /** The row with this id, or NO_ROW. */
  find(id: number | bigint): RowLocation;
  /** Rows by row id range, ascending or descending by id. */
  findRange(bounds: IndexBounds): LocationCursor;
  /** Rows whose index key begins with these values, in index order; NULL in `key` matches NULL. */
  lookup(indexId: number, key: readonly StoredValue[]): LocationCursor;
  /** Rows in index order within bounds. */
  range(indexId: number, bounds: IndexBounds): LocationCursor;
  idAt(location: RowLocation): number | bigint;
  valueAt(location: RowLocation, columnId: number): StoredValue;
  /** Visible rows, exactly, when that is known without a scan; else undefined. */
  exactRowCount(): number | undefined;
  statistics(columnId: number): ColumnStatistics | undefined;
}
