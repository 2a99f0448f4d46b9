/**
 * Values of the interpreter.
 *
 * Numbers, truth values and characters are JavaScript's own (`Int64` a bigint), texts are UTF-8 that nobody changes.
 * What can be changed in place carries a mark: `shared` says that another reference to the object may exist, so that
 * whoever wants to write makes a copy first. The mark is set when a value is copied and never taken away from an
 * object; copies are shallow, and mark what lies in them.
 */
import type { Site } from "./trap.ts";

/** Any value. */
export type Value =
  | number
  | bigint
  | boolean
  | Uint8Array
  | BytesValue
  | Aggregate
  | ListValue
  | VariantValue
  | FunctionValue;

/** A record or tuple; the empty tuple too. */
export class Aggregate {
  readonly parts: Value[];
  shared = false;

  constructor(parts: Value[]) {
    this.parts = parts;
  }
}

/** A list. */
export class ListValue {
  readonly items: Value[];
  shared = false;

  constructor(items: Value[]) {
    this.items = items;
  }
}

/** A variant of a union with its fields; never changed in place. */
export class VariantValue {
  readonly index: number;
  readonly fields: readonly Value[];

  constructor(index: number, fields: readonly Value[]) {
    this.index = index;
    this.fields = fields;
  }
}

/** Bytes; `data` may be longer than they are, and may belong to a text when they are shared. */
export class BytesValue {
  data: Uint8Array;
  length: number;
  shared = false;

  constructor(data: Uint8Array, length = data.length) {
    this.data = data;
    this.length = length;
  }

  /** The bytes alone. */
  view(): Uint8Array {
    return this.data.subarray(0, this.length);
  }
}

/** A function as a value. */
export class FunctionValue {
  readonly call: (args: readonly Argument[], site: Site) => Value;

  constructor(call: (args: readonly Argument[], site: Site) => Value) {
    this.call = call;
  }
}

/** A place that is held `inout`: an element of an array that belongs to a frame, an aggregate or a list. */
export class Reference {
  readonly array: Value[];
  readonly index: number;

  constructor(array: Value[], index: number) {
    this.array = array;
    this.index = index;
  }

  read(): Value {
    return at(this.array, this.index);
  }

  write(value: Value): void {
    this.array[this.index] = value;
  }
}

/** What a parameter is given. */
export type Argument = Value | Reference;

/** An error of the compiler or of this interpreter, not of the program. */
export class InterpreterFault extends Error {
  constructor(message: string) {
    super(`Cannot interpret the program: ${message}`);
    this.name = "InterpreterFault";
  }
}

/** The element of an array that is known to be long enough. */
export function at(array: readonly Value[], index: number): Value {
  const value = array[index];
  if (value === undefined) throw new InterpreterFault(`there is no value at ${index} of ${array.length}`);
  return value;
}

/** The value of `()`. */
export const UNIT_VALUE = new Aggregate([]);
UNIT_VALUE.shared = true;

/** Marks a value that is about to have two holders. */
export function copied(value: Value): Value {
  if (value instanceof Aggregate || value instanceof ListValue || value instanceof BytesValue) {
    value.shared = true;
  }
  return value;
}

function copyAll(values: readonly Value[]): Value[] {
  const copy = values.slice();
  for (const value of copy) copied(value);
  return copy;
}

/** The aggregate at a place, alone there. */
export function uniqueAggregate(place: Reference): Aggregate {
  const value = place.read();
  if (!(value instanceof Aggregate)) throw new InterpreterFault("a record was expected at the place");
  if (!value.shared) return value;
  const copy = new Aggregate(copyAll(value.parts));
  place.write(copy);
  return copy;
}

/** The list at a place, alone there. */
export function uniqueList(place: Reference): ListValue {
  const value = place.read();
  if (!(value instanceof ListValue)) throw new InterpreterFault("a list was expected at the place");
  if (!value.shared) return value;
  const copy = new ListValue(copyAll(value.items));
  place.write(copy);
  return copy;
}

/** The bytes at a place, alone there, with room for some more. */
export function uniqueBytes(place: Reference, more: number): BytesValue {
  const value = place.read();
  if (!(value instanceof BytesValue)) throw new InterpreterFault("bytes were expected at the place");
  const needed = value.length + more;
  if (!value.shared && needed <= value.data.length) return value;
  const data = new Uint8Array(more > 0 ? Math.max(needed, value.length * 2, 16) : needed);
  data.set(value.view());
  const copy = new BytesValue(data, value.length);
  place.write(copy);
  return copy;
}

/** A value that must be a number: `Int`, `Float`, `F32` or `Char`. */
export function numberOf(value: Argument): number {
  if (typeof value !== "number") throw new InterpreterFault("a number was expected");
  return value;
}

/** A value that must be an `Int64`. */
export function bigintOf(value: Argument): bigint {
  if (typeof value !== "bigint") throw new InterpreterFault("an Int64 was expected");
  return value;
}

/** A value that must be a `Bool`. */
export function booleanOf(value: Argument): boolean {
  if (typeof value !== "boolean") throw new InterpreterFault("a Bool was expected");
  return value;
}

/** A value that must be a `String`. */
export function textOf(value: Argument): Uint8Array {
  if (!(value instanceof Uint8Array)) throw new InterpreterFault("a String was expected");
  return value;
}

/** A value that must be `Bytes`. */
export function bytesOf(value: Argument): BytesValue {
  if (!(value instanceof BytesValue)) throw new InterpreterFault("Bytes were expected");
  return value;
}

/** A value that must be a list. */
export function listOf(value: Argument): ListValue {
  if (!(value instanceof ListValue)) throw new InterpreterFault("a list was expected");
  return value;
}

/** A value that must be a record or tuple. */
export function aggregateOf(value: Argument): Aggregate {
  if (!(value instanceof Aggregate)) throw new InterpreterFault("a record or tuple was expected");
  return value;
}

/** A value that must be a variant. */
export function variantOf(value: Argument): VariantValue {
  if (!(value instanceof VariantValue)) throw new InterpreterFault("a variant was expected");
  return value;
}

/** A value that must be a function. */
export function functionOf(value: Argument): FunctionValue {
  if (!(value instanceof FunctionValue)) throw new InterpreterFault("a function was expected");
  return value;
}

/** What stands for an `inout` parameter. */
export function referenceOf(value: Argument | undefined): Reference {
  if (!(value instanceof Reference)) throw new InterpreterFault("a place was expected");
  return value;
}

/** What stands for any other parameter. */
export function valueOf(value: Argument | undefined): Value {
  if (value === undefined || value instanceof Reference) throw new InterpreterFault("a value was expected");
  return value;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A text as the program has it. */
export function encodeText(text: string): Uint8Array {
  return encoder.encode(text);
}

/** A text as JavaScript has it. */
export function decodeText(text: Uint8Array): string {
  return decoder.decode(text);
}

/** -1, 0 or 1 by bytes, the shorter first. */
export function compareTexts(left: Uint8Array, right: Uint8Array): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference < 0 ? -1 : 1;
  }
  return Math.sign(left.length - right.length);
}

/** Both texts, one behind the other. */
export function joinTexts(texts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const text of texts) length += text.length;
  const joined = new Uint8Array(length);
  let offset = 0;
  for (const text of texts) {
    joined.set(text, offset);
    offset += text.length;
  }
  return joined;
}
