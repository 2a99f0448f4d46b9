/** The variables that DECLARE makes. */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { closest } from "../../base/suggest.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { TableDefinition } from "../../catalog/definitions.ts";
import { typeOfName } from "../../sql/binder/standalone.ts";
import type { Declaration } from "../../sql/procedural/block.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { type Field, fieldIndex, type Scope, type Variable } from "./variables.ts";

/** Where the names of tables and types are looked up. */
export interface NameResolution {
  readonly catalog: Catalog;
  readonly evaluation: { readonly searchPath: readonly string[] };
}

/** The variable of a declaration, without a value yet. Raises 42704 for an unknown type, 42P01, 42703. */
export function declaredVariable(names: NameResolution, declaration: Declaration, scope: Scope): Variable {
  const { name, type, constant, notNull } = declaration;
  switch (type.kind) {
    case "record":
      return { kind: "record", name, fields: [], values: [], fixed: false, isAssigned: false };
    case "row_of":
      return rowVariable(name, fieldsOf(tableNamed(names, type.parts)));
    case "named": {
      const resolved = namedType(names, type.name);
      if (!("kind" in resolved)) return rowVariable(name, resolved.fields);
      return { kind: "scalar", name, type: resolved, constant, notNull, value: null };
    }
    case "same_as":
      return {
        kind: "scalar",
        name,
        type: typeLike(names, type.parts, scope),
        constant,
        notNull,
        value: null,
      };
  }
}

function rowVariable(name: string, fields: readonly Field[]): Variable {
  return { kind: "record", name, fields, values: fields.map(() => null), fixed: true, isAssigned: true };
}

/** A type, or the columns of the table of that name, whose rows are a type too. */
function namedType(
  names: NameResolution,
  name: Parameters<typeof typeOfName>[0],
): SqlType | { readonly fields: readonly Field[] } {
  try {
    return typeOfName(name, names.catalog, names.evaluation.searchPath);
  } catch (thrown) {
    const isUnknown = thrown instanceof DatabaseError && thrown.code === SQLSTATE.undefinedObject;
    const table = isUnknown ? findTable(names, name.name) : undefined;
    if (table === undefined) throw thrown;
    return { fields: fieldsOf(table) };
  }
}

/** The type of a variable or of a table's column. */
function typeLike(names: NameResolution, parts: readonly string[], scope: Scope): SqlType {
  const found = scope.find(parts);
  if (found !== undefined) {
    const { variable, rest: [field] } = found;
    if (variable.kind === "scalar" && field === undefined) return variable.type;
    if (variable.kind === "record" && field !== undefined) {
      const known = variable.fields[fieldIndex(variable, field)];
      if (known !== undefined) return known.type;
    }
  }
  const columnName = parts.at(-1) ?? "";
  const table = tableNamed(names, parts.slice(0, -1));
  const column = table.columns.find((each) => !each.hidden && each.name === columnName);
  if (column !== undefined) return column.type;
  const near = closest(columnName, table.columns.map((each) => each.name));
  throw new DatabaseError(
    SQLSTATE.undefinedColumn,
    `column "${columnName}" of relation "${table.name}" does not exist`,
    near === undefined ? {} : { hint: `Did you mean "${near}"?` },
  );
}

function tableNamed(names: NameResolution, parts: readonly string[]): TableDefinition {
  const table = findTable(names, parts);
  if (table !== undefined) return table;
  throw new DatabaseError(SQLSTATE.undefinedTable, `relation "${parts.join(".")}" does not exist`);
}

function findTable(names: NameResolution, parts: readonly string[]): TableDefinition | undefined {
  const [name = "", schema] = parts.toReversed();
  const relation = schema === undefined
    ? names.catalog.findRelation(name, names.evaluation.searchPath)
    : names.catalog.relation(schema, name);
  return relation?.kind === "table" ? relation.table : undefined;
}

function fieldsOf(table: TableDefinition): Field[] {
  return table.columns.filter((column) => !column.hidden).map(({ name, type }) => ({ name, type }));
}
