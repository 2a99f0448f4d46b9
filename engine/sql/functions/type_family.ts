/**
 * What overload resolution knows of types: a *key* (the type without length, precision or scale), its category, whether
 * it is the preferred type of that category, and which keys convert to which by themselves.
 *
 * The rules and tables are those of PostgreSQL ("Type Conversion" in its manual; `pg_type.typcategory`, `pg_cast`),
 * extended by the native integer types, which widen to the next type that holds all their values.
 */
import type { SimpleTypeKind, SqlType } from "../../types/sql_type.ts";
import { enumName } from "../../types/enum_type.ts";
import type { CastContext } from "./definition.ts";

/** A type without its modifiers, such as `i32`, `numeric`, `text[]`; or a pattern such as `anyelement`. */
export type TypeKey = string;

/** PostgreSQL's `typcategory` letters, as far as they are needed. */
export type TypeCategory = "A" | "B" | "D" | "E" | "N" | "P" | "S" | "T" | "U" | "X" | "Z";

const simpleKinds = [
  "bool",
  "i8",
  "i16",
  "i32",
  "i64",
  "u8",
  "u16",
  "u32",
  "u64",
  "f32",
  "f64",
  "text",
  "name",
  "bytea",
  "date",
  "time",
  "timestamp",
  "timestamptz",
  "interval",
  "uuid",
  "json",
  "jsonb",
  "jsonpath",
  "oid",
  "regclass",
  "regtype",
  "regproc",
  "regnamespace",
  "internal_char",
  "void",
  "unknown",
] as const satisfies readonly SimpleTypeKind[];

const simpleTypes: ReadonlyMap<string, SqlType> = new Map(
  simpleKinds.map((kind) => [kind, { kind } as const]),
);

/** The longest `character(n)`; stands for a `char` whose length does not matter. */
export const longestCharacterLength = 10_485_760;

/** Types that are spelled otherwise in messages than by their key. */
const displayNames: ReadonlyMap<string, string> = new Map([
  ["bool", "boolean"],
  ["i16", "smallint"],
  ["i32", "integer"],
  ["i64", "bigint"],
  ["f32", "real"],
  ["f64", "double precision"],
  ["varchar", "character varying"],
  ["char", "character"],
  ["time", "time without time zone"],
  ["timestamp", "timestamp without time zone"],
  ["timestamptz", "timestamp with time zone"],
  ["internal_char", '"char"'],
  ["any", '"any"'],
]);

/** The key of a type. */
export function typeKey(type: SqlType): TypeKey {
  switch (type.kind) {
    case "array":
      return `${typeKey(type.element)}[]`;
    case "bytes":
      return "bytea";
    case "enum":
      return `enum:${type.id}:${type.name}`;
    default:
      return type.kind;
  }
}

/** The type of a key, without modifiers; undefined for patterns such as `anyelement`. */
export function typeOfKey(key: TypeKey): SqlType | undefined {
  if (key.endsWith("[]")) {
    const element = typeOfKey(key.slice(0, -2));
    return element === undefined ? undefined : { kind: "array", element };
  }
  switch (key) {
    case "numeric":
      return { kind: "numeric" };
    case "varchar":
      return { kind: "varchar" };
    case "char":
      return { kind: "char", length: longestCharacterLength };
    case "record":
      return { kind: "record", fields: [] };
    default:
      return simpleTypes.get(key);
  }
}

/** The name of a key in messages: `integer`, `character varying`, `text[]`. */
export function displayName(key: TypeKey): string {
  if (key.endsWith("[]")) return `${displayName(key.slice(0, -2))}[]`;
  if (isEnumKey(key)) return enumName({ name: key.slice(key.indexOf(":", 5) + 1) });
  return displayNames.get(key) ?? key;
}

/** True for the key of an enumerated type. */
export function isEnumKey(key: TypeKey): boolean {
  return key.startsWith("enum:");
}

/** True for the patterns that stand for more than one type. */
export function isPattern(key: TypeKey): boolean {
  return key.startsWith("any");
}

