/**
 * The types of generated programs: how they are written, what can be done with their values, and the declarations
 * that they need.
 */
import type { Choices } from "../choices.ts";

/** A type of a generated program. */
export type GeneratedType =
  | { readonly kind: "primitive"; readonly name: PrimitiveName }
  | { readonly kind: "list" | "option" | "set"; readonly element: GeneratedType }
  | { readonly kind: "map"; readonly key: GeneratedType; readonly value: GeneratedType }
  | { readonly kind: "tuple"; readonly elements: readonly GeneratedType[] }
  | { readonly kind: "result"; readonly value: GeneratedType; readonly error: GeneratedType }
  | { readonly kind: "record"; readonly record: GeneratedRecord }
  | { readonly kind: "union"; readonly union: GeneratedUnion }
  | { readonly kind: "function"; readonly parameter: GeneratedType; readonly result: GeneratedType };

/** Primitive types of generated programs. */
export type PrimitiveName = "Int" | "Bool" | "String" | "Float" | "Int64" | "Char" | "F32" | "Bytes";

/** A record that the program declares. */
export interface GeneratedRecord {
  readonly name: string;
  readonly fields: readonly { readonly name: string; readonly type: GeneratedType }[];
}

/** A union that the program declares; the first variant never contains the union itself. */
export interface GeneratedUnion {
  readonly name: string;
  readonly variants: readonly GeneratedVariant[];
}

/** A variant; fields without a name are written without one. */
export interface GeneratedVariant {
  readonly name: string;
  readonly fields: readonly { readonly name: string | null; readonly type: GeneratedType }[];
}

const primitive = (name: PrimitiveName): GeneratedType => ({ kind: "primitive", name });

export const INT = primitive("Int");
export const BOOL = primitive("Bool");
export const STRING = primitive("String");
export const FLOAT = primitive("Float");
export const INT64 = primitive("Int64");
export const CHAR = primitive("Char");

const primitives: readonly PrimitiveName[] = [
  "Int",
  "Bool",
  "String",
  "Float",
  "Int64",
  "Char",
  "F32",
  "Bytes",
];
const hashablePrimitives: readonly PrimitiveName[] = ["Int", "String", "Bool", "Char", "Int64"];

/** The type as it is written. */
export function typeText(type: GeneratedType): string {
  switch (type.kind) {
    case "primitive":
      return type.name;
    case "list":
      return `List[${typeText(type.element)}]`;
    case "option":
      return `Option[${typeText(type.element)}]`;
    case "set":
      return `Set[${typeText(type.element)}]`;
    case "map":
      return `Map[${typeText(type.key)}, ${typeText(type.value)}]`;
    case "tuple":
      return `(${type.elements.map(typeText).join(", ")})`;
    case "result":
      return `Result[${typeText(type.value)}, ${typeText(type.error)}]`;
    case "record":
      return type.record.name;
    case "union":
      return type.union.name;
    case "function":
      return `fn(${typeText(type.parameter)}) -> ${typeText(type.result)}`;
  }
}

/** Whether two types are the same. */
export function sameType(left: GeneratedType, right: GeneratedType): boolean {
  return typeText(left) === typeText(right);
}

/** What a type may be asked for; each is derived from the parts. */
export type Ability = "Eq" | "Ord" | "Hash";

/** Whether values of the type can be compared, ordered or hashed; all but functions can be shown. */
export function has(ability: Ability, type: GeneratedType, within: readonly string[] = []): boolean {
  switch (type.kind) {
    case "primitive":
      return ability !== "Hash" || (type.name !== "Float" && type.name !== "F32");
    case "list":
    case "option":
      return has(ability, type.element, within);
    case "set":
      return ability !== "Ord";
    case "map":
      return ability !== "Ord" && has(ability, type.value, within);
    case "tuple":
      return type.elements.every((element) => has(ability, element, within));
    case "result":
      return has(ability, type.value, within) && has(ability, type.error, within);
    case "record":
      return type.record.fields.every((field) => has(ability, field.type, within));
    case "union": {
      const { name, variants } = type.union;
      if (within.includes(name)) return true;
      return variants.every((variant) =>
        variant.fields.every((field) => has(ability, field.type, [...within, name]))
      );
    }
    case "function":
      return false;
  }
}

