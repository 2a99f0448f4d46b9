/**
 * Which segments to merge: size-tiered, a function of the live rows of the segments alone, so that every node decides
 * alike.
 *
 * Segments collect until there are more than {@link KEPT_SEGMENTS}; then the smallest are merged, together with every
 * next larger one that is at most twice as large as what is merged already. A row is thus rewritten only when its
 * segment grows by a factor, which keeps the write amplification logarithmic. A segment of which more than half has
 * ended is rewritten alone when nothing else is due. Together with a frozen delta and the inputs of a merge under way
 * a point read probes at most KEPT_SEGMENTS + 3 parts besides the current delta.
 */
import { assert } from "../../base/assert.ts";
import { LIMITS } from "../../base/limits.ts";
import { BLOCK_ROWS } from "../access/block.ts";

/** Segments that a table keeps when nothing is under way. */
export const KEPT_SEGMENTS = 5;

/** More segments than this are not merged at once: each is open, and a byte tells them apart. */
const MERGED_SEGMENTS = 128;

assert(
  KEPT_SEGMENTS + 3 <= LIMITS.maximumProbedSegments,
  "a point read probes at most the promised segments",
);

/** A segment, or one that work already under way will have made. */
export interface MergeCandidate {
  readonly key: string;
  readonly rows: number;
  readonly liveRows: number;
}

/** The keys of the segments to merge, or null. */
export function planMerge(candidates: readonly MergeCandidate[]): readonly string[] | null {
  const sorted = [...candidates].sort((left, right) =>
    left.liveRows - right.liveRows || (left.key < right.key ? -1 : 1)
  );
  if (sorted.length > KEPT_SEGMENTS) {
    const chosen: MergeCandidate[] = [];
    let sum = 0;
    for (const candidate of sorted) {
      if (chosen.length >= 2 && candidate.liveRows > 2 * sum || chosen.length === MERGED_SEGMENTS) break;
      chosen.push(candidate);
      sum += candidate.liveRows;
    }
    return chosen.map((candidate) => candidate.key);
  }
  for (const candidate of sorted) {
    if (candidate.rows >= BLOCK_ROWS && candidate.liveRows * 2 < candidate.rows) return [candidate.key];
  }
  return null;
}
