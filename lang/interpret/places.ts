/**
 * Places: evaluated in two steps, so that a value which is worked out in between may still change what they lie in.
 *
 * First the indexes, in their order; then the place itself, whose bounds are checked and whose owners are made unique
 * on the way.
 */
import { indexMessage } from "../typed/trap.ts";
import type { Expression, Local, Place } from "../typed/tree.ts";
import type { Code, Frame } from "./frame.ts";
import { ProgramTrap, type Site } from "./trap.ts";
import { InterpreterFault, numberOf, Reference, uniqueAggregate, uniqueList } from "./value.ts";

/** A place, ready to be used. */
export interface PlaceCode {
  /** Evaluates the indexes. */
  prepare(frame: Frame): number[];
  /** The place itself. */
  resolve(frame: Frame, indexes: readonly number[]): Reference;
}

/** What places need from the function around them. */
export interface PlaceContext {
  expression(expression: Expression, owned: boolean): Code;
  slotOf(local: Local): number;
  isReference(local: Local): boolean;
  siteOf(node: { readonly span: Site["span"] }): Site;
}

type Resolve = (frame: Frame, indexes: readonly number[]) => Reference;

/** Makes a place. */
export function placeCode(place: Place, context: PlaceContext): PlaceCode {
  const indexes: Code[] = [];
  const resolve = resolver(place, context, indexes);
  return { prepare: (frame) => indexes.map((index) => numberOf(index(frame))), resolve };
}

function resolver(place: Place, context: PlaceContext, indexes: Code[]): Resolve {
  switch (place.kind) {
    case "local": {
      const slot = context.slotOf(place.local);
      if (context.isReference(place.local)) {
        return (frame) => {
          const reference = frame.references[-1 - slot];
          if (reference === undefined) throw new InterpreterFault(`${place.local.name} has no place`);
          return reference;
        };
      }
      return (frame) => new Reference(frame.slots, slot);
    }
    case "field": {
      const target = resolver(place.target, context, indexes);
      return (frame, values) => new Reference(uniqueAggregate(target(frame, values)).parts, place.index);
    }
    case "element": {
      const target = resolver(place.target, context, indexes);
      const position = indexes.length;
      indexes.push(context.expression(place.index, true));
      const site = context.siteOf(place);
      return (frame, values) => {
        const { items } = uniqueList(target(frame, values));
        const index = values[position] ?? -1;
        checkIndex(index, items.length, site);
        return new Reference(items, index);
      };
    }
  }
}

/** Ends the program when the index is outside. */
export function checkIndex(index: number, length: number, site: Site): void {
  if (index < 0 || index >= length) {
    throw new ProgramTrap("index", site, indexMessage(index, length));
  }
}
