/**
 * Look-up of columns, tables and types by name, with PostgreSQL's messages and hints for what is not found.
 */
import { enumTypeOf } from "../../catalog/enum_types.ts";
import { SQLSTATE } from "../../base/errors.ts";
import { closest, didYouMean } from "../../base/suggest.ts";
import type { Relation } from "../../catalog/catalog.ts";
import { FIRST_USER_OBJECT_ID } from "../../catalog/definitions.ts";
import { INTERVAL_RANGES } from "../../types/sql_type.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { TYPE_NAMES, typeByName } from "../../types/type_names.ts";
import type { ColumnReference, ObjectName, TypeName } from "../parser/ast.ts";
import type { Expression } from "../plan/expression.ts";
import { columnReference, constant } from "../plan/build.ts";
import type { VirtualRelation } from "../plan/plan.ts";
import type { Binding } from "./binding.ts";
import { bindParameter } from "./value_binder.ts";
import type { QueryLevel, ScopeColumn, ScopeTable } from "./scope.ts";

/** Schemas that are searched before the search path, as PostgreSQL does. */
const IMPLICIT_SCHEMA = "pg_catalog";

const SYSTEM_COLUMNS = new Set(["ctid", "xmin", "xmax", "cmin", "cmax"]);

/** What a name in FROM can be, besides a common table. */
export type FoundRelation = Relation | { readonly kind: "virtual"; readonly relation: VirtualRelation };

/** The schemas in which unqualified names are looked up, in order. */
export function searchSchemas(binding: Binding): readonly string[] {
  const { searchPath } = binding.environment;
  const own = binding.storedSchemas.at(-1);
  if (own !== undefined) return [...new Set([IMPLICIT_SCHEMA, own, "public", ...searchPath])];
  return searchPath.includes(IMPLICIT_SCHEMA) ? searchPath : [IMPLICIT_SCHEMA, ...searchPath];
}

/** The relation of a name, or undefined. */
export function findRelation(binding: Binding, name: ObjectName): FoundRelation | undefined {
  const { catalog } = binding.environment;
  const { temporarySchema } = binding.environment;
  const named = name.schema === "pg_temp" ? temporarySchema ?? name.schema : name.schema;
  for (const schema of named === null ? searchSchemas(binding) : [named]) {
    const found = catalog.relation(schema, name.name);
    if (found !== undefined) return found;
    const relation = binding.environment.virtualRelation?.(schema, name.name);
    if (relation !== undefined) return { kind: "virtual", relation };
  }
  return undefined;
}

/** The name as messages show it: with the schema when it was written. */
export function writtenName(name: ObjectName): string {
  return name.schema === null ? name.name : `${name.schema}.${name.name}`;
}

/** 42P01 with a suggestion, or 3F000 when the schema itself is missing (only where PostgreSQL says so). */
export function unknownRelation(binding: Binding, name: ObjectName): Error {
  const { catalog } = binding.environment;
  const names = [...catalog.relationNames(), ...(binding.environment.virtualRelationNames?.() ?? [])];
  const hint = didYouMean(name.name, names);
  return binding.error(
    SQLSTATE.undefinedTable,
    `relation "${writtenName(name)}" does not exist`,
    name.position,
    hint === undefined ? {} : { hint },
  );
}

/** The type of a type name. */
export function resolveType(binding: Binding, name: TypeName): SqlType {
  if (name.setOf) throw binding.unsupported("SETOF", name.position);
  const [last, schema] = name.name.toReversed();
  // The parser turns the unquoted `char` into bpchar, so that this is the one-byte type of the system catalog.
  const word = last === "char" ? '"char"' : last ?? "";
  const base = binding.locate(name.position, () => typeByName([word], name.modifiers));
  const builtIn = schema === undefined || schema === IMPLICIT_SCHEMA ? base : undefined;
  const type = builtIn ?? enumerationType(binding, last ?? "", schema);
  if (type === undefined) {
    const written = name.name.join(".");
    const hint = didYouMean(last ?? "", [
      ...TYPE_NAMES,
      ...binding.environment.catalog.enums.map((each) => each.name),
    ]);
    throw binding.error(
      SQLSTATE.undefinedObject,
      `type "${written}" does not exist`,
      name.position,
      hint === undefined ? {} : { hint },
    );
  }
  const range = INTERVAL_RANGES.find((each) => each === name.intervalFields);
  const element = range === undefined || type.kind !== "interval" ? type : { ...type, fields: range };
  return name.arrayDimensions > 0 ? { kind: "array", element } : element;
}

function enumerationType(binding: Binding, name: string, schema: string | undefined): SqlType | undefined {
  const schemas = schema === undefined ? searchSchemas(binding) : [schema];
  const found = binding.environment.catalog.enumeration(name, schemas);
  return found === undefined ? undefined : enumTypeOf(found);
}

