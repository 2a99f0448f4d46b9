/** Binding of joins: conditions, the merged columns of USING and NATURAL, and rows that may be missing. */
import { SQLSTATE } from "../../base/errors.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { JoinItem } from "../parser/ast.ts";
import { BOOLEAN, columnReference, conjunction, TRUE } from "../plan/build.ts";
import { mapOperands } from "../plan/rewrite.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { JoinKind, Plan } from "../plan/plan.ts";
import { allDefinedColumns, columnsOf, freeColumns } from "../plan/traverse.ts";
import type { Binding } from "./binding.ts";
import { inClause } from "./call_binder.ts";
import { coerceImplicit, commonTypeOf } from "./coercion.ts";
import { bindBinary, bindCondition } from "./expression_binder.ts";
import { type FromScope, nullableScope, QueryLevel, type ScopeColumn, type ScopeTable } from "./scope.ts";
import { type BoundFrom, checkAliases, mergeScopes, renamed } from "./bound_from.ts";
import { bindItem } from "./from_binder.ts";

/** A join; correlated when the right side refers to the left. */
export function join(kind: JoinKind, left: Plan, right: Plan, condition: Expression | null): Plan {
  const defined = allDefinedColumns(left);
  const correlated = [...freeColumns(right)].some((column) => defined.has(column));
  return { kind: "nested_loop_join", join: kind, left, right, condition, correlated, rows: 0 };
}

/** Binds a join; `visible` is what LATERAL sees to its left. */
export function bindJoin(binding: Binding, level: QueryLevel, item: JoinItem, visible: FromScope): BoundFrom {
  const kind: JoinKind = item.type === "cross" ? "inner" : item.type;
  const side = (bound: BoundFrom, isOptional: boolean) =>
    isOptional ? withPresence(binding, level, bound) : bound;
  const left = side(bindItem(binding, level, item.left, visible), kind === "right" || kind === "full");
  const right = side(
    bindItem(binding, level, item.right, mergeScopes(visible, left.scope)),
    kind === "left" || kind === "full",
  );
  checkAliases(binding, left.scope, right.scope, item.position);
  const both = mergeScopes(left.scope, right.scope);
  const using = item.using ?? (item.natural ? commonNames(left.scope, right.scope) : null);
  let condition: Expression | null = null;
  let scope = outerScope(kind, left.scope, right.scope);
  if (using !== null) {
    refuseRepeats(binding, using, item.position);
    const merged = using.map((name) => mergeColumn(binding, kind, name, left.scope, right.scope, item));
    condition = conjunction(merged.map((each) => each.condition));
    const isUsed = (column: ScopeColumn) => using.includes(column.name);
    const sides = outerScope(kind, left.scope, right.scope);
    const leftCount = left.scope.columns.length;
    scope = {
      tables: sides.tables,
      columns: [
        ...merged.map((each) => each.column),
        ...sides.columns.slice(0, leftCount).filter((column) => !isUsed(column)),
        ...sides.columns.slice(leftCount).filter((column) => !isUsed(column)),
      ],
    };
    if (item.usingAlias !== null) {
      const entry = tableOf(item.usingAlias, merged.map((each) => each.column));
      scope = { ...scope, tables: [...scope.tables, entry] };
    }
  } else if (item.on !== null) {
    const before = level.from;
    const on = item.on;
    level.from = both;
    condition = inClause(level, "JOIN conditions", () => bindCondition(binding, level, on, "JOIN/ON"));
    level.from = before;
  }
  const plan = join(kind, left.plan, right.plan, condition);
  if (plan.kind === "nested_loop_join" && plan.correlated && (kind === "right" || kind === "full")) {
    const free = freeColumns(right.plan);
    const referred = left.scope.tables.find((table) =>
      table.columns.some(({ expression }) => [...columnsOf(expression)].some((column) => free.has(column)))
    );
    throw binding.error(
      SQLSTATE.invalidColumnReference,
      `invalid reference to FROM-clause entry for table "${referred?.name ?? ""}"`,
      item.position,
      { detail: "The combining JOIN type must be INNER or LEFT for a LATERAL reference." },
    );
  }
  if (item.alias === null) return { plan, scope };
  const entry = tableOf(item.alias.name, scope.columns);
  const columns = renamed(binding, entry, item.alias);
  return { plan, scope: { tables: [{ ...entry, columns }], columns } };
}

function tableOf(name: string, columns: readonly ScopeColumn[]): ScopeTable {
  const missing = { schema: null, relationName: null, table: null, rowId: null, presence: null };
  return { name, columns, nullable: false, ...missing };
}

/** The scope after a join: columns of a side that may be missing are nullable. */
function outerScope(kind: JoinKind, left: FromScope, right: FromScope): FromScope {
  const isLeftOptional = kind === "right" || kind === "full";
  const isRightOptional = kind === "left" || kind === "full";
  return mergeScopes(
    isLeftOptional ? nullableScope(left) : left,
    isRightOptional ? nullableScope(right) : right,
  );
}

/**
 * The side of an outer join that may be missing, with a column that says so for items whose rows are mentioned as
 * values. Stored tables have their row ids for that; items that are optional within the side have been seen to
 * before.
 */
