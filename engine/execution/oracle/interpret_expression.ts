/**
 * Expressions evaluated by walking their tree: the plain counterpart of the code generator, used as its oracle in
 * tests.
 *
 * It shares nothing with generated code but the functions' `evaluate` and is written to be obviously right.
 */
import { unreachable } from "../../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { gas } from "../../base/gas.ts";
import { metered, meteredCast } from "../../sql/functions/call_steps.ts";
import type { BoundFunction } from "../../sql/functions/definition.ts";
import type { ColumnRef, Expression } from "../../sql/plan/expression.ts";
import { stepsOn } from "../../sql/plan/expression_steps.ts";
import { SqlArray } from "../../types/sql_array.ts";
import { isSubArray } from "../../types/sql_type.ts";
import type { SqlRecord, SqlValue } from "../../types/value.ts";
import type { ExecutionContext } from "../runtime/execution.ts";
import { interpretPlan } from "./interpret_plan.ts";

/** Values of the columns in scope. */
export type Row = ReadonlyMap<ColumnRef, SqlValue>;

/** What an interpretation has at hand; `definitions` are the rows of WITH, `working` those of running recursions. */
export interface Scope {
  readonly context: ExecutionContext;
  readonly row: Row;
  readonly definitions: Map<number, readonly Row[]>;
  readonly working: Map<number, readonly Row[]>;
  /** Rows that may still be looked at, where that is bounded: every operator keeps its whole input. */
  readonly budget?: { rows: number };
}

/** The scope inside of which more columns are known. Raises 54000 when the budget is spent. */
export function inside(scope: Scope, row: Row): Scope {
  if (scope.budget !== undefined && --scope.budget.rows < 0) {
    throw new DatabaseError(SQLSTATE.programLimitExceeded, "too many rows to interpret");
  }
  return { ...scope, row: new Map([...scope.row, ...row]) };
}

/** Whether a condition is TRUE. */
export function isTrue(scope: Scope, condition: Expression | null): boolean {
  return condition === null || evaluate(scope, condition) === true;
}

/** A call with SQL's rule for NULL arguments. */
export function call(scope: Scope, called: BoundFunction, args: readonly SqlValue[]): SqlValue {
  if (called.strict && args.includes(null)) return null;
  return called.evaluate(scope.context.evaluation, ...args);
}

/** Three-valued AND (`decisive` false) or OR (`decisive` true). */
function combine(values: Iterable<SqlValue>, decisive: boolean): SqlValue {
  let result: SqlValue = !decisive;
  for (const value of values) {
    if (value === decisive) return decisive;
    if (value === null) result = null;
  }
  return result;
}

function negate(value: SqlValue): SqlValue {
  return value === null ? null : !value;
}

