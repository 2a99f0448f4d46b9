/**
 * Names, object identifiers and modifiers of types: from the words of a type name in SQL to a {@link SqlType}, and
 * from a type to PostgreSQL's spelling and numbers.
 *
 * The native types (`u32`, …) have names of their own in SQL but on the wire the object identifier of the next wider
 * signed type, `u64` that of numeric. Limits: numeric precision 1 to 1000; character lengths 1 to 10485760.
 */
import { unreachable } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { didYouMean } from "../base/suggest.ts";
import { enumName } from "./enum_type.ts";
import type { IntervalRange, SimpleTypeKind, SqlType, TemporalTypeKind } from "./sql_type.ts";
import { declaredScale, INTERVAL_RANGES, intervalRange, temporalPrecision } from "./sql_type.ts";

/** Up to so many digits a `numeric` is kept as an integer. */
const MAX_STATIC_PRECISION = 38;

/** Single-word names of types that take no modifier. */
const PLAIN: Readonly<Record<string, SimpleTypeKind>> = {
  bool: "bool",
  boolean: "bool",
  i8: "i8",
  i16: "i16",
  smallint: "i16",
  int2: "i16",
  i32: "i32",
  int: "i32",
  integer: "i32",
  int4: "i32",
  i64: "i64",
  bigint: "i64",
  int8: "i64",
  u8: "u8",
  u16: "u16",
  u32: "u32",
  u64: "u64",
  f32: "f32",
  real: "f32",
  float4: "f32",
  f64: "f64",
  float8: "f64",
  "double precision": "f64",
  text: "text",
  name: "name",
  bytea: "bytea",
  date: "date",
  uuid: "uuid",
  json: "json",
  jsonb: "jsonb",
  jsonpath: "jsonpath",
  oid: "oid",
  regclass: "regclass",
  regtype: "regtype",
  regproc: "regproc",
  // A name with its argument types is read, and the name alone is shown.
  regprocedure: "regproc",
  regnamespace: "regnamespace",
  '"char"': "internal_char",
  void: "void",
  unknown: "unknown",
};

const TEMPORAL: Readonly<Record<string, TemporalTypeKind>> = {
  time: "time",
  "time without time zone": "time",
  timestamp: "timestamp",
  "timestamp without time zone": "timestamp",
  timestamptz: "timestamptz",
  "timestamp with time zone": "timestamptz",
  interval: "interval",
};

const VARYING = new Set([
  "varchar",
  "character varying",
  "char varying",
  "national character varying",
  "national char varying",
  "nchar varying",
]);
const FIXED = new Set(["char", "character", "bpchar", "nchar", "national character", "national char"]);
const EXACT = new Set(["numeric", "decimal", "dec"]);

const SERIAL: Readonly<Record<string, SimpleTypeKind>> = {
  smallserial: "i16",
  serial2: "i16",
  serial: "i32",
  serial4: "i32",
  bigserial: "i64",
  serial8: "i64",
};

/** Every name of a type that SQL accepts, for suggestions. */
export const TYPE_NAMES: readonly string[] = [
  ...Object.keys(PLAIN).filter((name) => !name.startsWith('"')),
  ...Object.keys(TEMPORAL),
  ...VARYING,
  ...FIXED,
  ...EXACT,
  ...Object.keys(SERIAL),
  "float",
  "bytes",
];

/** The words that may start a type name of several words, or end one. */
export const TYPE_CONTINUATIONS: Readonly<Record<string, readonly string[]>> = {
  double: ["precision"],
  character: ["varying"],
  char: ["varying"],
  nchar: ["varying"],
  national: ["character", "char"],
  time: ["without time zone", "with time zone"],
  timestamp: ["without time zone", "with time zone"],
};

/** A type name as the parser read it. */
export interface TypeNameParts {
  /** The words in lower case without schema, such as `["character", "varying"]`; `"char"` in its quotes. */
  readonly words: readonly string[];
  /** The numbers in parentheses. */
  readonly modifiers?: readonly number[];
  /** How many `[]` follow; all arrays of one element type are one type. */
  readonly arrayDimensions?: number;
}

/** The integer type behind `serial`, `bigserial` and `smallserial`, or undefined for other names. */
export function serialTypeOf(name: string): SqlType | undefined {
  const kind = Object.hasOwn(SERIAL, name) ? SERIAL[name] : undefined;
  return kind === undefined ? undefined : { kind };
}

