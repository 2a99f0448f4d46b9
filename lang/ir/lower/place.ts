/**
 * Places that are written: first their indexes are evaluated, later, when the value is known, the way down is walked.
 *
 * On the way down each shared cell is replaced by a copy of one's own (`unique`), so that nobody else sees the write.
 * Bounds are checked then, too.
 */
import type { Place } from "../../typed/tree.ts";
import { LENGTH_OFFSET } from "../layout.ts";
import { get, i32, type IrExpression, type IrLocal, load, op } from "../node.ts";
import { addressOf, readMemory, single, storeMemory, writeMemory } from "./memory.ts";
import type { Frame, Location, Value } from "./frame.ts";
import type { CellKind } from "../layout.ts";

/** A place whose indexes have been evaluated, in order from its root. */
export interface PreparedPlace {
  readonly place: Place;
  readonly indexes: readonly IrExpression[];
}

/** Evaluates the indexes of a place. */
export function preparePlace(frame: Frame, place: Place): PreparedPlace {
  const indexes: IrExpression[] = [];
  const visit = (at: Place): void => {
    if (at.kind === "local") return;
    visit(at.target);
    if (at.kind === "element") indexes.push(frame.stable(single(frame, at.index)));
  };
  visit(place);
  return { place, indexes };
}

/** Walks down to the place, making everything on the way one's own. */
export function resolvePlace(frame: Frame, prepared: PreparedPlace): Location {
  let position = 0;
  const walk = (at: Place): Location => {
    switch (at.kind) {
      case "local": {
        const binding = frame.binding(at.local);
        if (binding.kind === "memory" && binding.base !== null) {
          frame.emit({ kind: "touch", local: binding.base });
        }
        if (binding.kind === "value" || binding.kind === "closure") {
          throw new Error(`Cannot write ${at.local.name}: it is no variable`);
        }
        return binding;
      }
      case "field":
        return fieldLocation(frame, walk(at.target), at.index);
      case "element": {
        const target = walk(at.target);
        const index = prepared.indexes[position++] ?? i32(0);
        const { shape } = target.layout;
        if (shape.kind !== "block") throw new Error(`Cannot index ${target.layout.name}: it is no list`);
        const { pointer, base } = ownPointer(frame, target, shape.cell);
        if (!isKnownInside(frame, at)) {
          frame.check(op("i32.ge_u", index, load("i32.load", pointer, LENGTH_OFFSET)), "index", at.span);
        }
        return { ...addressOf(frame, pointer, shape.element, index), base };
      }
    }
  };
  return walk(prepared.place);
}

function isKnownInside(frame: Frame, place: Place & { readonly kind: "element" }): boolean {
  if (place.target.kind !== "local" || place.index.kind !== "local") return false;
  return frame.insides.get(place.target.local)?.has(place.index.local) === true;
}

/** A field of a place. */
function fieldLocation(frame: Frame, target: Location, index: number): Location {
  const { shape } = target.layout;
  if (shape.kind === "record") {
    const field = shape.fields[index];
    if (field === undefined) {
      throw new Error(`Cannot take field ${index} of ${target.layout.name}: it has fewer`);
    }
    if (target.kind === "memory") {
      return { ...target, offset: target.offset + field.offset, layout: field.layout };
    }
    return {
      kind: "locals",
      locals: target.locals.slice(field.first, field.first + field.layout.slots.length),
      layout: field.layout,
    };
  }
  const field = shape.kind === "box" && shape.cell.contents.kind === "variants"
    ? shape.cell.contents.variants[0]?.fields[index]
    : undefined;
  if (field === undefined || shape.kind !== "box") {
    throw new Error(`Cannot take field ${index} of ${target.layout.name}: it has none`);
  }
  const { pointer, base } = ownPointer(frame, target, shape.cell);
  return { kind: "memory", address: pointer, offset: field.offset, base, layout: field.layout };
}

/** The pointer that a place holds, to a cell that nobody else holds. */
export function ownPointer(
  frame: Frame,
  target: Location,
  cell: CellKind,
): { readonly pointer: IrExpression; readonly base: IrLocal | null } {
  if (target.kind === "locals") {
    const [local] = target.locals;
    if (local === undefined) throw new Error(`Cannot write into ${target.layout.name}: it has no pointer`);
    frame.emit({ kind: "unique", local });
    return { pointer: get(local), base: local };
  }
  const { address, offset, base } = target;
  const pointer = frame.local("q", { type: "i32", pointer: null }, { base, isMutable: true });
  frame.set(pointer, load("i32.load", address, offset));
  frame.if(op("i32.ne", load("i32.load", get(pointer), 0), i32(1)), () => {
    frame.set(pointer, { kind: "call", function: cell.unshare(), args: [get(pointer)] });
    frame.emit({ kind: "store", op: "i32.store", address, offset, value: get(pointer) });
  });
  return { pointer: get(pointer), base };
}

/** Reads a place, leaving it as it is. */
export function readLocation(frame: Frame, location: Location): Value {
  return location.kind === "locals" ? location.locals.map(get) : readMemory(frame, location, false);
}

/** Moves the value out of a place, into which another one has to be put. */
export function takeLocation(frame: Frame, location: Location): Value {
  return location.kind === "locals" ? location.locals.map(get) : readMemory(frame, location, true);
}

/** Puts a value where one was taken. */
export function putLocation(frame: Frame, location: Location, value: Value): void {
  if (location.kind === "locals") frame.setAll(location.locals, value);
  else storeMemory(frame, location, value);
}

/** Puts a value in the place of another one. */
export function writeLocation(frame: Frame, location: Location, value: Value): void {
  if (location.kind === "locals") frame.setAll(location.locals, value);
  else writeMemory(frame, location, value);
}
