/** What fragments take, roughly and as measured on this engine: whether threads gain by sharing one out. */
import { storageClassOf } from "../../types/physical_type.ts";
import type { Expression } from "../plan/expression.ts";
import type { Fragment, Plan } from "../plan/plan.ts";
import { operands, ownExpressions, visitExpression } from "../plan/traverse.ts";
import { SWAPPED } from "../planner/column_values.ts";

/** Nanoseconds for a row that an operator gets. */
const NANOSECONDS = {
  scan: 2.5,
  row: 0.5,
  probe: 4,
  group: 4,
  newGroup: 50,
  aggregate: 0.6,
  topN: 15,
} as const;

/** Nanoseconds for a comparison of two rows, where all are sorted. */
const COMPARISON = 50;

/** Nanoseconds for a call on numbers, for a comparison, of texts that few are different of, and for other calls. */
const CALL = { plain: 0.1, comparison: 3, other: 60 } as const;

/** Of so many groups most are in no processor's cache when a row finds its own. */
const MANY_GROUPS = 10_000;

/** Nanoseconds for a row that travels, and for each of its columns. */
const TRAVELLING = { row: 50, column: 15 } as const;

/** What a row takes a worker, where it takes the thread of the sessions 1. */
const AT_WORKER = 1.3;

/** What a fragment takes one thread, and what it takes the rows that it gives to travel, in nanoseconds. */
export interface FragmentWork {
  readonly here: number;
  readonly travelling: number;
}

/** The work of a fragment over so many rows of its table. */
export function fragmentWork(
  { plan, columns }: Pick<Fragment, "plan" | "columns">,
  tableRows: number,
): FragmentWork {
  const rows = "rows" in plan ? plan.rows : 0;
  return {
    here: workOf(plan, tableRows),
    travelling: rows * (TRAVELLING.row + columns.length * TRAVELLING.column),
  };
}

/** The nanoseconds that so many threads gain. */
export function gainOf({ here, travelling }: FragmentWork, threads: number): number {
  return here * (1 - AT_WORKER / Math.max(2, threads)) - travelling;
}

function workOf(plan: Plan, tableRows: number): number {
  const [input] = "input" in plan ? [plan.input] : "left" in plan ? [plan.left] : [];
  if (input === null || input === undefined || plan.kind === "exchange") {
    return tableRows * (NANOSECONDS.scan + evaluation(plan));
  }
  const rows = "rows" in input ? input.rows : 0;
  return workOf(input, tableRows) + rows * (perRow(plan, rows) + evaluation(plan));
}

function perRow(plan: Plan, rows: number): number {
  switch (plan.kind) {
    case "hash_join":
      return NANOSECONDS.probe;
    case "aggregate": {
      const aggregates = plan.aggregates.length * NANOSECONDS.aggregate;
      if (plan.groups.length === 0) return aggregates;
      return aggregates + (plan.rows > MANY_GROUPS ? NANOSECONDS.newGroup : NANOSECONDS.group);
    }
    case "distinct":
      return plan.rows > MANY_GROUPS ? NANOSECONDS.newGroup : NANOSECONDS.group;
    case "sort":
      return plan.limit === null ? COMPARISON * Math.log2(rows + 2) : NANOSECONDS.topN;
    default:
      return NANOSECONDS.row;
  }
}

function isComparison(expression: Expression): boolean {
  return expression.kind === "in_list" || expression.kind === "is_null" ||
    expression.kind === "call" && Object.hasOwn(SWAPPED, expression.function.name);
}

/** What the expressions of an operator take for a row. */
function evaluation(plan: Plan): number {
  let sum = 0;
  const isPlain = ({ type }: Expression) => {
    const storage = storageClassOf(type);
    return storage === "int" || storage === "float";
  };
  for (const expression of ownExpressions(plan)) {
    sum += CALL.plain;
    visitExpression(expression, (part) => {
      if (part.kind === "column" || part.kind === "constant" || part.kind === "parameter") return;
      const isOnNumbers = [part, ...operands(part)].every(isPlain);
      sum += isOnNumbers ? CALL.plain : isPlain(part) && isComparison(part) ? CALL.comparison : CALL.other;
    });
  }
  return sum;
}
