/**
 * Aggregation below joins: where the rows of one side fall into few groups by all that is asked of them above, they are
 * aggregated before they are joined, and what comes of the groups is merged behind the joins (W. Yan, P. Larson, "Eager
 * Aggregation and Lazy Aggregation", VLDB 1995).
 *
 * A group stands for as many equal rows. So it is joined to as many rows of the other side as each of them, and what is
 * aggregated of that other side counts as often as the group has rows. Where an outer join extends a row with NULLs in
 * the place of a group, it is one row.
 */
import type { PlanningEnvironment } from "../binder/environment.ts";
import { findCast } from "../functions/casts.ts";
import { resolveAggregate, resolveOperator } from "../functions/registry.ts";
import {
  BOOLEAN,
  columnReference,
  conjunction,
  conjuncts,
  constant,
  hasSubquery,
  isExactType,
  sameType,
  volatilityOf,
} from "../plan/build.ts";
import type { ColumnExpression, ColumnRef, Expression } from "../plan/expression.ts";
import { raisesNothing } from "../plan/harmless.ts";
import { splitCall } from "../plan/part_aggregates.ts";
import type { AggregateCall, Plan } from "../plan/plan.ts";
import { substitute } from "../plan/rewrite.ts";
import {
  allDefinedColumns,
  columnsOf,
  freeColumns,
  inputs,
  outputColumns,
  ownExpressions,
  visitExpression,
} from "../plan/traverse.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { Estimator } from "./estimate.ts";
import { groupCount } from "./group_counts.ts";
import { strictColumns } from "./outer_joins.ts";

type Aggregate = Plan & { readonly kind: "aggregate" };

/** Fewer rows are not worth the time to plan a statement once more. */
const MIN_ROWS = 2_000;
/** Groups must be fewer than rows by this factor. */
const MIN_SHRINKAGE = 4;
/** So many places are compared by what their plans cost. */
const MAX_PLACES = 3;

const I64: SqlType = { kind: "i64" };

/** Aggregates for which it does not matter how often a value comes. */
const OF_SETS: ReadonlySet<string> = new Set([
  "min",
  "max",
  "bool_and",
  "bool_or",
  "every",
  "bit_and",
  "bit_or",
]);

/** A side of a join below an aggregation, and the conditions from above that are about it alone. */
interface Place {
  readonly side: Plan;
  readonly conditions: readonly Expression[];
  /** An outer join adds rows that have NULL in the place of the side's columns. */
  readonly isExtended: boolean;
}

/** Aggregations with a part of them below the joins of their input, the most promising first. */
export function eagerAggregations(
  plan: Aggregate,
  estimator: Estimator,
  newColumn: () => ColumnRef,
): readonly Aggregate[] {
  if (plan.stage !== undefined || freeColumns(plan).size > 0) return [];
  const isOpen = ({ distinct, orderBy, args, filter, aggregate }: AggregateCall) =>
    distinct || orderBy.length > 0 || isOfFloats(aggregate.argumentTypes) ||
    [...args, ...filter === null ? [] : [filter]].some(isFixed);
  if (plan.aggregates.some(isOpen) || plan.groups.some(({ expression }) => isFixed(expression))) return [];
  const found: { readonly plan: Aggregate; readonly saved: number }[] = [];
  for (const place of placesOf(plan.input, [], false)) {
    const input = filtered(place.side, place.conditions);
    const rows = estimator.rows(input);
    if (rows < MIN_ROWS) continue;
    const eager = aggregated(plan, place, input, newColumn);
    if (eager === null) continue;
    const groups = groupCount(estimator, eager.keys, rows);
    if (groups * MIN_SHRINKAGE > rows) continue;
    estimator.register(eager.plan.input);
    found.push({ plan: eager.plan, saved: rows - groups });
  }
  return found.sort((a, b) => b.saved - a.saved).slice(0, MAX_PLACES).map((each) => each.plan);
}

/** Sums of floating point depend on the order of additions. */
function isOfFloats(types: readonly SqlType[]): boolean {
  return types.some(({ kind }) => kind === "f32" || kind === "f64");
}

/** Whether an expression has to stay where it is. */
function isFixed(expression: Expression): boolean {
  return volatilityOf(expression) === "volatile" || hasSubquery(expression);
}

/** Whether rows of a plan's tables are elsewhere. */
export function readsRemote(plan: Plan, environment: PlanningEnvironment): boolean {
  const isRemote = "table" in plan && environment.statistics?.(plan.table.id)?.isRemote === true;
  return isRemote || inputs(plan).some((input) => readsRemote(input, environment));
}

/** Whether joins are right below. */
export function hasJoin(plan: Plan): boolean {
  if (plan.kind === "filter") return hasJoin(plan.input);
  return plan.kind === "nested_loop_join" && !plan.correlated;
}

