/**
 * Texts of booleans, integers, floating-point numbers, UUIDs and byte strings, as PostgreSQL reads and prints them.
 *
 * Floating-point numbers print with the fewest digits that read back as the same value, with an exponent below 1e-4
 * and from 1e15 (1e6 for single precision) on. All parsers ignore white space around the value.
 */
import { decodeUtf8 } from "../base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { Decimal, decimalDigits, exactDecimal } from "./decimal.ts";
import { INTEGER_NAMES, INTEGER_RANGES, normalize } from "./number_or_bigint.ts";
import type { IntegerKind } from "./number_or_bigint.ts";
import type { NumberOrBigint } from "./value.ts";

/** The error of a text that is no value of the type. */
export function invalidText(typeName: string, text: string): DatabaseError {
  return new DatabaseError(
    SQLSTATE.invalidTextRepresentation,
    `invalid input syntax for type ${typeName}: "${text}"`,
  );
}

/**
 * What `t`, `true`, `yes`, `on`, `1`, their opposites and their unambiguous beginnings say; undefined for other
 * texts.
 */
export function truthOf(text: string): boolean | undefined {
  switch (text.toLowerCase()) {
    case "t":
    case "tr":
    case "tru":
    case "true":
    case "y":
    case "ye":
    case "yes":
    case "on":
    case "1":
      return true;
    case "f":
    case "fa":
    case "fal":
    case "fals":
    case "false":
    case "n":
    case "no":
    case "of":
    case "off":
    case "0":
      return false;
    default:
      return undefined;
  }
}

/** Parses a boolean. */
export function parseBoolean(text: string): boolean {
  const truth = truthOf(text.trim());
  if (truth === undefined) throw invalidText("boolean", text);
  return truth;
}

/** Parses a decimal integer of an integer type; 22P02 when it is none, 22003 when the type cannot hold it. */
export function parseInteger(kind: IntegerKind, text: string): NumberOrBigint {
  const value = parseDigits(text);
  if (value === undefined) throw invalidText(INTEGER_NAMES[kind], text);
  const [low, high] = INTEGER_RANGES[kind];
  if (value >= low && value <= high) return value;
  // PostgreSQL reads negative oids as their unsigned counterparts.
  if (kind === "oid" && value < 0 && value >= -2147483648) return Number(value) + 4294967296;
  throw new DatabaseError(
    SQLSTATE.numericValueOutOfRange,
    `value "${text}" is out of range for type ${INTEGER_NAMES[kind]}`,
  );
}

/** Reads an optional sign and digits between white space; undefined for anything else. */
function parseDigits(text: string): NumberOrBigint | undefined {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  let position = start;
  const sign = text.charCodeAt(position);
  if (sign === 45 || sign === 43) position++;
  if (position === end) return undefined;
  const short = end - position <= 15;
  let value = 0;
  for (let index = position; index < end; index++) {
    const digit = text.charCodeAt(index) - 48;
    if (!(digit >= 0 && digit <= 9)) return undefined;
    if (short) value = value * 10 + digit;
  }
  if (short) return sign === 45 ? 0 - value : value;
  const big = BigInt(text.slice(position, end));
  return normalize(sign === 45 ? -big : big);
}

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

/** A number in C's hexadecimal notation: `0x1.8p3`. */
const HEXADECIMAL = /^\s*([+-]?)0x([0-9a-f]*)\.?([0-9a-f]*)(?:p([+-]?\d+))?\s*$/i;

const FLOAT = /^[ \t\n\r\f\v]*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[ \t\n\r\f\v]*$/;

