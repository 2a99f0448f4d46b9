/**
 * Reads fields of COPY's text formats from bytes into columns of a batch.
 *
 * The common forms of numbers, texts, dates and timestamps are read from the bytes without making strings; everything
 * else, and everything that is wrong, goes through the type's text input, which decides. A reader gets the field after
 * unescaping; NULL has been recognized before.
 */
import { decodeUtf8, decodeUtf8Strict, invalidUtf8 } from "../../base/bytes.ts";
import { INTEGER_RANGES, type IntegerKind, isIntegerKind } from "../../types/number_or_bigint.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { toStored } from "../../types/stored_value.ts";
import { parseText, type TextOptions } from "../../types/text_io.ts";
import { BytesColumn, type ColumnBuilder, NumberColumn } from "../../transactions/batch_builder.ts";

/** Reads the bytes from `start` to `end` as the value of a row. */
export interface FieldReader {
  read(bytes: Uint8Array, start: number, end: number, row: number): void;
}

/** The reader for a column. */
export function fieldReader(type: SqlType, column: ColumnBuilder, options: TextOptions): FieldReader {
  const general = new GeneralReader(type, column, options);
  if (column instanceof BytesColumn) {
    switch (type.kind) {
      case "text":
        return new TextReader(column, general, Infinity, false);
      case "varchar":
        return new TextReader(column, general, type.length ?? Infinity, false);
      case "char":
        return new TextReader(column, general, type.length, true);
      default:
        return general;
    }
  }
  if (isIntegerKind(type.kind)) return new IntegerReader(type.kind, column, general);
  switch (type.kind) {
    case "f64":
      return new DecimalReader(column, general, null);
    case "numeric":
      return type.scale === undefined || type.scale < 0
        ? general
        : new DecimalReader(column, general, { precision: type.precision ?? 15, scale: type.scale });
    case "date":
      return new DateReader(column, general);
    case "timestamp":
      return "precision" in type ? general : new TimestampReader(column, general, false);
    case "timestamptz":
      return "precision" in type ? general : new TimestampReader(column, general, true);
    default:
      return general;
  }
}

/** The text of a field; 22021 when it is not UTF-8. */
export function fieldText(bytes: Uint8Array, start: number, end: number): string {
  const piece = bytes.subarray(start, end);
  const text = decodeUtf8Strict(piece);
  if (text !== undefined) return text;
  throw invalidUtf8(piece);
}

/** Any type, by its text input. */
class GeneralReader implements FieldReader {
  readonly #type: SqlType;
  readonly #column: ColumnBuilder;
  readonly #options: TextOptions;

  constructor(type: SqlType, column: ColumnBuilder, options: TextOptions) {
    this.#type = type;
    this.#column = column;
    this.#options = options;
  }

  read(bytes: Uint8Array, start: number, end: number, row: number): void {
    const stored = toStored(this.#type, parseText(this.#type, fieldText(bytes, start, end), this.#options));
    const column = this.#column;
    if (stored === null) column.setNull(row);
    else if (column instanceof NumberColumn) column.set(row, stored as number | bigint);
    else {
      const value = typeof stored === "string" ? new TextEncoder().encode(stored) : stored as Uint8Array;
      column.set(row, value, 0, value.length);
    }
  }
}

/** TEXT, VARCHAR(n), CHAR(n): short enough in bytes means short enough in characters. */
class TextReader implements FieldReader {
  readonly #column: BytesColumn;
  readonly #general: FieldReader;
  readonly #limit: number;
  readonly #trims: boolean;

  constructor(column: BytesColumn, general: FieldReader, limit: number, trims: boolean) {
    this.#column = column;
    this.#general = general;
    this.#limit = limit;
    this.#trims = trims;
  }

