/**
 * Between parameters on the wire, SQL values, and the JavaScript values of the client.
 *
 * A typed parameter is checked against its type before the engine sees it: nothing that a client sends can become a
 * value that its type does not have.
 */
import { DatabaseError, SQLSTATE } from "../../../engine/base/errors.ts";
import { fromJavaScript, type JavaScriptValue } from "../../../engine/session/javascript_value.ts";
import { checkInteger, checkNumericRange, normalize } from "../../../engine/types/number_or_bigint.ts";
import { limitsTime } from "../../../engine/types/sql_type.ts";
import type { SqlType } from "../../../engine/types/sql_type.ts";
import { isStorable } from "../../../engine/types/stored_range.ts";
import { fromStored, isEncoded, type StoredValue } from "../../../engine/types/stored_value.ts";
import { requireWellFormed } from "../../../engine/types/text.ts";
import { formatText, parseText, type TextOptions } from "../../../engine/types/text_io.ts";
import { applyTypeModifier } from "../../../engine/types/type_modifier.ts";
import { equalTypes, formatType } from "../../../engine/types/type_names.ts";
import type { SqlValue } from "../../../engine/types/value.ts";
import type { Parameter } from "./operation.ts";

/** The type that a parameter declares; undefined: the statement decides. */
export function declaredType(parameter: Parameter): SqlType | undefined {
  return parameter.form === "typed" && parameter.type.kind !== "unknown" ? parameter.type : undefined;
}

/** The value of a parameter for a place of that type. Raises 22P02, 22003 and the like. */
export function bindParameter(parameter: Parameter, type: SqlType, options: TextOptions): SqlValue {
  switch (parameter.form) {
    case "untyped":
      return fromJavaScript(type, parameter.value, options);
    case "structured":
      return type.kind === "json" || type.kind === "jsonb" || isTextKind(type)
        ? parseText(type, parameter.json, options)
        : fromJavaScript(type, parseStructure(parameter.json), options);
    case "typed": {
      const value = checkedValue(parameter.type, parameter.value);
      if (value === null || sameForm(parameter.type, type)) return value;
      return parseText(type, formatText(parameter.type, value, options), options);
    }
  }
}

/** A parameter for a JavaScript value, without knowing what type its place has. */
export function parameterOf(value: JavaScriptValue): Parameter {
  if (value === null || value === undefined) return { form: "untyped", value: null };
  switch (typeof value) {
    case "string":
      // UTF-8 has no bytes for half a surrogate pair: on the way it would become another character.
      return { form: "untyped", value: requireWellFormed(value) };
    case "bigint":
      return { form: "untyped", value: normalized(value) };
    case "number":
      return Number.isSafeInteger(value) && !Object.is(value, -0)
        ? { form: "untyped", value }
        : { form: "untyped", value: floatText(value) };
    case "boolean":
      return { form: "untyped", value: value ? "true" : "false" };
    default:
      if (value instanceof Uint8Array) return { form: "typed", type: { kind: "bytea" }, value };
      if (value instanceof Date) return { form: "untyped", value: value.toISOString() };
      return { form: "structured", json: JSON.stringify(value, replaceUnrepresentable) };
  }
}

/** A stored form as the SQL value of the type, if it is one. Raises 22P03. */
export function checkedValue(type: SqlType, stored: StoredValue): SqlValue {
  if (stored === null) return null;
  switch (type.kind) {
    case "bool":
      return need(stored === 0 || stored === 1, type) && stored === 1;
    case "i8":
    case "i16":
    case "i32":
    case "i64":
    case "u8":
    case "u16":
    case "u32":
    case "u64":
      return checkInteger(type.kind, integer(type, stored));
    case "oid":
    case "regclass":
    case "regtype":
    case "regproc":
    case "regnamespace":
      return checkInteger("u32", integer(type, stored));
    case "f32":
      return Math.fround(float(type, stored));
    case "f64":
      return float(type, stored);
    case "numeric": {
      if (type.scale === undefined) return applyTypeModifier(type, decoded(type, stored), false);
      const scaled = integer(type, stored);
      return type.precision === undefined ? scaled : checkNumericRange(scaled, type.precision, type.scale);
    }
    case "date":
    case "time":
    case "timestamp":
    case "timestamptz":
      return temporal(type, stored);
    case "bytea":
    case "bytes":
      need(stored instanceof Uint8Array, type);
      return applyTypeModifier(type, stored, false);
    default:
      if (isEncoded(type)) return decoded(type, stored);
      if (typeof stored !== "string") throw invalid(type);
      return parseText(type, stored);
  }
}

function decoded(type: SqlType, stored: StoredValue): SqlValue {
  if (!(stored instanceof Uint8Array)) throw invalid(type);
  try {
    return fromStored(type, stored);
  } catch (error) {
    if (error instanceof DatabaseError) throw invalid(type, error);
    throw error;
  }
}

function integer(type: SqlType, stored: StoredValue): number | bigint {
  if (typeof stored === "bigint" || Number.isSafeInteger(stored)) return stored as number | bigint;
  throw invalid(type);
}

function float(type: SqlType, stored: StoredValue): number {
  if (typeof stored === "number") return stored;
  if (typeof stored === "bigint") return Number(stored);
  throw invalid(type);
}

/** A date or time. Raises 22008 for one out of range. */
function temporal(type: SqlType, stored: StoredValue): SqlValue {
  if (stored === Infinity || stored === -Infinity) return need(isStorable(type, stored), type) && stored;
  const given = integer(type, stored);
  const value = typeof given === "bigint" ? normalize(given) : given;
  if (isStorable(type, value)) return applyTypeModifier(type, value, false);
  throw new DatabaseError(SQLSTATE.datetimeFieldOverflow, `${formatType(type)} out of range`);
}

function need(condition: boolean, type: SqlType): true {
  if (!condition) throw invalid(type);
  return true;
}

function invalid(type: SqlType, cause?: unknown): DatabaseError {
  return new DatabaseError(
    SQLSTATE.invalidBinaryRepresentation,
    `incorrect binary data format for a parameter of type ${formatType(type)}`,
    cause === undefined ? {} : { cause },
  );
}

function isTextKind(type: SqlType): boolean {
  return type.kind === "text" || type.kind === "varchar" || type.kind === "unknown";
}

/** Whether values of both types have the same JavaScript form and range, so that nothing needs to be converted. */
function sameForm(declared: SqlType, wanted: SqlType): boolean {
  if (declared.kind !== wanted.kind) return false;
  if (declared.kind === "numeric") return equalTypes(declared, wanted);
  if (declared.kind === "array" && wanted.kind === "array") return sameForm(declared.element, wanted.element);
  return !("length" in wanted) && !limitsTime(wanted);
}

function parseStructure(json: string): JavaScriptValue {
  try {
    return JSON.parse(json) as JavaScriptValue;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new DatabaseError(SQLSTATE.invalidTextRepresentation, "invalid input syntax for type json", {
      cause: error,
    });
  }
}

function normalized(value: bigint): number | bigint {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) && value >= -BigInt(Number.MAX_SAFE_INTEGER)
    ? Number(value)
    : value;
}

/** PostgreSQL's spelling of a float; the shortest digits that give the same number. */
function floatText(value: number): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

function replaceUnrepresentable(this: unknown, _key: string, value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Uint8Array) return "\\x" + value.toHex();
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  return value;
}
