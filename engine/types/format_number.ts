/**
 * `to_char` of numbers. Locale symbols are those of the "C" locale: point, comma, and a blank as the currency.
 * Numbers too large for their template show `#`.
 *
 * The digits are written position by position, as PostgreSQL does it, because what a template means follows from that
 * order: where a floating sign is, which zeros FM drops, and that the text ends where digits are missing (a float
 * has 15 digits, a single 6).
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { Decimal, exactDecimal, exponentText } from "./decimal.ts";
import { ordinalSuffix } from "./format_date_time.ts";
import { absolute, checkInteger, modulo, powerOfTen, subtract } from "./number_or_bigint.ts";
import { numberTemplate } from "./number_template.ts";
import type { NumberTemplate } from "./number_template.ts";
import type { NumberOrBigint } from "./value.ts";

/** Digits ready to be laid out. */
interface Digits {
  /** Without sign; `NaN`, `Infinity` and `###.##` are texts too. */
  readonly text: string;
  readonly negative: boolean;
  /** Positions before and after the point, `V` included. */
  readonly whole: number;
  readonly fraction: number;
}

/** to_char of a numeric. */
export function formatNumberTemplate(value: Decimal, source: string): string {
  if (source === "") return "";
  const template = numberTemplate(source);
  if (template.has("RN")) {
    const rounded = checkInteger("i32", value.toInteger("integer"));
    return layOut(template, roman(Number(rounded)));
  }
  if (template.has("EEEE")) {
    return value.isFinite ? scientific(value, template.fraction) : noExponent(template);
  }
  const shifted = template.shift > 0
    ? value.multiply(Decimal.fromInteger(powerOfTen(template.shift)))
    : value;
  return layOut(template, fit(template, shifted.round(template.fraction).toString(), template.fraction));
}

/** to_char of an integer. */
export function formatIntegerTemplate(value: NumberOrBigint, source: string): string {
  return formatNumberTemplate(Decimal.fromInteger(value), source);
}

/** to_char of a float, which shows at most `precision` digits: 15, or 6 for a single. */
export function formatFloatTemplate(value: number, source: string, precision: number): string {
  if (source === "") return "";
  const template = numberTemplate(source);
  if (template.has("RN")) return layOut(template, roman(Number(exactDigits(value, 0))));
  if (template.has("EEEE")) {
    if (!Number.isFinite(value)) return noExponent(template);
    const text = exponentText(value, template.fraction);
    return text.startsWith("-") ? text : ` ${text}`;
  }
  const shifted = template.shift > 0 ? value * 10 ** template.shift : value;
  const wholeDigits = exactDigits(Math.abs(shifted), 0).length;
  const fraction = Math.max(0, Math.min(template.fraction, precision - wholeDigits));
  return layOut(template, fit(template, exactDigits(shifted, fraction), fraction));
}

/** The decimal text of a double with that many digits after the point; halves of its exact value go to even. */
function exactDigits(value: number, fraction: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
  const exact = exactDecimal(Math.abs(value));
  let rounded = exact.round(fraction);
  const isTie = rounded.subtract(exact).equals(Decimal.of(5, fraction + 1));
  if (isTie && modulo(rounded.coefficient, 2) !== 0) {
    rounded = Decimal.of(subtract(rounded.coefficient, 1), fraction);
  }
  return `${value < 0 || Object.is(value, -0) ? "-" : ""}${rounded.toString()}`;
}

/** The digits for a template; all `#` when there are more before the point than positions. */
function fit(template: NumberTemplate, text: string, fraction: number): Digits {
  const negative = text.startsWith("-");
  const unsigned = negative ? text.slice(1) : text;
  const point = unsigned.indexOf(".");
  const whole = template.whole + template.shift;
  const tooLong = (point < 0 ? unsigned.length : point) > whole;
  return {
    text: tooLong ? `${"#".repeat(whole)}.${"#".repeat(fraction)}` : unsigned,
    negative,
    whole,
    fraction,
  };
}

/** NaN and the infinities have no exponent. */
function noExponent(template: NumberTemplate): string {
  return ` ${"#".repeat(template.whole)}.${"#".repeat(template.fraction + 4)}`;
}

