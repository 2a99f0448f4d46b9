/**
 * Walking and rewriting of plans and expressions: the one place that knows every field of every operator.
 *
 * Plans and expressions are immutable; rewriting shares what does not change. Facts about a node that depend on the
 * node alone (its columns, its free references) are remembered beside it.
 */
import { unreachable } from "../../base/assert.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { ColumnRef, Expression } from "./expression.ts";
import type { AggregateCall, FrameBound, Plan, RangeBounds, SortKey, WindowCall } from "./plan.ts";

/** A rewrite of expressions. */
export type ExpressionMapper = (expression: Expression) => Expression;

/** A rewrite of plans. */
export type PlanMapper = (plan: Plan) => Plan;

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

function mapList<T>(list: readonly T[], map: (item: T) => T): readonly T[] {
  let changed = false;
  const result = list.map((item) => {
    const next = map(item);
    if (next !== item) changed = true;
    return next;
  });
  return changed ? result : list;
}

/** Rewrites the direct operands with `map` and the subquery plan with `mapPlan`. */
export function mapOperands(expression: Expression, map: ExpressionMapper, mapPlan?: PlanMapper): Expression {
  switch (expression.kind) {
    case "constant":
    case "parameter":
    case "column":
      return expression;
    case "call":
    case "and":
    case "or":
    case "coalesce":
    case "greatest":
    case "least": {
      const args = mapList(expression.args, map);
      return args === expression.args ? expression : { ...expression, args };
    }
    case "cast":
    case "not":
    case "is_null":
    case "is_truth":
    case "field": {
      const argument = map(expression.argument);
      return argument === expression.argument ? expression : { ...expression, argument };
    }
    case "is_distinct":
    case "nullif": {
      const left = map(expression.left);
      const right = map(expression.right);
      return left === expression.left && right === expression.right
        ? expression
        : { ...expression, left, right };
    }
    case "case": {
      const branches = mapList(expression.branches, (branch) => {
        const when = map(branch.when);
        const then = map(branch.then);
        return when === branch.when && then === branch.then ? branch : { when, then };
      });
      const otherwise = expression.otherwise === null ? null : map(expression.otherwise);
      return branches === expression.branches && otherwise === expression.otherwise
        ? expression
        : { ...expression, branches, otherwise };
    }
    case "in_list": {
      const argument = map(expression.argument);
      const list = mapList(expression.list, map);
      return argument === expression.argument && list === expression.list
        ? expression
        : { ...expression, argument, list };
    }
    case "any_array":
    case "all_array": {
      const left = map(expression.left);
      const array = map(expression.array);
      return left === expression.left && array === expression.array
        ? expression
        : { ...expression, left, array };
    }
    case "scalar_subquery":
    case "exists":
    case "array_subquery": {
      const plan = mapPlan === undefined ? expression.plan : mapPlan(expression.plan);
      return plan === expression.plan ? expression : { ...expression, plan };
    }
    case "any_subquery":
    case "all_subquery": {
      const left = mapList(expression.left, map);
      const plan = mapPlan === undefined ? expression.plan : mapPlan(expression.plan);
      return left === expression.left && plan === expression.plan
        ? expression
        : { ...expression, left, plan };
    }
    case "array": {
      const elements = mapList(expression.elements, map);
      return elements === expression.elements ? expression : { ...expression, elements };
    }
    case "row": {
      const fields = mapList(expression.fields, map);
      return fields === expression.fields ? expression : { ...expression, fields };
    }
    case "subscript": {
      const argument = map(expression.argument);
      const subscripts = mapList(expression.subscripts, (each) => {
        if ("index" in each) {
          const index = map(each.index);
          return index === each.index ? each : { index };
        }
        const lower = each.lower === null ? null : map(each.lower);
        const upper = each.upper === null ? null : map(each.upper);
        return lower === each.lower && upper === each.upper ? each : { lower, upper };
      });
      return argument === expression.argument && subscripts === expression.subscripts
        ? expression
        : { ...expression, argument, subscripts };
    }
    default:
      return unreachable(expression);
  }
}

function mapSortKeys(keys: readonly SortKey[], map: ExpressionMapper): readonly SortKey[] {
  return mapList(keys, (key) => {
    const expression = map(key.expression);
    return expression === key.expression ? key : { ...key, expression };
  });
}

function mapOptional(expression: Expression | null, map: ExpressionMapper): Expression | null {
  return expression === null ? null : map(expression);
}

function mapBounds(bounds: RangeBounds, map: ExpressionMapper): RangeBounds {
  const low = bounds.low === null ? null : { ...bounds.low, value: map(bounds.low.value) };
  const high = bounds.high === null ? null : { ...bounds.high, value: map(bounds.high.value) };
  return { low, high };
}

function mapFrameBound(bound: FrameBound, map: ExpressionMapper): FrameBound {
  return "offset" in bound ? { kind: bound.kind, offset: map(bound.offset) } : bound;
}

function mapAggregate(call: AggregateCall, map: ExpressionMapper): AggregateCall {
  return {
    ...call,
    args: mapList(call.args, map),
    filter: mapOptional(call.filter, map),
    orderBy: mapSortKeys(call.orderBy, map),
  };
}

