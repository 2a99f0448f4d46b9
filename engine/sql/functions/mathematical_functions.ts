/**
 * Mathematical functions on integers, `numeric` and floats. Those of scaled numerics that keep or lower the scale
 * (abs, ceil, floor, round, trunc, sign, mod) work on the scaled integer.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { compareValues } from "../../types/compare.ts";
import { Decimal } from "../../types/decimal.ts";
import {
  decimalExp,
  decimalFactorial,
  decimalGcd,
  decimalLcm,
  decimalLn,
  decimalLog,
  decimalLog10,
  decimalPower,
  decimalSquareRoot,
  integerGcd,
} from "../../types/decimal_functions.ts";
import {
  absolute,
  absoluteI64,
  checkInteger,
  divide,
  modulo,
  moduloI32,
  moduloI64,
  multiply,
  negate,
  powerOfTen,
  rescale,
  roundHalfEven,
  subtract,
  truncateScale,
} from "../../types/number_or_bigint.ts";
import type { SqlArray } from "../../types/sql_array.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { NumberOrBigint, SqlValue } from "../../types/value.ts";
import {
  absoluteI16,
  absoluteI32,
  floatOverflow,
  floatUnderflow,
  powerF64,
  scaledShape,
  scaledUnary,
  squareRootF64,
} from "./arithmetic_operators.ts";
import type { FunctionDefinition } from "./definition.ts";
import {
  acosInDegrees,
  asinInDegrees,
  atan2InDegrees,
  atanInDegrees,
  cosineOfDegrees,
  cotangentOfDegrees,
  sineOfDegrees,
  tangentOfDegrees,
} from "./degree_functions.ts";
import { defineFunction, type Overload, type Specialization } from "./overload.ts";

const double = { category: "mathematical", returns: "f64" } as const;
const exact = { category: "mathematical", returns: "numeric" } as const;

/** A function of one numeric whose result has no fraction. */
function wholeNumber(
  written: readonly SqlType[],
  scaled: (value: NumberOrBigint, scale: number) => NumberOrBigint,
  decimal: (value: Decimal) => Decimal,
): Specialization {
  const shape = scaledShape(written[0]);
  if (shape === undefined) return { run: decimal };
  const { scale } = shape;
  return {
    argumentTypes: [shape.type],
    returnType: { kind: "numeric", scale: 0 },
    run: (value: NumberOrBigint) => scaled(value, scale),
  };
}

function floorScaled(value: NumberOrBigint, scale: number): NumberOrBigint {
  const factor = powerOfTen(scale);
  const quotient = divide(value, factor);
  return value < 0 && multiply(quotient, factor) !== value ? subtract(quotient, 1) : quotient;
}

function ceilScaled(value: NumberOrBigint, scale: number): NumberOrBigint {
  return negate(floorScaled(negate(value), scale));
}

function signOf(value: NumberOrBigint): number {
  return value === 0 ? 0 : value < 0 ? -1 : 1;
}

/** Half to even; a negative number that rounds to zero keeps its sign. */
function roundFloat(value: number): number {
  const rounded = roundHalfEven(value);
  return rounded === 0 && (value < 0 || Object.is(value, -0)) ? -0 : rounded;
}

interface Rounding {
  readonly names: readonly string[];
  readonly summary: string;
  readonly float: (value: number) => number;
  readonly scaled: (value: NumberOrBigint, scale: number) => NumberOrBigint;
  readonly decimal: (value: Decimal) => Decimal;
}

const roundings: readonly Rounding[] = [
  {
    names: ["ceil", "ceiling"],
    summary: "Nearest integer greater than or equal to the argument.",
    float: Math.ceil,
    scaled: ceilScaled,
    decimal: (value) => value.ceil(),
  },
  {
    names: ["floor"],
    summary: "Nearest integer less than or equal to the argument.",
    float: Math.floor,
    scaled: floorScaled,
    decimal: (value) => value.floor(),
  },
  {
    names: ["round"],
    summary: "Nearest integer; halves away from zero for numeric, to even for floats.",
    float: roundFloat,
    scaled: (value, scale) => rescale(value, scale, 0),
    decimal: (value) => value.round(0),
  },
  {
    names: ["trunc"],
    summary: "Nearest integer toward zero.",
    float: Math.trunc,
    scaled: (value, scale) => truncateScale(value, scale, 0),
    decimal: (value) => value.trunc(0),
  },
];

