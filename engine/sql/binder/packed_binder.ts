/**
 * Binding of long lists of literals, whose values the parser has packed: they become one constant array. What cannot
 * be bound so, errors among it, is bound node by node.
 */
import { DatabaseError } from "../../base/errors.ts";
import { compareValues } from "../../types/compare.ts";
import { SqlArray } from "../../types/sql_array.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import { commonType, findCast, withoutLimits } from "../functions/casts.ts";
import type { BoundCast, BoundFunction } from "../functions/definition.ts";
import { resolveOperator } from "../functions/registry.ts";
import type { PackedBranches, PackedComparisons, PackedLiterals, PackedRows } from "../parser/ast.ts";
import { BOOLEAN, constant, disjunction, sameType, volatilityOf } from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";
import type { Binding } from "./binding.ts";
import { coerceImplicit, literalType, readLiteral, withoutModifiers } from "./coercion.ts";
import { callFunction } from "./expression_binder.ts";
import { foldingContext } from "./folding_context.ts";
import { resolveColumn } from "./names.ts";
import type { QueryLevel } from "./scope.ts";

/** What a value of a packed row takes, roughly. */
const VALUE_BYTES = 16;
const I32: SqlType = { kind: "i32" };
const UNKNOWN: SqlType = { kind: "unknown" };

/** `ARRAY[…]`, or `ARRAY[…]::element[]`; null: it is bound by its items. */
export function bindPackedArray(
  binding: Binding,
  packed: PackedLiterals,
  element: SqlType | undefined = commonType(typesOf(packed)),
): Expression | null {
  if (packed.kind === "parameter") return null;
  return element === undefined ? null : arrayOf(binding, packed, element);
}

/** `operand [NOT] IN (…)`; null: it is bound by its items. */
export function bindPackedIn(
  binding: Binding,
  operand: Expression,
  packed: PackedLiterals,
  negated: boolean,
  position: number,
): Expression | null {
  if (packed.kind === "parameter") return bindParameters(binding, operand, packed, negated, position);
  const type = commonType([operand.type, ...typesOf(packed)]);
  if (type === undefined || type.kind === "record" || type.kind === "array") return null;
  const operator = resolveOperator("=", type, type, binding.at(position));
  const taken = operator.argumentTypes[0] ?? type;
  const array = arrayOf(binding, packed, taken);
  if (array === null) return null;
  const left = coerceImplicit(binding, operand, taken, position);
  const found: Expression = { kind: "any_array", type: BOOLEAN, operator, left, array };
  return negated ? { kind: "not", type: BOOLEAN, argument: found } : found;
}

/** `operand [NOT] IN ($1, $2, …)` where all parameters are of the operand's type, or take it. */
function bindParameters(
  binding: Binding,
  operand: Expression,
  { values }: PackedLiterals,
  negated: boolean,
  position: number,
): Expression | null {
  const { type } = operand;
  if (type.kind === "unknown" || type.kind === "record" || type.kind === "array") return null;
  const equals = resolveOperator("=", type, type, binding.at(position));
  const taken = equals.argumentTypes[0] ?? type;
  const { parameterTypes } = binding;
  if (!sameType(taken, type) || !sameType(taken, withoutModifiers(taken))) return null;
  const isTaken = (number: number | string | null): boolean => {
    const known = parameterTypes[Number(number) - 1];
    return (known === undefined || known === taken || sameType(known, taken)) &&
      binding.useParameter(Number(number));
  };
  if (!values.every(isTaken)) return null;
  const list = values.map((number): Expression => {
    const index = Number(number) - 1;
    if (parameterTypes[index] !== taken) binding.takeParameterType(index, taken);
    return { kind: "parameter", type: taken, index };
  });
  return { kind: "in_list", type: BOOLEAN, equals, argument: operand, list, negated };
}

