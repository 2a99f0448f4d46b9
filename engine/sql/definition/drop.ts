/** DROP of tables, indexes, views, sequences and schemas. */
import { SQLSTATE } from "../../base/errors.ts";
import type { TableDefinition, ViewDefinition } from "../../catalog/definitions.ts";
import { isTemporarySchema } from "../../catalog/temporary_schema.ts";
import { signatureText } from "../../functions/function_text.ts";
import type { DropObject, ObjectName } from "../parser/ast.ts";
import { dropOwnedSequences } from "./alter_table.ts";
import { dropInstalled, isInstalled } from "./extensions.ts";
import type { DefinitionBinder } from "./definition_binder.ts";
import { brokenViews, referencingKeys, requireCascade } from "./dependencies.ts";
import { dropEnum } from "./enums.ts";
import { dropFunction, dropFunctions } from "./functions.ts";
import { withoutIndexes } from "./indexes.ts";
import { defaultsUsing, viewsUsing } from "./sequence_uses.ts";
import { dropStatistics } from "./statistics.ts";
import { dropTrigger } from "./triggers.ts";

/** DROP. */
export function drop(binder: DefinitionBinder, ast: DropObject): string {
  const what = ast.objectType.replaceAll("_", " ");
  const tag = `DROP ${what.toUpperCase()}`;
  switch (ast.objectType) {
    case "table":
    case "index":
    case "view":
    case "sequence":
    case "external_source":
      dropRelations(binder, ast, ast.objectType);
      return tag;
    case "trigger":
      return dropTrigger(binder, ast);
    case "schema":
      for (const name of ast.names) dropSchema(binder, name, ast);
      return tag;
    case "extension":
      for (const name of ast.names) dropExtension(binder, ast, name);
      return tag;
    case "statistics":
      for (const name of ast.names) dropStatistics(binder, ast, name);
      return tag;
    case "type":
      for (const name of ast.names) dropEnum(binder, name, ast);
      return tag;
    case "function":
      dropFunctions(binder, ast);
      return tag;
    case "domain":
      for (const name of ast.names) missing(binder, ast, "type", name);
      return tag;
    case "database":
      for (const name of ast.names) dropDatabase(binder, ast, name);
      return tag;
    default:
      if (ast.ifExists) {
        for (const name of ast.names) missing(binder, ast, what, name);
        return tag;
      }
      throw binder.unsupported(tag, ast.position);
  }
}

/** There is one database: the session's, under the name by which it was asked for. */
function dropDatabase(binder: DefinitionBinder, ast: DropObject, name: ObjectName): void {
  if (binder.environment.evaluation?.database === name.name) {
    throw binder.error(SQLSTATE.objectInUse, "cannot drop the currently open database", name.position);
  }
  if (!ast.ifExists) {
    throw binder.error(
      SQLSTATE.invalidCatalogName,
      `database "${name.name}" does not exist`,
      name.position,
    );
  }
  missing(binder, ast, "database", name);
}

function dropExtension(binder: DefinitionBinder, ast: DropObject, name: ObjectName): void {
  if (!isInstalled(binder.catalog, name.name)) return missing(binder, ast, "extension", name);
  dropInstalled(binder, name.name, name.position);
}

function dropRelations(
  binder: DefinitionBinder,
  ast: DropObject,
  kind: "table" | "index" | "view" | "sequence" | "external_source",
): void {
  // Objects that depend only on each other go together, whatever their order in the list.
  const listed = ast.names.flatMap((name) => {
    const found = binder.find(name);
    return found?.kind === "table" ? [found.table.id] : [];
  });
  for (const name of ast.names) {
    const found = binder.find(name);
    if (found === undefined) {
      if (kind === "index") refuseRowIdKey(binder, name);
      missing(binder, ast, kind.replace("_", " "), name);
      continue;
    }
    const foundKind = found.kind === "table" && found.table.external !== undefined
      ? "external_source"
      : found.kind;
    if (foundKind !== kind) {
      const [wanted, is] = [kind.replace("_", " "), foundKind.replace("_", " ")];
      throw binder.error(
        SQLSTATE.wrongObjectType,
        `"${name.name}" is not ${article(wanted)}`,
        name.position,
        { hint: `Use DROP ${is.toUpperCase()} to remove ${article(is)}.` },
      );
    }
    switch (found.kind) {
      case "table":
        dropTable(binder, found.table, ast, name, listed);
        break;
      case "view":
        dropView(binder, found.view.id, found.view.name, ast, name);
        break;
      case "sequence":
        dropSequence(binder, found.sequence.id, found.sequence.name, ast, name);
        break;
      case "index":
        dropIndex(binder, found.table, found.index.id, name);
        break;
    }
  }
}

