/** Where the rows of a scan are, for those who share its work out among threads. */
import type { BlockCursor } from "./block.ts";
import type { ZonePredicate } from "./readable_table.ts";

/** A file of a table's rows that never changes, as another thread finds it. */
export interface StoredFile {
  readonly path: string;
  readonly tableId: number;
  readonly op: number;
  readonly object: number;
  readonly summary: { readonly name: string; readonly size: number; readonly checksum: number };
}

/** Neighbouring rows of a scan. */
export interface ScanPiece {
  /** The file that they are in; null: they are in memory of this thread. */
  readonly file: {
    readonly stored: StoredFile;
    readonly blockCount: number;
    /** Whether a block may hold rows that satisfy the predicates. */
    admits(block: number, prune: readonly ZonePredicate[]): boolean;
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
