/**
 * ADD COLUMN beside open writers of the table: which new definitions leave every row as it is but for columns that
 * hold one known value, and what it costs to bring uncommitted rows to such a definition.
 *
 * Invariant: added columns come last, so a position in a row of the old definition is the same in the new one.
 */
import type { ColumnDefinition, TableDefinition } from "../catalog/definitions.ts";
import { encodeCanonicalJson } from "../operations/canonical_json.ts";
import type { StoredRow } from "../operations/effect.ts";
import { rowBytes } from "./write_set.ts";

/** Values count as one more row for so many bytes. */
const PIECE_BYTES = 1024;

/** Whether a table only gets columns that the rows which are there may hold, each with its missing value. */
export function onlyAddsColumns(before: TableDefinition | undefined, after: TableDefinition): boolean {
  if (before === undefined) return false;
  const added = after.columns.slice(before.columns.length);
  if (
    added.some(({ generatedText, notNull, missingValue }) =>
      generatedText !== null || (notNull && missingValue === null)
    )
  ) return false;
  const kept: TableDefinition = {
    ...after,
    columns: after.columns.slice(0, before.columns.length),
    nextColumnId: before.nextColumnId,
  };
  return encodeCanonicalJson(kept) === encodeCanonicalJson(before);
}

/** The row with the missing values of the columns that it does not have yet. */
export function widenedRow(values: StoredRow, columns: readonly ColumnDefinition[]): StoredRow {
  if (values.length >= columns.length) return values;
  return [...values, ...columns.slice(values.length).map((column) => column.missingValue)];
}

/** What one row counts when columns are added to it: 1, and more when the values are long. */
export function wideningCost(added: readonly ColumnDefinition[]): number {
  return 1 + Math.floor(rowBytes(added.map((column) => column.missingValue)) / PIECE_BYTES);
}