function filtered(plan: Plan, conditions: readonly Expression[]): Plan {
  const condition = conjunction(conditions);
  return condition === null ? plan : { kind: "filter", input: plan, condition, rows: 0 };
}

/** The sides of the joins of a plan; `conditions` hold for its rows. */
function placesOf(plan: Plan, conditions: readonly Expression[], isExtended: boolean): Place[] {
  if (plan.kind === "filter") {
    const own = conjuncts(plan.condition);
    return own.some(isFixed) ? [] : placesOf(plan.input, [...conditions, ...own], isExtended);
  }
  if (plan.kind !== "nested_loop_join" || plan.correlated) return [];
  const own = conjuncts(plan.condition);
  if (own.some(isFixed)) return [];
  const { left, right } = plan;
  switch (plan.join) {
    case "inner":
      return [left, right].flatMap((side) => placesIn(side, [...conditions, ...own], isExtended));
    case "left":
      return [...placesIn(left, conditions, isExtended), ...placesIn(right, own, true)];
    case "semi":
    case "anti":
      return placesIn(left, conditions, isExtended);
    default:
      return [];
  }
}

/** A side, with those of the conditions that are about it alone, and what is in it. */
function placesIn(side: Plan, conditions: readonly Expression[], isExtended: boolean): Place[] {
  const columns = allDefinedColumns(side);
  const own = conditions.filter((each) => {
    const asked = columnsOf(each);
    return asked.size > 0 && asked.isSubsetOf(columns);
  });
  return [{ side, conditions: own, isExtended }, ...placesOf(side, own, isExtended)];
}

/** The aggregation with a part of it over a side of its joins; null: it cannot be. */
function aggregated(
  plan: Aggregate,
  place: Place,
  input: Plan,
  newColumn: () => ColumnRef,
): { readonly plan: Aggregate; readonly keys: readonly Expression[] } | null {
  const split = new Split(place, newColumn);
  for (const each of expressionsAbove(plan.input, place)) split.ask(each);
  for (const { expression } of plan.groups) split.ask(expression);
  const calls: AggregateCall[] = [];
  for (const call of plan.aggregates) {
    const whole = split.early(call) ?? split.late(call);
    if (whole === null) return null;
    calls.push(whole);
  }
  const { groups, renamed, parts } = split.finish();
  if (groups.length === 0 || !groups.every(({ expression }) => hasOneForm(expression.type))) return null;
  const part: Aggregate = {
    kind: "aggregate",
    input,
    groups,
    aggregates: parts,
    groupingSets: null,
    groupings: [],
    stage: "partial",
    rows: 0,
  };
  const again = (expression: Expression) => substitute(expression, renamed);
  return {
    plan: {
      ...plan,
      input: withPart(plan.input, place, part, again),
      groups: plan.groups.map((each) => ({ ...each, expression: again(each.expression) })),
      aggregates: calls.map((call) => ({
        ...call,
        args: call.args.map(again),
        filter: call.filter === null ? null : again(call.filter),
      })),
      stage: "final",
    },
    keys: groups.map(({ expression }) => expression),
  };
}

/** What is computed before and behind the joins. */
class Split {
  readonly #place: Place;
  readonly #newColumn: () => ColumnRef;
  readonly #columns: ReadonlySet<ColumnRef>;
  /** The side's columns that are asked for above it. */
  readonly #asked = new Map<ColumnRef, ColumnExpression>();
  readonly #parts: AggregateCall[] = [];
  #rowCount: Expression | null = null;

  constructor(place: Place, newColumn: () => ColumnRef) {
    this.#place = place;
    this.#newColumn = newColumn;
    this.#columns = new Set(outputColumns(place.side));
  }

