/**
 * The common type of several expressions: PostgreSQL's rule for UNION, CASE, VALUES, ARRAY, GREATEST and COALESCE.
 *
 * Modifiers survive only when all types agree in them, and an untyped literal agrees with none; numerics of different
 * scales have none in common, for each value is printed with its own.
 */
import type { SqlType } from "../../types/sql_type.ts";
import { categoryOf, convertsImplicitly, isPreferred, typeKey, typeOfKey } from "./type_family.ts";

/**
 * The type to which all can be converted; undefined when there is none (42804). Untyped literals do not count, except
 * that next to one a numeric has no static scale (leave out constants that are NULL); all untyped gives text, and so
 * does an empty list.
 */
export function commonType(types: readonly SqlType[]): SqlType | undefined {
  const known = types.filter((type) => type.kind !== "unknown");
  const first = known[0];
  if (first === undefined) return { kind: "text" };
  let candidate = first;
  let key = typeKey(first);
  for (const type of known.slice(1)) {
    const other = typeKey(type);
    if (other === key) continue;
    if (categoryOf(other) !== categoryOf(key)) return undefined;
    // A later type wins only when the earlier converts to it, not the other way round, and is not preferred.
    if (!isPreferred(key) && convertsImplicitly(key, other) && !convertsImplicitly(other, key)) {
      candidate = type;
      key = other;
    } else if (!convertsImplicitly(other, key)) {
      const wider = commonInteger(key, other);
      if (wider === undefined) return undefined;
      candidate = wider;
      key = typeKey(wider);
    } else if (key === "char" && other === "text") {
      // Padded texts have no other type in common with plain ones.
      candidate = type;
      key = other;
    }
  }
  if (known.some((type) => typeKey(type) !== key && !convertsImplicitly(typeKey(type), key))) {
    return undefined;
  }
  const merged = mergedModifiers(known, candidate, key);
  // What an untyped literal will hold is not known, so it must not be forced into a length or a scale.
  return known.length < types.length ? unlimited(merged) : merged;
}

/** The type without what limits its values. A `char` stays, for its blanks are made from its length. */
function unlimited(type: SqlType): SqlType {
  switch (type.kind) {
    case "numeric":
      return { kind: "numeric" };
    case "varchar":
      return { kind: "varchar" };
    case "time":
    case "timestamp":
    case "timestamptz":
    case "interval":
      return { kind: type.kind };
    case "bytes":
      return { kind: "bytea" };
    case "array":
      return { kind: "array", element: unlimited(type.element) };
    default:
      return type;
  }
}

/**
 * The type of a result that any value of the type may be, but of which PostgreSQL does not know the modifiers: what
 * `first_value` returns, or a CASE without ELSE. The scale of a numeric stays, for it is how values are kept.
 */
export function withoutLimits(type: SqlType): SqlType {
  return type.kind === "numeric" && type.scale !== undefined
    ? { kind: "numeric", scale: type.scale }
    : unlimited(type);
}

/** For two native integer types of which neither contains the other: the least type that contains both. */
function commonInteger(left: string, right: string): SqlType | undefined {
  for (const key of ["i16", "i32", "i64", "numeric"]) {
    if (convertsImplicitly(left, key) && convertsImplicitly(right, key)) return typeOfKey(key);
  }
  return undefined;
}

function mergedModifiers(types: readonly SqlType[], candidate: SqlType, key: string): SqlType {
  if (key === "numeric") return commonNumeric(types);
  const text = JSON.stringify(candidate);
  if (types.every((type) => JSON.stringify(type) === text)) return candidate;
  if (candidate.kind === "char") {
    const length = Math.max(...types.map((type) => type.kind === "char" ? type.length : 0));
    return types.every((type) => type.kind === "char") ? { kind: "char", length } : { kind: "text" };
  }
  if (candidate.kind === "array") {
    const elements = types.map((type) => type.kind === "array" ? type.element : type);
    return { kind: "array", element: commonType(elements) ?? candidate.element };
  }
  if (candidate.kind === "record") return commonRecord(types, candidate);
  return typeOfKey(key) ?? candidate;
}

/** Field by field; a field without a common type keeps the candidate's. */
function commonRecord(types: readonly SqlType[], candidate: SqlType & { readonly kind: "record" }): SqlType {
  const records = types.filter((type) => type.kind === "record");
  if (records.some(({ fields }) => fields.length !== candidate.fields.length)) return candidate;
  const fields = candidate.fields.map((field, index) => {
    const parts = records.map(({ fields }) => fields[index]?.type ?? field.type);
    return { ...field, type: commonType(parts) ?? field.type };
  });
  return { ...candidate, fields };
}

/** Scaled when all are of one scale; an integer among them has no decimals to print. */
function commonNumeric(types: readonly SqlType[]): SqlType {
  const first = types[0];
  if (first === undefined || first.kind !== "numeric") return { kind: "numeric" };
  const text = JSON.stringify(first);
  if (types.every((type) => JSON.stringify(type) === text)) return first;
  if (first.scale === undefined) return { kind: "numeric" };
  return types.every((type) => type.kind === "numeric" && type.scale === first.scale)
    ? { kind: "numeric", scale: first.scale }
    : { kind: "numeric" };
}
