/**
 * Subqueries become joins where that gives the same rows: EXISTS and IN become semi joins, their negations anti joins,
 * scalar aggregates that depend on the outer row become a grouped aggregation and a left join. EXISTS that is a part of
 * a larger expression becomes a test of membership in a set, which is made once.
 *
 * What is not covered stays an expression with a plan of its own and is run (at most) once per outer row. COUNT over no
 * rows is 0, not NULL: above the left join it is supplied (W. Kim's "count bug", Ganski and Wong, SIGMOD 1987).
 */
import {
  columnReference,
  conjunction,
  conjuncts,
  constant,
  isNullable,
  sameType,
  volatilityOf,
} from "../plan/build.ts";
import { BOOLEAN, FALSE, hasSubquery, withoutIdentityCasts } from "../plan/build.ts";
import type { BoundFunction } from "../functions/definition.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import { raisesNothing } from "../plan/harmless.ts";
import type { Plan } from "../plan/plan.ts";
import { mapInputs, mapOperands, mapOwnExpressions, substitute } from "../plan/rewrite.ts";
import {
  allDefinedColumns,
  columnsOf,
  columnTypes,
  freeColumns,
  inputs,
  ownExpressions,
  subqueryPlan,
} from "../plan/traverse.ts";
import { resolveOperator } from "../functions/registry.ts";
import type { Estimator } from "./estimate.ts";
import { mayColumnBeNull, type PulledUp, PullUp, stripForExists } from "./pull_up.ts";
import { restrictAggregate } from "./restrict_aggregates.ts";
import { rowCount } from "./top_n.ts";

/** A correlated look-up through an index beats a join when the outer rows are fewer than the inner by this factor. */
const CORRELATED_FACTOR = 50;
/** The same where the aggregation is restricted to what the outer rows ask for: it can look that up as well. */
const RESTRICTED_FACTOR = 1000;

/** How many rows are taken of a result whose LIMIT is a parameter. */
export const UNKNOWN_LIMIT = 100;

type QuantifiedTest = Expression & { readonly kind: "any_subquery" | "all_subquery" };
type Exists = Expression & { readonly kind: "exists" };

/** An expression of the outer row, and what a subquery's rows are compared with it by. */
interface Key {
  readonly outer: Expression;
  readonly inner: Expression;
  readonly equality: BoundFunction;
}

/**
 * Subqueries become joins where that gives the same rows: EXISTS and IN become semi joins, their negations anti
 * joins, scalar aggregates that depend on the outer row become a grouped aggregation and a left join.
 */
export class Unnesting {
  readonly #estimator: Estimator;
  readonly #newColumn: () => ColumnRef;

  constructor(estimator: Estimator, newColumn: () => ColumnRef) {
    this.#estimator = estimator;
    this.#newColumn = newColumn;
  }

  /** Rewrites a plan, of which so many rows are wanted at the most, innermost subqueries first. */
  rewrite(plan: Plan, wanted = Infinity): Plan {
    const inner = mapOwnExpressions(
      mapInputs(plan, (input) => this.rewrite(input, rowsWanted(plan, wanted))),
      (expression) => this.#insideExpression(expression),
    );
    switch (inner.kind) {
      case "filter":
        return this.#rewriteFilter(inner, wanted);
      case "project":
        return this.#rewriteScalars(inner, wanted);
      case "aggregate":
      case "window":
        return this.#rewriteScalars(inner, Infinity);
      default:
        return inner;
    }
  }

