/** The forms in which values are kept as keys: those of one form are compared as they are, whatever their types. */
import type { SqlType } from "../../types/sql_type.ts";
import type { Expression } from "../plan/expression.ts";
import { convertExactly } from "./simplify.ts";

const INTEGERS = new Set(["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "oid"]);
const TEXTS = new Set(["text", "varchar", "name"]);
const PLAIN_KEYS = new Set([
  "bool",
  "date",
  "time",
  "timestamp",
  "timestamptz",
  "uuid",
  "f64",
  "f32",
  "bytea",
  "char",
  "enum",
]);

/** A value in the form that keys of the type have, by which they are compared as they are; undefined: it has none. */
export function inKeyForm(value: Expression, type: SqlType): Expression | undefined {
  if (isSameForm(value.type, type)) return value;
  if (type.kind === "numeric" && type.scale !== undefined && value.type.kind === "numeric") {
    // A wider scale is exact; a narrower one would round.
    if (value.type.scale === undefined || value.type.scale > type.scale) return undefined;
    return convertExactly(value, { kind: "numeric", scale: type.scale });
  }
  return undefined;
}

/** Whether values of two types have one form, so that one can be looked up among the other. */
export function isSameForm(value: SqlType, column: SqlType): boolean {
  if (INTEGERS.has(value.kind) && INTEGERS.has(column.kind)) return true;
  if (TEXTS.has(column.kind) || column.kind === "char") {
    if (TEXTS.has(value.kind)) return true;
  }
  if (value.kind === "numeric" && column.kind === "numeric") {
    return value.scale !== undefined && value.scale === column.scale;
  }
  return value.kind === column.kind && PLAIN_KEYS.has(value.kind);
}
