/**
 * Outer joins become inner (or one-sided) joins where a condition above rejects the rows that they would add: C.
 * Galindo-Legaria, A. Rosenthal, "Outerjoin Simplification and Reordering for Query Optimization", TODS 22(1), 1997.
 *
 * RIGHT joins become LEFT joins with the sides exchanged.
 */
import { conjuncts } from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";
import { mapInputs } from "../plan/rewrite.ts";
import { allDefinedColumns, columnsOf } from "../plan/traverse.ts";

/** Columns that are not NULL whenever the condition is TRUE. */
export function rejectedNulls(condition: Expression): Set<ColumnRef> {
  const result = new Set<ColumnRef>();
  for (const part of conjuncts(condition)) collectRejected(part, result);
  return result;
}

function collectRejected(part: Expression, result: Set<ColumnRef>): void {
  switch (part.kind) {
    case "is_null":
      if (part.negated) collectStrict(part.argument, result);
      return;
    case "is_truth":
      if (!part.negated && part.truth !== "unknown") collectStrict(part.argument, result);
      return;
    case "or": {
      // What every branch rejects.
      const [first, ...others] = part.args.map(rejectedNulls);
      for (const column of first ?? []) if (others.every((each) => each.has(column))) result.add(column);
      return;
    }
    default:
      collectStrict(part, result);
  }
}

/** Columns of which each makes the expression NULL when it is NULL. */
export function strictColumns(expression: Expression): ReadonlySet<ColumnRef> {
  const result = new Set<ColumnRef>();
  collectStrict(expression, result);
  return result;
}

/** Columns whose NULL makes the expression NULL. */
function collectStrict(expression: Expression, result: Set<ColumnRef>): void {
  switch (expression.kind) {
    case "column":
      result.add(expression.column);
      return;
    case "call":
      if (expression.function.strict) { for (const each of expression.args) collectStrict(each, result); }
      return;
    case "cast":
    case "not":
      collectStrict(expression.argument, result);
      return;
    case "in_list":
      collectStrict(expression.argument, result);
      return;
    case "any_array":
      collectStrict(expression.left, result);
      return;
    default:
      return;
  }
}

/** Simplifies the outer joins of a plan; `notNull` are columns whose NULL the operators above reject. */
export function simplifyOuterJoins(plan: Plan, notNull: ReadonlySet<ColumnRef> = new Set()): Plan {
  switch (plan.kind) {
    case "filter": {
      const below = union(notNull, rejectedNulls(plan.condition));
      return mapInputs(plan, (input) => simplifyOuterJoins(input, below));
    }
    case "project": {
      const below = new Set<ColumnRef>();
      for (const each of plan.outputs) {
        if (notNull.has(each.output)) collectStrict(each.expression, below);
      }
      return mapInputs(plan, (input) => simplifyOuterJoins(input, below));
    }
    case "sort":
    case "limit":
    case "lock_rows":
      return plan.kind === "limit"
        ? mapInputs(plan, (input) => simplifyOuterJoins(input))
        : mapInputs(plan, (input) => simplifyOuterJoins(input, notNull));
    case "aggregate": {
      const below = new Set<ColumnRef>();
      if (plan.groupingSets === null) {
        for (const each of plan.groups) if (notNull.has(each.output)) collectStrict(each.expression, below);
      }
      return mapInputs(plan, (input) => simplifyOuterJoins(input, below));
    }
    case "nested_loop_join":
      return simplifyJoin(plan, notNull);
    case "hash_join":
      // Only anti joins that stand for NOT IN exist already: they pass rows of the left side on.
      return plan.join === "anti"
        ? { ...plan, left: simplifyOuterJoins(plan.left, notNull), right: simplifyOuterJoins(plan.right) }
        : mapInputs(plan, (input) => simplifyOuterJoins(input));
    default:
      return mapInputs(plan, (input) => simplifyOuterJoins(input));
  }
}

function union(left: ReadonlySet<ColumnRef>, right: ReadonlySet<ColumnRef>): ReadonlySet<ColumnRef> {
  return new Set([...left, ...right]);
}

function intersects(columns: ReadonlySet<ColumnRef>, plan: Plan): boolean {
  const defined = allDefinedColumns(plan);
  for (const column of columns) if (defined.has(column)) return true;
  return false;
}

function simplifyJoin(
  plan: Plan & { readonly kind: "nested_loop_join" },
  notNull: ReadonlySet<ColumnRef>,
): Plan {
  let { join, left, right } = plan;
  const rejectsLeft = intersects(notNull, left);
  const rejectsRight = intersects(notNull, right);
  if (join === "full") {
    if (rejectsLeft && rejectsRight) join = "inner";
    else if (rejectsLeft) join = "left";
    else if (rejectsRight) join = "right";
  }
  if (join === "right" && !plan.correlated) {
    join = "left";
    [left, right] = [right, left];
  }
  if (join === "left" && intersects(notNull, right)) join = "inner";
  const inner = plan.condition === null ? new Set<ColumnRef>() : rejectedNulls(plan.condition);
  const both = union(notNull, inner);
  switch (join) {
    case "inner":
      return {
        ...plan,
        join,
        left: simplifyOuterJoins(left, both),
        right: simplifyOuterJoins(right, both),
      };
    case "left":
      return {
        ...plan,
        join,
        left: simplifyOuterJoins(left, notNull),
        right: simplifyOuterJoins(right, inner),
      };
    case "semi":
      return { ...plan, left: simplifyOuterJoins(left, both), right: simplifyOuterJoins(right, inner) };
    case "anti":
      return { ...plan, left: simplifyOuterJoins(left, notNull), right: simplifyOuterJoins(right, inner) };
    default:
      return { ...plan, join, left: simplifyOuterJoins(left), right: simplifyOuterJoins(right) };
  }
}

/** Whether an expression refers to a column of a set. */
export function refersTo(expression: Expression, columns: ReadonlySet<ColumnRef>): boolean {
  for (const column of columnsOf(expression)) if (columns.has(column)) return true;
  return false;
}
