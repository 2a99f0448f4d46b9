/** Which columns of a table foreign keys refer to: a change of them concerns the rows that refer to it. */
import { type Catalog, columnPosition } from "../catalog/catalog.ts";
import type { TableDefinition } from "../catalog/definitions.ts";

const NONE: readonly number[] = [];
const known = new WeakMap<Catalog, Map<number, readonly number[]>>();

/** Positions of the columns that foreign keys of any table refer to. */
export function referencedPositions(catalog: Catalog, table: TableDefinition): readonly number[] {
  const referencing = catalog.referencing(table.id);
  if (referencing.length === 0) return NONE;
  let ofCatalog = known.get(catalog);
  if (ofCatalog === undefined) known.set(catalog, ofCatalog = new Map());
  let positions = ofCatalog.get(table.id);
  if (positions === undefined) {
    const ids = referencing.flatMap(({ constraints }) =>
      constraints.flatMap((each) =>
        each.kind === "foreign_key" && each.referencedTableId === table.id ? each.referencedColumns : []
      )
    );
    positions = [...new Set(ids)].map((id) => columnPosition(table, id));
    ofCatalog.set(table.id, positions);
  }
  return positions;
}
