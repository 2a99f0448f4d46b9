/**
 * Equality and order of SQL values: comparing, keys for hash tables, and byte-comparable keys for ordered indexes.
 *
 * All three agree: `compareValues` is 0 exactly when the hash keys are the same and when the sort keys are. Values are
 * of one type and, for `compareValues` and `hashKey`, not null. A sort key is a text of characters 0 to 255 whose
 * order under JavaScript's `<` is the SQL order; each column's part tells its own end, so that keys of several columns
 * can be joined and the keys of a prefix of the columns are prefixes.
 */
import { encodeUtf8 } from "../base/bytes.ts";
import { compareBytes } from "../base/bytes.ts";
import { Decimal, decimalExponent } from "./decimal.ts";
import { Interval } from "./interval.ts";
import { compareJson, isJsonArray, isJsonObject, jsonHashKey, parseJson } from "./json.ts";
import type { JsonValue } from "./json.ts";
import { absolute, compareNumbersOrBigints } from "./number_or_bigint.ts";
import { elementOf, fieldTypesOf, physicalTypeOf } from "./physical_type.ts";
import { compareArrays, SqlArray } from "./sql_array.ts";
import type { SqlType } from "./sql_type.ts";
import { compareCharacters, compareText, trimTrailingSpaces } from "./text.ts";
import type { NumberOrBigint, SqlRecord, SqlValue } from "./value.ts";

/** Order of two values. */
export type Order = -1 | 0 | 1;

/** Order of two floating-point numbers: NaN equals NaN and is greater than all others, -0 equals 0. */
export function compareFloats(left: number, right: number): Order {
  if (left < right) return -1;
  if (left > right) return 1;
  if (left === right) return 0;
  const leftNaN = Number.isNaN(left);
  return leftNaN === Number.isNaN(right) ? 0 : leftNaN ? 1 : -1;
}

/** Order of two non-null values of a type, as SQL's `<` and `=` have it. */
export function compareValues(type: SqlType, left: SqlValue, right: SqlValue): Order {
  switch (physicalTypeOf(type).class) {
    case "boolean":
      return left === right ? 0 : left === true ? 1 : -1;
    case "integer":
      return compareNumbersOrBigints(left as NumberOrBigint, right as NumberOrBigint);
    case "float":
      return compareFloats(left as number, right as number);
    case "decimal":
      return (left as Decimal).compare(right as Decimal);
    case "text":
      if (type.kind === "jsonb") {
        return left === right ? 0 : compareJson(parseJson(left as string), parseJson(right as string));
      }
      return type.kind === "char"
        ? compareCharacters(left as string, right as string)
        : compareText(left as string, right as string);
    case "bytes":
      return compareBytes(left as Uint8Array, right as Uint8Array);
    case "interval":
      return (left as Interval).compare(right as Interval);
    case "array": {
      const element = elementOf(type);
      return compareArrays(left as SqlArray, right as SqlArray, (a, b) => compareValues(element, a, b));
    }
    case "record":
      return compareRecords(fieldTypesOf(type), left as SqlRecord, right as SqlRecord);
    case "void":
      return 0;
  }
}

/** Row comparison for sorting: field by field, nulls last. */
function compareRecords(types: readonly SqlType[], left: SqlRecord, right: SqlRecord): Order {
  for (let index = 0; index < types.length; index++) {
    const type = types[index];
    const a = left.recordValues[index] ?? null;
    const b = right.recordValues[index] ?? null;
    if (type === undefined || (a === null && b === null)) continue;
    if (a === null || b === null) return a === null ? 1 : -1;
    const order = compareValues(type, a, b);
    if (order !== 0) return order;
  }
  return 0;
}

