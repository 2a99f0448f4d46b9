/**
 * Rewriting of plans and expressions: each function knows every field of every operator. `traverse.ts` is its
 * counterpart that only looks.
 *
 * Plans and expressions are immutable; a rewrite shares what does not change.
 */
import { unreachable } from "../../base/assert.ts";
import type { ColumnRef, Expression } from "./expression.ts";
import type { AggregateCall, FrameBound, Plan, RangeBounds, SortKey, WindowCall } from "./plan.ts";

/** A rewrite of expressions. */
export type ExpressionMapper = (expression: Expression) => Expression;

/** A rewrite of plans. */
export type PlanMapper = (plan: Plan) => Plan;

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
    case "operand":
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
    case "gather":
      return { ...plan, kept: plan.kept.map((side) => ({ ...side, plan: map(side.plan) })) };
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
    case "exchange":
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
    case "nested_loop_join": {
      const { otherwise } = plan;
      return {
        ...plan,
        condition: mapOptional(plan.condition, map),
        ...(otherwise === undefined ? {} : { otherwise: { ...otherwise, test: map(otherwise.test) } }),
      };
    }
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
    case "gather":
      return {
        ...plan,
        values: mapList(plan.values, (each) => ({ ...each, expression: map(each.expression) })),
        kept: mapList(plan.kept, (side) => ({ ...side, keys: mapList(side.keys, map) })),
      };
    case "exchange":
      return plan;
    default:
      return unreachable(plan);
  }
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
