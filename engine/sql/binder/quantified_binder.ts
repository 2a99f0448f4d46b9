/** Binding of comparisons with the rows of a subquery: IN, ANY and ALL. */
import { SQLSTATE } from "../../base/errors.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { resolveOperator } from "../functions/registry.ts";
import type { Expression as Ast, Query } from "../parser/ast.ts";
import { BOOLEAN, sameType, TRUE } from "../plan/build.ts";
import type { Expression } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";
import type { Binding } from "./binding.ts";
import { coerceCompared } from "./coercion.ts";
import { bindBinary, bindOperand, isConstructor } from "./expression_binder.ts";
import { bindSubquery } from "./query_binder.ts";
import type { QueryLevel } from "./scope.ts";

/** `operand operator ANY/ALL (query)`; IN is `= ANY`. */
export function bindQuantifiedSubquery(
  binding: Binding,
  level: QueryLevel,
  operandAst: Ast,
  symbol: string,
  quantifier: "any" | "all",
  query: Query,
  position: number,
): Expression {
  const operand = bindOperand(binding, level, operandAst);
  const { plan, columns } = bindSubquery(binding, level, query);
  const left = isConstructor(operand) ? operand.fields : [operand];
  requireWidth(binding, columns.length, left.length, position);
  if (left.length > 1 && !comparesColumns(symbol, quantifier)) {
    const outputs = columns.map((column): Expression => ({
      kind: "column",
      type: column.type,
      column: column.column,
      nullable: column.nullable,
    }));
    const type: SqlType = {
      kind: "record",
      fields: columns.map((column) => ({ name: column.name, type: column.type })),
    };
    const test = bindBinary(binding, symbol, operand, { kind: "row", type, fields: outputs }, position);
    return testOfRows(binding, quantifier, plan, test);
  }
  const operators = left.map((each, index) =>
    resolveOperator(symbol, each.type, columns[index]?.type ?? each.type, binding.at(position))
  );
  // The subquery's columns must have the operator's type: convert them in a projection when they differ.
  let source = plan;
  let refs = columns.map((column) => column.column);
  const wanted = operators.map((operator, index) =>
    operator.argumentTypes[1] ?? columns[index]?.type ?? { kind: "unknown" as const }
  );
  if (columns.some((column, index) => !sameType(column.type, wanted[index] ?? column.type))) {
    const outputs = columns.map((column, index) => ({
      output: binding.newColumn(),
      expression: coerceCompared(
        binding,
        { kind: "column", type: column.type, column: column.column, nullable: column.nullable },
        wanted[index] ?? column.type,
        position,
      ),
    }));
    source = { kind: "project", input: plan, outputs, rows: 0 };
    refs = outputs.map((each) => each.output);
  }
  return {
    kind: quantifier === "any" ? "any_subquery" : "all_subquery",
    type: BOOLEAN,
    left: left.map((each, index) => {
      const type = operators[index]?.argumentTypes[0];
      return type === undefined ? each : coerceCompared(binding, each, type, position);
    }),
    operators,
    plan: source,
    columns: refs,
  };
}

/** Whether a comparison of rows is one for each pair of columns, all of which must hold, or for NOT IN any. */
function comparesColumns(symbol: string, quantifier: "any" | "all"): boolean {
  return symbol === "=" || symbol === "<>" && quantifier === "all";
}

/**
 * Whether a condition, which reads the left row too, holds for some or for all rows of a subquery: TRUE = ANY or ALL
 * of it.
 */
function testOfRows(binding: Binding, quantifier: "any" | "all", plan: Plan, test: Expression): Expression {
  const output = binding.newColumn();
  return {
    kind: quantifier === "any" ? "any_subquery" : "all_subquery",
    type: BOOLEAN,
    left: [TRUE],
    operators: [resolveOperator("=", BOOLEAN, BOOLEAN)],
    plan: { kind: "project", input: plan, outputs: [{ output, expression: test }], rows: 0 },
    columns: [output],
  };
}

/** Raises 42601 unless a subquery has as many columns as a row has fields. */
export function requireWidth(binding: Binding, columns: number, wanted: number, position: number): void {
  if (columns === wanted) return;
  throw binding.error(
    SQLSTATE.syntaxError,
    columns > wanted ? "subquery has too many columns" : "subquery has too few columns",
    position,
  );
}