/** `(a, b) [NOT] IN ((1, 2), …)`, as of rows of a subquery; null: it is bound by its items. */
export function bindPackedRows(
  binding: Binding,
  fields: readonly Expression[],
  values: readonly PackedLiterals[],
  position: number,
): Expression | null {
  if (fields.length !== values.length) return null;
  const operators: BoundFunction[] = [];
  const lists: (readonly SqlValue[])[] = [];
  for (const [index, field] of fields.entries()) {
    const packed = values[index];
    if (packed === undefined || !isComparedAsItself(field.type, packed)) return null;
    const type = commonType([field.type, ...typesOf(packed)]);
    if (type === undefined) return null;
    const operator = resolveOperator("=", type, type, binding.at(position));
    const list = convert(binding, packed, operator.argumentTypes[0] ?? type);
    if (list === null || list === "late") return null;
    operators.push(operator);
    lists.push(list);
  }
  const types = operators.map((operator, index) =>
    operator.argumentTypes[0] ?? fields[index]?.type ?? UNKNOWN
  );
  const columns = binding.newColumns(types.length);
  return {
    kind: "any_subquery",
    type: BOOLEAN,
    left: fields.map((field, index) => coerceImplicit(binding, field, types[index] ?? field.type, position)),
    operators,
    plan: rowsOf(types, columns, lists),
    columns,
  };
}

/** A plan that gives rows whose values are there by column. */
function rowsOf(
  types: readonly SqlType[],
  outputs: readonly ColumnRef[],
  lists: readonly (readonly SqlValue[])[],
): Plan {
  const count = lists[0]?.length ?? 0;
  const list: BoundFunction = {
    name: '"*VALUES*"',
    argumentTypes: [],
    returnType: { kind: "record", fields: [] },
    volatility: "stable",
    strict: false,
    mayReturnNull: true,
    evaluate: () => null,
    rowColumns: types.map((type, index) => ({ name: `column${index + 1}`, type })),
    heldBytes: count * lists.length * VALUE_BYTES,
    *rows() {
      for (let row = 0; row < count; row++) yield lists.map((values) => values[row] ?? null);
    },
  };
  return {
    kind: "function_scan",
    input: null,
    functions: [{ function: list, args: [], outputs }],
    ordinality: null,
    rows: count,
  };
}

/** Comparisons joined by AND or OR; null: they are bound one by one. */
export function bindPackedComparisons(
  binding: Binding,
  level: QueryLevel,
  packed: PackedComparisons | PackedRows,
): Expression | null {
  if ("columns" in packed) {
    const { columns, values, position } = packed;
    const fields = columns.map((column) => resolveColumn(binding, level, column));
    return bindPackedRows(binding, fields, values, position);
  }
  const { column, operator, values, uppers, position } = packed;
  const left = resolveColumn(binding, level, column);
  if (!isComparedAsItself(left.type, values) || (uppers !== null && !isComparedAsItself(left.type, uppers))) {
    return null;
  }
  if (uppers === null) return bindPackedIn(binding, left, values, operator === "<>", position);
  const type = commonType([left.type, ...typesOf(values), ...typesOf(uppers)]);
  const element = type === undefined ? undefined : resolveOperator("=", type, type).argumentTypes[0] ?? type;
  if (element === undefined) return null;
  const bounds = [values, uppers].map((each) => convert(binding, each, element));
  const [lows, highs] = bounds;
  if (!Array.isArray(lows) || !Array.isArray(highs)) return null;
  if (lows.includes(null) || highs.includes(null)) return null;
  const { starts, ends } = mergedRanges(element, lows, highs);
  const of = (list: readonly SqlValue[]) => constant({ kind: "array", element }, SqlArray.of(list));
  const countOf = (list: readonly SqlValue[]) =>
    callFunction(binding, "width_bucket", [coerceImplicit(binding, left, element), of(list)], position);
  // As many ranges begin at the value or before as end there; one more, or one ends just at the value.
  const isWithin: Expression = {
    kind: "call",
    type: BOOLEAN,
    function: resolveOperator(">", I32, I32),
    args: [countOf(starts), countOf(ends)],
  };
  const isLast: Expression = {
    kind: "any_array",
    type: BOOLEAN,
    operator: resolveOperator("=", element, element),
    left: coerceImplicit(binding, left, element),
    array: of(ends),
  };
  return disjunction([isLast, isWithin]);
}

