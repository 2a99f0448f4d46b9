/**
 * Conversions that the binder inserts: implicit and assignment casts, literals and parameters that take the type of
 * their context.
 *
 * A literal without a type is read at once when that does not depend on settings, so that a malformed one is an error
 * of the statement's text, as in PostgreSQL.
 */
import { SQLSTATE } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import { isSubArray } from "../../types/sql_type.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { formatTypeFamily } from "../../types/type_names.ts";
import type { SqlValue } from "../../types/value.ts";
import { stepsAhead } from "../functions/call_steps.ts";
import { commonType, comparedCast, findCast } from "../functions/casts.ts";
import { isComparison } from "../functions/comparison_operators.ts";
import type { BoundCast, CastContext } from "../functions/definition.ts";
import type { Expression } from "../plan/expression.ts";
import { BOOLEAN, constant, sameType } from "../plan/build.ts";
import { foldingContext } from "./folding_context.ts";
import { columnsOf } from "../plan/traverse.ts";
import type { Binding } from "./binding.ts";

/** The type without length, precision and scale: as it is reported for a parameter. */
export function withoutModifiers(type: SqlType): SqlType {
  switch (type.kind) {
    case "numeric":
      return { kind: "numeric" };
    case "varchar":
      return { kind: "varchar" };
    case "char":
      return { kind: "text" };
    case "bytes":
      return { kind: "bytea" };
    case "time":
    case "timestamp":
    case "timestamptz":
    case "interval":
      return { kind: type.kind };
    case "array":
      return { kind: "array", element: withoutModifiers(type.element) };
    default:
      return type;
  }
}

/** Whether an expression has no type yet. */
export function isUnknown(expression: Expression): boolean {
  return expression.type.kind === "unknown";
}

/** Whether an expression is a NULL that has no type yet, or has. */
export function isNullConstant(expression: Expression): boolean {
  return expression.kind === "constant" && expression.value === null;
}

/** The type of an integer literal by its magnitude, of a decimal one by its digits. */
export function literalType(type: string, text: string): SqlType {
  switch (type) {
    case "integer": {
      const digits = text.replace(/^[-+]?0*/, "").length;
      if (digits < 10) return { kind: "i32" };
      const value = BigInt(text);
      if (value >= -2147483648n && value <= 2147483647n) return { kind: "i32" };
      if (value >= -9223372036854775808n && value <= 9223372036854775807n) return { kind: "i64" };
      return { kind: "numeric", scale: 0 };
    }
    case "decimal": {
      if (/e/i.test(text)) return { kind: "numeric" };
      const point = text.indexOf(".");
      const scale = point < 0 ? 0 : text.length - point - 1;
      return scale > 30 || text.length > 60 ? { kind: "numeric" } : { kind: "numeric", scale };
    }
    case "boolean":
      return BOOLEAN;
    default:
      return { kind: "unknown" };
  }
}

/** Converts an expression to a type, or answers undefined when no cast allows it in this context. */
export function tryCoerce(
  binding: Binding,
  expression: Expression,
  target: SqlType,
  context: CastContext,
): Expression | undefined {
  if (sameType(expression.type, target)) return expression;
  if (isUnknown(expression)) return coerceUnknown(binding, expression, target, context);
  if (isNullConstant(expression)) {
    return findCast(expression.type, target, context) === undefined ? undefined : constant(target, null);
  }
  if (expression.kind === "row" && target.kind === "record") {
    return coerceRow(binding, expression, target, context);
  }
  if (expression.kind === "array" && target.kind === "array") {
    const elements: Expression[] = [];
    for (const element of expression.elements) {
      const wanted = isSubArray(element.type) ? target : target.element;
      const next = tryCoerce(binding, element, wanted, context);
      if (next === undefined) return undefined;
      elements.push(next);
    }
    return { kind: "array", type: target, elements };
  }
  const cast = findCast(expression.type, target, context);
  return cast === undefined ? undefined : { kind: "cast", type: target, cast, argument: expression };
}

