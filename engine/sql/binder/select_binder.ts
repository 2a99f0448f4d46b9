/**
 * Binding of one SELECT block with the ORDER BY and locking that belong to it.
 *
 * The operators come in SQL's order of evaluation: FROM, WHERE, grouping, HAVING, windows, set-returning functions,
 * the select list, DISTINCT, ORDER BY. A column that only ORDER BY needs is computed in addition to the select list
 * and is not part of the result.
 */
import { SQLSTATE } from "../../base/errors.ts";
import type {
  Expression as Ast,
  LockingClause,
  Select,
  SortKey as SortKeyAst,
  Target,
} from "../parser/ast.ts";
import { expressionKey } from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { Plan, SortKey } from "../plan/plan.ts";
import { columnsOf } from "../plan/traverse.ts";
import type { Binding } from "./binding.ts";
import { inClause, requireEquality } from "./call_binder.ts";
import { coerceImplicit, isUnknown, settle } from "./coercion.ts";
import { aggregatesBySet } from "./direct_arguments.ts";
import { bindCondition, bindExpression } from "./expression_binder.ts";
import { bindFrom } from "./from_binder.ts";
import { Grouping } from "./grouping.ts";
import { addProjection, addSetFunctions, type OrderItem } from "./projection.ts";
import { fieldsOf, findTable, missingTable } from "./names.ts";
import { outputColumnOf } from "./query_binder.ts";
import { type BoundQuery, lockName, type QueryPlace } from "./bound_query.ts";
import type { PendingSetFunction, QueryLevel, ScopeColumn } from "./scope.ts";
import { bindWindowClause } from "./window_binder.ts";

/** An item of the select list. */
export interface BoundTarget {
  readonly name: string;
  expression: Expression;
  readonly tableId: number;
  readonly columnId: number;
}

/** A bound SELECT with its sort keys, for WITH TIES. */
export interface BoundSelect extends BoundQuery {
  readonly keys: readonly SortKey[];
}

/** Binds a SELECT block. */
export function bindSelect(
  binding: Binding,
  level: QueryLevel,
  select: Select,
  orderBy: readonly SortKeyAst[],
  locking: readonly LockingClause[],
  place: QueryPlace,
): BoundSelect {
  if (select.into !== null) throw binding.unsupported("SELECT INTO here", select.position);
  level.syntax = [select, orderBy];
  let plan = bindFrom(binding, level, select.from);
  bindWindowClause(binding, level, select.windows);
  const targets = bindTargets(binding, level, select.targets, place);
  if (place.carriesInto !== undefined) targets.push(...carriedTargets(binding, level, place.carriesInto));
  if (select.where !== null) {
    const where = select.where;
    const condition = inClause(level, "WHERE", () => bindCondition(binding, level, where, "WHERE"));
    plan = { kind: "filter", input: plan, condition, rows: 0 };
  }
  const havingAst = select.having;
  const having = havingAst === null
    ? null
    : inClause(level, "HAVING", () => bindCondition(binding, level, havingAst, "HAVING"));
  const order = bindOrderItems(binding, level, orderBy, targets);
  const distinctOn = select.distinct === "on"
    ? select.distinctOn.map((ast) => bindDistinctOn(binding, level, ast, targets))
    : [];
  const hasAggregates = level.aggregates.length > 0 || level.groupings.length > 0;
  if (level.workingTable !== null && hasAggregates) level.workingTable.isAggregated = true;
  const isGrouped = select.groupBy.length > 0 || having !== null || hasAggregates;
  const singleAggregate = isGrouped && select.groupBy.length === 0 && targets.length === 1 &&
    level.aggregates.length === 1 && targets[0]?.expression.kind === "column" &&
    targets[0].expression.column === level.aggregates[0]?.output;
  if (isGrouped) plan = group(binding, level, select, plan, { targets, order, distinctOn, having });
  if (locking.length > 0) refuseLocks(binding, locking, select, isGrouped, level);
  plan = addWindows(level, plan);
  const result = addProjection(binding, level, plan, {
    targets,
    order,
    distinctOn,
    isDistinct: select.distinct === "distinct",
    locking,
    position: select.position,
  });
  return { ...result, singleAggregate };
}

/** The columns that SEARCH and CYCLE hand on from the row that a round goes out from. */
function carriedTargets(binding: Binding, level: QueryLevel, query: string): BoundTarget[] {
  if (level.carried.length === 0) {
    throw binding.error(
      SQLSTATE.featureNotSupported,
      `with a SEARCH or CYCLE clause, the recursive reference to WITH query "${query}" must be at the top ` +
        "level of its right-hand SELECT",
    );
  }
  return level.carried.map((expression) => ({ name: "", expression, tableId: 0, columnId: 0 }));
}

