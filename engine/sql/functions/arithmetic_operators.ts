/**
 * The arithmetic and bit operators: + - * / % ^ |/ ||/ @ & | # ~ << >> on integers, floats and `numeric`.
 *
 * Integers are exact and raise 22003 instead of wrapping. Sums, differences, products and remainders of scaled numerics
 * stay scaled (the larger scale, for products the sum, up to {@link maximumStaticScale}); quotients and powers are
 * `Decimal`. A scaled result carries no precision: it is as wide as it must be.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { Decimal } from "../../types/decimal.ts";
import { decimalPower } from "../../types/decimal_functions.ts";
import {
  absolute,
  absoluteI64,
  add,
  addI16,
  addI32,
  addI64,
  divideI16,
  divideI32,
  divideI64,
  divisionByZero,
  modulo,
  moduloI32,
  moduloI64,
  multiply,
  multiplyI16,
  multiplyI32,
  multiplyI64,
  negate,
  negateI16,
  negateI32,
  negateI64,
  normalize,
  powerOfTen,
  subtract,
  subtractI16,
  subtractI32,
  subtractI64,
} from "../../types/number_or_bigint.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { NumberOrBigint } from "../../types/value.ts";
import type { FunctionDefinition, UseRuntime } from "./definition.ts";
import { boundedForm, type IntegerRange, SAFE_RANGE } from "./integer_range.ts";
import { defineFunction, type Overload, type Specialization } from "./overload.ts";
import { integerRange } from "./type_family.ts";

/** Products whose scale would be larger than this are `Decimal`. */
export const maximumStaticScale = 40;

const integerWidths = ["i16", "i32", "i64"] as const;
type Width = typeof integerWidths[number];

function wider(left: Width, right: Width): Width {
  return integerWidths.indexOf(left) >= integerWidths.indexOf(right) ? left : right;
}

// deno-lint-ignore no-explicit-any -- one table for implementations over number and over mixed integers
type Binary = (left: any, right: any) => NumberOrBigint;
// deno-lint-ignore no-explicit-any -- as above
type Unary = (value: any) => NumberOrBigint;

const integerOperations: readonly {
  readonly symbol: string;
  readonly summary: string;
  readonly run: Readonly<Record<Width, Binary>>;
}[] = [
  { symbol: "+", summary: "Addition.", run: { i16: addI16, i32: addI32, i64: addI64 } },
  { symbol: "-", summary: "Subtraction.", run: { i16: subtractI16, i32: subtractI32, i64: subtractI64 } },
  { symbol: "*", summary: "Multiplication.", run: { i16: multiplyI16, i32: multiplyI32, i64: multiplyI64 } },
  {
    symbol: "/",
    summary: "Division; of integers cut toward zero.",
    run: { i16: divideI16, i32: divideI32, i64: divideI64 },
  },
  {
    symbol: "%",
    summary: "Remainder, with the sign of the dividend.",
    run: { i16: moduloI32, i32: moduloI32, i64: moduloI64 },
  },
];

/**
 * What an operation on integers of a width may result in without a test; a `bigint` is left to the checked operation.
 */
function rangeOfWidth(width: Width): IntegerRange {
  if (width === "i64") return SAFE_RANGE;
  return width === "i32" ? { low: -2147483648, high: 2147483647 } : { low: -32768, high: 32767 };
}

function integerOperators(): Overload[] {
  const overloads: Overload[] = [];
  for (const { symbol, summary, run } of integerOperations) {
    for (const left of integerWidths) {
      for (const right of integerWidths) {
        const width = wider(left, right);
        overloads.push({
          name: symbol,
          takes: `${left}, ${right}`,
          returns: width,
          category: "mathematical",
          summary,
          run: run[width],
          ...(symbol === "+" || symbol === "-" || symbol === "*"
            ? { bounded: boundedForm(symbol, rangeOfWidth(width)) }
            : {}),
        });
      }
    }
  }
  const unary: readonly {
    symbol: string;
    summary: string;
    run: Readonly<Record<Width, Unary>>;
  }[] = [
    { symbol: "-", summary: "Negation.", run: { i16: negateI16, i32: negateI32, i64: negateI64 } },
    { symbol: "+", summary: "The value itself.", run: { i16: same, i32: same, i64: same } },
    {
      symbol: "@",
      summary: "Absolute value.",
      run: { i16: absoluteI16, i32: absoluteI32, i64: absoluteI64 },
    },
  ];
  for (const { symbol, summary, run } of unary) {
    for (const width of integerWidths) {
      overloads.push({
        name: symbol,
        takes: width,
        returns: width,
        category: "mathematical",
        summary,
        run: run[width],
      });
    }
  }
  return overloads;
}

