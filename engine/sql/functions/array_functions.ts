/**
 * Functions and operators on arrays.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { compareValues, hashKey } from "../../types/compare.ts";
import { SqlArray } from "../../types/sql_array.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { formatText } from "../../types/text_io.ts";
import type { SqlValue } from "../../types/value.ts";
import { textOptions } from "./casts.ts";
import type { FunctionDefinition } from "./definition.ts";
import { defineFunction, eachRow, type Overload } from "./overload.ts";

const array = { category: "array" } as const;

function elementType(type: SqlType | undefined): SqlType {
  return type?.kind === "array" ? type.element : { kind: "text" };
}

/** Equality of array elements in the sense of IS NOT DISTINCT FROM. */
function sameElement(type: SqlType): (left: SqlValue, right: SqlValue) => boolean {
  return (left, right) =>
    left === null || right === null ? left === right : compareValues(type, left, right) === 0;
}

function requireOneDimension(value: SqlArray, message: string): void {
  if (value.dimensions.length > 1) throw new DatabaseError(SQLSTATE.featureNotSupported, message);
}

/** Keys of the non-null elements; SQL equality is equality of keys. */
function keysOf(type: SqlType, value: SqlArray): Set<unknown> {
  const keys = new Set<unknown>();
  for (const element of value.elements) if (element !== null) keys.add(hashKey(type, element));
  return keys;
}

/** Whether every element of `part` occurs in `whole`; a NULL element occurs nowhere. */
function contains(type: SqlType): (whole: SqlArray, part: SqlArray) => boolean {
  return (whole, part) => {
    const keys = keysOf(type, whole);
    return part.elements.every((element) => element !== null && keys.has(hashKey(type, element)));
  };
}

function overlaps(type: SqlType): (left: SqlArray, right: SqlArray) => boolean {
  return (left, right) => {
    const keys = keysOf(type, left);
    return right.elements.some((element) => element !== null && keys.has(hashKey(type, element)));
  };
}

function dimensionsText(value: SqlArray): string | null {
  if (value.dimensions.length === 0) return null;
  return value.dimensions.map((length, index) => {
    const lower = value.lowerBounds[index] ?? 1;
    return `[${lower}:${lower + length - 1}]`;
  }).join("");
}

function replaceElements(type: SqlType): (value: SqlArray | null, from: SqlValue, to: SqlValue) => SqlValue {
  const same = sameElement(type);
  return (value, from, to) =>
    value === null ? null : value.map((element) => same(element, from) ? to : element);
}

function removeElements(type: SqlType): (value: SqlArray | null, from: SqlValue) => SqlValue {
  const same = sameElement(type);
  return (value, from) => {
    if (value === null) return null;
    requireOneDimension(value, "removing elements from multidimensional arrays is not supported");
    const kept = value.elements.filter((element) => !same(element, from));
    if (kept.length === value.elements.length) return value;
    return kept.length === 0 ? SqlArray.EMPTY : new SqlArray(kept, [kept.length], value.lowerBounds);
  };
}

function positionIn(
  type: SqlType,
): (value: SqlArray | null, wanted: SqlValue, from?: number | null) => number | null {
  const same = sameElement(type);
  return (value, wanted, from) => {
    if (value === null || value.dimensions.length === 0) return null;
    requireOneDimension(value, "searching for elements in multidimensional arrays is not supported");
    const lower = value.lowerBounds[0] ?? 1;
    if (from === undefined && value.elements.length >= INDEXED_LENGTH) {
      const places = placesIn(type, value);
      if (places !== null) {
        const place = places.get(hashKey(type, wanted));
        return place === undefined ? null : place + lower;
      }
    }
    if (wanted === null && !value.elements.includes(null)) return null;
    if (from === null) {
      throw new DatabaseError(SQLSTATE.nullValueNotAllowed, "initial position must not be null");
    }
    const start = from === undefined ? 0 : Math.max(0, from - lower);
    for (let index = start; index < value.elements.length; index++) {
      if (same(value.elements[index] ?? null, wanted)) return index + lower;
    }
    return null;
  };
}

/** Shorter arrays are searched from their beginning. */
const INDEXED_LENGTH = 32;