/** The type of a name, or undefined when no type is called so; 22023 or 42601 for wrong modifiers. */
export function typeByName(words: readonly string[], modifiers: readonly number[] = []): SqlType | undefined {
  const name = words.join(" ");
  const plain = Object.hasOwn(PLAIN, name) ? PLAIN[name] : undefined;
  if (plain !== undefined) {
    if (modifiers.length > 0) throw noModifier(name);
    return { kind: plain };
  }
  const temporal = Object.hasOwn(TEMPORAL, name) ? TEMPORAL[name] : undefined;
  if (temporal !== undefined) return temporalType(temporal, modifiers);
  if (VARYING.has(name)) {
    return modifiers.length === 0
      ? { kind: "varchar" }
      : { kind: "varchar", length: checkLength("varchar", modifiers) };
  }
  if (FIXED.has(name)) {
    if (modifiers.length > 0) return { kind: "char", length: checkLength("char", modifiers) };
    // Without a length bpchar has no padding to add: it behaves as text.
    return name === "bpchar" ? { kind: "text" } : { kind: "char", length: 1 };
  }
  if (EXACT.has(name)) return numericType(modifiers);
  if (name === "float") return floatType(modifiers);
  if (name === "int2vector" || name === "oidvector") {
    if (modifiers.length > 0) throw noModifier(name);
    return { kind: "array", element: { kind: name === "oidvector" ? "oid" : "i16" }, vector: true };
  }
  if (name === "bytes") {
    return modifiers.length === 0
      ? { kind: "bytea" }
      : { kind: "bytes", length: checkLength("bytes", modifiers) };
  }
  if (name.startsWith("_") && modifiers.length === 0) {
    const element = typeByName([name.slice(1)]);
    return element === undefined ? undefined : { kind: "array", element };
  }
  return undefined;
}

/** The type of a parsed name; 42704 `type "…" does not exist` with a suggestion. */
export function resolveTypeName(parts: TypeNameParts): SqlType {
  const type = typeByName(parts.words, parts.modifiers);
  if (type === undefined) {
    const name = parts.words.join(" ");
    const hint = didYouMean(name, TYPE_NAMES);
    throw new DatabaseError(
      SQLSTATE.undefinedObject,
      `type "${name}" does not exist`,
      hint === undefined ? {} : { hint },
    );
  }
  const dimensions = parts.arrayDimensions ?? 0;
  if (dimensions === 0) return type;
  if (dimensions > LIMITS.maximumArrayDimensions) {
    throw new DatabaseError(
      SQLSTATE.programLimitExceeded,
      `number of array dimensions (${dimensions}) exceeds the maximum allowed (${LIMITS.maximumArrayDimensions})`,
    );
  }
  return { kind: "array", element: type };
}

/** Parses a type name given as text, such as `numeric(10,2)[]`; undefined when it is none. */
export function parseTypeText(text: string): SqlType | undefined {
  // Words after the modifiers belong to the name: `timestamp(3) with time zone`.
  const pattern =
    /^(?:pg_catalog\.)?("char"|[a-z_][a-z0-9_ ]*?)\s*(?:\(\s*(-?\d+(?:\s*,\s*-?\d+)*)\s*\)((?: [a-z]+)*))?\s*((?:\[\d*\]\s*)*)$/;
  const match = pattern.exec(text.trim().toLowerCase().replace(/\s+/g, " "));
  if (match === null) return undefined;
  const words = `${match[1] ?? ""}${match[3] ?? ""}`.trim().split(" ");
  const modifiers = match[2] === undefined ? [] : match[2].split(",").map(Number);
  const element = typeByName(words, modifiers);
  if (element === undefined) return undefined;
  return (match[4] ?? "") === "" ? element : { kind: "array", element };
}

function noModifier(name: string): DatabaseError {
  return new DatabaseError(SQLSTATE.syntaxError, `type modifier is not allowed for type "${name}"`);
}

function invalidModifier(message: string): DatabaseError {
  return new DatabaseError(SQLSTATE.invalidParameterValue, message);
}

function checkLength(name: string, modifiers: readonly number[]): number {
  const [length = 0] = modifiers;
  if (modifiers.length !== 1) throw invalidModifier("invalid type modifier");
  if (length < 1) throw invalidModifier(`length for type ${name} must be at least 1`);
  if (length > LIMITS.maximumCharacterLength) {
    throw invalidModifier(`length for type ${name} cannot exceed ${LIMITS.maximumCharacterLength}`);
  }
  return length;
}

