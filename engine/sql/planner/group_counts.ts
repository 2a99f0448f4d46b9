/**
 * How many groups rows fall into: products of the distinct values of expressions, unless column groups or the joins
 * below know better.
 */
import type { SqlType } from "../../types/sql_type.ts";
import { withoutIdentityCasts } from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";
import { allDefinedColumns, columnsOf } from "../plan/traverse.ts";
import type { ColumnFacts, KnownColumns } from "./column_facts.ts";

/** Groups that so many rows fall into by expressions. */
export function groupCount(
  estimator: KnownColumns,
  expressions: readonly Expression[],
  rows: number,
): number {
  let product = 1;
  const columns = new Map<ColumnRef, number>();
  for (const each of expressions) {
    const source = estimator.sourceOf(each);
    // Of an expression over one column there are no more values than of that.
    const [only, ...more] = columnsOf(source);
    const most = only === undefined || more.length > 0 ? undefined : estimator.factsOf(only)?.distinct;
    const distinct = Math.min(
      rows,
      estimator.distinctOf(source) ?? Math.min(most ?? Infinity, Math.max(10, rows / 10)),
    );
    if (source.kind === "column" && baseColumn(estimator, source.column) !== null) {
      columns.set(source.column, distinct);
    } else product *= distinct;
  }
  return Math.max(1, Math.min(rows, product * combinations(estimator, columns)));
}

/** Combinations of the values of columns, which have so many each; of groups that are known as many as were found. */
function combinations(estimator: KnownColumns, columns: Map<ColumnRef, number>): number {
  let product = 1;
  for (const [column] of columns) {
    const scan = baseColumn(estimator, column)?.scan ?? null;
    for (const { definition, found } of scan === null ? [] : estimator.columnGroups(scan)) {
      if (!definition.kinds.includes("ndistinct")) continue;
      const places = new Map<number, ColumnRef>();
      for (const other of columns.keys()) {
        const facts = baseColumn(estimator, other);
        const place = facts?.scan === scan ? definition.columns.indexOf(facts?.column?.id ?? -1) : -1;
        if (place >= 0) places.set(place, other);
      }
      const known = found.distinct.get([...places.keys()].sort((a, b) => a - b).join());
      if (known === undefined) continue;
      product *= known;
      for (const other of places.values()) columns.delete(other);
      break;
    }
  }
  for (const distinct of columns.values()) product *= distinct;
  return product;
}

function baseColumn(estimator: KnownColumns, column: ColumnRef): ColumnFacts | null {
  const facts = estimator.factsOf(column);
  return facts === undefined || facts.column === null ? null : facts;
}

/**
 * The rows of the smallest side of inner joins that all columns come from, or are equal to: rows of the join fall into
 * no more groups by them. Infinity: there is no such side.
 */
export function rowsOfOneSide(
  estimator: KnownColumns,
  plan: Plan,
  expressions: readonly Expression[],
): number {
  const columns = expressions.flatMap((each) => [...columnsOf(estimator.sourceOf(each))]);
  return leastSide(estimator, plan, columns);
}

function leastSide(estimator: KnownColumns, plan: Plan, columns: readonly ColumnRef[]): number {
  if (plan.kind === "filter" || plan.kind === "project") return leastSide(estimator, plan.input, columns);
  if (plan.kind !== "hash_join" || plan.join !== "inner") return Infinity;
  const { left, right, leftKeys, rightKeys } = plan;
  const sides = [[left, leftKeys, rightKeys], [right, rightKeys, leftKeys]] as const;
  return Math.min(...sides.map(([side, keys, others]) => {
    const own = allDefinedColumns(side);
    const found = columns.flatMap((column): ColumnRef[] => {
      if (own.has(column)) return [column];
      const key = keys[others.findIndex((other) => isColumn(other, column))];
      return key === undefined ? [] : [...columnsOf(key)].slice(0, 1);
    });
    if (found.length < columns.length) return Infinity;
    return Math.min(estimator.rows(side), leastSide(estimator, side, found));
  }));
}

function isColumn(expression: Expression, column: ColumnRef): boolean {
  const plain = withoutIdentityCasts(expression);
  return plain.kind === "column" && plain.column === column;
}

/** Days, on the average, until a field of dates has another value. */
const DAYS: ReadonlyMap<unknown, number> = new Map([
  ["millennium", 365_242.5],
  ["century", 36_524.25],
  ["decade", 3_652.425],
  ["year", 365.2425],
  ["isoyear", 365.2425],
  ["quarter", 91.310_625],
  ["month", 30.436_875],
  ["week", 7],
  ["day", 1],
  ["dow", 1],
  ["isodow", 1],
  ["doy", 1],
  ["hour", 1 / 24],
  ["minute", 1 / 1440],
]);

/** How many values a field has that begins anew with a longer one. */
const CYCLES: ReadonlyMap<unknown, number> = new Map([
  ["quarter", 4],
  ["month", 12],
  ["week", 53],
  ["day", 31],
  ["dow", 7],
  ["isodow", 7],
  ["doy", 366],
  ["hour", 24],
  ["minute", 60],
]);

const DAY: Readonly<Partial<Record<SqlType["kind"], number>>> = {
  date: 1,
  timestamp: 86_400_000_000,
  timestamptz: 86_400_000_000,
};

/** The values of a field of a date or timestamp between the least and the greatest; undefined: it is something else. */
export function fieldCount(estimator: KnownColumns, expression: Expression): number | undefined {
  if (expression.kind !== "call") return undefined;
  const { function: { name }, args: [field, argument] } = expression;
  if (field === undefined || argument === undefined) return undefined;
  const isTruncated = name === "date_trunc";
  if (!isTruncated && name !== "extract" && name !== "date_part") return undefined;
  const source = estimator.sourceOf(argument);
  const facts = source.kind === "column" ? estimator.factsOf(source.column) : undefined;
  const known = withoutIdentityCasts(field);
  const unit = known.kind === "constant" ? known.value : null;
  const days = DAYS.get(unit);
  const { minimum = null, maximum = null } = facts ?? {};
  const day = DAY[source.type.kind];
  if (days === undefined || day === undefined || minimum === null || maximum === null) return undefined;
  const between = Math.ceil((maximum - minimum) / day / days) + 1;
  const count = isTruncated ? between : Math.min(between, CYCLES.get(unit) ?? Infinity);
  return Number.isFinite(count) ? Math.min(count, facts?.distinct ?? count) : undefined;
}
