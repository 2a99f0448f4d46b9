/**
 * Roots, exponentials, logarithms, powers and greatest common divisors of decimals.
 *
 * All are calculated in integers with guard digits and rounded once, to the scale that PostgreSQL chooses (at least 16
 * significant digits, at least the operands' scale, at most 1000 digits after the point), so that results agree with
 * PostgreSQL's digit for digit. Logarithms use the area hyperbolic tangent series after taking square roots,
 * exponentials the Taylor series after halving the argument (R. P. Brent, "Fast multiple-precision evaluation of
 * elementary functions", JACM 23(2), 1976).
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { gas } from "../base/gas.ts";
import {
  Decimal,
  decimalExponent,
  leadingDigit,
  MAX_RESULT_SCALE,
  MINIMUM_SIGNIFICANT_DIGITS,
  overflow,
} from "./decimal.ts";
import { DIGIT_SIZE, divisionSteps, integerSize } from "./decimal_size.ts";
import { absolute, bigPowerOfTen, modulo, normalize } from "./number_or_bigint.ts";
import type { NumberOrBigint } from "./value.ts";

const MAX_EXPONENT = 2000;
const LOG10_E = 0.434294481903252;
const LN_10 = 2.302585092994046;

const LOG10_2 = 0.301029995663981;
/** The size of integers whose remainder one step finds, and how far a step of a factorial goes. */
const DIVIDED_SIZE_PER_STEP = 64;
const FACTORS_PER_STEP = 256;
/** Digits of a constant that are found in no time. */
const MANY_DIGITS = 200;

/** Charges divisions, and multiplications with them, of integers with so many digits; none for no digits. */
function chargeDivisions(count: number, digits: number): void {
  if (digits > 0) gas.charge(count * divisionSteps(digits * DIGIT_SIZE));
}

function clampScale(scale: number, ...operands: Decimal[]): number {
  return Math.min(Math.max(scale, 0, ...operands.map((operand) => operand.scale)), MAX_RESULT_SCALE);
}

/** Fixed-point value with `digits` digits after the point, rounded half away from zero to a decimal's scale. */
function fromFixed(value: bigint, digits: number, scale: number): Decimal {
  return Decimal.of(normalize(value), digits).round(scale);
}

function toFixed(value: Decimal, digits: number): bigint {
  const shift = digits - value.scale;
  const coefficient = BigInt(value.coefficient);
  return shift >= 0 ? coefficient * bigPowerOfTen(shift) : coefficient / bigPowerOfTen(-shift);
}

/** The largest integer whose square is not greater. */
function integerSquareRoot(value: bigint): bigint {
  if (value < 2n) return value;
  if (value < 4503599627370496n) return BigInt(Math.floor(Math.sqrt(Number(value))));
  const bits = value.toString(2).length, digits = bits * LOG10_2;
  let guess = 1n << BigInt((bits + 1) >> 1);
  while (true) {
    chargeDivisions(1, digits);
    const next = (guess + value / guess) >> 1n;
    if (next >= guess) return guess;
    guess = next;
  }
}

/** Square root; 2201F for negative values. */
export function decimalSquareRoot(value: Decimal): Decimal {
  if (value.form === "nan" || value.form === "infinity") return value;
  if (value.sign < 0) {
    throw new DatabaseError(
      SQLSTATE.invalidArgumentForPowerFunction,
      "cannot take square root of a negative number",
    );
  }
  const weight = leadingDigit(value)[0];
  const scale = clampScale(MINIMUM_SIGNIFICANT_DIGITS - (Math.trunc((weight + 1) * 4 / 2) - 1), value);
  // One more digit than wanted decides the rounding: a root that is not exact can never end in exactly half.
  const root = integerSquareRoot(toFixed(value, 2 * (scale + 1)));
  return fromFixed(root, scale + 1, scale);
}

/** e to the power of the value; 22003 when the result is too large. */
export function decimalExp(value: Decimal): Decimal {
  if (value.form !== "finite") return value.form === "-infinity" ? Decimal.ZERO : value;
  const weight = Math.max(-MAX_EXPONENT, Math.min(MAX_EXPONENT, value.toNumber() * LOG10_E));
  return expToScale(value, clampScale(MINIMUM_SIGNIFICANT_DIGITS - Math.trunc(weight), value));
}

function expToScale(value: Decimal, scale: number): Decimal {
  const estimate = value.toNumber();
  if (Math.abs(estimate) >= MAX_EXPONENT * 3) {
    if (estimate > 0) throw overflow();
    return Decimal.of(0, scale);
  }
  const wholeDigits = Math.max(0, Math.ceil(estimate * LOG10_E));
  const digits = scale + wholeDigits + 12;
  return fromFixed(expFixed(toFixed(value, digits), digits), digits, scale);
}

