/**
 * How SQL values go into a module of WebAssembly and come out of it: the calling convention that
 * docs/user-functions.md describes byte by byte.
 *
 * Numbers, truth values and times are parameters and results of their own. Everything else goes through the module's
 * memory: an argument is an address and a length of bytes that the module's `allocate` gave, a result is the address
 * of such a pair.
 */
import { decodeUtf8Strict, invalidUtf8 } from "../base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { checkDate, checkTimestamp, MICROSECONDS_PER_DAY } from "../types/calendar.ts";
import { checkInteger, isIntegerKind, normalize } from "../types/number_or_bigint.ts";
import type { SqlType } from "../types/sql_type.ts";
import { formatText, parseText } from "../types/text_io.ts";
import type { NumberOrBigint, SqlValue } from "../types/value.ts";

/** The types of WebAssembly's values. */
export type WasmType = "i32" | "i64" | "f32" | "f64";

/** Whether values of a type are numbers of the module, and which ones; the first is the usual one. */
export function scalarTypes(type: SqlType): readonly WasmType[] | null {
  switch (type.kind) {
    case "bool":
      return ["i32"];
    case "i8":
    case "i16":
    case "i32":
    case "u8":
    case "u16":
    case "u32":
    case "date":
      return ["i32", "i64"];
    case "i64":
    case "u64":
    case "time":
    case "timestamp":
    case "timestamptz":
      return ["i64"];
    case "f32":
      return ["f32"];
    case "f64":
      return ["f64"];
    default:
      return null;
  }
}

const DATE_INFINITY = 2147483647;
const DATE_NEGATIVE_INFINITY = -2147483648;
const TIMESTAMP_INFINITY = 9223372036854775807n;
const TIMESTAMP_NEGATIVE_INFINITY = -9223372036854775808n;

/** The JavaScript of a scalar argument; `value` is an identifier that is not NULL. */
export function argumentCode(type: SqlType, wasm: WasmType, value: string): string {
  switch (type.kind) {
    case "bool":
      return `(${value} ? 1 : 0)`;
    case "date":
      return wasm === "i64" ? `BigInt(dateNumber(${value}))` : `dateNumber(${value})`;
    case "timestamp":
    case "timestamptz":
      return `timestampNumber(${value})`;
    default:
      return wasm === "i64" ? `BigInt(${value})` : value;
  }
}

/** Days with the numbers of the infinities. */
export function dateNumber(days: number): number {
  if (days === Infinity) return DATE_INFINITY;
  return days === -Infinity ? DATE_NEGATIVE_INFINITY : days;
}

/** Microseconds with the numbers of the infinities. */
export function timestampNumber(microseconds: NumberOrBigint): bigint {
  if (microseconds === Infinity) return TIMESTAMP_INFINITY;
  if (microseconds === -Infinity) return TIMESTAMP_NEGATIVE_INFINITY;
  return BigInt(microseconds);
}

/** The SQL value of a scalar result; raises 22003 or 22008 when the type has no such value. */
export function scalarResult(type: SqlType, wasm: WasmType, raw: number | bigint): SqlValue {
  const { kind } = type;
  if (isIntegerKind(kind)) return integerResult(kind, wasm, raw);
  switch (kind) {
    case "bool":
      if (raw !== 0 && raw !== 1) {
        throw new DatabaseError(SQLSTATE.numericValueOutOfRange, "boolean out of range", {
          detail: `The function returned ${raw}; 0 is false and 1 is true.`,
        });
      }
      return raw === 1;
    case "date": {
      const days = Number(raw);
      if (days === DATE_INFINITY) return Infinity;
      return days === DATE_NEGATIVE_INFINITY ? -Infinity : checkDate(days);
    }
    case "timestamp":
    case "timestamptz":
      if (raw === TIMESTAMP_INFINITY) return Infinity;
      if (raw === TIMESTAMP_NEGATIVE_INFINITY) return -Infinity;
      return checkTimestamp(normalize(BigInt(raw)));
    case "time":
      if (raw < 0 || raw > MICROSECONDS_PER_DAY) {
        throw new DatabaseError(SQLSTATE.datetimeFieldOverflow, "time out of range");
      }
      return Number(raw);
    default:
      return Number(raw);
  }
}

type IntegerKind = Parameters<typeof checkInteger>[0];

function integerResult(kind: IntegerKind, wasm: WasmType, raw: number | bigint): NumberOrBigint {
  if (typeof raw === "bigint") {
    if (kind === "u64") return normalize(BigInt.asUintN(64, raw));
    return checkInteger(kind, normalize(raw));
  }
  if (wasm !== "i32") {
    return kind === "u64" && raw < 0 ? normalize(BigInt.asUintN(64, BigInt(raw))) : checkInteger(kind, raw);
  }
  return kind === "i32" ? raw : checkInteger(kind, kind === "u32" ? raw >>> 0 : raw);
}

/** The bytes of an argument that is no array. */
export function bytesOf(type: SqlType, value: SqlValue): Uint8Array {
  if (value instanceof Uint8Array) return value;
  return new TextEncoder().encode(typeof value === "string" ? value : formatText(type, value));
}

/** The value of bytes that a function returned; raises 22021 for what is no UTF-8, or what the type's input raises. */
export function valueOfBytes(type: SqlType, bytes: Uint8Array): SqlValue {
  if (type.kind === "bytea" || type.kind === "bytes") return bytes.slice();
  const text = decodeUtf8Strict(bytes);
  if (text === undefined) throw invalidUtf8(bytes);
  return parseText(type, text);
}
