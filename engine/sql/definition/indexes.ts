/**
 * CREATE INDEX. Keys that are expressions become hidden generated columns, filled for the rows that are there; a unique
 * index with a predicate gets a hidden mask as its last key part (see `catalog/index_keys.ts`).
 */
import { SQLSTATE } from "../../base/errors.ts";
import { hasMask, visibleKey, withoutUnusedKeys } from "../../catalog/index_keys.ts";
import type {
  ColumnDefinition,
  IndexColumn,
  IndexDefinition,
  TableDefinition,
} from "../../catalog/definitions.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { requireCollation } from "../functions/collations.ts";
import { requireOperatorClass } from "../functions/operator_class_names.ts";
import type { Expression as Ast } from "../parser/ast.ts";
import type { CreateIndex, IndexKey } from "../parser/ast.ts";
import { formatExpression } from "../parser/format_expression.ts";
import type { Expression } from "../plan/expression.ts";
import { keyColumn, requireIndexWidth } from "./constraints.ts";
import { columnFor, storageOptions } from "./create_table.ts";
import { callPosition, type DefinitionBinder, walkExpression } from "./definition_binder.ts";
import type { TableExpression } from "./definition_plan.ts";

/** Access methods whose equality and order the sorted indexes serve. */
const METHODS = ["btree", "hash"];

/** An index to be made: keys are columns of the table or texts of expressions. */
interface IndexPlan {
  readonly name: string;
  readonly kind: IndexDefinition["kind"];
  readonly unique: boolean;
  readonly nullsNotDistinct: boolean;
  readonly keys: readonly {
    readonly column: ColumnDefinition | null;
    readonly text: string;
    readonly descending: boolean;
    readonly nullsFirst: boolean;
  }[];
  readonly includes: readonly number[];
  readonly predicateText: string | null;
  readonly comment: string | null;
}

/** CREATE [UNIQUE | RANGE] INDEX. */
export function createIndex(binder: DefinitionBinder, ast: CreateIndex): string {
  const tag = "CREATE INDEX";
  const table = binder.table(ast.table);
  binder.requireNoPendingChecks(table, tag);
  if (ast.method !== null && !METHODS.includes(ast.method)) {
    throw binder.unsupported(`index method "${ast.method}"`, ast.position);
  }
  if (ast.method === "hash") refuseForHash(binder, ast);
  storageOptions(binder, ast.options);
  requireIndexWidth(binder, ast.keys.length, ast.position);
  const method = ast.method ?? "btree";
  const names: string[] = [];
  const keys = ast.keys.map((key) => {
    const order = {
      descending: key.descending,
      nullsFirst: key.nulls === null ? key.descending : key.nulls === "first",
    };
    const { expression } = key;
    if (expression.kind === "column" && expression.parts.length === 1) {
      const column = keyColumn(binder, table, expression.parts[0] ?? "", key.position);
      requireOrder(binder, key, column.type, method);
      names.push(column.name);
      return { column, text: "", ...order };
    }
    const { type } = requireKey(binder, table, expression, "index expressions");
    requireOrder(binder, key, type, method);
    names.push(nameOf(expression, names));
    return { column: null, text: binder.once(() => formatExpression(expression)), ...order };
  });
  if (ast.where !== null) requireKey(binder, table, ast.where, "index predicates");
  const name = ast.name ?? binder.freeName(table.schema, [table.name, ...names], "idx");
  if (binder.isTaken(table.schema, name)) {
    if (!ast.ifNotExists) {
      throw binder.error(SQLSTATE.duplicateTable, `relation "${name}" already exists`, ast.position);
    }
    binder.notice(SQLSTATE.duplicateTable, `relation "${name}" already exists, skipping`);
    return tag;
  }
  makeIndex(binder, table, {
    name,
    kind: ast.range ? "range" : "plain",
    unique: ast.unique,
    nullsNotDistinct: ast.nullsNotDistinct,
    keys,
    includes: ast.include.map((each) => keyColumn(binder, table, each, ast.position).id),
    predicateText: ast.where === null ? null : formatExpression(ast.where),
    comment: null,
  });
  return tag;
}

/** What PostgreSQL's hash indexes are not served by. */
function refuseForHash(binder: DefinitionBinder, ast: CreateIndex): void {
  const refuse = (what: string) => {
    throw binder.error(
      SQLSTATE.featureNotSupported,
      `access method "hash" does not support ${what}`,
      ast.position,
    );
  };
  if (ast.unique) refuse("unique indexes");
  if (ast.include.length > 0) refuse("included columns");
  if (ast.keys.length > 1) refuse("multicolumn indexes");
  if (ast.keys.some((key) => key.descending)) refuse("ASC/DESC options");
  if (ast.keys.some((key) => key.nulls !== null)) refuse("NULLS FIRST/LAST options");
}

/** Makes an index anew over a table whose columns have other types or ids than those of `old`. */
export function remakeIndex(
  binder: DefinitionBinder,
  table: TableDefinition,
  old: TableDefinition,
  index: IndexDefinition,
): TableDefinition {
  const oldColumn = (id: number): ColumnDefinition | undefined => old.columns.find((each) => each.id === id);
  const sameColumn = (id: number): ColumnDefinition | undefined =>
    table.columns.find((each) => each.name === oldColumn(id)?.name);
  return makeIndex(binder, table, {
    ...index,
    keys: visibleKey(index).map((part) => {
      const before = oldColumn(part.columnId);
      const isExpression = before?.hidden === true;
      return {
        column: isExpression ? null : sameColumn(part.columnId) ?? null,
        text: before?.generatedText ?? "",
        descending: part.descending,
        nullsFirst: part.nullsFirst,
      };
    }),
    includes: index.includes.flatMap((id) => sameColumn(id)?.id ?? []),
  });
}

