/**
 * The physical form of each type: what storage keeps of its values and what JavaScript computes with. Comparison,
 * codecs, row buffers and code generation ask this one table.
 */
import { assert } from "../base/assert.ts";
import type { SqlType, SqlTypeKind } from "./sql_type.ts";

/** Which values of different types are compared, hashed and encoded alike. */
export type PhysicalClass =
  | "boolean"
  | "integer"
  | "float"
  | "decimal"
  | "text"
  | "bytes"
  | "interval"
  | "array"
  | "record"
  | "void";

/** How storage keeps a column: `int` also holds bool (0/1) and scaled numerics, `bytes` all that has a value codec. */
export type StorageClass = "int" | "float" | "text" | "bytes";

/** What JavaScript holds: integers beyond 2^53 are bigints, the others numbers. */
export type Form = "number" | "number_or_bigint" | "boolean" | "string" | "object";

/** The physical form of a type. */
export interface PhysicalType {
  readonly class: PhysicalClass;
  readonly storage: StorageClass;
  readonly form: Form;
  /** Whether every value is a 32-bit signed integer. */
  readonly isInt32: boolean;
}

function physical(kind: PhysicalClass, storage: StorageClass, form: Form, isInt32 = false): PhysicalType {
  return { class: kind, storage, form, isInt32 };
}

const BOOLEAN = physical("boolean", "int", "boolean");
const INT32 = physical("integer", "int", "number", true);
const SMALL_INTEGER = physical("integer", "int", "number");
const INTEGER = physical("integer", "int", "number_or_bigint");
const FLOAT = physical("float", "float", "number");
const TEXT = physical("text", "text", "string");
const BYTES = physical("bytes", "bytes", "object");
const DECIMAL = physical("decimal", "bytes", "object");

const PHYSICAL_TYPES: Readonly<Record<SqlTypeKind, PhysicalType>> = {
  bool: BOOLEAN,
  i8: INT32,
  i16: INT32,
  i32: INT32,
  u8: INT32,
  u16: INT32,
  u32: SMALL_INTEGER,
  oid: SMALL_INTEGER,
  regclass: SMALL_INTEGER,
  regtype: SMALL_INTEGER,
  regproc: SMALL_INTEGER,
  regnamespace: SMALL_INTEGER,
  enum: SMALL_INTEGER,
  // Dates may be infinite.
  date: SMALL_INTEGER,
  i64: INTEGER,
  u64: INTEGER,
  time: INTEGER,
  timestamp: INTEGER,
  timestamptz: INTEGER,
  // With a scale, an integer: see physicalTypeOf().
  numeric: DECIMAL,
  f32: FLOAT,
  f64: FLOAT,
  text: TEXT,
  name: TEXT,
  varchar: TEXT,
  char: TEXT,
  uuid: TEXT,
  json: TEXT,
  jsonb: TEXT,
  jsonpath: TEXT,
  internal_char: TEXT,
  unknown: TEXT,
  bytea: BYTES,
  bytes: BYTES,
  interval: physical("interval", "bytes", "object"),
  array: physical("array", "bytes", "object"),
  record: physical("record", "bytes", "object"),
  void: physical("void", "bytes", "object"),
};

/** The physical form of a type; a numeric of a known scale is an integer. */
export function physicalTypeOf(type: SqlType): PhysicalType {
  return type.kind === "numeric" && type.scale !== undefined ? INTEGER : PHYSICAL_TYPES[type.kind];
}

/** How storage keeps a column of the type. */
export function storageClassOf(type: SqlType): StorageClass {
  return physicalTypeOf(type).storage;
}

/** The element type of an array type. */
export function elementOf(type: SqlType): SqlType {
  assert(type.kind === "array", "only arrays have elements");
  return type.element;
}

/** The types of a record type's fields. */
export function fieldTypesOf(type: SqlType): readonly SqlType[] {
  assert(type.kind === "record", "only records have fields");
  return type.fields.map((field) => field.type);
}
