/** Which shards are asked for what: for the rows of a fragment, for what is fetched, and what was read where. */
import type { Catalog } from "../catalog/catalog.ts";
import type { RowId } from "../operations/effect.ts";
import type { Fragment, FragmentPoint } from "../sql/plan/plan.ts";
import type { ReadPredicate } from "../transactions/read_set.ts";
import type { Transaction } from "../transactions/transaction.ts";
import { toStored } from "../types/stored_value.ts";
import type { SqlValue } from "../types/value.ts";
import type { Branch } from "./branch.ts";
import { RowPlaces } from "./row_places.ts";
import type { Point } from "./points.ts";
import type { BulkWanted } from "./shard_messages.ts";

/** Where a fragment runs; see `GatherExplanation`. */
interface Route {
  readonly shards: number[];
  readonly route: string | null;
}

/** Who has read something. */
export interface Reader {
  readonly transaction: Transaction;
  readonly branch: Branch | undefined;
  /** Whether no committed row of the table has the id or a higher one. */
  isAboveAll(tableId: number, id: RowId): boolean;
}

/** See the file's head. */
export class Routes {
  readonly #catalog: () => Catalog;
  readonly #count: number;
  readonly #all: number[];

  /** `catalog`: the committed one. */
  constructor(catalog: () => Catalog, count: number) {
    this.#catalog = catalog;
    this.#count = count;
    this.#all = Array.from({ length: count }, (_, shard) => shard);
  }

  /** Where the committed rows of a table are; null: there is no such table. */
  placesOf(tableId: number): RowPlaces | null {
    const table = this.#catalog().table(tableId);
    return table === undefined ? null : RowPlaces.of(table, this.#count);
  }

  /** The shards that can have rows that a fragment looks at, and what says so. */
  ofFragment(
    branch: Pick<Branch, "copyAt">,
    { points, tableIds }: Fragment,
    parameters: readonly SqlValue[],
  ): Route {
    let isCopied = true;
    for (const tableId of tableIds) isCopied &&= this.placesOf(tableId)?.isCopied === true;
    if (isCopied) return { shards: [branch.copyAt(this.#count)], route: "copy" };
    for (const point of points) {
      const shard = this.#shardOfPoint(point, parameters);
      if (shard === null) continue;
      if (point.columnId === null) return { shards: [shard], route: "key" };
      const column = this.#catalog().table(point.tableId)?.columns.find(({ id }) => id === point.columnId);
      return { shards: [shard], route: column?.name ?? "key" };
    }
    return { shards: this.#all, route: null };
  }

  /** The shard of the rows of a point; null: they may be at any. */
  #shardOfPoint(
    { tableId, columnId, type, value }: FragmentPoint,
    parameters: readonly SqlValue[],
  ): number | null {
    const places = this.placesOf(tableId);
    const { placement } = places ?? {};
    const says = placement?.kind === "id" ? columnId === null : placement?.kind === "column" &&
      columnId === placement.columnId;
    if (places === null || !says) return null;
    const wanted = valueOf(value, parameters);
    if (wanted === undefined) return null;
    // No row is equal to NULL.
    if (wanted === null) return 0;
    const stored = toStored(type, wanted);
    if (columnId !== null) return places.ofValue(stored);
    return typeof stored === "number" || typeof stored === "bigint" ? places.ofId(stored) : 0;
  }

  /** The row id that a point says; null: it says none. */
  idOf({ columnId, type, value }: FragmentPoint, parameters: readonly SqlValue[]): RowId | null {
    if (columnId !== null) return null;
    const wanted = valueOf(value, parameters) ?? null;
    const stored = wanted === null ? null : toStored(type, wanted);
    return typeof stored === "number" || typeof stored === "bigint" ? stored : null;
  }

  /** The shards that can have rows that are to be fetched. */
  ofFetch(branch: Branch, tableId: number, wanted: BulkWanted): readonly number[] {
    return this.#ofWanted(branch, tableId, (places) => this.#shardOfBulk(places, tableId, wanted));
  }

  /** The same of a single thing. */
  ofPoint(branch: Pick<Branch, "copyAt">, tableId: number, point: Point): readonly number[] {
    return this.#ofWanted(branch, tableId, (places) => {
      if (point.kind === "id") return places.ofId(point.id);
      if (point.indexId === null) return null;
      const columns = this.#keyColumns(tableId, point.indexId);
      return places.ofKeys(columns, point.kind === "lookup" ? { prefix: point.key } : point.bounds);
    });
  }

  #ofWanted(
    branch: Pick<Branch, "copyAt">,
    tableId: number,
    shardOf: (places: RowPlaces) => number | null,
  ): readonly number[] {
    const places = this.placesOf(tableId);
    if (places === null) return this.#all;
    if (places.isCopied) return [branch.copyAt(this.#count)];
    const shard = shardOf(places);
    return shard === null ? this.#all : [shard];
  }

  #shardOfBulk(places: RowPlaces, tableId: number, wanted: BulkWanted): number | null {
    switch (wanted.kind) {
      case "scan":
        return places.ofScan(wanted.prune);
      case "range":
        return places.ofKeys(this.#keyColumns(tableId, wanted.indexId), wanted.bounds);
      case "id_range":
      case "count":
        return null;
    }
  }

  #keyColumns(tableId: number, indexId: number): number[] {
    const index = this.#catalog().table(tableId)?.indexes.find(({ id }) => id === indexId);
    return index?.columns.map(({ columnId }) => columnId) ?? [];
  }

  /** The shard that can tell of all that changes what was read; null: each of them may. */
  ofRead(
    { transaction, branch, isAboveAll }: Reader,
    read: ReadPredicate,
  ): number | null {
    const places = this.placesOf(read.tableId);
    if (places === null) return null;
    if (places.isCopied) return branch?.copyAt(this.#count) ?? 0;
    switch (read.kind) {
      case "scan":
        return places.ofScan(read.prune);
      case "index":
        return places.ofKeys(read.columnIds, read.bounds);
      case "id_range":
        return null;
      case "id": {
        const { tableId, id } = read;
        const known = places.ofId(id) ?? branch?.homeOf(tableId, id);
        if (known !== undefined) return known;
        // Nobody else can have given the id to a row: it is new, and locked.
        const own = transaction.writtenTo(tableId)?.byId.get(id)?.values;
        return own !== undefined && own !== null && isAboveAll(tableId, id) ? places.ofRow(id, own) : null;
      }
    }
  }
}

/** The value of a point; undefined: it is not known. */
function valueOf(value: FragmentPoint["value"], parameters: readonly SqlValue[]): SqlValue | undefined {
  // What is computed before the fragment runs is not known to EXPLAIN.
  if (value.kind === "parameter") return parameters[value.index];
  return value.kind === "constant" ? value.value : undefined;
}