/** The value of an expression. */
export function evaluate(scope: Scope, expression: Expression): SqlValue {
  const value = (child: Expression) => evaluate(scope, child);
  switch (expression.kind) {
    case "constant":
      return expression.value;
    case "parameter":
      return scope.context.parameters[expression.index] ?? null;
    case "column": {
      const found = scope.row.get(expression.column);
      if (found === undefined) throw new Error(`column ${expression.column} is not in scope`);
      return found;
    }
    case "call": {
      const { args } = expression;
      const called = gas.isCounting && stepsOn(expression.function, args) === null
        ? metered(expression.function)
        : expression.function;
      return call(scope, called, args.map(value));
    }
    case "cast": {
      const argument = value(expression.argument);
      if (argument === null) return null;
      const isCounted = gas.isCounting && expression.argument.kind !== "constant";
      const cast = isCounted ? meteredCast(expression.cast) : expression.cast;
      return cast.evaluate(scope.context.evaluation, argument);
    }
    case "and":
    case "or": {
      const { args, kind } = expression;
      return combine(
        (function* () {
          for (const arg of args) yield value(arg);
        })(),
        kind === "or",
      );
    }
    case "not":
      return negate(value(expression.argument));
    case "is_null":
      return (value(expression.argument) === null) !== expression.negated;
    case "is_truth": {
      const argument = value(expression.argument);
      const wanted = expression.truth === "unknown" ? null : expression.truth === "true";
      return (argument === wanted) !== expression.negated;
    }
    case "is_distinct": {
      const left = value(expression.left);
      const right = value(expression.right);
      const same = left === null || right === null
        ? left === right
        : call(scope, expression.equals, [left, right]) === true;
      return same === expression.negated;
    }
    case "operand":
      // It is volatile: what it gives is not compared.
      return value(expression.argument);
    case "case": {
      for (const { when, then } of expression.branches) if (isTrue(scope, when)) return value(then);
      return expression.otherwise === null ? null : value(expression.otherwise);
    }
    case "coalesce": {
      for (const arg of expression.args) {
        const argument = value(arg);
        if (argument !== null) return argument;
      }
      return null;
    }
    case "nullif": {
      const left = value(expression.left);
      return call(scope, expression.equals, [left, value(expression.right)]) === true ? null : left;
    }
    case "greatest":
    case "least": {
      let best: SqlValue = null;
      for (const candidate of expression.args.map(value)) {
        if (candidate === null) continue;
        const pair = expression.kind === "greatest" ? [best, candidate] : [candidate, best];
        if (best === null || call(scope, expression.lessThan, pair) === true) best = candidate;
      }
      return best;
    }
    case "in_list": {
      const argument = value(expression.argument);
      const tests = expression.list.map((element) =>
        call(scope, expression.equals, [argument, value(element)])
      );
      const found = combine(tests, true);
      return expression.negated ? negate(found) : found;
    }
    case "any_array":
    case "all_array": {
      const left = value(expression.left);
      const array = value(expression.array);
      if (!(array instanceof SqlArray)) return null;
      const tests = array.elements.map((element) => call(scope, expression.operator, [left, element]));
      return combine(tests, expression.kind === "any_array");
    }
    case "scalar_subquery": {
      const rows = [...interpretPlan(expression.plan, scope)];
      if (rows.length > 1) {
        throw new DatabaseError(
          SQLSTATE.cardinalityViolation,
          "more than one row returned by a subquery used as an expression",
        );
      }
      return rows[0]?.get(expression.column) ?? null;
    }
    case "exists": {
      for (const _row of interpretPlan(expression.plan, scope)) return !expression.negated;
      return expression.negated;
    }
    case "any_subquery":
    case "all_subquery":
      return quantified(scope, expression);
    case "array_subquery": {
      const rows = [...interpretPlan(expression.plan, scope)];
      return SqlArray.of(rows.map((row) => row.get(expression.column) ?? null));
    }
    case "array": {
      const elements = expression.elements.map(value);
      return expression.elements.some(({ type }) => isSubArray(type))
        ? SqlArray.ofArrays(elements.map((element) => element instanceof SqlArray ? element : SqlArray.EMPTY))
        : SqlArray.of(elements);
    }
    case "row":
      return { recordValues: expression.fields.map(value) };
    case "field": {
      const record = value(expression.argument);
      return record === null ? null : (record as SqlRecord).recordValues[expression.index] ?? null;
    }
    case "subscript":
      return subscript(scope, expression);
    default:
      return unreachable(expression);
  }
}

type Of<K extends Expression["kind"]> = Extract<Expression, { kind: K }>;

function quantified(scope: Scope, expression: Of<"any_subquery" | "all_subquery">): SqlValue {
  const left = expression.left.map((part) => evaluate(scope, part));
  const isAny = expression.kind === "any_subquery";
  // A row differs when any column does; it satisfies every other comparison when all columns do.
  const differs = !isAny && expression.operators.some(({ name }) => name === "<>");
  const tests = [...interpretPlan(expression.plan, scope)].map((row) =>
    combine(
      expression.operators.map((operator, index) => {
        const column = expression.columns[index];
        return call(scope, operator, [
          left[index] ?? null,
          column === undefined ? null : row.get(column) ?? null,
        ]);
      }),
      differs,
    )
  );
  return combine(tests, isAny);
}

function subscript(scope: Scope, expression: Of<"subscript">): SqlValue {
  const array = evaluate(scope, expression.argument);
  const parts = expression.subscripts.map((part) => {
    if ("index" in part) {
      return { index: evaluate(scope, part.index), isSlice: false, lower: null, upper: null };
    }
    const bound = (side: Expression | null) => side === null ? undefined : evaluate(scope, side);
    return { index: undefined, isSlice: true, lower: bound(part.lower), upper: bound(part.upper) };
  });
  if (!(array instanceof SqlArray)) return null;
  if (
    parts.some(({ index, isSlice, lower, upper }) =>
      isSlice ? lower === null || upper === null : index === null
    )
  ) {
    return null;
  }
  if (!parts.some(({ isSlice }) => isSlice)) return array.element(parts.map(({ index }) => Number(index)));
  const number = (side: SqlValue | undefined) => side === undefined ? undefined : Number(side);
  return array.slice(
    parts.map(({ index, isSlice, lower, upper }) =>
      isSlice ? [number(lower), number(upper)] : [1, number(index)]
    ),
  );
}
