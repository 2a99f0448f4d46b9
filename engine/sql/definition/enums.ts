/**
 * CREATE TYPE … AS ENUM, ALTER TYPE and DROP TYPE. Columns hold the whole type in their definitions, so a change of the
 * type is a change of every table and view that has a column of it; their rows stay as they are.
 */
import { SQLSTATE } from "../../base/errors.ts";
import type { EnumDefinition, TableDefinition } from "../../catalog/definitions.ts";
import { usesEnum, withEnum } from "../../catalog/enum_types.ts";
import { mapTableTexts } from "../../catalog/table_texts.ts";
import { triggerTexts } from "../../catalog/triggers.ts";
import { initialNumbers, numberAt } from "../../types/enum_type.ts";
import { typeByName } from "../../types/type_names.ts";
import type { AlterEnum, CreateEnum, DropObject, ObjectName } from "../parser/ast.ts";
import { dropColumn } from "./alter_table.ts";
import type { DefinitionBinder } from "./definition_binder.ts";
import { requireCascade } from "./dependencies.ts";
import { namesType, withTypeRenamed } from "./stored_names.ts";

/** Longest label in bytes, as in PostgreSQL. */
const LABEL_BYTES = 63;

/** CREATE TYPE … AS ENUM. */
export function createEnum(binder: DefinitionBinder, ast: CreateEnum): string {
  const schema = binder.schemaFor(ast.name);
  if (binder.isTypeTaken(schema, ast.name.name)) {
    throw binder.error(SQLSTATE.duplicateObject, `type "${ast.name.name}" already exists`, ast.name.position);
  }
  const seen = new Set<string>();
  for (const label of ast.labels) {
    requireLabel(binder, label, ast.position);
    if (seen.has(label)) {
      throw binder.error(
        SQLSTATE.uniqueViolation,
        'duplicate key value violates unique constraint "pg_enum_typid_label_index"',
        ast.position,
        { detail: `Key (enumlabel)=(${label}) already exists.` },
      );
    }
    seen.add(label);
  }
  const numbers = initialNumbers(ast.labels.length);
  const enumeration = { id: binder.newId(), schema, name: ast.name.name, labels: ast.labels, numbers };
  binder.change({ kind: "put_enum", enumeration });
  return "CREATE TYPE";
}

/** ALTER TYPE … ADD VALUE and RENAME VALUE. */
export function alterEnum(binder: DefinitionBinder, ast: AlterEnum): string {
  const tag = "ALTER TYPE";
  const old = requireEnum(binder, ast.name);
  const missing = (label: string) =>
    binder.error(SQLSTATE.invalidParameterValue, `"${label}" is not an existing enum label`, ast.position);
  const at = old.labels.indexOf(ast.label);
  if (ast.action === "rename_value") {
    const label = ast.newLabel ?? "";
    if (at < 0) throw missing(ast.label);
    requireLabel(binder, label, ast.position);
    if (old.labels.includes(label)) throw labelExists(binder, label, ast.position);
    const former = [
      ...(old.former ?? []).filter((each) => each.label !== ast.label),
      { label: ast.label, number: old.numbers[at] ?? 0 },
    ];
    putEnum(binder, { ...old, labels: old.labels.with(at, label), former });
    return tag;
  }
  requireLabel(binder, ast.label, ast.position);
  if (at >= 0) {
    if (!ast.ifNotExists) throw labelExists(binder, ast.label, ast.position);
    binder.notice(SQLSTATE.duplicateObject, `enum label "${ast.label}" already exists, skipping`);
    return tag;
  }
  let position = old.labels.length;
  if (ast.place !== null) {
    const neighbor = old.labels.indexOf(ast.place.label);
    if (neighbor < 0) throw missing(ast.place.label);
    position = ast.place.where === "before" ? neighbor : neighbor + 1;
  }
  const number = numberAt(old.numbers, position);
  if (number === undefined) {
    throw binder.error(
      SQLSTATE.programLimitExceeded,
      `too many labels were added to enum ${old.name} in one place`,
      ast.position,
    );
  }
  putEnum(binder, {
    ...old,
    labels: old.labels.toSpliced(position, 0, ast.label),
    numbers: old.numbers.toSpliced(position, 0, number),
  });
  return tag;
}

/** ALTER TYPE … RENAME TO; null: the name is none of an enumerated type. */
export function renameEnum(binder: DefinitionBinder, name: ObjectName, newName: string): void {
  const old = requireEnum(binder, name);
  if (binder.isTypeTaken(old.schema, newName)) {
    throw binder.error(SQLSTATE.duplicateObject, `type "${newName}" already exists`, name.position);
  }
  const renamed = { ...old, name: newName };
  putEnum(binder, renamed);
  // Texts name the type: casts in checks, triggers, views.
  for (const table of binder.catalog.tables) {
    const next = mapTableTexts(table, (text) => withTypeRenamed(text, "expression", old, renamed));
    if (next !== table) binder.putTable(next);
  }
  for (const view of binder.catalog.views) {
    const text = withTypeRenamed(view.text, "query", old, renamed);
    if (text !== view.text) binder.change({ kind: "put_view", view: { ...view, text } });
  }
}

