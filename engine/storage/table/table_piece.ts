/** What a manifest records of a table. */
import type { ChunkFileSummary } from "./chunk_file.ts";

/** A segment as the manifest knows it. */
export interface SegmentPiece {
  readonly op: number;
  readonly object: number;
  readonly rows: number;
  readonly data: ChunkFileSummary;
  readonly indexes: readonly { readonly indexId: number; readonly file: ChunkFileSummary }[];
}

/** What a manifest records of a table; plain data. */
export interface TablePiece {
  /** The checkpoint that it describes. */
  readonly op: number;
  readonly rowCount: number;
  readonly lastModifiedOp: number;
  readonly segments: readonly SegmentPiece[];
  readonly deletions: { readonly name: string; readonly size: number } | null;
  /** Merges that were decided on and not done yet. */
  readonly merges: readonly { readonly op: number; readonly inputs: readonly string[] }[];
}

/** The files that a description names. */
export function filesOf(piece: TablePiece): Set<string> {
  const names = new Set<string>();
  for (const segment of piece.segments) {
    names.add(segment.data.name);
    for (const index of segment.indexes) names.add(index.file.name);
  }
  if (piece.deletions !== null) names.add(piece.deletions.name);
  return names;
}
