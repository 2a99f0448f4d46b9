/**
 * How many parts a type has, counted as often as they stand in it.
 *
 * Types share their parts, so a small program can make one of astronomical size; the weight of each shared part is
 * worked out once.
 */
import { resolve } from "./primitives.ts";
import type { Type } from "./type.ts";

const weights = new WeakMap<Type, number>();

/** The number of parts; what is not known yet counts as one. */
export function weightOf(type: Type): number {
  const at = resolve(type);
  switch (at.kind) {
    case "tuple":
      return at.elements.length === 0 ? 1 : kept(at, at.elements);
    case "named":
      return at.arguments.length === 0 ? 1 : kept(at, at.arguments);
    case "function": {
      const known = weights.get(at);
      if (known !== undefined) return known;
      return kept(at, [...at.parameters.map((parameter) => parameter.type), at.result]);
    }
    default:
      return 1;
  }
}

function kept(type: Type, parts: readonly Type[]): number {
  const known = weights.get(type);
  if (known !== undefined) return known;
  let weight = 1;
  for (const part of parts) weight += weightOf(part);
  weights.set(type, weight);
  return weight;
}
