/**
 * MIN and MAX of columns that an index or the row id orders: each is the first row, from one end, that is not NULL.
 *
 * Several of them read the table once each, for an end of an index costs nothing: the rows of one aggregate each are
 * joined to one.
 */
import { conjuncts, constant, hasSubquery, isNullable, volatilityOf } from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import { copiedScan } from "./copied_scan.ts";
import type { Plan, SortKey } from "../plan/plan.ts";
import { substitute } from "../plan/rewrite.ts";
import { type AccessPaths, isOrdered, type Scan } from "./access_path.ts";

type Aggregate = Plan & { readonly kind: "aggregate" };
type AggregateCall = Aggregate["aggregates"][number];

/** More of them are worth a scan. */
const MAX_EXTREMES = 8;

/** The plan by ends of indexes; null when not every aggregate has one. */
export function planExtremes(
  plan: Aggregate,
  access: AccessPaths,
  newColumn: () => ColumnRef,
): Plan | null {
  const { aggregates } = plan;
  if (plan.groups.length > 0 || plan.groupingSets !== null) return null;
  if (aggregates.length === 0 || aggregates.length > MAX_EXTREMES) return null;
  const conditions: Expression[] = [];
  let source = plan.input;
  while (source.kind === "filter") {
    conditions.push(...conjuncts(source.condition));
    source = source.input;
  }
  if (source.kind !== "table_scan") return null;
  if (!conditions.every((each) => volatilityOf(each) !== "volatile")) return null;
  // A subquery keeps its columns to itself only once.
  if (aggregates.length > 1 && [...conditions, ...conjuncts(source.filter)].some(hasSubquery)) return null;
  let joined: Plan | null = null;
  for (const call of aggregates) {
    const copy = joined === null ? { scan: source, columns: NO_COLUMNS } : copiedScan(source, newColumn);
    const own = conditions.map((each) => substitute(each, copy.columns));
    const right = planExtreme(plan, {
      ...call,
      args: call.args.map((each) => substitute(each, copy.columns)),
    }, {
      scan: copy.scan,
      conditions: own,
      access,
    });
    if (right === null) return null;
    joined = joined === null ? right : {
      kind: "nested_loop_join",
      join: "inner",
      left: joined,
      right,
      condition: null,
      correlated: false,
      rows: 1,
    };
  }
  return joined;
}

const NO_COLUMNS: ReadonlyMap<ColumnRef, Expression> = new Map();

function planExtreme(plan: Aggregate, call: AggregateCall, source: {
  readonly scan: Scan;
  readonly conditions: readonly Expression[];
  readonly access: AccessPaths;
}): Plan | null {
  const { name } = call.aggregate;
  const [argument] = call.args;
  if ((name !== "min" && name !== "max") || argument?.kind !== "column" || call.filter !== null) return null;
  const conditions = [...source.conditions];
  if (isNullable(argument)) {
    conditions.push({ kind: "is_null", type: { kind: "bool" }, argument, negated: true });
  }
  const descending = name === "max";
  const order: SortKey[] = [{ expression: argument, descending, nullsFirst: descending }];
  const rows = source.access.choose(source.scan, conditions, { order, limit: 1 });
  if (!isOrdered(rows, order)) return null;
  const first: Plan = {
    kind: "limit",
    input: rows,
    limit: constant({ kind: "i64" }, 1),
    offset: null,
    withTies: null,
    rows: 1,
  };
  return { ...plan, aggregates: [call], input: first, rows: 1 };
}
