/** How often a statement names each column, in expressions and otherwise. */
import type { ColumnRef } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";
import { allDefinedColumns, visitPlan } from "../plan/traverse.ts";
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
      expression: (each) => {
        if (each.kind === "column") this.add(each.column);
        else if (each.kind === "scalar_subquery" || each.kind === "array_subquery") this.add(each.column);
        else if (each.kind === "any_subquery" || each.kind === "all_subquery") {
          for (const column of each.columns) this.add(column);
        }
      },
    });
    return this;
  }

  /** The columns of a plan of the statement that something outside of it names. */
  neededAbove(plan: Plan): ColumnRef[] {
    const inside = new ColumnMentions().addPlan(plan);
    return [...allDefinedColumns(plan)].filter((column) => this.#of(column) > inside.#of(column));
  }

  #of(column: ColumnRef): number {
    return this.#counts.get(column) ?? 0;
  }
}
