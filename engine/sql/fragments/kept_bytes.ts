/** What a fragment keeps in sorts, hash tables and groups, by its estimates. */
import type { Plan } from "../plan/plan.ts";
import { inputs } from "../plan/traverse.ts";

/** What a kept row takes, by and large. */
const ROW_BYTES = 200;
/** What estimates are short by. */
const DOUBT = 4;

/** Roughly the bytes that all operators of a plan keep together; 0: its rows only pass through. */
export function keptBytes(plan: Plan): number {
  let bytes = known.get(plan);
  if (bytes === undefined) known.set(plan, bytes = keptRows(plan) * ROW_BYTES * DOUBT);
  return bytes;
}

const known = new WeakMap<Plan, number>();

function keptRows(plan: Plan): number {
  // What threads share is the statement's.
  if (plan.kind === "exchange" && plan.isKept === true) return 0;
  return ownRows(plan) + inputs(plan).reduce((sum, input) => sum + keptRows(input), 0);
}

function ownRows(plan: Plan): number {
  switch (plan.kind) {
    case "hash_join":
      if (plan.right.kind === "exchange" && plan.right.isKept === true) return 0;
      return rowsOf(plan.keepsLeft === true ? plan.left : plan.right);
    case "nested_loop_join":
      return rowsOf(plan.right);
    case "aggregate":
      return plan.groups.length === 0 ? 0 : rowsOf(plan);
    case "distinct":
    case "set_operation":
      return rowsOf(plan);
    case "sort":
    case "window":
      return rowsOf(plan.input);
    default:
      return 0;
  }
}

function rowsOf(plan: Plan): number {
  return "rows" in plan ? plan.rows : inputs(plan).reduce((sum, input) => sum + rowsOf(input), 0);
}