/** A Map key that is the same exactly for equal values of the type. */
export function hashKey(type: SqlType, value: SqlValue): number | string | bigint {
  switch (typeof value) {
    case "number":
      // Map keys already hold NaN equal to NaN and -0 equal to 0.
      return value;
    case "bigint":
      return value;
    case "boolean":
      return value ? 1 : 0;
    case "string":
      if (type.kind === "char") return trimTrailingSpaces(value);
      if (type.kind === "jsonb") return jsonHashKey(parseJson(value));
      return value;
  }
  if (value === null) return "\0null";
  if (value instanceof Decimal) {
    if (value.scale === 0 && value.isFinite) return value.coefficient;
    const trimmed = value.trimScale();
    return trimmed.scale === 0 && trimmed.isFinite ? trimmed.coefficient : trimmed.toString();
  }
  if (value instanceof Interval) return value.span();
  if (value instanceof Uint8Array) return latin1(value);
  if (value instanceof SqlArray) {
    const element = type.kind === "array" ? type.element : type;
    return compositeKey(value.elements.map((item) => [element, item])) +
      `|${value.dimensions.join(",")}|${value.lowerBounds.join(",")}`;
  }
  const fields = type.kind === "record" ? type.fields : [];
  return compositeKey(value.recordValues.map((item, index) => [fields[index]?.type ?? type, item]));
}

/** One key of several values that may be null; nulls equal each other, as in GROUP BY and DISTINCT. */
export function compositeHashKey(types: readonly SqlType[], values: readonly SqlValue[]): string {
  return compositeKey(types.map((type, index) => [type, values[index] ?? null]));
}

function compositeKey(parts: readonly (readonly [SqlType, SqlValue])[]): string {
  let key = "";
  for (const [type, value] of parts) {
    if (value === null) key += "n;";
    else {
      const part = String(hashKey(type, value));
      key += `${part.length}:${part};`;
    }
  }
  return key;
}

function latin1(bytes: Uint8Array): string {
  return bytes.length > 64 ? bytes.toHex() : `b${String.fromCharCode(...bytes)}`;
}

const NULL_FIRST = "\x00";
const PRESENT = "\x01";
const NULL_LAST = "\x02";

/** The sort key of a row of values; missing options mean ascending with nulls last. */
export function sortKey(
  types: readonly SqlType[],
  values: readonly SqlValue[],
  descending: readonly boolean[] = [],
  nullsFirst: readonly boolean[] = [],
): string {
  let key = "";
  for (let index = 0; index < values.length; index++) {
    const type = types[index];
    const value = values[index] ?? null;
    if (value === null || type === undefined) key += nullsFirst[index] === true ? NULL_FIRST : NULL_LAST;
    else {
      const part = encodeSortValue(type, value);
      key += PRESENT + (descending[index] === true ? invert(part) : part);
    }
  }
  return key;
}

/** Each character's complement to 255: the reversed order. */
function invert(key: string): string {
  let inverted = "";
  for (let index = 0; index < key.length; index++) {
    inverted += String.fromCharCode(255 - key.charCodeAt(index));
  }
  return inverted;
}

function encodeSortValue(type: SqlType, value: SqlValue): string {
  switch (physicalTypeOf(type).class) {
    case "boolean":
      return value === true ? "\x01" : "\x00";
    case "integer":
      return encodeInteger(value as NumberOrBigint);
    case "float":
      return encodeFloat(value as number);
    case "decimal":
      return encodeDecimal(value as Decimal);
    case "text":
      if (type.kind === "jsonb") return encodeJson(parseJson(value as string), true);
      return encodeText(type.kind === "char" ? trimTrailingSpaces(value as string) : value as string);
    case "bytes":
      return encodeByteString(value as Uint8Array);
    case "interval":
      return encodeInteger((value as Interval).span());
    case "array": {
      const array = value as SqlArray;
      const elementType = elementOf(type);
      let key = "";
      for (const element of array.elements) {
        key += element === null ? NULL_LAST : PRESENT + encodeSortValue(elementType, element);
      }
      key += NULL_FIRST + encodeInteger(array.dimensions.length);
      for (const dimension of [...array.dimensions, ...array.lowerBounds]) key += encodeInteger(dimension);
      return key;
    }
    case "record":
      return sortKey(fieldTypesOf(type), (value as SqlRecord).recordValues);
    case "void":
      return "";
  }
}