function coerceRow(
  binding: Binding,
  row: Expression & { readonly kind: "row" },
  target: SqlType & { readonly kind: "record" },
  context: CastContext,
): Expression | undefined {
  if (target.fields.length === 0) return row;
  if (target.fields.length !== row.fields.length) return undefined;
  const fields: Expression[] = [];
  for (const [index, field] of row.fields.entries()) {
    const wanted = target.fields[index];
    const next = wanted === undefined ? undefined : tryCoerce(binding, field, wanted.type, context);
    if (next === undefined) return undefined;
    fields.push(next);
  }
  return { kind: "row", type: target, fields };
}

function coerceUnknown(
  binding: Binding,
  expression: Expression,
  target: SqlType,
  context: CastContext,
): Expression | undefined {
  if (expression.kind === "constant" && expression.value === null) return constant(target, null);
  if (expression.kind === "parameter") return coerceParameter(binding, expression, target, context);
  const cast = findCast({ kind: "unknown" }, target, context);
  if (cast === undefined) return undefined;
  if (expression.kind === "constant" && typeof expression.value === "string") {
    const value = readLiteral(binding, cast, expression.value, binding.positions.get(expression));
    if (value !== undefined) return constant(target, value);
  }
  return { kind: "cast", type: target, cast, argument: expression };
}

/** Texts of times that mean the same under every setting. */
const SETTLED_TIME =
  /^\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?)?$|^\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?$/;

function isSettled(target: SqlType, text: string): boolean {
  switch (target.kind) {
    case "date":
    case "time":
    case "timestamp":
      return SETTLED_TIME.test(text);
    case "interval":
      return !text.includes("-");
    default:
      return false;
  }
}

/** Shorter literals are read with the statement, whatever their type. */
const LONG_LITERAL = 1 << 16;

/** The value of a literal's text, or undefined when it depends on settings, or is large. */
export function readLiteral(
  binding: Binding,
  cast: BoundCast,
  text: string,
  offset: number | undefined,
): SqlValue | undefined {
  if (cast.volatility !== "immutable" && !isSettled(cast.to, text)) return undefined;
  // What takes long is read when the statement runs, which may be done by another thread; plans look into arrays.
  const isLong = text.length > LONG_LITERAL && cast.to.kind !== "array";
  if (isLong && stepsAhead(cast, [text]) > LIMITS.expressionGas) return undefined;
  if (cast.to.kind === "enum" && !binding.inOwnText && !cast.to.labels.includes(text)) {
    const former = cast.to.former?.find((each) => each.label === text);
    if (former !== undefined) return former.number;
  }
  return binding.locate(offset, () => cast.evaluate(foldingContext, text));
}

function coerceParameter(
  binding: Binding,
  expression: Expression & { readonly kind: "parameter" },
  target: SqlType,
  context: CastContext,
): Expression | undefined {
  const { index } = expression;
  const known = binding.parameterTypes[index];
  if (known !== undefined) {
    return tryCoerce(binding, { kind: "parameter", type: known, index }, target, context) ??
      tryCoerce(binding, { kind: "parameter", type: known, index }, target, "explicit");
  }
  if (target.kind === "unknown") return expression;
  // A literal of the text is read as the target with its modifiers, which assignment checks; a client sends plain
  // types.
  const isLiteral = index >= binding.parameterCount;
  const cuts = context === "explicit" && (target.kind === "varchar" || target.kind === "char");
  const type = target.kind === "record"
    ? { kind: "text" } as const
    : cuts
    ? { kind: "text" } as const
    : isLiteral
    ? target
    : withoutModifiers(target);
  binding.takeParameterType(index, type);
  const parameter: Expression = { kind: "parameter", type, index };
  const position = binding.positions.get(expression);
  if (position !== undefined) binding.positions.set(parameter, position);
  return tryCoerce(binding, parameter, target, context) ?? tryCoerce(binding, parameter, target, "explicit");
}

/** Converts an argument to the type that a chosen overload takes. The overload was chosen so that this works. */
export function coerceImplicit(
  binding: Binding,
  expression: Expression,
  target: SqlType,
  offset?: number,
): Expression {
  const result = tryCoerce(binding, expression, target, "implicit") ??
    tryCoerce(binding, expression, target, "explicit");
  if (result !== undefined) return result;
  throw binding.error(
    SQLSTATE.cannotCoerce,
    `cannot cast type ${formatTypeFamily(expression.type)} to ${formatTypeFamily(target)}`,
    offset,
  );
}

