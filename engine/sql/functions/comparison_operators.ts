/**
 * The comparison operators = <> < <= > >= for every type that has an order.
 *
 * Where plain JavaScript comparison of the representation is SQL's comparison, it is inlined. Floats treat NaN as equal
 * to itself and greater than all else. Text is ordered by code point. `json` has no comparison, as in PostgreSQL.
 */
import { assert } from "../../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { compareValues } from "../../types/compare.ts";
import { Decimal } from "../../types/decimal.ts";
import { compareScaled, powerOfTen, rescale } from "../../types/number_or_bigint.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { compareText } from "../../types/text.ts";
import type { NumberOrBigint, SqlValue } from "../../types/value.ts";
import { type ScaledShape, scaledShape } from "./arithmetic_operators.ts";
import { commonType } from "./common_type.ts";
import type { FunctionDefinition, UseRuntime } from "./definition.ts";
import { defineFunction, type Overload, type Specialization } from "./overload.ts";
import { displayName, typeKey } from "./type_family.ts";

/** A comparison symbol with what it means for a three-way result and in JavaScript. */
interface Comparison {
  readonly symbol: string;
  readonly summary: string;
  readonly script: string;
  readonly holds: (order: number) => boolean;
}

const comparisons: readonly Comparison[] = [
  { symbol: "=", summary: "Equal.", script: "===", holds: (order) => order === 0 },
  { symbol: "<>", summary: "Not equal; also written !=.", script: "!==", holds: (order) => order !== 0 },
  { symbol: "<", summary: "Less than.", script: "<", holds: (order) => order < 0 },
  { symbol: "<=", summary: "Less than or equal to.", script: "<=", holds: (order) => order <= 0 },
  { symbol: ">", summary: "Greater than.", script: ">", holds: (order) => order > 0 },
  { symbol: ">=", summary: "Greater than or equal to.", script: ">=", holds: (order) => order >= 0 },
];

/** Whether an operator is one of the six comparisons. */
export function isComparison(symbol: string): boolean {
  return comparisons.some((each) => each.symbol === symbol);
}

const integers = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"];

type Ordered = number | bigint | string | boolean;

/** The six comparisons where JavaScript's own comparison is right. */
function plain(left: string, right: string): Overload[] {
  return comparisons.map(({ symbol, summary, script }) => ({
    name: symbol,
    takes: `${left}, ${right}`,
    returns: "bool",
    category: "comparison",
    summary,
    run: plainComparison(symbol),
    inline: ([a, b]) => `(${a} ${script} ${b})`,
  }));
}

function plainComparison(symbol: string): (left: Ordered, right: Ordered) => boolean {
  switch (symbol) {
    case "=":
      return (left, right) => left === right;
    case "<>":
      return (left, right) => left !== right;
    case "<":
      return (left, right) => left < right;
    case "<=":
      return (left, right) => left <= right;
    case ">":
      return (left, right) => left > right;
    default:
      return (left, right) => left >= right;
  }
}

/** NaN equals NaN and is greater than everything else. */
function floatComparison(symbol: string): (left: number, right: number) => boolean {
  switch (symbol) {
    case "=":
      return (a, b) => a === b || (a !== a && b !== b);
    case "<>":
      return (a, b) => !(a === b || (a !== a && b !== b));
    case "<":
      return (a, b) => a < b || (b !== b && a === a);
    case "<=":
      return (a, b) => a <= b || b !== b;
    case ">":
      return (a, b) => a > b || (a !== a && b === b);
    default:
      return (a, b) => a >= b || a !== a;
  }
}

function floatSource(symbol: string, a: string, b: string): string {
  switch (symbol) {
    case "=":
      return `(${a} === ${b} || (${a} !== ${a} && ${b} !== ${b}))`;
    case "<>":
      return `!(${a} === ${b} || (${a} !== ${a} && ${b} !== ${b}))`;
    case "<":
      return `(${a} < ${b} || (${b} !== ${b} && ${a} === ${a}))`;
    case "<=":
      return `(${a} <= ${b} || ${b} !== ${b})`;
    case ">":
      return `(${a} > ${b} || (${a} !== ${a} && ${b} === ${b}))`;
    default:
      return `(${a} >= ${b} || ${a} !== ${a})`;
  }
}