function same<T>(value: T): T {
  return value;
}

/** The absolute value of a `smallint`; 22003 for the lowest. */
export function absoluteI16(value: number): number {
  return value < 0 ? negateI16(value) : value;
}

/** The absolute value of an `integer`; 22003 for the lowest. */
export function absoluteI32(value: number): number {
  return value < 0 ? negateI32(value) : value;
}

/** Sum of doubles; 22003 when finite operands give an infinite result. */
export function addF64(left: number, right: number): number {
  const sum = left + right;
  if (!Number.isFinite(sum) && Number.isFinite(left) && Number.isFinite(right)) throw floatOverflow();
  return sum;
}

/** Difference of doubles; 22003 on overflow. */
export function subtractF64(left: number, right: number): number {
  const difference = left - right;
  if (!Number.isFinite(difference) && Number.isFinite(left) && Number.isFinite(right)) throw floatOverflow();
  return difference;
}

/** Product of doubles; 22003 on overflow and underflow. */
export function multiplyF64(left: number, right: number): number {
  const product = left * right;
  if (product === 0 ? left !== 0 && right !== 0 : !Number.isFinite(product)) {
    checkProduct(product, left, right);
  }
  return product;
}

function checkProduct(product: number, left: number, right: number): void {
  if (product === 0) throw floatUnderflow();
  if (Number.isFinite(left) && Number.isFinite(right)) throw floatOverflow();
}

/** Quotient of doubles; 22012 on zero, 22003 on overflow and underflow. */
export function divideF64(left: number, right: number): number {
  if (right === 0 && !Number.isNaN(left)) throw divisionByZero();
  const quotient = left / right;
  if (!Number.isFinite(quotient) && Number.isFinite(left) && Number.isFinite(right)) throw floatOverflow();
  if (quotient === 0 && left !== 0 && Number.isFinite(right)) throw floatUnderflow();
  return quotient;
}

/** The error of a float result that is too large. */
export function floatOverflow(): DatabaseError {
  return new DatabaseError(SQLSTATE.numericValueOutOfRange, "value out of range: overflow");
}

/** The error of a float result that vanishes. */
export function floatUnderflow(): DatabaseError {
  return new DatabaseError(SQLSTATE.numericValueOutOfRange, "value out of range: underflow");
}

/** The same operation on singles: operands are exact in double, the result is rounded once and checked. */
function single(operation: (left: number, right: number) => number): (left: number, right: number) => number {
  return (left, right) => {
    const wide = operation(left, right);
    const narrow = Math.fround(wide);
    if (!Number.isFinite(narrow) && Number.isFinite(wide)) throw floatOverflow();
    if (narrow === 0 && wide !== 0) throw floatUnderflow();
    return narrow;
  };
}

function floatOperators(): Overload[] {
  const overloads: Overload[] = [];
  const operations: readonly [string, string, (left: number, right: number) => number][] = [
    ["+", "Addition.", addF64],
    ["-", "Subtraction.", subtractF64],
    ["*", "Multiplication.", multiplyF64],
    ["/", "Division; of integers cut toward zero.", divideF64],
  ];
  for (const [name, summary, run] of operations) {
    for (const takes of ["f64, f64", "f32, f64", "f64, f32"]) {
      overloads.push({ name, takes, returns: "f64", category: "mathematical", summary, run });
    }
    overloads.push({
      name,
      takes: "f32, f32",
      returns: "f32",
      category: "mathematical",
      summary,
      run: single(run),
    });
  }
  for (const key of ["f32", "f64"]) {
    const common = { takes: key, returns: key, category: "mathematical" } as const;
    overloads.push(
      {
        ...common,
        name: "-",
        summary: "Negation.",
        run: (value: number) => -value,
        inline: ([value]) => `(-${value})`,
      },
      { ...common, name: "+", summary: "The value itself.", run: same, inline: ([value]) => `${value}` },
      {
        ...common,
        name: "@",
        summary: "Absolute value.",
        run: (value: number) => Math.abs(value),
        inline: ([value]) => `Math.abs(${value})`,
      },
    );
  }
  overloads.push(
    {
      name: "^",
      takes: "f64, f64",
      returns: "f64",
      category: "mathematical",
      summary: "Power.",
      run: powerF64,
    },
    {
      name: "^",
      takes: "numeric, numeric",
      returns: "numeric",
      category: "mathematical",
      summary: "Power.",
      run: decimalPower,
    },
    {
      name: "|/",
      takes: "f64",
      returns: "f64",
      category: "mathematical",
      summary: "Square root.",
      run: squareRootF64,
    },
    {
      name: "||/",
      takes: "f64",
      returns: "f64",
      category: "mathematical",
      summary: "Cube root.",
      run: (value: number) => Math.cbrt(value),
    },
  );
  return overloads;
}