/** Converts an operand; that of a comparison need not be a value of the type: see {@link comparedCast}. */
export function coerceCompared(
  binding: Binding,
  expression: Expression,
  target: SqlType,
  offset?: number,
  operator = "=",
): Expression {
  const result = coerceImplicit(binding, expression, target, offset);
  if (result.kind !== "cast" || result === expression || !isComparison(operator)) return result;
  return { ...result, cast: comparedCast(result.cast) };
}

/** CAST(expression AS type). */
export function coerceExplicit(
  binding: Binding,
  expression: Expression,
  target: SqlType,
  offset?: number,
): Expression {
  const result = tryCoerce(binding, expression, target, "explicit");
  if (result !== undefined) return result;
  throw binding.error(
    SQLSTATE.cannotCoerce,
    `cannot cast type ${formatTypeFamily(expression.type)} to ${formatTypeFamily(target)}`,
    offset,
  );
}

/** Converts a value to the type of the column that it is assigned to. */
export function coerceAssignment(
  binding: Binding,
  expression: Expression,
  target: SqlType,
  columnName: string,
  offset?: number,
): Expression {
  const result = tryCoerce(binding, expression, target, "assignment");
  if (result !== undefined) return result;
  throw binding.error(
    SQLSTATE.datatypeMismatch,
    `column "${columnName}" is of type ${formatTypeFamily(target)} but expression is of type ${
      formatTypeFamily(expression.type)
    }`,
    offset,
    { hint: "You will need to rewrite or cast the expression." },
  );
}

/** 42804 when an operand that must be one value is a set. */
export function refuseSet(
  binding: Binding,
  expression: Expression,
  place: string,
  offset: number | undefined,
): void {
  const { setOutputs } = binding;
  if (setOutputs.size === 0) return;
  for (const column of columnsOf(expression)) {
    if (!setOutputs.has(column)) continue;
    throw binding.error(
      SQLSTATE.datatypeMismatch,
      `argument of ${place} must not return a set`,
      offset,
    );
  }
}

/** Converts a condition to boolean; `place` is how the message names it, e.g. `WHERE`. */
export function coerceCondition(
  binding: Binding,
  expression: Expression,
  place: string,
  offset?: number,
): Expression {
  const result = tryCoerce(binding, expression, BOOLEAN, "assignment");
  if (result !== undefined && (expression.type.kind === "bool" || isUnknown(expression))) {
    if (place !== "CASE/WHEN") refuseSet(binding, expression, place, offset);
    return result;
  }
  throw binding.error(
    SQLSTATE.datatypeMismatch,
    `argument of ${place} must be type boolean, not type ${formatTypeFamily(expression.type)}`,
    offset,
  );
}

/** A value that must have a type at last: an untyped literal or parameter becomes text. */
export function settle(binding: Binding, expression: Expression): Expression {
  if (!isUnknown(expression)) return expression;
  return coerceImplicit(binding, expression, { kind: "text" });
}

/** Converts expressions to their common type; `what` names the construct in the error (CASE, UNION …). */
export function unify(
  binding: Binding,
  expressions: readonly Expression[],
  what: string,
  offsets: readonly (number | undefined)[] = [],
): { readonly type: SqlType; readonly expressions: readonly Expression[] } {
  const type = binding.once(() => commonTypeOf(binding, expressions.map((each) => each.type), what, offsets));
  return {
    type,
    expressions: binding.each(
      expressions,
      (each, index) => coerceImplicit(binding, each, type, offsets[index]),
    ),
  };
}

/** The common type, or 42804 naming the construct. */
export function commonTypeOf(
  binding: Binding,
  types: readonly SqlType[],
  what: string,
  offsets: readonly (number | undefined)[] = [],
): SqlType {
  const type = commonType(types);
  if (type !== undefined) return type;
  const first = types.find((each) => each.kind !== "unknown");
  const index = types.findIndex((each, at) =>
    at > 0 && first !== undefined && commonType([first, each]) === undefined
  );
  const other = types[index < 0 ? types.length - 1 : index];
  throw binding.error(
    SQLSTATE.datatypeMismatch,
    `${what} types ${formatTypeFamily(first ?? { kind: "unknown" })} and ${
      formatTypeFamily(other ?? { kind: "unknown" })
    } cannot be matched`,
    offsets[index],
  );
}