/** Parses a `double precision` or, with `single`, a `real`; 22P02, and 22003 when the value over- or underflows. */
export function parseFloatText(text: string, single = false): number {
  const name = single ? "real" : "double precision";
  const match = FLOAT.exec(text);
  if (match === null) {
    const hexadecimal = HEXADECIMAL.exec(text);
    if (hexadecimal !== null && /x\.?[0-9a-f]/i.test(text)) {
      return parseHexadecimal(hexadecimal, text.trim(), single);
    }
    switch (text.trim().toLowerCase()) {
      case "nan":
        return NaN;
      case "infinity":
      case "+infinity":
      case "inf":
      case "+inf":
        return Infinity;
      case "-infinity":
      case "-inf":
        return -Infinity;
      default:
        throw invalidText(name, text);
    }
  }
  const digits = match[1] ?? "";
  const exact = Number(digits);
  const value = single ? roundToSingle(exact, digits) : exact;
  const isZeroText = !/^[^eE]*[1-9]/.test(digits);
  if (!Number.isFinite(value) || (value === 0 && !isZeroText)) {
    throw new DatabaseError(SQLSTATE.numericValueOutOfRange, `"${digits}" is out of range for type ${name}`);
  }
  return value;
}

function parseHexadecimal(match: RegExpExecArray, text: string, single: boolean): number {
  const [, sign, whole = "", fraction = "", exponent = "0"] = match;
  const digits = BigInt(`0x${whole}${fraction}`);
  if (digits === 0n) return sign === "-" ? -0 : 0;
  const size = digits.toString(2).length;
  // The value is digits times two to the scale; below the lowest bit that the type has at this size, the rest is
  // rounded to even.
  const scale = Math.max(-1e6, Math.min(1e6, Number(exponent))) - 4 * fraction.length;
  const lowest = Math.max(scale + size - (single ? 24 : 53), single ? -149 : -1074);
  const drop = Math.max(0, Math.min(lowest - scale, size + 2));
  const half = 1n << BigInt(drop) >> 1n;
  const rest = digits & ((1n << BigInt(drop)) - 1n);
  let kept = digits >> BigInt(drop);
  if (drop > 0 && (rest > half || (rest === half && (kept & 1n) === 1n))) kept += 1n;
  // Each factor is exact: what is kept has no more bits than the type, and its lowest one is not below the type's.
  const shift = drop > 0 ? Math.max(lowest, scale) : scale;
  const value = Number(kept) * 2 ** Math.floor(shift / 2) * 2 ** Math.ceil(shift / 2);
  const isOutOfRange = single ? value > MAX_SINGLE : !Number.isFinite(value);
  if (isOutOfRange || value === 0) {
    const name = single ? "real" : "double precision";
    throw new DatabaseError(SQLSTATE.numericValueOutOfRange, `"${text}" is out of range for type ${name}`);
  }
  return sign === "-" ? -value : value;
}

const MAX_SINGLE = 2 ** 128 - 2 ** 104;

/**
 * The single nearest to a decimal text whose nearest double is given. Rounding twice errs only where the double is half
 * way between two singles and the text is not.
 */
function roundToSingle(double: number, text: string): number {
  const single = Math.fround(double);
  if (single === double) return single;
  const other = Number.isFinite(single) ? 2 * double - single : Math.sign(double) * MAX_SINGLE;
  if (!Number.isFinite(single) && 2 * double - other !== Math.sign(double) * 2 ** 128) return single;
  if (Math.fround(other) !== other) return single;
  const order = Decimal.fromString(text).compare(exactDecimal(double));
  return order === 0 || (order > 0) === (single > double) ? single : other;
}

/** The text of a `double precision` in PostgreSQL's shortest form. */
export function formatFloat64(value: number): string {
  const magnitude = Math.abs(value);
  if (magnitude < 1e15 && magnitude >= 1e-4) return String(value);
  const text = String(value);
  // Only there a text of 17 digits can lie exactly half way between two doubles.
  const mayBeHalfWay = magnitude >= 2 ** 53 && magnitude < 1e41;
  return formatShortest(value, mayBeHalfWay ? withoutHalfWay(value, text) : text);
}

/** The shortest text that is nearer to the value than to any other double; as near to another is not enough. */
function withoutHalfWay(value: number, shortest: string): string {
  if (!isHalfWay(value, shortest)) return shortest;
  for (let digits = 1; digits <= 17; digits++) {
    const text = value.toPrecision(digits);
    if (Number(text) === value && !isHalfWay(value, text)) return text;
  }
  return shortest;
}

