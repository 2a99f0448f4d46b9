/** The columns of a query, converted to the types of the variables that they are assigned to. */
import { isNullable, sameType } from "../plan/build.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { Expression } from "../plan/expression.ts";
import type { Binding } from "./binding.ts";
import { coerceExplicit, tryCoerce } from "./coercion.ts";
import { type BoundQuery, outputReference } from "./bound_query.ts";

/**
 * Converts as an assignment does and, where no assignment cast is known, through the values' text, as PL/pgSQL does.
 * Undefined types stay what they are.
 */
export function withAssignedTypes(
  binding: Binding,
  query: BoundQuery,
  types: readonly (SqlType | undefined)[],
): BoundQuery {
  const outputs = query.columns.map((column, index) => {
    const from = outputReference(column);
    const type = types[index];
    const expression: Expression = type === undefined || sameType(column.type, type)
      ? from
      : tryCoerce(binding, from, type, "assignment") ?? coerceExplicit(binding, from, type);
    return { output: binding.newColumn(), expression };
  });
  return {
    ...query,
    plan: { kind: "project", input: query.plan, outputs, rows: 0 },
    columns: query.columns.map((column, index) => ({
      ...column,
      column: outputs[index]?.output ?? column.column,
      type: outputs[index]?.expression.type ?? column.type,
      nullable: isNullable(outputs[index]?.expression ?? outputReference(column)),
    })),
  };
}
