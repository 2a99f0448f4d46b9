/** Values in memory and in variables: where they lie, how they are read and stored. */
import type { Expression } from "../../typed/tree.ts";
import { resolve } from "../../types/primitives.ts";
import type { PrimitiveName, Type } from "../../types/type.ts";
import {
  BLOCK_HEADER,
  type CellKind,
  type CellVariant,
  type Layout,
  LENGTH_OFFSET,
  TAG_OFFSET,
} from "../layout.ts";
import { timesSize } from "../cells.ts";
import { get, i32, type IrExpression, type IrLocal, load, op, type PointerKind } from "../node.ts";
import { fold } from "../fold.ts";
import { type Binding, type Frame, type MemoryLocation, owned, type Value, zero } from "./frame.ts";

/** A value, or the memory where it lies. */
export type Located =
  | { readonly kind: "value"; readonly value: Value; readonly layout: Layout }
  | MemoryLocation;

/** The one slot of an expression. */
export function single(frame: Frame, expression: Expression): IrExpression {
  const [value] = frame.lower(expression);
  return value ?? i32(0);
}

/** The name of a primitive type, or null. */
export function primitiveOf(type: Type): PrimitiveName | null {
  const at = resolve(type);
  return at.kind === "primitive" ? at.name : null;
}

/** Where the value of a name lies, or the value. */
export function locatedOf(binding: Binding): Located {
  switch (binding.kind) {
    case "value":
    case "memory":
      return binding;
    case "locals":
      return { kind: "value", value: binding.locals.map(get), layout: binding.layout };
    case "closure":
      throw new Error("Cannot read a closure: it is only called");
  }
}

/** A field of a record. */
export function fieldOf(frame: Frame, target: Located, index: number): Located {
  const { shape } = target.layout;
  if (shape.kind === "record") {
    const field = shape.fields[index];
    if (field === undefined) {
      throw new Error(`Cannot take field ${index} of ${target.layout.name}: it has fewer`);
    }
    if (target.kind === "memory") {
      return { ...target, offset: target.offset + field.offset, layout: field.layout };
    }
    const value = target.value.slice(field.first, field.first + field.layout.slots.length);
    return { kind: "value", value, layout: field.layout };
  }
  if (shape.kind !== "box" || shape.cell.contents.kind !== "variants") {
    throw new Error(`Cannot take field ${index} of ${target.layout.name}: it is no record`);
  }
  const field = shape.cell.contents.variants[0]?.fields[index];
  if (field === undefined) {
    throw new Error(`Cannot take field ${index} of ${target.layout.name}: it has fewer`);
  }
  const pointer = pointerLocal(frame, read(frame, target)[0] ?? i32(0), shape.cell);
  return { kind: "memory", address: get(pointer), offset: field.offset, base: pointer, layout: field.layout };
}

/** A variable that holds a pointer. */
export function pointerLocal(frame: Frame, value: IrExpression, pointer: PointerKind): IrLocal {
  if (value.kind === "get") return value.local;
  const local = frame.local("p", { type: "i32", pointer });
  frame.set(local, value);
  return local;
}

/** An element of a list. */
export function elementOf(frame: Frame, options: {
  readonly pointer: IrExpression;
  readonly element: Layout;
  readonly index: IrExpression;
  readonly isInside: boolean;
  readonly span: Expression["span"];
}): MemoryLocation {
  const { pointer, element } = options;
  const index = options.isInside ? options.index : frame.reusable(options.index);
  if (!options.isInside) {
    frame.check(op("i32.ge_u", index, load("i32.load", pointer, LENGTH_OFFSET)), "index", options.span);
  }
  return addressOf(frame, pointer, element, index);
}

/** The memory of an element whose index is inside. */
export function addressOf(
  frame: Frame,
  pointer: IrExpression,
  element: Layout,
  index: IrExpression,
): MemoryLocation {
  const base = pointer.kind === "get" ? pointer.local : null;
  if (index.kind === "const") {
    return {
      kind: "memory",
      address: pointer,
      offset: BLOCK_HEADER + Number(index.value) * element.size,
      base,
      layout: element,
    };
  }
  const address = frame.local("at", { type: "i32", pointer: null }, { base });
  frame.set(address, op("i32.add", pointer, fold(timesSize(index, element.size))));
  return { kind: "memory", address: get(address), offset: BLOCK_HEADER, base, layout: element };
}

