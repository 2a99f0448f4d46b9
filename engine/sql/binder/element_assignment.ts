/** Binding of `SET column[subscript] = value`, which assigns the whole column with one part replaced. */
import { SQLSTATE } from "../../base/errors.ts";
import { formatTypeFamily } from "../../types/type_names.ts";
import type { ColumnDefinition } from "../../catalog/definitions.ts";
import { arrayAssignment, jsonbAssignment } from "../functions/element_assignment.ts";
import type { ColumnTarget, Expression as Ast } from "../parser/ast.ts";
import { constant } from "../plan/build.ts";
import type { Expression } from "../plan/expression.ts";
import type { Binding } from "./binding.ts";
import { inClause } from "./call_binder.ts";
import { coerceAssignment, coerceExplicit, tryCoerce } from "./coercion.ts";
import { bindExpression } from "./expression_binder.ts";
import type { QueryLevel } from "./scope.ts";

/** The column's new value; `before` is what the statement has assigned to other parts of it already. */
export function assignedElement(
  binding: Binding,
  level: QueryLevel,
  assignment: {
    readonly column: ColumnDefinition;
    readonly target: ColumnTarget;
    readonly value: Ast;
    readonly before: Expression | null;
  },
): Expression {
  const { column, target, value, before } = assignment;
  // The changed table comes first in the level.
  const own = level.from.tables[0]?.columns.find((each) => each.name === column.name)?.expression;
  return inClause(level, "UPDATE", () =>
    elementAssignment(binding, column, target, {
      current: before ?? own ?? constant(column.type, null),
      subscripts: target.subscripts.map((each) => bindExpression(binding, level, each)),
      value: bindExpression(binding, level, value),
      valuePosition: value.position,
    }));
}

/** `current` is the value that the part is replaced in. */
function elementAssignment(
  binding: Binding,
  column: ColumnDefinition,
  target: ColumnTarget,
  parts: {
    readonly current: Expression;
    readonly subscripts: readonly Expression[];
    readonly value: Expression;
    readonly valuePosition: number;
  },
): Expression {
  const { current, subscripts, value, valuePosition } = parts;
  const { type } = column;
  if (type.kind === "array") {
    const indexes = subscripts.map((subscript) => {
      const index = tryCoerce(binding, subscript, { kind: "i32" }, "assignment");
      if (index !== undefined) return index;
      throw binding.error(
        SQLSTATE.datatypeMismatch,
        "array subscript must have type integer",
        target.position,
      );
    });
    const element = coerceAssignment(binding, value, type.element, column.name, valuePosition);
    const chosen = arrayAssignment(type, indexes.length);
    return { kind: "call", type, function: chosen, args: [current, ...indexes, element] };
  }
  if (type.kind === "jsonb") {
    const [first] = subscripts;
    const beginsWithIndex = first !== undefined && ["i16", "i32", "i64"].includes(first.type.kind);
    const steps = subscripts.map((subscript) =>
      coerceExplicit(binding, subscript, { kind: "text" }, target.position)
    );
    const part = coerceAssignment(binding, value, type, column.name, valuePosition);
    const chosen = jsonbAssignment(steps.length, { beginsWithIndex });
    return { kind: "call", type, function: chosen, args: [current, ...steps, part] };
  }
  throw binding.error(
    SQLSTATE.datatypeMismatch,
    `cannot subscript type ${formatTypeFamily(type)} because it does not support subscripting`,
    target.position,
  );
}