function temporalType(kind: TemporalTypeKind, modifiers: readonly number[]): SqlType {
  const [precision] = modifiers;
  if (precision === undefined) return { kind };
  if (modifiers.length !== 1) throw invalidModifier("invalid type modifier");
  const shown = kind === "timestamptz" ? "TIMESTAMP" : kind.toUpperCase();
  if (precision < 0) {
    throw invalidModifier(
      `${shown}(${precision})${
        kind === "timestamptz" ? " WITH TIME ZONE" : ""
      } precision must not be negative`,
    );
  }
  return precision >= 6 ? { kind } : { kind, precision };
}

function numericType(modifiers: readonly number[]): SqlType {
  const [precision, scale = 0] = modifiers;
  if (precision === undefined) return { kind: "numeric" };
  if (modifiers.length > 2) throw invalidModifier("invalid NUMERIC type modifier");
  if (precision < 1 || precision > LIMITS.maximumNumericPrecision) {
    throw invalidModifier(
      `NUMERIC precision ${precision} must be between 1 and ${LIMITS.maximumNumericPrecision}`,
    );
  }
  if (scale < -LIMITS.maximumNumericPrecision || scale > LIMITS.maximumNumericPrecision) {
    throw invalidModifier(
      `NUMERIC scale ${scale} must be between ${-LIMITS
        .maximumNumericPrecision} and ${LIMITS.maximumNumericPrecision}`,
    );
  }
  return declaredNumeric(precision, scale);
}

/** `numeric(precision, scale)`, as an integer where it may be one. */
function declaredNumeric(precision: number, scale: number): SqlType {
  return precision <= MAX_STATIC_PRECISION && scale >= 0 && scale <= MAX_STATIC_PRECISION
    ? { kind: "numeric", precision, scale }
    : { kind: "numeric", precision, declaredScale: scale };
}

function floatType(modifiers: readonly number[]): SqlType {
  const [bits = 53] = modifiers;
  if (modifiers.length > 1) throw invalidModifier("invalid type modifier");
  if (bits < 1) throw invalidModifier("precision for type float must be at least 1 bit");
  if (bits > 53) throw invalidModifier("precision for type float must be less than 54 bits");
  return { kind: bits <= 24 ? "f32" : "f64" };
}

/** PostgreSQL's spelling of a type (`format_type`): `character varying(10)`, `timestamp with time zone`, `text[]`. */
export function formatType(type: SqlType): string {
  switch (type.kind) {
    case "bool":
      return "boolean";
    case "i16":
      return "smallint";
    case "i32":
      return "integer";
    case "i64":
      return "bigint";
    case "f32":
      return "real";
    case "f64":
      return "double precision";
    case "internal_char":
      return '"char"';
    case "time":
    case "timestamp":
      return `${type.kind}${precisionSuffix(type)} without time zone`;
    case "timestamptz":
      return `timestamp${precisionSuffix(type)} with time zone`;
    case "interval":
      return `interval${intervalSuffix(type)}${precisionSuffix(type)}`;
    case "numeric":
      return type.precision === undefined || type.precision > LIMITS.maximumNumericPrecision
        ? "numeric"
        : `numeric(${type.precision},${declaredScale(type) ?? 0})`;
    case "varchar":
      return type.length === undefined ? "character varying" : `character varying(${type.length})`;
    case "char":
      return `character(${type.length})`;
    case "bytes":
      return `bytes(${type.length})`;
    case "enum":
      return enumName(type);
    case "array":
      return type.vector === true ? vectorName(type.element) : `${formatType(type.element)}[]`;
    case "i8":
    case "u8":
    case "u16":
    case "u32":
    case "u64":
    case "text":
    case "name":
    case "bytea":
    case "date":
    case "uuid":
    case "json":
    case "jsonb":
    case "jsonpath":
    case "oid":
    case "regclass":
    case "regtype":
    case "regproc":
    case "regnamespace":
    case "void":
    case "unknown":
    case "record":
      return type.kind;
    default:
      return unreachable(type);
  }
}

/** Like {@link formatType} without lengths and precisions, as messages about operators and functions name types. */
export function formatTypeFamily(type: SqlType): string {
  switch (type.kind) {
    case "numeric":
      return "numeric";
    case "varchar":
      return "character varying";
    case "char":
      return "character";
    case "bytes":
      return "bytea";
    case "time":
    case "timestamp":
    case "timestamptz":
    case "interval":
      return formatType({ kind: type.kind });
    case "array":
      return `${formatTypeFamily(type.element)}[]`;
    default:
      return formatType(type);
  }
}