/** Whether the values can be shown in a text. */
export function canShow(type: GeneratedType, within: readonly string[] = []): boolean {
  switch (type.kind) {
    case "function":
      return false;
    case "list":
    case "option":
    case "set":
      return canShow(type.element, within);
    case "map":
      return canShow(type.value, within);
    case "tuple":
      return type.elements.every((element) => canShow(element, within));
    case "result":
      return canShow(type.value, within) && canShow(type.error, within);
    case "record":
      return type.record.fields.every((field) => canShow(field.type, within));
    case "union": {
      const { name, variants } = type.union;
      if (within.includes(name)) return true;
      return variants.every((variant) =>
        variant.fields.every((field) => canShow(field.type, [...within, name]))
      );
    }
    default:
      return true;
  }
}

/** The types that a program declares, and types made from them. */
export class TypeUniverse {
  readonly records: GeneratedRecord[] = [];
  readonly unions: GeneratedUnion[] = [];
  readonly #choices: Choices;

  constructor(choices: Choices) {
    this.#choices = choices;
    const count = choices.below(5);
    for (let index = 0; index < count; index++) {
      if (choices.chance(50)) this.#declareUnion(index);
      else this.#declareRecord(index);
    }
  }

  #declareRecord(index: number): void {
    const count = 1 + this.#choices.below(3);
    const fields = Array.from({ length: count }, (_, at) => ({ name: `f${at}`, type: this.type(1) }));
    this.records.push({ name: `Record${index}`, fields });
  }

  #declareUnion(index: number): void {
    const name = `Union${index}`;
    const variants: GeneratedVariant[] = [];
    const union: GeneratedUnion = { name, variants };
    const count = 2 + this.#choices.below(3);
    for (let at = 0; at < count; at++) {
      const isNamed = this.#choices.chance(40);
      const fieldCount = this.#choices.below(3);
      const fields = Array.from({ length: fieldCount }, (_, field) => ({
        name: isNamed ? `g${field}` : null,
        type: at > 0 && this.#choices.chance(25) ? this.#recursive(union) : this.type(1),
      }));
      variants.push({ name: `V${index}${"ABCD"[at]}`, fields });
    }
    this.unions.push(union);
  }

  #recursive(union: GeneratedUnion): GeneratedType {
    const self: GeneratedType = { kind: "union", union };
    return this.#choices.chance(30) ? { kind: "list", element: self } : self;
  }

  /** Some type; deeper ones are made of others. */
  type(depth: number): GeneratedType {
    const choices = this.#choices;
    if (depth <= 0 || choices.chance(45)) return primitive(choices.pick(primitives));
    switch (choices.below(8)) {
      case 0:
        return { kind: "list", element: this.type(depth - 1) };
      case 1:
        return { kind: "option", element: this.type(depth - 1) };
      case 2:
        return { kind: "tuple", elements: [this.type(depth - 1), this.type(depth - 1)] };
      case 3:
        return { kind: "map", key: this.hashable(), value: this.type(depth - 1) };
      case 4:
        return { kind: "set", element: this.hashable() };
      case 5:
        return { kind: "result", value: this.type(depth - 1), error: this.type(0) };
      case 6:
        return this.records.length === 0 ? INT : { kind: "record", record: choices.pick(this.records) };
      default:
        return this.unions.length === 0 ? STRING : { kind: "union", union: choices.pick(this.unions) };
    }
  }

  /** A type for keys. */
  hashable(): GeneratedType {
    const choices = this.#choices;
    if (choices.chance(70)) return primitive(choices.pick(hashablePrimitives));
    const type = this.type(1);
    return has("Hash", type) && type.kind !== "map" && type.kind !== "set" ? type : INT;
  }

  /** The declarations as they are written. */
  declarations(): string {
    const records = this.records.map(({ name, fields }) =>
      `type ${name} = { ${fields.map((field) => `${field.name}: ${typeText(field.type)}`).join(", ")} }`
    );
    const unions = this.unions.map(({ name, variants }) =>
      `type ${name} =\n${variants.map((variant) => `  | ${variantText(variant)}`).join("\n")}`
    );
    return [...records, ...unions].join("\n\n");
  }
}

function variantText({ name, fields }: GeneratedVariant): string {
  if (fields.length === 0) return name;
  const texts = fields.map((field) =>
    field.name === null ? typeText(field.type) : `${field.name}: ${typeText(field.type)}`
  );
  return `${name}(${texts.join(", ")})`;
}
