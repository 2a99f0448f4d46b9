/**
 * Arbitrary-precision decimal numbers: the values of `numeric` without a static scale.
 *
 * A finite {@link Decimal} is coefficient · 10^-scale with scale ≥ 0, and the scale is its display scale: 1.0 and 1.00
 * are equal but print differently, as in PostgreSQL. Besides there are NaN (equal to itself and greater than all else)
 * and the infinities. Coefficients are mixed integers, so that small values run as plain numbers.
 * Result scales follow PostgreSQL's: the larger one for sums, the sum for products, and at least 16 significant digits
 * for quotients. Limits: 131072 digits before the point and 16383 after it; beyond is 22003.
 * Roots, logarithms and powers are in `decimal_functions.ts`.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import {
  absolute,
  add,
  bigPowerOfTen,
  compareNumbersOrBigints,
  divide,
  divideRounded,
  divisionByZero,
  formatScaled,
  fromIntegralNumber,
  modulo,
  multiply,
  negate,
  normalize,
  powerOfTen,
  rescale,
  subtract,
} from "./number_or_bigint.ts";
import type { NumberOrBigint } from "./value.ts";

/** Quotients have at least this many significant digits. */
export const MINIMUM_SIGNIFICANT_DIGITS = 16;
/** Quotients and function results are never calculated to more digits after the point. */
export const MAX_RESULT_SCALE = 1000;
const MAX_SCALE = 16383;
/** The exponent of a text is less, even that of zero. */
const MAX_EXPONENT = 2 ** 30 - 1;
const MAX_WHOLE_DIGITS = 131072;

/** Whether a decimal is finite, and otherwise what it is. */
export type Form = "finite" | "nan" | "infinity" | "-infinity";

/** A decimal number. */
export class Decimal {
  /** Not a number. */
  static readonly NAN: Decimal = new Decimal(0, 0, "nan");
  /** Positive infinity. */
  static readonly INFINITY: Decimal = new Decimal(0, 0, "infinity");
  /** Negative infinity. */
  static readonly NEGATIVE_INFINITY: Decimal = new Decimal(0, 0, "-infinity");
  /** 0 with scale 0. */
  static readonly ZERO: Decimal = new Decimal(0, 0, "finite");
  /** 1 with scale 0. */
  static readonly ONE: Decimal = new Decimal(1, 0, "finite");

  /** The digits as an integer; 0 for NaN and the infinities. */
  readonly coefficient: NumberOrBigint;
  /** How many of the coefficient's digits are after the point; 0 for NaN and the infinities. */
  readonly scale: number;
  /** Whether it is finite, NaN or an infinity. */
  readonly form: Form;

  private constructor(coefficient: NumberOrBigint, scale: number, form: Form) {
    this.coefficient = coefficient;
    this.scale = scale;
    this.form = form;
  }

  /** coefficient · 10^-scale; the coefficient must be normalized and the scale not negative. */
  static of(coefficient: NumberOrBigint, scale: number): Decimal {
    if (typeof coefficient === "bigint") checkSize(coefficient, scale);
    return new Decimal(coefficient, scale, "finite");
  }

  /** The decimal of an integer. */
  static fromInteger(value: NumberOrBigint): Decimal {
    return new Decimal(value, 0, "finite");
  }

  /** The decimal that PostgreSQL casts a double to: its value at 15 significant digits (6 for single precision). */
  static fromNumber(value: number, significantDigits = 15): Decimal {
    if (Number.isNaN(value)) return Decimal.NAN;
    if (!Number.isFinite(value)) return value > 0 ? Decimal.INFINITY : Decimal.NEGATIVE_INFINITY;
    if (Number.isSafeInteger(value) && Math.abs(value) < 10 ** significantDigits) {
      return new Decimal(value + 0, 0, "finite");
    }
    return Decimal.#parseFinite(decimalDigits(value, significantDigits), true) ?? Decimal.NAN;
  }

