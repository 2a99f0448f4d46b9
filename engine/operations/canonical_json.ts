/**
 * JSON with one text per value: object keys sorted by code unit, no white space, and what JSON lacks spelled as
 * one-key objects: `{"$n":"123"}` a bigint, `{"$b":"00ff"}` bytes in hexadecimal, `{"$f":"NaN"}` a number that JSON
 * cannot carry (NaN, Infinity, -Infinity, -0). A real key that begins with `$` is written with one more `$`.
 *
 * Used wherever bytes must be equal on every replica: DDL in log entries, manifests, checkpointed definitions.
 * Invariant: `decode(encode(value))` equals the value, members that are `undefined` left out. Limit: nesting 200 deep.
 */
import { assert } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";

const MAX_DEPTH = 200;

/** Strings this long or longer are checked for digits only up to here in error messages. */
const SHOWN_CHARACTERS = 40;

/** What canonical JSON can carry. */
export type CanonicalValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | readonly CanonicalValue[]
  | { readonly [key: string]: CanonicalValue };

/** The one text of a value made of plain objects, arrays, scalars, bigints and byte arrays. */
export function encodeCanonicalJson(value: unknown): string {
  return encode(value, 0);
}

function encode(value: unknown, depth: number): string {
  assert(depth <= MAX_DEPTH, "a value to encode as JSON is nested too deeply");
  switch (typeof value) {
    case "boolean":
      return value ? "true" : "false";
    case "number":
      if (Number.isFinite(value) && !Object.is(value, -0)) return JSON.stringify(value);
      return `{"$f":"${Object.is(value, -0) ? "-0" : value}"}`;
    case "bigint":
      return `{"$n":"${value}"}`;
    case "string":
      return JSON.stringify(value);
    case "object":
      if (value === null) return "null";
      if (value instanceof Uint8Array) return `{"$b":"${value.toHex()}"}`;
      if (Array.isArray(value)) return `[${value.map((each) => encode(each, depth + 1)).join(",")}]`;
      return encodeObject(value, depth);
    default:
      assert(false, `a ${typeof value} cannot be encoded as JSON`);
  }
}

function encodeObject(value: object, depth: number): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  assert(prototype === Object.prototype || prototype === null, "only plain objects can be encoded as JSON");
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0))
    .map(([key, member]) =>
      `${JSON.stringify(key.startsWith("$") ? `$${key}` : key)}:${encode(member, depth + 1)}`
    );
  return `{${members.join(",")}}`;
}

/** The value of a text; raises `dataCorrupted` when the text is not canonical JSON's form. */
export function decodeCanonicalJson(text: string): CanonicalValue {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new DatabaseError(
      SQLSTATE.dataCorrupted,
      `Cannot decode JSON: ${text.slice(0, SHOWN_CHARACTERS)}`,
      {
        cause: error,
      },
    );
  }
  return revive(parsed, 0);
}

function revive(value: unknown, depth: number): CanonicalValue {
  if (depth > MAX_DEPTH) throw corrupted("nested too deeply");
  if (
    value === null || typeof value === "boolean" || typeof value === "number" || typeof value === "string"
  ) {
    return value;
  }
  if (Array.isArray(value)) return value.map((each) => revive(each, depth + 1));
  if (typeof value !== "object") throw corrupted(`unexpected ${typeof value}`);
  const entries = Object.entries(value);
  const [first] = entries;
  if (first !== undefined && entries.length === 1 && /^\$[nbf]$/.test(first[0])) {
    return reviveSpecial(first[0], first[1]);
  }
  const result: Record<string, CanonicalValue> = {};
  for (const [key, member] of entries) {
    if (key.startsWith("$") && !key.startsWith("$$")) throw corrupted(`unknown form ${key}`);
    const name = key.startsWith("$$") ? key.slice(1) : key;
    if (name === "__proto__") throw corrupted("a key that no definition has");
    result[name] = revive(member, depth + 1);
  }
  return result;
}

function reviveSpecial(form: string, value: unknown): CanonicalValue {
  if (typeof value !== "string") throw corrupted(`${form} without a text`);
  if (form === "$n") {
    if (!/^-?[0-9]{1,1000}$/.test(value)) throw corrupted("an integer that is none");
    return BigInt(value);
  }
  if (form === "$b") {
    if (value.length % 2 !== 0 || !/^[0-9a-f]*$/.test(value)) throw corrupted("bytes that are none");
    return Uint8Array.fromHex(value);
  }
  switch (value) {
    case "NaN":
      return NaN;
    case "Infinity":
      return Infinity;
    case "-Infinity":
      return -Infinity;
    case "-0":
      return -0;
    default:
      throw corrupted("a number that is none");
  }
}

function corrupted(what: string): DatabaseError {
  return new DatabaseError(SQLSTATE.dataCorrupted, `Cannot decode JSON: ${what}`);
}
