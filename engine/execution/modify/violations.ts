/**
 * The errors of constraints, worded as PostgreSQL words them. Rows come in stored form, in the order of the table's
 * columns; hidden columns are not shown.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { keyName } from "../../catalog/index_keys.ts";
import type { ColumnDefinition, TableDefinition } from "../../catalog/definitions.ts";
import type { StoredRow, StoredValue } from "../../operations/effect.ts";
import { fromStored } from "../../types/stored_value.ts";
import { formatText } from "../../types/text_io.ts";

/** Longest text of one value in a detail line, in characters. */
const MAX_SHOWN_VALUE_LENGTH = 64;

/** The text of a stored value in a detail line. */
export function shownValue(column: ColumnDefinition, stored: StoredValue): string {
  const value = fromStored(column.type, stored);
  return value === null ? "null" : formatText(column.type, value);
}

/** `Failing row contains (1, null, abc).` */
export function failingRow(table: TableDefinition, row: StoredRow): string {
  const shown: string[] = [];
  for (const [position, column] of table.columns.entries()) {
    if (column.hidden) continue;
    const text = shownValue(column, row[position] ?? null);
    shown.push(text.length > MAX_SHOWN_VALUE_LENGTH ? `${text.slice(0, MAX_SHOWN_VALUE_LENGTH)}...` : text);
  }
  return `Failing row contains (${shown.join(", ")}).`;
}

/** 23502: a NULL in a NOT NULL column. */
export function notNullViolation(table: TableDefinition, position: number, row: StoredRow): DatabaseError {
  const column = table.columns[position]?.name ?? "";
  return new DatabaseError(
    SQLSTATE.notNullViolation,
    `null value in column "${column}" of relation "${table.name}" violates not-null constraint`,
    { detail: failingRow(table, row), schema: table.schema, table: table.name, column },
  );
}

/** 23514: a CHECK constraint is false. */
export function checkViolation(table: TableDefinition, constraint: string, row: StoredRow): DatabaseError {
  return new DatabaseError(
    SQLSTATE.checkViolation,
    `new row for relation "${table.name}" violates check constraint "${constraint}"`,
    { detail: failingRow(table, row), schema: table.schema, table: table.name, constraint },
  );
}

/** `Key (a, b)=(1, x)`. */
export function shownKey(columns: readonly ColumnDefinition[], key: readonly StoredValue[]): string {
  const names = columns.map(keyName).join(", ");
  const values = columns.map((column, part) => shownValue(column, key[part] ?? null)).join(", ");
  return `Key (${names})=(${values})`;
}

/** 23503: the row that a foreign key references is not there. `columns` and `key` are the referencing table's. */
export function missingParent(
  child: TableDefinition,
  constraint: string,
  parent: TableDefinition,
  columns: readonly ColumnDefinition[],
  key: readonly StoredValue[],
): DatabaseError {
  return new DatabaseError(
    SQLSTATE.foreignKeyViolation,
    `insert or update on table "${child.name}" violates foreign key constraint "${constraint}"`,
    {
      detail: `${shownKey(columns, key)} is not present in table "${parent.name}".`,
      schema: child.schema,
      table: child.name,
      constraint,
    },
  );
}

/** 23503: MATCH FULL with some but not all columns NULL. */
export function mixedNulls(child: TableDefinition, constraint: string): DatabaseError {
  return new DatabaseError(
    SQLSTATE.foreignKeyViolation,
    `insert or update on table "${child.name}" violates foreign key constraint "${constraint}"`,
    {
      detail: "MATCH FULL does not allow mixing of null and nonnull key values.",
      schema: child.schema,
      table: child.name,
      constraint,
    },
  );
}

/**
 * 23503: a row that is still referenced was deleted or got another key. `columns` and `key` are the referenced
 * table's.
 */
export function stillReferenced(
  parent: TableDefinition,
  constraint: string,
  child: TableDefinition,
  columns: readonly ColumnDefinition[],
  key: readonly StoredValue[],
): DatabaseError {
  return new DatabaseError(
    SQLSTATE.foreignKeyViolation,
    `update or delete on table "${parent.name}" violates foreign key constraint "${constraint}" on table "${child.name}"`,
    {
      detail: `${shownKey(columns, key)} is still referenced from table "${child.name}".`,
      schema: child.schema,
      table: child.name,
      constraint,
    },
  );
}

/** 23505: a row id that exists already. */
export function duplicateRowId(table: TableDefinition, id: number | bigint): DatabaseError {
  const primaryKey = table.constraints.find((constraint) => constraint.kind === "primary_key");
  const column = table.columns.find((each) => each.id === table.rowIdColumn);
  const constraint = primaryKey?.name ?? `${table.name}_id`;
  return new DatabaseError(
    SQLSTATE.uniqueViolation,
    `duplicate key value violates unique constraint "${constraint}"`,
    {
      detail: `Key (${column?.name ?? "rowid"})=(${id}) already exists.`,
      schema: table.schema,
      table: table.name,
      constraint,
    },
  );
}

/** 22003: a row id outside of -2^63 to 2^63-1, or one named with `ID n` below 0. */
export function rowIdOutOfRange(table: TableDefinition, id: StoredValue): DatabaseError {
  const key = table.columns.find((column) => column.id === table.rowIdColumn);
  const isNegativeKey = key !== undefined && (typeof id === "number" || typeof id === "bigint") && id < 0 &&
    id >= -(1n << 63n);
  return new DatabaseError(
    SQLSTATE.numericValueOutOfRange,
    `row id ${String(id)} of relation "${table.name}" is out of range`,
    {
      hint: isNegativeKey
        ? `ID gives ids from 0 to 9223372036854775807; write a negative key as the value of "${key.name}".`
        : "Ids that are given with ID, and those of tables without an integer primary key, go from 0 to 9223372036854775807.",
      schema: table.schema,
      table: table.name,
    },
  );
}