/** Square root of a double; 2201F for negative numbers. */
export function squareRootF64(value: number): number {
  if (value < 0) {
    throw new DatabaseError(
      SQLSTATE.invalidArgumentForPowerFunction,
      "cannot take square root of a negative number",
    );
  }
  return Math.sqrt(value);
}

/** Power of doubles with PostgreSQL's special cases and errors. */
export function powerF64(base: number, exponent: number): number {
  if (Number.isNaN(base)) return exponent === 0 ? 1 : NaN;
  if (Number.isNaN(exponent)) return base === 1 ? 1 : NaN;
  if (base === 0 && exponent < 0) {
    throw new DatabaseError(
      SQLSTATE.invalidArgumentForPowerFunction,
      "zero raised to a negative power is undefined",
    );
  }
  if (base < 0 && Number.isFinite(exponent) && !Number.isInteger(exponent)) {
    throw new DatabaseError(
      SQLSTATE.invalidArgumentForPowerFunction,
      "a negative number raised to a non-integer power yields a complex result",
    );
  }
  // JavaScript gives NaN for 1 and -1 to an infinite power; IEEE 754 pow gives 1.
  if (Math.abs(base) === 1 && !Number.isFinite(exponent)) return 1;
  const power = base ** exponent;
  if (Number.isFinite(base) && Number.isFinite(exponent)) {
    if (!Number.isFinite(power)) throw floatOverflow();
    if (power === 0 && base !== 0) throw floatUnderflow();
  }
  return power;
}

/** How an argument takes part in scaled arithmetic. */
export interface ScaledShape {
  readonly scale: number;
  /** No scaled value is larger; Infinity when that is not known. */
  readonly magnitude: number;
  readonly type: SqlType;
}

const integerScaled: SqlType = { kind: "numeric", scale: 0 };

/** The shape of an argument for scaled arithmetic; undefined: it must be a `Decimal`. */
export function scaledShape(written: SqlType | undefined): ScaledShape | undefined {
  switch (written?.kind) {
    case "i8":
    case "u8":
    case "i16":
    case "u16":
    case "i32":
    case "u32":
    case "i64":
    case "u64": {
      const greatest = integerRange(written.kind)?.greatest ?? 0n;
      return { scale: 0, magnitude: Number(greatest) + 1, type: integerScaled };
    }
    case "numeric":
      if (written.scale === undefined || written.scale < 0) return undefined;
      return {
        scale: written.scale,
        magnitude: written.precision === undefined ? Infinity : 10 ** written.precision,
        type: written,
      };
    default:
      return undefined;
  }
}

/** Source text that brings a scaled argument to a larger scale. */
function scaleUp(argument: string, by: number, plain: boolean, use: UseRuntime): string {
  if (by === 0) return argument;
  const factor = powerOfTen(by);
  const literal = typeof factor === "bigint" ? `${factor}n` : String(factor);
  return plain ? `${argument} * ${literal}` : `${use("multiply", multiply)}(${argument}, ${literal})`;
}

type Scaled = (left: NumberOrBigint, right: NumberOrBigint) => NumberOrBigint;

