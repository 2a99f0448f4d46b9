/**
 * What one attempt of a statement has missed. It went on as if that were not there, only to find out what else it is
 * going to miss, so that all of that can be asked for together.
 */
import type { FetchedTable } from "./fetched_table.ts";
import { type Point, pointBytes, type PointKey } from "./points.ts";

/** What is asked for together takes no more than that at the router. */
const MAX_BYTES = 32 << 20;
/**
 * How often something may be asked that has been missed: the same parent's key is looked for with each of its
 * children, but what goes on until it finds something would go on for ever.
 */
const FREE_REPEATS = 4096;

/** See the file's head. */
export class MissedPoints {
  /** How many locks the transaction had when it missed the first of them. */
  readonly locksBefore: number;
  readonly #tables = new Map<FetchedTable, Map<PointKey, Point>>();
  #count = 0;
  #repeats = 0;
  #bytes = 0;

  constructor(locksBefore: number) {
    this.locksBefore = locksBefore;
  }

  get count(): number {
    return this.#count;
  }

  /** Roughly what they take. */
  get bytes(): number {
    return this.#bytes;
  }

  /** By table. */
  get tables(): ReadonlyMap<FetchedTable, ReadonlyMap<PointKey, Point>> {
    return this.#tables;
  }

  /** false: the attempt has missed enough. */
  note(table: FetchedTable, point: Point, key: PointKey): boolean {
    let points = this.#tables.get(table);
    if (points === undefined) this.#tables.set(table, points = new Map());
    if (points.has(key)) return ++this.#repeats < FREE_REPEATS + this.#count;
    points.set(key, point);
    this.#count++;
    this.#bytes += pointBytes(point, key);
    return this.#bytes < MAX_BYTES;
  }
}
