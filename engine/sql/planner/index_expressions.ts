/**
 * Expressions that an index holds are read instead of computed: where a query computes what a hidden column of a table
 * has stored, it refers to the column, so that access paths and orders see an ordinary indexed column.
 *
 * Invariant: an expression is replaced only where the scan's columns are the table's own values. Above the side of an
 * outer join that may be missing, an expression of NULLs need not be NULL, but the hidden column is.
 */
import type { PlanningEnvironment } from "../binder/environment.ts";
import { bindTableExpression } from "../binder/standalone.ts";
import { columnReference, expressionKey } from "../plan/build.ts";
import type { Expression } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";
import { mapInputs, mapOperands, mapOwnExpressions } from "../plan/rewrite.ts";
import { visitPlan } from "../plan/traverse.ts";
import { simplify } from "./simplify.ts";

/** Stored expressions by their keys. */
type Known = ReadonlyMap<string, Expression>;

const NOTHING: Known = new Map();

/**
 * Expressions that an index holds are read instead of computed: where a query computes what a hidden column of a
 * table has stored, it refers to the column, so that access paths and orders see an ordinary indexed column.
 */
export function useIndexExpressions(plan: Plan, environment: PlanningEnvironment): Plan {
  let isConcerned = false;
  visitPlan(plan, {
    plan: (each) => {
      if (each.kind === "table_scan" && each.table.columns.some((column) => column.hidden)) {
        isConcerned = true;
      }
    },
  });
  return isConcerned ? new Rewriting(environment).rewrite(plan, NOTHING).plan : plan;
}

interface Rewritten {
  readonly plan: Plan;
  readonly known: Known;
}

class Rewriting {
  readonly #environment: PlanningEnvironment;
  /** A subquery that is mentioned twice stays one. */
  readonly #done = new Map<Plan, Rewritten>();

  constructor(environment: PlanningEnvironment) {
    this.#environment = environment;
  }

  /** `outer`: what is known from rows outside of a correlated plan. */
  rewrite(plan: Plan, outer: Known): Rewritten {
    let result = this.#done.get(plan);
    if (result === undefined) {
      result = this.#rewrite(plan, outer);
      this.#done.set(plan, result);
    }
    return result;
  }

  #rewrite(plan: Plan, outer: Known): Rewritten {
    if (plan.kind === "table_scan") {
      const known = this.#storedIn(plan);
      return { plan: this.#ownExpressions(plan, union(outer, known)), known };
    }
    if (plan.kind === "nested_loop_join" || plan.kind === "hash_join") {
      const left = this.rewrite(plan.left, outer);
      const right = this.rewrite(plan.right, union(outer, left.known));
      const both = union(left.known, right.known);
      const above = {
        inner: both,
        left: left.known,
        semi: left.known,
        anti: left.known,
        right: right.known,
        full: NOTHING,
      };
      const joined: Plan = { ...plan, left: left.plan, right: right.plan };
      return { plan: this.#ownExpressions(joined, union(outer, both)), known: above[plan.join] };
    }
    let known = NOTHING;
    const next = mapInputs(plan, (input) => {
      const rewritten = this.rewrite(input, outer);
      known = union(known, rewritten.known);
      return rewritten.plan;
    });
    return { plan: this.#ownExpressions(next, union(outer, known)), known };
  }

  /** The expressions that hidden columns of a table hold, over the columns of its scan. */
  #storedIn(scan: Plan & { readonly kind: "table_scan" }): Known {
    const { table } = scan;
    if (!table.columns.some((column) => column.hidden)) return NOTHING;
    const outputs = new Map(scan.columns.map((column) => [column.columnId, column.output]));
    const refs = table.columns.map((column) => outputs.get(column.id) ?? 0);
    const known = new Map<string, Expression>();
    for (const column of table.columns) {
      const output = outputs.get(column.id);
      if (!column.hidden || column.generatedText === null || output === undefined) continue;
      const stored = simplify(
        bindTableExpression(column.generatedText, table, refs, this.#environment, "index expressions"),
        this.#environment.pieces,
      );
      known.set(expressionKey(stored), columnReference(output, column.type, true));
    }
    return known;
  }

  #ownExpressions(plan: Plan, known: Known): Plan {
    return known.size === 0 && !hasSubqueries(plan)
      ? plan
      : mapOwnExpressions(plan, (expression) => this.#replace(expression, known));
  }

  #replace(expression: Expression, known: Known): Expression {
    if (expression.kind === "column" || expression.kind === "constant") return expression;
    return known.get(expressionKey(expression)) ?? mapOperands(
      expression,
      (operand) => this.#replace(operand, known),
      (subquery) => this.rewrite(subquery, known).plan,
    );
  }
}

function hasSubqueries(plan: Plan): boolean {
  let found = false;
  mapOwnExpressions(plan, (expression) => {
    const look = (each: Expression): Expression => {
      if ("plan" in each) found = true;
      return mapOperands(each, look);
    };
    look(expression);
    return expression;
  });
  return found;
}

function union(left: Known, right: Known): Known {
  if (left.size === 0) return right;
  if (right.size === 0) return left;
  return new Map([...left, ...right]);
}
