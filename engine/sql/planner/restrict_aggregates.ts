/**
 * Aggregations that took the place of a correlated subquery, restricted to groups that the outer rows may ask for: the
 * conditions on a table of the outer query that decide the correlated column are asked of the aggregated rows as well,
 * by a semi join with a copy of that table (magic sets: I. Mumick et al., "Magic is Relevant", SIGMOD 1990).
 *
 * Only rows that the outer conditions remove lose their group, and those conditions run below the join with the
 * aggregation. An aggregate is NULL for them; a count would be 0, so that counts stay as they are.
 */
import {
  columnReference,
  conjunction,
  conjuncts,
  hasSubquery,
  isExactType,
  sameType,
  volatilityOf,
  withoutIdentityCasts,
} from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";
import { substitute } from "../plan/rewrite.ts";
import { columnsOf } from "../plan/traverse.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { Estimator } from "./estimate.ts";

type Aggregate = Plan & { readonly kind: "aggregate" };
type Scan = Plan & { readonly kind: "table_scan" };

/** A restriction must leave at most this share of the groups to be worth a second look at the outer table. */
const MAX_SHARE = 0.1;

/** What surely holds for each outer row: rows of these tables under these conditions belong to it. */
class OuterFacts {
  readonly scans: Scan[] = [];
  readonly conditions: Expression[] = [];

  collect(plan: Plan): void {
    switch (plan.kind) {
      case "table_scan":
        if (plan.filter === null && plan.prune.length === 0) this.scans.push(plan);
        return;
      case "filter":
        this.conditions.push(...conjuncts(plan.condition));
        return this.collect(plan.input);
      case "nested_loop_join":
        if (plan.correlated) return;
        if (plan.join === "inner" || plan.join === "semi") {
          this.conditions.push(...conjuncts(plan.condition));
          this.collect(plan.right);
        }
        return plan.join === "inner" || plan.join === "semi" || plan.join === "anti" || plan.join === "left"
          ? this.collect(plan.left)
          : undefined;
      default:
        return;
    }
  }

  /** The columns that are equal to one in every row. */
  equals(column: ColumnRef): ReadonlySet<ColumnRef> {
    const result = new Set([column]);
    for (let size = 0; size !== result.size;) {
      size = result.size;
      for (const condition of this.conditions) {
        if (condition.kind !== "call" || condition.function.name !== "=") continue;
        const [a, b] = condition.args.map(withoutIdentityCasts);
        if (a?.kind !== "column" || b?.kind !== "column" || !isExact(a.type, b.type)) continue;
        if (result.has(a.column)) result.add(b.column);
        if (result.has(b.column)) result.add(a.column);
      }
    }
    return result;
  }

  /** The conditions on one table alone. */
  local(scan: Scan): readonly Expression[] {
    const own = new Set(outputsOf(scan).map(({ output }) => output));
    return this.conditions.filter((condition) => {
      const columns = [...columnsOf(condition)];
      return columns.length > 0 && columns.every((column) => own.has(column)) && !hasSubquery(condition) &&
        volatilityOf(condition) !== "volatile";
    });
  }
}

/**
 * An aggregation, by the conditions of its join with the outer rows. Null: nothing restricts it.
 */
export function restrictAggregate(
  aggregate: Aggregate,
  outer: {
    readonly input: Plan;
    readonly filters: readonly Expression[];
    readonly joined: readonly Expression[];
  },
  estimator: Estimator,
  newColumn: () => ColumnRef,
): Aggregate | null {
  if (aggregate.aggregates.some(({ aggregate: { name } }) => name === "count" || name === "regr_count")) {
    return null;
  }
  const facts = new OuterFacts();
  facts.collect(outer.input);
  facts.conditions.push(...outer.filters);
  let best: { readonly right: Plan; readonly condition: Expression; readonly share: number } | null = null;
  for (const joined of outer.joined) {
    const pair = correlation(aggregate, joined);
    if (pair === null) continue;
    const equal = facts.equals(pair.outer);
    for (const scan of facts.scans) {
      const local = facts.local(scan);
      const key = outputsOf(scan).find(({ output, type }) =>
        equal.has(output) && isExact(type, pair.inner.type)
      );
      if (local.length === 0 || key === undefined) continue;
      const copy = copyOf(scan, local, newColumn);
      const column = copy.columns.get(key.output);
      if (column === undefined) continue;
      estimator.register(copy.plan);
      const condition: Expression = { ...pair.equality, args: [pair.inner, column] };
      const share = estimator.semiSelectivity(condition, copy.plan);
      if (share <= MAX_SHARE && (best === null || share < best.share)) {
        best = { right: copy.plan, condition, share };
      }
    }
  }
  if (best === null) return null;
  const { right, condition } = best;
  return {
    ...aggregate,
    input: {
      kind: "nested_loop_join",
      join: "semi",
      left: aggregate.input,
      right,
      condition,
      correlated: false,
      rows: 0,
    },
  };
}

/** The two sides of a condition that joins a group with an outer column. */
function correlation(
  aggregate: Aggregate,
  joined: Expression,
): { readonly inner: Expression; readonly outer: ColumnRef; readonly equality: Call } | null {
  if (joined.kind !== "call" || joined.function.name !== "=") return null;
  const [left, right] = joined.args;
  if (left?.kind !== "column" || right?.kind !== "column" || !isExact(left.type, right.type)) return null;
  for (const [own, other] of [[left, right], [right, left]] as const) {
    const group = aggregate.groups.find(({ output }) => output === own.column);
    if (group !== undefined) return { inner: group.expression, outer: other.column, equality: joined };
  }
  return null;
}

type Call = Expression & { readonly kind: "call" };

function copyOf(
  scan: Scan,
  conditions: readonly Expression[],
  newColumn: () => ColumnRef,
): { readonly plan: Plan; readonly columns: ReadonlyMap<ColumnRef, Expression> } {
  const columns = new Map<ColumnRef, Expression>();
  const renamed = (output: ColumnRef, type: SqlType, nullable: boolean): ColumnRef => {
    const column = newColumn();
    columns.set(output, columnReference(column, type, nullable));
    return column;
  };
  const copy: Scan = {
    ...scan,
    columns: scan.columns.map((each) => ({
      ...each,
      output: renamed(each.output, each.type, each.nullable),
    })),
    rowId: scan.rowId === null ? null : renamed(scan.rowId, { kind: "i64" }, false),
  };
  const condition = conjunction(conditions.map((each) => substitute(each, columns)));
  return {
    plan: condition === null ? copy : { kind: "filter", input: copy, condition, rows: 0 },
    columns,
  };
}

function outputsOf(scan: Scan): readonly { readonly output: ColumnRef; readonly type: SqlType }[] {
  return scan.rowId === null
    ? scan.columns
    : [...scan.columns, { output: scan.rowId, type: { kind: "i64" } }];
}

/** Whether two columns of these types can be exchanged where they are equal. */
function isExact(left: SqlType, right: SqlType): boolean {
  return sameType(left, right) && isExactType(left);
}
