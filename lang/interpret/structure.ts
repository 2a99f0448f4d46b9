/**
 * `Eq`, `Ord`, `Hash` and `Show` of any type: methods where the type has them, else derived from its parts as
 * docs/compiler.md says.
 */
import type { TypedProgram } from "../typed/tree.ts";
import type { InterfaceDefinition, Type, VariantDefinition } from "../types/type.ts";
import { substitute, type Substitution, substitutionOf, typeKey } from "./types.ts";
import {
  aggregateOf,
  bigintOf,
  compareTexts,
  encodeText,
  InterpreterFault,
  joinTexts,
  numberOf,
  textOf,
  type Value,
  variantOf,
  VariantValue,
} from "./value.ts";

/** Calls a method by interface and name, or null when it is derived. */
export type MethodCaller = (type: Type, definition: InterfaceDefinition, name: string) =>
  | ((args: readonly Value[]) => Value)
  | null;

/** Index of the variants of `Order`. */
const LESS = 0;
const EQUAL = 1;
const GREATER = 2;

type Equals = (left: Value, right: Value) => boolean;
/** Below zero, zero or above. */
type Compare = (left: Value, right: Value) => number;
type Hash = (value: Value) => number;
type Show = (value: Value) => Uint8Array;

interface Part {
  readonly name: string | null;
  readonly type: Type;
}

interface Shape {
  readonly name: string;
  readonly parts: readonly Part[];
}

/** The functions of types, made once for each. */
export class Structure {
  readonly #interfaces = new Map<string, InterfaceDefinition>();
  readonly #caller: MethodCaller;
  readonly #equals = new Map<string, Equals>();
  readonly #compare = new Map<string, Compare>();
  readonly #hash = new Map<string, Hash>();
  readonly #show = new Map<string, Show>();

  constructor(program: TypedProgram, caller: MethodCaller) {
    this.#caller = caller;
    for (const module of program.modules) {
      for (const definition of module.interfaces) {
        if (definition.derived !== null) this.#interfaces.set(definition.derived, definition);
      }
    }
  }

  #method(type: Type, interfaceName: string, name: string): ((args: readonly Value[]) => Value) | null {
    const definition = this.#interfaces.get(interfaceName);
    if (definition === undefined) throw new InterpreterFault(`the program has no interface ${interfaceName}`);
    return this.#caller(type, definition, name);
  }

  /** Whether two values of the type are equal. */
  equals(type: Type): Equals {
    return memoized(this.#equals, type, () => this.#makeEquals(type));
  }

  /** How two values of the type stand to each other. */
  compare(type: Type): Compare {
    return memoized(this.#compare, type, () => this.#makeCompare(type));
  }

  /** The hash of a value of the type. */
  hash(type: Type): Hash {
    return memoized(this.#hash, type, () => this.#makeHash(type));
  }

  /** The text of a value of the type, as it would be written. */
  show(type: Type): Show {
    return memoized(this.#show, type, () => this.#makeShow(type));
  }

  /** The text of a value in a text: a `String` or `Char` as it is. */
  display(type: Type): Show {
    if (type.kind === "primitive" && type.name === "String") return textOf;
    if (type.kind === "primitive" && type.name === "Char") {
      return (value) => encodeText(String.fromCodePoint(numberOf(value)));
    }
    return this.show(type);
  }

  #makeEquals(type: Type): Equals {
    if (type.kind === "primitive") {
      if (type.name === "String") return (left, right) => compareTexts(textOf(left), textOf(right)) === 0;
      if (type.name !== "Bytes") return (left, right) => left === right;
    }
    const method = this.#method(type, "Eq", "equals");
    if (method !== null) return (left, right) => method([left, right]) === true;
    const shapes = shapesOf(type);
    const parts = shapes.map((shape) => lazily(() => shape.parts.map((part) => this.equals(part.type))));
    return (left, right) => {
      const [index, values] = takeApart(left);
      const [otherIndex, otherValues] = takeApart(right);
      if (index !== otherIndex) return false;
      return pick(parts, index)().every((equals, at) => equals(pick(values, at), pick(otherValues, at)));
    };
  }

  #makeCompare(type: Type): Compare {
    if (type.kind === "primitive") {
      if (type.name === "String") return (left, right) => compareTexts(textOf(left), textOf(right));
      if (type.name === "Int" || type.name === "Char") {
        return (left, right) => numberOf(left) - numberOf(right);
      }
      if (type.name === "Int64") return (left, right) => sign(bigintOf(left) - bigintOf(right));
      if (type.name === "Bool") return (left, right) => Number(left) - Number(right);
    }
    const method = this.#method(type, "Ord", "compare");
    if (method !== null) return (left, right) => variantOf(method([left, right])).index - EQUAL;
    const shapes = shapesOf(type);
    const parts = shapes.map((shape) => lazily(() => shape.parts.map((part) => this.compare(part.type))));
    return (left, right) => {
      const [index, values] = takeApart(left);
      const [otherIndex, otherValues] = takeApart(right);
      if (index !== otherIndex) return index - otherIndex;
      const compares = pick(parts, index)();
      for (let at = 0; at < compares.length; at++) {
        const order = pick(compares, at)(pick(values, at), pick(otherValues, at));
        if (order !== 0) return order;
      }
      return 0;
    };
  }

  #makeHash(type: Type): Hash {
    const method = this.#method(type, "Hash", "hash");
    if (method !== null) return (value) => numberOf(method([value]));
    const shapes = shapesOf(type);
    const parts = shapes.map((shape) => lazily(() => shape.parts.map((part) => this.hash(part.type))));
    const isUnion = hasVariants(type);
    return (value) => {
      const [index, values] = takeApart(value);
      let hash = isUnion ? 17 + index : 17;
      pick(parts, index)().forEach((part, at) => hash = Math.imul(hash, 31) + part(pick(values, at)) | 0);
      return hash;
    };
  }

  #makeShow(type: Type): Show {
    if (type.kind === "function") return () => encodeText("fn");
    const method = this.#method(type, "Show", "show");
    if (method !== null) return (value) => textOf(method([value]));
    const shapes = shapesOf(type);
    const parts = shapes.map((shape) => lazily(() => shape.parts.map((part) => this.show(part.type))));
    const [opening, separator, closing] = frameOf(type).map(encodeText);
    const comma = encodeText(", ");
    return (value) => {
      const [index, values] = takeApart(value);
      const shape = pick(shapes, index);
      const texts: Uint8Array[] = [encodeText(shape.name)];
      if (shape.parts.length > 0 || !hasVariants(type)) {
        texts.push(opening ?? comma);
        pick(parts, index)().forEach((show, at) => {
          if (at > 0) texts.push(separator ?? comma);
          const { name } = pick(shape.parts, at);
          if (name !== null) texts.push(encodeText(`${name}: `));
          texts.push(show(pick(values, at)));
        });
        texts.push(closing ?? comma);
      }
      return joinTexts(texts);
    };
  }

  /** The `Order` that a comparison's number stands for. */
  order(comparison: number): Value {
    return comparison < 0 ? ORDERS.less : comparison > 0 ? ORDERS.greater : ORDERS.equal;
  }
}

