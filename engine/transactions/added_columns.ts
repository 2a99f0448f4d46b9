/**
 * ADD COLUMN beside open writers of the table: which new definitions leave every row as it is but for columns that
 * hold one known value, and what it costs to bring uncommitted rows to such a definition.
 *
 * Invariant: added columns come last, so a position in a row of the old definition is the same in the new one.
 */
import type {
  ColumnDefinition,
  ConstraintDefinition,
  IndexDefinition,
  TableDefinition,
} from "../catalog/definitions.ts";
import { encodeCanonicalJson } from "../operations/canonical_json.ts";
import type { StoredRow } from "../operations/effect.ts";
import { rowBytes } from "./write_set.ts";

/** Values count as one more row for so many bytes. */
const PIECE_BYTES = 1024;

/**
 * Whether a table only gets columns that the rows which are there may hold, each with its missing value, and indexes
 * and constraints of these columns alone. Whoever makes the definition has shown that missing values satisfy them, or
 * looks at the rows.
 */
export function onlyAddsColumns(before: TableDefinition | undefined, after: TableDefinition): boolean {
  if (before === undefined) return false;
  const added = after.columns.slice(before.columns.length);
  const canBeMissing = ({ generatedText, notNull, missingValue }: ColumnDefinition): boolean =>
    generatedText === null && !(notNull && missingValue === null);
  if (!added.every(canBeMissing)) return false;
  const areAdded = (ids: readonly number[]): boolean =>
    ids.length > 0 && ids.every((id) => added.some((each) => each.id === id));
  const isNewConstraint = (each: ConstraintDefinition): boolean =>
    each.kind !== "primary_key" && areAdded(each.columns);
  const isNewIndex = ({ columns, includes, predicateText }: IndexDefinition): boolean =>
    predicateText === null && areAdded([...columns.map((each) => each.columnId), ...includes]);
  const kept: TableDefinition = {
    ...after,
    columns: after.columns.slice(0, before.columns.length),
    nextColumnId: before.nextColumnId,
    constraints: after.constraints.filter((each) => !isNewConstraint(each)),
    indexes: after.indexes.filter((each) => !isNewIndex(each)),
  };
  return encodeCanonicalJson(kept) === encodeCanonicalJson(before);
}

/** The tables that foreign keys refer to which are new in a definition. */
export function newParents(before: TableDefinition | undefined, after: TableDefinition): number[] {
  return after.constraints.flatMap((each) =>
    each.kind === "foreign_key" && !before?.constraints.some(({ id }) => id === each.id)
      ? [each.referencedTableId]
      : []
  );
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
