/** Work on the parts of a table: what is to be made of which, and how far it is. */
import type { TableDefinition } from "../../catalog/definitions.ts";
import type { DiskFile } from "../../host/disk.ts";
import type { OpNumber } from "../../operations/effect.ts";
import type { FinishedChunkFile } from "./chunk_file.ts";
import type { Delta } from "./delta.ts";
import { DRAINED, type IndexKeys, type Part } from "./part.ts";
import type { Segment } from "./segment.ts";

/** A segment to be made of a frozen delta or of other segments. */
export interface PartJob {
  readonly kind: "build" | "merge" | "cut";
  readonly op: OpNumber;
  /** Tells its output apart from others of the op: see {@link SegmentOrder}. */
  readonly object: number;
  readonly definition: TableDefinition;
  readonly indexes: readonly IndexKeys[];
  /** Of a build or a cut. */
  readonly frozen: Delta | null;
  /** Keys of the inputs of a merge. */
  readonly inputs: readonly string[];
  sources: Part[];
  work: Generator<void, void> | null;
}

/** An index to be built for a segment that was written before the index came. */
export interface IndexJob {
  readonly segment: Segment;
  readonly keys: IndexKeys;
  work: Generator<void, FinishedChunkFile> | null;
  /** Written so far; they are synced with the others when the index is complete. */
  files: DiskFile[];
}

/** How work names a segment. */
export function keyOf(op: number, object: number): string {
  return `${op}:${object}`;
}

/** The next number; `DRAINED`: there is none. */
export function nextOf(rows: Generator<number, void>): number {
  const next = rows.next();
  return next.done === true ? DRAINED : next.value;
}

/** Marks in the output of a job a version that has ended in one of its sources, unless it is marked already. */
export function markIn(output: Segment, source: Part, row: number): void {
  const at = output.liveRow(source.idAt(row));
  if (at >= 0) output.markEnd(at, source.endOp(row));
}

/** Does all of it. */
export function atOnce<T>(work: Generator<void, T>): T {
  let step = work.next();
  while (step.done !== true) step = work.next();
  return step.value;
}