/** The mantissa is rounded after the exponent is chosen: 9.99 with one digit is 10.0e+00. */
function scientific(value: Decimal, fraction: number): string {
  const digits = String(absolute(value.coefficient));
  const exponent = value.isZero ? 0 : digits.length - 1 - value.scale;
  const kept = Math.max(0, digits.length - 1);
  // Digits that cannot change the rounding are cut: a numeric may have more of them than a mantissa's scale.
  const mantissa = kept <= 16000
    ? Decimal.of(value.abs().coefficient, kept)
    : Decimal.fromString(`${digits[0]}.${digits.slice(1, 16000)}`);
  const size = String(Math.abs(exponent)).padStart(2, "0");
  return `${value.sign < 0 ? "-" : " "}${mantissa.round(fraction).toString()}e${
    exponent < 0 ? "-" : "+"
  }${size}`;
}

const ROMAN: readonly (readonly [number, string])[] = [
  [1000, "M"],
  [900, "CM"],
  [500, "D"],
  [400, "CD"],
  [100, "C"],
  [90, "XC"],
  [50, "L"],
  [40, "XL"],
  [10, "X"],
  [9, "IX"],
  [5, "V"],
  [4, "IV"],
  [1, "I"],
];

function roman(value: number): Digits {
  let text = "";
  if (value >= 1 && value <= 3999) {
    let rest = value;
    for (const [size, letters] of ROMAN) {
      while (rest >= size) {
        text += letters;
        rest -= size;
      }
    }
  } else text = "#".repeat(15);
  return { text, negative: false, whole: 0, fraction: 0 };
}

/** Writes a template's nodes one after the other. */
function layOut(template: NumberTemplate, digits: Digits): string {
  const writer = new DigitWriter(template, digits);
  const isRoman = template.has("RN");
  const fill = template.has("FM");
  const sign = isRoman ? "" : digits.negative ? "-" : "+";
  for (const node of template.nodes) {
    if (writer.ended) break;
    if (node.kind === "character") {
      writer.output += node.text;
      continue;
    }
    switch (node.name) {
      case "9":
      case "0":
      case ".":
      case "D":
        if (!isRoman) writer.position(node.name === "0");
        break;
      case ",":
      case "G":
        if (writer.inNumber) writer.output += ",";
        else if (!fill) writer.output += " ";
        break;
      case "L":
        writer.output += " ";
        break;
      case "RN": {
        const text = node.written === "rn" ? digits.text.toLowerCase() : digits.text;
        writer.output += fill ? text : text.padStart(15);
        break;
      }
      case "TH":
        if (isRoman || digits.text.startsWith("#") || sign === "-" || template.has(".")) break;
        writer.output += ordinalOf(digits.text, node.written);
        break;
      case "MI":
        if (sign === "-") writer.output += "-";
        else if (!fill) writer.output += " ";
        break;
      case "PL":
        if (sign === "+") writer.output += "+";
        else if (!fill) writer.output += " ";
        break;
      case "SG":
        if (sign === "") writer.ended = true;
        writer.output += sign;
        break;
    }
  }
  return writer.output;
}

/** The state of writing digit positions. */
class DigitWriter {
  output = "";
  /** Whether the last position showed a digit. */
  inNumber = false;
  /** Whether the digits have ended before the template, which ends the text. */
  ended = false;
  readonly #digits: Digits;
  readonly #fill: boolean;
  /** The position from which zeros are shown, or infinity. */
  readonly #firstZero: number;
  readonly #sign: "before" | "after" | "brackets" | "floating";
  readonly #hasPoint: boolean;
  /** Positions without digits in front of the number. */
  readonly #blanks: number;
  /** The index of the last character that FM keeps after the point, or undefined to keep all. */
  readonly #lastKept: number | undefined;
  readonly #positions: number;
  #signWritten: boolean;
  #next = 0;
  #current = 0;

