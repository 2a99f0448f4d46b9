/** Sorting at threads that share a table out: each sorts the rows of its parts, which are merged afterwards. */
import { storageClassOf } from "../../types/physical_type.ts";
import type { Plan, SortKey } from "../plan/plan.ts";

type Sort = Plan & { readonly kind: "sort" };
type Window = Plan & { readonly kind: "window" };

/** The order that a window function's rows are brought into. */
export function orderOfWindow({ partition, order }: Window): readonly SortKey[] {
  return [
    ...partition.map((expression): SortKey => ({ expression, descending: false, nullsFirst: false })),
    ...order,
  ];
}

/** Whether keys take longer to compare than rows to travel: one integer is sorted as fast as that. */
export function isSlowToSort(keys: readonly SortKey[]): boolean {
  return keys.length > 1 || keys.some(({ expression }) => storageClassOf(expression.type) !== "int");
}

/** Whether a fragment's rows are sorted, all of them. */
export function isWholeSort(plan: Plan): plan is Sort {
  return plan.kind === "sort" && plan.limit === null;
}