function roundingFunctions(): Overload[] {
  return roundings.flatMap(({ names, summary, float, scaled, decimal }) =>
    names.flatMap((name): Overload[] => [
      {
        ...double,
        name,
        takes: "f64",
        summary,
        run: float,
        ...(name === "round" ? {} : { inline: ([x]: readonly string[]) => `Math.${float.name}(${x})` }),
      },
      {
        ...exact,
        name,
        takes: "numeric",
        summary,
        specialize: (_types, written) => wholeNumber(written, scaled, decimal),
      },
    ])
  );
}

function logarithmArgument(value: number): void {
  if (value === 0) {
    throw new DatabaseError(SQLSTATE.invalidArgumentForLogarithm, "cannot take logarithm of zero");
  }
  if (value < 0) {
    throw new DatabaseError(
      SQLSTATE.invalidArgumentForLogarithm,
      "cannot take logarithm of a negative number",
    );
  }
}

function expF64(value: number): number {
  const result = Math.exp(value);
  if (result === Infinity && value !== Infinity) throw floatOverflow();
  if (result === 0 && value !== -Infinity) throw floatUnderflow();
  return result;
}

function outOfRange(): DatabaseError {
  return new DatabaseError(SQLSTATE.numericValueOutOfRange, "input is out of range");
}

/** A float function defined on finite numbers (NaN passes through). */
function finite(run: (value: number) => number): (value: number) => number {
  return (value) => {
    if (value === Infinity || value === -Infinity) throw outOfRange();
    return run(value);
  };
}

function within(low: number, high: number, run: (value: number) => number): (value: number) => number {
  return (value) => {
    if (value < low || value > high) throw outOfRange();
    return run(value);
  };
}

function checkOverflow(run: (value: number) => number): (value: number) => number {
  return (value) => {
    const result = run(value);
    if (!Number.isFinite(result) && Number.isFinite(value)) throw floatOverflow();
    return result;
  };
}

const floatFunctions: readonly (readonly [name: string, summary: string, run: (value: number) => number])[] =
  [
    ["cbrt", "Cube root.", Math.cbrt],
    ["sin", "Sine of radians.", finite(Math.sin)],
    ["cos", "Cosine of radians.", finite(Math.cos)],
    ["tan", "Tangent of radians.", finite(Math.tan)],
    ["cot", "Cotangent of radians.", finite((value) => 1 / Math.tan(value))],
    ["asin", "Inverse sine in radians.", within(-1, 1, Math.asin)],
    ["acos", "Inverse cosine in radians.", within(-1, 1, Math.acos)],
    ["atan", "Inverse tangent in radians.", Math.atan],
    ["sind", "Sine of degrees.", sineOfDegrees],
    ["cosd", "Cosine of degrees.", cosineOfDegrees],
    ["tand", "Tangent of degrees.", tangentOfDegrees],
    ["cotd", "Cotangent of degrees.", cotangentOfDegrees],
    ["asind", "Inverse sine in degrees.", asinInDegrees],
    ["acosd", "Inverse cosine in degrees.", acosInDegrees],
    ["atand", "Inverse tangent in degrees.", atanInDegrees],
    ["sinh", "Hyperbolic sine.", Math.sinh],
    ["cosh", "Hyperbolic cosine.", Math.cosh],
    ["tanh", "Hyperbolic tangent.", Math.tanh],
    ["asinh", "Inverse hyperbolic sine.", Math.asinh],
    ["acosh", "Inverse hyperbolic cosine.", within(1, Infinity, Math.acosh)],
    ["atanh", "Inverse hyperbolic tangent.", within(-1, 1, Math.atanh)],
    ["degrees", "Radians in degrees.", checkOverflow((value) => value / (Math.PI / 180))],
    ["radians", "Degrees in radians.", radians],
    [
      "sign",
      "Sign of the argument: -1, 0 or 1.",
      // NaN has none, in PostgreSQL too.
      (value) => value > 0 ? 1 : value < 0 ? -1 : 0,
    ],
  ];

