/**
 * Conditions on several columns of a table that go together, by what CREATE STATISTICS has found out of these: the most
 * common combinations of their values, or how far one follows from others.
 */
import type { StatisticsDefinition } from "../../catalog/definitions.ts";
import type { CountedValue } from "../../storage/access/column_distribution.ts";
import type { GroupDistribution } from "../../storage/table/group_distribution.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { LiteralReader } from "../plan/peeked_literals.ts";
import { columnComparison, rowTest } from "./column_values.ts";
import type { JoinedValues } from "./value_shares.ts";

/** Columns that were looked at together. */
export interface ColumnGroup {
  readonly definition: StatisticsDefinition;
  readonly found: GroupDistribution;
}

/** A condition on columns of a group. */
export interface GroupCondition {
  readonly condition: Expression;
  /** The ids of its columns. */
  readonly columns: ReadonlyMap<ColumnRef, number>;
  /** The share of rows that meets it by itself. */
  readonly share: number;
}

/**
 * The share of rows that meet conditions together, where the group says more than their product; null: it does not.
 * `independent` is the product.
 */
export function jointShare(
  group: ColumnGroup,
  conditions: readonly GroupCondition[],
  independent: number,
  read: LiteralReader,
): number | null {
  const { kinds } = group.definition;
  const dependent = kinds.includes("dependencies") ? dependentShare(group, conditions) : null;
  if (!kinds.includes("mcv") || group.found.common.length === 0) return dependent;
  return commonShare(group, conditions, dependent ?? independent, read) ?? dependent;
}

function commonShare(
  { definition, found: { common, distinct } }: ColumnGroup,
  conditions: readonly GroupCondition[],
  otherwise: number,
  read: LiteralReader,
): number | null {
  const columns = new Map(conditions.flatMap((each) => [...each.columns]));
  const tests = conditions.map(({ condition }) => rowTest(condition, read));
  if (tests.includes(null)) return null;
  let [matching, all] = [0, 0];
  for (const { values, share } of common) {
    all += share;
    const valueOf = (column: ColumnRef) => values[definition.columns.indexOf(columns.get(column) ?? -1)];
    if (tests.every((test) => test?.(valueOf) === true)) matching += share;
  }
  const rest = Math.max(0, 1 - all);
  const isOneCombination = conditions.length === definition.columns.length &&
    conditions.every(({ condition }) => columnComparison(condition)?.operator === "=");
  if (!isOneCombination) return Math.min(1, matching + rest * otherwise);
  if (matching > 0) return matching;
  // One of the other combinations, or one that is not there.
  const others = (distinct.get(definition.columns.map((_, place) => place).join()) ?? 0) - common.length;
  return others > 0 ? rest / others : rest * otherwise;
}

/** P(a, b) = P(a) (f + (1 - f) P(b)), where b follows from a in a share f of the rows. */
function dependentShare(
  { definition, found: { dependencies } }: ColumnGroup,
  conditions: readonly GroupCondition[],
): number | null {
  const equal = new Map<number, number>();
  let others = 1;
  for (const { condition, columns, share } of conditions) {
    const comparison = columnComparison(condition);
    const id = comparison?.operator === "=" ? columns.get(comparison.column) : undefined;
    const place = id === undefined ? -1 : definition.columns.indexOf(id);
    if (place < 0 || equal.has(place)) others *= share;
    else equal.set(place, share);
  }
  if (equal.size < 2) return null;
  const strongest = dependencies.toSorted((a, b) => b.degree - a.degree);
  for (let isFound = true; isFound && equal.size > 1;) {
    isFound = false;
    for (const { from, to, degree } of strongest) {
      const share = equal.get(to);
      if (share === undefined || !from.every((each) => equal.has(each))) continue;
      equal.delete(to);
      others *= degree + (1 - degree) * share;
      isFound = true;
      break;
    }
  }
  for (const share of equal.values()) others *= share;
  return others;
}

/**
 * The values of a column in the rows that meet conditions on other columns of a group: what the common combinations
 * say, and of the rest that nothing is different. Null: the group says nothing of it.
 */
export function conditionalValues(
  { definition, found: { common } }: ColumnGroup,
  columnId: number,
  conditions: readonly GroupCondition[],
  values: JoinedValues,
  read: LiteralReader,
): JoinedValues | null {
  const place = definition.columns.indexOf(columnId);
  const own = conditions.filter(({ columns }) =>
    columns.size > 0 &&
    [...columns.values()].every((id) => id !== columnId && definition.columns.includes(id))
  );
  const tests = own.map(({ condition }) => rowTest(condition, read));
  if (place < 0 || own.length === 0 || tests.includes(null) || !definition.kinds.includes("mcv")) return null;
  const columns = new Map(own.flatMap((each) => [...each.columns]));
  const shares = new Map<CountedValue, number>();
  let [matching, all] = [0, 0];
  for (const { values: combination, share } of common) {
    all += share;
    const valueOf = (column: ColumnRef) => combination[definition.columns.indexOf(columns.get(column) ?? -1)];
    const value = combination[place] ?? null;
    if (value === null || !tests.every((test) => test?.(valueOf) === true)) continue;
    matching += share;
    shares.set(value, (shares.get(value) ?? 0) + share);
  }
  const others = Math.max(0, 1 - all) * own.reduce((product, { share }) => product * share, 1);
  if (matching <= others) return null;
  const rest = others / (matching + others);
  const known = new Map<CountedValue, number>();
  for (const [value, share] of values.common) known.set(value, share * rest);
  for (const [value, share] of shares) {
    known.set(value, (known.get(value) ?? 0) + share / (matching + others));
  }
  return {
    ...values,
    common: known,
    restShare: values.restShare * rest,
    otherShare: values.otherShare * rest,
  };
}
