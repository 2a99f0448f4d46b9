/**
 * Definitions as SQL text, in PostgreSQL's wording: what pg_get_indexdef, pg_get_constraintdef, pg_get_viewdef and
 * pg_get_triggerdef answer. Tools compare these texts with what they generate themselves.
 */
import type {
  ConstraintDefinition,
  ReferentialAction,
  TableDefinition,
  ViewDefinition,
} from "../../catalog/definitions.ts";
import { quoteIdentifier } from "../../sql/parser/keywords.ts";
import type { ObjectName, TableItem } from "../../sql/parser/ast.ts";
import { parseStatement } from "../../sql/parser/statements.ts";
import type { Session } from "../session.ts";
import { expressionText, type IndexEntry, keyExpression } from "./table_objects.ts";

/** A name with its schema. */
export function qualifiedName(schema: string, name: string): string {
  return `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`;
}

/** The name of a column, quoted where SQL needs it. */
export function columnName(table: TableDefinition, columnId: number): string {
  return quoteIdentifier(
    table.columns.find((column) => column.id === columnId)?.name ?? `column ${columnId}`,
  );
}

function columnNames(table: TableDefinition, columns: readonly number[]): string {
  return columns.map((columnId) => columnName(table, columnId)).join(", ");
}

/** One key of an index, without its direction. */
export function indexKeyText(index: IndexEntry, columnId: number, pretty: boolean): string {
  const expression = keyExpression(index.table, columnId);
  if (expression === null) return columnName(index.table, columnId);
  const text = expressionText(expression, pretty, []);
  return /^[a-z_][a-z0-9_]*\(.*\)$/.test(text) || (pretty && text.startsWith("(")) ? text : `(${text})`;
}

function keyWithOrder(index: IndexEntry, position: number, pretty: boolean): string {
  const column = index.columns[position];
  if (column === undefined) return "";
  const direction = column.descending ? " DESC" : "";
  const nulls = column.nullsFirst === column.descending
    ? ""
    : column.nullsFirst
    ? " NULLS FIRST"
    : " NULLS LAST";
  return `${indexKeyText(index, column.columnId, pretty)}${direction}${nulls}`;
}

/** The CREATE INDEX statement of an index. `pretty` leaves out what the search path makes superfluous. */
export function indexDefinition(index: IndexEntry, pretty: boolean): string {
  const { table } = index;
  const keys = index.columns.map((_, position) => keyWithOrder(index, position, pretty)).join(", ");
  const target = pretty ? quoteIdentifier(table.name) : qualifiedName(table.schema, table.name);
  const includes = index.includes.length === 0 ? "" : ` INCLUDE (${columnNames(table, index.includes)})`;
  const nulls = index.nullsNotDistinct ? " NULLS NOT DISTINCT" : "";
  const predicate = index.predicateText === null
    ? ""
    : ` WHERE ${
      pretty
        ? expressionText(index.predicateText, true, [])
        : parenthesised(expressionText(index.predicateText, false, []))
    }`;
  return `CREATE ${index.unique ? "UNIQUE " : ""}INDEX ${
    quoteIdentifier(index.name)
  } ON ${target} USING btree (${keys})${includes}${nulls}${predicate}`;
}

function parenthesised(text: string): string {
  return text.startsWith("(") && text.endsWith(")") ? text : `(${text})`;
}

const ACTIONS: Readonly<Record<ReferentialAction, string>> = {
  "no action": "",
  restrict: "RESTRICT",
  cascade: "CASCADE",
  "set null": "SET NULL",
  "set default": "SET DEFAULT",
};

/** The definition of a constraint, as it stands in CREATE TABLE. */
export function constraintText(
  session: Session,
  table: TableDefinition,
  constraint: ConstraintDefinition,
  pretty: boolean,
): string {
  switch (constraint.kind) {
    case "primary_key":
      return `PRIMARY KEY (${columnNames(table, constraint.columns)})`;
    case "unique":
      return `UNIQUE${constraint.nullsNotDistinct ? " NULLS NOT DISTINCT" : ""} (${
        columnNames(table, constraint.columns)
      })`;
    case "check":
      return pretty
        ? `CHECK (${expressionText(constraint.text, true, [])})`
        : `CHECK (${parenthesised(expressionText(constraint.text, false, []))})`;
    case "foreign_key": {
      const target = session.catalog.table(constraint.referencedTableId);
      if (target === undefined) return "";
      const isVisible = session.evaluation.searchPath.includes(target.schema);
      const name = isVisible ? quoteIdentifier(target.name) : qualifiedName(target.schema, target.name);
      const onDeleteColumns = constraint.onDeleteColumns.length === 0
        ? ""
        : ` (${columnNames(table, constraint.onDeleteColumns)})`;
      return [
        `FOREIGN KEY (${columnNames(table, constraint.columns)}) REFERENCES ${name}(${
          columnNames(target, constraint.referencedColumns)
        })`,
        constraint.match === "full" ? "MATCH FULL" : "",
        ACTIONS[constraint.onUpdate] === "" ? "" : `ON UPDATE ${ACTIONS[constraint.onUpdate]}`,
        ACTIONS[constraint.onDelete] === ""
          ? ""
          : `ON DELETE ${ACTIONS[constraint.onDelete]}${onDeleteColumns}`,
        constraint.deferrable ? "DEFERRABLE" : "",
        constraint.initiallyDeferred ? "INITIALLY DEFERRED" : "",
      ].filter((part) => part !== "").join(" ");
    }
  }
}

/**
 * The query of a view. Tables of its schema get that schema's name when the session would not find them without: a dump
 * must mean the same wherever it is read.
 */
export function viewText(session: Session, view: ViewDefinition): string {
  const text = view.text.trim().replace(/;$/, "");
  if (session.evaluation.searchPath.includes(view.schema)) return ` ${text};`;
  const names: ObjectName[] = [];
  const local = new Set<string>();
  collectTables(parseStatement(text).statement, names, local);
  const prefix = `${quoteIdentifier(view.schema)}.`;
  let qualified = text;
  for (const { name, schema, position } of names.toSorted((a, b) => b.position - a.position)) {
    if (schema !== null || local.has(name)) continue;
    if (session.catalog.relation(view.schema, name) === undefined) continue;
    qualified = qualified.slice(0, position) + prefix + qualified.slice(position);
  }
  return ` ${qualified};`;
}

/** The tables and views that a view reads. */
export function viewRelations(session: Session, view: ViewDefinition): Set<number> {
  const names: ObjectName[] = [];
  const local = new Set<string>();
  collectTables(parseStatement(view.text).statement, names, local);
  const ids = new Set<number>();
  for (const { name, schema } of names) {
    if (schema === null && local.has(name)) continue;
    const found = session.catalog.relation(schema ?? view.schema, name);
    if (found?.kind === "table") ids.add(found.table.id);
    if (found?.kind === "view") ids.add(found.view.id);
  }
  return ids;
}

/** The names of the tables in any part of a syntax tree, and those that WITH gives to queries. */
function collectTables(node: unknown, names: ObjectName[], local: Set<string>): void {
  if (Array.isArray(node)) {
    for (const each of node) collectTables(each, names, local);
    return;
  }
  if (typeof node !== "object" || node === null) return;
  if (isTableItem(node)) names.push(node.name);
  if ("materialized" in node && "name" in node && typeof node.name === "string") local.add(node.name);
  for (const child of Object.values(node)) collectTables(child, names, local);
}

function isTableItem(node: object): node is TableItem {
  return "kind" in node && node.kind === "table" && "rowId" in node;
}