/** Whether an integral decimal text, which reads as the value of at least 2^53, is as near to another double. */
function isHalfWay(value: number, text: string): boolean {
  const distance = Decimal.fromString(text).subtract(Decimal.fromInteger(normalize(BigInt(value))));
  if (distance.isZero) return false;
  const unit = 2n ** BigInt(Math.floor(Math.log2(Math.abs(value))) - 53);
  const halves = distance.abs().divide(Decimal.fromInteger(normalize(unit)));
  // The next double toward zero is half as far away from a power of two as the one beyond it.
  const isTowardZero = distance.sign !== Math.sign(value);
  const isPower = Number.isInteger(Math.log2(Math.abs(value)));
  return halves.equals(Decimal.ONE) || (isPower && isTowardZero && halves.equals(Decimal.of(5, 1)));
}

/** The text of a `real` in PostgreSQL's shortest form. */
export function formatFloat32(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return Object.is(value, -0) ? "-0" : String(value);
  if (!Number.isFinite(value)) return formatShortest(value, "");
  // Six digits identify every normal single; those beyond the shortest show as zeros at the end.
  for (let digits = Math.abs(value) < 1.1754943508222875e-38 ? 1 : 6; digits < 9; digits++) {
    const nearest = decimalDigits(value, digits);
    if (isSingleAlone(value, nearest)) return formatSingle(value, nearest);
    // The next single away from zero is twice as far from a power of two as the one toward it.
    const beyond = awayFromZero(nearest, digits);
    if (isSingleAlone(value, beyond)) return formatSingle(value, beyond);
  }
  return formatSingle(value, decimalDigits(value, 9));
}

/** Whether a decimal text is nearer to the single than to any other; as near to another is not enough. */
function isSingleAlone(value: number, text: string): boolean {
  const double = Number(text);
  if (Math.fround(double) !== value) return false;
  const other = 2 * double - value;
  return double === value || Math.fround(other) !== other;
}

/** The next decimal of as many digits. */
function awayFromZero(text: string, digits: number): string {
  const double = Number(text);
  const exponent = Number(double.toExponential(digits - 1).split("e")[1]) - digits + 1;
  return (double + Math.sign(double) * Number(`1e${exponent}`)).toPrecision(digits);
}

function formatSingle(value: number, text: string): string {
  const trimmed = String(Number(text));
  // The digits decide, not the value: the nearest single to 0.0001 lies below it.
  const magnitude = Math.abs(Number(text));
  if (magnitude >= 1e-4 && magnitude < 1e6) return trimmed;
  return formatShortest(value, trimmed);
}

/** Rewrites the digits of a text in exponent form. */
function formatShortest(value: number, text: string): string {
  if (Number.isNaN(value)) return "NaN";
  if (value === Infinity) return "Infinity";
  if (value === -Infinity) return "-Infinity";
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const [digits = "", exponent = "0"] = text.replace(/^-/, "").split("e");
  const [whole = "", fraction = ""] = digits.split(".");
  const significant = (whole + fraction).replace(/^0+/, "");
  const leadingZeros = whole.length + fraction.length - significant.length;
  const power = Number(exponent) + whole.length - 1 - leadingZeros;
  const size = Math.abs(power);
  const shown = significant.replace(/0+$/, "");
  const mantissa = `${value < 0 ? "-" : ""}${shown[0]}${shown.length > 1 ? `.${shown.slice(1)}` : ""}`;
  return `${mantissa}e${power < 0 ? "-" : "+"}${size < 10 ? `0${size}` : size}`;
}

const PLAIN_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const ANY_UUID = /^(?:[0-9a-fA-F]{4}-?){7}[0-9a-fA-F]{4}$/;

