/** CREATE SCHEMA, with the tables, views, indexes and sequences that are made in it by the same statement. */
import { SQLSTATE } from "../../base/errors.ts";
import type { CreateSchema, ObjectName, SchemaElement } from "../parser/ast.ts";
import { DefinitionBinder } from "./definition_binder.ts";
import { requireRole } from "./owners.ts";

/** Elements are made in this order, whatever the order of the text, as in PostgreSQL. */
const ORDER: readonly SchemaElement["kind"][] = [
  "create_sequence",
  "create_table",
  "create_view",
  "create_index",
];

/** Binds the statement; `bindElement` binds one of those within. */
export function createSchema(
  binder: DefinitionBinder,
  ast: CreateSchema,
  bindElement: (binder: DefinitionBinder, element: SchemaElement) => void,
): string {
  const tag = "CREATE SCHEMA";
  const name = ast.name ?? ownerOf(binder, ast) ?? "";
  if (ast.owner !== null) ownerOf(binder, ast);
  if (name.startsWith("pg_")) {
    throw binder.error(SQLSTATE.reservedName, `unacceptable schema name "${name}"`, ast.position, {
      detail: 'The prefix "pg_" is reserved for system schemas.',
    });
  }
  if (binder.catalog.schema(name) !== undefined) {
    if (!ast.ifNotExists) {
      throw binder.error(SQLSTATE.duplicateSchema, `schema "${name}" already exists`, ast.position);
    }
    binder.notice(SQLSTATE.duplicateSchema, `schema "${name}" already exists, skipping`);
    return tag;
  }
  binder.change({ kind: "put_schema", schema: { id: binder.newId(), name } });
  for (const element of ast.elements) {
    const target = targetOf(element);
    if (target.schema !== null && target.schema !== name) {
      throw binder.error(
        SQLSTATE.invalidSchemaDefinition,
        `CREATE specifies a schema (${target.schema}) different from the one being created (${name})`,
        element.position,
      );
    }
  }
  const ordered = ORDER.flatMap((kind) => ast.elements.filter((element) => element.kind === kind));
  for (const element of ordered) {
    const { environment } = binder;
    const inner = new DefinitionBinder({
      ...environment,
      catalog: binder.catalog,
      searchPath: [name, ...environment.searchPath],
    });
    bindElement(inner, element);
    binder.adopt(inner);
  }
  return tag;
}

/** The object, or for an index the table, whose schema must be the one that is made. */
function targetOf(element: SchemaElement): ObjectName {
  return element.kind === "create_index" ? element.table : element.name;
}

/** The role that shall own the schema: there is one, the session's user. */
function ownerOf(binder: DefinitionBinder, { owner }: CreateSchema): string | undefined {
  return owner === null ? binder.environment.evaluation?.user : requireRole(binder, owner);
}
