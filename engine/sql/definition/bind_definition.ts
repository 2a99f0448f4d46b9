/** DDL statements to definition plans; what is not served is refused with 0A000 and its name. */
import { type DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { isTemporarySchema } from "../../catalog/temporary_schema.ts";
import type { TableDefinition } from "../../catalog/definitions.ts";
import { formatType } from "../../types/type_names.ts";
import type { PlanningEnvironment } from "../binder/environment.ts";
import type { CreateView, DefinitionStatement, ObjectName, RenameObject, Truncate } from "../parser/ast.ts";
import { planStatement } from "../planner/plan_statement.ts";
import { alterTable } from "./alter_table.ts";
import { commentOn } from "./comments.ts";
import { requireColumnType } from "./columns.ts";
import { setOwner } from "./owners.ts";
import { createSchema } from "./create_schema.ts";
import { createTable, createTableAs } from "./create_table.ts";
import { DefinitionBinder } from "./definition_binder.ts";
import type { DefinitionPlan } from "./definition_plan.ts";
import { alterDefaults } from "./stored_settings.ts";
import { alterEnum, createEnum, renameEnum } from "./enums.ts";
import { referencingKeys, renameInViews, shapesOf } from "./dependencies.ts";
import { drop } from "./drop.ts";
import { createExternalSource } from "./external_source.ts";
import { refuseExternal } from "./refuse_external.ts";
import { createExtension } from "./extensions.ts";
import { createFunction, renameFunction } from "./functions.ts";
import { createIndex } from "./indexes.ts";
import { defaultsUsing, viewsUsing } from "./sequence_uses.ts";
import { alterSequence, createSequence } from "./sequences.ts";
import { alterStatistics, createStatistics, renameStatistics } from "./statistics.ts";
import { createTrigger, renameTrigger } from "./triggers.ts";
import { checkViewOptions } from "./view_options.ts";

/** Binds a DDL statement. Raises PostgreSQL's errors with positions. */
export function bindDefinition(
  statement: DefinitionStatement,
  environment: PlanningEnvironment,
): DefinitionPlan {
  const binder = new DefinitionBinder(environment);
  return binder.plan(bind(binder, statement));
}

function bind(binder: DefinitionBinder, statement: DefinitionStatement): string {
  switch (statement.kind) {
    case "create_table":
      return createTable(binder, statement);
    case "create_table_as":
      return createTableAs(binder, statement);
    case "alter_table":
      return alterTable(binder, statement);
    case "drop":
      return drop(binder, statement);
    case "create_trigger":
      return createTrigger(binder, statement);
    case "create_index":
      return createIndex(binder, statement);
    case "alter_statistics":
      return alterStatistics(binder, statement);
    case "create_statistics":
      return createStatistics(binder, statement);
    case "create_sequence":
      return createSequence(binder, statement);
    case "alter_sequence":
      return alterSequence(binder, statement);
    case "create_enum":
      return createEnum(binder, statement);
    case "alter_enum":
      return alterEnum(binder, statement);
    case "create_view":
      return createView(binder, statement);
    case "create_schema":
      return createSchema(binder, statement, bind);
    case "rename_object":
      return renameObject(binder, statement);
    case "set_object_owner":
      return setOwner(binder, statement);
    case "comment":
      return commentOn(binder, statement);
    case "truncate":
      return truncate(binder, statement);
    case "reindex":
      // Indexes are part of the data and are checked by checksums; there is nothing that could be out of order.
      if (statement.name !== null && statement.target === "table") binder.table(statement.name);
      if (statement.name !== null && statement.target === "index") requireIndex(binder, statement.name);
      return "REINDEX";
    case "create_function":
      return createFunction(binder, statement);
    case "create_extension":
      return createExtension(binder, statement);
    case "create_external_source":
      return createExternalSource(binder, statement);
    case "alter_defaults":
      return alterDefaults(binder, statement);
    case "create_database":
      throw oneDatabase(binder, "CREATE DATABASE", statement.position);
    case "grant_privileges":
    case "grant_role":
      throw binder.unsupported(statement.revoke ? "REVOKE" : "GRANT", statement.position);
    default:
      throw binder.unsupported(statement.kind.replaceAll("_", " ").toUpperCase(), statement.position);
  }
}

/** Test runners make and drop databases: what they print says what to do instead. */
function oneDatabase(binder: DefinitionBinder, statement: string, position: number): DatabaseError {
  return binder.error(
    SQLSTATE.featureNotSupported,
    `${statement} is not supported: a server has one database, under every name`,
    position,
    {
      hint: "Start a second dbd with a data directory and port of its own, " +
        'and give these to the tests; see "Test runners" in docs/sql.md.',
    },
  );
}

/** 42P01 or 42809 unless the name is an index, or that of a key. */
function requireIndex(binder: DefinitionBinder, name: ObjectName): void {
  const found = binder.find(name);
  if (found?.kind === "index") return;
  const isKey = binder.catalog.tables.some((table) =>
    table.constraints.some((each) => each.kind === "primary_key" && each.name === name.name)
  );
  if (isKey) return;
  if (found === undefined) throw binder.missing(name);
  throw binder.error(SQLSTATE.wrongObjectType, `"${name.name}" is not an index`, name.position);
}

function createView(binder: DefinitionBinder, ast: CreateView): string {
  const tag = "CREATE VIEW";
  if (ast.checkOption !== null) throw binder.unsupported("WITH CHECK OPTION", ast.position);
  checkViewOptions(binder, ast.options);
  const early = planStatement(ast.query, binder.environment, { optimize: false });
  const readsTemporary = early.tableIds.some((id) =>
    isTemporarySchema(binder.catalog.table(id)?.schema ?? "")
  );
  if (readsTemporary && ast.persistence !== "temporary") {
    binder.notice(SQLSTATE.successfulCompletion, `view "${ast.name.name}" will be a temporary view`);
  }
  const schema = binder.schemaFor(ast.name, readsTemporary ? "temporary" : ast.persistence);
  const existing = binder.catalog.relation(schema, ast.name.name);
  if (existing !== undefined && !(ast.orReplace && existing.kind === "view")) {
    if (ast.orReplace) {
      throw binder.error(SQLSTATE.wrongObjectType, `"${ast.name.name}" is not a view`, ast.name.position);
    }
    throw binder.error(
      SQLSTATE.duplicateTable,
      `relation "${ast.name.name}" already exists`,
      ast.name.position,
    );
  }
  if (existing === undefined) binder.requireNoType(schema, ast.name);
  const planned = early;
  if (planned.parts !== undefined) {
    throw binder.error(
      SQLSTATE.featureNotSupported,
      "views must not contain data-modifying statements in WITH",
      ast.position,
    );
  }
  if (planned.parameterTypes.length > 0) {
    throw binder.error(SQLSTATE.undefinedParameter, "there is no parameter $1", ast.position);
  }
  if (ast.columns.length > planned.columns.length) {
    throw binder.error(
      SQLSTATE.syntaxError,
      "CREATE VIEW specifies more column names than columns",
      ast.position,
    );
  }
  const columns = planned.columns.map((column, index) => ({
    name: ast.columns[index] ?? column.name,
    type: column.type,
  }));
  const names = new Set<string>();
  for (const { name } of columns) {
    if (names.has(name)) {
      throw binder.error(SQLSTATE.duplicateColumn, `column "${name}" specified more than once`, ast.position);
    }
    names.add(name);
  }
  for (const { name, type } of columns) requireColumnType(binder, name, type, ast.position);
  const existingView = existing?.kind === "view" ? existing.view : undefined;
  const id = existingView?.id ?? binder.newId();
  if (existingView !== undefined) {
    const old = existingView.columns;
    if (columns.length < old.length) {
      throw binder.error(SQLSTATE.invalidTableDefinition, "cannot drop columns from view", ast.position);
    }
    for (const [index, column] of old.entries()) {
      const next = columns[index];
      if (next !== undefined && next.name !== column.name) {
        throw binder.error(
          SQLSTATE.invalidTableDefinition,
          `cannot change name of view column "${column.name}" to "${next.name}"`,
          ast.position,
          { hint: "Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead." },
        );
      }
      if (next !== undefined && formatType(next.type) !== formatType(column.type)) {
        throw binder.error(
          SQLSTATE.invalidTableDefinition,
          `cannot change data type of view column "${column.name}" from ${formatType(column.type)} to ${
            formatType(next.type)
          }`,
          ast.position,
        );
      }
    }
  }
  const text = binder.storedText(ast.queryText, "query");
  binder.change({
    kind: "put_view",
    view: {
      id,
      schema,
      name: ast.name.name,
      text,
      reads: shapesOf(binder, text),
      columns: columns.map((column, index) => ({ ...existingView?.columns[index], ...column })),
      comment: existingView?.comment ?? null,
    },
  });
  return tag;
}

function renameObject(binder: DefinitionBinder, ast: RenameObject): string {
  const what = ast.objectType.replaceAll("_", " ");
  const tag = `ALTER ${what.toUpperCase()}`;
  if (ast.objectType === "trigger") return renameTrigger(binder, ast);
  if (ast.objectType === "type") {
    renameEnum(binder, ast.name, ast.newName);
    return tag;
  }
  if (ast.objectType === "function") {
    renameFunction(binder, ast.name, ast.argumentTypes, ast.newName);
    return tag;
  }
  if (ast.objectType === "statistics") {
    renameStatistics(binder, ast);
    return tag;
  }
  const found = binder.find(ast.name);
  if (found === undefined) {
    if (!ast.ifExists) throw binder.missing(ast.name, ast.objectType === "index" ? "index" : "relation");
    binder.notice(SQLSTATE.successfulCompletion, `relation "${ast.name.name}" does not exist, skipping`);
    return tag;
  }
  if (found.kind !== ast.objectType) {
    throw binder.error(SQLSTATE.wrongObjectType, `"${ast.name.name}" is not a ${what}`, ast.name.position);
  }
  const schema = found.kind === "index" || found.kind === "table"
    ? found.table.schema
    : found.kind === "view"
    ? found.view.schema
    : found.sequence.schema;
  if (binder.isTaken(schema, ast.newName)) {
    throw binder.error(SQLSTATE.duplicateTable, `relation "${ast.newName}" already exists`, ast.position);
  }
  switch (found.kind) {
    case "table":
      binder.putTable({ ...found.table, name: ast.newName });
      break;
    case "view":
      binder.change({ kind: "put_view", view: { ...found.view, name: ast.newName } });
      renameInViews(binder, found.view, { schema, name: ast.newName });
      break;
    case "sequence":
      if (
        binder.catalog.tables.some((table) =>
          table.columns.some((column) => column.sequenceId === found.sequence.id)
        )
      ) {
        throw binder.unsupported("renaming the sequence of a serial or identity column", ast.position);
      }
      if (
        defaultsUsing(binder, found.sequence.id).length > 0 ||
        viewsUsing(binder, found.sequence.id).length > 0
      ) {
        throw binder.unsupported("renaming a sequence that a default or a view uses", ast.position);
      }
      binder.change({ kind: "put_sequence", sequence: { ...found.sequence, name: ast.newName } });
      break;
    case "index": {
      const { table, index } = found;
      binder.putTable({
        ...table,
        indexes: table.indexes.map((each) => each.id === index.id ? { ...each, name: ast.newName } : each),
        constraints: table.constraints.map((each) =>
          "indexId" in each && each.indexId === index.id ? { ...each, name: ast.newName } : each
        ),
      });
    }
  }
  return tag;
}

function truncate(binder: DefinitionBinder, ast: Truncate): string {
  const tables: TableDefinition[] = [];
  for (const name of ast.tables) {
    const table = binder.table(name);
    refuseExternal(binder, table, "truncate", name.position);
    if (!tables.some((each) => each.id === table.id)) tables.push(table);
  }
  // The list grows while it is walked: with CASCADE the tables that reference one of it join it.
  for (const table of tables) {
    for (const key of referencingKeys(binder.catalog, table)) {
      if (tables.some((each) => each.id === key.table.id)) continue;
      if (!ast.cascade) {
        throw binder.error(
          SQLSTATE.featureNotSupported,
          "cannot truncate a table referenced in a foreign key constraint",
          undefined,
          {
            detail: `Table "${key.table.name}" references "${table.name}".`,
            hint: `Truncate table "${key.table.name}" at the same time, or use TRUNCATE ... CASCADE.`,
          },
        );
      }
      binder.notice(SQLSTATE.successfulCompletion, `truncate cascades to table "${key.table.name}"`);
      tables.push(key.table);
    }
  }
  for (const table of tables) {
    binder.requireNoPendingChecks(table, "TRUNCATE");
    binder.steps.push({ kind: "truncate", tableId: table.id });
    if (!ast.restartIdentity) continue;
    for (const sequence of binder.catalog.sequences) {
      if (sequence.ownedBy?.tableId !== table.id) continue;
      binder.steps.push({ kind: "restart_sequence", sequenceId: sequence.id, value: sequence.start });
    }
  }
  return "TRUNCATE TABLE";
}