const categories: ReadonlyMap<string, TypeCategory> = new Map<string, TypeCategory>([
  ["bool", "B"],
  ...["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "numeric", "f32", "f64"].map(inCategory("N")),
  ...["oid", "regclass", "regtype", "regproc", "regnamespace"].map(inCategory("N")),
  ...["text", "varchar", "char", "name"].map(inCategory("S")),
  ...["date", "time", "timestamp", "timestamptz"].map(inCategory("D")),
  ["interval", "T"],
  ["internal_char", "Z"],
  ["unknown", "X"],
  ["void", "P"],
  ["record", "P"],
]);

function inCategory(category: TypeCategory): (key: string) => [string, TypeCategory] {
  return (key) => [key, category];
}

/** The category that decides which of several overloads an untyped literal prefers. */
export function categoryOf(key: TypeKey): TypeCategory {
  if (key.endsWith("[]")) return "A";
  if (isPattern(key)) return "P";
  if (isEnumKey(key)) return "E";
  return categories.get(key) ?? "U";
}

/** True for the type that its category prefers. */
export function isPreferred(key: TypeKey): boolean {
  return key === "bool" || key === "f64" || key === "oid" || key === "text" || key === "timestamptz" ||
    key === "interval";
}

/** True for the types of whole numbers (without `oid` and `numeric`). */
export function isIntegerKey(key: TypeKey): boolean {
  return integerBits.has(key);
}

const integerBits: ReadonlyMap<string, number> = new Map([
  ["i8", 8],
  ["i16", 16],
  ["i32", 32],
  ["i64", 64],
  ["u8", 8],
  ["u16", 16],
  ["u32", 32],
  ["u64", 64],
]);

/** The least and greatest value of an integer type; undefined for other keys. */
export function integerRange(
  key: TypeKey,
): { readonly least: bigint; readonly greatest: bigint } | undefined {
  const bits = integerBits.get(key);
  if (bits === undefined) return undefined;
  return key.startsWith("u")
    ? { least: 0n, greatest: (1n << BigInt(bits)) - 1n }
    : { least: -(1n << BigInt(bits - 1)), greatest: (1n << BigInt(bits - 1)) - 1n };
}

/**
 * The type in which operators and functions without an overload for a native type see it: the next wider one of
 * PostgreSQL that holds all its values.
 */
export function widenNative(type: SqlType): SqlType {
  switch (type.kind) {
    case "i8":
    case "u8":
      return { kind: "i16" };
    case "u16":
      return { kind: "i32" };
    case "u32":
      return { kind: "i64" };
    case "u64":
      return { kind: "numeric", precision: 20, scale: 0 };
    case "array":
      return { kind: "array", element: widenNative(type.element) };
    default:
      return type;
  }
}

const numericOrder = ["i16", "i32", "i64", "numeric", "f32", "f64"];
const objectIdentifiers = ["oid", "regclass", "regtype", "regproc", "regnamespace"];
const textual = ["text", "varchar", "char", "name"];
const implicitPairs = new Set<string>();
const assignmentPairs = new Set<string>();
const explicitPairs = new Set<string>();

function pairs(target: Set<string>, from: readonly string[], to: readonly string[]): void {
  for (const source of from) for (const destination of to) target.add(`${source}>${destination}`);
}

function fillCastTables(): void {
  numericOrder.forEach((key, index) => {
    pairs(implicitPairs, [key], numericOrder.slice(index + 1));
    pairs(assignmentPairs, [key], numericOrder.slice(0, index));
  });
  // Native integers: implicit where every value fits, else by assignment with a range check.
  const integers = [...integerBits.keys()];
  for (const from of integers) {
    for (const to of integers) {
      if (from === to) continue;
      const source = integerRange(from);
      const target = integerRange(to);
      if (source === undefined || target === undefined) continue;
      const fits = source.least >= target.least && source.greatest <= target.greatest;
      pairs(fits ? implicitPairs : assignmentPairs, [from], [to]);
    }
  }
  const native = ["i8", "u8", "u16", "u32", "u64"];
  pairs(implicitPairs, native, ["numeric", "f32", "f64"]);
  pairs(assignmentPairs, ["numeric", "f32", "f64"], native);
  pairs(implicitPairs, ["i16", "i32", "i64", "u32", "u16", "u8"], objectIdentifiers);
  pairs(assignmentPairs, objectIdentifiers, ["i32", "i64", "u32", "u64"]);
  pairs(implicitPairs, objectIdentifiers, ["oid"]);
  pairs(implicitPairs, ["oid"], objectIdentifiers);
  pairs(implicitPairs, ["text", "varchar"], ["regclass"]);
  pairs(explicitPairs, ["bool"], ["i32"]);
  pairs(explicitPairs, integers, ["bool"]);
  pairs(explicitPairs, ["bool"], ["i8", "u8", "i16", "u16", "u32", "i64", "u64"]);
  pairs(implicitPairs, textual, textual);
  pairs(implicitPairs, ["internal_char"], ["text"]);
  pairs(assignmentPairs, ["internal_char"], ["varchar", "char"]);
  pairs(assignmentPairs, textual, ["internal_char"]);
  pairs(explicitPairs, ["internal_char"], ["i32"]);
  pairs(explicitPairs, ["i32"], ["internal_char"]);
  pairs(implicitPairs, ["date"], ["timestamp", "timestamptz"]);
  pairs(implicitPairs, ["timestamp"], ["timestamptz"]);
  pairs(assignmentPairs, ["timestamptz"], ["timestamp", "date", "time"]);
  pairs(assignmentPairs, ["timestamp"], ["date", "time"]);
  pairs(implicitPairs, ["time"], ["interval"]);
  pairs(assignmentPairs, ["interval"], ["time"]);
  pairs(assignmentPairs, ["json"], ["jsonb"]);
  pairs(assignmentPairs, ["jsonb"], ["json"]);
  pairs(explicitPairs, ["jsonb"], ["bool", ...numericOrder]);
  for (const pair of implicitPairs) assignmentPairs.delete(pair);
}
fillCastTables();

/**
 * The least context in which a value of one key becomes another: undefined when there is no cast. Casts through the
 * text form are included: to text kinds by assignment, from text kinds explicitly.
 */
export function castContextOf(from: TypeKey, to: TypeKey): CastContext | undefined {
  if (from === to) return "implicit";
  if (to === "void" || from === "void" || to === "unknown") return undefined;
  if (from === "unknown") return "implicit";
  if (from.endsWith("[]") && to.endsWith("[]")) return castContextOf(from.slice(0, -2), to.slice(0, -2));
  const pair = `${from}>${to}`;
  if (implicitPairs.has(pair)) return "implicit";
  if (assignmentPairs.has(pair)) return "assignment";
  if (explicitPairs.has(pair)) return "explicit";
  if (textual.includes(to)) return "assignment";
  if (textual.includes(from)) return "explicit";
  return undefined;
}

/** True when a value of one key is accepted where the other is wanted, without a written cast. */
export function convertsImplicitly(from: TypeKey, to: TypeKey): boolean {
  return castContextOf(from, to) === "implicit";
}
