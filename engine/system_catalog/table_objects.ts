/**
 * A table's indexes and expressions as the catalog shows them.
 *
 * A primary key that is the row id has no index of its own: rows are found by id. Clients look for primary keys in
 * pg_index, so it is shown with one, whose object identifier is that of the constraint.
 */
import { LIMITS } from "../base/limits.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { visibleKey } from "../catalog/index_keys.ts";
import type {
  ColumnDefinition,
  ConstraintDefinition,
  IndexColumn,
  IndexDefinition,
  TableDefinition,
} from "../catalog/definitions.ts";
import { type NameLookup, schemaOf, withoutSchemas } from "../sql/definition/stored_names.ts";
import { quoteIdentifier } from "../sql/parser/keywords.ts";
import { formatExpression } from "../sql/parser/format_expression.ts";
import { parseExpression } from "../sql/parser/statements.ts";
import type { SqlType } from "../types/sql_type.ts";
import { formatTypeFamily } from "../types/type_names.ts";
import type { CatalogContext } from "./catalog_context.ts";

/** An index as pg_index shows it. */
export interface IndexEntry {
  readonly id: number;
  readonly name: string;
  readonly table: TableDefinition;
  readonly columns: readonly IndexColumn[];
  readonly includes: readonly number[];
  readonly unique: boolean;
  readonly primary: boolean;
  readonly nullsNotDistinct: boolean;
  readonly predicateText: string | null;
  readonly comment: string | null;
  /** null: the row id itself. */
  readonly stored: IndexDefinition | null;
}

const entries = new WeakMap<TableDefinition, readonly IndexEntry[]>();

/** All indexes of a table, that of a row id included. */
export function indexesOf(table: TableDefinition): readonly IndexEntry[] {
  let known = entries.get(table);
  if (known === undefined) {
    known = listIndexes(table);
    entries.set(table, known);
  }
  return known;
}

function listIndexes(table: TableDefinition): IndexEntry[] {
  const result: IndexEntry[] = [];
  const primary = table.constraints.find((each) => each.kind === "primary_key");
  if (primary !== undefined && primary.indexId === null) {
    result.push({
      id: primary.id,
      name: primary.name,
      table,
      columns: primary.columns.map((columnId) => ({ columnId, descending: false, nullsFirst: false })),
      includes: [],
      unique: true,
      primary: true,
      nullsNotDistinct: false,
      predicateText: null,
      comment: null,
      stored: null,
    });
  }
  for (const index of table.indexes) {
    result.push({
      id: index.id,
      name: index.name,
      table,
      columns: visibleKey(index),
      includes: index.includes,
      unique: index.unique,
      primary: primary?.indexId === index.id,
      nullsNotDistinct: index.nullsNotDistinct,
      predicateText: index.predicateText,
      comment: index.comment,
      stored: index,
    });
  }
  return result;
}

const entriesById = new WeakMap<Catalog, ReadonlyMap<number, IndexEntry>>();

/** The index of a number, and of which table. */
export function indexById(catalog: Catalog, id: number): IndexEntry | undefined {
  let known = entriesById.get(catalog);
  if (known === undefined) {
    known = new Map(catalog.tables.flatMap((table) => indexesOf(table).map((index) => [index.id, index])));
    entriesById.set(catalog, known);
  }
  return known.get(id);
}

