/** Functions whose answer comes from the catalog or the session: pg_get_indexdef, format_type, pg_table_is_visible … */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { SqlValue } from "../../types/value.ts";
import type { Relation } from "../../catalog/catalog.ts";
import type { ObjectTypeKind } from "../../types/text_io.ts";
import { type SessionEvaluation, splitName } from "../evaluation.ts";

/** Runs a catalog function by name; arguments are not null unless the function takes nulls. */
export function runCatalogFunction(
  evaluation: SessionEvaluation,
  name: string,
  _args: readonly SqlValue[],
): SqlValue {
  if (name === "pg_backend_pid") return evaluation.session.processId;
  throw new DatabaseError(SQLSTATE.featureNotSupported, `function ${name} is not supported`);
}

/** The object id that a name means for `::regclass` and its kin. Raises 42P01, 42704 or 42883. */
export function lookupObject(evaluation: SessionEvaluation, kind: ObjectTypeKind, name: string): number {
  if (kind === "regclass") {
    const parts = splitName(name);
    const relation = parts.length > 1
      ? evaluation.session.catalog.relation(parts.at(-2) ?? "", parts.at(-1) ?? "")
      : evaluation.session.catalog.findRelation(parts[0] ?? "", evaluation.searchPath);
    if (relation !== undefined) return idOf(relation);
    throw new DatabaseError(SQLSTATE.undefinedTable, `relation "${name}" does not exist`);
  }
  throw new DatabaseError(SQLSTATE.undefinedObject, `${kind} "${name}" does not exist`);
}

/** The name that an object id is shown by; undefined when there is no such object. */
export function objectName(
  evaluation: SessionEvaluation,
  kind: ObjectTypeKind,
  id: number,
): string | undefined {
  if (kind !== "regclass") return undefined;
  const { catalog } = evaluation.session;
  return catalog.table(id)?.name ?? catalog.sequence(id)?.name ??
    catalog.views.find((view) => view.id === id)?.name;
}

function idOf(relation: Relation): number {
  switch (relation.kind) {
    case "table":
      return relation.table.id;
    case "view":
      return relation.view.id;
    case "sequence":
      return relation.sequence.id;
    case "index":
      return relation.index.id;
  }
}