/** Binds a target list (or RETURNING), stars expanded. */
export function bindTargets(
  binding: Binding,
  level: QueryLevel,
  list: readonly Target[],
  place?: QueryPlace,
): BoundTarget[] {
  const targets: BoundTarget[] = [];
  for (const target of list) {
    const ast = target.expression;
    if (ast.kind === "star") {
      for (const column of starColumns(binding, level, ast.qualifier, ast.position)) {
        const expression = { ...column.expression };
        binding.positions.set(expression, ast.position);
        targets.push({
          name: column.name,
          expression,
          tableId: column.tableId,
          columnId: column.columnId,
        });
      }
      continue;
    }
    if (ast.kind === "field_star") {
      targets.push(...expandRecord(binding, level, ast.operand, ast.position));
      continue;
    }
    const bound = bindExpression(binding, level, ast);
    const expected = place?.expected?.[targets.length];
    const expression = isUnknown(bound) && expected !== undefined
      ? coerceImplicit(binding, bound, expected, ast.position)
      : place?.keepUnknown === true
      ? bound
      : settle(binding, bound);
    const source = sourceColumn(level, bound);
    targets.push({
      name: target.alias ?? outputName(binding, ast),
      expression,
      tableId: source?.tableId ?? 0,
      columnId: source?.columnId ?? 0,
    });
  }
  return targets;
}

function starColumns(
  binding: Binding,
  level: QueryLevel,
  qualifier: readonly string[],
  position: number,
): readonly ScopeColumn[] {
  if (qualifier.length > 0) {
    const table = findTable(binding, level, qualifier, position);
    if (table === undefined) throw missingTable(binding, level, qualifier, position);
    return table.columns.filter(isListed);
  }
  if (level.from.tables.length === 0) {
    throw binding.error(SQLSTATE.syntaxError, "SELECT * with no tables specified is not valid", position);
  }
  return level.from.columns.filter(isListed);
}

function isListed(column: ScopeColumn): boolean {
  return column.unlisted !== true;
}

/** `(x).*`: one target per field. */
function expandRecord(binding: Binding, level: QueryLevel, ast: Ast, position: number): BoundTarget[] {
  const bound = bindExpression(binding, level, ast);
  if (bound.type.kind !== "record") {
    throw binding.error(SQLSTATE.wrongObjectType, 'type of ".*" is not composite', position);
  }
  const fields = fieldsOf(binding, bound);
  return bound.type.fields.map((field, index) => ({
    name: field.name,
    expression: fields?.[index] ?? { kind: "field", type: field.type, argument: bound, index },
    tableId: 0,
    columnId: 0,
  }));
}

/** The stored column that a plain reference names. */
function sourceColumn(level: QueryLevel, expression: Expression): ScopeColumn | undefined {
  if (expression.kind !== "column") return undefined;
  const find = (columns: readonly ScopeColumn[]) =>
    columns.find((column) =>
      column.expression.kind === "column" && column.expression.column === expression.column
    );
  return find(level.from.columns) ?? level.from.tables.map((table) => find(table.columns)).find(Boolean);
}

/** The name that PostgreSQL gives a result column without alias (FigureColname). */
export function outputName(binding: Binding, ast: Ast): string {
  return nameAndStrength(binding, ast)?.name ?? "?column?";
}

function nameAndStrength(
  binding: Binding,
  ast: Ast,
): { readonly name: string; readonly strong: boolean } | undefined {
  const strong = (name: string) => ({ name, strong: true });
  switch (ast.kind) {
    case "column":
      return strong(ast.parts[ast.parts.length - 1] ?? "?column?");
    case "field":
      return strong(ast.field);
    case "subscript":
    case "collate":
      return nameAndStrength(binding, ast.operand);
    case "call":
      return strong(ast.name[ast.name.length - 1] ?? "?column?");
    case "conditional":
      return strong(ast.function);
    case "session_value":
      return strong(ast.name);
    case "at_time_zone":
      return strong("timezone");
    case "array":
    case "array_subquery":
      return strong("array");
    case "row":
      return strong("row");
    case "exists":
      return strong("exists");
    case "subquery": {
      const body = ast.query.body;
      const target = body.kind === "select" ? body.targets[0] : undefined;
      if (target === undefined) return undefined;
      return target.alias !== null ? strong(target.alias) : nameAndStrength(binding, target.expression);
    }
    case "cast": {
      const inner = nameAndStrength(binding, ast.operand);
      return inner !== undefined && inner.strong
        ? inner
        : { name: typeColumnName(ast.type.name), strong: false };
    }
    case "typed_literal":
      return { name: typeColumnName(ast.type.name), strong: false };
    case "case": {
      const inner = ast.otherwise === null ? undefined : nameAndStrength(binding, ast.otherwise);
      return inner !== undefined && inner.strong ? inner : { name: "case", strong: false };
    }
    default:
      return undefined;
  }
}

