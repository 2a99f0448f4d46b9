/** Relations by the names that statements without a plan give them. */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { closest } from "../base/suggest.ts";
import type { Catalog, Relation } from "../catalog/catalog.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import type { ObjectName } from "../sql/parser/ast.ts";
import { errorPosition } from "../sql/parser/source_text.ts";

/** The relation that a statement of the text names. Raises 42P01 with a hint. */
export function findNamedRelation(
  catalog: Catalog,
  searchPath: readonly string[],
  name: ObjectName,
  text: string,
): Relation {
  const found = name.schema === null
    ? catalog.findRelation(name.name, searchPath)
    : catalog.relation(name.schema, name.name);
  if (found !== undefined) return found;
  const shown = name.schema === null ? name.name : `${name.schema}.${name.name}`;
  const near = closest(name.name, catalog.relationNames());
  throw new DatabaseError(SQLSTATE.undefinedTable, `relation "${shown}" does not exist`, {
    position: errorPosition(text, name.position),
    ...(near === undefined ? {} : { hint: `Did you mean "${near}"?` }),
  });
}

/** The same, for statements that want a table. Raises 42809 for others. */
export function findNamedTable(
  catalog: Catalog,
  searchPath: readonly string[],
  name: ObjectName,
  text: string,
): TableDefinition {
  const relation = findNamedRelation(catalog, searchPath, name, text);
  if (relation.kind === "table") return relation.table;
  throw new DatabaseError(SQLSTATE.wrongObjectType, `"${name.name}" is not a table`, {
    position: errorPosition(text, name.position),
  });
}