/** Arrays that were searched, for values of a type, and from the second time on the first place of each element. */
const searched = new WeakMap<SqlArray, { readonly type: SqlType; places: Map<unknown, number> | null }>();

/** Where each value is first in an array; null: it is searched for the first time. */
function placesIn(type: SqlType, value: SqlArray): ReadonlyMap<unknown, number> | null {
  const known = searched.get(value);
  if (known?.type !== type) {
    searched.set(value, { type, places: null });
    return null;
  }
  if (known.places === null) {
    known.places = new Map();
    for (let index = value.elements.length - 1; index >= 0; index--) {
      known.places.set(hashKey(type, value.elements[index] ?? null), index);
    }
  }
  return known.places;
}

function positionsIn(type: SqlType): (value: SqlArray | null, wanted: SqlValue) => SqlArray | null {
  const same = sameElement(type);
  return (value, wanted) => {
    if (value === null) return null;
    requireOneDimension(value, "searching for elements in multidimensional arrays is not supported");
    const lower = value.lowerBounds[0] ?? 1;
    const positions: number[] = [];
    for (const [index, element] of value.elements.entries()) {
      if (same(element, wanted)) positions.push(index + lower);
    }
    return SqlArray.of(positions);
  };
}

const fillLimit = 10_000_000;
/** What PostgreSQL's arrays can have. */
const arrayLimit = 134_217_727;

function fill(value: SqlValue, lengths: SqlArray | null, lowers: SqlArray | null): SqlArray {
  if (lengths === null || lowers === null) {
    throw new DatabaseError(
      SQLSTATE.nullValueNotAllowed,
      "dimension array or low bound array cannot be null",
    );
  }
  if (lengths.dimensions.length > 1 || lowers.dimensions.length > 1) {
    throw new DatabaseError(SQLSTATE.arraySubscriptError, "wrong number of array subscripts", {
      detail: "Dimension array must be one dimensional.",
    });
  }
  const counts = numbersOf(lengths);
  const bounds = numbersOf(lowers);
  if (counts.length > 6) {
    throw new DatabaseError(
      SQLSTATE.programLimitExceeded,
      `number of array dimensions (${counts.length}) exceeds the maximum allowed (6)`,
    );
  }
  if (counts.length !== bounds.length) {
    throw new DatabaseError(SQLSTATE.arraySubscriptError, "wrong number of array subscripts", {
      detail: "Low bound array has different size than dimensions array.",
    });
  }
  const total = counts.reduce((product, length) => product * length, 1);
  if (counts.some((length) => length < 0) || total > fillLimit) {
    throw new DatabaseError(
      SQLSTATE.programLimitExceeded,
      `array size exceeds the maximum allowed (${total > arrayLimit || total < 0 ? arrayLimit : fillLimit})`,
    );
  }
  if (counts.length === 0 || total === 0) return SqlArray.EMPTY;
  return new SqlArray(Array<SqlValue>(total).fill(value), counts, bounds);
}

function numbersOf(value: SqlArray): number[] {
  return value.elements.map((element) => {
    if (element === null) {
      throw new DatabaseError(SQLSTATE.nullValueNotAllowed, "dimension values cannot be null");
    }
    return Number(element);
  });
}

function trimArray(value: SqlArray, count: number): SqlArray {
  const length = value.dimensions[0] ?? 0;
  if (count < 0 || count > length) {
    throw new DatabaseError(
      SQLSTATE.arraySubscriptError,
      `number of elements to trim must be between 0 and ${length}`,
    );
  }
  const lower = value.lowerBounds[0] ?? 1;
  return value.slice([[undefined, lower + length - 1 - count]]);
}

function append(value: SqlArray | null, element: SqlValue): SqlArray {
  return (value ?? SqlArray.EMPTY).append(element);
}

function prepend(element: SqlValue, value: SqlArray | null): SqlArray {
  return (value ?? SqlArray.EMPTY).prepend(element);
}

function concatenate(left: SqlArray | null, right: SqlArray | null): SqlArray | null {
  if (left === null) return right;
  return right === null ? left : left.concat(right);
}