function dropTable(
  binder: DefinitionBinder,
  table: TableDefinition,
  ast: DropObject,
  name: ObjectName,
  listed: readonly number[],
): void {
  const keys = referencingKeys(binder.catalog, table);
  const before = binder.catalog;
  let after = before;
  for (const key of keys) {
    const child = after.table(key.table.id) ?? key.table;
    after = after.apply({
      kind: "put_table",
      table: { ...child, constraints: child.constraints.filter((each) => each.id !== key.constraint.id) },
    });
  }
  after = after.apply({ kind: "drop_table", tableId: table.id });
  const views = brokenViews(binder, before, after);
  requireCascade(
    binder,
    `${table.external === undefined ? "table" : "external source"} ${table.name}`,
    [
      ...keys.filter((key) => !listed.includes(key.table.id))
        .map((key) => `constraint ${key.constraint.name} on table ${key.table.name}`),
      ...views.map((view) => `view ${view.name}`),
    ],
    ast.cascade,
    name.position,
    ast.names.length > 1,
  );
  for (const view of views) binder.change({ kind: "drop_view", viewId: view.id });
  for (const key of keys) {
    const child = binder.catalog.table(key.table.id) ?? key.table;
    binder.putTable({
      ...child,
      constraints: child.constraints.filter((each) => each.id !== key.constraint.id),
    });
  }
  dropOwnedSequences(binder, table.id, null);
  binder.requireNoPendingChecks(table, "DROP TABLE");
  binder.change({ kind: "drop_table", tableId: table.id });
}

function dropView(
  binder: DefinitionBinder,
  id: number,
  viewName: string,
  ast: DropObject,
  name: ObjectName,
): void {
  const before = binder.catalog;
  const after = before.apply({ kind: "drop_view", viewId: id });
  const views = brokenViews(binder, before, after);
  requireCascade(
    binder,
    `view ${viewName}`,
    views.map((view) => `view ${view.name}`),
    ast.cascade,
    name.position,
  );
  for (const view of views) binder.change({ kind: "drop_view", viewId: view.id });
  binder.change({ kind: "drop_view", viewId: id });
}

function dropSequence(
  binder: DefinitionBinder,
  id: number,
  sequenceName: string,
  ast: DropObject,
  name: ObjectName,
): void {
  for (const table of binder.catalog.tables) {
    const identity = table.columns.find((column) => column.identity !== null && column.sequenceId === id);
    if (identity === undefined) continue;
    throw binder.error(
      SQLSTATE.dependentObjectsStillExist,
      `cannot drop sequence ${sequenceName} because column ${identity.name} of table ${table.name} requires it`,
      name.position,
      { hint: `You can drop column ${identity.name} of table ${table.name} instead.` },
    );
  }
  const users = defaultsUsing(binder, id);
  const views = viewsUsing(binder, id);
  requireCascade(
    binder,
    `sequence ${sequenceName}`,
    [
      ...users.map((user) => `default value for column ${user.column.name} of table ${user.table.name}`),
      ...views.map((view) => `view ${view.name}`),
    ],
    ast.cascade,
    name.position,
  );
  for (const { name: viewName } of views) dropViewsAbove(binder, viewName, views);
  for (const { table: { id: tableId }, column } of users) {
    const table = binder.catalog.table(tableId);
    if (table === undefined) continue;
    binder.putTable({
      ...table,
      columns: table.columns.map((each) =>
        each.id === column.id ? { ...each, sequenceId: null, defaultText: null } : each
      ),
    });
  }
  binder.change({ kind: "drop_sequence", sequenceId: id });
}

/** Drops a view of a list, and with it what reads it. */
function dropViewsAbove(binder: DefinitionBinder, name: string, views: readonly ViewDefinition[]): void {
  const view = views.find((each) => each.name === name);
  if (view === undefined || !binder.catalog.views.some((each) => each.id === view.id)) return;
  const before = binder.catalog;
  const above = brokenViews(binder, before, before.apply({ kind: "drop_view", viewId: view.id }));
  for (const each of [...above, view]) binder.change({ kind: "drop_view", viewId: each.id });
}

