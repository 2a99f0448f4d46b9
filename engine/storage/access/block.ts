/**
 * Blocks of rows: what a scan hands to generated code, a vector for each column.
 */
import type { Vector } from "./vector.ts";

/** Rows in a full block, in segments and when a delta is scanned. */
export const BLOCK_ROWS = 4096;

/**
 * Where a row version is: `part × 2^32 + row within the part`. Good for the table and the duration of one
 * statement's step.
 */
export type RowLocation = number;

/** No such row. */
export const NO_ROW: RowLocation = -1;

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

/** Hands out blocks one by one. */
export interface BlockCursor {
  next(): Block | null;
}
