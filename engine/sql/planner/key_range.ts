/**
 * Comparisons of a column of one side of a join with what the other side gives. Kept in the order of that column, the
 * rows that a row of the other side joins are neighbors, whose ends are found by bisection.
 */
import {
  columnReference,
  conjunction,
  conjuncts,
  hasSubquery,
  isVolatilePlan,
  volatilityOf,
  withoutIdentityCasts,
} from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import { raisesNothing } from "../plan/harmless.ts";
import type { Plan, SortKey } from "../plan/plan.ts";
import { allDefinedColumns, columnsOf, freeColumns, inputs } from "../plan/traverse.ts";
import { isSameForm } from "./key_form.ts";

/** What is asked of a row by its place in the order of a column, and what else is. */
export interface KeyRange {
  /** Rows are in this order; NULLs, which no comparison holds for, are at the end that is asked for first. */
  readonly order: SortKey;
  /** Holds from some row on; null: from the first. */
  readonly low: Expression | null;
  /** Holds up to some row, of those that `low` holds for; null: up to the last. */
  readonly high: Expression | null;
  readonly rest: Expression | null;
}

type NestedLoop = Plan & { readonly kind: "nested_loop_join" };

interface Comparison {
  readonly condition: Expression;
  readonly key: Expression & { readonly kind: "column" };
  readonly isLow: boolean;
}

/**
 * The range of a column of a side that the conditions of a join say most of; null: there is none. `wanted`: it is to be
 * this column.
 */
export function keyRange(
  conditions: readonly Expression[],
  columns: ReadonlySet<ColumnRef>,
  wanted?: ColumnRef,
): KeyRange | null {
  const comparisons = conditions.flatMap((each) => comparisonOf(each, columns) ?? [])
    .filter(({ key }) => wanted === undefined || key.column === wanted);
  const byColumn = Map.groupBy(comparisons, ({ key }) => key.column);
  const isWhole = (list: readonly Comparison[]) =>
    list.some(({ isLow }) => isLow) && list.some(({ isLow }) => !isLow);
  const lists = [...byColumn.values()];
  const own = withoutFailing(conditions, lists.find(isWhole) ?? lists[0] ?? []);
  const [first] = own;
  if (first === undefined) return null;
  const used = new Set(own.map(({ condition }) => condition));
  const part = (isLow: boolean) =>
    conjunction(own.filter((each) => each.isLow === isLow).map(({ condition }) => condition));
  const low = part(true);
  const { column, type, nullable } = first.key;
  return {
    order: {
      expression: columnReference(column, type, nullable),
      descending: false,
      nullsFirst: low !== null,
    },
    low,
    high: part(false),
    rest: conjunction(conditions.filter((each) => !used.has(each))),
  };
}

/** Those before which no condition is asked that may keep them from failing. */
function withoutFailing(
  conditions: readonly Expression[],
  comparisons: readonly Comparison[],
): readonly Comparison[] {
  let isFirst = true;
  return conditions.flatMap((condition) => {
    const comparison = comparisons.find((each) => each.condition === condition);
    if (comparison !== undefined && (isFirst || raisesNothing(condition))) return [comparison];
    isFirst = false;
    return [];
  });
}

/** The join with its right side in the order of a range; null: it has no range, or a right side for each left row. */
export function inRangeOrder(join: NestedLoop): NestedLoop | null {
  const { right, condition } = join;
  if (join.correlated || freeColumns(right).size > 0 || isVolatilePlan(right) || readsWorkingTable(right)) {
    return null;
  }
  const range = keyRange(conjuncts(condition), allDefinedColumns(right));
  if (range === null) return null;
  return { ...join, right: { kind: "sort", input: right, keys: [range.order], limit: null, rows: 0 } };
}

/** The range in whose order a join has its right side; null: it has it in none. */
export function rangeInOrder({ right, condition, correlated }: NestedLoop): KeyRange | null {
  const key = right.kind === "sort" && !correlated ? right.keys[0] : undefined;
  if (key?.expression.kind !== "column" || key.descending) return null;
  const range = keyRange(conjuncts(condition), allDefinedColumns(right), key.expression.column);
  return range?.order.nullsFirst === key.nullsFirst ? range : null;
}

function readsWorkingTable(plan: Plan): boolean {
  return plan.kind === "with_scan" ? plan.working : inputs(plan).some(readsWorkingTable);
}

function comparisonOf(condition: Expression, columns: ReadonlySet<ColumnRef>): Comparison | null {
  if (condition.kind !== "call" || hasSubquery(condition) || volatilityOf(condition) === "volatile") {
    return null;
  }
  const [left, right] = condition.args;
  if (left === undefined || right === undefined) return null;
  const isGreater = condition.function.name.startsWith(">");
  if (!["<", "<=", ">", ">="].includes(condition.function.name)) return null;
  for (const [own, other, isLow] of [[left, right, isGreater], [right, left, !isGreater]] as const) {
    const key = withoutIdentityCasts(own);
    if (key.kind !== "column" || !columns.has(key.column)) continue;
    // Padding makes texts of one length equal, which sorts do not know of others.
    if (key.type.kind === "char" || !isSameForm(own.type, key.type) || !isSameForm(other.type, key.type)) {
      continue;
    }
    if ([...columnsOf(other)].some((column) => columns.has(column))) continue;
    return { condition, key, isLow };
  }
  return null;
}