function typeColumnName(name: readonly string[]): string {
  return name[name.length - 1] ?? "?column?";
}

/** A key that is an item of the select list: by number, by name, or by being the same expression. */
function bindOrderItems(
  binding: Binding,
  level: QueryLevel,
  keys: readonly SortKeyAst[],
  targets: readonly BoundTarget[],
): OrderItem[] {
  return keys.map((ast) => {
    const named = outputTarget(binding, ast.expression, targets, "ORDER BY");
    if (named !== undefined) return { ast, target: named, expression: named.expression };
    const bound = inClause(
      level,
      "ORDER BY",
      () => settle(binding, bindExpression(binding, level, ast.expression)),
    );
    return { ast, target: sameTarget(bound, targets), expression: bound };
  });
}

function sameTarget(expression: Expression, targets: readonly BoundTarget[]): BoundTarget | null {
  const key = expressionKey(expression);
  return targets.find((target) => expressionKey(target.expression) === key) ?? null;
}

/** The item of the select list that an ordinal or output name means; ambiguous names are 42702. */
function outputTarget(
  binding: Binding,
  ast: Ast,
  targets: readonly BoundTarget[],
  clause: string,
): BoundTarget | undefined {
  const found = outputColumnOf(binding, ast, targets, clause);
  if (found === undefined || ast.kind !== "column") return found;
  const others = targets.filter((target) => target.name === found.name);
  if (others.some((each) => expressionKey(each.expression) !== expressionKey(found.expression))) {
    throw binding.error(SQLSTATE.ambiguousColumn, `${clause} "${found.name}" is ambiguous`, ast.position);
  }
  return found;
}

function bindDistinctOn(
  binding: Binding,
  level: QueryLevel,
  ast: Ast,
  targets: readonly BoundTarget[],
): OrderItem {
  const key: SortKeyAst = {
    expression: ast,
    descending: false,
    nulls: null,
    using: null,
    position: ast.position,
  };
  const named = outputTarget(binding, ast, targets, "DISTINCT ON");
  if (named !== undefined) return { ast: key, target: named, expression: named.expression };
  const bound = inClause(level, "DISTINCT ON", () => settle(binding, bindExpression(binding, level, ast)));
  return { ast: key, target: sameTarget(bound, targets), expression: bound };
}

interface Above {
  readonly targets: readonly BoundTarget[];
  readonly order: readonly OrderItem[];
  readonly distinctOn: readonly OrderItem[];
  readonly having: Expression | null;
}

/** Adds the aggregation and rewrites all that is above it. */
function group(binding: Binding, level: QueryLevel, select: Select, input: Plan, above: Above): Plan {
  const grouping = new Grouping(binding, level);
  grouping.expand(
    select.groupBy,
    select.groupDistinct,
    (ast) => bindGroupItem(binding, level, ast, above.targets),
  );
  for (const key of grouping.keys) {
    requireEquality(binding, key.expression.type, binding.positions.get(key.expression));
  }
  const below = takeGroupedSets(level, grouping.keys.map((key) => key.expression));
  const direct = aggregatesBySet(binding, level, grouping);
  for (const target of above.targets) target.expression = grouping.above(target.expression);
  for (const item of [...above.order, ...above.distinctOn]) {
    item.expression = item.target === null ? grouping.above(item.expression) : item.target.expression;
  }
  const having = above.having === null ? null : grouping.above(above.having);
  const rewriteKey = (key: SortKey): SortKey => ({ ...key, expression: grouping.above(key.expression) });
  for (const [index, window] of level.pendingWindows.entries()) {
    level.pendingWindows[index] = {
      partition: window.partition.map((each) => grouping.above(each)),
      order: window.order.map(rewriteKey),
      calls: window.calls.map((call) => ({
        ...call,
        args: call.args.map((each) => grouping.above(each)),
        filter: call.filter === null ? null : grouping.above(call.filter),
      })),
    };
  }
  for (const list of level.setFunctions) {
    for (const [index, each] of list.entries()) {
      list[index] = { ...each, args: each.args.map((arg) => grouping.above(arg)) };
    }
  }
  const groupings = level.groupings.map((call) => ({
    output: call.output,
    groups: call.args.map((argument) => {
      const index = grouping.indexOf(argument);
      if (index === undefined) {
        throw binding.error(
          SQLSTATE.groupingError,
          "arguments to GROUPING must be grouping expressions of the associated query level",
          call.position,
        );
      }
      return index;
    }),
  }));
  let plan: Plan = {
    kind: "aggregate",
    input: addSetFunctions(below, input),
    groups: grouping.keys,
    aggregates: direct.aggregates,
    groupingSets: grouping.sets,
    groupings: [...groupings, ...direct.groupings],
    rows: 0,
  };
  if (having !== null) plan = { kind: "filter", input: plan, condition: having, rows: 0 };
  return plan;
}

