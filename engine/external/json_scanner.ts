/**
 * Reads JSON (RFC 8259) from bytes without building values: fields that are wanted go straight into the columns of the
 * row, all others are only checked. Numbers stay the digits that were written, so that none loses any.
 *
 * A key that comes twice in an object counts the last time, as for every reader of JSON. Bytes of texts that fill a
 * column are checked to be UTF-8, others are not looked at. Limit: nesting of `LIMITS.maximumJsonDepth`.
 */
import { decodeUtf8, encodeUtf8 } from "../base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import type { RowTarget, TargetColumn } from "../statements/refresh/row_target.ts";
import type { JsonField } from "./json_fields.ts";
import { isIntegerKind } from "../types/number_or_bigint.ts";

const QUOTE = 34, BACKSLASH = 92, COMMA = 44, COLON = 58, OPEN_OBJECT = 123, CLOSE_OBJECT = 125;
const OPEN_ARRAY = 91, CLOSE_ARRAY = 93, MINUS = 45, PLUS = 43, POINT = 46, ZERO = 48, NINE = 57;

/** How a column takes JSON values. */
type Taking = "document" | "text" | "integer" | "array" | "other";

function takingOf({ type }: TargetColumn): Taking {
  if (isIntegerKind(type.kind)) return "integer";
  switch (type.kind) {
    case "json":
    case "jsonb":
      return "document";
    case "text":
    case "varchar":
    case "char":
      return "text";
    case "array":
      return "array";
    default:
      return "other";
  }
}

/** See the file's head. */
export class JsonScanner {
  /** Where the paging path led in this page; empty: to null, false or an empty text; null: it led nowhere. */
  paging: string | null = null;
  readonly #target: RowTarget;
  readonly #takings: readonly Taking[];
  #bytes: Uint8Array = new Uint8Array(0);
  #at = 0;
  #end = 0;
  #depth = 0;
  #scratch = new Uint8Array(256);

  constructor(target: RowTarget) {
    this.#target = target;
    this.#takings = target.columns.map(takingOf);
  }

  /** Begins to read these bytes. */
  begin(bytes: Uint8Array, start: number, end: number): void {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
    this.#depth = 0;
  }

