/**
 * The types that need no definition, as values that can be compared by identity, and the questions the checker asks
 * of them.
 *
 * `ERROR_TYPE` stands for what is broken: it fits everything, so that one error is reported once. It never reaches a
 * typed program, because programs with errors have none.
 */
import type { PrimitiveName, Type, TypeVariable } from "./type.ts";

function primitive(name: PrimitiveName): Type {
  return { kind: "primitive", name };
}

/** `true` and `false`. */
export const BOOL: Type = primitive("Bool");
/** Whole numbers of 32 bits. */
export const INT: Type = primitive("Int");
/** Whole numbers of 64 bits. */
export const INT64: Type = primitive("Int64");
/** Floating-point numbers of 64 bits. */
export const FLOAT: Type = primitive("Float");
/** Floating-point numbers of 32 bits. */
export const F32: Type = primitive("F32");
/** Unicode scalar values. */
export const CHAR: Type = primitive("Char");
/** Texts in UTF-8. */
export const STRING: Type = primitive("String");
/** Bytes. */
export const BYTES: Type = primitive("Bytes");
/** The type of what does not return. */
export const NEVER: Type = primitive("Never");
/** The type of what has no value worth naming. */
export const UNIT: Type = { kind: "tuple", elements: [] };

/** The type of what is broken; fits everything silently. */
export const ERROR_TYPE: TypeVariable = { kind: "variable", id: -1, literal: null, link: null };

/** Primitive types by their names. */
export const PRIMITIVES: ReadonlyMap<string, Type> = new Map([
  ["Bool", BOOL],
  ["Int", INT],
  ["Int64", INT64],
  ["Float", FLOAT],
  ["F32", F32],
  ["Char", CHAR],
  ["String", STRING],
  ["Bytes", BYTES],
  ["Never", NEVER],
]);

/** The type with the links of variables followed at its top. */
export function resolve(type: Type): Type {
  let at = type;
  while (at.kind === "variable" && at.link !== null) at = at.link;
  return at;
}

/** Whether it is the primitive of that name. */
export function isPrimitive(type: Type, name: PrimitiveName): boolean {
  const resolved = resolve(type);
  return resolved.kind === "primitive" && resolved.name === name;
}

/** Whether an expression of the type does not return. */
export function isNever(type: Type): boolean {
  return isPrimitive(type, "Never");
}

/** Whether it is the empty tuple. */
export function isUnit(type: Type): boolean {
  const resolved = resolve(type);
  return resolved.kind === "tuple" && resolved.elements.length === 0;
}

/** Whether it is broken. */
export function isError(type: Type): boolean {
  return resolve(type) === ERROR_TYPE;
}

/** Whether it is `Int` or `Int64`, or a literal that will be one of them. */
export function isInteger(type: Type): boolean {
  const resolved = resolve(type);
  if (resolved.kind === "variable") return resolved.literal === "integer";
  return resolved.kind === "primitive" && (resolved.name === "Int" || resolved.name === "Int64");
}

/** Whether it is `Float` or `F32`, or a literal that will be one of them. */
export function isFloat(type: Type): boolean {
  const resolved = resolve(type);
  if (resolved.kind === "variable") return resolved.literal === "float";
  return resolved.kind === "primitive" && (resolved.name === "Float" || resolved.name === "F32");
}

/** Whether arithmetic is defined on it. */
export function isNumber(type: Type): boolean {
  return isInteger(type) || isFloat(type);
}
