/**
 * Patterns, made into functions that say whether a value fits and bind its parts.
 */
import type { Local, Pattern } from "../typed/tree.ts";
import type { Frame } from "./frame.ts";
import {
  aggregateOf,
  at,
  compareTexts,
  copied,
  encodeText,
  InterpreterFault,
  listOf,
  ListValue,
  textOf,
  type Value,
  variantOf,
} from "./value.ts";

/** Whether the value fits; then its parts are bound. */
export type Matcher = (value: Value, frame: Frame) => boolean;

/** Makes a matcher; `slotOf` says where a local lives. */
export function matcher(pattern: Pattern, slotOf: (local: Local) => number): Matcher {
  switch (pattern.kind) {
    case "wildcard":
      return () => true;
    case "binding": {
      const slot = slotOf(pattern.local);
      return (value, frame) => {
        frame.slots[slot] = copied(value);
        return true;
      };
    }
    case "literal":
      return literalMatcher(pattern.value, pattern.type.kind === "primitive" ? pattern.type.name : "");
    case "range": {
      const { start, end } = pattern;
      return (value) => {
        if (typeof value !== "number" && typeof value !== "bigint") {
          throw new InterpreterFault("a number was expected");
        }
        return value >= start && value <= end;
      };
    }
    case "tuple":
      return partsMatcher(pattern.elements, slotOf);
    case "record":
      return partsMatcher(pattern.fields, slotOf);
    case "variant": {
      const { index } = pattern.variant;
      const fields = pattern.fields.map((field) => matcher(field, slotOf));
      return (value, frame) => {
        const variant = variantOf(value);
        return variant.index === index &&
          fields.every((field, part) => field(at(variant.fields, part), frame));
      };
    }
    case "list": {
      const elements = pattern.elements.map((element) => matcher(element, slotOf));
      const restSlot = pattern.rest === null || pattern.rest.local === null
        ? null
        : slotOf(pattern.rest.local);
      const hasRest = pattern.rest !== null;
      return (value, frame) => {
        const { items } = listOf(value);
        if (hasRest ? items.length < elements.length : items.length !== elements.length) return false;
        if (!elements.every((element, index) => element(at(items, index), frame))) return false;
        if (restSlot !== null) {
          frame.slots[restSlot] = new ListValue(items.slice(elements.length).map(copied));
        }
        return true;
      };
    }
    case "alternative": {
      const alternatives = pattern.alternatives.map((alternative) => matcher(alternative, slotOf));
      return (value, frame) => alternatives.some((alternative) => alternative(value, frame));
    }
  }
}

function partsMatcher(parts: readonly Pattern[], slotOf: (local: Local) => number): Matcher {
  const matchers = parts.map((part) => matcher(part, slotOf));
  return (value, frame) => {
    const aggregate = aggregateOf(value);
    return matchers.every((part, index) => part(at(aggregate.parts, index), frame));
  };
}

function literalMatcher(literal: bigint | number | boolean | string, typeName: string): Matcher {
  if (typeof literal === "string") {
    const text = encodeText(literal);
    return (value) => compareTexts(textOf(value), text) === 0;
  }
  // Literals of `Int` and `Char` are bigints, their values are not.
  const wanted = typeof literal === "bigint" && typeName !== "Int64" ? Number(literal) : literal;
  return (value) => value === wanted;
}