/**
 * `CASE operand WHEN literal THEN literal …` as `results[array_position(keys, operand)]`; null: it is bound branch by
 * branch. The same array is given to `array_position` for each row, which looks values up in it.
 */
export function bindPackedCase(
  binding: Binding,
  operand: Expression,
  packed: PackedBranches,
  bindOtherwise: () => Expression | null,
  position: number,
): Expression | null {
  if (!isComparedAsItself(operand.type, packed.keys)) return null;
  const otherwise = bindOtherwise();
  const keyType = commonType([operand.type, ...typesOf(packed.keys)]);
  const common = commonType([...(otherwise === null ? [] : [otherwise.type]), ...typesOf(packed.results)]);
  if (keyType === undefined || common === undefined) return null;
  const taken = resolveOperator("=", keyType, keyType, binding.at(position)).argumentTypes[0] ?? keyType;
  const keys = convert(binding, packed.keys, taken), results = convert(binding, packed.results, common);
  if (!Array.isArray(keys) || !Array.isArray(results)) return null;
  // The operand is asked twice where a branch may give NULL, and once for each look-up.
  const isAskedAgain = results.includes(null) || keys.length > LOOKUP_LENGTH;
  if (isAskedAgain && volatilityOf(operand) === "volatile") return null;
  const type = otherwise === null ? withoutLimits(common) : common;
  const left = coerceImplicit(binding, operand, taken, position);
  let rest = otherwise === null ? null : coerceImplicit(binding, otherwise, common, position);
  const rows = keys.flatMap((key, row) => key === null ? [] : [row]);
  for (let end = rows.length; end > 0; end -= LOOKUP_LENGTH) {
    const some = rows.slice(Math.max(0, end - LOOKUP_LENGTH), end);
    const of = (element: SqlType, values: readonly SqlValue[]): Expression =>
      constant({ kind: "array", element }, SqlArray.of(some.map((row) => values[row] ?? null)));
    const index = callFunction(binding, "array_position", [of(taken, keys), left], position);
    const found: Expression = {
      kind: "subscript",
      type,
      argument: of(common, results),
      subscripts: [{ index }],
    };
    if (rest === null) rest = found;
    else if (!some.some((row) => results[row] === null)) {
      rest = { kind: "coalesce", type, args: [found, rest] };
    } else {
      const when: Expression = { kind: "is_null", type: BOOLEAN, argument: index, negated: false };
      rest = { kind: "case", type, branches: [{ when, then: rest }], otherwise: found };
    }
  }
  return rest ?? constant(type, null);
}

/** Keys of one look-up: longer arrays would be taken for large values, and computed elsewhere. */
const LOOKUP_LENGTH = 1 << 16;

/** Ranges without what they have in common, in order. */
function mergedRanges(
  type: SqlType,
  lows: readonly SqlValue[],
  highs: readonly SqlValue[],
): { readonly starts: readonly SqlValue[]; readonly ends: readonly SqlValue[] } {
  const compare = typeof lows[0] === "number" && lows.every(isNumber) && highs.every(isNumber)
    ? (left: SqlValue, right: SqlValue) => Number(left) - Number(right)
    : (left: SqlValue, right: SqlValue) => compareValues(type, left, right);
  const order = lows.map((_, index) => index)
    .filter((index) => compare(lows[index] ?? null, highs[index] ?? null) <= 0)
    .sort((left, right) => compare(lows[left] ?? null, lows[right] ?? null));
  const starts: SqlValue[] = [], ends: SqlValue[] = [];
  for (const index of order) {
    const low = lows[index] ?? null, high = highs[index] ?? null;
    const last = ends.length - 1;
    if (last < 0 || compare(low, ends[last] ?? null) > 0) {
      starts.push(low);
      ends.push(high);
    } else if (compare(high, ends[last] ?? null) > 0) {
      ends[last] = high;
    }
  }
  return { starts, ends };
}

