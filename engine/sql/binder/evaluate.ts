/**
 * Evaluation of expressions without subqueries: for constant folding, for arguments that a statement must know before
 * it runs, and for long expressions before they have run some times.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { gas } from "../../base/gas.ts";
import { SqlArray } from "../../types/sql_array.ts";
import { isSubArray } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import { metered, meteredCast } from "../functions/call_steps.ts";
import type { BoundFunction, EvaluationContext } from "../functions/definition.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";

function call(context: EvaluationContext, chosen: BoundFunction, args: readonly SqlValue[]): SqlValue {
  if (chosen.strict && args.includes(null)) return null;
  return (gas.isCounting ? metered(chosen) : chosen).evaluate(context, ...args);
}

function notEvaluable(what: string): never {
  throw new DatabaseError(SQLSTATE.featureNotSupported, `cannot use ${what} here`);
}

/** The value of an expression; `row`: those of the columns in it. */
export function evaluate(
  expression: Expression,
  context: EvaluationContext,
  row?: ReadonlyMap<ColumnRef, SqlValue>,
): SqlValue {
  const value = (each: Expression) => evaluate(each, context, row);
  switch (expression.kind) {
    case "constant":
      return expression.value;
    case "call":
      return call(context, expression.function, expression.args.map(value));
    case "cast": {
      const argument = value(expression.argument);
      if (argument === null) return null;
      return (gas.isCounting ? meteredCast(expression.cast) : expression.cast).evaluate(context, argument);
    }
    case "and": {
      let result: boolean | null = true;
      for (const each of expression.args) {
        const part = value(each);
        if (part === false) return false;
        if (part === null) result = null;
      }
      return result;
    }
    case "or": {
      let result: boolean | null = false;
      for (const each of expression.args) {
        const part = value(each);
        if (part === true) return true;
        if (part === null) result = null;
      }
      return result;
    }
    case "not": {
      const argument = value(expression.argument);
      return argument === null ? null : argument !== true;
    }
    case "is_null":
      return (value(expression.argument) === null) !== expression.negated;
    case "is_truth": {
      const wanted = expression.truth === "unknown" ? null : expression.truth === "true";
      return (value(expression.argument) === wanted) !== expression.negated;
    }
    case "is_distinct": {
      const [left, right] = [value(expression.left), value(expression.right)];
      const same = left === null || right === null
        ? left === right
        : call(context, expression.equals, [left, right]) === true;
      return !same !== expression.negated;
    }
    case "case": {
      for (const branch of expression.branches) if (value(branch.when) === true) return value(branch.then);
      return expression.otherwise === null ? null : value(expression.otherwise);
    }
    case "coalesce": {
      for (const each of expression.args) {
        const part = value(each);
        if (part !== null) return part;
      }
      return null;
    }
    case "nullif": {
      const [left, right] = [value(expression.left), value(expression.right)];
      return call(context, expression.equals, [left, right]) === true ? null : left;
    }
    case "greatest":
    case "least": {
      let best: SqlValue = null;
      for (const each of expression.args) {
        const part = value(each);
        if (part === null) continue;
        const isBetter = best === null ||
          (expression.kind === "greatest"
              ? call(context, expression.lessThan, [best, part])
              : call(context, expression.lessThan, [part, best])) === true;
        if (isBetter) best = part;
      }
      return best;
    }
    case "in_list": {
      const argument = value(expression.argument);
      let result: boolean | null = false;
      for (const each of expression.list) {
        const found = call(context, expression.equals, [argument, value(each)]);
        if (found === true) return !expression.negated;
        if (found === null) result = null;
      }
      return result === null ? null : expression.negated;
    }
    case "row":
      return { recordValues: expression.fields.map(value) };
    case "field": {
      const argument = value(expression.argument);
      if (argument === null || typeof argument !== "object" || !("recordValues" in argument)) return null;
      return argument.recordValues[expression.index] ?? null;
    }
    case "array":
      return arrayOf(
        expression.elements.map(value),
        expression.elements.some(({ type }) => isSubArray(type)),
      );
    case "any_array":
    case "all_array": {
      const isAny = expression.kind === "any_array";
      const left = value(expression.left);
      const array = value(expression.array);
      if (!(array instanceof SqlArray)) return null;
      let result: boolean | null = !isAny;
      for (const element of array.elements) {
        const found = call(context, expression.operator, [left, element]);
        if (found === isAny) return isAny;
        if (found === null) result = null;
      }
      return result;
    }
    case "column":
      return row?.get(expression.column) ?? (row === undefined ? notEvaluable("column references") : null);
    case "parameter":
      return notEvaluable("parameters");
    case "subscript":
      return subscripted(expression, value);
    default:
      return notEvaluable("subqueries");
  }
}

function arrayOf(items: readonly SqlValue[], isNested: boolean): SqlValue {
  if (!isNested) return SqlArray.of(items);
  const nested: SqlArray[] = [];
  for (const item of items) if (item instanceof SqlArray) nested.push(item);
  return nested.length > 0 ? SqlArray.ofArrays(nested) : SqlArray.of(items);
}

function subscripted(
  { argument, subscripts }: Expression & { readonly kind: "subscript" },
  value: (each: Expression) => SqlValue,
): SqlValue {
  const array = value(argument);
  let hasNull = false;
  const bound = (side: Expression | null): number | undefined => {
    if (side === null) return undefined;
    const at = value(side);
    hasNull ||= at === null;
    return Number(at);
  };
  const bounds = subscripts.map((each): [number | undefined, number | undefined] =>
    "index" in each ? [1, bound(each.index)] : [bound(each.lower), bound(each.upper)]
  );
  if (!(array instanceof SqlArray) || hasNull) return null;
  if (gas.isCounting) gas.charge(array.length);
  return subscripts.every((each) => "index" in each)
    ? array.element(bounds.map(([, index]) => Number(index)))
    : array.slice(bounds);
}
