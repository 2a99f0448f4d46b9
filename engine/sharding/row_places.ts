/** Which of the shards have the rows of a table, as its placement says. */
import type { TableDefinition } from "../catalog/definitions.ts";
import { type Placement, placementOf } from "../catalog/placement.ts";
import type { RowId, StoredRow, StoredValue } from "../operations/effect.ts";
import type { IndexBounds, ZonePredicate } from "../storage/access/readable_table.ts";
import { shardOf, shardOfValue } from "./shard_map.ts";

const kept = new WeakMap<TableDefinition, RowPlaces>();

/** See the file's head. */
export class RowPlaces {
  readonly placement: Placement;
  /** Where the value is that says where a row lies; -1: its id does, or nothing. */
  readonly position: number;
  readonly #count: number;

  private constructor(table: TableDefinition, count: number) {
    const placement = this.placement = placementOf(table);
    this.position = placement.kind === "column"
      ? table.columns.findIndex(({ id }) => id === placement.columnId)
      : -1;
    this.#count = count;
  }

  /** The places of a table's rows among so many shards. */
  static of(table: TableDefinition, count: number): RowPlaces {
    const known = kept.get(table);
    if (known !== undefined && known.#count === count) return known;
    const places = new RowPlaces(table, count);
    kept.set(table, places);
    return places;
  }

  /** Whether each shard has all rows. */
  get isCopied(): boolean {
    return this.placement.kind === "all";
  }

  /** The shard of a row by its id alone; null: it does not say. */
  ofId(id: RowId): number | null {
    return this.placement.kind === "id" ? shardOf(this.placement.rootId, id, this.#count) : null;
  }

  /** The shard of rows with this value in the column that says where they lie. */
  ofValue(value: StoredValue): number {
    const { placement } = this;
    if (placement.kind === "column") return shardOfValue(placement, value, this.#count);
    return shardOf(placement.kind === "id" ? placement.rootId : 0, value as RowId, this.#count);
  }

  /** The shard of a row, of which there is one; null: all have it. */
  ofRow(id: RowId, values: StoredRow): number | null {
    return this.placement.kind === "column" ? this.ofValue(values[this.position] ?? null) : this.ofId(id);
  }

  /** The shard of all rows that a scan can find; null: any may have some. */
  ofScan(prune: readonly ZonePredicate[]): number | null {
    const { placement } = this;
    if (placement.kind !== "column") return null;
    for (const { columnId, operator, value } of prune) {
      if (columnId !== placement.columnId) continue;
      if (operator === "is null") return this.ofValue(null);
      if (operator === "=" && value !== null) return this.ofValue(value);
    }
    return null;
  }

  /** The same for rows whose key of an index lies within bounds. */
  ofKeys(columnIds: readonly number[], { prefix }: Pick<IndexBounds, "prefix">): number | null {
    const { placement } = this;
    if (placement.kind !== "column") return null;
    const at = columnIds.indexOf(placement.columnId);
    return at < 0 || at >= prefix.length ? null : this.ofValue(prefix[at] ?? null);
  }
}
