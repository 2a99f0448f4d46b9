/**
 * Unification of types by Robinson's algorithm: variables are linked to what they turn out to be.
 *
 * Variables of literals link only to the types that the literal fits. Links made during {@link Unifier.attempt} are
 * taken back when it fails, which is why `resolve` compresses no paths.
 */
import { ERROR_TYPE, FLOAT, INT, isError, isFloat, isInteger, resolve } from "./primitives.ts";
import type { Type, TypeParameter, TypeVariable } from "./type.ts";

/** Makes variables and links them. */
export class Unifier {
  #nextId = 1;
  #trail: TypeVariable[] | null = null;

  /** A variable that nothing is known of. */
  fresh(): TypeVariable {
    return { kind: "variable", id: this.#nextId++, literal: null, link: null };
  }

  /** The type of a literal that may still become one of two types. */
  literal(kind: "integer" | "float"): TypeVariable {
    return { kind: "variable", id: this.#nextId++, literal: kind, link: null };
  }

  /** Makes two types the same, and tells whether that can be. Links made before a failure stay. */
  unify(left: Type, right: Type): boolean {
    const a = resolve(left);
    const b = resolve(right);
    if (a === b) return true;
    if (a === ERROR_TYPE || b === ERROR_TYPE) {
      // What is met by an error is broken as well, so that nobody asks what it is.
      this.#poison(a === ERROR_TYPE ? b : a);
      return true;
    }
    if (a.kind === "variable") return this.#bind(a, b);
    if (b.kind === "variable") return this.#bind(b, a);
    switch (a.kind) {
      case "primitive":
        return b.kind === "primitive" && a.name === b.name;
      case "parameter":
        return b.kind === "parameter" && a.parameter === b.parameter;
      case "tuple":
        return b.kind === "tuple" && this.#unifyAll(a.elements, b.elements);
      case "named":
        return b.kind === "named" && a.definition === b.definition &&
          this.#unifyAll(a.arguments, b.arguments);
      case "function": {
        if (b.kind !== "function" || a.parameters.length !== b.parameters.length) return false;
        for (const [index, parameter] of a.parameters.entries()) {
          const other = b.parameters[index];
          if (other === undefined || parameter.isInout !== other.isInout) return false;
          if (!this.unify(parameter.type, other.type)) return false;
        }
        return this.unify(a.result, b.result);
      }
    }
  }

  /** Like {@link unify}, but a failure leaves no traces. */
  attempt(left: Type, right: Type): boolean {
    const outer = this.#trail;
    const trail: TypeVariable[] = [];
    this.#trail = trail;
    const fits = this.unify(left, right);
    this.#trail = outer;
    if (fits) outer?.push(...trail);
    else for (const variable of trail) variable.link = null;
    return fits;
  }

  #unifyAll(left: readonly Type[], right: readonly Type[]): boolean {
    if (left.length !== right.length) return false;
    for (let index = 0; index < left.length; index++) {
      if (!this.unify(left[index] ?? ERROR_TYPE, right[index] ?? ERROR_TYPE)) return false;
    }
    return true;
  }

  #bind(variable: TypeVariable, type: Type): boolean {
    if (type.kind === "variable") {
      if (variable.literal !== null && type.literal !== null && variable.literal !== type.literal) {
        return false;
      }
      // The one that knows more stays.
      if (variable.literal !== null && type.literal === null) this.#link(type, variable);
      else this.#link(variable, type);
      return true;
    }
    if (variable.literal === "integer" && !isInteger(type)) return false;
    if (variable.literal === "float" && !isFloat(type)) return false;
    if (occurs(variable, type)) return false;
    this.#link(variable, type);
    return true;
  }

  #poison(type: Type): void {
    const at = resolve(type);
    switch (at.kind) {
      case "variable":
        if (at !== ERROR_TYPE && at.literal === null) this.#link(at, ERROR_TYPE);
        break;
      case "tuple":
        for (const element of at.elements) this.#poison(element);
        break;
      case "named":
        for (const argument of at.arguments) this.#poison(argument);
        break;
      case "function":
        for (const parameter of at.parameters) this.#poison(parameter.type);
        this.#poison(at.result);
        break;
      default:
        break;
    }
  }

  #link(variable: TypeVariable, type: Type): void {
    variable.link = type;
    this.#trail?.push(variable);
  }
}

