/**
 * How values look in generated code: the JavaScript form of each type, literals, and the way from storage.
 */
import { isEncoded } from "../../types/stored_value.ts";
import { type Form, physicalTypeOf } from "../../types/physical_type.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import { decodeValueBytes } from "../../types/value_codec.ts";
import { type Emitter, NULL_VALUE, type Value } from "./emitter.ts";

/** The JavaScript form of a type's values. */
export function formOf(type: SqlType): Form {
  return physicalTypeOf(type).form;
}

/** Whether the values are floating-point numbers. */
export function isFloat(type: SqlType): boolean {
  return type.kind === "f32" || type.kind === "f64";
}

/** A value that is in a variable of the type while it means NULL; keeps the variable's JavaScript type stable. */
export function placeholder(type: SqlType): string {
  switch (formOf(type)) {
    case "number":
    case "number_or_bigint":
      return "0";
    case "boolean":
      return "false";
    default:
      return "null";
  }
}

/** Longer texts are no part of the code. */
const LONG_TEXT = 1024;

/** The literal of a value. */
export function literal(code: Emitter, value: SqlValue): Value {
  if (value === null) return NULL_VALUE;
  switch (typeof value) {
    case "number":
      return {
        code: Object.is(value, -0) ? "(-0)" : `${value}`.startsWith("-") ? `(${value})` : `${value}`,
        isNull: null,
        plain: true,
        ...(Number.isSafeInteger(value) && !Object.is(value, -0)
          ? { range: { low: value, high: value } }
          : {}),
      };
    case "bigint":
      return { code: value < 0n ? `(${value}n)` : `${value}n`, isNull: null };
    case "boolean":
      return { code: `${value}`, isNull: null };
    case "string":
      return {
        code: value.length > LONG_TEXT ? code.constant("text", value) : JSON.stringify(value),
        isNull: null,
      };
    default:
      return { code: code.constant("constant", value), isNull: null };
  }
}

const decoders = new WeakMap<SqlType, (bytes: Uint8Array) => SqlValue>();

/** The expression of a non-null stored value's SQL value. */
export function storedCode(code: Emitter, type: SqlType, stored: string): string {
  if (type.kind === "bool") return `(${stored} !== 0)`;
  if (!isEncoded(type)) return stored;
  let decoder = decoders.get(type);
  if (decoder === undefined) {
    decoder = (bytes) => decodeValueBytes(type, bytes);
    decoders.set(type, decoder);
  }
  return `${code.use("decodeValue", decoder)}(${stored})`;
}

/** An expression that is the value or null. */
export function nullableCode(value: Value): string {
  if (value.isNull === null) return value.code;
  if (value.isNull === "true") return "null";
  return value.isNull === `${value.code} === null` ? value.code : `(${value.isNull} ? null : ${value.code})`;
}

/** `a || b` of null tests; null when there are none. */
export function anyNull(tests: readonly (string | null)[]): string | null {
  const present = [...new Set(tests.filter((test) => test !== null))];
  if (present.length === 0) return null;
  if (present.includes("true")) return "true";
  return present.length === 1 ? present[0] ?? null : `(${present.join(" || ")})`;
}

/** A variable that several branches assign. */
export interface ResultVariable {
  readonly value: Value;
  /** The statements that assign a value to it. */
  assign(value: Value): string;
}

/** Declares a variable of a type; NULL is kept apart where that keeps numbers unboxed. */
export function declareResult(code: Emitter, type: SqlType, nullable: boolean): ResultVariable {
  const form = formOf(type);
  const name = code.name("v");
  if (form === "string" || form === "object" || !nullable) {
    code.emit(`let ${name} = ${placeholder(type)};`);
    return {
      value: { code: name, isNull: nullable ? `${name} === null` : null },
      assign: (value) => `${name} = ${nullableCode(value)};`,
    };
  }
  const flag = code.name("n");
  code.emit(`let ${name} = ${placeholder(type)}, ${flag} = true;`);
  return {
    value: { code: name, isNull: flag },
    assign: (value) => {
      if (value.isNull === "true") return `${flag} = true;`;
      if (value.isNull === null) return `${name} = ${value.code}; ${flag} = false;`;
      return `if (${value.isNull}) ${flag} = true; else { ${name} = ${value.code}; ${flag} = false; }`;
    },
  };
}
