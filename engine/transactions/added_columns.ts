/**
 * ADD COLUMN beside open writers of the table: which new definitions leave every row as it is but for columns that
 * hold one known value, and what it costs to bring uncommitted rows to such a definition.
 *
 * Invariant: added columns come last, so a position in a row of the old definition is the same in the new one.
 */
import type { Catalog } from "../catalog/catalog.ts";
import type {
  ColumnDefinition,
  ConstraintDefinition,
  IndexDefinition,
  TableDefinition,
} from "../catalog/definitions.ts";
import { encodeCanonicalJson } from "../operations/canonical_json.ts";
import type { RowBatch, StoredRow } from "../operations/effect.ts";
import { storageClassOf } from "../types/physical_type.ts";
import { constantColumn } from "./batch_values.ts";
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

/** By the newer and the older catalog: whether plans that write to a table are still right. */
const judged = new WeakMap<Catalog, WeakMap<Catalog, Map<number, boolean>>>();

/**
 * Whether a statement that was compiled for one catalog may go on writing to a table under a newer one: the table has
 * got columns at most, and no foreign key refers to it that did not before.
 */
export function mayGoOn(compiled: Catalog, now: Catalog, tableId: number): boolean {
  let byCompiled = judged.get(now);
  if (byCompiled === undefined) judged.set(now, byCompiled = new WeakMap());
  let byTable = byCompiled.get(compiled);
  if (byTable === undefined) byCompiled.set(compiled, byTable = new Map());
  let result = byTable.get(tableId);
  if (result === undefined) byTable.set(tableId, result = judge(compiled, now, tableId));
  return result;
}

function judge(compiled: Catalog, now: Catalog, tableId: number): boolean {
  const before = compiled.table(tableId), after = now.table(tableId);
  if (before === undefined) return true;
  const children = now.referencing(tableId), known = compiled.referencing(tableId);
  if (children.length !== known.length || children.some((each, at) => each !== known[at])) return false;
  return before === after || (after !== undefined && onlyAddsColumns(before, after));
}

/** The row with the missing values of the columns that it does not have yet. */
export function widenedRow(values: StoredRow, columns: readonly ColumnDefinition[]): StoredRow {
  if (values.length >= columns.length) return values;
  return [...values, ...columns.slice(values.length).map((column) => column.missingValue)];
}

/** The same for the rows of a batch. */
export function widenedBatch(batch: RowBatch, columns: readonly ColumnDefinition[]): RowBatch {
  if (batch.columns.length >= columns.length) return batch;
  const added = columns.slice(batch.columns.length).map(({ type, missingValue }) =>
    constantColumn(storageClassOf(type), missingValue, batch.rowCount)
  );
  return { ...batch, columns: [...batch.columns, ...added] };
}

/** What one row counts when columns are added to it: 1, and more when the values are long. */
export function wideningCost(added: readonly ColumnDefinition[]): number {
  return 1 + Math.floor(rowBytes(added.map((column) => column.missingValue)) / PIECE_BYTES);
}
