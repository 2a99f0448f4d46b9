/**
 * JSON values: parsing with PostgreSQL's checks and messages, and the canonical text of `jsonb`.
 *
 * A {@link JsonValue} keeps numbers exactly, as `Decimal`, and objects as Maps in jsonb's key order: shorter keys (in
 * UTF-8 bytes) first, then by bytes; of duplicate keys the last wins. `json` values keep their text and are only
 * checked; `jsonb` values are the text that {@link formatJsonb} makes. Limits: nesting of 2000 levels.
 */
import { utf8ByteLength } from "../base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { gas } from "../base/gas.ts";
import { LIMITS } from "../base/limits.ts";
import { Decimal } from "./decimal.ts";
import { compareText } from "./text.ts";

/** A JSON value. */
export type JsonValue = null | boolean | string | Decimal | JsonArray | JsonObject;
/** A JSON array. */
export type JsonArray = readonly JsonValue[];
/** A JSON object, its keys in jsonb's order. */
export type JsonObject = ReadonlyMap<string, JsonValue>;

/** Checks that the text is JSON; raises 22P02 as PostgreSQL does. */
export function validateJson(text: string): void {
  new JsonParser(text, false).parse();
}

/** Parses a JSON text to a tree; 22P02 when it is none. */
export function parseJson(text: string): JsonValue {
  return new JsonParser(text, true).parse();
}

/** The canonical jsonb text of any JSON text; 22P02 when it is none. */
export function canonicalJsonb(text: string): string {
  return formatJsonb(parseJson(text));
}

/** Whether the value is an array. */
export function isJsonArray(value: JsonValue): value is JsonArray {
  return Array.isArray(value);
}

/** Whether the value is an object. */
export function isJsonObject(value: JsonValue): value is JsonObject {
  return value instanceof Map;
}

/** An object of entries, in jsonb's order; of duplicate keys the last wins. */
export function jsonObject(entries: Iterable<readonly [string, JsonValue]>): JsonObject {
  const unordered = new Map(entries);
  const keys = [...unordered.keys()];
  let ordered = true;
  for (let index = 1; index < keys.length && ordered; index++) {
    ordered = compareJsonKeys(keys[index - 1] ?? "", keys[index] ?? "") < 0;
  }
  if (ordered) return unordered;
  keys.sort(compareJsonKeys);
  return new Map(keys.map((key) => [key, unordered.get(key) ?? null]));
}

/** Order of object keys in jsonb: by length in bytes, then by bytes. */
export function compareJsonKeys(left: string, right: string): number {
  return utf8ByteLength(left) - utf8ByteLength(right) || compareText(left, right);
}

/** The canonical text: one space after `:` and `,`. */
export function formatJsonb(value: JsonValue): string {
  if (value === null) return "null";
  if (typeof value === "boolean") return value ? "true" : "false";
  if (typeof value === "string") return quoteJson(value);
  if (value instanceof Decimal) return value.toString();
  if (isJsonArray(value)) {
    let text = "[";
    for (let index = 0; index < value.length; index++) {
      text += (index === 0 ? "" : ", ") + formatJsonb(value[index] ?? null);
    }
    return text + "]";
  }
  let text = "{";
  for (const [key, item] of value) {
    text += `${text === "{" ? "" : ", "}${quoteJson(key)}: ${formatJsonb(item)}`;
  }
  return text + "}";
}

/** Characters that a step writes. */
const WRITTEN_PER_STEP = 16;

/**
 * The text laid out over lines, indented by four spaces a level (`jsonb_pretty`). Each line is charged before it is
 * written: with the depth they become longer than the document.
 */
export function formatJsonbPretty(value: JsonValue): string {
  let text = "";
  const add = (part: string): void => {
    gas.charge(part.length / WRITTEN_PER_STEP);
    text += part;
  };
  const write = (item: JsonValue, indent: string): void => {
    const isArray = isJsonArray(item);
    if (!isArray && !isJsonObject(item)) return add(formatJsonb(item));
    add(isArray ? "[" : "{");
    const inner = `${indent}    `;
    let separator = "";
    for (const [key, part] of item.entries()) {
      add(`${separator}\n${inner}${typeof key === "string" ? `${quoteJson(key)}: ` : ""}`);
      write(part, inner);
      separator = ",";
    }
    add(`\n${indent}${isArray ? "]" : "}"}`);
  };
  write(value, "");
  return text;
}