/** Parses PostgreSQL's forms of a UUID to its 36 characters in lower case. */
export function parseUuid(text: string): string {
  if (PLAIN_UUID.test(text)) return text;
  const braced = text.startsWith("{") && text.endsWith("}");
  const inner = braced ? text.slice(1, -1) : text;
  if (!ANY_UUID.test(inner)) throw invalidText("uuid", text);
  const hex = inner.replaceAll("-", "").toLowerCase();
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** The sixteen bytes of a UUID. */
export function uuidToBytes(uuid: string): Uint8Array {
  const hex = uuid.replaceAll("-", "");
  const bytes = new Uint8Array(16);
  for (let index = 0; index < 16; index++) bytes[index] = parseInt(hex.slice(index * 2, index * 2 + 2), 16);
  return bytes;
}

/** The UUID of sixteen bytes. */
export function uuidFromBytes(bytes: Uint8Array): string {
  const hex = bytes.toHex();
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** Parses pairs of hexadecimal digits, white space between pairs allowed; 22023 as PostgreSQL words it. */
export function parseHex(digits: string): Uint8Array {
  // A module of a megabyte takes 20 ms otherwise.
  if (digits.length % 2 === 0 && /^[0-9A-Fa-f]*$/.test(digits)) return Uint8Array.fromHex(digits);
  const bytes = new Uint8Array(digits.length >> 1);
  let length = 0;
  let high = -1;
  for (const character of digits) {
    const code = character.charCodeAt(0);
    if (high < 0 && isSpace(code)) continue;
    const lower = code | 32;
    const digit = code >= 48 && code <= 57 ? code - 48 : lower >= 97 && lower <= 102 ? lower - 87 : -1;
    if (digit < 0 || code > 0x7f) {
      throw new DatabaseError(SQLSTATE.invalidParameterValue, `invalid hexadecimal digit: "${character}"`);
    }
    if (high < 0) high = digit;
    else {
      bytes[length++] = high * 16 + digit;
      high = -1;
    }
  }
  if (high >= 0) {
    throw new DatabaseError(SQLSTATE.invalidParameterValue, "invalid hexadecimal data: odd number of digits");
  }
  return bytes.slice(0, length);
}

const utf8 = new TextEncoder();

/** Parses a byte string in hex (`\x1f`) or escape (`a\\b\001`) form. */
export function parseBytea(text: string): Uint8Array {
  if (text.startsWith("\\x")) return parseHex(text.slice(2));
  const source = utf8.encode(text);
  const bytes = new Uint8Array(source.length);
  let length = 0;
  for (let index = 0; index < source.length; index++) {
    const byte = source[index] as number;
    if (byte !== 0x5c) {
      bytes[length++] = byte;
      continue;
    }
    const [first = 0, second = 0, third = 0] = source.subarray(index + 1, index + 4);
    if (first === 0x5c) {
      bytes[length++] = 0x5c;
      index++;
    } else if (isOctal(first, 51) && isOctal(second, 55) && isOctal(third, 55)) {
      bytes[length++] = (first - 48) * 64 + (second - 48) * 8 + third - 48;
      index += 3;
    } else {
      throw new DatabaseError(SQLSTATE.invalidTextRepresentation, "invalid input syntax for type bytea");
    }
  }
  return bytes.slice(0, length);
}

function isOctal(code: number, highest: number): boolean {
  return code >= 48 && code <= highest;
}

/** The text of a byte string, `\x1f` or with `escape` the older form. */
export function formatBytea(bytes: Uint8Array, style: "hex" | "escape" = "hex"): string {
  if (style === "hex") return `\\x${bytes.toHex()}`;
  return escapeBytes(bytes, 0x20, 0x7e);
}

/** Bytes as a text in which backslashes are doubled, and what is less or more than these bounds is in octal. */
export function escapeBytes(bytes: Uint8Array, least: number, most: number): string {
  const escaped = new Uint8Array(bytes.length * 4);
  let length = 0;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] as number;
    const isPlain = byte >= least && byte <= most;
    if (byte === 0x5c || !isPlain) escaped[length++] = 0x5c;
    if (isPlain) escaped[length++] = byte;
    else {
      escaped[length++] = 0x30 + (byte >> 6);
      escaped[length++] = 0x30 + (byte >> 3 & 7);
      escaped[length++] = 0x30 + (byte & 7);
    }
  }
  return decodeUtf8(escaped.subarray(0, length));
}
