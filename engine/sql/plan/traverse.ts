/**
 * Walking through plans and expressions: what each operator and each operation holds, and which columns it refers to
 * and defines. `rewrite.ts` is its counterpart that changes them.
 *
 * Plans and expressions are immutable: facts about a node that depend on the node alone (its columns, its free
 * references) are remembered with it.
 */
import { unreachable } from "../../base/assert.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { ColumnRef, Expression } from "./expression.ts";
import type { Plan, SortKey } from "./plan.ts";

/** The direct operands of an expression, without subquery plans. */
export function operands(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case "constant":
    case "parameter":
    case "column":
    case "scalar_subquery":
    case "exists":
    case "array_subquery":
      return [];
    case "call":
    case "and":
    case "or":
    case "coalesce":
    case "greatest":
    case "least":
      return expression.args;
    case "cast":
    case "operand":
    case "not":
    case "is_null":
    case "is_truth":
    case "field":
      return [expression.argument];
    case "is_distinct":
    case "nullif":
      return [expression.left, expression.right];
    case "case": {
      const list = expression.branches.flatMap((branch) => [branch.when, branch.then]);
      return expression.otherwise === null ? list : [...list, expression.otherwise];
    }
    case "in_list":
      return [expression.argument, ...expression.list];
    case "any_array":
    case "all_array":
      return [expression.left, expression.array];
    case "any_subquery":
    case "all_subquery":
      return expression.left;
    case "array":
      return expression.elements;
    case "row":
      return expression.fields;
    case "subscript":
      return [
        expression.argument,
        ...expression.subscripts.flatMap((each) =>
          "index" in each ? [each.index] : [each.lower, each.upper].filter((bound) => bound !== null)
        ),
      ];
    default:
      return unreachable(expression);
  }
}

/** The subquery plan of an expression, if it is one. */
export function subqueryPlan(expression: Expression): Plan | null {
  switch (expression.kind) {
    case "scalar_subquery":
    case "exists":
    case "any_subquery":
    case "all_subquery":
    case "array_subquery":
      return expression.plan;
    default:
      return null;
  }
}

/** The inputs of an operator, in order. */
export function inputs(plan: Plan): readonly Plan[] {
  switch (plan.kind) {
    case "table_scan":
    case "row_lookup":
    case "row_range":
    case "index_scan":
    case "virtual_scan":
    case "values":
    case "with_scan":
      return [];
    case "gather":
      return plan.kept.map((side) => side.plan);
    case "function_scan":
      return plan.input === null ? [] : [plan.input];
    case "filter":
    case "project":
    case "aggregate":
    case "window":
    case "sort":
    case "limit":
    case "distinct":
    case "lock_rows":
    case "exchange":
      return [plan.input];
    case "hash_join":
    case "nested_loop_join":
      return [plan.left, plan.right];
    case "set_operation":
      return plan.inputs.map((input) => input.plan);
    case "with":
      return [
        ...plan.definitions.flatMap((each) =>
          each.recursive === null ? [each.plan] : [each.plan, each.recursive.plan]
        ),
        plan.body,
      ];
    case "insert":
    case "update":
    case "delete":
      return [plan.source];
    default:
      return unreachable(plan);
  }
}

function keyExpressions(keys: readonly SortKey[]): readonly Expression[] {
  return keys.map((key) => key.expression);
}

type Bounded = { readonly value: Expression } | null;

function boundExpressions(...bounds: readonly Bounded[]): readonly Expression[] {
  return bounds.flatMap((bound) => bound === null ? [] : [bound.value]);
}

function present(...expressions: readonly (Expression | null)[]): readonly Expression[] {
  return expressions.filter((expression) => expression !== null);
}