const bounds: readonly Overload[] = [
  {
    ...array,
    name: "array_length",
    takes: "anyarray, i32",
    returns: "i32",
    summary: "Length of a dimension.",
    mayReturnNull: true,
    run: (value: SqlArray, dimension: number) => value.dimensions[dimension - 1] ?? null,
  },
  {
    ...array,
    name: "array_lower",
    takes: "anyarray, i32",
    returns: "i32",
    summary: "Lower bound of a dimension.",
    mayReturnNull: true,
    run: (value: SqlArray, dimension: number) => value.lowerBounds[dimension - 1] ?? null,
  },
  {
    ...array,
    name: "array_upper",
    takes: "anyarray, i32",
    returns: "i32",
    summary: "Upper bound of a dimension.",
    mayReturnNull: true,
    run: (value: SqlArray, dimension: number) => value.upperBound(dimension) ?? null,
  },
  {
    ...array,
    name: "array_ndims",
    takes: "anyarray",
    returns: "i32",
    summary: "Number of dimensions.",
    mayReturnNull: true,
    run: (value: SqlArray) => value.dimensions.length === 0 ? null : value.dimensions.length,
  },
  {
    ...array,
    name: "array_dims",
    takes: "anyarray",
    returns: "text",
    summary: "Bounds of all dimensions as text.",
    mayReturnNull: true,
    run: dimensionsText,
  },
  {
    ...array,
    name: "cardinality",
    takes: "anyarray",
    returns: "i32",
    summary: "Number of elements in all dimensions.",
    run: (value: SqlArray) => value.elements.length,
    inline: ([value]) => `${value}.elements.length`,
  },
];

const changes: readonly Overload[] = [
  ...["array_append", "||"].map((name): Overload => ({
    ...array,
    name,
    takes: "anycompatiblearray, anycompatible",
    returns: "anycompatiblearray",
    strict: false,
    mayReturnNull: false,
    summary: "The array with an element at its end.",
    run: append,
  })),
  ...["array_prepend", "||"].map((name): Overload => ({
    ...array,
    name,
    takes: "anycompatible, anycompatiblearray",
    returns: "anycompatiblearray",
    strict: false,
    mayReturnNull: false,
    summary: "The array with an element before its first.",
    run: prepend,
  })),
  ...["array_cat", "||"].map((name): Overload => ({
    ...array,
    name,
    takes: "anycompatiblearray, anycompatiblearray",
    returns: "anycompatiblearray",
    strict: false,
    summary: "Both arrays one after the other.",
    run: concatenate,
  })),
  {
    ...array,
    name: "array_replace",
    takes: "anycompatiblearray, anycompatible, anycompatible",
    returns: "anycompatiblearray",
    strict: false,
    summary: "The array with each element equal to the second argument replaced by the third.",
    specialize: ([type]) => ({ run: replaceElements(elementType(type)) }),
  },
  {
    ...array,
    name: "array_remove",
    takes: "anycompatiblearray, anycompatible",
    returns: "anycompatiblearray",
    strict: false,
    summary: "The array without elements equal to the second argument.",
    specialize: ([type]) => ({ run: removeElements(elementType(type)) }),
  },
  {
    ...array,
    name: "array_position",
    takes: "anycompatiblearray, anycompatible",
    returns: "i32",
    strict: false,
    summary: "Index of the first element equal to the second argument.",
    specialize: ([type]) => {
      const find = positionIn(elementType(type));
      return { run: (value: SqlArray | null, wanted: SqlValue) => find(value, wanted) };
    },
  },
  {
    ...array,
    name: "array_position",
    takes: "anycompatiblearray, anycompatible, i32",
    returns: "i32",
    strict: false,
    summary: "Index of the first element equal to the second argument, from a position on.",
    specialize: ([type]) => ({ run: positionIn(elementType(type)) }),
  },
  {
    ...array,
    name: "array_positions",
    takes: "anycompatiblearray, anycompatible",
    returns: "i32[]",
    strict: false,
    summary: "Indexes of all elements equal to the second argument.",
    specialize: ([type]) => ({ run: positionsIn(elementType(type)) }),
  },
  {
    ...array,
    name: "array_fill",
    takes: "anyelement, i32[]",
    returns: "anyarray",
    strict: false,
    mayReturnNull: false,
    summary: "An array of the given dimensions filled with a value.",
    run: (value: SqlValue, lengths: SqlArray | null) =>
      fill(value, lengths, lengths === null ? null : SqlArray.of(lengths.elements.map(() => 1))),
  },
  {
    ...array,
    name: "array_fill",
    takes: "anyelement, i32[], i32[]",
    returns: "anyarray",
    strict: false,
    mayReturnNull: false,
    summary: "An array of the given dimensions and lower bounds filled with a value.",
    run: fill,
  },
  {
    ...array,
    name: "trim_array",
    takes: "anyarray, i32",
    returns: "anyarray",
    summary: "The array without its last n elements.",
    run: trimArray,
  },
  ...["text", "text, text"].map((rest): Overload => ({
    ...array,
    name: "array_to_string",
    takes: `anyarray, ${rest}`,
    returns: "text",
    strict: false,
    volatility: "stable",
    summary: rest === "text"
      ? "The elements as text with a delimiter between them; NULLs are left out."
      : "The elements as text with a delimiter between them; NULLs as the third argument.",
    specialize: ([type]) => {
      const element = elementType(type);
      return {
        runIn: (context, value: SqlArray | null, delimiter: string | null, nullText?: string | null) => {
          if (value === null || delimiter === null) return null;
          const parts: string[] = [];
          for (const item of value.elements) {
            if (item !== null) parts.push(formatText(element, item, textOptions(context)));
            else if (typeof nullText === "string") parts.push(nullText);
          }
          return parts.join(delimiter);
        },
      };
    },
  })),
];

