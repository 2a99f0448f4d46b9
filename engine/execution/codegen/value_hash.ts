/** Hashes of the values of keys: the same for values that a join or a grouping takes for equal. */
import { mix } from "../../base/mix.ts";
import { physicalTypeOf } from "../../types/physical_type.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { trimTrailingSpaces } from "../../types/text.ts";
import type { SqlValue } from "../../types/value.ts";
import type { Emitter } from "./emitter.ts";
import { keyFunctions, keyKindOf } from "./key_code.ts";

/** Hash of a value that is not null. */
export type ValueHash = (value: SqlValue) => number;

const words = new Int32Array(2);
const double = new Float64Array(words.buffer);

/** The hash of a key's values, which are compared with values of the other type. */
export function valueHash(type: SqlType, other: SqlType): ValueHash {
  const kind = keyKindOf(type, other);
  switch (kind) {
    case "number":
    case "number_or_bigint":
      return hashNumber;
    case "boolean":
      return (value) => value === true ? 1 : 0;
    case "text":
      return type.kind === "char"
        ? (value) => hashText(trimTrailingSpaces(value as string))
        : (value) => hashText(value as string);
    default: {
      const keyOf = keyFunctions[kind];
      return (value) => hashOf(keyOf(type, value));
    }
  }
}

/** What {@link hashOf} answers; most are integers of 32 bits, whose code should not depend on other keys. */
function hashNumber(key: unknown): number {
  return typeof key === "number" && (key | 0) === key ? hashWords(key, key >> 31) : hashOf(key);
}

function hashOf(key: unknown): number {
  switch (typeof key) {
    case "number":
      if (Number.isSafeInteger(key)) return hashWords(key | 0, Math.floor(key / 2 ** 32) | 0);
      double[0] = key;
      // All NaNs are equal.
      return Number.isNaN(key) ? 1 : hashWords(words[0] as number, words[1] as number);
    case "bigint":
      return hashWords(Number(BigInt.asIntN(32, key)), Number(BigInt.asIntN(32, key >> 32n)));
    default:
      return hashText(String(key));
  }
}

function hashText(text: string): number {
  let hash = text.length;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash;
}

function hashWords(low: number, high: number): number {
  return mix(mix(low) ^ high);
}

/** Whether values are integers of 32 bits, which are their own hash before they are mixed. */
export function isWord(type: SqlType): boolean {
  const { form, isInt32 } = physicalTypeOf(type);
  return form === "number" && isInt32 === true;
}

/** Emits {@link mix} of an integer in place: V8 does not inline as much code as that of a scan. */
export function emitMix(code: Emitter, value: string): string {
  const first = code.define("m", value);
  const second = code.define("m", `Math.imul(${first} ^ ${first} >>> 16, 0x85ebca6b)`);
  const third = code.define("m", `Math.imul(${second} ^ ${second} >>> 13, 0xc2b2ae35)`);
  return code.define("h", `${third} ^ ${third} >>> 16`);
}

/** One more value on top of those before it; null has a hash of its own. */
export function combine(hash: number, next: number): number {
  return mix(Math.imul(hash, 0x9e3779b1) ^ next);
}