  /** Parses PostgreSQL's input forms of numeric; 22P02 otherwise. */
  static fromString(text: string): Decimal {
    const parsed = Decimal.parse(text);
    if (parsed !== undefined) return parsed;
    throw new DatabaseError(
      SQLSTATE.invalidTextRepresentation,
      `invalid input syntax for type numeric: "${text}"`,
    );
  }

  /** Like {@link Decimal.fromString}, but undefined when the text is no number. */
  static parse(text: string): Decimal | undefined {
    const finite = Decimal.#parseFinite(text, false);
    if (finite !== undefined) return finite;
    switch (text.trim().toLowerCase()) {
      case "nan":
        return Decimal.NAN;
      case "infinity":
      case "+infinity":
      case "inf":
      case "+inf":
        return Decimal.INFINITY;
      case "-infinity":
      case "-inf":
        return Decimal.NEGATIVE_INFINITY;
      default:
        return undefined;
    }
  }

  static #parseFinite(text: string, trimZeros: boolean): Decimal | undefined {
    const match = /^[ \t\n\r\f\v]*([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?[ \t\n\r\f\v]*$/.exec(text);
    if (match === null) return undefined;
    const whole = match[2] ?? "";
    let fraction = match[3] ?? "";
    if (whole.length + fraction.length === 0) return undefined;
    if (trimZeros && fraction.endsWith("0")) fraction = fraction.replace(/0+$/, "");
    const exponent = match[4] === undefined ? 0 : Number(match[4]);
    if (Math.abs(exponent) >= MAX_EXPONENT) throw overflow();
    const digits = whole + fraction;
    let coefficient: NumberOrBigint = digits.length <= 15 ? Number(digits) : normalize(BigInt(digits));
    if (match[1] === "-") coefficient = negate(coefficient);
    let scale = fraction.length - exponent;
    if (scale < 0) {
      if (coefficient !== 0 && -scale + digits.length > MAX_WHOLE_DIGITS + MAX_SCALE) {
        throw overflow();
      }
      coefficient = coefficient === 0 ? 0 : multiply(coefficient, powerOfTen(-scale));
      scale = 0;
    }
    if (scale > MAX_SCALE) throw overflow();
    return Decimal.of(coefficient, scale);
  }

  /** Whether it is neither NaN nor infinite. */
  get isFinite(): boolean {
    return this.form === "finite";
  }

  /** Whether it is NaN. */
  get isNaN(): boolean {
    return this.form === "nan";
  }

  /** Whether it is finite and zero. */
  get isZero(): boolean {
    return this.form === "finite" && this.coefficient === 0;
  }

  /** -1, 0 or 1; NaN counts as 1. */
  get sign(): -1 | 0 | 1 {
    if (this.form === "finite") return this.coefficient === 0 ? 0 : this.coefficient < 0 ? -1 : 1;
    return this.form === "-infinity" ? -1 : 1;
  }

  /** PostgreSQL's text: plain digits with `scale` digits after the point, `NaN`, `Infinity` or `-Infinity`. */
  toString(): string {
    switch (this.form) {
      case "finite":
        return formatScaled(this.coefficient, this.scale);
      case "nan":
        return "NaN";
      case "infinity":
        return "Infinity";
      case "-infinity":
        return "-Infinity";
    }
  }

  /** The nearest double. */
  toNumber(): number {
    if (this.form === "finite") {
      if (this.scale === 0) return Number(this.coefficient);
      if (typeof this.coefficient === "number" && this.scale <= 22) {
        return this.coefficient / 10 ** this.scale;
      }
    }
    return Number(this.toString());
  }

  /** The value rounded to an integer, halves away from zero; 0A000 for NaN and the infinities, as `what` is named. */
  toInteger(what = "bigint"): NumberOrBigint {
    if (this.form === "finite") return rescale(this.coefficient, this.scale, 0);
    throw new DatabaseError(
      SQLSTATE.featureNotSupported,
      `cannot convert ${this.form === "nan" ? "NaN" : "infinity"} to ${what}`,
    );
  }

  /** The coefficient at a given scale, rounding half away from zero; only for finite values. */
  toScaled(scale: number): NumberOrBigint {
    return rescale(this.coefficient, this.scale, scale);
  }

  /** Sum. */
  add(other: Decimal): Decimal {
    if (this.form !== "finite" || other.form !== "finite") {
      if (this.form === "finite") return other;
      if (other.form === "finite" || this.form === "nan") return this;
      return other.form === this.form ? this : Decimal.NAN;
    }
    if (this.scale === other.scale) return Decimal.of(add(this.coefficient, other.coefficient), this.scale);
    const scale = Math.max(this.scale, other.scale);
    return Decimal.of(
      add(rescale(this.coefficient, this.scale, scale), rescale(other.coefficient, other.scale, scale)),
      scale,
    );
  }

  /** Difference. */
  subtract(other: Decimal): Decimal {
    return this.add(other.negate());
  }

  /** Product. */
  multiply(other: Decimal): Decimal {
    if (this.form !== "finite" || other.form !== "finite") {
      if (this.form === "nan" || other.form === "nan" || this.isZero || other.isZero) return Decimal.NAN;
      return this.sign * other.sign > 0 ? Decimal.INFINITY : Decimal.NEGATIVE_INFINITY;
    }
    const product = Decimal.of(multiply(this.coefficient, other.coefficient), this.scale + other.scale);
    return product.scale > MAX_SCALE ? product.round(MAX_SCALE) : product;
  }

  /** Quotient, rounded to PostgreSQL's scale for it; 22012 on a zero divisor. */
  divide(other: Decimal): Decimal {
    if (this.form !== "finite" || other.form !== "finite") return this.#divideSpecial(other);
    if (other.coefficient === 0) throw divisionByZero();
    return this.divideToScale(other, divisionScale(this, other));
  }

  #divideSpecial(other: Decimal): Decimal {
    if (this.form === "nan" || other.form === "nan") return Decimal.NAN;
    if (other.form !== "finite") return this.form === "finite" ? Decimal.ZERO : Decimal.NAN;
    if (other.coefficient === 0) throw divisionByZero();
    return this.sign * other.sign > 0 ? Decimal.INFINITY : Decimal.NEGATIVE_INFINITY;
  }