/** Charges what {@link formatJsonb} takes for a value whose parts may be shared, before it is written. */
export function chargeJsonb(value: JsonValue): void {
  if (typeof value === "string") return gas.charge(1 + value.length / WRITTEN_PER_STEP);
  gas.charge(1);
  if (isJsonArray(value)) value.forEach(chargeJsonb);
  else if (isJsonObject(value)) {
    for (const [key, item] of value) {
      gas.charge(key.length / WRITTEN_PER_STEP);
      chargeJsonb(item);
    }
  }
}

/** The JSON string literal of a text. */
export function quoteJson(text: string): string {
  return JSON.stringify(text);
}

/** The type names of `json_typeof`. */
export function jsonTypeName(value: JsonValue): string {
  if (value === null) return "null";
  if (typeof value === "boolean") return "boolean";
  if (typeof value === "string") return "string";
  if (value instanceof Decimal) return "number";
  return isJsonArray(value) ? "array" : "object";
}

type TokenKind = "string" | "number" | "true" | "false" | "null" | "end" | "{" | "}" | "[" | "]" | "," | ":";

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const WORD = /[A-Za-z0-9_$\x80-\uffff]+/y;

class JsonParser {
  readonly #text: string;
  readonly #build: boolean;
  #position = 0;
  #token: TokenKind = "end";
  #start = 0;
  #string = "";

  constructor(text: string, build: boolean) {
    this.#text = text;
    this.#build = build;
  }

  parse(): JsonValue {
    this.#advance();
    const value = this.#value(0, "Expected JSON value");
    if (!this.#at("end")) throw this.#unexpected("Expected end of input");
    return value;
  }

  #at(kind: TokenKind): boolean {
    return this.#token === kind;
  }

