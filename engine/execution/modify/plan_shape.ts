/**
 * What a modification must know of its source: whether it yields at most one row, whether it may yield a row of the
 * target twice, and whether it reads the table that is written.
 */
import type { Expression } from "../../sql/plan/expression.ts";
import type { Plan } from "../../sql/plan/plan.ts";
import { visitExpression, visitPlan } from "../../sql/plan/traverse.ts";

/** Whether the source finds at most one row, by id or by a whole unique key. */
export function yieldsOneRow(plan: Plan): boolean {
  switch (plan.kind) {
    case "row_lookup":
      return plan.ids.length === 1;
    case "index_scan":
      return plan.index.unique && !plan.index.nullsNotDistinct && plan.index.predicateText === null &&
        plan.prefix.length === plan.index.columns.length;
    case "filter":
    case "project":
    case "lock_rows":
    case "sort":
    case "limit":
      return yieldsOneRow(plan.input);
    default:
      return false;
  }
}

/** Whether a row of the target may come several times, because it is joined. */
export function mayRepeat(plan: Plan): boolean {
  switch (plan.kind) {
    case "table_scan":
    case "row_lookup":
    case "row_range":
    case "index_scan":
      return false;
    case "filter":
    case "project":
    case "lock_rows":
    case "sort":
    case "limit":
      return mayRepeat(plan.input);
    case "hash_join":
    case "nested_loop_join":
      return plan.join === "semi" || plan.join === "anti" ? mayRepeat(plan.left) : true;
    default:
      return true;
  }
}

/**
 * Whether the source walks over one table and looks at each row by itself: no row depends on what became of others. A
 * walk over ids or an index gives places of rows instead, which the first write may move.
 */
export function looksAtRows(source: Plan): boolean {
  let looks = true;
  visitPlan(source, {
    plan: ({ kind }) => {
      if (!ROW_BY_ROW.has(kind)) looks = false;
    },
  });
  return looks && !mayRepeat(source);
}

const ROW_BY_ROW: ReadonlySet<Plan["kind"]> = new Set(["table_scan", "filter", "project"]);

/** Whether a plan, its subqueries included, reads a table. */
export function readsTable(plan: Plan, tableId: number): boolean {
  let found = false;
  visitPlan(plan, {
    plan: (each) => {
      if ("table" in each && each.table.id === tableId) found = true;
    },
  });
  return found;
}

/** Whether an expression has subqueries. */
export function hasSubquery(expression: Expression): boolean {
  let found = false;
  visitExpression(expression, () => {}, () => found = true);
  return found;
}

/** Whether subqueries of an expression read a table. */
export function expressionReads(expression: Expression, tableId: number): boolean {
  let found = false;
  visitExpression(expression, () => {}, (plan) => {
    found ||= readsTable(plan, tableId);
  });
  return found;
}