  /** Quotient of finite values rounded half away from zero to the given scale. */
  divideToScale(other: Decimal, scale: number): Decimal {
    if (other.coefficient === 0) throw divisionByZero();
    let dividend = this.coefficient;
    let divisor = other.coefficient;
    const shift = scale + other.scale - this.scale;
    if (shift >= 0) dividend = multiply(dividend, powerOfTen(shift));
    else divisor = multiply(divisor, powerOfTen(-shift));
    if (divisor < 0) {
      dividend = negate(dividend);
      divisor = negate(divisor);
    }
    return Decimal.of(divideRounded(dividend, divisor), scale);
  }

  /** Quotient cut to an integer (`div`). */
  divideInteger(other: Decimal): Decimal {
    if (this.form !== "finite" || other.form !== "finite") return this.#divideSpecial(other);
    if (other.coefficient === 0) throw divisionByZero();
    const scale = Math.max(this.scale, other.scale);
    const dividend = rescale(this.coefficient, this.scale, scale);
    return Decimal.of(divide(dividend, rescale(other.coefficient, other.scale, scale)), 0);
  }

  /** Remainder with the sign of this value; 22012 on a zero divisor. */
  modulo(other: Decimal): Decimal {
    if (this.form !== "finite" || other.form !== "finite") {
      if (this.form === "nan" || other.form === "nan") return Decimal.NAN;
      if (other.form === "finite" && other.coefficient === 0) throw divisionByZero();
      return this.form === "finite" ? this : Decimal.NAN;
    }
    if (other.coefficient === 0) throw divisionByZero();
    const scale = Math.max(this.scale, other.scale);
    const dividend = rescale(this.coefficient, this.scale, scale);
    return Decimal.of(modulo(dividend, rescale(other.coefficient, other.scale, scale)), scale);
  }