/** A table without an index and without what only that index needed. */
export function withoutIndexes(table: TableDefinition, ids: readonly number[]): TableDefinition {
  return withoutUnusedKeys({ ...table, indexes: table.indexes.filter((index) => !ids.includes(index.id)) });
}

/** Pushes the steps that fill hidden columns, check uniqueness and put the index. */
function makeIndex(binder: DefinitionBinder, table: TableDefinition, plan: IndexPlan): TableDefinition {
  const id = binder.newId();
  let next = table;
  const columns: IndexColumn[] = [];
  const filled: ColumnDefinition[] = [];
  const addHidden = (text: string, type: ColumnDefinition["type"]): number => {
    const same = next.columns.find((each) => each.hidden && each.generatedText === text);
    if (same !== undefined) return same.id;
    // No identifier holds this character, so that no column of the user's can have the name.
    const column = {
      ...columnFor(next.nextColumnId, `\u0000${id}.${columns.length + 1}`, type),
      generatedText: text,
      hidden: true,
    };
    next = { ...next, columns: [...next.columns, column], nextColumnId: next.nextColumnId + 1 };
    filled.push(column);
    return column.id;
  };
  for (const key of plan.keys) {
    const columnId = key.column?.id ??
      addHidden(key.text, binder.bindText(key.text, table, "index expressions", null).expression.type);
    columns.push({ columnId, descending: key.descending, nullsFirst: key.nullsFirst });
  }
  const index: IndexDefinition = {
    id,
    name: plan.name,
    kind: plan.kind,
    unique: plan.unique,
    nullsNotDistinct: plan.nullsNotDistinct,
    columns,
    includes: plan.includes,
    predicateText: plan.predicateText,
    comment: plan.comment,
  };
  if (hasMask(index)) {
    const columnId = addHidden(`CASE WHEN ${plan.predicateText} THEN true END`, { kind: "bool" });
    columns.push({ columnId, descending: false, nullsFirst: false });
  }
  if (filled.length > 0) binder.putTable(next);
  for (const column of filled) {
    binder.steps.push({
      kind: "fill_column",
      table: next,
      columnId: column.id,
      value: bindHidden(binder, next, column),
    });
  }
  if (index.unique) binder.steps.push({ kind: "validate_unique", table: next, index });
  return binder.putTable({ ...next, indexes: [...next.indexes, index] });
}

function bindHidden(
  binder: DefinitionBinder,
  table: TableDefinition,
  column: ColumnDefinition,
): TableExpression {
  return binder.bindText(column.generatedText ?? "NULL", table, "index expressions", {
    type: column.type,
    column: column.name,
  });
}

/** The collation and operator class of a key must be there and of its type. */
function requireOrder(binder: DefinitionBinder, key: IndexKey, type: SqlType, method: string): void {
  const { position } = key;
  requireCollation(binder, type, key.collation, position);
  requireOperatorClass({ errors: binder, method, offset: position }, type, key.operatorClass);
}

/** The expression of an index; raises what PostgreSQL raises for those that cannot be in one. */
function requireKey(
  binder: DefinitionBinder,
  table: TableDefinition,
  ast: Ast,
  clause: "index expressions" | "index predicates",
): Expression {
  const isPredicate = clause === "index predicates";
  const { expression } = binder.bind(ast, table, clause, isPredicate ? "condition" : null);
  const what = isPredicate ? "index predicate" : "index expression";
  binder.once(() =>
    walkExpression(expression, (each) => {
      if (volatilityOfOne(each) === "immutable") return;
      const called = each.kind === "call" ? each.function : null;
      throw binder.error(
        SQLSTATE.invalidObjectDefinition,
        `functions in ${what} must be marked IMMUTABLE`,
        called === null ? ast.position : callPosition(ast, called.name),
        called === null ? {} : { detail: `Function ${called.name}() is ${called.volatility}.` },
      );
    })
  );
  if (!isPredicate && expression.type.kind === "json") {
    throw binder.error(
      SQLSTATE.undefinedObject,
      'data type json has no default operator class for access method "btree"',
      ast.position,
      {
        hint:
          "You must specify an operator class for the index or define a default operator class for the data type.",
      },
    );
  }
  if (!isPredicate && expression.type.kind === "record") {
    throw binder.error(
      SQLSTATE.invalidTableDefinition,
      'column "row" has pseudo-type record',
      ast.position,
    );
  }
  return expression;
}

function volatilityOfOne(expression: Expression): string {
  switch (expression.kind) {
    case "call":
      return expression.function.volatility;
    case "cast":
      return expression.cast.volatility;
    default:
      return "immutable";
  }
}

/** What PostgreSQL calls the key in the name that it makes for an index. */
function nameOf(expression: Ast, taken: readonly string[]): string {
  const base = columnNameOf(expression);
  for (let number = 0;; number++) {
    const name = number === 0 ? base : `${base}${number}`;
    if (!taken.includes(name)) return name;
  }
}

function columnNameOf(expression: Ast): string {
  return expression.kind === "call" ? expression.name.at(-1) ?? "expr" : "expr";
}