/** DROP TYPE. */
export function dropEnum(binder: DefinitionBinder, name: ObjectName, ast: DropObject): void {
  const found = findEnum(binder, name);
  if (found === undefined) {
    if (!ast.ifExists) throw missingType(binder, name);
    binder.notice(SQLSTATE.successfulCompletion, `type "${name.name}" does not exist, skipping`);
    return;
  }
  const users = binder.catalog.tables.flatMap((table) =>
    table.columns.filter((column) => usesEnum(column.type, found.id)).map((column) => ({ table, column }))
  );
  const views = binder.catalog.views.filter((view) =>
    view.columns.some((column) => usesEnum(column.type, found.id)) || namesType(view.text, "query", found)
  );
  const namers = binder.catalog.tables.map((table) => namersIn(table, found));
  requireCascade(
    binder,
    `type ${found.name}`,
    [
      ...users.filter(({ column }) => !column.hidden)
        .map(({ table, column }) => `column ${column.name} of table ${table.name}`),
      ...namers.flatMap((each) => each.names),
      ...views.map((view) => `view ${view.name}`),
    ],
    ast.cascade,
    name.position,
  );
  for (const view of views) binder.change({ kind: "drop_view", viewId: view.id });
  for (const { names, without } of namers) if (names.length > 0) binder.putTable(without);
  for (const { table, column } of users) {
    const now = binder.catalog.table(table.id);
    if (column.hidden || now === undefined) continue;
    dropColumn(binder, now, {
      kind: "drop_column",
      column: column.name,
      ifExists: true,
      cascade: true,
      position: name.position,
    });
  }
  binder.change({ kind: "drop_enum", enumId: found.id });
}

/** What names a type in its text without having a value of it, and the table without that. */
function namersIn(
  table: TableDefinition,
  type: EnumDefinition,
): { readonly names: readonly string[]; readonly without: TableDefinition } {
  const isNamed = (text: string): boolean => namesType(text, "expression", type);
  const checks = table.constraints.filter((each) => each.kind === "check" && isNamed(each.text));
  const triggers = table.triggers.filter((each) => triggerTexts(each).some(isNamed));
  const defaulted = table.columns.filter((each) =>
    each.defaultText !== null && !usesEnum(each.type, type.id) && isNamed(each.defaultText)
  );
  return {
    names: [
      ...checks.map((each) => `constraint ${each.name} on table ${table.name}`),
      ...triggers.map((each) => `trigger ${each.name} on table ${table.name}`),
      ...defaulted.map((each) => `default value for column ${each.name} of table ${table.name}`),
    ],
    without: {
      ...table,
      columns: table.columns.map((each) => defaulted.includes(each) ? { ...each, defaultText: null } : each),
      constraints: table.constraints.filter((each) => !checks.includes(each)),
      triggers: table.triggers.filter((each) => !triggers.includes(each)),
    },
  };
}

function findEnum(binder: DefinitionBinder, name: ObjectName): EnumDefinition | undefined {
  const schemas = name.schema === null ? binder.environment.searchPath : [name.schema];
  return binder.catalog.enumeration(name.name, schemas);
}

function requireEnum(binder: DefinitionBinder, name: ObjectName): EnumDefinition {
  const found = findEnum(binder, name);
  if (found !== undefined) return found;
  if (name.schema === null && typeByName([name.name]) !== undefined) {
    throw binder.error(SQLSTATE.wrongObjectType, `${name.name} is not an enum`, name.position);
  }
  throw missingType(binder, name);
}

function missingType(binder: DefinitionBinder, name: ObjectName): Error {
  const shown = name.schema === null ? name.name : `${name.schema}.${name.name}`;
  return binder.error(SQLSTATE.undefinedObject, `type "${shown}" does not exist`, name.position);
}

function labelExists(binder: DefinitionBinder, label: string, offset: number): Error {
  return binder.error(SQLSTATE.duplicateObject, `enum label "${label}" already exists`, offset);
}

function requireLabel(binder: DefinitionBinder, label: string, offset: number): void {
  if (new TextEncoder().encode(label).length <= LABEL_BYTES) return;
  throw binder.error(SQLSTATE.invalidName, `invalid enum label "${label}"`, offset, {
    detail: `Labels must be ${LABEL_BYTES} bytes or less.`,
  });
}

/** Puts a changed type, and the tables and views that have columns of it. */
function putEnum(binder: DefinitionBinder, enumeration: EnumDefinition): void {
  binder.change({ kind: "put_enum", enumeration });
  for (const table of binder.catalog.tables) {
    if (!table.columns.some((column) => usesEnum(column.type, enumeration.id))) continue;
    binder.putTable({
      ...table,
      columns: table.columns.map((column) => ({ ...column, type: withEnum(column.type, enumeration) })),
    });
  }
  for (const view of binder.catalog.views) {
    if (!view.columns.some((column) => usesEnum(column.type, enumeration.id))) continue;
    binder.change({
      kind: "put_view",
      view: {
        ...view,
        columns: view.columns.map((column) => ({ ...column, type: withEnum(column.type, enumeration) })),
      },
    });
  }
}
