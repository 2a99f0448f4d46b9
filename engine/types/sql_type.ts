/**
 * The types of SQL values. A {@link SqlType} determines how a value is represented in JavaScript:
 *
 * - `bool`: boolean. Integers up to 32 bits, `oid` and `date`: number.
 * - `i64 u64 time timestamp timestamptz` and `numeric` with a static scale: a *mixed integer*, that is a number when
 *   it is a safe integer and a bigint otherwise, always normalized, so that `===`, `<` and Map keys are exact.
 * - `numeric` without a static scale: `Decimal`. Floats: number. Text kinds, `uuid json jsonb`: string.
 * - `enum`: the number of its label, see `enum_type.ts`.
 * - `bytea bytes`: Uint8Array. `interval`: `Interval`. `array`: `SqlArray`. NULL: null, in every type.
 *
 * Dates are days and times are microseconds, both since 2000-01-01, as in PostgreSQL; infinities are JavaScript's.
 */

/** Kinds without parameters. */
export type SimpleTypeKind =
  | "bool"
  | "i8"
  | "i16"
  | "i32"
  | "i64"
  | "u8"
  | "u16"
  | "u32"
  | "u64"
  | "f32"
  | "f64"
  | "text"
  | "name"
  | "bytea"
  | "date"
  | "time"
  | "timestamp"
  | "timestamptz"
  | "interval"
  | "uuid"
  | "json"
  | "jsonb"
  | "jsonpath"
  | "oid"
  | "regclass"
  | "regtype"
  | "regproc"
  | "regnamespace"
  | "internal_char"
  | "void"
  /** An untyped literal or NULL whose type is still to be inferred; never the type of a stored column. */
  | "unknown";

/** The type of a value or column. */
export type SqlType =
  | { readonly kind: SimpleTypeKind }
  /** `precision`: how many digits of the seconds are kept, 0 to 6; see {@link temporalPrecision}. */
  | { readonly kind: TemporalTypeKind; readonly precision: number }
  /** An interval that keeps no smaller fields than the last of `fields`. */
  | { readonly kind: "interval"; readonly fields: IntervalRange; readonly precision?: number }
  /** `scale` set: values are mixed integers scaled by 10^scale. Unset: values are `Decimal`. */
  | { readonly kind: "numeric"; readonly precision?: number; readonly scale?: number }
  /**
   * A declared type too wide for mixed integers, or with a negative scale: values are `Decimal`, rounded to its
   * scale.
   */
  | WideNumericType
  | { readonly kind: "varchar"; readonly length?: number }
  | { readonly kind: "char"; readonly length: number }
  | { readonly kind: "bytes"; readonly length: number }
  /** `vector`: an `int2vector` or `oidvector` of the system catalog, which is an array that prints without braces. */
  | { readonly kind: "array"; readonly element: SqlType; readonly vector?: true }
  | EnumType
  | { readonly kind: "record"; readonly fields: readonly RecordField[] };

/** See {@link SqlType}; `declaredScale` is from -1000 to 1000, `precision` from 1 to 1000. */
export interface WideNumericType {
  readonly kind: "numeric";
  readonly precision: number;
  readonly declaredScale: number;
  readonly scale?: never;
}

/** The declared digits after the point of a `numeric` type; undefined when it declares none. */
export function declaredScale(type: SqlType & { readonly kind: "numeric" }): number | undefined {
  return "declaredScale" in type ? type.declaredScale : type.scale;
}

/** The kinds that may keep fewer than six digits of the seconds. */
export type TemporalTypeKind = "time" | "timestamp" | "timestamptz" | "interval";

/** The fields that an interval type may name, largest and smallest. */
export const INTERVAL_RANGES = [
  "year",
  "month",
  "day",
  "hour",
  "minute",
  "second",
  "year to month",
  "day to hour",
  "day to minute",
  "day to second",
  "hour to minute",
  "hour to second",
  "minute to second",
] as const;

/** See {@link INTERVAL_RANGES}. */
export type IntervalRange = typeof INTERVAL_RANGES[number];

/** The fields that an interval type names; undefined for all other types. */
export function intervalRange(type: SqlType): IntervalRange | undefined {
  return type.kind === "interval" && "fields" in type ? type.fields : undefined;
}

/** Whether an interval type keeps fewer fields or digits of the seconds than there are, or a time fewer digits. */
export function limitsTime(type: SqlType): boolean {
  return temporalPrecision(type) !== undefined || intervalRange(type) !== undefined;
}

/**
 * Whether values of a type are parts of an array of them, not its elements: arrays are, vectors of the catalog are
 * not.
 */
export function isSubArray(type: SqlType): type is SqlType & { readonly kind: "array" } {
  return type.kind === "array" && type.vector !== true;
}

/** How many digits of the seconds a time, timestamp or interval keeps, or undefined for all six. */
export function temporalPrecision(type: SqlType): number | undefined {
  return "precision" in type && type.kind !== "numeric" ? type.precision : undefined;
}

/** An enumerated type: its labels in order, and the numbers that stand for them. */
export interface EnumType {
  readonly kind: "enum";
  readonly id: number;
  readonly name: string;
  readonly labels: readonly string[];
  readonly numbers: readonly number[];
  /** Labels that have been renamed, as texts of the catalog that are older may have them. */
  readonly former?: readonly { readonly label: string; readonly number: number }[];
}

/** A field of an anonymous row value such as `ROW(1, 'a')`. */
export interface RecordField {
  readonly name: string;
  readonly type: SqlType;
}

/** Every kind of {@link SqlType}. */
export type SqlTypeKind = SqlType["kind"];