function intervalSuffix(type: SqlType): string {
  const fields = intervalRange(type);
  return fields === undefined ? "" : ` ${fields}`;
}

/** Bits of an interval's fields in `atttypmod`. */
const FIELD_BITS: Readonly<Record<string, number>> = {
  month: 1 << 1,
  year: 1 << 2,
  day: 1 << 3,
  hour: 1 << 10,
  minute: 1 << 11,
  second: 1 << 12,
};
const ALL_FIELDS = 0x7fff;
const ANY_PRECISION = 0xffff;

/** A range has the bits of all fields from its first to its last. */
const INTERVAL_MASKS = Object.fromEntries(
  INTERVAL_RANGES.map((range) => {
    const [first = "", last = first] = range.split(" to ");
    const order = ["year", "month", "day", "hour", "minute", "second"];
    const within = order.slice(order.indexOf(first), order.indexOf(last) + 1);
    return [range, within.reduce((mask, field) => mask | (FIELD_BITS[field] ?? 0), 0)];
  }),
) as Readonly<Record<IntervalRange, number>>;

function precisionSuffix(type: SqlType): string {
  const precision = temporalPrecision(type);
  return precision === undefined ? "" : `(${precision})`;
}

interface WireType {
  readonly oid: number;
  readonly arrayOid: number;
  /** `pg_type.typname`. */
  readonly name: string;
  /** `pg_type.typlen`: bytes, or -1 when it varies. */
  readonly length: number;
}

const INT2: WireType = { oid: 21, arrayOid: 1005, name: "int2", length: 2 };
const INT4: WireType = { oid: 23, arrayOid: 1007, name: "int4", length: 4 };
const INT8: WireType = { oid: 20, arrayOid: 1016, name: "int8", length: 8 };
const NUMERIC: WireType = { oid: 1700, arrayOid: 1231, name: "numeric", length: -1 };
const BYTEA: WireType = { oid: 17, arrayOid: 1001, name: "bytea", length: -1 };

const WIRE: Readonly<Record<Exclude<SqlType["kind"], "array" | "enum">, WireType>> = {
  bool: { oid: 16, arrayOid: 1000, name: "bool", length: 1 },
  i8: INT2,
  i16: INT2,
  i32: INT4,
  i64: INT8,
  u8: INT2,
  u16: INT4,
  u32: INT8,
  u64: NUMERIC,
  f32: { oid: 700, arrayOid: 1021, name: "float4", length: 4 },
  f64: { oid: 701, arrayOid: 1022, name: "float8", length: 8 },
  numeric: NUMERIC,
  text: { oid: 25, arrayOid: 1009, name: "text", length: -1 },
  varchar: { oid: 1043, arrayOid: 1015, name: "varchar", length: -1 },
  char: { oid: 1042, arrayOid: 1014, name: "bpchar", length: -1 },
  internal_char: { oid: 18, arrayOid: 1002, name: "char", length: 1 },
  name: { oid: 19, arrayOid: 1003, name: "name", length: 64 },
  bytea: BYTEA,
  bytes: BYTEA,
  date: { oid: 1082, arrayOid: 1182, name: "date", length: 4 },
  time: { oid: 1083, arrayOid: 1183, name: "time", length: 8 },
  timestamp: { oid: 1114, arrayOid: 1115, name: "timestamp", length: 8 },
  timestamptz: { oid: 1184, arrayOid: 1185, name: "timestamptz", length: 8 },
  interval: { oid: 1186, arrayOid: 1187, name: "interval", length: 16 },
  uuid: { oid: 2950, arrayOid: 2951, name: "uuid", length: 16 },
  json: { oid: 114, arrayOid: 199, name: "json", length: -1 },
  jsonb: { oid: 3802, arrayOid: 3807, name: "jsonb", length: -1 },
  jsonpath: { oid: 4072, arrayOid: 4073, name: "jsonpath", length: -1 },
  oid: { oid: 26, arrayOid: 1028, name: "oid", length: 4 },
  regclass: { oid: 2205, arrayOid: 2210, name: "regclass", length: 4 },
  regtype: { oid: 2206, arrayOid: 2211, name: "regtype", length: 4 },
  regproc: { oid: 24, arrayOid: 1008, name: "regproc", length: 4 },
  regnamespace: { oid: 4089, arrayOid: 4090, name: "regnamespace", length: 4 },
  record: { oid: 2249, arrayOid: 2287, name: "record", length: -1 },
  void: { oid: 2278, arrayOid: 0, name: "void", length: 4 },
  unknown: { oid: 705, arrayOid: 0, name: "unknown", length: -2 },
};