function withPresence(binding: Binding, level: QueryLevel, { plan, scope }: BoundFrom): BoundFrom {
  const lacks = (table: ScopeTable) =>
    !table.nullable && table.presence === undefined && table.isScalar !== true &&
    (level.syntax === null || rowNamesIn(level.syntax).has(table.name));
  if (!scope.tables.some(lacks)) return { plan, scope };
  const kept = new Map<ColumnRef, { readonly output: ColumnRef; readonly expression: Expression }>();
  const keep = (column: ColumnRef, type: SqlType, nullable: boolean): ColumnRef => {
    let known = kept.get(column);
    if (known === undefined) {
      kept.set(
        column,
        known = { output: binding.newColumn(), expression: columnReference(column, type, nullable) },
      );
      const name = binding.columnNames.get(column);
      if (name !== undefined) binding.columnNames.set(known.output, name);
    }
    return known.output;
  };
  const moved = (expression: Expression): Expression =>
    expression.kind === "column"
      ? { ...expression, column: keep(expression.column, expression.type, expression.nullable) }
      : mapOperands(expression, moved);
  const movedColumn = (column: ScopeColumn): ScopeColumn => ({
    ...column,
    expression: moved(column.expression),
  });
  const present = binding.newColumn();
  const tables = scope.tables.map((table): ScopeTable => {
    const { presence } = table;
    const rowId = table.rowId === null ? null : keep(table.rowId, { kind: "i64" }, table.nullable);
    const moving = { ...table, columns: table.columns.map(movedColumn), rowId };
    if (lacks(table)) return { ...moving, presence: present };
    if (presence === undefined || presence === null) return moving;
    return { ...moving, presence: presence === table.rowId ? rowId : keep(presence, BOOLEAN, true) };
  });
  const columns = scope.columns.map(movedColumn);
  const outputs = [...kept.values(), { output: present, expression: TRUE }];
  return { plan: { kind: "project", input: plan, outputs, rows: 0 }, scope: { tables, columns } };
}

const rowNames = new WeakMap<object, ReadonlySet<string>>();

/** Names by which a piece of syntax may mean whole rows: those of plain columns, and before `.*`. */
function rowNamesIn(syntax: object): ReadonlySet<string> {
  const known = rowNames.get(syntax);
  if (known !== undefined) return known;
  const names = new Set<string>();
  const walk = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    if (Array.isArray(node)) return node.forEach(walk);
    if ("kind" in node && node.kind === "column" && "parts" in node && Array.isArray(node.parts)) {
      if (node.parts.length === 1) names.add(String(node.parts[0]));
    } else if (
      "kind" in node && node.kind === "star" && "qualifier" in node && Array.isArray(node.qualifier)
    ) {
      names.add(String(node.qualifier.at(-1)));
    } else Object.values(node).forEach(walk);
  };
  walk(syntax);
  rowNames.set(syntax, names);
  return names;
}

function commonNames(left: FromScope, right: FromScope): string[] {
  const names = new Set(right.columns.map((column) => column.name));
  return [...new Set(left.columns.map((column) => column.name))].filter((name) => names.has(name));
}

function refuseRepeats(binding: Binding, names: readonly string[], position: number): void {
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated === undefined) return;
  throw binding.error(
    SQLSTATE.duplicateColumn,
    `column name "${repeated}" appears more than once in USING clause`,
    position,
  );
}

function sideColumn(
  binding: Binding,
  scope: FromScope,
  name: string,
  side: string,
  item: JoinItem,
): ScopeColumn {
  const matches = scope.columns.filter((column) => column.name === name);
  const [first] = matches;
  if (first === undefined) {
    throw binding.error(
      SQLSTATE.undefinedColumn,
      `column "${name}" specified in USING clause does not exist in ${side} table`,
      item.position,
    );
  }
  if (matches.length > 1) {
    throw binding.error(
      SQLSTATE.ambiguousColumn,
      `common column name "${name}" appears more than once in ${side} table`,
      item.position,
    );
  }
  return first;
}

function mergeColumn(
  binding: Binding,
  kind: JoinKind,
  name: string,
  leftScope: FromScope,
  rightScope: FromScope,
  item: JoinItem,
): { readonly column: ScopeColumn; readonly condition: Expression } {
  const left = sideColumn(binding, leftScope, name, "left", item);
  const right = sideColumn(binding, rightScope, name, "right", item);
  const condition = bindBinary(binding, "=", left.expression, right.expression, item.position);
  const type = commonTypeOf(binding, [left.expression.type, right.expression.type], "JOIN/USING", [
    item.position,
    item.position,
  ]);
  const nullable = (column: ScopeColumn): Expression =>
    column.expression.kind === "column" ? { ...column.expression, nullable: true } : column.expression;
  const convert = (expression: Expression) => coerceImplicit(binding, expression, type, item.position);
  if (kind === "full") {
    const args = [convert(nullable(left)), convert(nullable(right))];
    return {
      condition,
      column: { name, expression: { kind: "coalesce", type, args }, tableId: 0, columnId: 0 },
    };
  }
  const source = kind === "right" ? right : left;
  return { condition, column: { ...source, expression: convert(source.expression) } };
}