/** The expressions that an operator itself holds. */
export function ownExpressions(plan: Plan): readonly Expression[] {
  switch (plan.kind) {
    case "table_scan":
      return [...plan.prune.map((prune) => prune.value), ...present(plan.filter)];
    case "row_lookup":
      return [...plan.ids, ...present(plan.filter)];
    case "row_range":
      return [...boundExpressions(plan.bounds.low, plan.bounds.high), ...present(plan.filter)];
    case "index_scan":
      return [
        ...plan.prefix,
        ...boundExpressions(plan.bounds.low, plan.bounds.high),
        ...present(plan.filter),
      ];
    case "virtual_scan":
      return present(plan.filter);
    case "values":
      return plan.list.flat();
    case "function_scan":
      return plan.functions.flatMap((call) => call.args);
    case "filter":
      return [plan.condition];
    case "project":
      return plan.outputs.map((output) => output.expression);
    case "hash_join":
      return [...plan.leftKeys, ...plan.rightKeys, ...present(plan.residual)];
    case "nested_loop_join":
      return present(plan.condition, plan.otherwise?.test ?? null);
    case "aggregate":
      return [
        ...plan.groups.map((group) => group.expression),
        ...plan.aggregates.flatMap((call) => [
          ...call.args,
          ...present(call.filter),
          ...keyExpressions(call.orderBy),
        ]),
      ];
    case "window":
      return [
        ...plan.partition,
        ...keyExpressions(plan.order),
        ...plan.calls.flatMap((call) => [
          ...call.args,
          ...present(call.filter),
          ...[call.frame.start, call.frame.end].flatMap((bound) => "offset" in bound ? [bound.offset] : []),
        ]),
      ];
    case "sort":
      return [...keyExpressions(plan.keys), ...present(plan.limit)];
    case "limit":
      return [...present(plan.limit, plan.offset), ...keyExpressions(plan.withTies ?? [])];
    case "distinct":
      return plan.keys;
    case "set_operation":
    case "with":
    case "with_scan":
    case "exchange":
    case "lock_rows":
      return [];
    case "gather":
      return [...plan.values.map(({ expression }) => expression), ...plan.kept.flatMap(({ keys }) => keys)];
    case "insert":
      return [
        ...plan.values,
        ...present(plan.id),
        ...plan.generated.map((column) => column.expression),
        ...plan.checks.map((check) => check.condition),
        ...present(...(plan.onConflict?.assignments ?? []), plan.onConflict?.where ?? null),
        ...(plan.returning ?? []).map((output) => output.expression),
      ];
    case "update":
      return [
        ...present(...plan.assignments),
        ...plan.generated.map((column) => column.expression),
        ...plan.checks.map((check) => check.condition),
        ...(plan.returning ?? []).map((output) => output.expression),
      ];
    case "delete":
      return (plan.returning ?? []).map((output) => output.expression);
    default:
      return unreachable(plan);
  }
}

/** Calls `visit` for an expression and all its parts; subquery plans only when `visitPlan` is given. */
export function visitExpression(
  expression: Expression,
  visit: (expression: Expression) => void,
  visitPlan?: (plan: Plan) => void,
): void {
  visit(expression);
  for (const operand of operands(expression)) visitExpression(operand, visit, visitPlan);
  const plan = subqueryPlan(expression);
  if (plan !== null && visitPlan !== undefined) visitPlan(plan);
}

/** Calls the visitors for every operator and every expression of a plan, subqueries included. */
export function visitPlan(
  plan: Plan,
  visitor: { plan?: (plan: Plan) => void; expression?: (expression: Expression) => void },
): void {
  visitor.plan?.(plan);
  for (const expression of ownExpressions(plan)) {
    visitExpression(expression, (part) => visitor.expression?.(part), (inner) => visitPlan(inner, visitor));
  }
  for (const input of inputs(plan)) visitPlan(input, visitor);
}

/** Whether a plan reads a stored table. */
export function readsTables(plan: Plan): boolean {
  let reads = false;
  const isAccess = ({ kind }: Plan): boolean =>
    kind === "table_scan" || kind === "row_lookup" || kind === "row_range" || kind === "index_scan";
  visitPlan(plan, { plan: (each) => reads ||= isAccess(each) });
  return reads;
}

const columnsByExpression = new WeakMap<Expression, ReadonlySet<ColumnRef>>();
const freeByPlan = new WeakMap<Plan, ReadonlySet<ColumnRef>>();
const definedByPlan = new WeakMap<Plan, ReadonlySet<ColumnRef>>();

/** Whether an expression has no operands. */
function isLeaf(expression: Expression): boolean {
  return expression.kind === "constant" || expression.kind === "parameter" || expression.kind === "column";
}

/** Operands that an operation may have and still count as flat. */
const MAX_FLAT_OPERANDS = 4;

