/**
 * Types of an instance: type parameters replaced by what they are, and keys by which instances are distinguished.
 */
import type { PrimitiveName, Type, TypeDefinition, TypeParameter } from "../types/type.ts";
import { InterpreterFault } from "./value.ts";

/** What the type parameters of an instance are. */
export type Substitution = ReadonlyMap<TypeParameter, Type>;

/** The type with its parameters replaced and links followed. */
export function substitute(type: Type, substitution: Substitution): Type {
  switch (type.kind) {
    case "primitive":
      return type;
    case "parameter": {
      const found = substitution.get(type.parameter);
      if (found === undefined) {
        throw new InterpreterFault(`the type parameter ${type.parameter.name} has no type`);
      }
      return found;
    }
    case "variable": {
      if (type.link !== null) return substitute(type.link, substitution);
      // What nothing depends on, such as the element type of a list that stays empty.
      return { kind: "tuple", elements: [] };
    }
    case "tuple":
      return { kind: "tuple", elements: type.elements.map((element) => substitute(element, substitution)) };
    case "named":
      if (type.arguments.length === 0) return type;
      return {
        kind: "named",
        definition: type.definition,
        arguments: type.arguments.map((argument) => substitute(argument, substitution)),
      };
    case "function":
      return {
        kind: "function",
        parameters: type.parameters.map((parameter) => ({
          isInout: parameter.isInout,
          type: substitute(parameter.type, substitution),
        })),
        result: substitute(type.result, substitution),
      };
  }
}

/** What stands for the parameters of a declaration. */
export function substitutionOf(parameters: readonly TypeParameter[], types: readonly Type[]): Substitution {
  const substitution = new Map<TypeParameter, Type>();
  parameters.forEach((parameter, index) => {
    const type = types[index];
    if (type === undefined) throw new InterpreterFault(`there is no type for ${parameter.name}`);
    substitution.set(parameter, type);
  });
  return substitution;
}

const definitionNumbers = new WeakMap<TypeDefinition, number>();
let definitionCount = 0;

function definitionNumber(definition: TypeDefinition): number {
  let number = definitionNumbers.get(definition);
  if (number === undefined) {
    number = definitionCount++;
    definitionNumbers.set(definition, number);
  }
  return number;
}

/** A text that is the same for equal types without parameters. */
export function typeKey(type: Type): string {
  switch (type.kind) {
    case "primitive":
      return type.name;
    case "tuple":
      return `(${type.elements.map(typeKey).join(",")})`;
    case "named":
      return `#${definitionNumber(type.definition)}[${type.arguments.map(typeKey).join(",")}]`;
    case "function": {
      const parameters = type.parameters.map((parameter) =>
        `${parameter.isInout ? "&" : ""}${typeKey(parameter.type)}`
      );
      return `fn(${parameters.join(",")})${typeKey(type.result)}`;
    }
    case "variable":
      return type.link === null ? "()" : typeKey(type.link);
    case "parameter":
      throw new InterpreterFault(`the type parameter ${type.parameter.name} is left in a key`);
  }
}

/** The name of a primitive type, or null. */
export function primitiveName(type: Type): PrimitiveName | null {
  return type.kind === "primitive" ? type.name : null;
}

/** Whether values of the type can be changed in place, so that copies must be marked. */
export function isMutable(type: Type): boolean {
  return type.kind === "primitive" ? type.name === "Bytes" : type.kind !== "function";
}