function floats(left: string, right: string): Overload[] {
  return comparisons.map(({ symbol, summary }) => ({
    name: symbol,
    takes: `${left}, ${right}`,
    returns: "bool",
    category: "comparison",
    summary,
    run: floatComparison(symbol),
    inline: ([a = "", b = ""]) => floatSource(symbol, a, b),
  }));
}

function texts(left: string, right: string): Overload[] {
  return comparisons.map(({ symbol, summary, script, holds }) => {
    const equality = symbol === "=" || symbol === "<>";
    return {
      name: symbol,
      takes: `${left}, ${right}`,
      returns: "bool",
      category: "comparison",
      summary,
      run: equality ? plainComparison(symbol) : (a: string, b: string) => holds(compareText(a, b)),
      inline: ([a = "", b = ""], use) =>
        equality ? `(${a} ${script} ${b})` : `(${use("compareText", compareText)}(${a}, ${b}) ${script} 0)`,
    };
  });
}

/** Comparisons through `compareValues`, which knows every type. */
function general(takes: string): Overload[] {
  return comparisons.map(({ symbol, summary, script, holds }) => ({
    name: symbol,
    takes,
    returns: "bool",
    category: "comparison",
    summary,
    specialize: (types) => {
      const type = types[0];
      if (type === undefined) return undefined;
      const compare = (a: NonNullable<SqlValue>, b: NonNullable<SqlValue>) => compareValues(type, a, b);
      return {
        run: (a: NonNullable<SqlValue>, b: NonNullable<SqlValue>) => holds(compare(a, b)),
        inline: ([a = "", b = ""], use) =>
          `(${use(`compare_${type.kind}`, compare)}(${a}, ${b}) ${script} 0)`,
      };
    },
  }));
}

/** Records compare field by field; both must have as many fields, of the same types except for their modifiers. */
function records(): Overload[] {
  return general("record, record").map((overload) => ({
    ...overload,
    specialize: (types, written) => {
      const common = comparableRecord(types[0], types[1]);
      if (typeof common !== "string") {
        const comparison = overload.specialize?.([common, common], written);
        return comparison === undefined ? undefined : { ...comparison, argumentTypes: [common, common] };
      }
      return {
        raises: "anything",
        run: () => {
          throw new DatabaseError(SQLSTATE.datatypeMismatch, common);
        },
      };
    },
  }));
}

/** The record type to which both convert without a loss, or why two records cannot be compared. */
function comparableRecord(left: SqlType | undefined, right: SqlType | undefined): SqlType | string {
  assert(left?.kind === "record" && right?.kind === "record", "records are compared with records");
  for (const [index, { type }] of left.fields.entries()) {
    const other = right.fields[index]?.type;
    if (other === undefined || typeKey(type) === typeKey(other)) continue;
    const names = `${displayName(typeKey(type))} and ${displayName(typeKey(other))}`;
    return `cannot compare dissimilar column types ${names} at record column ${index + 1}`;
  }
  if (left.fields.length !== right.fields.length) {
    return "cannot compare record types with different numbers of columns";
  }
  return commonType([left, right]) ?? left;
}

/**
 * The order of a scaled value and a `Decimal`. The latter is mostly one constant for many rows, therefore the last
 * one's integer bound is kept: a scaled value v and decimal d compare as v and ⌊d·10^scale⌋, except that a d between
 * two integers is greater than the lower one.
 */
function scaledWithDecimal(scale: number): (left: NumberOrBigint, right: Decimal) => number {
  let last: Decimal | undefined;
  let floor: NumberOrBigint = 0;
  let between = false;
  return (left, right) => {
    if (!right.isFinite) return right.form === "-infinity" ? 1 : -1;
    if (right !== last) {
      last = right;
      if (right.scale <= scale) {
        floor = rescale(right.coefficient, right.scale, scale);
        between = false;
      } else {
        const exact = Decimal.of(right.coefficient, right.scale - scale);
        const lower = exact.floor();
        floor = lower.toScaled(0);
        between = !lower.equals(exact);
      }
    }
    if (left === floor) return between ? -1 : 0;
    return left < floor ? -1 : 1;
  };
}

