/**
 * The names of index operator classes. Every type is indexed in its one order, so that a class chooses nothing: it
 * only has to exist and to accept the type of the key.
 */
import { SQLSTATE } from "../../base/errors.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { catalogTypeName, formatTypeFamily } from "../../types/type_names.ts";
import type { ErrorMaker } from "./collations.ts";

const TEXT_CLASSES = [
  "text_ops",
  "varchar_ops",
  "bpchar_ops",
  "text_pattern_ops",
  "varchar_pattern_ops",
  "bpchar_pattern_ops",
];

/** The classes of types that have others than one named after the type. */
const CLASSES: Readonly<Partial<Record<SqlType["kind"], readonly string[]>>> = {
  text: TEXT_CLASSES,
  varchar: TEXT_CLASSES,
  char: ["bpchar_ops", "bpchar_pattern_ops"],
  i32: ["int4_ops", "oid_ops"],
  bytes: ["bytes_ops", "bytea_ops"],
  array: ["array_ops"],
  enum: ["enum_ops"],
  record: ["record_ops"],
  regclass: ["oid_ops"],
  regtype: ["oid_ops"],
  regproc: ["oid_ops"],
  regnamespace: ["oid_ops"],
};

/** Classes that are named after their type. */
const NAMED_AFTER_TYPES = [
  "bool",
  "bytea",
  "char",
  "date",
  "float4",
  "float8",
  "int2",
  "int8",
  "interval",
  "jsonb",
  "name",
  "numeric",
  "oid",
  "oidvector",
  "time",
  "timestamp",
  "timestamptz",
  "uuid",
  "i8",
  "u8",
  "u16",
  "u32",
  "u64",
];

const KNOWN: ReadonlySet<string> = new Set([
  ...Object.values(CLASSES).flat(),
  ...NAMED_AFTER_TYPES.map((name) => `${name}_ops`),
]);

/** What an operator class is looked up for. */
export interface OperatorClassUse {
  readonly errors: ErrorMaker;
  /** "btree" or "hash", for messages. */
  readonly method: string;
  readonly offset: number;
}

/** Raises 42704 for an unknown operator class; an empty name is none. */
export function requireKnownClass(use: OperatorClassUse, name: readonly string[]): void {
  const [last, schema = "pg_catalog"] = name.toReversed();
  if (last === undefined || (schema === "pg_catalog" && KNOWN.has(last))) return;
  throw use.errors.error(
    SQLSTATE.undefinedObject,
    `operator class "${name.join(".")}" does not exist for access method "${use.method}"`,
    use.offset,
  );
}

/** Whether an operator class that is known accepts a type; an empty name is the type's own. */
export function isClassFor(type: SqlType, name: readonly string[]): boolean {
  const last = name.at(-1);
  if (last === undefined) return true;
  return (CLASSES[type.kind] ?? [`${catalogTypeName(type)}_ops`]).includes(last);
}

/** Raises 42704 for an unknown operator class, 42804 for one of another type. */
export function requireOperatorClass(use: OperatorClassUse, type: SqlType, name: readonly string[]): void {
  requireKnownClass(use, name);
  if (isClassFor(type, name)) return;
  throw use.errors.error(
    SQLSTATE.datatypeMismatch,
    `operator class "${name.join(".")}" does not accept data type ${formatTypeFamily(type)}`,
    use.offset,
  );
}