/**
 * Whether facts about an expression are found as quickly as remembered: it is a leaf, or an operation on a few of
 * them. What a statement has many thousands of is such, and remembering something of each would take more memory than
 * the plan.
 */
export function isFlat(expression: Expression): boolean {
  switch (expression.kind) {
    case "constant":
    case "parameter":
    case "column":
      return true;
    case "call":
      return expression.args.length <= MAX_FLAT_OPERANDS && expression.args.every(isLeaf);
    case "cast":
    case "is_null":
    case "not":
      return isLeaf(expression.argument);
    default:
      return false;
  }
}

const NO_COLUMNS: ReadonlySet<ColumnRef> = new Set();
const singleColumns: ReadonlySet<ColumnRef>[] = [];
/** Columns whose sets of one are kept; numbers of columns begin at 1 in each statement. */
const MAX_SINGLE_COLUMNS = 4096;

function singleColumn(column: ColumnRef): ReadonlySet<ColumnRef> {
  return column < MAX_SINGLE_COLUMNS ? singleColumns[column] ??= new Set([column]) : new Set([column]);
}

/** The columns that an expression refers to, including those that its subqueries take from outside of themselves. */
export function columnsOf(expression: Expression): ReadonlySet<ColumnRef> {
  if (isFlat(expression)) return collectColumns(expression);
  const known = columnsByExpression.get(expression);
  if (known !== undefined) return known;
  const result = collectColumns(expression);
  columnsByExpression.set(expression, result);
  return result;
}

/** Operands that add nothing share one set with the operation: a long statement has thousands of them. */
function collectColumns(expression: Expression): ReadonlySet<ColumnRef> {
  if (expression.kind === "column") return singleColumn(expression.column);
  let shared = NO_COLUMNS;
  let own: Set<ColumnRef> | null = null;
  const add = (columns: ReadonlySet<ColumnRef>): void => {
    if (own === null && shared.size === 0) shared = columns;
    else if (columns.size > 0 && columns !== shared) {
      for (const column of columns) {
        if (own === null && shared.has(column)) continue;
        (own ??= new Set(shared)).add(column);
      }
    }
  };
  for (const operand of operands(expression)) add(columnsOf(operand));
  const plan = subqueryPlan(expression);
  if (plan !== null) add(freeColumns(plan));
  return own ?? shared;
}

/** The columns of its rows that an operator itself defines: not its inputs', nor what RETURNING makes of them. */
export function definedColumns(plan: Plan): readonly ColumnRef[] {
  switch (plan.kind) {
    case "table_scan":
    case "row_lookup":
    case "row_range":
    case "index_scan": {
      const list = plan.columns.map((column) => column.output);
      return plan.rowId === null ? list : [...list, plan.rowId];
    }
    case "virtual_scan":
      return plan.columns.map((column) => column.output);
    case "values":
    case "with_scan":
    case "set_operation":
      return plan.outputs;
    case "gather":
      return plan.fragment.columns.map(({ column }) => column);
    case "exchange":
      return plan.columns.map(({ column }) => column);
    case "function_scan": {
      const list = plan.functions.flatMap((each) => each.outputs);
      return plan.ordinality === null ? list : [...list, plan.ordinality];
    }
    case "project":
      return plan.outputs.map((each) => each.output);
    case "aggregate":
      return [...plan.groups, ...plan.aggregates, ...plan.groupings].map((each) => each.output);
    case "window":
      return plan.calls.map((each) => each.output);
    case "insert":
      return [
        ...plan.newRow,
        plan.rowId,
        ...(plan.onConflict?.existing ?? []),
        ...(plan.onConflict?.excluded ?? []),
      ];
    case "update":
      return plan.newRow;
    case "delete":
    case "with":
    case "filter":
    case "sort":
    case "limit":
    case "distinct":
    case "lock_rows":
    case "hash_join":
    case "nested_loop_join":
      return [];
    default:
      return unreachable(plan);
  }
}

/** All columns that an operator itself defines (not its inputs'). */
export function ownColumns(plan: Plan): readonly ColumnRef[] {
  switch (plan.kind) {
    case "with":
      return plan.definitions.flatMap((each) => each.columns);
    case "insert":
    case "update":
    case "delete":
      return [...definedColumns(plan), ...(plan.returning ?? []).map((each) => each.output)];
    default:
      return definedColumns(plan);
  }
}