const comparisons: readonly Overload[] = [
  {
    ...array,
    name: "@>",
    takes: "anyarray, anyarray",
    returns: "bool",
    summary: "Whether the left array contains every element of the right one.",
    specialize: ([type]) => ({ run: contains(elementType(type)) }),
  },
  {
    ...array,
    name: "<@",
    takes: "anyarray, anyarray",
    returns: "bool",
    summary: "Whether the right array contains every element of the left one.",
    specialize: ([type]) => {
      const test = contains(elementType(type));
      return { run: (part: SqlArray, whole: SqlArray) => test(whole, part) };
    },
  },
  {
    ...array,
    name: "&&",
    takes: "anyarray, anyarray",
    returns: "bool",
    summary: "Whether the arrays have an element in common.",
    specialize: ([type]) => ({ run: overlaps(elementType(type)) }),
  },
];

function* subscripts(value: SqlArray, dimension: number, reverse: boolean): Iterable<readonly SqlValue[]> {
  const lower = value.lowerBounds[dimension - 1];
  const upper = value.upperBound(dimension);
  if (lower === undefined || upper === undefined) return;
  if (reverse) { for (let index = upper; index >= lower; index--) yield [index]; }
  else for (let index = lower; index <= upper; index++) yield [index];
}

const rows: readonly Overload[] = [
  {
    name: "unnest",
    takes: "anyarray",
    returns: "anyelement",
    category: "set-returning",
    summary: "The elements as rows.",
    specialize: ([type]) => ({
      rows: (_context, value: SqlArray) => eachRow(value.elements),
      rowColumns: [{ name: "unnest", type: elementType(type) }],
    }),
  },
  {
    name: "generate_subscripts",
    takes: "anyarray, i32",
    returns: "i32",
    category: "set-returning",
    summary: "The valid indexes of a dimension as rows.",
    rows: (_context, value: SqlArray, dimension: number) => subscripts(value, dimension, false),
  },
  {
    name: "generate_subscripts",
    takes: "anyarray, i32, bool",
    returns: "i32",
    category: "set-returning",
    summary: "The valid indexes of a dimension as rows, from the last when the third argument is true.",
    rows: (_context, value: SqlArray, dimension: number, reverse: boolean) =>
      subscripts(value, dimension, reverse),
  },
];

function isOperatorName(overload: Overload): boolean {
  return !/^[a-z_]/.test(overload.name);
}

const overloads = [...bounds, ...changes, ...rows];

/** Functions on arrays. */
export const arrayFunctions: readonly FunctionDefinition[] = overloads
  .filter((overload) => !isOperatorName(overload)).map(defineFunction);

/** Operators on arrays besides the comparisons. */
export const arrayOperators: readonly FunctionDefinition[] = [
  ...comparisons,
  ...overloads.filter(isOperatorName),
].map(defineFunction);