function compareNumerics(comparison: Comparison, written: readonly SqlType[]): Specialization {
  const { script, holds, symbol } = comparison;
  const left = scaledShape(written[0]);
  const right = scaledShape(written[1]);
  const decimal: SqlType = { kind: "numeric" };
  if (left !== undefined && right !== undefined) {
    const types = [left.type, right.type];
    if (left.scale === right.scale) {
      return {
        argumentTypes: types,
        run: plainComparison(symbol),
        inline: ([a, b]) => `(${a} ${script} ${b})`,
      };
    }
    const compare = (a: NumberOrBigint, b: NumberOrBigint) => compareScaled(a, left.scale, b, right.scale);
    return {
      argumentTypes: types,
      run: (a: NumberOrBigint, b: NumberOrBigint) => holds(compare(a, b)),
      inline: ([a = "", b = ""], use) => scaledSource(script, [a, b], [left, right], compare, use),
    };
  }
  if (left !== undefined && written[1]?.kind === "numeric") {
    const compare = scaledWithDecimal(left.scale);
    return {
      argumentTypes: [left.type, decimal],
      run: (a: NumberOrBigint, b: Decimal) => holds(compare(a, b)),
      inline: ([a, b], use) => `(${use("compareScaled", compare)}(${a}, ${b}) ${script} 0)`,
    };
  }
  if (right !== undefined && written[0]?.kind === "numeric") {
    const compare = scaledWithDecimal(right.scale);
    return {
      argumentTypes: [decimal, right.type],
      run: (a: Decimal, b: NumberOrBigint) => holds(-compare(b, a)),
      inline: ([a, b], use) => `(-${use("compareScaled", compare)}(${b}, ${a}) ${script} 0)`,
    };
  }
  const compare = (a: Decimal, b: Decimal) => a.compare(b);
  return {
    argumentTypes: [decimal, decimal],
    run: (a: Decimal, b: Decimal) => holds(compare(a, b)),
    inline: ([a, b], use) => `(${use("compareDecimals", compare)}(${a}, ${b}) ${script} 0)`,
  };
}

/** Different scales: the one with fewer digits is multiplied, as a plain number when that is always exact. */
function scaledSource(
  script: string,
  [a = "", b = ""]: readonly string[],
  [left, right]: readonly [ScaledShape, ScaledShape],
  compare: (left: NumberOrBigint, right: NumberOrBigint) => number,
  use: UseRuntime,
): string {
  const difference = Math.abs(left.scale - right.scale);
  const lower = left.scale < right.scale ? left : right;
  if (lower.magnitude * 10 ** difference > Number.MAX_SAFE_INTEGER) {
    return `(${use("compareScaled", compare)}(${a}, ${b}) ${script} 0)`;
  }
  const factor = powerOfTen(difference);
  return left.scale < right.scale ? `(${a} * ${factor} ${script} ${b})` : `(${a} ${script} ${b} * ${factor})`;
}

function numerics(): Overload[] {
  return comparisons.map((comparison) => ({
    name: comparison.symbol,
    takes: "numeric, numeric",
    returns: "bool",
    category: "comparison",
    summary: comparison.summary,
    specialize: (_types, written) => compareNumerics(comparison, written),
  }));
}

function allComparisons(): Overload[] {
  const overloads: Overload[] = [];
  for (const left of integers) for (const right of integers) overloads.push(...plain(left, right));
  // regclass and its relatives compare as oid, to which they convert.
  for (const key of ["oid", "bool", "date", "time", "timestamp", "timestamptz", "uuid"]) {
    overloads.push(...plain(key, key));
  }
  for (const left of ["f32", "f64"]) {
    for (const right of ["f32", "f64"]) overloads.push(...floats(left, right));
  }
  overloads.push(...numerics(), ...plain("anyenum", "anyenum"));
  overloads.push(...texts("text", "text"), ...texts("char", "char"), ...texts("name", "name"));
  overloads.push(...texts("name", "text"), ...texts("text", "name"));
  overloads.push(...texts("internal_char", "internal_char"));
  for (const key of ["bytea", "interval", "jsonb", "anyarray"]) overloads.push(...general(`${key}, ${key}`));
  overloads.push(...records());
  return overloads.map((overload) => ({ ...overload, raises: "nothing" }));
}

/** All comparison operators. */
export const comparisonOperators: readonly FunctionDefinition[] = allComparisons().map(defineFunction);