function radians(degrees: number): number {
  const result = degrees * (Math.PI / 180);
  if (result === 0 && degrees !== 0) throw floatUnderflow();
  return result;
}

function bucketError(message: string): DatabaseError {
  return new DatabaseError(SQLSTATE.invalidArgumentForWidthBucket, message);
}

function widthBucketF64(value: number, low: number, high: number, count: number): number {
  if (count <= 0) throw bucketError("count must be greater than zero");
  if (Number.isNaN(value) || Number.isNaN(low) || Number.isNaN(high)) {
    throw bucketError("operand, lower bound, and upper bound cannot be NaN");
  }
  if (!Number.isFinite(low) || !Number.isFinite(high)) {
    throw bucketError("lower and upper bounds must be finite");
  }
  if (low === high) throw bucketError("lower bound cannot equal upper bound");
  const ascending = low < high;
  if (ascending ? value < low : value > low) return 0;
  if (ascending ? value >= high : value <= high) return checkBucket(count + 1);
  // Halves keep the width from becoming infinite. The quotient is below 1 but may be rounded to it.
  const quotient = Number.isFinite(high - low)
    ? (value - low) / (high - low)
    : (value / 2 - low / 2) / (high / 2 - low / 2);
  return Math.min(Math.trunc(count * quotient), count - 1) + 1;
}

function checkBucket(bucket: number): number {
  return Number(checkInteger("i32", bucket));
}

function widthBucketDecimal(value: Decimal, low: Decimal, high: Decimal, count: number): number {
  if (count <= 0) throw bucketError("count must be greater than zero");
  if (value.isNaN || low.isNaN || high.isNaN) {
    throw bucketError("operand, lower bound, and upper bound cannot be NaN");
  }
  if (!low.isFinite || !high.isFinite) throw bucketError("lower and upper bounds must be finite");
  const order = low.compare(high);
  if (order === 0) throw bucketError("lower bound cannot equal upper bound");
  if (!value.isFinite) return value.sign * -order > 0 ? checkBucket(count + 1) : 0;
  const [position, end] = order < 0
    ? [value.subtract(low), high.subtract(low)]
    : [low.subtract(value), low.subtract(high)];
  if (position.sign < 0) return 0;
  if (position.compare(end) >= 0) return checkBucket(count + 1);
  return Number(position.multiply(Decimal.fromInteger(count)).divideInteger(end).toInteger()) + 1;
}

function widthBucketArray(type: SqlType): (value: NonNullable<SqlValue>, thresholds: SqlArray) => number {
  /** Looked at before: the same array may have many elements and be there for many rows. */
  let checked: SqlArray | null = null;
  return (value, thresholds) => {
    if (thresholds.dimensions.length > 1) {
      throw new DatabaseError(SQLSTATE.arraySubscriptError, "thresholds must be one-dimensional array");
    }
    if (thresholds !== checked && thresholds.elements.includes(null)) {
      throw new DatabaseError(SQLSTATE.nullValueNotAllowed, "thresholds array must not contain NULLs");
    }
    checked = thresholds;
    let low = 0;
    let high = thresholds.elements.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareValues(type, value, thresholds.elements[middle] as NonNullable<SqlValue>) < 0) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}

function lcmInteger(kind: "i32" | "i64"): (left: NumberOrBigint, right: NumberOrBigint) => NumberOrBigint {
  return (left, right) => {
    if (left === 0 || right === 0) return 0;
    return checkInteger(kind, absolute(multiply(divide(left, integerGcd(left, right)), right)));
  };
}