/** What a column reference means, looked up from the inside out. */
export function resolveColumn(binding: Binding, level: QueryLevel, reference: ColumnReference): Expression {
  const found = reference.parts.length === 1
    ? resolvePlain(binding, level, reference)
    : resolveQualified(binding, level, reference);
  binding.positions.set(found, reference.position);
  return found;
}

/** A copy, so that each reference can have its own position. */
function referTo(column: ScopeColumn): Expression {
  return { ...column.expression };
}

function resolvePlain(binding: Binding, level: QueryLevel, reference: ColumnReference): Expression {
  const name = reference.parts[0] ?? "";
  for (let each: QueryLevel | null = level; each !== null; each = each.parent) {
    const matches = each.from.columns.filter((column) => column.name === name);
    const [first] = matches;
    if (matches.length > 1) {
      throw binding.error(
        SQLSTATE.ambiguousColumn,
        `column reference "${name}" is ambiguous`,
        reference.position,
      );
    }
    if (first !== undefined) {
      if (binding.environment.variable?.(reference.parts) !== undefined) {
        throw ambiguousVariable(binding, reference);
      }
      return referTo(first);
    }
    const system = systemColumn(binding, each.from.tables, name, reference.position);
    if (system !== undefined) return system;
  }
  const table = findTable(binding, level, [name], reference.position);
  if (table !== undefined) return wholeRow(binding, table);
  const variable = resolveVariable(binding, reference);
  if (variable !== undefined) return variable;
  throw unknownColumn(binding, level, reference, name, null);
}

/** `rowid` and `tableoid` of the only stored table in scope; other system columns are refused. */
function systemColumn(
  binding: Binding,
  tables: readonly ScopeTable[],
  name: string,
  position: number,
): Expression | undefined {
  const isSystem = SYSTEM_COLUMNS.has(name);
  if (name !== "rowid" && name !== "tableoid" && !isSystem) return undefined;
  const stored = tables.filter((table) =>
    table.table !== null || (name === "tableoid" && systemRelationId(table) !== undefined)
  );
  const [only] = stored;
  if (only === undefined) return undefined;
  if (stored.length > 1) {
    throw binding.error(SQLSTATE.ambiguousColumn, `column reference "${name}" is ambiguous`, position);
  }
  return systemColumnOf(binding, only, name, position);
}

/** The number of the system relation that an item of FROM is, if it is one. */
function systemRelationId(table: ScopeTable): number | undefined {
  const id = table.relationName === null ? 0 : table.columns[0]?.tableId ?? 0;
  return id > 0 && id < FIRST_USER_OBJECT_ID ? id : undefined;
}

function systemColumnOf(
  binding: Binding,
  table: ScopeTable,
  name: string,
  position: number,
): Expression | undefined {
  if (table.table === null) {
    const id = name === "tableoid" ? systemRelationId(table) : undefined;
    return id === undefined ? undefined : constant({ kind: "oid" }, id);
  }
  if (name === "tableoid") return constant({ kind: "oid" }, table.table.id);
  if (name === "rowid") {
    return table.rowId === null ? undefined : columnReference(table.rowId, { kind: "i64" }, table.nullable);
  }
  if (SYSTEM_COLUMNS.has(name)) throw binding.unsupported(`system column "${name}"`, position);
  return undefined;
}

/** A variable of the block around the statement. */
function resolveVariable(binding: Binding, reference: ColumnReference): Expression | undefined {
  const { parts, position } = reference;
  const meaning = binding.environment.variable?.(parts);
  if (meaning === undefined) return undefined;
  if (meaning.kind === "scalar") return bindParameter(binding, meaning.number, position);
  const fields = meaning.fields.map((field) => bindParameter(binding, field.number, position));
  return {
    kind: "row",
    type: {
      kind: "record",
      fields: meaning.fields.map(({ name }, index) => ({
        name,
        type: fields[index]?.type ?? { kind: "unknown" },
      })),
    },
    fields,
  };
}

function ambiguousVariable(binding: Binding, reference: ColumnReference): Error {
  return binding.error(
    SQLSTATE.ambiguousColumn,
    `column reference "${reference.parts[0]}" is ambiguous`,
    reference.position,
    { detail: "It could refer to either a PL/pgSQL variable or a table column." },
  );
}

/** A table's name as a value: its row, which is NULL where an outer join found none. */
export function wholeRow(binding: Binding, table: ScopeTable): Expression {
  const [only] = table.columns;
  if (table.isScalar === true && only !== undefined) return referTo(only);
  const columns = table.columns.filter((column) => column.unlisted !== true);
  const fields = columns.map(referTo);
  const type: SqlType = {
    kind: "record",
    fields: columns.map((column) => ({ name: column.name, type: column.expression.type })),
  };
  const row: Expression = { kind: "row", type, fields, isValue: true };
  if (!table.nullable || table.presence === undefined || table.presence === null) return row;
  const when: Expression = {
    kind: "is_null",
    type: { kind: "bool" },
    argument: columnReference(table.presence, { kind: "bool" }, true),
    negated: true,
  };
  const value: Expression = { kind: "case", type, branches: [{ when, then: row }], otherwise: null };
  binding.rowFields.set(value, fields);
  return value;
}