function dropIndex(
  binder: DefinitionBinder,
  table: TableDefinition,
  indexId: number,
  name: ObjectName,
): void {
  const constraint = table.constraints.find((each) => "indexId" in each && each.indexId === indexId);
  if (constraint !== undefined) {
    throw requiredByConstraint(binder, constraint.name, table, name);
  }
  binder.putTable(withoutIndexes(table, [indexId]));
}

/** A primary key whose column is the row id has no index of its own, but PostgreSQL's name for one. */
function refuseRowIdKey(binder: DefinitionBinder, name: ObjectName): void {
  const schemas = name.schema === null ? binder.environment.searchPath : [name.schema];
  for (const table of binder.catalog.tables) {
    if (!schemas.includes(table.schema)) continue;
    const key = table.constraints.find((each) =>
      each.kind === "primary_key" && each.indexId === null && each.name === name.name
    );
    if (key !== undefined) throw requiredByConstraint(binder, key.name, table, name);
  }
}

function requiredByConstraint(
  binder: DefinitionBinder,
  constraint: string,
  table: TableDefinition,
  name: ObjectName,
): Error {
  return binder.error(
    SQLSTATE.dependentObjectsStillExist,
    `cannot drop index ${name.name} because constraint ${constraint} on table ${table.name} requires it`,
    name.position,
    { hint: `You can drop constraint ${constraint} on table ${table.name} instead.` },
  );
}

function dropSchema(binder: DefinitionBinder, name: ObjectName, ast: DropObject): void {
  const schema = binder.catalog.schema(name.name);
  if (schema === undefined) {
    missing(binder, ast, "schema", name);
    return;
  }
  if (["pg_catalog", "information_schema"].includes(schema.name) || isTemporarySchema(schema.name)) {
    throw binder.error(
      SQLSTATE.dependentObjectsStillExist,
      `cannot drop schema ${schema.name} because it is required by the database system`,
      name.position,
    );
  }
  const { catalog } = binder;
  const tables = catalog.tables.filter((each) => each.schema === schema.name);
  const views = catalog.views.filter((each) => each.schema === schema.name);
  const sequences = catalog.sequences.filter((each) => each.schema === schema.name && each.ownedBy === null);
  const enums = catalog.enums.filter((each) => each.schema === schema.name);
  const functions = catalog.functions.filter((each) => each.schema === schema.name);
  requireCascade(
    binder,
    `schema ${schema.name}`,
    [
      ...tables.map((each) => `table ${each.name}`),
      ...views.map((each) => `view ${each.name}`),
      ...sequences.map((each) => `sequence ${each.name}`),
      ...enums.map((each) => `type ${each.name}`),
      ...functions.map((each) => `function ${signatureText(each)}`),
    ],
    ast.cascade,
    name.position,
  );
  for (const view of views) binder.change({ kind: "drop_view", viewId: view.id });
  const listed = tables.map((each) => each.id);
  for (const table of tables) dropTable(binder, table, { ...ast, cascade: true }, name, listed);
  for (const sequence of sequences) binder.change({ kind: "drop_sequence", sequenceId: sequence.id });
  for (const each of enums) {
    dropEnum(binder, { ...name, schema: schema.name, name: each.name }, { ...ast, cascade: true });
  }
  for (const each of functions) dropFunction(binder, each, true, name.position);
  binder.change({ kind: "drop_schema", schemaId: schema.id });
}

function missing(binder: DefinitionBinder, ast: DropObject, what: string, name: ObjectName): void {
  const shown = name.schema === null ? name.name : `${name.schema}.${name.name}`;
  if (ast.ifExists) {
    binder.notice(SQLSTATE.successfulCompletion, `${what} "${shown}" does not exist, skipping`);
    return;
  }
  if (what === "schema") {
    throw binder.error(SQLSTATE.invalidSchemaName, `schema "${shown}" does not exist`, name.position);
  }
  throw binder.missing(name, what);
}

function article(kind: string): string {
  return /^[aeiou]/.test(kind) ? `an ${kind}` : `a ${kind}`;
}
