/**
 * SHARD BY, which is the table option `shard_by` as well, so that programs that know only options dump and load it: its
 * value is `all`, or the name of a column as in SQL.
 *
 * Rows that are sharded by a foreign key lie beside those that they refer to. So a foreign key that comes later, as in
 * dumps, moves them there.
 */
import { SQLSTATE } from "../../base/errors.ts";
import type { TableDefinition } from "../../catalog/definitions.ts";
import { shardByColumn } from "../../catalog/placement.ts";
import type { NamedOption } from "../parser/ast.ts";
import { SHARD_BY } from "../parser/shard_by.ts";
import { formatType } from "../../types/type_names.ts";
import type { DefinitionBinder } from "./definition_binder.ts";

/** The option among others; null: it is not there. */
export function shardOption(options: readonly NamedOption[]): NamedOption | null {
  return options.find(({ name }) => name === SHARD_BY) ?? null;
}

/** Raises 22023 for a table that is said twice how it is sharded. */
export function requireShardByOnce(binder: DefinitionBinder, options: readonly NamedOption[]): void {
  const [, second] = options.filter(({ name }) => name === SHARD_BY);
  if (second === undefined) return;
  throw binder.error(
    SQLSTATE.invalidParameterValue,
    `parameter "${SHARD_BY}" specified more than once`,
    second.position,
  );
}

/** The table with the placement that an option asks for. Raises 42703 and 42704. */
export function withShardBy(
  binder: DefinitionBinder,
  table: TableDefinition,
  { value, position }: NamedOption,
): TableDefinition {
  const text = value ?? "";
  if (/^all$/i.test(text)) return { ...table, shardBy: { kind: "all" } };
  const name = text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text.toLowerCase();
  const column = binder.column(table, name, position);
  requireHashable(binder, column.type, position);
  return { ...table, shardBy: shardByColumn(table, column.id, (id) => binder.catalog.table(id)) };
}

/** The table with its rows beside those that its foreign keys refer to, if it is sharded by a column of theirs. */
export function besideParents(binder: DefinitionBinder, table: TableDefinition): TableDefinition {
  const { shardBy } = table;
  if (shardBy?.kind !== "column") return table;
  const next = shardByColumn(table, shardBy.columnId, (id) => binder.catalog.table(id));
  // Without such a key they stay where they are.
  return next.kind === "column" && next.rootId !== table.id ? { ...table, shardBy: next } : table;
}

/** The table placed by row ids again. */
export function withoutShardBy({ shardBy: _, ...table }: TableDefinition): TableDefinition {
  return table;
}

/** Raises 42P16 when the table is sharded by a column that is to go. */
export function requireNoShardColumn(
  binder: DefinitionBinder,
  { name, shardBy, columns }: TableDefinition,
  columnId: number,
  position: number,
): void {
  if (shardBy?.kind !== "column" || shardBy.columnId !== columnId) return;
  const column = columns.find(({ id }) => id === columnId)?.name ?? "";
  throw binder.error(
    SQLSTATE.invalidTableDefinition,
    `cannot drop column "${column}": table "${name}" is sharded by it`,
    position,
    { hint: `Use ALTER TABLE ... SHARD BY another column, or ALTER TABLE ... RESET (${SHARD_BY}), first.` },
  );
}

/** Raises 42704 for a type whose values are not compared. */
export function requireHashable(
  binder: DefinitionBinder,
  type: TableDefinition["columns"][number]["type"],
  position: number,
): void {
  if (type.kind !== "json" && type.kind !== "jsonpath") return;
  throw binder.error(
    SQLSTATE.undefinedObject,
    `data type ${formatType(type)} has no equality, so that no table can be sharded by it`,
    position,
  );
}