const integerFunctions: readonly Overload[] = [
  {
    name: "abs",
    takes: "i16",
    returns: "i16",
    category: "mathematical",
    summary: "Absolute value.",
    run: absoluteI16,
  },
  {
    name: "abs",
    takes: "i32",
    returns: "i32",
    category: "mathematical",
    summary: "Absolute value.",
    run: absoluteI32,
  },
  {
    name: "abs",
    takes: "i64",
    returns: "i64",
    category: "mathematical",
    summary: "Absolute value.",
    run: absoluteI64,
  },
  ...(["i16", "i32", "i64"] as const).map((width): Overload => ({
    name: "mod",
    takes: `${width}, ${width}`,
    returns: width,
    category: "mathematical",
    summary: "Remainder, with the sign of the dividend.",
    run: width === "i64" ? moduloI64 : moduloI32,
  })),
  ...(["i32", "i64"] as const).flatMap((width): Overload[] => [
    {
      name: "gcd",
      takes: `${width}, ${width}`,
      returns: width,
      category: "mathematical",
      summary: "Greatest common divisor.",
      run: (left: NumberOrBigint, right: NumberOrBigint) => checkInteger(width, integerGcd(left, right)),
    },
    {
      name: "lcm",
      takes: `${width}, ${width}`,
      returns: width,
      category: "mathematical",
      summary: "Least common multiple.",
      run: lcmInteger(width),
    },
  ]),
  { ...exact, name: "factorial", takes: "i64", summary: "Factorial.", run: decimalFactorial },
];

const numericFunctions: readonly Overload[] = [
  {
    ...exact,
    name: "abs",
    takes: "numeric",
    summary: "Absolute value.",
    specialize: (_types, written) => scaledUnary(written, absolute, (value) => value.abs()),
  },
  {
    ...exact,
    name: "sign",
    takes: "numeric",
    summary: "Sign of the argument: -1, 0 or 1.",
    specialize: (_types, written) =>
      wholeNumber(
        written,
        signOf,
        (value) => value.isNaN ? value : Decimal.fromInteger(value.sign),
      ),
  },
  {
    ...exact,
    name: "round",
    takes: "numeric, i32",
    summary: "Rounded to so many digits after the point, halves away from zero.",
    run: (value: Decimal, digits: number) => value.round(digits),
  },
  {
    ...exact,
    name: "trunc",
    takes: "numeric, i32",
    summary: "Cut to so many digits after the point.",
    run: (value: Decimal, digits: number) => value.trunc(digits),
  },
  {
    ...exact,
    name: "mod",
    takes: "numeric, numeric",
    summary: "Remainder, with the sign of the dividend.",
    specialize: (_types, written) => {
      const left = scaledShape(written[0]);
      const right = scaledShape(written[1]);
      if (left === undefined || right === undefined) return { run: (a: Decimal, b: Decimal) => a.modulo(b) };
      const scale = Math.max(left.scale, right.scale);
      return {
        argumentTypes: [left.type, right.type],
        returnType: { kind: "numeric", scale },
        run: (a: NumberOrBigint, b: NumberOrBigint) =>
          modulo(rescale(a, left.scale, scale), rescale(b, right.scale, scale)),
      };
    },
  },
  {
    ...exact,
    name: "div",
    takes: "numeric, numeric",
    summary: "Quotient cut to an integer.",
    run: (left: Decimal, right: Decimal) => left.divideInteger(right),
  },
  ...["power", "pow"].flatMap((name): Overload[] => [
    { ...exact, name, takes: "numeric, numeric", summary: "Power.", run: decimalPower },
    { ...double, name, takes: "f64, f64", summary: "Power.", run: powerF64 },
  ]),
  { ...exact, name: "sqrt", takes: "numeric", summary: "Square root.", run: decimalSquareRoot },
  { ...double, name: "sqrt", takes: "f64", summary: "Square root.", run: squareRootF64 },
  { ...exact, name: "exp", takes: "numeric", summary: "Exponential (e to the argument).", run: decimalExp },
  { ...double, name: "exp", takes: "f64", summary: "Exponential (e to the argument).", run: expF64 },
  { ...exact, name: "ln", takes: "numeric", summary: "Natural logarithm.", run: decimalLn },
  {
    ...double,
    name: "ln",
    takes: "f64",
    summary: "Natural logarithm.",
    run: (value: number) => {
      logarithmArgument(value);
      return Math.log(value);
    },
  },
  ...["log", "log10"].flatMap((name): Overload[] => [
    { ...exact, name, takes: "numeric", summary: "Logarithm to base 10.", run: decimalLog10 },
    {
      ...double,
      name,
      takes: "f64",
      summary: "Logarithm to base 10.",
      run: (value: number) => {
        logarithmArgument(value);
        return Math.log10(value);
      },
    },
  ]),
  {
    ...exact,
    name: "log",
    takes: "numeric, numeric",
    summary: "Logarithm of the second argument to the base given first.",
    run: decimalLog,
  },
  { ...exact, name: "gcd", takes: "numeric, numeric", summary: "Greatest common divisor.", run: decimalGcd },
  { ...exact, name: "lcm", takes: "numeric, numeric", summary: "Least common multiple.", run: decimalLcm },
  {
    name: "scale",
    takes: "numeric",
    returns: "i32",
    category: "mathematical",
    summary: "Digits after the point.",
    mayReturnNull: true,
    run: (value: Decimal) => value.isFinite ? value.scale : null,
  },
  {
    name: "min_scale",
    takes: "numeric",
    returns: "i32",
    category: "mathematical",
    summary: "Digits after the point that are needed.",
    mayReturnNull: true,
    run: (value: Decimal) => value.isFinite ? value.minScale() : null,
  },
  {
    ...exact,
    name: "trim_scale",
    takes: "numeric",
    summary: "Without zeros at the end of the fraction.",
    run: (value: Decimal) => value.trimScale(),
  },
];