/** The array type of an enumerated type has the number after it in a range of its own. */
export const ENUM_ARRAY_OFFSET = 0x4000_0000;

const SMALLINT_VECTOR = 22;
const SMALLINT_VECTOR_ARRAY = 1006;
const OID_VECTOR_ARRAY = 1013;
const OID_VECTOR = 30;

/** The name of a vector type of the catalogs. */
function vectorName(element: SqlType): string {
  return element.kind === "oid" ? "oidvector" : "int2vector";
}

/** The object identifier that clients see for the type. */
export function typeOid(type: SqlType): number {
  if (type.kind === "array" && type.element.kind === "array" && type.element.vector === true) {
    return type.element.element.kind === "oid" ? OID_VECTOR_ARRAY : SMALLINT_VECTOR_ARRAY;
  }
  if (type.kind === "enum") return type.id;
  if (type.kind !== "array") return WIRE[type.kind].oid;
  if (type.vector === true) return type.element.kind === "oid" ? OID_VECTOR : SMALLINT_VECTOR;
  if (type.element.kind === "enum") return type.element.id + ENUM_ARRAY_OFFSET;
  return type.element.kind === "array" ? typeOid(type.element) : WIRE[type.element.kind].arrayOid;
}

/** `pg_type.typname`: `int4`, `_text`. */
export function catalogTypeName(type: SqlType): string {
  if (type.kind === "enum") return type.name;
  if (type.kind !== "array") return WIRE[type.kind].name;
  return type.vector === true ? vectorName(type.element) : `_${catalogTypeName(type.element)}`;
}

/** `pg_type.typlen`: the size in bytes, -1 when it varies. */
export function typeLength(type: SqlType): number {
  if (type.kind === "enum") return 4;
  return type.kind === "array" ? -1 : WIRE[type.kind].length;
}

/** `atttypmod` as in PostgreSQL: length or precision, -1 without. */
export function typeModifier(type: SqlType): number {
  switch (type.kind) {
    case "varchar":
      return type.length === undefined ? -1 : type.length + 4;
    case "char":
      return type.length + 4;
    case "numeric":
      return type.precision === undefined || type.precision > LIMITS.maximumNumericPrecision
        ? -1
        : ((type.precision << 16) | ((declaredScale(type) ?? 0) & 0x7ff)) + 4;
    case "time":
    case "timestamp":
    case "timestamptz":
      return temporalPrecision(type) ?? -1;
    case "interval": {
      const precision = temporalPrecision(type);
      const fields = intervalRange(type);
      if (fields !== undefined) return (INTERVAL_MASKS[fields] << 16) | (precision ?? ANY_PRECISION);
      return precision === undefined ? -1 : (ALL_FIELDS << 16) | precision;
    }
    case "array":
      return typeModifier(type.element);
    default:
      return -1;
  }
}

const BY_OID: ReadonlyMap<number, SqlType> = (() => {
  const types = new Map<number, SqlType>();
  const simple: readonly SqlType[] = [
    ...Object.values(PLAIN).map((kind): SqlType => ({ kind })),
    ...Object.values(TEMPORAL).map((kind): SqlType => ({ kind })),
    { kind: "numeric" },
    { kind: "varchar" },
  ];
  const preferred = new Set<string>(["i16", "i32", "i64", "numeric"]);
  for (const type of simple) {
    if (type.kind === "array" || type.kind === "enum") continue;
    const { oid, arrayOid } = WIRE[type.kind];
    if (types.has(oid) && !preferred.has(type.kind)) continue;
    types.set(oid, type);
    if (arrayOid !== 0) types.set(arrayOid, { kind: "array", element: type });
  }
  // A character type of unknown length does not pad; vectors of the catalogs are arrays too.
  types.set(1042, { kind: "text" });
  types.set(1014, { kind: "array", element: { kind: "text" } });
  types.set(SMALLINT_VECTOR, { kind: "array", element: { kind: "i16" }, vector: true });
  types.set(OID_VECTOR, { kind: "array", element: { kind: "oid" }, vector: true });
  for (
    const [vector, array] of [[SMALLINT_VECTOR, SMALLINT_VECTOR_ARRAY], [
      OID_VECTOR,
      OID_VECTOR_ARRAY,
    ]] as const
  ) {
    const element = types.get(vector);
    if (element !== undefined) types.set(array, { kind: "array", element });
  }
  return types;
})();