/** exp of a fixed-point number: halve the argument until it is small, sum the series, square back. */
function expFixed(argument: bigint, digits: number): bigint {
  const negative = argument < 0n;
  const halvings = Math.max(8, Math.ceil(Math.sqrt(digits)));
  const magnitude = negative ? -argument : argument;
  const extraBits = Math.max(0, magnitude.toString(2).length - bigPowerOfTen(digits).toString(2).length + 1);
  const steps = halvings + extraBits;
  // Each squaring doubles the relative error.
  const guard = Math.ceil(steps * 0.31) + 6;
  const one = bigPowerOfTen(digits + guard);
  const small = (magnitude * bigPowerOfTen(guard)) >> BigInt(steps);
  let term = one;
  let sum = one;
  for (let index = 1n; term > 0n; index++) {
    chargeDivisions(2, digits);
    term = term * small / one / index;
    sum += term;
  }
  for (let step = 0; step < steps; step++) {
    chargeDivisions(1, digits);
    sum = sum * sum / one;
  }
  if (negative) sum = one * one / sum;
  return sum / bigPowerOfTen(guard);
}

/** Natural logarithm of a positive fixed-point number. */
function lnFixed(argument: bigint, digits: number): bigint {
  const guard = 12;
  const one = bigPowerOfTen(digits + guard);
  let value = argument * bigPowerOfTen(guard);
  // Bring the value near 1 with powers of ten, then with square roots; the result doubles with each root.
  let tens = 0n;
  while (value >= one * 4n) {
    const by = Math.max(1, Math.floor((value / one).toString().length - 1));
    value /= bigPowerOfTen(by);
    tens += BigInt(by);
  }
  let roots = 0n;
  const near = one / 50n;
  while (value - one > near || one - value > near) {
    value = integerSquareRoot(value * one);
    roots++;
  }
  const sum = (artanhTwice(value - one, value + one, one, digits)) << roots;
  return (sum + (tens === 0n ? 0n : tens * lnTen(digits + guard))) / bigPowerOfTen(guard);
}

/** 2·artanh(numerator/denominator) = ln((denominator+numerator)/(denominator-numerator)). */
function artanhTwice(numerator: bigint, denominator: bigint, one: bigint, digits: number): bigint {
  const ratio = numerator * one / denominator;
  const square = ratio * ratio / one;
  let term = ratio;
  let sum = ratio;
  for (let index = 3n; term !== 0n; index += 2n) {
    chargeDivisions(2, digits);
    term = term * square / one;
    sum += term / index;
  }
  return sum * 2n;
}

let lnTenDigits = 0;
let lnTenValue = 0n;

/** ln 10 = 3·ln 2 + ln 1.25, kept for the largest number of digits asked so far. */
function lnTen(digits: number): bigint {
  // Steps do not depend on what is kept already; few digits take no time to mention.
  if (digits > MANY_DIGITS) chargeDivisions(3 * digits, digits);
  if (lnTenDigits < digits) {
    const one = bigPowerOfTen(digits + 5);
    lnTenValue = 3n * artanhTwice(1n, 3n, one, 0) + artanhTwice(1n, 9n, one, 0);
    lnTenDigits = digits + 5;
  }
  return lnTenValue / bigPowerOfTen(lnTenDigits - digits);
}

/** The decimal weight of ln(value), estimated from its leading digits. */
function lnWeight(value: Decimal): number {
  if (value.sign <= 0) return 0;
  const distance = value.subtract(Decimal.ONE);
  if (Math.abs(value.toNumber() - 1) <= 0.1 && distance.abs().compare(Decimal.of(1, 1)) <= 0) {
    return distance.isZero ? 0 : decimalExponent(distance) - 1;
  }
  const digits = String(value.coefficient).slice(0, 8);
  const weight = decimalExponent(value) - digits.length;
  return Math.trunc(Math.log10(Math.abs(Math.log(Number(digits)) + weight * LN_10)));
}

function checkLogarithm(value: Decimal): void {
  if (value.form === "nan" || value.sign > 0) return;
  throw new DatabaseError(
    SQLSTATE.invalidArgumentForLogarithm,
    value.isZero ? "cannot take logarithm of zero" : "cannot take logarithm of a negative number",
  );
}

function lnToScale(value: Decimal, scale: number): Decimal {
  const digits = scale + 20;
  // ln(m · 10^e) = ln m + e · ln 10 with m from 0.1 to 10: 0.99… keeps its distance from 1.
  const exponent = decimalExponent(value);
  const shift = exponent === 0 || exponent === 1 ? 0 : exponent;
  const mantissa = Decimal.of(value.coefficient, value.scale + shift);
  const sum = lnFixed(toFixed(mantissa, digits), digits) + BigInt(shift) * lnTen(digits);
  return fromFixed(sum, digits, scale);
}