  #error(detail: string): DatabaseError {
    return new DatabaseError(SQLSTATE.invalidTextRepresentation, "invalid input syntax for type json", {
      detail,
    });
  }

  #unexpected(expected: string): DatabaseError {
    if (this.#at("end")) return this.#error("The input string ended unexpectedly.");
    return this.#error(`${expected}, but found "${this.#text.slice(this.#start, this.#position)}".`);
  }

  #value(depth: number, expected: string): JsonValue {
    if (depth > LIMITS.maximumJsonDepth) {
      throw new DatabaseError(SQLSTATE.statementTooComplex, "stack depth limit exceeded", {
        detail: `JSON is nested more than ${LIMITS.maximumJsonDepth} levels deep.`,
      });
    }
    switch (this.#token) {
      case "{":
        return this.#object(depth);
      case "[":
        return this.#array(depth);
      case "string": {
        const text = this.#string;
        this.#advance();
        return text;
      }
      case "number": {
        const number = this.#build
          ? Decimal.fromString(this.#text.slice(this.#start, this.#position))
          : Decimal.ZERO;
        this.#advance();
        // jsonb keeps numeric's text, in which there is no negative zero and no exponent.
        return number;
      }
      case "true":
      case "false": {
        const truth = this.#at("true");
        this.#advance();
        return truth;
      }
      case "null":
        this.#advance();
        return null;
      default:
        throw this.#unexpected(expected);
    }
  }

  #array(depth: number): JsonArray {
    const items: JsonValue[] = [];
    this.#advance();
    if (this.#at("]")) {
      this.#advance();
      return items;
    }
    while (true) {
      const item = this.#value(depth + 1, "Expected JSON value");
      items.push(item);
      if (this.#at("]")) break;
      if (!this.#at(",")) throw this.#unexpected('Expected "," or "]"');
      this.#advance();
    }
    this.#advance();
    return items;
  }

  #object(depth: number): JsonObject {
    const entries: [string, JsonValue][] = [];
    this.#advance();
    if (this.#at("}")) {
      this.#advance();
      return new Map();
    }
    while (true) {
      if (!this.#at("string")) {
        throw this.#unexpected(entries.length === 0 ? 'Expected string or "}"' : "Expected string");
      }
      const key = this.#string;
      this.#advance();
      if (!this.#at(":")) throw this.#unexpected('Expected ":"');
      this.#advance();
      entries.push([key, this.#value(depth + 1, "Expected JSON value")]);
      if (this.#at("}")) break;
      if (!this.#at(",")) throw this.#unexpected('Expected "," or "}"');
      this.#advance();
    }
    this.#advance();
    return this.#build ? jsonObject(entries) : new Map();
  }

  #advance(): void {
    const text = this.#text;
    let position = this.#position;
    let code = text.charCodeAt(position);
    while (code === 32 || code === 10 || code === 13 || code === 9) code = text.charCodeAt(++position);
    this.#start = position;
    if (position >= text.length) {
      this.#position = position;
      this.#token = "end";
      return;
    }
    const character = text[position] ?? "";
    switch (character) {
      case "{":
      case "}":
      case "[":
      case "]":
      case ",":
      case ":":
        this.#token = character;
        this.#position = position + 1;
        return;
      case '"':
        this.#scanString(position + 1);
        this.#token = "string";
        return;
    }
    if (character === "-" || (code >= 48 && code <= 57)) return this.#scanNumber(position);
    WORD.lastIndex = position;
    const word = WORD.exec(text)?.[0] ?? character;
    if (word === "true" || word === "false" || word === "null") {
      this.#token = word;
      this.#position = position + word.length;
      return;
    }
    throw this.#error(`Token "${word}" is invalid.`);
  }

  #scanNumber(position: number): void {
    NUMBER.lastIndex = position;
    const number = NUMBER.exec(this.#text)?.[0];
    const end = position + (number?.length ?? 0);
    // What runs on after a number belongs to the token and spoils it, as in PostgreSQL's lexer.
    const run = /[A-Za-z0-9_$.+\-\x80-\uffff]*/y;
    run.lastIndex = position;
    const token = run.exec(this.#text)?.[0] ?? "";
    if (number === undefined || /[A-Za-z0-9_$.\x80-\uffff]/.test(this.#text[end] ?? "")) {
      throw this.#error(`Token "${token}" is invalid.`);
    }
    this.#token = "number";
    this.#position = end;
  }

  #scanString(start: number): void {
    const text = this.#text;
    let value = "";
    let chunk = start;
    for (let position = start;; position++) {
      const code = text.charCodeAt(position);
      if (code === 0x22) {
        this.#string = value + text.slice(chunk, position);
        this.#position = position + 1;
        return;
      }
      if (Number.isNaN(code)) {
        throw this.#error(`Token "${text.slice(this.#start)}" is invalid.`);
      }
      if (code < 0x20) {
        throw this.#error(`Character with value 0x${code.toString(16).padStart(2, "0")} must be escaped.`);
      }
      if (code !== 0x5c) continue;
      value += text.slice(chunk, position);
      const [piece, length] = this.#escape(position);
      value += piece;
      position += length - 1;
      chunk = position + 1;
    }
  }

  #escape(position: number): [piece: string, length: number] {
    const character = this.#text[position + 1];
    switch (character) {
      case '"':
      case "\\":
      case "/":
        return [character, 2];
      case "b":
        return ["\b", 2];
      case "f":
        return ["\f", 2];
      case "n":
        return ["\n", 2];
      case "r":
        return ["\r", 2];
      case "t":
        return ["\t", 2];
      case "u":
        return this.#unicodeEscape(position);
      case undefined:
        throw this.#error(`Token "${this.#text.slice(this.#start)}" is invalid.`);
      default:
        throw this.#error(
          `Escape sequence "\\${
            String.fromCodePoint(this.#text.codePointAt(position + 1) ?? 0)
          }" is invalid.`,
        );
    }
  }

  #unicodeEscape(position: number): [piece: string, length: number] {
    const code = this.#hex(position);
    // A json value keeps its text, so only jsonb must be able to hold the character.
    if (code === 0 && this.#build) {
      throw new DatabaseError(SQLSTATE.untranslatableCharacter, "unsupported Unicode escape sequence", {
        detail: "\\u0000 cannot be converted to text.",
      });
    }
    // Nor do surrogates matter to a json value.
    if (!this.#build) return ["", 6];
    if (code >= 0xdc00 && code < 0xe000) {
      throw this.#error("Unicode low surrogate must follow a high surrogate.");
    }
    if (code < 0xd800 || code >= 0xe000) return [String.fromCharCode(code), 6];
    if (this.#text[position + 6] !== "\\" || this.#text[position + 7] !== "u") {
      throw this.#error("Unicode low surrogate must follow a high surrogate.");
    }
    const low = this.#hex(position + 6);
    if (low >= 0xd800 && low < 0xdc00) {
      throw this.#error("Unicode high surrogate must not follow a high surrogate.");
    }
    if (low < 0xdc00 || low >= 0xe000) {
      throw this.#error("Unicode low surrogate must follow a high surrogate.");
    }
    return [String.fromCharCode(code, low), 12];
  }

  #hex(position: number): number {
    const digits = this.#text.slice(position + 2, position + 6);
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) {
      throw this.#error('"\\u" must be followed by four hexadecimal digits.');
    }
    return parseInt(digits, 16);
  }
}

