/**
 * GROUP BY: which sets of expressions rows are grouped by, and the rule that everything above the grouping is made of
 * grouped expressions and aggregates (SQLSTATE 42803 otherwise).
 *
 * A column that the primary key among the grouped columns determines is allowed; it joins the grouping, which does not
 * change it.
 */
import { SQLSTATE } from "../../base/errors.ts";
import { unreachable } from "../../base/assert.ts";
import { LIMITS } from "../../base/limits.ts";
import type { Expression as Ast, GroupingElement } from "../parser/ast.ts";
import { columnReference, isNullable } from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";
import { mapInputs, mapOperands, mapOwnExpressions } from "../plan/rewrite.ts";
import type { Binding } from "./binding.ts";
import type { QueryLevel, ScopeTable } from "./scope.ts";

/** A grouped expression and the column that stands for it above the grouping. */
export interface GroupKey {
  readonly output: ColumnRef;
  readonly expression: Expression;
}

/** The grouping of one query level. */
export class Grouping {
  readonly #binding: Binding;
  readonly #level: QueryLevel;
  readonly keys: GroupKey[] = [];
  /** Indexes into `keys`; null: one set of all keys. */
  sets: readonly (readonly number[])[] | null = null;
  readonly #byKey = new Map<string, number>();
  readonly #owners = new Map<ColumnRef, ScopeTable>();
  readonly #columns = new Set<ColumnRef>();
  /** What is above the grouping for results of aggregates that differ by grouping set. */
  readonly substitutes = new Map<ColumnRef, Expression>();
  /** Whether what is looked at is a direct argument of an ordered-set aggregate. */
  #isDirect = false;

  constructor(binding: Binding, level: QueryLevel) {
    this.#binding = binding;
    this.#level = level;
    for (const table of level.from.tables) {
      for (const column of table.columns) {
        if (column.expression.kind !== "column") continue;
        this.#columns.add(column.expression.column);
        if (table.table !== null) this.#owners.set(column.expression.column, table);
      }
      if (table.rowId !== null) {
        this.#columns.add(table.rowId);
        this.#owners.set(table.rowId, table);
      }
    }
  }

  /** Expands the elements of GROUP BY; `bind` gives an item's expression. */
  expand(elements: readonly GroupingElement[], distinct: boolean, bind: (ast: Ast) => Expression): void {
    const isPlain = elements.every((element) =>
      element.kind === "expression" && element.expression.kind !== "row"
    );
    const lists = elements.map((element) => this.#setsOf(element, bind));
    let combined: number[][] = [[]];
    for (const list of lists) {
      const next: number[][] = [];
      for (const left of combined) for (const right of list) next.push([...new Set([...left, ...right])]);
      if (next.length > LIMITS.maximumGroupingSets) {
        throw this.#binding.error(
          SQLSTATE.statementTooComplex,
          `too many grouping sets present (maximum ${LIMITS.maximumGroupingSets})`,
        );
      }
      combined = next;
    }
    if (isPlain || elements.every((element) => element.kind === "expression")) return;
    if (distinct) {
      const seen = new Set<string>();
      combined = combined.filter((set) => {
        const key = set.toSorted((a, b) => a - b).join();
        if (seen.has(key)) return false;
        seen.add(key);
        return true;
      });
    }
    this.sets = combined;
  }