function isNumber(value: SqlValue): boolean {
  return typeof value === "number" && !Number.isNaN(value);
}

/** Whether a comparison of a column with each of the literals converts nothing of the column. */
function isComparedAsItself(column: SqlType, packed: PackedLiterals): boolean {
  const types = typesOf(packed);
  switch (column.kind) {
    case "i16":
    case "i32":
    case "i64":
      return types.every(({ kind }) => kind === "i32" || kind === "i64" || kind === "unknown");
    case "numeric":
      return types.every(({ kind }) => kind === "i32" || kind === "i64" || kind === "numeric");
    case "text":
    case "varchar":
    case "date":
    case "timestamp":
    case "uuid":
      return types.every(({ kind }) => kind === "unknown");
    default:
      return false;
  }
}

/** The types of the literals, each once. */
function typesOf({ kind, values }: PackedLiterals): SqlType[] {
  if (kind === "string") return [UNKNOWN];
  const found = new Map<string, SqlType>();
  for (const value of values) {
    if (typeof value === "number") {
      if (!found.has("i32")) found.set("i32", I32);
    } else if (value === null) {
      found.set("unknown", UNKNOWN);
    } else {
      const type = literalType(kind, value);
      found.set(JSON.stringify(type), type);
    }
  }
  return [...found.values()];
}

/** The array; null: an item is wrong, and says so when it is bound by itself. */
function arrayOf(binding: Binding, packed: PackedLiterals, element: SqlType): Expression | null {
  const type: SqlType = { kind: "array", element };
  const values = convert(binding, packed, element);
  if (values !== "late") return values === null ? null : constant(type, SqlArray.of(values));
  const text: SqlType = { kind: "array", element: { kind: "text" } };
  const cast = findCast(text, type);
  const argument = constant(text, SqlArray.of(packed.values));
  return cast === undefined ? null : { kind: "cast", type, cast, argument };
}

/** The values as those of a type; null: one is wrong; "late": the settings of the execution say what they are. */
function convert(
  binding: Binding,
  packed: PackedLiterals,
  type: SqlType,
): readonly SqlValue[] | null | "late" {
  const { kind, values } = packed;
  if (type.kind === "i32" && kind === "integer" && values.every((value) => typeof value !== "string")) {
    return values;
  }
  if (type.kind === "text" && kind === "string") return values;
  const casts = new Map<string, BoundCast | undefined>();
  const castOf = (from: SqlType, to: SqlType): BoundCast | undefined => {
    const key = `${JSON.stringify(from)}>${JSON.stringify(to)}`;
    if (!casts.has(key)) casts.set(key, findCast(from, to));
    return casts.get(key);
  };
  const ofUnknown = castOf(UNKNOWN, type), ofI32 = castOf(I32, type);
  const isInteger = type.kind === "i32" || type.kind === "i64";
  const one = (value: number | string | null): SqlValue | undefined => {
    if (value === null) return null;
    if (typeof value === "number") {
      return isInteger ? value : evaluated(ofI32, value);
    }
    if (kind === "string") {
      return ofUnknown === undefined ? undefined : readLiteral(binding, ofUnknown, value, undefined);
    }
    const own = literalType(kind, value);
    const read = castOf(UNKNOWN, own);
    const written = read === undefined ? undefined : readLiteral(binding, read, value, undefined);
    if (written === undefined) return undefined;
    return JSON.stringify(own) === JSON.stringify(type) ? written : evaluated(castOf(own, type), written);
  };
  const result: SqlValue[] = [];
  try {
    for (const value of values) {
      const converted = one(value);
      if (converted === undefined) return kind === "string" && ofUnknown !== undefined ? "late" : null;
      result.push(converted);
    }
  } catch (error) {
    // Bound by itself, the item says what is wrong with it, and where.
    if (error instanceof DatabaseError) return null;
    throw error;
  }
  return result;
}

function evaluated(cast: BoundCast | undefined, value: SqlValue): SqlValue | undefined {
  return cast?.volatility === "immutable" ? cast.evaluate(foldingContext, value) : undefined;
}
