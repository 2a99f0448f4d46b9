/**
 * What the rows that are there hold in an added column, where one value does for all of them: then ADD COLUMN neither
 * looks at rows nor writes any, and need not wait for those who write to the table.
 */
import { DatabaseError } from "../../base/errors.ts";
import { gas } from "../../base/gas.ts";
import { columnPosition } from "../../catalog/catalog.ts";
import type { ColumnDefinition, ConstraintDefinition, TableDefinition } from "../../catalog/definitions.ts";
import { checkPlace, defaultPlace } from "../../catalog/gas_places.ts";
import { fromStored, toStored } from "../../types/stored_value.ts";
import { evaluate } from "../binder/evaluate.ts";
import { foldingContext } from "../binder/folding_context.ts";
import { constant } from "../plan/build.ts";
import type { Expression } from "../plan/expression.ts";
import { substitute } from "../plan/rewrite.ts";
import { type DefinitionBinder, isVolatile } from "./definition_binder.ts";

/**
 * The value of a default, computed now; undefined when each row needs one of its own. One that fails is left to the
 * rows too: a table without any takes it.
 */
export function missingValueOf(
  binder: DefinitionBinder,
  table: TableDefinition,
  column: ColumnDefinition,
  expression: Expression,
): ColumnDefinition["missingValue"] | undefined {
  if (isVolatile(expression)) return undefined;
  return unlessItFails(() => {
    const context = binder.environment.evaluation ?? foldingContext;
    const value = gas.run(defaultPlace(table, column.name), () => evaluate(expression, context));
    return toStored(expression.type, value);
  });
}

/** Whether a constraint that came with the column is met by every row, whatever the row's other columns hold. */
export function holdsForMissing(
  binder: DefinitionBinder,
  table: TableDefinition,
  constraint: ConstraintDefinition,
  { id, type, missingValue }: ColumnDefinition,
): boolean {
  switch (constraint.kind) {
    case "primary_key":
      return false;
    case "unique":
      return missingValue === null && !constraint.nullsNotDistinct;
    case "foreign_key":
      return missingValue === null;
    case "check": {
      const { expression, columns } = binder.bindText(
        constraint.text,
        table,
        "check constraints",
        "condition",
      );
      const column = columns[columnPosition(table, id)];
      if (column === undefined) return false;
      const value = constant(type, fromStored(type, missingValue));
      const condition = substitute(expression, new Map([[column, value]]));
      const context = binder.environment.evaluation ?? foldingContext;
      // It cannot be evaluated when other columns are in it.
      const holds = unlessItFails(() =>
        gas.run(checkPlace(table, constraint.name), () => evaluate(condition, context))
      );
      return holds === true || holds === null;
    }
  }
}

function unlessItFails<T>(compute: () => T): T | undefined {
  try {
    return compute();
  } catch (thrown) {
    // The step that looks at the rows raises it, if there are any.
    if (thrown instanceof DatabaseError) return undefined;
    throw thrown;
  }
}