/** + - % of numerics: scaled when both scales are known, at the larger one. */
function additive(
  written: readonly SqlType[],
  operation: Scaled,
  symbol: "+" | "-" | "%",
  decimal: (left: Decimal, right: Decimal) => Decimal,
): Specialization {
  const left = scaledShape(written[0]);
  const right = scaledShape(written[1]);
  if (left === undefined || right === undefined) return { run: decimal };
  const scale = Math.max(left.scale, right.scale);
  // Both magnitudes together bound sum, difference and the scaled operands.
  const bound = left.magnitude * 10 ** (scale - left.scale) + right.magnitude * 10 ** (scale - right.scale);
  const plain = bound <= Number.MAX_SAFE_INTEGER;
  const leftFactor = powerOfTen(scale - left.scale);
  const rightFactor = powerOfTen(scale - right.scale);
  return {
    argumentTypes: [left.type, right.type],
    returnType: { kind: "numeric", scale },
    ...(symbol === "%" ? {} : { raises: "nothing" }),
    run: (a: NumberOrBigint, b: NumberOrBigint) =>
      operation(multiply(a, leftFactor), multiply(b, rightFactor)),
    ...(symbol !== "%" && typeof leftFactor === "number" && typeof rightFactor === "number"
      ? { bounded: boundedForm(symbol, SAFE_RANGE, [leftFactor, rightFactor]) }
      : {}),
    inline: ([a = "", b = ""], use) => {
      const first = scaleUp(a, scale - left.scale, plain, use);
      const second = scaleUp(b, scale - right.scale, plain, use);
      return plain && symbol !== "%"
        ? `(${first} ${symbol} ${second})`
        : `${use(operation.name, operation)}(${first}, ${second})`;
    },
  };
}

function multiplication(written: readonly SqlType[]): Specialization {
  const left = scaledShape(written[0]);
  const right = scaledShape(written[1]);
  const decimal = { run: (a: Decimal, b: Decimal) => a.multiply(b) };
  if (left === undefined || right === undefined) return decimal;
  const scale = left.scale + right.scale;
  if (scale > maximumStaticScale) return decimal;
  return {
    argumentTypes: [left.type, right.type],
    returnType: { kind: "numeric", scale },
    raises: "nothing",
    run: multiply,
    bounded: boundedForm("*", SAFE_RANGE),
    // Adding 0 turns -0 into 0.
    ...(left.magnitude * right.magnitude <= Number.MAX_SAFE_INTEGER
      ? { inline: ([a, b]: readonly string[]) => `(${a} * ${b} + 0)` }
      : {}),
  };
}

/** A function of one numeric that keeps its scale. */
export function scaledUnary(
  written: readonly SqlType[],
  scaled: (value: NumberOrBigint) => NumberOrBigint,
  decimal: (value: Decimal) => Decimal,
): Specialization {
  const shape = scaledShape(written[0]);
  if (shape === undefined) return { run: decimal };
  return {
    argumentTypes: [shape.type],
    returnType: { kind: "numeric", scale: shape.scale },
    run: scaled,
  };
}

function numericOperators(): Overload[] {
  const common = { takes: "numeric, numeric", returns: "numeric", category: "mathematical" } as const;
  const unary = { takes: "numeric", returns: "numeric", category: "mathematical" } as const;
  return [
    {
      ...common,
      name: "+",
      summary: "Addition.",
      specialize: (_types, written) => additive(written, add, "+", (a, b) => a.add(b)),
    },
    {
      ...common,
      name: "-",
      summary: "Subtraction.",
      specialize: (_types, written) => additive(written, subtract, "-", (a, b) => a.subtract(b)),
    },
    {
      ...common,
      name: "%",
      summary: "Remainder, with the sign of the dividend.",
      specialize: (_types, written) => additive(written, modulo, "%", (a, b) => a.modulo(b)),
    },
    {
      ...common,
      name: "*",
      summary: "Multiplication.",
      specialize: (_types, written) => multiplication(written),
    },
    {
      ...common,
      name: "/",
      summary: "Division; of integers cut toward zero.",
      run: (left: Decimal, right: Decimal) => left.divide(right),
    },
    {
      ...unary,
      name: "-",
      summary: "Negation.",
      specialize: (_types, written) => scaledUnary(written, negate, (value) => value.negate()),
    },
    {
      ...unary,
      name: "+",
      summary: "The value itself.",
      specialize: (_types, written) => scaledUnary(written, same, same),
    },
    {
      ...unary,
      name: "@",
      summary: "Absolute value.",
      specialize: (_types, written) => scaledUnary(written, absolute, (value) => value.abs()),
    },
  ];
}