  read(bytes: Uint8Array, start: number, end: number, row: number): void {
    let last = end;
    if (this.#trims) { while (last > start && bytes[last - 1] === 32) last--; }
    if (last - start > this.#limit || !isPlainAscii(bytes, start, last)) {
      if (last - start > this.#limit) this.#general.read(bytes, start, end, row);
      else {
        fieldText(bytes, start, last);
        if (bytes.subarray(start, last).includes(0)) this.#general.read(bytes, start, end, row);
        else this.#column.set(row, bytes, start, last);
      }
      return;
    }
    this.#column.set(row, bytes, start, last);
  }
}

/** Whether all bytes are ASCII and none is zero. */
function isPlainAscii(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (((bytes[at] as number) - 1 & 0xff) >= 127) return false;
  return true;
}

/** Integers of at most 15 digits. */
class IntegerReader implements FieldReader {
  readonly #column: NumberColumn;
  readonly #general: FieldReader;
  readonly #low: number;
  readonly #high: number;

  constructor(kind: IntegerKind, column: NumberColumn, general: FieldReader) {
    this.#column = column;
    this.#general = general;
    const [low, high] = INTEGER_RANGES[kind];
    this.#low = Number(low);
    this.#high = Number(high);
  }

  read(bytes: Uint8Array, start: number, end: number, row: number): void {
    let at = start;
    const negative = bytes[at] === 45;
    if (negative) at++;
    if (at < end && end - at <= 15) {
      let value = 0;
      for (; at < end; at++) {
        const digit = (bytes[at] as number) - 48;
        if (digit < 0 || digit > 9) break;
        value = value * 10 + digit;
      }
      if (at === end) {
        if (negative) value = 0 - value;
        if (value >= this.#low && value <= this.#high) {
          const column = this.#column;
          if (column.nulls !== null) column.nulls[row] = 0;
          column.data[row] = value;
          return;
        }
      }
    }
    this.#general.read(bytes, start, end, row);
  }
}

const POWERS = Array.from({ length: 23 }, (_, exponent) => 10 ** exponent);

/**
 * Decimal numbers of at most 15 digits: exact as scaled integers; for floats digits and power of ten are exact, so that
 * one division rounds correctly.
 */
class DecimalReader implements FieldReader {
  readonly #column: NumberColumn;
  readonly #general: FieldReader;
  readonly #scale: number;
  readonly #isFloat: boolean;
  readonly #limit: number;

  constructor(
    column: NumberColumn,
    general: FieldReader,
    numeric: { readonly precision: number; readonly scale: number } | null,
  ) {
    this.#column = column;
    this.#general = general;
    this.#isFloat = numeric === null;
    this.#scale = numeric?.scale ?? 0;
    this.#limit = 10 ** Math.min(15, numeric?.precision ?? 15);
  }

  read(bytes: Uint8Array, start: number, end: number, row: number): void {
    let at = start;
    const negative = bytes[at] === 45;
    if (negative) at++;
    const size = end - at;
    if (size > 0 && size <= 16) {
      let value = 0, digits = 0, point = -1;
      for (; at < end; at++) {
        const code = bytes[at] as number;
        if (code === 46 && point < 0) {
          point = at;
          continue;
        }
        const digit = code - 48;
        if (digit < 0 || digit > 9) break;
        value = value * 10 + digit;
        digits++;
      }
      const fraction = point < 0 ? 0 : end - 1 - point;
      if (at === end && digits > 0 && digits <= 15 && this.#store(value, negative, digits, fraction, row)) {
        return;
      }
    }
    this.#general.read(bytes, start, end, row);
  }

  #store(value: number, negative: boolean, digits: number, fraction: number, row: number): boolean {
    let result: number;
    if (this.#isFloat) {
      result = value / (POWERS[fraction] as number);
      if (negative) result = -result;
    } else {
      const missing = this.#scale - fraction;
      if (missing < 0 || digits + missing > 15) return false;
      result = value * (POWERS[missing] as number);
      if (result >= this.#limit) return false;
      if (negative) result = 0 - result;
    }
    const column = this.#column;
    if (column.nulls !== null) column.nulls[row] = 0;
    column.data[row] = result;
    return true;
  }
}

function digitsAt(bytes: Uint8Array, at: number, count: number): number {
  let value = 0;
  for (let index = 0; index < count; index++) {
    const digit = (bytes[at + index] as number) - 48;
    if (!(digit >= 0 && digit <= 9)) return NaN;
    value = value * 10 + digit;
  }
  return value;
}

const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Days since 2000-01-01 of `YYYY-MM-DD`, or NaN. */
function isoDate(bytes: Uint8Array, at: number): number {
  if (bytes[at + 4] !== 45 || bytes[at + 7] !== 45) return NaN;
  const year = digitsAt(bytes, at, 4), month = digitsAt(bytes, at + 5, 2), day = digitsAt(bytes, at + 8, 2);
  if (!(year >= 1 && month >= 1 && month <= 12 && day >= 1)) return NaN;
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  if (day > (MONTH_DAYS[month - 1] as number) + (month === 2 && isLeap ? 1 : 0)) return NaN;
  // Days from civil (Hinnant): the year begins in March, so that leap days come last.
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 730_425;
}

/** `YYYY-MM-DD`. */
class DateReader implements FieldReader {
  readonly #column: NumberColumn;
  readonly #general: FieldReader;

  constructor(column: NumberColumn, general: FieldReader) {
    this.#column = column;
    this.#general = general;
  }

  read(bytes: Uint8Array, start: number, end: number, row: number): void {
    const days = end - start === 10 ? isoDate(bytes, start) : NaN;
    if (days !== days) this.#general.read(bytes, start, end, row);
    else {
      if (this.#column.nulls !== null) this.#column.nulls[row] = 0;
      this.#column.data[row] = days;
    }
  }
}

/** `YYYY-MM-DD HH:MM:SS[.ffffff]`, for TIMESTAMPTZ with `Z`, `+00` or another offset in hours. */
class TimestampReader implements FieldReader {
  readonly #column: NumberColumn;
  readonly #general: FieldReader;
  readonly #hasZone: boolean;

  constructor(column: NumberColumn, general: FieldReader, hasZone: boolean) {
    this.#column = column;
    this.#general = general;
    this.#hasZone = hasZone;
  }

  read(bytes: Uint8Array, start: number, end: number, row: number): void {
    const value = this.#parse(bytes, start, end);
    if (!Number.isSafeInteger(value)) this.#general.read(bytes, start, end, row);
    else {
      if (this.#column.nulls !== null) this.#column.nulls[row] = 0;
      this.#column.data[row] = value;
    }
  }

  #parse(bytes: Uint8Array, start: number, end: number): number {
    if (end - start < 19) return NaN;
    const separator = bytes[start + 10];
    if (separator !== 32 && separator !== 84 || bytes[start + 13] !== 58 || bytes[start + 16] !== 58) {
      return NaN;
    }
    const days = isoDate(bytes, start);
    const hour = digitsAt(bytes, start + 11, 2), minute = digitsAt(bytes, start + 14, 2);
    const second = digitsAt(bytes, start + 17, 2);
    if (!(hour <= 23 && minute <= 59 && second <= 59)) return NaN;
    let at = start + 19, fraction = 0;
    if (at < end && bytes[at] === 46) {
      at++;
      let place = 100_000;
      for (; at < end; at++, place /= 10) {
        const digit = (bytes[at] as number) - 48;
        if (digit < 0 || digit > 9) break;
        if (place < 1) return NaN;
        fraction += digit * place;
      }
    }
    const local = days * 86_400_000_000 + hour * 3_600_000_000 + minute * 60_000_000 + second * 1_000_000 +
      fraction;
    // UTC, as JSON has it; a time without zone does not look at the one it is given.
    if (at === end - 1 && bytes[at] === 90) return local;
    if (!this.#hasZone) return at === end ? local : NaN;
    const sign = bytes[at];
    if (end - at !== 3 || sign !== 43 && sign !== 45) return NaN;
    const offset = digitsAt(bytes, at + 1, 2);
    return offset <= 15 ? local - (sign === 43 ? offset : -offset) * 3_600_000_000 : NaN;
  }
}

/** A field as it is shown in an error's context. */
export function shownField(bytes: Uint8Array, start: number, end: number): string {
  const text = decodeUtf8(bytes.subarray(start, Math.min(end, start + 400)));
  return text.length > 100 ? `${text.slice(0, 100)}...` : text;
}