const TYPE_RANK: Readonly<Record<string, number>> = {
  null: 0,
  string: 1,
  number: 2,
  boolean: 3,
  array: 4,
  object: 5,
};

/** Order of jsonb values: object > array > boolean > number > string > null; see {@link compareNested} for the rest. */
export function compareJson(left: JsonValue, right: JsonValue): -1 | 0 | 1 {
  // An empty array at the top sorts before scalars: a historical trait of jsonb that indexes depend on.
  const leftEmpty = isJsonArray(left) && left.length === 0;
  const rightEmpty = isJsonArray(right) && right.length === 0;
  if (leftEmpty !== rightEmpty && !isJsonObject(left) && !isJsonObject(right)) return leftEmpty ? -1 : 1;
  return compareNested(left, right);
}

/** Like {@link compareJson} below the top level: fewer elements or pairs sort first, then element by element. */
function compareNested(left: JsonValue, right: JsonValue): -1 | 0 | 1 {
  const leftType = jsonTypeName(left);
  const rightType = jsonTypeName(right);
  if (leftType !== rightType) return (TYPE_RANK[leftType] ?? 0) < (TYPE_RANK[rightType] ?? 0) ? -1 : 1;
  if (typeof left === "string" && typeof right === "string") return compareText(left, right);
  if (left instanceof Decimal && right instanceof Decimal) return left.compare(right);
  if (typeof left === "boolean") return left === right ? 0 : left ? 1 : -1;
  if (left === null || right === null) return 0;
  if (isJsonArray(left) && isJsonArray(right)) {
    if (left.length !== right.length) return left.length < right.length ? -1 : 1;
    for (let index = 0; index < left.length; index++) {
      const order = compareNested(left[index] ?? null, right[index] ?? null);
      if (order !== 0) return order;
    }
    return 0;
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return 0;
  if (left.size !== right.size) return left.size < right.size ? -1 : 1;
  const rightEntries = right.entries();
  for (const [key, item] of left) {
    const other = rightEntries.next().value;
    if (other === undefined) return 1;
    const order = compareText(key, other[0]) || compareNested(item, other[1]);
    if (order !== 0) return order;
  }
  return 0;
}

/** Whether two values are equal as jsonb (numbers by value, whatever their scale). */
export function equalJson(left: JsonValue, right: JsonValue): boolean {
  return compareNested(left, right) === 0;
}

/** A text that is the same exactly for equal values, for use as a key. */
export function jsonHashKey(value: JsonValue): string {
  if (value instanceof Decimal) return value.canonicalText();
  if (isJsonArray(value)) return `[${value.map(jsonHashKey).join(",")}]`;
  if (isJsonObject(value)) {
    return `{${[...value].map(([key, item]) => `${quoteJson(key)}:${jsonHashKey(item)}`).join(",")}}`;
  }
  return formatJsonb(value);
}