/** A row id's index by name; others are relations of the catalog itself. */
export function rowIdIndex(
  catalog: Catalog,
  schemas: readonly string[],
  name: string,
): IndexEntry | undefined {
  for (const schema of schemas) {
    for (const table of catalog.tables) {
      if (table.schema !== schema) continue;
      const found = indexesOf(table).find((index) => index.stored === null && index.name === name);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** The index that serves a constraint, or 0. */
export function constraintIndexId(catalog: Catalog, constraint: ConstraintDefinition): number {
  switch (constraint.kind) {
    case "primary_key":
      return constraint.indexId ?? constraint.id;
    case "unique":
      return constraint.indexId;
    case "check":
      return 0;
    case "foreign_key": {
      const target = catalog.table(constraint.referencedTableId);
      if (target === undefined) return 0;
      const wanted = constraint.referencedColumns.toSorted((a, b) => a - b).join();
      const index = indexesOf(target).find((each) =>
        each.unique && each.columns.map((column) => column.columnId).sort((a, b) => a - b).join() === wanted
      );
      return index?.id ?? 0;
    }
  }
}

/** Columns that users see. */
export function shownColumns(table: TableDefinition): readonly ColumnDefinition[] {
  return table.columns.some((column) => column.hidden)
    ? table.columns.filter((column) => !column.hidden)
    : table.columns;
}

/** The expression of an index key that is no plain column, or null. */
export function keyExpression(table: TableDefinition, columnId: number): string | null {
  const column = table.columns.find((each) => each.id === columnId);
  return column?.hidden === true ? column.generatedText : null;
}

/** The number of a column in pg_index and its kin: 0 for an expression. */
export function keyNumber(table: TableDefinition, columnId: number): number {
  return keyExpression(table, columnId) === null ? columnId : 0;
}

/** The text of a column's DEFAULT or generation expression as pg_attrdef holds it, or null. */
export function defaultTextOf(catalog: Catalog, column: ColumnDefinition): string | null {
  if (column.generatedText !== null) return column.generatedText;
  if (column.identity !== null) return null;
  const text = column.defaultText;
  if (text === null) return null;
  const sequence = column.sequenceId === null ? undefined : catalog.sequence(column.sequenceId);
  if (sequence !== undefined && /^nextval\(/.test(text)) {
    const name = `${quoteIdentifier(sequence.schema)}.${quoteIdentifier(sequence.name)}`;
    return `nextval('${name.replaceAll("'", "''")}'::regclass)`;
  }
  // PostgreSQL stores a string already converted to the column's type, and prints it so.
  if (!/^'(?:[^']|'')*'$/.test(text)) return text;
  return plainConstant(text.slice(1, -1), column.type) ?? `${text}::${typeWithSchema(catalog, column.type)}`;
}

/** A type's name without modifiers, an enumerated one's with its schema. */
function typeWithSchema(catalog: Catalog, type: SqlType): string {
  if (type.kind === "array") return `${typeWithSchema(catalog, type.element)}[]`;
  const enumeration = type.kind === "enum" ? catalog.enums.find((each) => each.id === type.id) : undefined;
  return enumeration === undefined
    ? formatTypeFamily(type)
    : `${quoteIdentifier(enumeration.schema)}.${quoteIdentifier(enumeration.name)}`;
}

/** Numbers without a sign and booleans are printed without quotes. */
function plainConstant(written: string, type: SqlType): string | null {
  switch (type.kind) {
    case "bool":
      return /^t(rue)?$/i.test(written) ? "true" : /^f(alse)?$/i.test(written) ? "false" : null;
    case "i16":
    case "i32":
    case "numeric":
      return /^\d{1,9}(\.\d+)?$/.test(written) ? written : null;
    default:
      return null;
  }
}

/** What names mean to the session that a text is printed for. */
export function visibleNames({ catalog, searchPath: path }: CatalogContext): NameLookup {
  return {
    typeSchema: (name) => catalog.enumeration(name, path)?.schema,
    relationSchema: (name) => {
      const found = catalog.findRelation(name, path);
      return found === undefined ? undefined : schemaOf(found);
    },
    functionSchema: (name) => catalog.functionsNamed(name, path)[0]?.schema,
  };
}

/**
 * An expression as `pg_get_expr` prints it: with every operator in parentheses, or as it was written. Types and
 * relations are named without their schemas where the search path finds them.
 */
export function expressionText(text: string, pretty: boolean, context: CatalogContext): string {
  return withoutSchemas(pretty ? text : formatted(text), "expression", visibleNames(context));
}

function formatted(text: string): string {
  const known = printed.get(text);
  if (known !== undefined) return known;
  const result = formatExpression(parseExpression(text));
  if (printed.size >= LIMITS.keptExpressionTexts) printed.clear();
  printed.set(text, result);
  return result;
}

const printed = new Map<string, string>();