/** The fields of a record whose columns are at hand, which are NULL where it is; undefined: it must be taken apart. */
export function fieldsOf(binding: Binding, record: Expression): readonly Expression[] | undefined {
  return record.kind === "row" ? record.fields : binding.rowFields.get(record);
}

/** The table that a qualifier means, or undefined; 42P09 when the innermost level that knows it has two of the name. */
export function findTable(
  binding: Binding,
  level: QueryLevel,
  qualifier: readonly string[],
  position: number,
): ScopeTable | undefined {
  const [name, schema] = qualifier.toReversed();
  for (let each: QueryLevel | null = level; each !== null; each = each.parent) {
    const found = each.from.tables.filter((table) =>
      table.name === name && (schema === undefined || table.schema === schema)
    );
    if (found.length > 1) {
      throw binding.error(SQLSTATE.ambiguousAlias, `table reference "${name}" is ambiguous`, position);
    }
    if (found.length > 0) return found[0];
  }
  return undefined;
}

function resolveQualified(binding: Binding, level: QueryLevel, reference: ColumnReference): Expression {
  const { parts, position } = reference;
  const name = parts[parts.length - 1] ?? "";
  const qualifier = parts.slice(0, -1);
  if (qualifier.length > 3) {
    throw binding.error(
      SQLSTATE.syntaxError,
      `improper qualified name (too many dotted names): ${parts.join(".")}`,
      position,
    );
  }
  const table = findTable(binding, level, qualifier, position);
  const variable = table === undefined ? resolveVariable(binding, reference) : undefined;
  if (variable !== undefined) return variable;
  if (table === undefined) throw missingTable(binding, level, qualifier, position);
  const matches = table.columns.filter((column) => column.name === name);
  const [first] = matches;
  if (matches.length > 1) {
    throw binding.error(SQLSTATE.ambiguousColumn, `column reference "${name}" is ambiguous`, position);
  }
  if (first !== undefined) return referTo(first);
  const system = systemColumnOf(binding, table, name, position);
  if (system !== undefined) return system;
  throw unknownColumn(binding, level, reference, name, table);
}

/** 42P01: a qualifier that names nothing visible. */
export function missingTable(
  binding: Binding,
  level: QueryLevel,
  qualifier: readonly string[],
  position: number,
): Error {
  const name = qualifier.join(".");
  const last = qualifier[qualifier.length - 1] ?? "";
  const levels: QueryLevel[] = [];
  for (let each: QueryLevel | null = level; each !== null; each = each.parent) levels.push(each);
  const renamed = levels.flatMap((each) => each.from.tables).find((table) =>
    table.relationName === last && table.name !== last
  );
  if (renamed !== undefined) {
    return binding.error(
      SQLSTATE.undefinedTable,
      `invalid reference to FROM-clause entry for table "${name}"`,
      position,
      { hint: `Perhaps you meant to reference the table alias "${renamed.name}".` },
    );
  }
  if (levels.some((each) => each.hiddenTables.some((table) => table.name === last))) {
    return binding.error(
      SQLSTATE.undefinedTable,
      `invalid reference to FROM-clause entry for table "${name}"`,
      position,
      {
        hint:
          `There is an entry for table "${name}", but it cannot be referenced from this part of the query.`,
      },
    );
  }
  const near = closest(last, levels.flatMap((each) => each.from.tables.map((table) => table.name)));
  return binding.error(
    SQLSTATE.undefinedTable,
    `missing FROM-clause entry for table "${name}"`,
    position,
    near === undefined ? {} : { hint: `Perhaps you meant to reference the table alias "${near}".` },
  );
}

function unknownColumn(
  binding: Binding,
  level: QueryLevel,
  reference: ColumnReference,
  name: string,
  table: ScopeTable | null,
): Error {
  const candidates = new Map<string, string>();
  const tables: ScopeTable[] = [];
  if (table !== null) tables.push(table);
  else {for (let each: QueryLevel | null = level; each !== null; each = each.parent) {
      tables.push(...each.from.tables);
    }}
  for (const each of tables) {
    for (const column of each.columns) {
      if (!candidates.has(column.name)) candidates.set(column.name, `${each.name}.${column.name}`);
    }
  }
  const near = closest(name, candidates.keys());
  const hint = near === undefined
    ? undefined
    : `Perhaps you meant to reference the column "${candidates.get(near) ?? near}".`;
  const written = table === null ? `"${name}"` : reference.parts.join(".");
  return binding.error(
    SQLSTATE.undefinedColumn,
    `column ${written} does not exist`,
    reference.position,
    hint === undefined ? {} : { hint },
  );
}