  #setsOf(element: GroupingElement, bind: (ast: Ast) => Expression): number[][] {
    switch (element.kind) {
      case "expression":
        return [this.#itemKeys(element.expression, bind)];
      case "empty":
        return [[]];
      case "rollup": {
        const items = element.items.map((item) => this.#itemKeys(item, bind));
        return Array.from(
          { length: items.length + 1 },
          (_, dropped) => items.slice(0, items.length - dropped).flat(),
        );
      }
      case "cube": {
        const items = element.items.map((item) => this.#itemKeys(item, bind));
        if (items.length > 12) {
          throw this.#binding.error(
            SQLSTATE.tooManyColumns,
            "CUBE is limited to 12 elements",
            element.position,
          );
        }
        const sets: number[][] = [];
        for (let mask = (1 << items.length) - 1; mask >= 0; mask--) {
          sets.push(items.filter((_, index) => (mask >> (items.length - 1 - index)) & 1).flat());
        }
        return sets;
      }
      case "sets":
        return element.sets.flatMap((set) => this.#setsOf(set, bind));
      default:
        return unreachable(element);
    }
  }

  #itemKeys(ast: Ast, bind: (ast: Ast) => Expression): number[] {
    if (ast.kind === "row" && !ast.explicit) return ast.items.map((item) => this.add(bind(item)));
    return [this.add(bind(ast))];
  }

  /** Adds a key unless it is there; answers its index. */
  add(expression: Expression): number {
    const key = this.#binding.keyOf(expression);
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const index = this.keys.length;
    const output = this.#binding.newColumn();
    if (expression.kind === "column") {
      const name = this.#binding.columnNames.get(expression.column);
      if (name !== undefined) this.#binding.columnNames.set(output, name);
    }
    this.keys.push({ output, expression });
    this.#byKey.set(key, index);
    return index;
  }

  /** The index of a grouped expression, or undefined. */
  indexOf(expression: Expression): number | undefined {
    return this.#byKey.get(this.#binding.keyOf(expression));
  }

  /** 42803 unless a direct argument of an ordered-set aggregate is made of grouped expressions. */
  requireGrouped(direct: Expression): void {
    this.#isDirect = true;
    this.above(direct);
    this.#isDirect = false;
  }

  /** Rewrites an expression over the query's rows into one over its groups. */
  above(expression: Expression, inSubquery = false): Expression {
    const index = this.#byKey.get(this.#binding.keyOf(expression));
    const key = index === undefined ? undefined : this.keys[index];
    if (key !== undefined) return this.#reference(key);
    if (expression.kind === "column") {
      if (!this.#columns.has(expression.column)) return this.substitutes.get(expression.column) ?? expression;
      const determined = this.#determined(expression);
      if (determined !== undefined) return determined;
      const name = this.#binding.columnNames.get(expression.column) ?? "?";
      throw this.#binding.error(
        SQLSTATE.groupingError,
        inSubquery
          ? `subquery uses ungrouped column "${name}" from outer query`
          : `column "${name}" must appear in the GROUP BY clause or be used in an aggregate function`,
        this.#binding.positions.get(expression),
        this.#isDirect
          ? { detail: "Direct arguments of an ordered-set aggregate must use only grouped columns." }
          : {},
      );
    }
    return mapOperands(
      expression,
      (operand) => this.above(operand, inSubquery),
      (plan) => this.#abovePlan(plan),
    );
  }

  #abovePlan(plan: Plan): Plan {
    return mapOwnExpressions(
      mapInputs(plan, (input) => this.#abovePlan(input)),
      (expression) => this.above(expression, true),
    );
  }

  #reference(key: GroupKey): Expression {
    return columnReference(key.output, key.expression.type, this.sets !== null || isNullable(key.expression));
  }

  /** A column of a table whose whole primary key is grouped by. */
  #determined(expression: Expression & { readonly kind: "column" }): Expression | undefined {
    const owner = this.#owners.get(expression.column);
    const table = owner?.table;
    if (owner === undefined || table === undefined || table === null || this.sets !== null) return undefined;
    const primaryKey = table.constraints.find((each) => each.kind === "primary_key");
    if (primaryKey === undefined) return undefined;
    const grouped = new Set(
      this.keys.map((key) => key.expression.kind === "column" ? key.expression.column : -1),
    );
    const isGrouped = primaryKey.columns.every((columnId) =>
      owner.columns.some((column) =>
        column.columnId === columnId && column.expression.kind === "column" &&
        grouped.has(column.expression.column)
      )
    );
    if (!isGrouped) return undefined;
    const key = this.keys[this.add(expression)];
    return key === undefined ? undefined : this.#reference(key);
  }
}
