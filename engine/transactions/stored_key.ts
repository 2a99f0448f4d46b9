/**
 * Equality and order of index keys over stored values, as SQL has them. Storage classes int, float and text compare
 * directly; the `bytes` class holds encoded values (except for bytea itself) that are decoded first.
 */
import type { ColumnDefinition, IndexDefinition, TableDefinition } from "../catalog/definitions.ts";
import { columnPosition } from "../catalog/catalog.ts";
import type { StoredRow, StoredValue } from "../operations/effect.ts";
import { compareValues, hashKey } from "../types/compare.ts";
import { storageClassOf } from "../types/physical_type.ts";
import { fromStored } from "../types/stored_value.ts";
import { compareStored } from "./read_set.ts";

/** Whether stored values of the column compare as they are. */
export function comparesDirectly(column: ColumnDefinition): boolean {
  return storageClassOf(column.type) !== "bytes" || column.type.kind === "bytea" ||
    column.type.kind === "bytes";
}

/** The columns of an index, in key order. */
export function keyColumns(table: TableDefinition, index: IndexDefinition): readonly ColumnDefinition[] {
  return index.columns.map((part) => table.columns[columnPosition(table, part.columnId)] as ColumnDefinition);
}

/** The key of a row, cut to `length` parts. */
export function keyOf(
  table: TableDefinition,
  index: IndexDefinition,
  row: StoredRow,
  length: number,
): StoredValue[] {
  const key: StoredValue[] = [];
  for (let part = 0; part < length; part++) {
    const column = index.columns[part];
    if (column !== undefined) key.push(row[columnPosition(table, column.columnId)] ?? null);
  }
  return key;
}

/** A string that is equal for keys that are equal in SQL (NULL equals NULL here), different otherwise. */
export function keyText(columns: readonly ColumnDefinition[], key: readonly StoredValue[]): string {
  let text = "";
  for (let part = 0; part < key.length; part++) {
    const value = key[part] ?? null;
    const column = columns[part] as ColumnDefinition;
    if (value === null) text += "~";
    else if (typeof value === "string") text += `s${value.length}:${value}`;
    else if (typeof value === "number") text += `n${value + 0};`;
    else if (typeof value === "bigint") text += `n${value};`;
    else if (comparesDirectly(column)) {
      text += `b${value.length}:${Array.from(value, (byte) => String.fromCharCode(byte)).join("")}`;
    } else {
      const hashed = String(hashKey(column.type, fromStored(column.type, value)));
      text += `h${hashed.length}:${hashed}`;
    }
  }
  return text;
}

/** Order of two keys in index order: descending parts and the place of NULLs are respected. */
export function compareKeys(
  table: TableDefinition,
  index: IndexDefinition,
  left: readonly StoredValue[],
  right: readonly StoredValue[],
): number {
  const columns = keyColumns(table, index);
  for (const [part, description] of index.columns.entries()) {
    const a = left[part] ?? null, b = right[part] ?? null;
    if (a === null || b === null) {
      if (a === b) continue;
      return (a === null) === description.nullsFirst ? -1 : 1;
    }
    const column = columns[part] as ColumnDefinition;
    const order = compareColumnValues(column, a, b);
    if (order !== 0) return description.descending ? -order : order;
  }
  return 0;
}

/** Order of two non-null stored values of a column. */
export function compareColumnValues(column: ColumnDefinition, left: StoredValue, right: StoredValue): number {
  if (comparesDirectly(column)) return compareStored(left, right);
  return compareValues(column.type, fromStored(column.type, left), fromStored(column.type, right));
}