const otherFunctions: readonly Overload[] = [
  ...["f32", "f64"].map((key): Overload => ({
    name: "abs",
    takes: key,
    returns: key,
    category: "mathematical",
    summary: "Absolute value.",
    run: Math.abs,
    inline: ([x]) => `Math.abs(${x})`,
  })),
  ...floatFunctions.map(([name, summary, run]): Overload => ({
    ...double,
    name,
    takes: "f64",
    summary,
    run,
  })),
  {
    ...double,
    name: "atan2",
    takes: "f64, f64",
    summary: "Angle in radians of the point (second, first).",
    run: Math.atan2,
    inline: ([y, x]) => `Math.atan2(${y}, ${x})`,
  },
  {
    ...double,
    name: "atan2d",
    takes: "f64, f64",
    summary: "Angle in degrees of the point (second, first).",
    run: atan2InDegrees,
  },
  { ...double, name: "pi", takes: "", summary: "The number π.", run: () => Math.PI, inline: () => "Math.PI" },
  {
    ...double,
    name: "random",
    takes: "",
    summary: "Random number, at least 0 and less than 1.",
    volatility: "volatile",
    runIn: (context) => context.random(),
  },
  {
    name: "setseed",
    takes: "f64",
    returns: "void",
    category: "mathematical",
    summary: "Accepted for compatibility; random numbers come from the node.",
    volatility: "volatile",
    run: (seed: number) => {
      if (!(seed >= -1 && seed <= 1)) {
        throw new DatabaseError(
          SQLSTATE.invalidParameterValue,
          `setseed parameter ${seed} is out of allowed range [-1,1]`,
        );
      }
      return "";
    },
  },
  {
    name: "width_bucket",
    takes: "f64, f64, f64, i32",
    returns: "i32",
    category: "mathematical",
    summary: "Number of the equal bucket between two bounds into which a value falls.",
    run: widthBucketF64,
  },
  {
    name: "width_bucket",
    takes: "numeric, numeric, numeric, i32",
    returns: "i32",
    category: "mathematical",
    summary: "Number of the equal bucket between two bounds into which a value falls.",
    run: widthBucketDecimal,
  },
  {
    name: "width_bucket",
    takes: "anycompatible, anycompatiblearray",
    returns: "i32",
    category: "mathematical",
    summary: "Number of the bucket whose lower bounds the array lists.",
    specialize: ([type]) => type === undefined ? undefined : { run: widthBucketArray(type) },
  },
];

/** Mathematical functions. */
export const mathematicalFunctions: readonly FunctionDefinition[] = [
  ...roundingFunctions(),
  ...integerFunctions,
  ...numericFunctions,
  ...otherFunctions,
].map(defineFunction);
