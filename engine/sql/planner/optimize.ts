/**
 * The optimizer: a bound plan becomes one that gives the same rows for less.
 *
 * The passes, each over the whole plan: renaming projections are removed; expressions are simplified; subqueries become
 * joins; outer joins become inner ones; conditions go down, joins are ordered, access paths chosen; what remains of
 * subqueries is optimized in its turn; unneeded columns are dropped; estimates are written down.
 */
import { onceIn } from "../../base/pieces.ts";
import type { PlanningEnvironment } from "../binder/environment.ts";
import type { OutputColumn } from "../binder/bound_query.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";
import { mapInputs, mapOperands, mapOwnExpressions } from "../plan/rewrite.ts";
import { pruneColumns, removeRenames } from "./columns.ts";
import { markDependentGroups } from "./dependent_groups.ts";
import { Estimator } from "./estimate.ts";
import { useIndexExpressions } from "./index_expressions.ts";
import { withLongTerms } from "./long_terms.ts";
import { simplifyOuterJoins } from "./outer_joins.ts";
import { PhysicalPlanner } from "./physical.ts";
import { simplifyPlan } from "./simplify.ts";
import { Unnesting } from "./unnest.ts";

/** A plan and the columns of its result. */
export interface OptimizedStatement {
  readonly plan: Plan;
  readonly columns: readonly OutputColumn[];
}

/** Answers a plan with the same rows that costs less. */
export function optimize(
  plan: Plan,
  columns: readonly OutputColumn[],
  environment: PlanningEnvironment,
  newColumn: () => ColumnRef,
): OptimizedStatement {
  const { pieces } = environment;
  const plain = onceIn(pieces, () => removeRenames(plan, columns));
  const usual = onceIn(pieces, () => useIndexExpressions(simplifyPlan(plain.plan, pieces), environment));
  const simplified = pieces === undefined ? usual : withLongTerms(usual, pieces);
  const optimized = onceIn(pieces, () => {
    const estimator = new Estimator(environment);
    estimator.register(simplified);
    const unnested = new Unnesting(estimator, newColumn).rewrite(simplified);
    estimator.register(unnested);
    const optimizer = new Optimizer(estimator, environment, newColumn);
    return optimizer.optimize(unnested, new Set(plain.columns.map((each) => each.column)));
  });
  return { plan: optimized, columns: plain.columns };
}

/** Optimizes a plan and then the subqueries that are left in its expressions. */
class Optimizer {
  readonly #estimator: Estimator;
  readonly #environment: PlanningEnvironment;
  readonly #newColumn: () => ColumnRef;
  /** A subquery that is mentioned twice stays one. */
  readonly #subqueries = new Map<Plan, Plan>();

  constructor(estimator: Estimator, environment: PlanningEnvironment, newColumn: () => ColumnRef) {
    this.#estimator = estimator;
    this.#environment = environment;
    this.#newColumn = newColumn;
  }

  optimize(plan: Plan, needed: ReadonlySet<ColumnRef>): Plan {
    const joined = simplifyOuterJoins(plan);
    const physical = new PhysicalPlanner(this.#estimator, this.#environment, this.#newColumn).plan(joined);
    const marked = markDependentGroups(this.#withSubqueries(physical));
    return this.#estimated(pruneColumns(marked, needed));
  }

  #withSubqueries(plan: Plan): Plan {
    return mapOwnExpressions(
      mapInputs(plan, (input) => this.#withSubqueries(input)),
      (expression) => this.#subqueriesOf(expression),
    );
  }

  #subqueriesOf(expression: Expression): Expression {
    const next = mapOperands(expression, (operand) => this.#subqueriesOf(operand));
    switch (next.kind) {
      case "scalar_subquery":
      case "array_subquery":
        return { ...next, plan: this.#subquery(next.plan, [next.column]) };
      case "exists":
        return { ...next, plan: this.#subquery(next.plan, []) };
      case "any_subquery":
      case "all_subquery":
        return { ...next, plan: this.#subquery(next.plan, next.columns) };
      default:
        return next;
    }
  }

  #subquery(plan: Plan, columns: readonly ColumnRef[]): Plan {
    let optimized = this.#subqueries.get(plan);
    if (optimized === undefined) {
      optimized = this.optimize(plan, new Set(columns));
      this.#subqueries.set(plan, optimized);
    }
    return optimized;
  }

  #estimated(plan: Plan): Plan {
    const next = mapInputs(plan, (input) => this.#estimated(input));
    const rows = this.#estimator.rows(plan);
    return { ...next, rows: Math.max(next.kind === "limit" ? 0 : 1, Math.round(rows)) };
  }
}