/** Natural logarithm; 2201E unless the value is positive. */
export function decimalLn(value: Decimal): Decimal {
  checkLogarithm(value);
  if (value.form !== "finite") return value;
  return lnToScale(value, clampScale(MINIMUM_SIGNIFICANT_DIGITS - lnWeight(value), value));
}

/** Logarithm to a base; 2201E unless both are positive, 22012 for base 1. */
export function decimalLog(base: Decimal, value: Decimal): Decimal {
  if (base.form === "nan" || value.form === "nan") return Decimal.NAN;
  // Among the infinities a negative argument is refused before a zero.
  if (value.form === "-infinity") checkLogarithm(value);
  checkLogarithm(base);
  checkLogarithm(value);
  if (base.form !== "finite") return value.form !== "finite" ? Decimal.NAN : Decimal.ZERO;
  if (value.form !== "finite") return Decimal.INFINITY;
  const baseWeight = lnWeight(base);
  const valueWeight = lnWeight(value);
  const weight = valueWeight - baseWeight;
  const scale = clampScale(MINIMUM_SIGNIFICANT_DIGITS - weight, base, value);
  const baseLn = lnToScale(base, Math.max(0, scale + weight - baseWeight + 12));
  const valueLn = lnToScale(value, Math.max(0, scale + weight - valueWeight + 12));
  return valueLn.divideToScale(baseLn, scale);
}

/** Base-10 logarithm. */
export function decimalLog10(value: Decimal): Decimal {
  return decimalLog(Decimal.fromInteger(10), value);
}

/** The base to the power of the exponent, with PostgreSQL's special cases. */
export function decimalPower(base: Decimal, exponent: Decimal): Decimal {
  if (base.form !== "finite" || exponent.form !== "finite") return powerSpecial(base, exponent);
  if (base.isZero && exponent.sign < 0) {
    throw powerError("zero raised to a negative power is undefined");
  }
  const integral = exponent.trimScale();
  if (integral.scale === 0 && integral.coefficient >= -2147483648 && integral.coefficient <= 2147483647) {
    return powerInteger(base, Number(integral.coefficient), exponent.scale);
  }
  if (base.isZero) return Decimal.of(0, MINIMUM_SIGNIFICANT_DIGITS);
  let negative = false;
  if (base.sign < 0) {
    if (integral.scale !== 0) {
      throw powerError("a negative number raised to a non-integer power yields a complex result");
    }
    negative = modulo(integral.coefficient, 2) !== 0;
  }
  const magnitude = powerReal(base.abs(), exponent);
  return negative ? magnitude.negate() : magnitude;
}

function powerError(message: string): DatabaseError {
  return new DatabaseError(SQLSTATE.invalidArgumentForPowerFunction, message);
}

function powerReal(base: Decimal, exponent: Decimal): Decimal {
  const weight = lnWeight(base);
  const roughScale = Math.min(Math.max(8 - weight, 0), MAX_RESULT_SCALE);
  // PostgreSQL chooses the scale by the rounded product.
  const rough = lnToScale(base, roughScale).multiply(exponent).round(roughScale).toNumber();
  if (Math.abs(rough) > MAX_EXPONENT * 3.01) {
    if (rough > 0) throw overflow();
    return Decimal.of(0, MAX_RESULT_SCALE);
  }
  const scale = clampScale(MINIMUM_SIGNIFICANT_DIGITS - Math.trunc(rough * LOG10_E), base, exponent);
  const significant = Math.max(0, scale + Math.trunc(rough * LOG10_E));
  const exponentWeight = exponent.isZero ? 0 : Math.max(0, decimalExponent(exponent));
  const lnScale = Math.max(0, significant - weight + exponentWeight + 12);
  return expToScale(lnToScale(base, lnScale).multiply(exponent), scale);
}

function powerInteger(base: Decimal, exponent: number, exponentScale: number): Decimal {
  const weight = powerWeight(base, exponent);
  if (weight > (32767 + 1) * 4) throw overflow();
  const scale = Math.min(
    Math.max(MINIMUM_SIGNIFICANT_DIGITS, base.scale, exponentScale),
    MAX_RESULT_SCALE,
  );
  if (weight + 1 < -MAX_RESULT_SCALE) return Decimal.of(0, scale);
  if (exponent === 0) return Decimal.ONE.round(scale);
  if (base.isZero) return Decimal.of(0, scale);
  const positive = Math.abs(exponent);
  // Working digits: those of the result, one for each squaring's doubling of the error, and a few more.
  const digits = Math.max(0, scale + Math.ceil(weight) + Math.ceil(Math.log10(positive)) + 12);
  const power = powerBySquaring(BigInt(base.coefficient), base.scale, positive, digits);
  const [coefficient, powerScale] = power;
  if (exponent > 0) {
    return powerScale >= 0
      ? Decimal.of(normalize(coefficient), powerScale).round(scale)
      : Decimal.of(normalize(coefficient * bigPowerOfTen(-powerScale)), 0).round(scale);
  }
  const denominator = powerScale >= 0
    ? Decimal.of(normalize(coefficient), powerScale)
    : Decimal.of(normalize(coefficient * bigPowerOfTen(-powerScale)), 0);
  return Decimal.ONE.divideToScale(denominator, scale);
}

