/** Enumerated types of the catalog as types of values, and their new forms in what refers to them. */
import type { EnumType, SqlType } from "../types/sql_type.ts";
import type { EnumDefinition } from "./definitions.ts";

const types = new WeakMap<EnumDefinition, EnumType>();

/** The type of an enumeration; one object for one definition. */
export function enumTypeOf(definition: EnumDefinition): EnumType {
  let type = types.get(definition);
  if (type === undefined) {
    const { id, name, labels, numbers, former } = definition;
    type = { kind: "enum", id, name, labels, numbers, ...(former === undefined ? {} : { former }) };
    types.set(definition, type);
  }
  return type;
}

/** The type with the new form of an enumeration in it; the same object when it is not in it. */
export function withEnum(type: SqlType, definition: EnumDefinition): SqlType {
  if (type.kind === "enum") return type.id === definition.id ? enumTypeOf(definition) : type;
  if (type.kind !== "array") return type;
  const element = withEnum(type.element, definition);
  return element === type.element ? type : { ...type, element };
}

/** Whether a type is the enumeration or an array of it. */
export function usesEnum(type: SqlType, enumId: number): boolean {
  return type.kind === "enum" ? type.id === enumId : type.kind === "array" && usesEnum(type.element, enumId);
}
