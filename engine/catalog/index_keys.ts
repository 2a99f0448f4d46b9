/**
 * Keys of indexes as users see them, and which rows a unique index speaks of.
 *
 * The key of an index over an expression is a hidden generated column. A unique index with a predicate has one more
 * key part than the user wrote: a hidden column, the *mask*, that is true in rows that satisfy the predicate and NULL
 * in all others. All rows are in the index; those whose mask is NULL are no duplicates of anything.
 */
import type { StoredValue } from "../types/stored_value.ts";
import type { ColumnDefinition, IndexColumn, IndexDefinition, TableDefinition } from "./definitions.ts";

/** The parts of the key that the user wrote. */
export function visibleKey(index: IndexDefinition): readonly IndexColumn[] {
  return hasMask(index) ? index.columns.slice(0, -1) : index.columns;
}

/** Whether the last part of the key is a mask. */
export function hasMask(index: IndexDefinition): boolean {
  return index.unique && index.predicateText !== null;
}

/** Whether a unique index allows only one row with this (whole) key. */
export function forbidsDuplicates(index: IndexDefinition, key: readonly StoredValue[]): boolean {
  if (hasMask(index) && (key.at(-1) ?? null) === null) return false;
  return index.nullsNotDistinct || !key.includes(null);
}

/** A column in messages about keys: its name, or the expression behind it in parentheses unless it is a call. */
export function keyName(column: ColumnDefinition): string {
  if (!column.hidden || column.generatedText === null) return column.name;
  const text = column.generatedText;
  return /^[a-z_][a-z0-9_]*\(.*\)$/.test(text) ? text : `(${text})`;
}

/** A table without hidden columns that no index needs any more. */
export function withoutUnusedKeys(table: TableDefinition): TableDefinition {
  const used = new Set(table.indexes.flatMap((index) => index.columns.map((part) => part.columnId)));
  if (!table.columns.some((column) => column.hidden && !used.has(column.id))) return table;
  return { ...table, columns: table.columns.filter((column) => !column.hidden || used.has(column.id)) };
}
