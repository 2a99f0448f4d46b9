/** Segments for those who share the work of a scan out: how one is named to another thread, and opened there. */
import type { IndexDefinition, TableDefinition } from "../../catalog/definitions.ts";
import type { Disk, DiskFile } from "../../host/disk.ts";
import { opNumber } from "../../operations/effect.ts";
import { BLOCK_ROWS, type BlockCursor } from "../access/block.ts";
import type { ZonePredicate } from "../access/readable_table.ts";
import type { Bounds, ScanPiece, StoredFile } from "../access/readable_table.ts";
import type { BlockCache } from "./block_cache.ts";
import { ChunkFile, type FinishedChunkFile } from "./chunk_file.ts";
import { IndexKeyEncoder } from "./index_key.ts";
import type { Part } from "./part.ts";
import { Segment } from "./segment.ts";
import { segmentFilesIn } from "./segment_files.ts";
import { buildIndexOfSegment } from "./segment_index_builder.ts";

/** A segment as other threads find it. */
export function storedFileOf({ file, op, object }: Segment, tableId: number): StoredFile {
  return { path: file.path, tableId, op, object, summary: file.summary };
}

/** A part of a table as a scan at a snapshot sees it. */
export function pieceOf(part: Part, tableId: number, snapshot: number): ScanPiece {
  if (!(part instanceof Segment)) {
    return { file: null, scan: (columnIds, options) => part.scan({ columnIds, ...options, snapshot }) };
  }
  return {
    file: {
      stored: storedFileOf(part, tableId),
      blockCount: part.blockCount,
      admits: (block, prune) => part.admits(block, { prune }),
      bounds: (columnId, from, to) => boundsOf(part, columnId, from, to),
      hidden: (block) =>
        part.deletions.hidden(block, Math.min(BLOCK_ROWS, part.rowLimit - block * BLOCK_ROWS), snapshot),
    },
    scan: (columnIds, options, from, to) =>
      part.scan({ columnIds, ...options, snapshot }, from, Math.min(to, part.blockCount)),
  };
}

function boundsOf(segment: Segment, columnId: number, from: number, to: number): Bounds | null {
  const zones = segment.zonesOf(columnId);
  if (zones === undefined || zones.minima.length === 0) return null;
  let low = Infinity, high = -Infinity;
  for (let block = from; block < to; block++) {
    low = Math.min(low, zones.minima[block] as number);
    high = Math.max(high, zones.maxima[block] as number);
  }
  return Number.isSafeInteger(low) && Number.isSafeInteger(high) ? { low, high } : null;
}

/** Blocks out of ten that may be in another order. */
const OUT_OF_ORDER = 1;

/** Whether blocks that follow one another have greater numbers in a column, nearly all. */
export function areInOrderOf(parts: readonly Part[], columnId: number): boolean {
  let blocks = 0, others = 0, last = -Infinity;
  for (const part of parts) {
    if (!(part instanceof Segment)) continue;
    const zones = part.zonesOf(columnId);
    for (let block = 0; block < part.blockCount; block++) {
      const minimum = zones?.minima[block] ?? NaN;
      blocks++;
      if (!(minimum >= last)) others++;
      last = zones?.maxima[block] ?? NaN;
    }
  }
  return others * 10 <= blocks * OUT_OF_ORDER;
}

/** A segment that another thread has written. */
export class StoredSegment {
  readonly file: StoredFile;
  readonly #segment: Segment;
  readonly #disk: Disk;

  /** `definition`: for columns that came after the file. Raises XX001 when it is not the file that was named. */
  constructor(file: StoredFile, disk: Disk, cache: BlockCache, definition: () => TableDefinition) {
    const { path, tableId, op, object, summary } = file;
    this.file = file;
    this.#disk = disk;
    const chunks = new ChunkFile(
      disk.openFile(path, { create: false, write: false }),
      { kind: "segment", tableId, op, object },
      summary,
    );
    this.#segment = new Segment({ number: 0, op: opNumber(op), object }, chunks, {
      shape: {
        missingValue: (columnId) =>
          definition().columns.find(({ id }) => id === columnId)?.missingValue ?? null,
      },
      cache,
      blocks: cache.blocksOf(tableId),
      needIndex: () => {},
    });
  }

  /** The blocks from `from` to below `to`; `hidden`: masks of those that have rows which are not seen. */
  scan(
    columnIds: readonly number[],
    options: { readonly ids: boolean; readonly prune: readonly ZonePredicate[] },
    { from, to, hidden }: {
      readonly from: number;
      readonly to: number;
      readonly hidden: ReadonlyMap<number, Uint8Array>;
    },
  ): BlockCursor {
    // Nothing has ended in it, as far as this thread knows.
    const cursor = this.#segment.scan({ columnIds, ...options, snapshot: 0 }, from, to);
    if (hidden.size === 0) return cursor;
    return {
      next: () => {
        const block = cursor.next();
        if (block === null) return null;
        return { ...block, hidden: hidden.get(block.firstLocation / BLOCK_ROWS) ?? null };
      },
    };
  }

  /** Makes the file of an index of it, in steps; `file`: where it is written to. */
  buildIndex(
    index: Pick<IndexDefinition, "id" | "columns">,
    definition: TableDefinition,
    file: Pick<DiskFile, "writeAt">,
  ): Generator<void, FinishedChunkFile> {
    const { path, tableId, op, object } = this.file;
    const keys = { indexId: index.id, encoder: new IndexKeyEncoder(definition, index.columns) };
    const at = path.lastIndexOf("/");
    const { temporary } = segmentFilesIn(this.#disk, path.slice(0, at));
    const files = { create: () => file, temporary };
    return buildIndexOfSegment({ tableId, op, object, keys, files }, this.#segment);
  }

  close(): void {
    this.#segment.close();
  }
}