/**
 * Takes away the set-returning functions whose rows are grouped, and those that they need: they come before the
 * grouping.
 */
function takeGroupedSets(level: QueryLevel, keys: readonly Expression[]): PendingSetFunction[][] {
  const needed = new Set(keys.flatMap((key) => [...columnsOf(key)]));
  const taken: PendingSetFunction[][] = [];
  for (const list of level.setFunctions.toReversed()) {
    const grouped = list.filter((each) => each.outputs.some((output) => needed.has(output)));
    for (const { args } of grouped) {
      for (const arg of args) for (const column of columnsOf(arg)) needed.add(column);
    }
    taken.unshift(grouped);
    list.splice(0, list.length, ...list.filter((each) => !grouped.includes(each)));
  }
  const left = level.setFunctions.filter((list) => list.length > 0);
  level.setFunctions.splice(0, level.setFunctions.length, ...left);
  return taken.filter((list) => list.length > 0);
}

/** The columns that an expression is made of; those of set-returning functions by what their arguments are made of. */
function sourcesOf(level: QueryLevel, expression: Expression): ReadonlySet<ColumnRef> {
  const sources = columnsOf(expression);
  const result = new Set(sources);
  for (const call of level.setFunctions.flat()) {
    if (!call.outputs.some((output) => sources.has(output))) continue;
    for (const output of call.outputs) result.delete(output);
    for (const arg of call.args) for (const column of sourcesOf(level, arg)) result.add(column);
  }
  return result;
}

/** A GROUP BY item: an input column first, then an ordinal or output name, else an expression. */
function bindGroupItem(
  binding: Binding,
  level: QueryLevel,
  ast: Ast,
  targets: readonly BoundTarget[],
): Expression {
  const isInput = ast.kind === "column" && ast.parts.length === 1 &&
    level.from.columns.some((column) => column.name === ast.parts[0]);
  const named = isInput ? undefined : outputTarget(binding, ast, targets, "GROUP BY");
  const expression = named === undefined
    ? inClause(level, "GROUP BY", () => settle(binding, bindExpression(binding, level, ast)))
    : named.expression;
  for (const column of sourcesOf(level, expression)) {
    if (!level.computed.has(column)) continue;
    const isWindow = level.pendingWindows.some(({ calls }) => calls.some((each) => each.output === column));
    throw binding.error(
      isWindow ? SQLSTATE.windowingError : SQLSTATE.groupingError,
      `${isWindow ? "window" : "aggregate"} functions are not allowed in GROUP BY`,
      binding.positions.get(expression) ?? ast.position,
    );
  }
  return expression;
}

function addWindows(level: QueryLevel, input: Plan): Plan {
  let plan = input;
  for (const window of level.pendingWindows) {
    plan = { kind: "window", input: plan, ...window, rows: 0 };
  }
  return plan;
}

function refuseLocks(
  binding: Binding,
  locking: readonly LockingClause[],
  select: Select,
  isGrouped: boolean,
  level: QueryLevel,
): void {
  const [first] = locking;
  if (first === undefined) return;
  const what = select.distinct !== "all"
    ? "DISTINCT clause"
    : select.groupBy.length > 0
    ? "GROUP BY clause"
    : select.having !== null
    ? "HAVING clause"
    : isGrouped
    ? "aggregate functions"
    : level.pendingWindows.length > 0
    ? "window functions"
    : level.setFunctions.length > 0
    ? "set-returning functions in the target list"
    : null;
  if (what === null) return;
  throw binding.error(
    SQLSTATE.featureNotSupported,
    `${lockName(first)} is not allowed with ${what}`,
    first.position,
  );
}
