/**
 * Pulling the correlated conditions out of a subquery, so that what is left can run on its own: T. Neumann, A. Kemper,
 * "Unnesting Arbitrary Queries", BTW 2015, in its simple form where the correlation is in conditions.
 */
import {
  columnReference,
  conjunction,
  conjuncts,
  expressionKey,
  isNullable,
  volatilityOf,
} from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";
import { substitute } from "../plan/rewrite.ts";
import { columnsOf, columnTypes, freeColumns, outputColumns } from "../plan/traverse.ts";

/** A plan without references to the outside, and the conditions that had them. */
export interface PulledUp {
  readonly plan: Plan;
  readonly conditions: readonly Expression[];
}

/** Pulls correlated conditions upwards. */
export class PullUp {
  readonly #outer: ReadonlySet<ColumnRef>;
  readonly #newColumn: () => ColumnRef;

  constructor(outer: ReadonlySet<ColumnRef>, newColumn: () => ColumnRef) {
    this.#outer = outer;
    this.#newColumn = newColumn;
  }

  #isOuter(expression: Expression): boolean {
    for (const column of columnsOf(expression)) if (this.#outer.has(column)) return true;
    return false;
  }

  #isClosed(plan: Plan): boolean {
    for (const column of freeColumns(plan)) if (this.#outer.has(column)) return false;
    return true;
  }