/** Every column that is defined somewhere inside a plan (not in its subquery expressions). */
export function allDefinedColumns(plan: Plan): ReadonlySet<ColumnRef> {
  const known = definedByPlan.get(plan);
  if (known !== undefined) return known;
  const result = new Set<ColumnRef>(ownColumns(plan));
  for (const input of inputs(plan)) for (const column of allDefinedColumns(input)) result.add(column);
  definedByPlan.set(plan, result);
  return result;
}

/** The columns that a plan's output has for the operators above it. */
export function outputColumns(plan: Plan): readonly ColumnRef[] {
  switch (plan.kind) {
    case "filter":
    case "sort":
    case "limit":
    case "distinct":
    case "lock_rows":
      return outputColumns(plan.input);
    case "window":
      return [...outputColumns(plan.input), ...ownColumns(plan)];
    case "function_scan":
      return plan.input === null ? ownColumns(plan) : [...outputColumns(plan.input), ...ownColumns(plan)];
    case "hash_join":
    case "nested_loop_join":
      return plan.join === "semi" || plan.join === "anti"
        ? outputColumns(plan.left)
        : [...outputColumns(plan.left), ...outputColumns(plan.right)];
    case "with":
      return outputColumns(plan.body);
    case "insert":
    case "update":
    case "delete":
      return (plan.returning ?? []).map((each) => each.output);
    default:
      return ownColumns(plan);
  }
}

/** The columns that a plan takes from what surrounds it: an outer query, or the left side of a LATERAL join. */
export function freeColumns(plan: Plan): ReadonlySet<ColumnRef> {
  const known = freeByPlan.get(plan);
  if (known !== undefined) return known;
  const defined = allDefinedColumns(plan);
  const result = new Set<ColumnRef>();
  for (const expression of ownExpressions(plan)) {
    for (const column of columnsOf(expression)) if (!defined.has(column)) result.add(column);
  }
  for (const input of inputs(plan)) {
    for (const column of freeColumns(input)) if (!defined.has(column)) result.add(column);
  }
  freeByPlan.set(plan, result);
  return result;
}

/** The types of a plan's output columns. */
export function columnTypes(plan: Plan): ReadonlyMap<ColumnRef, SqlType> {
  const result = new Map<ColumnRef, SqlType>();
  collectTypes(plan, result);
  return result;
}

function collectTypes(plan: Plan, result: Map<ColumnRef, SqlType>): void {
  switch (plan.kind) {
    case "table_scan":
    case "row_lookup":
    case "row_range":
    case "index_scan":
      for (const column of plan.columns) result.set(column.output, column.type);
      if (plan.rowId !== null) result.set(plan.rowId, { kind: "i64" });
      return;
    case "virtual_scan":
      for (const column of plan.columns) result.set(column.output, column.type);
      return;
    case "gather":
      for (const { column, type } of plan.fragment.columns) result.set(column, type);
      return;
    case "exchange":
      for (const { column, type } of plan.columns) result.set(column, type);
      return;
    case "values":
    case "set_operation":
      plan.outputs.forEach((output, index) => {
        const type = plan.types[index];
        if (type !== undefined) result.set(output, type);
      });
      return;
    case "project":
      for (const each of plan.outputs) result.set(each.output, each.expression.type);
      return;
    case "function_scan":
      if (plan.input !== null) collectTypes(plan.input, result);
      for (const each of plan.functions) {
        each.outputs.forEach((output, index) =>
          result.set(output, each.function.rowColumns?.[index]?.type ?? each.function.returnType)
        );
      }
      if (plan.ordinality !== null) result.set(plan.ordinality, { kind: "i64" });
      return;
    case "aggregate":
      for (const each of plan.groups) result.set(each.output, each.expression.type);
      for (const each of plan.aggregates) result.set(each.output, each.aggregate.returnType);
      for (const each of plan.groupings) result.set(each.output, { kind: "i32" });
      return;
    case "window":
      collectTypes(plan.input, result);
      for (const each of plan.calls) result.set(each.output, each.type);
      return;
    default:
      for (const input of inputs(plan)) collectTypes(input, result);
  }
}