  /** What comes next, behind white space; -1 at the end. */
  peek(): number {
    const bytes = this.#bytes;
    let at = this.#at;
    for (; at < this.#end; at++) {
      const code = bytes[at] as number;
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) {
        this.#at = at;
        return code;
      }
    }
    this.#at = at;
    return -1;
  }

  /** How many bytes have been read. */
  get position(): number {
    return this.#at;
  }

  /** Raises 22P02 unless everything has been read. */
  requireEnd(): void {
    if (this.peek() >= 0) throw this.#unexpected();
  }

  /** Reads the row that comes next: an object or an array. */
  row(fields: JsonField): void {
    const code = this.peek();
    if (code !== OPEN_OBJECT && code !== OPEN_ARRAY) {
      if (code >= 0) this.#checkStart(code);
      throw code < 0
        ? this.#unexpected()
        : this.#invalid("a row of the source is neither an object nor an array");
    }
    this.value(fields);
    this.#target.endRow();
  }

  /** Reads the value that comes next, and takes what is wanted of it; null: nothing. */
  value(field: JsonField | null): void {
    const code = this.peek();
    const start = this.#at;
    switch (code) {
      case OPEN_OBJECT:
        this.#object(field);
        if (field !== null && field.columns.length > 0) this.#takeStructure(field, start);
        return;
      case OPEN_ARRAY:
        this.#array(field);
        if (field !== null && field.columns.length > 0) this.#takeStructure(field, start);
        return;
      case QUOTE: {
        const hasEscapes = this.#string();
        if (field === null) return;
        if (field.isPaging) this.paging = this.#text(start + 1, this.#at - 1, hasEscapes);
        if (field.columns.length > 0) this.#takeString(field, start, hasEscapes);
        return;
      }
      default:
        this.#scalar(code, field);
    }
  }

  /** Enters an object or array; raises 54001 when it is too deep. */
  enter(): void {
    this.#at++;
    if (++this.#depth > LIMITS.maximumJsonDepth) {
      throw this.#invalid(
        `JSON is nested deeper than ${LIMITS.maximumJsonDepth}`,
        SQLSTATE.programLimitExceeded,
      );
    }
  }

  /** Reads a key and the colon behind it. Answers the place of its member. */
  key(field: JsonField | null): JsonField | null {
    if (this.peek() !== QUOTE) throw this.#unexpected();
    const start = this.#at + 1;
    const hasEscapes = this.#string();
    const end = this.#at - 1;
    if (this.peek() !== COLON) throw this.#unexpected();
    this.#at++;
    if (field === null || !field.hasKeys) return null;
    return hasEscapes ? field.memberOf(this.#text(start, end, true)) : field.member(this.#bytes, start, end);
  }

  /** Behind a member or element. true: another one follows. */
  another(close: typeof CLOSE_OBJECT | typeof CLOSE_ARRAY): boolean {
    const code = this.peek();
    if (code === COMMA) {
      this.#at++;
      return true;
    }
    if (code !== close) throw this.#unexpected();
    this.#at++;
    this.#depth--;
    return false;
  }

  /** Behind `{` or `[`. true: it is empty, and has been left. */
  isEmpty(close: typeof CLOSE_OBJECT | typeof CLOSE_ARRAY): boolean {
    if (this.peek() !== close) return false;
    this.#at++;
    this.#depth--;
    return true;
  }

  #object(field: JsonField | null): void {
    this.enter();
    if (this.isEmpty(CLOSE_OBJECT)) return;
    do {
      const member = this.key(field);
      this.value(member);
    } while (this.another(CLOSE_OBJECT));
  }

  #array(field: JsonField | null): void {
    this.enter();
    if (this.isEmpty(CLOSE_ARRAY)) return;
    let index = 0;
    do {
      this.value(field === null ? null : field.element(index));
      index++;
    } while (this.another(CLOSE_ARRAY));
  }

  /** Passes over a string. true: it has escapes. */
  #string(): boolean {
    const bytes = this.#bytes, end = this.#end;
    let hasEscapes = false;
    for (let at = this.#at + 1; at < end; at++) {
      const code = bytes[at] as number;
      if (code === QUOTE) {
        this.#at = at + 1;
        return hasEscapes;
      }
      if (code < 32) {
        this.#at = at;
        throw this.#invalid("a text has a control character that is not escaped");
      }
      if (code !== BACKSLASH) continue;
      hasEscapes = true;
      at++;
      const escape = bytes[at] as number;
      if (escape === 117) {
        for (let digit = 1; digit <= 4; digit++) {
          if (at + digit >= end || hexDigit(bytes[at + digit] as number) < 0) {
            this.#at = at;
            throw this.#invalid('"\\u" is not followed by four hexadecimal digits');
          }
        }
        at += 4;
      } else if (at >= end || !isEscape(escape)) {
        this.#at = at;
        throw this.#invalid("a text has an unknown escape");
      }
    }
    this.#at = end;
    throw this.#unexpected();
  }

  /** A number, true, false or null. */
  #scalar(code: number, field: JsonField | null): void {
    const start = this.#at;
    if (code === MINUS || code >= ZERO && code <= NINE) {
      const isWhole = this.#number();
      if (field === null) return;
      if (field.isPaging) this.paging = decodeUtf8(this.#bytes.subarray(start, this.#at));
      for (const column of field.columns) {
        if (!isWhole && this.#takings[column] === "integer") this.#takeWhole(column, start, this.#at);
        else this.#target.setText(column, this.#bytes, start, this.#at);
      }
      return;
    }
    this.#checkStart(code);
    const word = code === 110 ? NULL : code === 116 ? TRUE : FALSE;
    for (let index = 0; index < word.length; index++) {
      if (this.#at + index >= this.#end || this.#bytes[this.#at + index] !== word[index]) {
        throw this.#unexpected();
      }
    }
    this.#at += word.length;
    if (isNameByte(this.#bytes[this.#at] ?? 0) && this.#at < this.#end) {
      this.#at = start;
      throw this.#unexpected();
    }
    if (field === null) return;
    if (field.isPaging) this.paging = "";
    for (const column of field.columns) {
      if (word === NULL) this.#target.setNull(column);
      else this.#target.setText(column, this.#bytes, start, this.#at);
    }
  }

  #checkStart(code: number): void {
    if (code !== 110 && code !== 116 && code !== 102 && code !== MINUS && !(code >= ZERO && code <= NINE)) {
      if (code !== QUOTE) throw this.#unexpected();
    }
  }

  /** Passes over a number. true: it has neither a point nor an exponent. */
  #number(): boolean {
    const bytes = this.#bytes, end = this.#end;
    const start = this.#at;
    let at = start, isWhole = true;
    const digits = (): void => {
      const first = at;
      while (at < end && isDigit(bytes[at] as number)) at++;
      if (at > first) return;
      this.#at = at;
      throw this.#unexpected();
    };
    if (bytes[at] === MINUS) at++;
    if (at < end && bytes[at] === ZERO) at++;
    else digits();
    if (at < end && bytes[at] === POINT) {
      isWhole = false;
      at++;
      digits();
    }
    if (at < end && ((bytes[at] as number) | 32) === 101) {
      isWhole = false;
      at++;
      if (at < end && (bytes[at] === PLUS || bytes[at] === MINUS)) at++;
      digits();
    }
    this.#at = at;
    if (at < end && (isNameByte(bytes[at] as number) || bytes[at] === POINT)) throw this.#unexpected();
    if (at - start > MAX_NUMBER) throw this.#invalid("a number has too many digits");
    return isWhole;
  }

  #takeString(field: JsonField, start: number, hasEscapes: boolean): void {
    for (const column of field.columns) {
      if (this.#takings[column] === "document") {
        this.#target.setText(column, this.#bytes, start, this.#at);
      } else if (!hasEscapes) this.#target.setText(column, this.#bytes, start + 1, this.#at - 1);
      else {
        const length = this.#unescape(start + 1, this.#at - 1);
        this.#target.setText(column, this.#scratch, 0, length);
      }
    }
  }

  /** An object or array goes into a column. */
  #takeStructure(field: JsonField, start: number): void {
    const end = this.#at;
    for (const column of field.columns) {
      const taking = this.#takings[column];
      if (taking === "document" || taking === "text") this.#target.setText(column, this.#bytes, start, end);
      else if (taking === "array" && this.#bytes[start] === OPEN_ARRAY) {
        const depth = this.#depth;
        this.#at = start;
        const text = encodeUtf8(this.#arrayText());
        this.#depth = depth;
        this.#target.setText(column, text, 0, text.length);
      } else {
        const what = this.#bytes[start] === OPEN_ARRAY ? "an array" : "an object";
        const target = this.#target.columns[column] as TargetColumn;
        throw this.#target.failure(
          new DatabaseError(SQLSTATE.datatypeMismatch, `${what} does not fit column "${target.name}"`, {
            hint: "Declare the column as JSONB, or name a field within it, such as FROM 'a.b'.",
          }),
          target,
          this.#bytes.subarray(start, end),
        );
      }
      this.#at = end;
    }
  }

  /** An array, which is known to be valid, as the text of an SQL array. */
  #arrayText(): string {
    this.#at++;
    const parts: string[] = [];
    while (this.peek() !== CLOSE_ARRAY) {
      const start = this.#at;
      const code = this.peek();
      if (code === COMMA) this.#at++;
      else if (code === OPEN_ARRAY) parts.push(this.#arrayText());
      else {
        const from = this.#at;
        this.value(null);
        const raw = decodeUtf8(this.#bytes.subarray(from, this.#at));
        if (code === QUOTE) parts.push(quotedElement(this.#text(from + 1, this.#at - 1, true)));
        else if (code === OPEN_OBJECT) parts.push(quotedElement(raw));
        else parts.push(raw === "null" ? "NULL" : raw);
      }
      if (this.#at === start) break;
    }
    this.#at++;
    return `{${parts.join(",")}}`;
  }

  /** A number with a point or exponent for an integer column: what is a whole number is taken as one. */
  #takeWhole(column: number, start: number, end: number): void {
    const written = decodeUtf8(this.#bytes.subarray(start, end));
    const text = encodeUtf8(wholeNumber(written) ?? written);
    this.#target.setText(column, text, 0, text.length);
  }

  #text(start: number, end: number, hasEscapes: boolean): string {
    if (!hasEscapes) return decodeUtf8(this.#bytes.subarray(start, end));
    const length = this.#unescape(start, end);
    return decodeUtf8(this.#scratch.subarray(0, length));
  }

  /** Puts a string's text into the scratch space, as UTF-8. Answers its length. */
  #unescape(start: number, end: number): number {
    const bytes = this.#bytes;
    if (this.#scratch.length < end - start) this.#scratch = new Uint8Array((end - start) * 2);
    const target = this.#scratch;
    let length = 0;
    for (let at = start; at < end; at++) {
      const code = bytes[at] as number;
      if (code !== BACKSLASH) {
        target[length++] = code;
        continue;
      }
      const escape = bytes[++at] as number;
      if (escape !== 117) {
        target[length++] = escaped(escape);
        continue;
      }
      let point = hexAt(bytes, at + 1);
      at += 4;
      if (point >= 0xd800 && point <= 0xdfff) {
        const low = bytes[at + 1] === BACKSLASH && bytes[at + 2] === 117 && at + 6 < end
          ? hexAt(bytes, at + 3)
          : 0;
        if (point >= 0xdc00 || low < 0xdc00 || low > 0xdfff) {
          throw this.#invalid("a text has half of a surrogate pair", SQLSTATE.untranslatableCharacter);
        }
        point = 0x10000 + (point - 0xd800) * 0x400 + (low - 0xdc00);
        at += 6;
      }
      length = putUtf8(target, length, point);
    }
    return length;
  }

  #unexpected(): unknown {
    if (this.#at >= this.#end) return this.#invalid("the data ends too early");
    const code = this.#bytes[this.#at] as number;
    const shown = code > 32 && code < 127 ? `"${String.fromCharCode(code)}"` : `byte 0x${code.toString(16)}`;
    return this.#invalid(`unexpected ${shown}`);
  }

  /** An error at the current byte. */
  #invalid(
    what: string,
    code: typeof SQLSTATE[keyof typeof SQLSTATE] = SQLSTATE.invalidTextRepresentation,
  ): unknown {
    const from = Math.max(0, this.#at - 30);
    const near = new TextDecoder().decode(this.#bytes.subarray(from, Math.min(this.#end, this.#at + 30)))
      .replaceAll(/[^\P{C} ]|\ufffd/gu, " ");
    return this.#target.rowFailure(
      new DatabaseError(code, `invalid JSON: ${what}`, { detail: `At byte ${this.#at + 1}, near: ${near}` }),
    );
  }

  /** An error about the whole value. */
  failure(message: string, hint?: string): unknown {
    return this.#target.rowFailure(
      new DatabaseError(SQLSTATE.invalidTextRepresentation, message, hint === undefined ? {} : { hint }),
    );
  }
}

const NULL = encodeUtf8("null"), TRUE = encodeUtf8("true"), FALSE = encodeUtf8("false");
/** Longer numbers fit no type. */
const MAX_NUMBER = 200_000;

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

function isNameByte(code: number): boolean {
  return isDigit(code) || (code | 32) >= 97 && (code | 32) <= 122 || code === 95;
}

function isEscape(code: number): boolean {
  return code === QUOTE || code === BACKSLASH || code === 47 || code === 98 || code === 102 || code === 110 ||
    code === 114 || code === 116;
}

function escaped(code: number): number {
  switch (code) {
    case 98:
      return 8;
    case 102:
      return 12;
    case 110:
      return 10;
    case 114:
      return 13;
    case 116:
      return 9;
    default:
      return code;
  }
}

function hexDigit(code: number): number {
  if (isDigit(code)) return code - ZERO;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

function hexAt(bytes: Uint8Array, at: number): number {
  let value = 0;
  for (let index = 0; index < 4; index++) value = value * 16 + hexDigit(bytes[at + index] as number);
  return value;
}

function putUtf8(target: Uint8Array, length: number, point: number): number {
  if (point < 0x80) target[length++] = point;
  else if (point < 0x800) {
    target[length++] = 0xc0 | point >> 6;
    target[length++] = 0x80 | point & 63;
  } else if (point < 0x10000) {
    target[length++] = 0xe0 | point >> 12;
    target[length++] = 0x80 | point >> 6 & 63;
    target[length++] = 0x80 | point & 63;
  } else {
    target[length++] = 0xf0 | point >> 18;
    target[length++] = 0x80 | point >> 12 & 63;
    target[length++] = 0x80 | point >> 6 & 63;
    target[length++] = 0x80 | point & 63;
  }
  return length;
}

function quotedElement(text: string): string {
  return `"${text.replaceAll(/["\\]/g, "\\$&")}"`;
}

/** `1.0`, `1.5e1` and the like as the digits of the whole number that they are; null: they are none. */
export function wholeNumber(text: string): string | null {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,6}))?$/.exec(text);
  if (match === null) return null;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const shift = Number(exponent);
  const digits = whole + fraction;
  const point = whole.length + shift;
  if (/^0*$/.test(digits)) return "0";
  // More digits than any integer type has.
  if (point > 400 || point < 1 && /[1-9]/.test(digits)) return null;
  const tail = digits.slice(point);
  if (/[1-9]/.test(tail)) return null;
  return sign + digits.slice(0, point).padEnd(point, "0").replace(/^0+(?=\d)/, "");
}
