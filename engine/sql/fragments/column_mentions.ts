/** How often a statement names each column, in expressions and otherwise. */
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";
import { allDefinedColumns, visitExpression, visitPlan } from "../plan/traverse.ts";
import { namedColumns } from "./plan_facts.ts";

/** See the file's head. */
export class ColumnMentions {
  readonly #counts = new Map<ColumnRef, number>();

  /** The columns that are named. */
  get columns(): Iterable<ColumnRef> {
    return this.#counts.keys();
  }

  add(column: ColumnRef): void {
    this.#counts.set(column, (this.#counts.get(column) ?? 0) + 1);
  }

  addPlan(plan: Plan): this {
    visitPlan(plan, {
      plan: (each) => {
        for (const column of namedColumns(each)) this.add(column);
      },
      expression: (each) => this.#addNamed(each),
    });
    return this;
  }

  #addNamed(expression: Expression): void {
    if (expression.kind === "column") this.add(expression.column);
    else if (expression.kind === "scalar_subquery" || expression.kind === "array_subquery") {
      this.add(expression.column);
    } else if (expression.kind === "any_subquery" || expression.kind === "all_subquery") {
      for (const column of expression.columns) this.add(column);
    }
  }

  /** The columns of a plan of the statement that something outside of it names, besides these expressions. */
  neededAbove(plan: Plan, besides: readonly Expression[] = []): ColumnRef[] {
    const inside = new ColumnMentions().addPlan(plan);
    for (const each of besides) visitExpression(each, (part) => inside.#addNamed(part));
    return [...allDefinedColumns(plan)].filter((column) => this.#of(column) > inside.#of(column));
  }

  #of(column: ColumnRef): number {
    return this.#counts.get(column) ?? 0;
  }
}
