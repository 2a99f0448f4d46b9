/** Divides what a transaction has done between the router and the shards. */
import { isTemporarySchema } from "../catalog/temporary_schema.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogChange } from "../catalog/catalog_change.ts";
import type { Effect, RowBatch } from "../operations/effect.ts";
import { pickRows } from "./row_parts.ts";
import { shardOf } from "./shard_map.ts";

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

/** `before`: the committed catalog, `after`: with the transaction's own changes. */
export function divide(
  effects: readonly Effect[],
  catalogs: { readonly before: Catalog; readonly after: Catalog },
  count: number,
): Divided {
  const { before, after } = catalogs;
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
      case "update":
      case "delete":
        if (isRemote(effect.tableId)) give(shardOf(effect.tableId, effect.id, count), effect);
        else here.push(effect);
        break;
      case "create_batch":
        if (!isRemote(effect.tableId)) here.push(effect);
        else {
          for (const [shard, batch] of divideBatch(effect.tableId, effect.batch, count)) {
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

function divideBatch(tableId: number, batch: RowBatch, count: number): Map<number, RowBatch> {
  const rows = new Map<number, number[]>();
  for (let row = 0; row < batch.rowCount; row++) {
    const shard = shardOf(tableId, batch.ids[row] as number, count);
    const list = rows.get(shard);
    if (list === undefined) rows.set(shard, [row]);
    else list.push(row);
  }
  return new Map([...rows].map(([shard, list]) => [shard, pickRows(batch, list)]));
}