  #insideExpression(expression: Expression): Expression {
    return mapOperands(
      expression,
      (operand) => this.#insideExpression(operand),
      (plan) => this.rewrite(plan),
    );
  }

  #rewriteFilter(filter: Plan & { readonly kind: "filter" }, wanted: number): Plan {
    let { input } = filter;
    const kept: Expression[] = [];
    for (const part of conjuncts(filter.condition)) {
      const joined = this.#asJoin(input, part);
      if (joined === null) kept.push(part);
      else input = joined;
    }
    const condition = conjunction(kept);
    if (condition === null) return input;
    return this.#rewriteScalars({ ...filter, input, condition }, wanted);
  }

  /** The input restricted by a condition that is a subquery test, as a join; null when it is none or cannot be one. */
  #asJoin(input: Plan, part: Expression): Plan | null {
    switch (part.kind) {
      case "exists":
        return this.#existsJoin(input, part.plan, part.negated);
      case "any_subquery":
        return this.#anyJoin(input, part);
      case "all_subquery":
        return part.operators.length === 1 && part.operators[0]?.name === "<>"
          ? this.#notInJoin(input, part)
          : null;
      case "not":
        return part.argument.kind === "any_subquery" &&
            part.argument.operators.every((each) => each.name === "=")
          ? this.#notInJoin(input, part.argument)
          : null;
      default:
        return null;
    }
  }

  #isCorrelated(input: Plan, plan: Plan): boolean {
    const defined = allDefinedColumns(input);
    for (const column of freeColumns(plan)) if (defined.has(column)) return true;
    return false;
  }

  #existsJoin(input: Plan, subquery: Plan, negated: boolean): Plan | null {
    const pulled = this.#pullExists(input, subquery);
    const [first, ...others] = pulled?.conditions ?? [];
    // One of several equalities is no key of a join.
    if (
      first?.kind === "or" && others.length === 0 && pulled !== null && keysOf(first, pulled.plan).length > 0
    ) {
      return null;
    }
    return pulled === null
      ? null
      : this.#join(negated ? "anti" : "semi", input, pulled.plan, conjunction(pulled.conditions));
  }

  /** What EXISTS looks for, apart from the conditions that depend on the input; null: they cannot be separated. */
  #pullExists(input: Plan, subquery: Plan): PulledUp | null {
    if (!this.#isCorrelated(input, subquery)) return null;
    const stripped = stripForExists(subquery);
    // An aggregation without groups always has its row.
    if (stripped.kind === "aggregate" && stripped.groups.length === 0) return null;
    if (
      stripped.kind === "filter" && stripped.input.kind === "aggregate" && stripped.input.groups.length === 0
    ) {
      return null;
    }
    const pulled = new PullUp(freeColumns(subquery), this.#newColumn).pull(stripped);
    if (pulled === null || pulled.conditions.length === 0 || this.#isCorrelated(input, pulled.plan)) {
      return null;
    }
    return pulled;
  }

  /** EXISTS by one equality, or one of several, asked for so many rows: whether a value is in a set. */
  #existsInSet(input: Plan, rows: number, exists: Exists): Expression | null {
    if (volatilityOf(exists) === "volatile") return null;
    const pulled = this.#pullExists(input, exists.plan);
    const [condition, ...others] = pulled?.conditions ?? [];
    // A set would be made for each row of a query around.
    if (
      pulled === null || condition === undefined || others.length > 0 || freeColumns(pulled.plan).size > 0
    ) {
      return null;
    }
    const keys = keysOf(condition, pulled.plan);
    const size = this.#estimator.rows(pulled.plan);
    if (keys.length === 0) return null;
    if (keys.every(({ inner }) => this.#isBetterCorrelated(inner, rows, CORRELATED_FACTOR, size))) {
      return null;
    }
    const found = keys.map((key): Expression => {
      return {
        kind: "coalesce",
        type: BOOLEAN,
        args: [inSet(key, pulled.plan, this.#newColumn()), FALSE],
      };
    });
    const [only, ...more] = found;
    const any: Expression = only !== undefined && more.length === 0
      ? only
      : { kind: "or", type: BOOLEAN, args: found };
    return exists.negated ? { kind: "not", type: BOOLEAN, argument: any } : any;
  }

  /** EXISTS by several equalities, asked for so many rows: whether a left join with their distinct values finds one. */
  #existsByKeys(
    input: Plan,
    rows: number,
    exists: Exists,
  ): { readonly input: Plan; readonly value: Expression } | null {
    if (volatilityOf(exists) === "volatile") return null;
    const pulled = this.#pullExists(input, exists.plan);
    if (pulled === null || freeColumns(pulled.plan).size > 0) return null;
    // Rows may be compared that nothing asks for.
    if (!pulled.conditions.every(raisesNothing) || !givesNoErrors(pulled.plan)) return null;
    const keys = pulled.conditions.map((each) => keysOf(each, pulled.plan));
    if (keys.some(({ length }) => length !== 1)) return null;
    const size = this.#estimator.rows(pulled.plan);
    if (keys.flat().some(({ inner }) => this.#isBetterCorrelated(inner, rows, CORRELATED_FACTOR, size))) {
      return null;
    }
    const groups = keys.flat().map(({ inner }) => ({ output: this.#newColumn(), expression: inner }));
    const [found] = groups.map(({ output, expression }) => columnReference(output, expression.type, true));
    const conditions = keys.flat().map(({ outer, equality }, at): Expression => {
      const { output, expression } = groups[at] as typeof groups[number];
      const key = columnReference(output, expression.type, isNullable(expression));
      return { kind: "call", type: BOOLEAN, function: equality, args: [outer, key] };
    });
    if (found === undefined) return null;
    const distinct: Plan = {
      kind: "aggregate",
      input: pulled.plan,
      groups,
      aggregates: [],
      groupingSets: null,
      groupings: [],
      rows: 0,
    };
    return {
      input: this.#join("left", input, distinct, conjunction(conditions)),
      // What is equal to something is not NULL.
      value: { kind: "is_null", type: BOOLEAN, argument: found, negated: !exists.negated },
    };
  }

  #join(join: "semi" | "anti" | "left", left: Plan, right: Plan, condition: Expression | null): Plan {
    return { kind: "nested_loop_join", join, left, right, condition, correlated: false, rows: 0 };
  }

  /** The comparisons of a quantified test with the subquery's columns. */
  #comparisons(part: QuantifiedTest, plan: Plan): Expression[] | null {
    const types = columnTypes(plan);
    const result: Expression[] = [];
    for (const [index, left] of part.left.entries()) {
      const operator = part.operators[index];
      const column = part.columns[index];
      if (operator === undefined || column === undefined) return null;
      const type = types.get(column) ?? operator.argumentTypes[1];
      if (type === undefined) return null;
      const right = columnReference(column, type, mayColumnBeNull(plan, column));
      result.push({ kind: "call", type: BOOLEAN, function: operator, args: [left, right] });
    }
    return result;
  }

  #anyJoin(input: Plan, part: QuantifiedTest): Plan | null {
    if (part.left.some((each) => columnsOf(each).size === 0 || subqueryPlan(each) !== null)) return null;
    const pulled = new PullUp(freeColumns(part.plan), this.#newColumn).pull(part.plan);
    if (pulled === null || this.#isCorrelated(input, pulled.plan)) return null;
    if (pulled.conditions.length > 0 && producesMissingRow(part.plan)) return null;
    const comparisons = this.#comparisons(part, pulled.plan);
    if (comparisons === null) return null;
    return this.#join("semi", input, pulled.plan, conjunction([...comparisons, ...pulled.conditions]));
  }

  #notInJoin(input: Plan, part: QuantifiedTest): Plan | null {
    if (part.left.some((each) => columnsOf(each).size === 0)) return null;
    const pulled = new PullUp(freeColumns(part.plan), this.#newColumn).pull(part.plan);
    if (pulled === null || this.#isCorrelated(input, pulled.plan)) return null;
    if (pulled.conditions.length > 0 && producesMissingRow(part.plan)) return null;
    const comparisons = this.#comparisons(part, pulled.plan);
    if (comparisons === null) return null;
    const equalities = comparisons.map((each) => asEquality(each));
    if (equalities.some((each) => each === null)) return null;
    const conditions = equalities.filter((each) => each !== null);
    // A row stays unless one is equal to it or may be: where a value is not known.
    const isKnown = part.left.map((left, index) =>
      !isNullable(left) && !mayColumnBeNull(pulled.plan, part.columns[index] ?? 0)
    );
    const [only] = conditions;
    const isKeyed = pulled.conditions.some(isEquality) || isKnown.some((each) => each);
    const isRepeatable = part.left.every((left) => volatilityOf(left) !== "volatile" && !hasSubquery(left));
    if (isKnown.every((each) => each) || isKeyed && isRepeatable) {
      const tests = conditions.map((equality, index) =>
        isKnown[index] === true ? equality : orUnknown(equality)
      );
      return this.#join("anti", input, pulled.plan, conjunction([...tests, ...pulled.conditions]));
    }
    if (
      only === undefined || only.kind !== "call" || conditions.length !== 1 || pulled.conditions.length > 0
    ) return null;
    const [left, right] = only.args;
    if (left === undefined || right === undefined) return null;
    return {
      kind: "hash_join",
      join: "anti",
      left: input,
      right: pulled.plan,
      leftKeys: [left],
      rightKeys: [right],
      residual: null,
      nullAware: true,
      rows: 0,
    };
  }

  /**
   * Replaces scalar aggregates that depend on the operator's input by columns of a join with it, and EXISTS by sets, if
   * that is worth it for the rows that are wanted.
   */
  #rewriteScalars(
    plan: Plan & { readonly kind: "filter" | "project" | "aggregate" | "window" },
    wanted: number,
  ): Plan {
    let { input } = plan;
    const filters = plan.kind === "filter" ? conjuncts(plan.condition) : [];
    const asked = () =>
      Math.min(
        wanted,
        this.#estimator.rows(plan.input) *
          this.#estimator.selectivity(conjunction(filters.filter((each) => !hasSubquery(each)))),
      );
    const replace = (expression: Expression): Expression => {
      const next = mapOperands(expression, replace);
      if (next.kind !== "scalar_subquery" && next.kind !== "exists") return next;
      const inSet = next.kind === "exists" ? this.#existsInSet(plan.input, asked(), next) : null;
      if (inSet !== null) return inSet;
      const joined = next.kind === "exists"
        ? this.#existsByKeys(input, asked(), next)
        : this.#scalarJoin(input, filters, next);
      if (joined === null) return next;
      input = joined.input;
      return joined.value;
    };
    const next = mapOwnExpressions(plan, replace);
    if (input === plan.input) return next;
    return mapInputs(next, () => input);
  }

  #scalarJoin(
    input: Plan,
    filters: readonly Expression[],
    subquery: Expression & { readonly kind: "scalar_subquery" },
  ): { readonly input: Plan; readonly value: Expression } | null {
    if (!this.#isCorrelated(input, subquery.plan)) return null;
    const projection = subquery.plan.kind === "project" ? subquery.plan : null;
    const aggregate = projection === null ? subquery.plan : projection.input;
    if (aggregate.kind !== "aggregate" || aggregate.groups.length > 0 || aggregate.groupingSets !== null) {
      return null;
    }
    if (volatilityOf(subquery) === "volatile") return null;
    const pulled = new PullUp(freeColumns(subquery.plan), this.#newColumn).pull(aggregate);
    if (pulled === null || pulled.conditions.length === 0 || this.#isCorrelated(input, pulled.plan)) {
      return null;
    }
    if (pulled.plan.kind !== "aggregate") return null;
    const restricted = restrictAggregate(
      pulled.plan,
      { input, filters, joined: pulled.conditions },
      this.#estimator,
      this.#newColumn,
    );
    const factor = restricted === null ? CORRELATED_FACTOR : RESTRICTED_FACTOR;
    const outerRows = this.#estimator.rows(input);
    const isBetter = (key: Expression) => this.#isBetterCorrelated(key, outerRows, factor, 0);
    if (pulled.plan.groups.some(({ expression }) => isBetter(expression))) return null;
    const joined = this.#join("left", input, restricted ?? pulled.plan, conjunction(pulled.conditions));
    const results = new Map<ColumnRef, Expression>();
    for (const call of pulled.plan.aggregates) {
      const { returnType, name } = call.aggregate;
      const reference = columnReference(call.output, returnType, true);
      const isCount = name === "count" || name === "regr_count";
      results.set(
        call.output,
        isCount
          ? { kind: "coalesce", type: returnType, args: [reference, constant(returnType, 0)] }
          : reference,
      );
    }
    const output = projection?.outputs.find((each) => each.output === subquery.column);
    const expression = output?.expression ??
      columnReference(subquery.column, subquery.type, true);
    return { input: joined, value: substitute(expression, results) };
  }

  /**
   * Whether looking for a value of `inner` once for each of so many rows, through an index, costs less than reading all
   * rows that it is computed of. `size`: how many these are, when it is no column.
   */
  #isBetterCorrelated(inner: Expression, rows: number, factor: number, size: number): boolean {
    const plain = withoutIdentityCasts(inner);
    const facts = plain.kind === "column" ? this.#estimator.factsOf(plain.column) : undefined;
    if (facts === undefined) return rows * factor < size;
    const columnId = facts.column?.id;
    const isIndexed = columnId === undefined || facts.table.rowIdColumn === columnId ||
      facts.table.indexes.some((index) =>
        index.predicateText === null && index.columns[0]?.columnId === columnId
      );
    return isIndexed && rows * factor < facts.rows;
  }
}

/** What one equality, or each of several of which one is to hold, compares with values of a plan. */
export function keysOf(condition: Expression, plan: Plan): readonly Key[] {
  const defined = allDefinedColumns(plan);
  const isInner = (each: Expression) => [...columnsOf(each)].every((column) => defined.has(column));
  const isOuter = (each: Expression) => [...columnsOf(each)].every((column) => !defined.has(column));
  const keys: Key[] = [];
  for (const each of condition.kind === "or" ? condition.args : [condition]) {
    if (each.kind !== "call" || each.function.name !== "=" || hasSubquery(each)) return [];
    const [a, b] = each.args;
    const [left, right] = each.function.argumentTypes;
    // Values of two forms are no keys of one set.
    if (
      a === undefined || b === undefined || left === undefined || right === undefined ||
      !sameType(left, right)
    ) {
      return [];
    }
    const [outer, inner] = isInner(a) ? [b, a] : [a, b];
    if (!isInner(inner) || !isOuter(outer)) return [];
    keys.push({ outer, inner, equality: each.function });
  }
  return keys;
}

function givesNoErrors(plan: Plan): boolean {
  return ownExpressions(plan).every(raisesNothing) && inputs(plan).every(givesNoErrors);
}

/** Whether a key's value is in the set of those that a plan's rows give. */
export function inSet({ outer, inner, equality }: Key, plan: Plan, output: ColumnRef): Expression {
  return {
    kind: "any_subquery",
    type: BOOLEAN,
    left: [outer],
    operators: [equality],
    plan: { kind: "project", input: plan, outputs: [{ output, expression: inner }], rows: 0 },
    columns: [output],
  };
}

function isEquality(condition: Expression): boolean {
  return condition.kind === "call" && condition.function.name === "=";
}

/** Whether an equality holds or is not known. */
function orUnknown(equality: Expression): Expression {
  const isUnknown = equality.kind !== "call" ? [] : equality.args.map((argument): Expression => {
    return { kind: "is_null", type: BOOLEAN, argument, negated: false };
  });
  return { kind: "or", type: BOOLEAN, args: [equality, ...isUnknown] };
}

/** How many rows of its input an operator wants, of which so many rows are wanted. */
function rowsWanted(plan: Plan, wanted: number): number {
  switch (plan.kind) {
    case "limit":
      if (plan.limit === null) return wanted;
      return Math.min(wanted, (rowCount(plan.limit) ?? UNKNOWN_LIMIT) + (rowCount(plan.offset) ?? 0));
    case "project":
    case "filter":
    case "lock_rows":
      return wanted;
    default:
      return Infinity;
  }
}

/** Whether a subquery is an aggregation without groups, which has a row even when there is nothing to aggregate. */
function producesMissingRow(plan: Plan): boolean {
  switch (plan.kind) {
    case "aggregate":
      return plan.groups.length === 0;
    case "project":
    case "filter":
    case "sort":
    case "distinct":
      return producesMissingRow(plan.input);
    default:
      return false;
  }
}

/** The equality whose negation a comparison is, or the equality itself. */
function asEquality(comparison: Expression): Expression | null {
  if (comparison.kind !== "call") return null;
  if (comparison.function.name === "=") return comparison;
  if (comparison.function.name !== "<>") return null;
  const [left, right] = comparison.function.argumentTypes;
  if (left === undefined || right === undefined) return null;
  const equals = resolveOperator("=", left, right);
  const isSame = JSON.stringify(equals.argumentTypes) === JSON.stringify(comparison.function.argumentTypes);
  return isSame ? { ...comparison, function: equals } : null;
}
