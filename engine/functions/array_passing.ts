/**
 * Arrays of scalars in a module's memory: the elements one after the other, little-endian, each as wide as its type.
 * They have one dimension that begins at 1, and no NULLs.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { SqlArray } from "../types/sql_array.ts";
import type { SqlType } from "../types/sql_type.ts";
import type { SqlValue } from "../types/value.ts";
import { dateNumber, scalarResult, timestampNumber, type WasmType } from "./value_passing.ts";

/** How an element is stored. */
interface ElementLayout {
  readonly bytes: 1 | 2 | 4 | 8;
  readonly isFloat: boolean;
  /** Whether the number is without a sign. */
  readonly isUnsigned: boolean;
}

const integer = (bytes: ElementLayout["bytes"], isUnsigned = false): ElementLayout => ({
  bytes,
  isFloat: false,
  isUnsigned,
});

const LAYOUTS: Readonly<Record<string, ElementLayout>> = {
  bool: integer(1, true),
  i8: integer(1),
  u8: integer(1, true),
  i16: integer(2),
  u16: integer(2, true),
  i32: integer(4),
  u32: integer(4, true),
  date: integer(4),
  i64: integer(8),
  u64: integer(8, true),
  time: integer(8),
  timestamp: integer(8),
  timestamptz: integer(8),
  f32: { bytes: 4, isFloat: true, isUnsigned: false },
  f64: { bytes: 8, isFloat: true, isUnsigned: false },
};

/** How elements of a type are stored; null: arrays of it do not go through memory. */
export function elementLayout(element: SqlType): ElementLayout | null {
  return LAYOUTS[element.kind] ?? null;
}

/** The bytes of an array; raises 22004 for a NULL and 2202E for more than one dimension. */
export function arrayBytes(element: SqlType, value: SqlValue): { bytes: Uint8Array; count: number } {
  const layout = elementLayout(element);
  if (layout === null || !(value instanceof SqlArray)) throw new TypeError("an array of scalars is expected");
  const { elements } = value;
  if (value.dimensions.length > 1) {
    throw new DatabaseError(SQLSTATE.arraySubscriptError, "array must be one-dimensional");
  }
  const bytes = new Uint8Array(elements.length * layout.bytes);
  const view = new DataView(bytes.buffer);
  for (let index = 0; index < elements.length; index++) {
    const each = elements[index] ?? null;
    if (each === null) {
      throw new DatabaseError(SQLSTATE.nullValueNotAllowed, "array must not contain nulls");
    }
    putElement(view, index * layout.bytes, layout, numberOf(element, each));
  }
  return { bytes, count: elements.length };
}

function numberOf(element: SqlType, value: SqlValue): number | bigint {
  switch (element.kind) {
    case "bool":
      return value === true ? 1 : 0;
    case "date":
      return dateNumber(Number(value));
    case "timestamp":
    case "timestamptz":
      return timestampNumber(typeof value === "bigint" ? value : Number(value));
    default:
      return typeof value === "bigint" ? value : Number(value);
  }
}

function putElement(view: DataView, at: number, layout: ElementLayout, value: number | bigint): void {
  if (layout.isFloat) {
    if (layout.bytes === 4) view.setFloat32(at, Number(value), true);
    else view.setFloat64(at, Number(value), true);
    return;
  }
  switch (layout.bytes) {
    case 1:
      return view.setUint8(at, Number(value));
    case 2:
      return view.setUint16(at, Number(value), true);
    case 4:
      return view.setUint32(at, Number(value), true);
    case 8:
      return view.setBigUint64(at, BigInt.asUintN(64, BigInt(value)), true);
  }
}

/** The array of bytes that a function returned. */
export function arrayOfBytes(element: SqlType, bytes: Uint8Array): SqlArray {
  const layout = elementLayout(element);
  if (layout === null) throw new TypeError("an array of scalars is expected");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const elements: SqlValue[] = [];
  const wasm: WasmType = layout.bytes === 8
    ? (layout.isFloat ? "f64" : "i64")
    : layout.isFloat
    ? "f32"
    : "i32";
  for (let at = 0; at < bytes.length; at += layout.bytes) {
    elements.push(scalarResult(element, wasm, elementAt(view, at, layout)));
  }
  return SqlArray.of(elements);
}

function elementAt(view: DataView, at: number, layout: ElementLayout): number | bigint {
  if (layout.isFloat) return layout.bytes === 4 ? view.getFloat32(at, true) : view.getFloat64(at, true);
  switch (layout.bytes) {
    case 1:
      return layout.isUnsigned ? view.getUint8(at) : view.getInt8(at);
    case 2:
      return layout.isUnsigned ? view.getUint16(at, true) : view.getInt16(at, true);
    case 4:
      return view.getInt32(at, true);
    case 8:
      return view.getBigInt64(at, true);
  }
}
