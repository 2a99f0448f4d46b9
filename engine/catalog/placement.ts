/**
 * Where the rows of a table lie among shards, as its definition says: by row id, by the value of a column, or all of
 * them at each shard. Which shard that is for a number of shards is said by `engine/sharding/shard_map.ts`.
 *
 * Rows of several tables lie together when their columns are hashed with the id of one table, the *root*, and equal
 * values hash alike: the types are of one *family*.
 */
import { isIntegerKind } from "../types/number_or_bigint.ts";
import { storageClassOf } from "../types/physical_type.ts";
import type { SqlType } from "../types/sql_type.ts";
import type { ShardBy, TableDefinition } from "./definitions.ts";

/** See the file's head. */
export type Placement =
  | { readonly kind: "all" }
  /** By row id; `rootId` is the table's own unless the row-id column is the one that it is sharded by. */
  | { readonly kind: "id"; readonly rootId: number }
  | { readonly kind: "column"; readonly rootId: number; readonly columnId: number; readonly type: SqlType };

/** Where the rows of a table lie. */
export function placementOf(table: TableDefinition): Placement {
  const { shardBy, rowIdColumn } = table;
  if (shardBy === undefined) return { kind: "id", rootId: table.id };
  if (shardBy.kind === "all") return shardBy;
  const { columnId, rootId } = shardBy;
  if (columnId === rowIdColumn) return { kind: "id", rootId };
  const column = table.columns.find(({ id }) => id === columnId);
  return column === undefined
    ? { kind: "id", rootId: table.id }
    : { kind: "column", rootId, columnId, type: column.type };
}

/** The column whose value says where a row lies, and what it is hashed with; null: there is none. */
export function shardKey(
  table: TableDefinition,
): { readonly columnId: number; readonly rootId: number; readonly family: string } | null {
  const placement = placementOf(table);
  if (placement.kind === "all") return null;
  const { rootId } = placement;
  if (placement.kind === "column") {
    return { columnId: placement.columnId, rootId, family: hashFamily(placement.type) };
  }
  return table.rowIdColumn === null ? null : { columnId: table.rowIdColumn, rootId, family: "integer" };
}

/** Whether rows have to move when a table gets another definition. */
export function movesRows(before: TableDefinition, after: TableDefinition): boolean {
  const from = placementOf(before), to = placementOf(after);
  if (from.kind === "all" || to.kind === "all") return from.kind !== to.kind;
  if (from.rootId !== to.rootId) return true;
  if (from.kind === "id" && to.kind === "id") return false;
  // A row id is the value of its column.
  const a = shardColumn(before), b = shardColumn(after);
  return a === null || b === null || a.columnId !== b.columnId || a.family !== b.family;
}

function shardColumn({ shardBy, columns }: TableDefinition): { columnId: number; family: string } | null {
  if (shardBy?.kind !== "column") return null;
  const column = columns.find(({ id }) => id === shardBy.columnId);
  return column === undefined ? null : { columnId: column.id, family: hashFamily(column.type) };
}

/** SHARD BY a column, beside the rows that it refers to by a foreign key where that can be. */
export function shardByColumn(
  table: TableDefinition,
  columnId: number,
  tableOf: (id: number) => TableDefinition | undefined,
): ShardBy {
  const type = table.columns.find(({ id }) => id === columnId)?.type;
  for (const constraint of table.constraints) {
    if (constraint.kind !== "foreign_key" || type === undefined) continue;
    if (constraint.referencedTableId === table.id) continue;
    const parent = tableOf(constraint.referencedTableId);
    const key = parent === undefined ? null : shardKey(parent);
    const referenced = constraint.referencedColumns[constraint.columns.indexOf(columnId)];
    if (key === null || key.columnId !== referenced || key.family !== hashFamily(type)) continue;
    return { kind: "column", columnId, rootId: key.rootId };
  }
  return { kind: "column", columnId, rootId: table.id };
}

/** Types with the same text have the same hash for equal values. */
function hashFamily(type: SqlType): string {
  if (isIntegerKind(type.kind) && type.kind !== "oid") return "integer";
  switch (type.kind) {
    case "text":
    case "varchar":
    case "name":
      return "text";
    case "numeric":
      return storageClassOf(type) === "int" ? `numeric with scale ${type.scale}` : "numeric";
    case "time":
    case "timestamp":
    case "timestamptz":
    case "interval":
    case "char":
      return type.kind;
    default:
      return JSON.stringify(type);
  }
}