/** Whether the variable stands in the type. */
export function occurs(variable: TypeVariable, type: Type): boolean {
  const at = resolve(type);
  switch (at.kind) {
    case "variable":
      return at === variable;
    case "tuple":
      return at.elements.some((element) => occurs(variable, element));
    case "named":
      return at.arguments.some((argument) => occurs(variable, argument));
    case "function":
      return at.parameters.some((parameter) => occurs(variable, parameter.type)) ||
        occurs(variable, at.result);
    default:
      return false;
  }
}

/** Whether a variable, also a linked one, stands in the type. */
export function hasVariables(type: Type): boolean {
  switch (type.kind) {
    case "primitive":
    case "parameter":
      return false;
    case "variable":
      return true;
    case "tuple":
      return type.elements.length > 0 && type.elements.some(hasVariables);
    case "named":
      return type.arguments.length > 0 && type.arguments.some(hasVariables);
    case "function":
      return type.parameters.some((parameter) => hasVariables(parameter.type)) || hasVariables(type.result);
  }
}

/** Visits the variables in a type that are not known yet; literals count as known. */
export function eachUnknown(type: Type, visit: (variable: TypeVariable) => void): void {
  const at = resolve(type);
  switch (at.kind) {
    case "variable":
      if (at.literal === null && !isError(at)) visit(at);
      break;
    case "tuple":
      for (const element of at.elements) eachUnknown(element, visit);
      break;
    case "named":
      for (const argument of at.arguments) eachUnknown(argument, visit);
      break;
    case "function":
      for (const parameter of at.parameters) eachUnknown(parameter.type, visit);
      eachUnknown(at.result, visit);
  }
}

/** Whether something in the type is not known yet; literals count as known. */
export function hasUnknown(type: Type): boolean {
  const at = resolve(type);
  switch (at.kind) {
    case "variable":
      return at.literal === null && !isError(at);
    case "tuple":
      return at.elements.some(hasUnknown);
    case "named":
      return at.arguments.some(hasUnknown);
    case "function":
      return at.parameters.some((parameter) => hasUnknown(parameter.type)) || hasUnknown(at.result);
    default:
      return false;
  }
}

/**
 * The type without variables: links are followed, literals become `Int` and `Float`, what is not known the error
 * type.
 */
export function zonk(type: Type): Type {
  switch (type.kind) {
    case "primitive":
    case "parameter":
      return type;
    case "variable": {
      if (type.link !== null) return zonk(type.link);
      return type.literal === "integer" ? INT : type.literal === "float" ? FLOAT : ERROR_TYPE;
    }
    case "tuple":
      return hasVariables(type) ? { kind: "tuple", elements: type.elements.map(zonk) } : type;
    case "named":
      return hasVariables(type)
        ? { kind: "named", definition: type.definition, arguments: type.arguments.map(zonk) }
        : type;
    case "function":
      return hasVariables(type)
        ? {
          kind: "function",
          parameters: type.parameters.map(({ isInout, type }) => ({ isInout, type: zonk(type) })),
          result: zonk(type.result),
        }
        : type;
  }
}

/** The type with other types put in for its parameters. */
export function substitute(
  type: Type,
  parameters: readonly TypeParameter[],
  replacements: readonly Type[],
): Type {
  if (parameters.length === 0) return type;
  switch (type.kind) {
    case "primitive":
      return type;
    case "variable":
      return type.link === null ? type : substitute(type.link, parameters, replacements);
    case "parameter": {
      const index = parameters.indexOf(type.parameter);
      return index < 0 ? type : replacements[index] ?? ERROR_TYPE;
    }
    case "tuple":
      return type.elements.length === 0 ? type : {
        kind: "tuple",
        elements: type.elements.map((each) => substitute(each, parameters, replacements)),
      };
    case "named":
      return type.arguments.length === 0 ? type : {
        kind: "named",
        definition: type.definition,
        arguments: type.arguments.map((each) => substitute(each, parameters, replacements)),
      };
    case "function":
      return {
        kind: "function",
        parameters: type.parameters.map((each) => ({
          isInout: each.isInout,
          type: substitute(each.type, parameters, replacements),
        })),
        result: substitute(type.result, parameters, replacements),
      };
  }
}