/** The type of an object identifier, with its modifier when given; undefined when there is none. */
export function typeByOid(oid: number, modifier = -1): SqlType | undefined {
  const type = BY_OID.get(oid);
  if (type === undefined || modifier < 0) return type;
  if (oid === 1042 && modifier > 4) return { kind: "char", length: modifier - 4 };
  switch (type.kind) {
    case "varchar":
      return modifier > 4 ? { kind: "varchar", length: modifier - 4 } : type;
    case "numeric":
      // The scale is a signed number of eleven bits.
      return modifier < 4 ? type : declaredNumeric((modifier - 4) >> 16, (modifier - 4) << 21 >> 21);
    case "time":
    case "timestamp":
    case "timestamptz":
      return { kind: type.kind, precision: modifier };
    case "interval": {
      const digits = modifier & 0xffff;
      const mask = (modifier >> 16) & ALL_FIELDS;
      const fields = INTERVAL_RANGES.find((range) => INTERVAL_MASKS[range] === mask);
      if (fields === undefined && mask !== ALL_FIELDS) {
        const message = `invalid INTERVAL typmod: 0x${modifier.toString(16)}`;
        throw new DatabaseError(SQLSTATE.invalidParameterValue, message);
      }
      const precision = digits === ANY_PRECISION ? {} : { precision: digits };
      return fields === undefined
        ? { kind: "interval", ...precision }
        : { kind: "interval", fields, ...precision };
    }
    case "array": {
      const element = type.vector === true ? undefined : typeByOid(typeOid(type.element), modifier);
      return element === undefined ? type : { kind: "array", element };
    }
    default:
      return type;
  }
}

/**
 * PostgreSQL's `format_type`: the type of an object identifier with its modifier, which is shown as it is where the
 * type takes none; undefined when there is no such type. Raises 22023 for an interval's modifier without meaning.
 */
export function formatTypeByOid(oid: number, modifier: number | null): string | undefined {
  if (oid === 1014) return `${formatTypeByOid(1042, modifier)}[]`;
  if (oid === 1042 && (modifier ?? 0) <= 4) return (modifier ?? 0) < 0 ? "bpchar" : "character";
  const type = typeByOid(oid, modifier ?? -1);
  if (type === undefined || modifier === null || modifier < 0) {
    return type === undefined ? undefined : formatType(type);
  }
  const element = type.kind === "array" && type.vector !== true ? type.element : type;
  return `${formatModified(element, modifier)}${element === type ? "" : "[]"}`;
}

function formatModified(type: SqlType, modifier: number): string {
  if (type.kind === "numeric" && modifier >= 4) {
    // Also digits that no column may declare are shown.
    return `numeric(${((modifier - 4) >> 16) & 0xffff},${(modifier - 4) << 21 >> 21})`;
  }
  return MODIFIED_KINDS.has(type.kind) ? formatType(type) : `${formatType(type)}(${modifier})`;
}

/** Types whose names have a place for their modifier, or none for any. */
const MODIFIED_KINDS: ReadonlySet<SqlType["kind"]> = new Set<SqlType["kind"]>(
  "bool i16 i32 i64 f32 f64 time timestamp timestamptz interval numeric varchar char".split(
    " ",
  ) as SqlType["kind"][],
);

/** Whether two types are the same, modifiers included. */
export function equalTypes(left: SqlType, right: SqlType): boolean {
  if (left === right) return true;
  if (left.kind !== right.kind) return false;
  if (left.kind === "array" && right.kind === "array") return equalTypes(left.element, right.element);
  if (left.kind === "record" && right.kind === "record") {
    return left.fields.length === right.fields.length && left.fields.every((field, index) => {
      const other = right.fields[index];
      return other !== undefined && field.name === other.name && equalTypes(field.type, other.type);
    });
  }
  if (left.kind === "numeric" && right.kind === "numeric") {
    return left.precision === right.precision && left.scale === right.scale &&
      declaredScale(left) === declaredScale(right);
  }
  if (left.kind === "enum" && right.kind === "enum") return left.id === right.id;
  if (left.kind === "bytes" && right.kind === "bytes") return left.length === right.length;
  return typeModifier(left) === typeModifier(right);
}
