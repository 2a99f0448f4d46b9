/** Divides what a transaction has done between the router and the shards. */
import { isTemporarySchema } from "../catalog/temporary_schema.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogChange } from "../catalog/catalog_change.ts";
import type { Effect, RowBatch, RowId } from "../operations/effect.ts";
import { assert, assertDefined } from "../base/assert.ts";
import { batchValue } from "../transactions/batch_values.ts";
import { pickRows } from "./row_parts.ts";
import { RowPlaces } from "./row_places.ts";

/** A transaction's effects by where they happen. */
export interface Divided {
  readonly here: readonly Effect[];
  readonly byShard: ReadonlyMap<number, readonly Effect[]>;
  /** Whether shards get definitions of tables. */
  readonly defines: boolean;
}

/** Whether the rows of a table are at shards: those of temporary tables stay with the session. */
export function isAtShards(catalog: Catalog, tableId: number): boolean {
  const table = catalog.table(tableId);
  return table !== undefined && !isTemporarySchema(table.schema);
}

/** What a transaction's effects are divided by. */
export interface DividedBy {
  /** The committed catalog. */
  readonly before: Catalog;
  /** With the transaction's own changes. */
  readonly after: Catalog;
  readonly count: number;
  /** The shard that has a committed row whose id does not say so. */
  homeOf(tableId: number, id: RowId): number;
}

/** See the file's head. */
export function divide(effects: readonly Effect[], { before, after, count, homeOf }: DividedBy): Divided {
  const here: Effect[] = [];
  const byShard = new Map<number, Effect[]>();
  const give = (shard: number, effect: Effect): void => {
    const list = byShard.get(shard);
    if (list === undefined) byShard.set(shard, [effect]);
    else list.push(effect);
  };
  const giveAll = (effect: Effect): void => {
    for (let shard = 0; shard < count; shard++) give(shard, effect);
  };
  const isRemote = (tableId: number): boolean => isAtShards(after, tableId) || isAtShards(before, tableId);
  const placesIn = (catalog: Catalog, tableId: number): RowPlaces | null => {
    const table = catalog.table(tableId);
    return table === undefined ? null : RowPlaces.of(table, count);
  };
  const newPlaces = (tableId: number): RowPlaces =>
    assertDefined(placesIn(after, tableId) ?? placesIn(before, tableId), `table ${tableId}`);
  /** Where a committed row is; null: everywhere. */
  const placeOf = (tableId: number, id: RowId): number | null => {
    const places = placesIn(before, tableId) ?? newPlaces(tableId);
    return places.isCopied ? null : places.ofId(id) ?? homeOf(tableId, id);
  };
  const giveTo = (shard: number | null, effect: Effect): void =>
    shard === null ? giveAll(effect) : give(shard, effect);
  let defines = false;
  for (const effect of effects) {
    switch (effect.kind) {
      case "ddl":
        here.push(effect);
        if (concernsRows(effect.change, isRemote)) {
          defines = true;
          giveAll(effect);
        }
        break;
      case "create":
        if (!isRemote(effect.tableId)) here.push(effect);
        else giveTo(newPlaces(effect.tableId).ofRow(effect.id, effect.values), effect);
        break;
      case "update": {
        const { tableId, id, values } = effect;
        if (!isRemote(tableId)) {
          here.push(effect);
          break;
        }
        const from = placeOf(tableId, id), to = newPlaces(tableId).ofRow(id, values);
        if (from === to) giveTo(to, effect);
        else {
          for (let shard = 0; shard < count; shard++) {
            const was = from === null || from === shard, is = to === null || to === shard;
            if (was) give(shard, is ? effect : { kind: "delete", tableId, id });
            else if (is) give(shard, { ...effect, kind: "create" });
          }
        }
        break;
      }
      case "delete":
        if (isRemote(effect.tableId)) giveTo(placeOf(effect.tableId, effect.id), effect);
        else here.push(effect);
        break;
      case "delete_batch":
      case "update_batch":
        assert(!isRemote(effect.tableId), "rows at shards are changed one by one");
        here.push(effect);
        break;
      case "create_batch":
        if (!isRemote(effect.tableId)) here.push(effect);
        else if (newPlaces(effect.tableId).isCopied) giveAll(effect);
        else {
          for (const [shard, batch] of divideBatch(newPlaces(effect.tableId), effect.batch)) {
            give(shard, { ...effect, batch });
          }
        }
        break;
      case "truncate":
        if (isRemote(effect.tableId)) giveAll(effect);
        else here.push(effect);
        break;
      case "sequence":
      case "checkpoint":
      case "slices":
      case "stage":
      case "staged":
      case "unstage":
        here.push(effect);
        break;
    }
  }
  return { here, byShard, defines };
}

function concernsRows(change: CatalogChange, isRemote: (tableId: number) => boolean): boolean {
  if (change.kind === "put_table") return !isTemporarySchema(change.table.schema);
  return change.kind === "drop_table" && isRemote(change.tableId);
}

/** The rows of a batch by the shard that each is to lie at. */
function divideBatch(places: RowPlaces, batch: RowBatch): Map<number, RowBatch> {
  const rows = new Map<number, number[]>();
  for (let row = 0; row < batch.rowCount; row++) {
    const shard = places.ofId(batch.ids[row] as number) ??
      places.ofValue(batchValue(batch, row, places.position));
    const list = rows.get(shard);
    if (list === undefined) rows.set(shard, [row]);
    else list.push(row);
  }
  return new Map([...rows].map(([shard, list]) => [shard, pickRows(batch, list)]));
}
