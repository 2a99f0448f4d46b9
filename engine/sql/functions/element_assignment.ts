/**
 * What `UPDATE t SET column[subscript] = value` makes of a column: an array or a `jsonb` document with one part
 * replaced, as PostgreSQL does it. Beyond the ends of a one-dimensional array, and of arrays in documents, the gap is
 * filled with NULL; missing objects and arrays on the way are made. Limits: arrays of 16 777 216 elements.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import {
  formatJsonb,
  isJsonArray,
  isJsonObject,
  jsonObject,
  type JsonValue,
  parseJson,
} from "../../types/json.ts";
import { SqlArray } from "../../types/sql_array.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import type { BoundFunction } from "./definition.ts";

/** The array with one element replaced: takes the array, its subscripts and the element. */
export function arrayAssignment(
  type: SqlType & { readonly kind: "array" },
  dimensions: number,
): BoundFunction {
  const subscripts = Array.from({ length: dimensions }, (): SqlType => ({ kind: "i32" }));
  return {
    name: "array_subscript_assign",
    argumentTypes: [type, ...subscripts, type.element],
    returnType: type,
    volatility: "immutable",
    strict: false,
    mayReturnNull: true,
    evaluate: (_context, array = null, ...rest) =>
      assignElement(
        array instanceof SqlArray ? array : SqlArray.EMPTY,
        rest.slice(0, -1),
        rest.at(-1) ?? null,
      ),
  };
}

/** The document with one part replaced: takes the document, the path as texts and the part. */
export function jsonbAssignment(path: number, options: { readonly beginsWithIndex: boolean }): BoundFunction {
  const steps = Array.from({ length: path }, (): SqlType => ({ kind: "text" }));
  return {
    name: "jsonb_subscript_assign",
    argumentTypes: [{ kind: "jsonb" }, ...steps, { kind: "jsonb" }],
    returnType: { kind: "jsonb" },
    volatility: "immutable",
    strict: false,
    mayReturnNull: true,
    evaluate: (_context, document = null, ...rest) => {
      const start: JsonValue = document === null
        ? (options.beginsWithIndex ? [] : jsonObject([]))
        : parseJson(String(document));
      const keys = rest.slice(0, -1).map((step) => {
        if (step === null) throw nullSubscript("jsonb");
        return String(step);
      });
      const part = rest.at(-1) ?? null;
      return formatJsonb(assignPart(start, keys, 0, part === null ? null : parseJson(String(part))));
    },
  };
}

function nullSubscript(what: string): DatabaseError {
  return new DatabaseError(
    SQLSTATE.nullValueNotAllowed,
    `${what} subscript in assignment must not be null`,
  );
}

function assignElement(array: SqlArray, subscripts: readonly SqlValue[], value: SqlValue): SqlArray {
  const at = subscripts.map((subscript) => {
    if (subscript === null) throw nullSubscript("array");
    return Number(subscript);
  });
  if (array.dimensions.length === 0) return new SqlArray([value], at.map(() => 1), at);
  if (array.dimensions.length !== at.length) {
    throw new DatabaseError(SQLSTATE.arraySubscriptError, "wrong number of array subscripts");
  }
  const [index = 1] = at;
  if (at.length === 1) return assignInLine(array, index, value);
  let place = 0;
  for (const [dimension, subscript] of at.entries()) {
    const size = array.dimensions[dimension] ?? 0;
    const offset = subscript - (array.lowerBounds[dimension] ?? 1);
    if (offset < 0 || offset >= size) {
      throw new DatabaseError(SQLSTATE.arraySubscriptError, "array subscript out of range");
    }
    place = place * size + offset;
  }
  return new SqlArray(array.elements.with(place, value), array.dimensions, array.lowerBounds);
}

function assignInLine(array: SqlArray, index: number, value: SqlValue): SqlArray {
  const [lower = 1] = array.lowerBounds;
  const offset = index - lower;
  const { elements } = array;
  const length = offset < 0 ? elements.length - offset : Math.max(elements.length, offset + 1);
  if (length > LIMITS.maximumArrayElements) {
    throw new DatabaseError(
      SQLSTATE.programLimitExceeded,
      `array size exceeds the maximum allowed (${LIMITS.maximumArrayElements})`,
    );
  }
  const gap = (count: number): SqlValue[] => Array<SqlValue>(Math.max(0, count)).fill(null);
  const next = offset < 0
    ? [value, ...gap(-offset - 1), ...elements]
    : offset < elements.length
    ? elements.with(offset, value)
    : [...elements, ...gap(offset - elements.length), value];
  return new SqlArray(next, [next.length], [Math.min(lower, index)]);
}

function assignPart(value: JsonValue, path: readonly string[], depth: number, part: JsonValue): JsonValue {
  const step = path[depth];
  if (step === undefined) return part;
  if (isJsonObject(value)) {
    const child = value.get(step);
    const next = child === undefined
      ? missing(path, depth + 1, part)
      : assignPart(child, path, depth + 1, part);
    return jsonObject([...value, [step, next]]);
  }
  if (!isJsonArray(value)) {
    throw new DatabaseError(SQLSTATE.invalidParameterValue, "cannot replace existing key", {
      detail: "The path assumes key is a composite object, but it is a scalar value.",
    });
  }
  const index = arrayIndex(step);
  if (index === undefined) {
    throw new DatabaseError(
      SQLSTATE.invalidTextRepresentation,
      `path element at position ${depth + 1} is not an integer: "${step}"`,
    );
  }
  const at = index < 0 ? value.length + index : index;
  if (at < 0) {
    throw new DatabaseError(
      SQLSTATE.invalidParameterValue,
      `path element at position ${depth + 1} is out of range: ${index}`,
    );
  }
  const child = value[at];
  if (child !== undefined) return value.with(at, assignPart(child, path, depth + 1, part));
  return [...value, ...nulls(at - value.length), missing(path, depth + 1, part)];
}

/** What is put where there was nothing: an array for an index, an object for a key, the part at the path's end. */
function missing(path: readonly string[], depth: number, part: JsonValue): JsonValue {
  const step = path[depth];
  if (step === undefined) return part;
  const index = arrayIndex(step);
  const next = missing(path, depth + 1, part);
  if (index === undefined) return jsonObject([[step, next]]);
  return [...nulls(Math.max(0, index)), next];
}

function nulls(count: number): JsonValue[] {
  if (count > LIMITS.maximumArrayElements) {
    throw new DatabaseError(
      SQLSTATE.programLimitExceeded,
      `array size exceeds the maximum allowed (${LIMITS.maximumArrayElements})`,
    );
  }
  return Array<JsonValue>(count).fill(null);
}

function arrayIndex(step: string): number | undefined {
  return /^\s*[+-]?\d{1,9}$/.test(step) ? Number(step) : undefined;
}