  /** What an expression above needs of the side makes its groups. */
  ask(expression: Expression): void {
    visitExpression(expression, (part) => {
      if (part.kind !== "column" || !this.#columns.has(part.column)) return;
      const known = this.#asked.get(part.column);
      // Above an outer join it is nullable, whatever it is below.
      if (known === undefined || known.nullable) this.#asked.set(part.column, part);
    });
  }

  /** The call over what comes of the groups; null: not all that it needs is of the side, or it may fail. */
  early(call: AggregateCall): AggregateCall | null {
    const needed = [...call.args, ...call.filter === null ? [] : [call.filter]];
    if (needed.length === 0 || !needed.every((each) => this.#isOwn(each))) return null;
    // An extended row has no part, so that the call must be one that ignores it.
    const ignores = call.aggregate.skipsNulls && call.args.some((arg) => strictColumns(arg).size > 0);
    if (this.#place.isExtended && !ignores) return null;
    const split = splitCall(call, this.#newColumn);
    if (split === null) return null;
    this.#parts.push(...split.parts);
    return split.whole;
  }

  #isOwn(expression: Expression): boolean {
    return raisesNothing(expression) &&
      [...columnsOf(expression)].every((column) => this.#columns.has(column));
  }

  /** The call over the joined rows, of which each stands for several; null: it cannot tell. */
  late(call: AggregateCall): AggregateCall | null {
    const { aggregate, args, filter } = call;
    const [arg] = args;
    for (const each of [...args, ...filter === null ? [] : [filter]]) this.ask(each);
    if (OF_SETS.has(aggregate.name)) return call;
    const whole = splitCall(call, this.#newColumn)?.whole;
    if (whole === undefined) return null;
    switch (aggregate.name) {
      case "count":
        return {
          ...whole,
          args: [this.#rows()],
          filter: conjunction([...filter === null ? [] : [filter], ...args.map(isPresent)]),
        };
      case "sum":
      case "avg": {
        const type = aggregate.parts?.results[0]?.type;
        const sum = arg === undefined || type === undefined ? null : product(arg, this.#rows(), type);
        if (sum === null) return null;
        return { ...whole, args: aggregate.name === "sum" ? [sum] : [sum, this.#rows()], filter };
      }
      default:
        return null;
    }
  }

  /** How many rows one behind the joins stands for. */
  #rows(): Expression {
    if (this.#rowCount === null) {
      const output = this.#newColumn();
      const aggregate = resolveAggregate("count", []);
      this.#parts.push({ output, aggregate, args: [], distinct: false, filter: null, orderBy: [] });
      const { isExtended } = this.#place;
      const counted = columnReference(output, I64, isExtended);
      this.#rowCount = isExtended
        ? { kind: "coalesce", type: I64, args: [counted, constant(I64, 1)] }
        : counted;
    }
    return this.#rowCount;
  }

  /** The groups of the side, what their columns are above, and what is computed of them. */
  finish(): {
    readonly groups: Aggregate["groups"];
    readonly renamed: ReadonlyMap<ColumnRef, Expression>;
    readonly parts: readonly AggregateCall[];
  } {
    const groups = [...this.#asked.values()].map((expression) => ({ output: this.#newColumn(), expression }));
    const renamed = new Map(
      groups.map(({ output, expression: { column, type, nullable } }) =>
        [column, columnReference(output, type, nullable)] as const
      ),
    );
    return { groups, renamed, parts: this.#parts };
  }
}

function isPresent(argument: Expression): Expression {
  return { kind: "is_null", type: BOOLEAN, argument, negated: true };
}

/** The exact product of a value with a number of rows; null: there is none of this type. */
function product(value: Expression, rows: Expression, type: SqlType): Expression | null {
  if (type.kind !== "numeric" || type.scale === undefined) return null;
  const factors = [value, rows].map((each): Expression | null => {
    if (each.type.kind === "numeric") return each;
    const to: SqlType = { kind: "numeric", scale: 0 };
    const cast = findCast(each.type, to);
    return cast === undefined ? null : { kind: "cast", type: to, cast, argument: each };
  });
  const [left, right] = factors;
  if (left === undefined || left === null || right === undefined || right === null) return null;
  const bound = resolveOperator("*", left.type, right.type);
  if (!sameType(bound.returnType, type)) return null;
  return { kind: "call", type, function: bound, args: [left, right] };
}

/** Whether values of a type that are equal are the same. */
function hasOneForm(type: SqlType): boolean {
  switch (type.kind) {
    case "bool":
    case "timestamp":
    case "timestamptz":
      return true;
    case "numeric":
      return type.scale !== undefined;
    default:
      return isExactType(type);
  }
}

/** What the operators above a side ask, but for the conditions that have moved to it. */
function expressionsAbove(plan: Plan, place: Place): readonly Expression[] {
  if (plan === place.side) return [];
  return [
    ...ownExpressions(plan).flatMap((each) => conjuncts(each)).filter((each) =>
      !place.conditions.includes(each)
    ),
    ...inputs(plan).flatMap((input) => expressionsAbove(input, place)),
  ];
}

/** The plan with the side's groups in its place. */
function withPart(plan: Plan, place: Place, part: Plan, again: (expression: Expression) => Expression): Plan {
  if (plan === place.side) return part;
  const left = (condition: Expression | null) =>
    conjunction(conjuncts(condition).filter((each) => !place.conditions.includes(each)));
  const below = (input: Plan) => withPart(input, place, part, again);
  switch (plan.kind) {
    case "filter":
      return filtered(below(plan.input), conjuncts(left(plan.condition)).map(again));
    case "nested_loop_join": {
      const condition = left(plan.condition);
      return {
        ...plan,
        left: below(plan.left),
        right: below(plan.right),
        condition: condition === null ? null : again(condition),
      };
    }
    default:
      return plan;
  }
}
