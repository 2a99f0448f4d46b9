/**
 * Column statistics for the planner: exact or sketched ones of the segments, joined with a sample of the deltas.
 * They may be stale and are never needed for correctness.
 */
import type { StoredValue } from "../../operations/effect.ts";
import type { ColumnStatistics } from "../access/readable_table.ts";
import { estimateDistinct } from "../access/column_distribution.ts";

/** Most rows that a sample of a delta looks at. */
const SAMPLE_ROWS = 1024;

/** Rows that can be sampled. */
export interface SampledRows {
  readonly slotCount: number;
  readonly liveCount: number;
  endOp(row: number): number;
  isOccupied(row: number): boolean;
  valueAt(row: number, columnId: number): StoredValue;
}

/** Statistics of some rows, with their number. */
export interface PartStatistics extends ColumnStatistics {
  readonly rows: number;
}

/** Statistics of a column from evenly spaced rows; undefined when there are none. */
export function sampleStatistics(rows: SampledRows, columnId: number): PartStatistics | undefined {
  const step = Math.max(1, Math.floor(rows.slotCount / SAMPLE_ROWS));
  const counts = new Map<StoredValue, number>();
  let sampled = 0;
  let nulls = 0;
  let bytes = 0;
  let minimum: StoredValue = null;
  let maximum: StoredValue = null;
  let scatter = 1;
  for (let from = 0; from < rows.slotCount; from += step) {
    // One row of each stretch, not always the same one: regular data must not resonate with the step.
    scatter = (Math.imul(scatter, 1664525) + 1013904223) >>> 0;
    const row = from + Math.floor(scatter / 4294967296 * Math.min(step, rows.slotCount - from));
    if (!rows.isOccupied(row) || rows.endOp(row) !== Infinity) continue;
    sampled++;
    let value = rows.valueAt(row, columnId);
    if (value === null) {
      nulls++;
      continue;
    }
    if (value instanceof Uint8Array) {
      bytes += value.length;
      value = String.fromCharCode(...value.subarray(0, 64));
    } else {
      bytes += typeof value === "string" ? value.length : 8;
      if (minimum === null || value < minimum) minimum = value;
      if (maximum === null || value > maximum) maximum = value;
    }
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  if (sampled === 0) return undefined;
  const present = sampled - nulls;
  let once = 0;
  for (const count of counts.values()) if (count === 1) once++;
  return {
    rows: rows.liveCount,
    distinct: estimateDistinct({ found: counts.size, once }, present, rows.liveCount * (present / sampled)),
    nullFraction: nulls / sampled,
    minimum,
    maximum,
    averageBytes: present === 0 ? 0 : bytes / present,
  };
}

/** Joins the statistics of disjoint sets of rows. `distinct` of the joined sketches, when there is one, wins. */
export function joinStatistics(
  parts: readonly PartStatistics[],
  sketched: number,
): ColumnStatistics | undefined {
  let rows = 0;
  let nulls = 0;
  let bytes = 0;
  let largest = 0;
  let sum = 0;
  let unique = true;
  let minimum: StoredValue = null;
  let maximum: StoredValue = null;
  for (const part of parts) {
    const present = part.rows * (1 - part.nullFraction);
    rows += part.rows;
    nulls += part.rows * part.nullFraction;
    bytes += part.averageBytes * present;
    largest = Math.max(largest, part.distinct);
    sum += part.distinct;
    if (part.distinct < present * 0.9) unique = false;
    if (part.minimum !== null && (minimum === null || part.minimum < minimum)) minimum = part.minimum;
    if (part.maximum !== null && (maximum === null || part.maximum > maximum)) maximum = part.maximum;
  }
  if (rows === 0) return undefined;
  const present = rows - nulls;
  // Almost unique everywhere: most likely unique over all. Otherwise the parts repeat each other's values.
  const distinct = unique ? sum : Math.max(largest, sketched);
  return {
    distinct: Math.max(present > 0 ? 1 : 0, Math.min(Math.round(distinct), Math.round(present))),
    nullFraction: nulls / rows,
    minimum,
    maximum,
    averageBytes: present === 0 ? 0 : bytes / present,
  };
}