  /** The plan with its correlated conditions apart, or null when that cannot be done without changing its rows. */
  pull(plan: Plan): PulledUp | null {
    if (this.#isClosed(plan)) return { plan, conditions: [] };
    switch (plan.kind) {
      case "filter": {
        const input = this.pull(plan.input);
        if (input === null) return null;
        const kept: Expression[] = [];
        const pulled: Expression[] = [];
        for (const part of conjuncts(plan.condition)) {
          if (!this.#isOuter(part)) kept.push(part);
          else if (volatilityOf(part) === "volatile") return null;
          else pulled.push(part);
        }
        const condition = conjunction(kept);
        return {
          plan: condition === null ? input.plan : { ...plan, input: input.plan, condition },
          conditions: [...pulled, ...input.conditions],
        };
      }
      case "project":
        return this.#pullProject(plan);
      case "nested_loop_join":
        return this.#pullJoin(plan);
      case "aggregate":
        return this.#pullAggregate(plan);
      case "sort":
        // The order of a subquery's rows matters only below a LIMIT, which is not entered.
        return this.pull(plan.input);
      case "distinct": {
        if (plan.input.kind === "sort") return null;
        const input = this.pull(plan.input);
        if (input === null || plan.keys.some((key) => this.#isOuter(key))) return null;
        const present = new Set(plan.keys.map(expressionKey));
        const types = columnTypes(input.plan);
        const more = [...this.#innerColumns(input.conditions)].flatMap((column) => {
          const type = types.get(column);
          if (type === undefined) return [];
          const reference = columnReference(column, type, true);
          return present.has(expressionKey(reference)) ? [] : [reference];
        });
        return {
          plan: { ...plan, input: input.plan, keys: [...plan.keys, ...more] },
          conditions: input.conditions,
        };
      }
      default:
        return null;
    }
  }

  #innerColumns(conditions: readonly Expression[]): Set<ColumnRef> {
    const result = new Set<ColumnRef>();
    for (const condition of conditions) {
      for (const column of columnsOf(condition)) if (!this.#outer.has(column)) result.add(column);
    }
    return result;
  }

  /** The columns that the conditions need become outputs of the projection too. */
  #pullProject(plan: Plan & { readonly kind: "project" }): PulledUp | null {
    if (plan.outputs.some((each) => this.#isOuter(each.expression))) return null;
    const input = this.pull(plan.input);
    if (input === null) return null;
    const types = columnTypes(input.plan);
    const outputs = [...plan.outputs];
    const replacement = new Map<ColumnRef, Expression>();
    for (const column of this.#innerColumns(input.conditions)) {
      const type = types.get(column);
      if (type === undefined) return null;
      const reference = columnReference(column, type, true);
      const known = outputs.find((each) =>
        each.expression.kind === "column" && each.expression.column === column
      );
      const output = known?.output ?? this.#newColumn();
      if (known === undefined) outputs.push({ output, expression: reference });
      replacement.set(column, columnReference(output, type, true));
    }
    return {
      plan: { ...plan, input: input.plan, outputs },
      conditions: input.conditions.map((each) => substitute(each, replacement)),
    };
  }

  #pullJoin(plan: Plan & { readonly kind: "nested_loop_join" }): PulledUp | null {
    if (plan.join === "inner") {
      const left = this.pull(plan.left);
      const right = this.pull(plan.right);
      if (left === null || right === null) return null;
      const parts = conjuncts(plan.condition);
      const kept = parts.filter((part) => !this.#isOuter(part));
      const pulled = parts.filter((part) => this.#isOuter(part));
      return {
        plan: { ...plan, left: left.plan, right: right.plan, condition: conjunction(kept) },
        conditions: [...pulled, ...left.conditions, ...right.conditions],
      };
    }
    const keepsLeft = plan.join === "left" || plan.join === "semi" || plan.join === "anti";
    const isConditionClosed = plan.condition === null || !this.#isOuter(plan.condition);
    if (!keepsLeft || !isConditionClosed || !this.#isClosed(plan.right)) return null;
    const left = this.pull(plan.left);
    return left === null ? null : { plan: { ...plan, left: left.plan }, conditions: left.conditions };
  }

  /**
   * An equality of an inner expression with an outer one becomes a group key: within one value of the outer side the
   * groups are the same. For an aggregation without groups the caller must supply the row that is missing when no row
   * is there to aggregate.
   */
  #pullAggregate(plan: Plan & { readonly kind: "aggregate" }): PulledUp | null {
    if (plan.groupingSets !== null) return null;
    const input = this.pull(plan.input);
    if (input === null) return null;
    const holdsOuter = plan.groups.some((each) => this.#isOuter(each.expression)) ||
      plan.aggregates.some((each) =>
        [
          ...each.args,
          ...(each.filter === null ? [] : [each.filter]),
          ...each.orderBy.map((key) => key.expression),
        ]
          .some((part) => this.#isOuter(part))
      );
    if (holdsOuter) return null;
    const groups = [...plan.groups];
    const conditions: Expression[] = [];
    for (const condition of input.conditions) {
      if (condition.kind !== "call" || condition.function.name !== "=") return null;
      const [left, right] = condition.args;
      if (left === undefined || right === undefined) return null;
      const inner = this.#isOuter(left) ? right : left;
      const outer = this.#isOuter(left) ? left : right;
      if (this.#isOuter(inner) || [...columnsOf(outer)].some((column) => !this.#outer.has(column))) {
        return null;
      }
      const key = expressionKey(inner);
      const known = groups.find((each) => expressionKey(each.expression) === key);
      const output = known?.output ?? this.#newColumn();
      if (known === undefined) groups.push({ output, expression: inner });
      const reference = columnReference(output, inner.type, isNullable(inner));
      conditions.push({ ...condition, args: inner === left ? [reference, outer] : [outer, reference] });
    }
    return { plan: { ...plan, input: input.plan, groups }, conditions };
  }
}

/** An EXISTS needs only rows: the select list, order and duplicates do not matter. */
export function stripForExists(plan: Plan): Plan {
  switch (plan.kind) {
    case "project":
    case "sort":
    case "distinct":
      return stripForExists(plan.input);
    case "limit": {
      const isHarmless = plan.offset === null && plan.limit?.kind === "constant" &&
        typeof plan.limit.value === "number" && plan.limit.value > 0;
      return isHarmless ? stripForExists(plan.input) : plan;
    }
    default:
      return plan;
  }
}

/** Whether a column of a plan's output may be NULL; true when in doubt. */
export function mayColumnBeNull(plan: Plan, column: ColumnRef): boolean {
  switch (plan.kind) {
    case "table_scan":
      if (plan.rowId === column) return false;
      return plan.columns.find((each) => each.output === column)?.nullable ?? true;
    case "project": {
      const output = plan.outputs.find((each) => each.output === column);
      if (output === undefined) return true;
      const { expression } = output;
      return expression.kind === "column"
        ? mayColumnBeNull(plan.input, expression.column)
        : isNullable(expression);
    }
    case "filter":
    case "sort":
    case "limit":
    case "distinct":
      return mayColumnBeNull(plan.input, column);
    case "nested_loop_join":
      if (plan.join !== "inner" && plan.join !== "semi" && plan.join !== "anti") return true;
      return outputColumns(plan.left).includes(column)
        ? mayColumnBeNull(plan.left, column)
        : mayColumnBeNull(plan.right, column);
    case "aggregate": {
      const group = plan.groups.find((each) => each.output === column);
      if (group !== undefined && plan.groupingSets === null) {
        return group.expression.kind === "column"
          ? mayColumnBeNull(plan.input, group.expression.column)
          : isNullable(group.expression);
      }
      return plan.aggregates.find((each) => each.output === column)?.aggregate.name !== "count";
    }
    default:
      return true;
  }
}