  constructor(template: NumberTemplate, digits: Digits) {
    const { text } = digits;
    this.#digits = digits;
    this.#fill = template.has("FM");
    this.#firstZero = template.firstZero ?? Infinity;
    this.#hasPoint = template.has(".");
    const point = text.indexOf(".");
    this.#blanks = Math.max(0, digits.whole - (point < 0 ? text.length : point));
    const ownSign = template.has("MI") || template.has("SG");
    const plusOnly = template.has("PL") && !ownSign;
    const signAtEnd = template.sign === "after" || digits.whole === template.positionsBeforeSign;
    this.#sign = template.sign !== "none"
      ? (signAtEnd ? "after" : "before")
      : template.has("PR") && !(this.#fill && !digits.negative)
      ? "brackets"
      : "floating";
    const silent = this.#fill && !digits.negative && template.sign === "none";
    this.#signWritten = ownSign || (!plusOnly && silent);
    this.#lastKept = this.#fill && this.#hasPoint ? this.#lastRelevant(template, point) : undefined;
    const first = digits.whole + digits.fraction - 1;
    this.#positions = first + (!this.#signWritten && this.#blanks === 0 ? 1 : 0);
  }

  /** The last digit after the point that is no trailing zero, or the point; not before the last `0` of the template. */
  #lastRelevant(template: NumberTemplate, point: number): number | undefined {
    const { text } = this.#digits;
    if (point < 0) return undefined;
    let last = text.length - 1;
    while (last > point && text[last] === "0") last--;
    if (template.lastZero > this.#blanks) {
      last = Math.max(last, Math.min(text.length - 1, template.lastZero - this.#blanks));
    }
    return last;
  }

  #endsWithPoint(): boolean {
    return this.#lastKept !== undefined && this.#digits.text[this.#lastKept] === ".";
  }

  /** A lone zero before the point is not shown by 9s. */
  #hidesZero(): boolean {
    const { text, fraction } = this.#digits;
    return this.#firstZero === Infinity && this.#next === 0 && text.startsWith("0") && fraction !== 0;
  }

  /** Writes one position: a digit, a blank, a leading zero or the point, with the signs that belong there. */
  position(isZero: boolean): void {
    const { text } = this.#digits;
    this.inNumber = false;
    const beforeDigits = this.#current < this.#blanks;
    const zeroStarts = this.#firstZero <= this.#current;
    if (
      !this.#signWritten && (!beforeDigits || this.#firstZero === this.#current) &&
      (!this.#hidesZero() || this.#endsWithPoint())
    ) {
      this.#leadingSign();
    }
    if (beforeDigits && !zeroStarts) {
      if (!this.#fill) this.output += " ";
    } else if (beforeDigits) {
      this.output += "0";
      this.inNumber = true;
    } else {
      this.#digit(isZero);
      if (this.#next < text.length) this.#next++;
    }
    const end = this.#lastKept !== undefined && this.#lastKept === this.#next
      ? this.#current
      : this.#positions + (this.#blanks > 0 ? 1 : 0) + (this.#hasPoint ? 1 : 0);
    if (this.#current + 1 === end) this.#trailingSign();
    this.#current++;
  }

  #leadingSign(): void {
    const { negative } = this.#digits;
    switch (this.#sign) {
      case "after":
        return;
      case "before":
        this.output += negative ? "-" : "+";
        break;
      case "brackets":
        this.output += negative ? "<" : " ";
        break;
      case "floating":
        if (negative) this.output += "-";
        else if (!this.#fill) this.output += " ";
    }
    this.#signWritten = true;
  }

  #digit(isZero: boolean): void {
    const { text } = this.#digits;
    const character = text[this.#next];
    if (character === ".") {
      this.output += ".";
    } else if (this.#lastKept !== undefined && this.#next > this.#lastKept && !isZero) {
      return;
    } else if (this.#hidesZero()) {
      if (!this.#fill) this.output += " ";
      else if (this.#endsWithPoint()) this.output += "0";
    } else if (character === undefined) {
      this.ended = true;
    } else {
      this.output += character;
      this.inNumber = true;
    }
  }

  #trailingSign(): void {
    if (this.ended) return;
    const { negative } = this.#digits;
    if (this.#signWritten && this.#sign === "brackets") this.output += negative ? ">" : " ";
    else if (this.#sign === "after") this.output += negative ? "-" : "+";
  }
}

function ordinalOf(digits: string, written: string): string {
  if (/\d$/.test(digits)) return ordinalSuffix(digits, written);
  throw new DatabaseError(SQLSTATE.invalidTextRepresentation, `"${digits}" is not a number`);
}
