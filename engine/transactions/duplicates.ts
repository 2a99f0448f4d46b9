/** The errors of ids and keys that exist already. */
import { columnPosition } from "../catalog/catalog.ts";
import type { IndexDefinition, TableDefinition } from "../catalog/definitions.ts";
import { keyName, visibleKey } from "../catalog/index_keys.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { RowId, StoredRow } from "../operations/effect.ts";
import { fromStored } from "../types/stored_value.ts";
import { formatText } from "../types/text_io.ts";
import { keyColumns } from "./stored_key.ts";

/** The 23505 error for a row id that exists. */
export function duplicateId(table: TableDefinition, id: RowId): DatabaseError {
  const primaryKey = table.constraints.find((constraint) => constraint.kind === "primary_key");
  const column = table.columns.find((each) => each.id === table.rowIdColumn);
  const name = primaryKey?.name ?? `${table.name}_id`;
  return new DatabaseError(
    SQLSTATE.uniqueViolation,
    `duplicate key value violates unique constraint "${name}"`,
    {
      detail: `Key (${column?.name ?? "rowid"})=(${id}) already exists.`,
      schema: table.schema,
      table: table.name,
      constraint: name,
    },
  );
}

/** The 23505 error for a key of a unique index. */
export function duplicateKey(
  table: TableDefinition,
  index: IndexDefinition,
  values: StoredRow,
): DatabaseError {
  const columns = keyColumns(table, index).slice(0, visibleKey(index).length);
  const texts = columns.map((column) => {
    const value = fromStored(column.type, values[columnPosition(table, column.id)] ?? null);
    return value === null ? "null" : formatText(column.type, value);
  });
  return new DatabaseError(
    SQLSTATE.uniqueViolation,
    `duplicate key value violates unique constraint "${index.name}"`,
    {
      detail: `Key (${columns.map(keyName).join(", ")})=(${texts.join(", ")}) already exists.`,
      schema: table.schema,
      table: table.name,
      constraint: index.name,
    },
  );
}