  /** The value with the other sign. */
  negate(): Decimal {
    switch (this.form) {
      case "finite":
        return new Decimal(negate(this.coefficient), this.scale, "finite");
      case "nan":
        return this;
      case "infinity":
        return Decimal.NEGATIVE_INFINITY;
      case "-infinity":
        return Decimal.INFINITY;
    }
  }

  /** The absolute value. */
  abs(): Decimal {
    return this.sign < 0 ? this.negate() : this;
  }

  /** Order: -Infinity, finite values, Infinity, NaN; NaN equals NaN. */
  compare(other: Decimal): -1 | 0 | 1 {
    if (this.form === "finite" && other.form === "finite") {
      if (this.scale === other.scale) return compareNumbersOrBigints(this.coefficient, other.coefficient);
      const scale = Math.max(this.scale, other.scale);
      return compareNumbersOrBigints(
        rescale(this.coefficient, this.scale, scale),
        rescale(other.coefficient, other.scale, scale),
      );
    }
    const left = formRank(this.form);
    const right = formRank(other.form);
    return left === right ? 0 : left < right ? -1 : 1;
  }

  /** Whether the values are equal, whatever their scales. */
  equals(other: Decimal): boolean {
    return this.compare(other) === 0;
  }

  /** Rounded half away from zero to that many digits after the point; negative counts digits before it. */
  round(scale = 0): Decimal {
    if (this.form !== "finite") return this;
    const wanted = Math.min(Math.max(scale, -MAX_WHOLE_DIGITS), MAX_SCALE);
    if (wanted >= 0) return Decimal.of(rescale(this.coefficient, this.scale, wanted), wanted);
    const rounded = divideRounded(this.coefficient, powerOfTen(this.scale - wanted));
    return Decimal.of(multiply(rounded, powerOfTen(-wanted)), 0);
  }

  /** Cut toward zero to that many digits after the point; negative counts digits before it. */
  trunc(scale = 0): Decimal {
    if (this.form !== "finite") return this;
    const wanted = Math.min(Math.max(scale, -MAX_WHOLE_DIGITS), MAX_SCALE);
    if (wanted >= this.scale) return Decimal.of(rescale(this.coefficient, this.scale, wanted), wanted);
    const cut = divide(this.coefficient, powerOfTen(this.scale - wanted));
    return wanted >= 0 ? Decimal.of(cut, wanted) : Decimal.of(multiply(cut, powerOfTen(-wanted)), 0);
  }

  /** The largest integer that is not greater. */
  floor(): Decimal {
    const cut = this.trunc(0);
    return this.form === "finite" && this.coefficient < 0 && cut.compare(this) !== 0
      ? Decimal.of(subtract(cut.coefficient, 1), 0)
      : cut;
  }

  /** The smallest integer that is not less. */
  ceil(): Decimal {
    return this.negate().floor().negate();
  }

  /** The smallest scale that shows the value exactly. */
  minScale(): number {
    return this.trimScale().scale;
  }

  /** The value without trailing zeros after the point. */
  trimScale(): Decimal {
    if (this.form !== "finite" || this.scale === 0) return this;
    if (this.coefficient === 0) return Decimal.ZERO;
    let coefficient = this.coefficient;
    let scale = this.scale;
    while (scale > 0 && modulo(coefficient, 10) === 0) {
      coefficient = divide(coefficient, 10);
      scale--;
    }
    return scale === this.scale ? this : new Decimal(coefficient, scale, "finite");
  }

  /** Equal values give equal texts: the value without needless zeros. */
  canonicalText(): string {
    return this.trimScale().toString();
  }
}

/**
 * A finite double with that many significant digits. Where it lies exactly half way between two such texts, JavaScript
 * takes the larger and the C library, hence PostgreSQL, the one that ends in an even digit.
 */
export function decimalDigits(value: number, significantDigits: number): string {
  return toEven(value, value.toPrecision(significantDigits), significantDigits);
}

/** A finite double in exponent form, such as `-1.50e+07`, with that many digits after the point. */
export function exponentText(value: number, fraction: number): string {
  const text = toEven(value, value.toExponential(fraction), fraction + 1);
  const sign = Object.is(value, -0) ? "-" : "";
  return sign + text.replace(/e([+-])(\d)$/, "e$10$2");
}

