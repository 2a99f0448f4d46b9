/**
 * Single things that are looked for in a table: rows by their ids, whole keys in an index, whether a range of an index
 * is empty. Many of them travel together.
 */
import type { RowId, StoredValue } from "../operations/effect.ts";
import { NO_ROW } from "../storage/access/block.ts";
import type { IndexBounds, LocationCursor, ReadableTable } from "../storage/access/readable_table.ts";
import { rowBytes } from "../transactions/write_set.ts";
import { readKey } from "../transactions/read_key.ts";

/** One of them. */
export type Point =
  | { readonly kind: "id"; readonly id: RowId }
  | { readonly kind: "lookup"; readonly indexId: number; readonly key: readonly StoredValue[] }
  /** One row of the range, if there is any. */
  | ({ readonly kind: "any" } & Range);

/** A range of an index, or of row ids. */
interface Range {
  readonly indexId: number | null;
  readonly bounds: IndexBounds;
}

/** What equal ones have in common; that of a row id is the id. */
export type PointKey = RowId | string;

/** Several of them. */
export interface Points {
  readonly kind: "points";
  readonly ids: readonly RowId[];
  readonly lookups: readonly {
    readonly indexId: number;
    readonly keys: readonly (readonly StoredValue[])[];
  }[];
  readonly ranges: readonly Range[];
}

/** Rough memory of one that is known, besides its key. */
const POINT_BYTES = 64;

/** The key of a point. */
export function pointKey(point: Point): PointKey {
  if (point.kind === "id") return point.id;
  if (point.kind === "any") return `any ${readKey(point)}`;
  let text = String(point.indexId);
  for (const value of point.key) {
    if (value === null) text += "|";
    else if (typeof value === "string") text += `|s${value.length}:${value}`;
    else if (value instanceof Uint8Array) text += `|x${value.toHex()}`;
    else text += typeof value === "bigint" ? `|b${value}` : `|${value}`;
  }
  return text;
}

/** Roughly the memory of a point that is asked for and known then. */
export function pointBytes(point: Point, key: PointKey): number {
  const values = point.kind === "lookup" ? 2 * rowBytes(point.key) : 0;
  return POINT_BYTES + values + (typeof key === "string" ? key.length : 0);
}

/** Points on their way to one shard. */
export class PointList {
  readonly #ids: RowId[] = [];
  readonly #lookups = new Map<number, (readonly StoredValue[])[]>();
  readonly #ranges: Range[] = [];

  add(point: Point): void {
    if (point.kind === "id") this.#ids.push(point.id);
    else if (point.kind === "any") this.#ranges.push({ indexId: point.indexId, bounds: point.bounds });
    else {
      const keys = this.#lookups.get(point.indexId);
      if (keys === undefined) this.#lookups.set(point.indexId, [point.key]);
      else keys.push(point.key);
    }
  }

  get points(): Points {
    const lookups = [...this.#lookups].map(([indexId, keys]) => ({ indexId, keys }));
    return { kind: "points", ids: this.#ids, lookups, ranges: this.#ranges };
  }
}

/** The rows that the points name, one after the other. */
export function cursorOfPoints(reader: ReadableTable, points: Points): LocationCursor {
  const locations = locationsOf(reader, points);
  return { next: () => locations.next().value ?? NO_ROW };
}

/** The rows of a range. */
export function rangeOf(
  reader: Pick<ReadableTable, "range" | "findRange">,
  indexId: number | null,
  bounds: IndexBounds,
): LocationCursor {
  return indexId === null ? reader.findRange(bounds) : reader.range(indexId, bounds);
}

function* locationsOf(reader: ReadableTable, { ids, lookups, ranges }: Points): Generator<number, undefined> {
  for (const id of ids) {
    const location = reader.find(id);
    if (location !== NO_ROW) yield location;
  }
  for (const { indexId, keys } of lookups) {
    for (const key of keys) {
      const cursor = reader.lookup(indexId, key);
      for (let at = cursor.next(); at !== NO_ROW; at = cursor.next()) yield at;
    }
  }
  for (const { indexId, bounds } of ranges) {
    const first = rangeOf(reader, indexId, bounds).next();
    if (first !== NO_ROW) yield first;
  }
}