const CHARACTERS: readonly string[] = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code));

/** The length of the magnitude's bytes, biased by 0x80, then the bytes; complemented for negative numbers. */
function encodeInteger(value: NumberOrBigint): string {
  if (value === Infinity) return "\xff";
  if (value === -Infinity) return "\x00";
  let bytes = "";
  if (typeof value === "number") {
    let rest = value < 0 ? -value : value;
    while (rest > 0) {
      const byte = rest % 256;
      bytes = (CHARACTERS[byte] as string) + bytes;
      rest = (rest - byte) / 256;
    }
  } else {
    const hex = absolute(value).toString(16);
    const even = hex.length % 2 === 0 ? hex : `0${hex}`;
    for (let index = 0; index < even.length; index += 2) {
      bytes += CHARACTERS[parseInt(even.slice(index, index + 2), 16)] as string;
    }
  }
  // Integers have at most some thousand digits; above 126 bytes the length itself takes four bytes.
  const length = bytes.length < 0x7e
    ? CHARACTERS[0x80 + bytes.length] as string
    : `\xfe${
      String.fromCharCode(0, (bytes.length >> 16) & 255, (bytes.length >> 8) & 255, bytes.length & 255)
    }`;
  return value < 0 ? invert(length + bytes) : length + bytes;
}

const floatBytes = new DataView(new ArrayBuffer(8));

function encodeFloat(value: number): string {
  floatBytes.setFloat64(0, value + 0);
  if (Number.isNaN(value)) return "\xff\xff\xff\xff\xff\xff\xff\xff";
  let key = "";
  const negative = value < 0;
  for (let index = 0; index < 8; index++) {
    const byte = floatBytes.getUint8(index);
    key += CHARACTERS[negative ? 255 - byte : index === 0 ? byte | 0x80 : byte] as string;
  }
  return key;
}

/** Class, exponent and digit pairs; negative numbers complemented. */
function encodeDecimal(value: Decimal): string {
  switch (value.form) {
    case "nan":
      return "\x06";
    case "infinity":
      return "\x05";
    case "-infinity":
      return "\x01";
    case "finite":
      break;
  }
  if (value.coefficient === 0) return "\x03";
  const exponent = decimalExponent(value);
  const digits = String(absolute(value.coefficient)).replace(/0+$/, "");
  let key = encodeInteger(exponent);
  for (let index = 0; index < digits.length; index += 2) {
    key += CHARACTERS[Number(digits.slice(index, index + 2).padEnd(2, "0")) + 1] as string;
  }
  key += "\x00";
  return value.coefficient < 0 ? "\x02" + invert(key) : "\x04" + key;
}

/** UTF-8 bytes, a zero byte as 00 FF, and 00 00 at the end. */
function encodeText(text: string): string {
  let plain = true;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 0 || code >= 0x80) {
      plain = false;
      break;
    }
  }
  return plain ? `${text}\x00\x00` : encodeByteString(encodeUtf8(text));
}

function encodeByteString(bytes: Uint8Array): string {
  let key = "";
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] as number;
    key += byte === 0 ? "\x00\xff" : CHARACTERS[byte] as string;
  }
  return `${key}\x00\x00`;
}

function encodeJson(value: JsonValue, top: boolean): string {
  if (value === null) return "\x02";
  if (typeof value === "string") return "\x03" + encodeText(value);
  if (value instanceof Decimal) return "\x04" + encodeDecimal(value);
  if (typeof value === "boolean") return value ? "\x06" : "\x05";
  if (isJsonArray(value)) {
    if (top && value.length === 0) return "\x01";
    return "\x07" + encodeInteger(value.length) + value.map((item) => encodeJson(item, false)).join("");
  }
  let key = "\x08";
  if (isJsonObject(value)) {
    key += encodeInteger(value.size);
    for (const [name, item] of value) key += encodeText(name) + encodeJson(item, false);
  }
  return key;
}
