/**
 * ADD COLUMN beside open writers of the table: which new definitions leave every row as it is but for values in
 * columns that come. `catch_up.ts` has what uncommitted rows get there.
 *
 * Invariant: added columns come last, so a position in a row of the old definition is the same in the new one.
 */
import type { Catalog } from "../catalog/catalog.ts";
import type { IndexDefinition, TableDefinition } from "../catalog/definitions.ts";
import { encodeCanonicalJson } from "../operations/canonical_json.ts";

/**
 * Whether a table only gets columns, and indexes and constraints in which one of them takes part. Whoever makes the
 * definition has shown that the committed rows satisfy these; those who have uncommitted rows look at them when they
 * commit.
 */
export function onlyAddsColumns(before: TableDefinition | undefined, after: TableDefinition): boolean {
  if (before === undefined) return false;
  const added = after.columns.slice(before.columns.length);
  // Hidden columns hold the expressions of an index over columns that were there.
  if (added.some((each) => each.hidden)) return false;
  const isNew = (ids: readonly number[]): boolean => ids.some((id) => added.some((each) => each.id === id));
  const isNewIndex = ({ columns, predicateText }: IndexDefinition): boolean =>
    predicateText === null && isNew(columns.map((each) => each.columnId));
  const kept: TableDefinition = {
    ...after,
    columns: after.columns.slice(0, before.columns.length),
    nextColumnId: before.nextColumnId,
    constraints: after.constraints.filter((each) => !isNew(each.columns)),
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