/** coefficient · 10^-scale of the power, cut to about `digits` significant digits as it grows. */
function powerBySquaring(base: bigint, scale: number, exponent: number, digits: number): [bigint, number] {
  const bits = Math.ceil((digits + 10) * 3.33);
  const cut = (value: [bigint, number]): [bigint, number] => {
    const [coefficient, currentScale] = value;
    const length = (coefficient < 0n ? -coefficient : coefficient).toString(16).length * 4;
    if (length <= bits + 64) return value;
    const drop = Math.floor((length - bits) / 3.33);
    return [coefficient / bigPowerOfTen(drop), currentScale - drop];
  };
  let result: [bigint, number] = [1n, 0];
  let factor: [bigint, number] = [base, scale];
  for (let rest = exponent; rest > 0; rest = Math.floor(rest / 2)) {
    chargeDivisions(1, 2 * digits);
    if (rest % 2 === 1) result = cut([result[0] * factor[0], result[1] + factor[1]]);
    if (rest > 1) factor = cut([factor[0] * factor[0], factor[1] * 2]);
  }
  return result;
}

function powerWeight(base: Decimal, exponent: number): number {
  if (base.isZero) return 0;
  const digits = String(absolute(base.coefficient)).slice(0, 17);
  return exponent * (Math.log10(Number(digits)) + decimalExponent(base) - digits.length);
}

function powerSpecial(base: Decimal, exponent: Decimal): Decimal {
  if (base.form === "nan") return exponent.isZero ? Decimal.ONE : base;
  if (exponent.form === "nan") return base.equals(Decimal.ONE) ? Decimal.ONE : exponent;
  if (base.form === "finite") {
    if (base.equals(Decimal.ONE)) return Decimal.ONE;
    if (base.isZero && exponent.sign < 0) throw powerError("zero raised to a negative power is undefined");
    const size = base.abs().compare(Decimal.ONE);
    if (size === 0) return Decimal.ONE;
    return (size > 0) === (exponent.sign > 0) ? Decimal.INFINITY : Decimal.ZERO;
  }
  if (exponent.isZero) return Decimal.ONE;
  const integral = exponent.trimScale();
  if (base.form === "-infinity" && integral.scale !== 0) {
    throw powerError("a negative number raised to a non-integer power yields a complex result");
  }
  if (exponent.sign < 0) return Decimal.ZERO;
  if (base.form === "infinity" || exponent.form !== "finite") return Decimal.INFINITY;
  return modulo(integral.coefficient, 2) !== 0 ? Decimal.NEGATIVE_INFINITY : Decimal.INFINITY;
}

/** Greatest common divisor, with the larger scale. */
export function decimalGcd(left: Decimal, right: Decimal): Decimal {
  if (left.form !== "finite" || right.form !== "finite") return Decimal.NAN;
  const scale = Math.max(left.scale, right.scale);
  return Decimal.of(integerGcd(left.toScaled(scale), right.toScaled(scale)), scale);
}

/** Least common multiple, with the larger scale. */
export function decimalLcm(left: Decimal, right: Decimal): Decimal {
  if (left.form !== "finite" || right.form !== "finite") return Decimal.NAN;
  const scale = Math.max(left.scale, right.scale);
  if (left.isZero || right.isZero) return Decimal.of(0, scale);
  const divisor = decimalGcd(left, right);
  return left.divideInteger(divisor).multiply(right).abs().round(scale);
}

/** Greatest common divisor of two integers, never negative. */
export function integerGcd(left: NumberOrBigint, right: NumberOrBigint): NumberOrBigint {
  let a = absolute(left);
  let b = absolute(right);
  while (b !== 0) {
    if (typeof b === "bigint") gas.charge(1 + integerSize(b) / DIVIDED_SIZE_PER_STEP);
    [a, b] = [b, modulo(a, b)];
  }
  return a;
}

/** n!; 22003 for negative numbers and results beyond numeric. */
export function decimalFactorial(value: NumberOrBigint): Decimal {
  if (value < 0) {
    throw new DatabaseError(SQLSTATE.numericValueOutOfRange, "factorial of a negative number is undefined");
  }
  if (value > 32177) throw overflow();
  let result = 1n;
  for (let factor = 2n; factor <= BigInt(value); factor++) {
    // Each factor adds less than five digits.
    gas.charge(1 + Number(factor) / FACTORS_PER_STEP);
    result *= factor;
  }
  return Decimal.fromInteger(normalize(result));
}