function toEven(value: number, text: string, significantDigits: number): string {
  const [mantissa = "", exponent] = text.split("e");
  if (!/[13579]$/.test(mantissa)) return text;
  // No double has this many zeros after a digit and others again.
  const precise = value.toPrecision(Math.min(100, significantDigits + 30)).split("e")[0] ?? "";
  const digits = precise.replace(/^[-0.]*/, "").replace(".", "");
  if (!/^50*$/.test(digits.slice(significantDigits))) return text;
  const even = mantissa.slice(0, -1) + String(Number(mantissa.at(-1)) - 1);
  return exponent === undefined ? even : `${even}e${exponent}`;
}

/** The exact value of a finite double. */
export function exactDecimal(value: number): Decimal {
  let whole = value;
  let halvings = 0;
  while (!Number.isInteger(whole)) {
    whole *= 2;
    halvings++;
  }
  return Decimal.of(normalize(BigInt(whole) * 5n ** BigInt(halvings)), halvings);
}

/** The number of decimal digits of an integer; 1 for zero. */
export function digitCount(value: NumberOrBigint): number {
  const magnitude = absolute(value);
  return String(magnitude).length;
}

/** Where the first significant digit is: value = 0.d… · 10^result; only for finite values other than zero. */
export function decimalExponent(value: Decimal): number {
  return digitCount(value.coefficient) - value.scale;
}

/** Raises 22003 `value overflows numeric format`. */
export function overflow(): DatabaseError {
  return new DatabaseError(SQLSTATE.numericValueOutOfRange, "value overflows numeric format");
}

/** A decimal from an integral or fractional number of any kind that the engine's values have. */
export function decimalFromNumberOrBigint(value: NumberOrBigint, scale = 0): Decimal {
  return Decimal.of(value, scale);
}

/** The decimal of an integral double, exactly. */
export function decimalFromIntegral(value: number): Decimal {
  return Decimal.fromInteger(fromIntegralNumber(value));
}

function formRank(form: Form): number {
  return form === "-infinity" ? 0 : form === "finite" ? 1 : form === "infinity" ? 2 : 3;
}

function checkSize(coefficient: bigint, scale: number): void {
  // Cheap for all but enormous values: only then are limits made, which takes milliseconds.
  if (typeof coefficient !== "bigint" || (coefficient < LARGE && coefficient > -LARGE)) return;
  wholeLimit ??= bigPowerOfTen(MAX_WHOLE_DIGITS);
  if (coefficient < wholeLimit && coefficient > -wholeLimit) return;
  const limit = wholeLimit * bigPowerOfTen(scale);
  if (coefficient >= limit || coefficient <= -limit) throw overflow();
}

const LARGE = 10n ** 1000n;
/** The least coefficient that is too large at scale 0; within it every scale is right. */
let wholeLimit: bigint | undefined;

/** The scale of a quotient as PostgreSQL selects it, from the leading base-10000 digits of both operands. */
function divisionScale(dividend: Decimal, divisor: Decimal): number {
  const [weightLeft, digitLeft] = leadingDigit(dividend);
  const [weightRight, digitRight] = leadingDigit(divisor);
  const weight = weightLeft - weightRight - (digitLeft <= digitRight ? 1 : 0);
  const scale = Math.max(MINIMUM_SIGNIFICANT_DIGITS - weight * 4, dividend.scale, divisor.scale, 0);
  return Math.min(scale, MAX_RESULT_SCALE);
}

/** Weight and value of the first digit in base 10000; zero has weight 0 and digit 0. */
export function leadingDigit(value: Decimal): [weight: number, digit: number] {
  if (value.coefficient === 0) return [0, 0];
  const digits = String(absolute(value.coefficient));
  const exponent = digits.length - value.scale;
  const weight = Math.floor((exponent - 1) / 4);
  const count = exponent - weight * 4;
  return [weight, Number(digits.slice(0, count).padEnd(count, "0"))];
}