/** Reads what lies somewhere. */
export function read(frame: Frame, located: Located): Value {
  if (located.kind === "value") return located.value;
  return readMemory(frame, located, false);
}

/** Loads a value; its pointers are copied, or moved out of the memory. */
export function readMemory(frame: Frame, location: MemoryLocation, isTaken: boolean): Value {
  const { layout, address, offset, base, isForever } = location;
  return layout.slots.map((slot, index) => {
    const at = offset + (layout.offsets[index] ?? 0);
    if (slot.pointer === null) {
      const value = load(slot.load, address, at);
      if (layout.slots.length === 1) return value;
      const local = frame.local("f", slot);
      frame.set(local, value);
      return get(local);
    }
    const local = frame.local("p", slot, { base });
    frame.emit({
      kind: "set",
      local,
      value: {
        kind: "load",
        op: slot.load,
        address,
        offset: at,
        isTaken,
        ...(isForever === true ? { isForever } : {}),
      },
    });
    return get(local);
  });
}

/** Stores a value over nothing: what was there has been taken, or was never set. */
export function storeMemory(frame: Frame, location: MemoryLocation, value: Value): void {
  const { layout, address, offset } = location;
  for (const [index, slot] of layout.slots.entries()) {
    frame.emit({
      kind: "store",
      op: slot.store,
      address,
      offset: offset + (layout.offsets[index] ?? 0),
      value: owned(value[index] ?? zero(slot.type)),
    });
  }
}

/** Stores a value over an old one, whose counts are given back. */
export function writeMemory(frame: Frame, location: MemoryLocation, value: Value): void {
  const { layout, address, offset, base } = location;
  for (const [index, slot] of layout.slots.entries()) {
    if (slot.pointer === null) continue;
    // Never read again, so that the ownership pass releases it.
    const old = frame.local("old", slot, { base });
    frame.emit({
      kind: "set",
      local: old,
      value: {
        kind: "load",
        op: slot.load,
        address,
        offset: offset + (layout.offsets[index] ?? 0),
        isTaken: true,
      },
    });
  }
  storeMemory(frame, location, value);
}

/** A counted cell of a variant's fields. */
export function makeCell(
  frame: Frame,
  cell: CellKind,
  variant: CellVariant,
  hasTag: boolean,
  fields: readonly Value[],
): IrExpression {
  const pointer = frame.local("cell", { type: "i32", pointer: cell });
  frame.set(pointer, frame.program.allocator.take(variant.size));
  const word = (offset: number, value: number): void =>
    frame.emit({ kind: "store", op: "i32.store", address: get(pointer), offset, value: i32(value) });
  word(0, 1);
  if (hasTag) word(TAG_OFFSET, variant.tag);
  for (const [index, field] of variant.fields.entries()) {
    storeMemory(frame, {
      kind: "memory",
      address: get(pointer),
      offset: field.offset,
      base: pointer,
      layout: field.layout,
    }, fields[index] ?? []);
  }
  return get(pointer);
}

/** Whether evaluating the expression surely changes no variable. */
export function isQuiet(expression: Expression): boolean {
  switch (expression.kind) {
    case "integer":
    case "float":
    case "boolean":
    case "character":
    case "string":
    case "local":
    case "constant":
      return true;
    case "field":
      return isQuiet(expression.target);
    case "element":
      return isQuiet(expression.target) && isQuiet(expression.index);
    case "negate":
    case "not":
      return isQuiet(expression.operand);
    case "arithmetic":
    case "compare":
    case "and":
    case "or":
      return isQuiet(expression.left) && isQuiet(expression.right);
    case "tuple":
      return expression.elements.every(isQuiet);
    case "call":
      return expression.callee.kind !== "value" &&
        expression.arguments.every((argument) => argument.kind === "value" && isQuiet(argument.value));
    default:
      return false;
  }
}
