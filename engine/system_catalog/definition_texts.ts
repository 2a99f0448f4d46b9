/**
 * Definitions as SQL text, in PostgreSQL's wording: what pg_get_indexdef, pg_get_constraintdef, pg_get_viewdef and
 * pg_get_triggerdef answer. Tools compare these texts with what they generate themselves.
 */
import type {
  ConstraintDefinition,
  ReferentialAction,
  TableDefinition,
  TriggerDefinition,
  ViewDefinition,
} from "../catalog/definitions.ts";
import { DEFAULT_TEXT } from "../catalog/triggers.ts";
import { type NameLookup, withoutSchemas, withSchemas } from "../sql/definition/stored_names.ts";
import { quoteIdentifier } from "../sql/parser/keywords.ts";
import type { ObjectName, TableItem } from "../sql/parser/ast.ts";
import { parseStatement } from "../sql/parser/statements.ts";
import type { CatalogContext } from "./catalog_context.ts";
import { expressionText, type IndexEntry, keyExpression, visibleNames } from "./table_objects.ts";

/** A name with its schema. */
export function qualifiedName(schema: string, name: string): string {
  return `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`;
}

/** The statement that creates statistics of columns, or the columns alone; null: there are none of the id. */
export function statisticsText({ catalog }: CatalogContext, id: number, whole: boolean): string | null {
  for (const table of catalog.tables) {
    const found = table.statistics?.find((each) => each.id === id);
    if (found === undefined) continue;
    const names = found.columns.flatMap((column) =>
      table.columns.find((each) => each.id === column)?.name ?? []
    );
    const columns = names.map(quoteIdentifier).join(", ");
    if (!whole) return columns;
    const kinds = found.kinds.length === 3 ? "" : ` (${found.kinds.join(", ")})`;
    return `CREATE STATISTICS ${qualifiedName(found.schema, found.name)}${kinds} ON ${columns} FROM ` +
      qualifiedName(table.schema, table.name);
  }
  return null;
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
export function indexKeyText(
  context: CatalogContext,
  index: IndexEntry,
  columnId: number,
  pretty: boolean,
): string {
  const expression = keyExpression(index.table, columnId);
  if (expression === null) return columnName(index.table, columnId);
  const text = expressionText(expression, pretty, context);
  return /^[a-z_][a-z0-9_]*\(.*\)$/.test(text) || (pretty && text.startsWith("(")) ? text : `(${text})`;
}

function keyWithOrder(context: CatalogContext, index: IndexEntry, position: number, pretty: boolean): string {
  const column = index.columns[position];
  if (column === undefined) return "";
  const direction = column.descending ? " DESC" : "";
  const nulls = column.nullsFirst === column.descending
    ? ""
    : column.nullsFirst
    ? " NULLS FIRST"
    : " NULLS LAST";
  return `${indexKeyText(context, index, column.columnId, pretty)}${direction}${nulls}`;
}

/** The CREATE INDEX statement of an index; `qualified`: with the schema of its table. */
export function indexDefinition(
  context: CatalogContext,
  index: IndexEntry,
  { pretty, qualified }: { readonly pretty: boolean; readonly qualified: boolean },
): string {
  const { table } = index;
  const keys = index.columns.map((_, position) => keyWithOrder(context, index, position, pretty)).join(", ");
  const target = qualified ? qualifiedName(table.schema, table.name) : quoteIdentifier(table.name);
  const includes = index.includes.length === 0 ? "" : ` INCLUDE (${columnNames(table, index.includes)})`;
  const nulls = index.nullsNotDistinct ? " NULLS NOT DISTINCT" : "";
  const predicate = index.predicateText === null
    ? ""
    : ` WHERE ${
      pretty
        ? withoutParentheses(expressionText(index.predicateText, true, context))
        : parenthesized(expressionText(index.predicateText, false, context))
    }`;
  return `CREATE ${index.unique ? "UNIQUE " : ""}INDEX ${
    quoteIdentifier(index.name)
  } ON ${target} USING btree (${keys})${includes}${nulls}${predicate}`;
}

function parenthesized(text: string): string {
  return text.startsWith("(") && text.endsWith(")") ? text : `(${text})`;
}

/** Without the parentheses around the whole text. */
function withoutParentheses(text: string): string {
  if (!text.startsWith("(") || !text.endsWith(")") || /['"]/.test(text)) return text;
  let depth = 0;
  for (const [index, character] of [...text].entries()) {
    if (character === "(") depth++;
    else if (character === ")" && --depth === 0 && index < text.length - 1) return text;
  }
  return text.slice(1, -1);
}

const ACTIONS: Readonly<Record<ReferentialAction, string>> = {
  "no action": "",
  restrict: "RESTRICT",
  cascade: "CASCADE",
  "set null": "SET NULL",
  "set default": "SET DEFAULT",
};

/** The definition of a constraint, as it is in CREATE TABLE. */
export function constraintText(
  context: CatalogContext,
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
        ? `CHECK (${expressionText(constraint.text, true, context)})`
        : `CHECK (${parenthesized(expressionText(constraint.text, false, context))})`;
    case "foreign_key": {
      const target = context.catalog.table(constraint.referencedTableId);
      if (target === undefined) return "";
      const isVisible = context.searchPath.includes(target.schema);
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

/** What a trigger does, as it is in CREATE TRIGGER. */
export function triggerAction(
  context: CatalogContext,
  table: TableDefinition,
  { action }: TriggerDefinition,
  pretty: boolean,
): string {
  switch (action.kind) {
    case "reject":
      return `REJECT '${action.message.replaceAll("'", "''")}'`;
    case "execute":
      return `EXECUTE FUNCTION ${expressionText(action.text, pretty, context)}`;
    case "set": {
      const assignments = action.assignments.map(({ columnId, text }) =>
        `${columnName(table, columnId)} = ${
          text === DEFAULT_TEXT ? text : expressionText(text, pretty, context)
        }`
      );
      return `SET ${assignments.join(", ")}`;
    }
  }
}

/** The CREATE TRIGGER statement of a trigger. */
export function triggerDefinition(
  context: CatalogContext,
  table: TableDefinition,
  trigger: TriggerDefinition,
  { pretty, qualified }: { readonly pretty: boolean; readonly qualified: boolean },
): string {
  const events = trigger.events.map((event) =>
    event === "update" && trigger.updateColumns.length > 0
      ? `UPDATE OF ${columnNames(table, trigger.updateColumns)}`
      : event.toUpperCase()
  ).join(" OR ");
  const target = qualified ? qualifiedName(table.schema, table.name) : quoteIdentifier(table.name);
  const when = trigger.whenText === null
    ? ""
    : ` WHEN (${
      pretty
        ? withoutParentheses(expressionText(trigger.whenText, true, context))
        : expressionText(trigger.whenText, false, context)
    })`;
  return `CREATE TRIGGER ${quoteIdentifier(trigger.name)} BEFORE ${events} ON ${target} FOR EACH ROW${when} ${
    triggerAction(context, table, trigger, pretty)
  }`;
}

/**
 * The query of a view, as it was written. Names that the session does not find without their schemas keep them: a
 * dump must mean the same wherever it is read.
 */
export function viewText(context: CatalogContext, view: ViewDefinition): string {
  const text = view.text.trim().replace(/;$/, "");
  // Texts of older versions name what is in the view's own schema without it.
  const own: NameLookup = {
    typeSchema: (name) => context.catalog.enumeration(name, [view.schema])?.schema,
    relationSchema: (name) =>
      context.catalog.relation(view.schema, name) === undefined ? undefined : view.schema,
    functionSchema: () => undefined,
  };
  return ` ${withoutSchemas(withSchemas(text, "query", own), "query", visibleNames(context))};`;
}

/** The tables and views that a view reads. */
export function viewRelations(context: CatalogContext, view: ViewDefinition): Set<number> {
  const names: ObjectName[] = [];
  const local = new Set<string>();
  collectTables(parseStatement(view.text).statement, names, local);
  const ids = new Set<number>();
  for (const { name, schema } of names) {
    if (schema === null && local.has(name)) continue;
    const found = context.catalog.relation(schema ?? view.schema, name);
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