const ORDERS = {
  less: new VariantValue(LESS, []),
  equal: new VariantValue(EQUAL, []),
  greater: new VariantValue(GREATER, []),
};

function sign(value: bigint): number {
  return value < 0n ? -1 : value > 0n ? 1 : 0;
}

function memoized<T>(table: Map<string, T>, type: Type, make: () => T): T {
  const key = typeKey(type);
  const known = table.get(key);
  if (known !== undefined) return known;
  const made = make();
  table.set(key, made);
  return made;
}

/** Types may contain themselves, so what their parts need is made when it is used. */
function lazily<T>(make: () => T): () => T {
  let made: T | null = null;
  return () => made ??= make();
}

function pick<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new InterpreterFault(`there is no part ${index} of ${list.length}`);
  return item;
}

function takeApart(value: Value): readonly [index: number, parts: readonly Value[]] {
  if (value instanceof VariantValue) return [value.index, value.fields];
  return [0, aggregateOf(value).parts];
}

function hasVariants(type: Type): boolean {
  return type.kind === "named" && type.definition.body.kind === "union";
}

/** What stands before, between and behind the parts. */
function frameOf(type: Type): readonly string[] {
  if (type.kind === "tuple" || hasVariants(type)) return ["(", ", ", ")"];
  const isEmpty = type.kind === "named" && type.definition.body.kind === "record" &&
    type.definition.body.fields.length === 0;
  return isEmpty ? [" {", "", "}"] : [" { ", ", ", " }"];
}

function partsOf(
  fields: readonly { readonly name: string | null; readonly type: Type }[],
  substitution: Substitution,
): Part[] {
  return fields.map((field) => ({ name: field.name, type: substitute(field.type, substitution) }));
}

/** The parts of a tuple or record, or of each variant. */
function shapesOf(type: Type): readonly Shape[] {
  if (type.kind === "tuple") {
    return [{ name: "", parts: type.elements.map((element) => ({ name: null, type: element })) }];
  }
  if (type.kind === "named") {
    const { body, typeParameters, name } = type.definition;
    const substitution = substitutionOf(typeParameters, type.arguments);
    if (body.kind === "record") return [{ name, parts: partsOf(body.fields, substitution) }];
    if (body.kind === "union") {
      return body.variants.map((variant: VariantDefinition) => ({
        name: variant.name,
        parts: partsOf(variant.fields, substitution),
      }));
    }
  }
  throw new InterpreterFault(`nothing can be derived for ${typeKey(type)}`);
}