/** Bits of two 64-bit integers; those that fit 32 bits do not become bigints. */
function bits64(
  narrow: (left: number, right: number) => number,
  wide: (left: bigint, right: bigint) => bigint,
): (left: NumberOrBigint, right: NumberOrBigint) => NumberOrBigint {
  return (left, right) => {
    const a = Number(left);
    const b = Number(right);
    if ((a | 0) === a && (b | 0) === b) return narrow(a, b);
    return normalize(wide(BigInt(left), BigInt(right)));
  };
}

/** `&`, `|` or `#` on mixed integers, by its symbol. */
export function bitOperation(
  symbol: "&" | "|" | "#",
): (left: NumberOrBigint, right: NumberOrBigint) => NumberOrBigint {
  switch (symbol) {
    case "&":
      return bits64((a, b) => a & b, (a, b) => a & b);
    case "|":
      return bits64((a, b) => a | b, (a, b) => a | b);
    case "#":
      return bits64((a, b) => a ^ b, (a, b) => a ^ b);
  }
}

function bitOperators(): Overload[] {
  const overloads: Overload[] = [];
  const operations: readonly {
    name: string;
    summary: string;
    narrow: (left: number, right: number) => number;
    wide: (left: bigint, right: bigint) => bigint;
    symbol: string;
  }[] = [
    { name: "&", symbol: "&", summary: "Bitwise AND.", narrow: (a, b) => a & b, wide: (a, b) => a & b },
    { name: "|", symbol: "|", summary: "Bitwise OR.", narrow: (a, b) => a | b, wide: (a, b) => a | b },
    {
      name: "#",
      symbol: "^",
      summary: "Bitwise exclusive OR.",
      narrow: (a, b) => a ^ b,
      wide: (a, b) => a ^ b,
    },
  ];
  for (const { name, summary, narrow, wide, symbol } of operations) {
    for (const width of integerWidths) {
      overloads.push({
        name,
        takes: `${width}, ${width}`,
        returns: width,
        category: "mathematical",
        summary,
        ...(width === "i64"
          ? { run: bits64(narrow, wide) }
          : { run: narrow, inline: ([a, b]: readonly string[]) => `(${a} ${symbol} ${b})` }),
      });
    }
  }
  const not64 = (value: NumberOrBigint) =>
    typeof value === "number" ? subtract(-1, value) : normalize(~value);
  overloads.push(
    bitNot("i16", (value: number) => ~value),
    bitNot("i32", (value: number) => ~value),
    bitNot("i64", not64),
    shift("<<", "i16", (value, count) => (value << count) << 16 >> 16),
    shift("<<", "i32", (value, count) => value << count),
    shift("<<", "i64", (value, count) => normalize(BigInt.asIntN(64, BigInt(value) << BigInt(count & 63)))),
    shift(">>", "i16", (value, count) => value >> count),
    shift(">>", "i32", (value, count) => value >> count),
    shift(">>", "i64", (value, count) => normalize(BigInt(value) >> BigInt(count & 63))),
  );
  return overloads;
}

// deno-lint-ignore no-explicit-any -- one helper for numbers and mixed integers
function bitNot(width: Width, run: (value: any) => NumberOrBigint): Overload {
  return { name: "~", takes: width, returns: width, category: "mathematical", summary: "Bitwise NOT.", run };
}

// deno-lint-ignore no-explicit-any -- one helper for numbers and mixed integers
function shift(name: string, width: Width, run: (value: any, count: number) => NumberOrBigint): Overload {
  return {
    name,
    takes: `${width}, i32`,
    returns: width,
    category: "mathematical",
    summary: name === "<<" ? "Bits shifted left." : "Bits shifted right, keeping the sign.",
    run,
  };
}

/** All arithmetic and bit operators. */
export const arithmeticOperators: readonly FunctionDefinition[] = [
  ...integerOperators(),
  ...numericOperators(),
  ...floatOperators(),
  ...bitOperators(),
].map(defineFunction);