function mapWindowCall(call: WindowCall, map: ExpressionMapper): WindowCall {
  return {
    ...call,
    args: mapList(call.args, map),
    filter: mapOptional(call.filter, map),
    frame: {
      ...call.frame,
      start: mapFrameBound(call.frame.start, map),
      end: mapFrameBound(call.frame.end, map),
    },
  };
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

/** Rewrites the inputs of an operator. */
export function mapInputs(plan: Plan, map: PlanMapper): Plan {
  switch (plan.kind) {
    case "table_scan":
    case "row_lookup":
    case "row_range":
    case "index_scan":
    case "virtual_scan":
    case "values":
    case "with_scan":
      return plan;
    case "function_scan": {
      if (plan.input === null) return plan;
      const input = map(plan.input);
      return input === plan.input ? plan : { ...plan, input };
    }
    case "filter":
    case "project":
    case "aggregate":
    case "window":
    case "sort":
    case "limit":
    case "distinct":
    case "lock_rows": {
      const input = map(plan.input);
      return input === plan.input ? plan : { ...plan, input };
    }
    case "hash_join":
    case "nested_loop_join": {
      const left = map(plan.left);
      const right = map(plan.right);
      return left === plan.left && right === plan.right ? plan : { ...plan, left, right };
    }
    case "set_operation": {
      const list = mapList(plan.inputs, (input) => {
        const next = map(input.plan);
        return next === input.plan ? input : { ...input, plan: next };
      });
      return list === plan.inputs ? plan : { ...plan, inputs: list };
    }
    case "with": {
      const definitions = mapList(plan.definitions, (each) => {
        const next = map(each.plan);
        const term = each.recursive === null ? null : map(each.recursive.plan);
        if (next === each.plan && term === (each.recursive?.plan ?? null)) return each;
        return {
          ...each,
          plan: next,
          recursive: each.recursive === null || term === null ? null : { ...each.recursive, plan: term },
        };
      });
      const body = map(plan.body);
      return definitions === plan.definitions && body === plan.body ? plan : { ...plan, definitions, body };
    }
    case "insert":
    case "update":
    case "delete": {
      const source = map(plan.source);
      return source === plan.source ? plan : { ...plan, source };
    }
    default:
      return unreachable(plan);
  }
}

/** Rewrites the expressions that an operator itself holds (not those of its inputs). */
export function mapOwnExpressions(plan: Plan, map: ExpressionMapper): Plan {
  switch (plan.kind) {
    case "table_scan":
      return {
        ...plan,
        filter: mapOptional(plan.filter, map),
        prune: mapList(plan.prune, (each) => ({ ...each, value: map(each.value) })),
      };
    case "row_lookup":
      return { ...plan, filter: mapOptional(plan.filter, map), ids: mapList(plan.ids, map) };
    case "row_range":
      return { ...plan, filter: mapOptional(plan.filter, map), bounds: mapBounds(plan.bounds, map) };
    case "index_scan":
      return {
        ...plan,
        filter: mapOptional(plan.filter, map),
        prefix: mapList(plan.prefix, map),
        bounds: mapBounds(plan.bounds, map),
      };
    case "virtual_scan":
      return { ...plan, filter: mapOptional(plan.filter, map) };
    case "values":
      return { ...plan, list: mapList(plan.list, (row) => mapList(row, map)) };
    case "function_scan":
      return {
        ...plan,
        functions: mapList(plan.functions, (each) => ({ ...each, args: mapList(each.args, map) })),
      };
    case "filter":
      return { ...plan, condition: map(plan.condition) };
    case "project":
      return {
        ...plan,
        outputs: mapList(plan.outputs, (each) => ({ ...each, expression: map(each.expression) })),
      };
    case "hash_join":
      return {
        ...plan,
        leftKeys: mapList(plan.leftKeys, map),
        rightKeys: mapList(plan.rightKeys, map),
        residual: mapOptional(plan.residual, map),
      };
    case "nested_loop_join":
      return { ...plan, condition: mapOptional(plan.condition, map) };
    case "aggregate":
      return {
        ...plan,
        groups: mapList(plan.groups, (each) => ({ ...each, expression: map(each.expression) })),
        aggregates: mapList(plan.aggregates, (each) => mapAggregate(each, map)),
      };
    case "window":
      return {
        ...plan,
        partition: mapList(plan.partition, map),
        order: mapSortKeys(plan.order, map),
        calls: mapList(plan.calls, (each) => mapWindowCall(each, map)),
      };
    case "sort":
      return { ...plan, keys: mapSortKeys(plan.keys, map), limit: mapOptional(plan.limit, map) };
    case "limit":
      return {
        ...plan,
        limit: mapOptional(plan.limit, map),
        offset: mapOptional(plan.offset, map),
        withTies: plan.withTies === null ? null : mapSortKeys(plan.withTies, map),
      };
    case "distinct":
      return { ...plan, keys: mapList(plan.keys, map) };
    case "set_operation":
    case "with":
    case "with_scan":
    case "lock_rows":
      return plan;
    case "insert":
      return {
        ...plan,
        values: mapList(plan.values, map),
        id: mapOptional(plan.id, map),
        generated: mapList(plan.generated, (each) => ({ ...each, expression: map(each.expression) })),
        checks: mapList(plan.checks, (each) => ({ ...each, condition: map(each.condition) })),
        onConflict: plan.onConflict === null ? null : {
          ...plan.onConflict,
          assignments: plan.onConflict.assignments.map((each) => mapOptional(each, map)),
          where: mapOptional(plan.onConflict.where, map),
        },
        returning: plan.returning === null
          ? null
          : mapList(plan.returning, (each) => ({ ...each, expression: map(each.expression) })),
      };
    case "update":
      return {
        ...plan,
        assignments: plan.assignments.map((each) => mapOptional(each, map)),
        generated: mapList(plan.generated, (each) => ({ ...each, expression: map(each.expression) })),
        checks: mapList(plan.checks, (each) => ({ ...each, condition: map(each.condition) })),
        returning: plan.returning === null
          ? null
          : mapList(plan.returning, (each) => ({ ...each, expression: map(each.expression) })),
      };
    case "delete":
      return {
        ...plan,
        returning: plan.returning === null
          ? null
          : mapList(plan.returning, (each) => ({ ...each, expression: map(each.expression) })),
      };
    default:
      return unreachable(plan);
  }
}

/** The expressions that an operator itself holds. */
export function ownExpressions(plan: Plan): readonly Expression[] {
  const list: Expression[] = [];
  mapOwnExpressions(plan, (expression) => {
    list.push(expression);
    return expression;
  });
  return list;
}

/** Rewrites an expression from the leaves up, through subquery plans. */
export function rewriteExpression(expression: Expression, map: ExpressionMapper): Expression {
  return map(
    mapOperands(
      expression,
      (operand) => rewriteExpression(operand, map),
      (plan) => rewriteAllExpressions(plan, map),
    ),
  );
}

/** Rewrites every expression of a plan and its inputs and subqueries, each from the leaves up. */
export function rewriteAllExpressions(plan: Plan, map: ExpressionMapper): Plan {
  return mapOwnExpressions(
    mapInputs(plan, (input) => rewriteAllExpressions(input, map)),
    (expression) => rewriteExpression(expression, map),
  );
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

/** Replaces column references by expressions, in subqueries too. */
export function substitute(
  expression: Expression,
  replacement: ReadonlyMap<ColumnRef, Expression>,
): Expression {
  if (replacement.size === 0) return expression;
  return rewriteExpression(expression, (part) => replaceColumn(part, replacement));
}

function replaceColumn(part: Expression, replacement: ReadonlyMap<ColumnRef, Expression>): Expression {
  if (part.kind !== "column") return part;
  const found = replacement.get(part.column);
  if (found === undefined) return part;
  // A reference on the nullable side of an outer join must stay nullable.
  if (found.kind === "column" && part.nullable && !found.nullable) return { ...found, nullable: true };
  return found;
}

const columnsByExpression = new WeakMap<Expression, ReadonlySet<ColumnRef>>();
const freeByPlan = new WeakMap<Plan, ReadonlySet<ColumnRef>>();
const definedByPlan = new WeakMap<Plan, ReadonlySet<ColumnRef>>();

/** Whether an expression has no operands. */
function isLeaf(expression: Expression): boolean {
  return expression.kind === "constant" || expression.kind === "parameter" || expression.kind === "column";
}

/** Operands that an operation may have and still count as flat. */
const FLAT_OPERANDS_MAX = 4;

/**
 * Whether facts about an expression are found as quickly as remembered: it is a leaf, or an operation on a few of them. What a
 * statement has many thousands of is such, and remembering something of each would take more memory than the plan.
 */
export function isFlat(expression: Expression): boolean {
  switch (expression.kind) {
    case "constant":
    case "parameter":
    case "column":
      return true;
    case "call":
      return expression.args.length <= FLAT_OPERANDS_MAX && expression.args.every(isLeaf);
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
const SINGLE_COLUMNS_MAX = 4096;

function singleColumn(column: ColumnRef): ReadonlySet<ColumnRef> {
  return column < SINGLE_COLUMNS_MAX ? singleColumns[column] ??= new Set([column]) : new Set([column]);
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

/** The columns that an operator itself defines (not its inputs'). */
export function ownColumns(plan: Plan): readonly ColumnRef[] {
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
    case "filter":
    case "sort":
    case "limit":
    case "distinct":
    case "lock_rows":
    case "hash_join":
    case "nested_loop_join":
      return [];
    case "with":
      return plan.definitions.flatMap((each) => each.columns);
    case "insert":
      return [
        ...plan.newRow,
        plan.rowId,
        ...(plan.onConflict?.existing ?? []),
        ...(plan.onConflict?.excluded ?? []),
        ...(plan.returning ?? []).map((each) => each.output),
      ];
    case "update":
      return [...plan.newRow, ...(plan.returning ?? []).map((each) => each.output)];
    case "delete":
      return (plan.returning ?? []).map((each) => each.output);
    default:
      return unreachable(plan);
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
