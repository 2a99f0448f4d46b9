/**
 * The operations of WebAssembly that the intermediate representation uses, by their names in the text format.
 *
 * An operation takes its operands in order and gives one result; loads and stores stand in tables of their own,
 * because they have an offset.
 */
import type { ScalarType } from "./node.ts";

/** What an operation takes and gives, and its code in the binary format (0xfc.. are those behind the prefix 0xfc). */
export interface OperationShape {
  readonly code: number;
  readonly operands: readonly ScalarType[];
  readonly result: ScalarType;
  /** May trap by itself. */
  readonly traps: boolean;
}

/** A load or store: its code, the type of the value, and how many bytes it moves. */
export interface AccessShape {
  readonly code: number;
  readonly type: ScalarType;
  readonly bytes: number;
}

function series(
  first: number,
  names: string,
  operands: readonly ScalarType[],
  result: ScalarType,
): [string, OperationShape][] {
  return names.split(" ").map((
    name,
    index,
  ) => [name, { code: first + index, operands, result, traps: TRAPPING.has(name) }]);
}

function prefixed(prefix: ScalarType, names: string): string {
  return names.split(" ").map((name) => `${prefix}.${name}`).join(" ");
}

const TRAPPING = new Set(
  ["div_s", "div_u", "rem_s", "rem_u"].flatMap((name) => [`i32.${name}`, `i64.${name}`]).concat([
    "i32.trunc_f32_s",
    "i32.trunc_f32_u",
    "i32.trunc_f64_s",
    "i32.trunc_f64_u",
    "i64.trunc_f32_s",
    "i64.trunc_f32_u",
    "i64.trunc_f64_s",
    "i64.trunc_f64_u",
  ]),
);

const INTEGER_COMPARISONS = "eq ne lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u";
const FLOAT_COMPARISONS = "eq ne lt gt le ge";
const INTEGER_BINARY = "add sub mul div_s div_u rem_s rem_u and or xor shl shr_s shr_u rotl rotr";
const FLOAT_UNARY = "abs neg ceil floor trunc nearest sqrt";
const FLOAT_BINARY = "add sub mul div min max copysign";

/** All operations by name. */
export const OPERATIONS: ReadonlyMap<string, OperationShape> = new Map([
  ...series(0x45, "i32.eqz", ["i32"], "i32"),
  ...series(0x46, prefixed("i32", INTEGER_COMPARISONS), ["i32", "i32"], "i32"),
  ...series(0x50, "i64.eqz", ["i64"], "i32"),
  ...series(0x51, prefixed("i64", INTEGER_COMPARISONS), ["i64", "i64"], "i32"),
  ...series(0x5b, prefixed("f32", FLOAT_COMPARISONS), ["f32", "f32"], "i32"),
  ...series(0x61, prefixed("f64", FLOAT_COMPARISONS), ["f64", "f64"], "i32"),
  ...series(0x67, prefixed("i32", "clz ctz popcnt"), ["i32"], "i32"),
  ...series(0x6a, prefixed("i32", INTEGER_BINARY), ["i32", "i32"], "i32"),
  ...series(0x79, prefixed("i64", "clz ctz popcnt"), ["i64"], "i64"),
  ...series(0x7c, prefixed("i64", INTEGER_BINARY), ["i64", "i64"], "i64"),
  ...series(0x8b, prefixed("f32", FLOAT_UNARY), ["f32"], "f32"),
  ...series(0x92, prefixed("f32", FLOAT_BINARY), ["f32", "f32"], "f32"),
  ...series(0x99, prefixed("f64", FLOAT_UNARY), ["f64"], "f64"),
  ...series(0xa0, prefixed("f64", FLOAT_BINARY), ["f64", "f64"], "f64"),
  ...series(0xa7, "i32.wrap_i64", ["i64"], "i32"),
  ...series(0xa8, "i32.trunc_f32_s i32.trunc_f32_u", ["f32"], "i32"),
  ...series(0xaa, "i32.trunc_f64_s i32.trunc_f64_u", ["f64"], "i32"),
  ...series(0xac, "i64.extend_i32_s i64.extend_i32_u", ["i32"], "i64"),
  ...series(0xae, "i64.trunc_f32_s i64.trunc_f32_u", ["f32"], "i64"),
  ...series(0xb0, "i64.trunc_f64_s i64.trunc_f64_u", ["f64"], "i64"),
  ...series(0xb2, "f32.convert_i32_s f32.convert_i32_u", ["i32"], "f32"),
  ...series(0xb4, "f32.convert_i64_s f32.convert_i64_u", ["i64"], "f32"),
  ...series(0xb6, "f32.demote_f64", ["f64"], "f32"),
  ...series(0xb7, "f64.convert_i32_s f64.convert_i32_u", ["i32"], "f64"),
  ...series(0xb9, "f64.convert_i64_s f64.convert_i64_u", ["i64"], "f64"),
  ...series(0xbb, "f64.promote_f32", ["f32"], "f64"),
  ...series(0xbc, "i32.reinterpret_f32", ["f32"], "i32"),
  ...series(0xbd, "i64.reinterpret_f64", ["f64"], "i64"),
  ...series(0xbe, "f32.reinterpret_i32", ["i32"], "f32"),
  ...series(0xbf, "f64.reinterpret_i64", ["i64"], "f64"),
  ...series(0xc0, "i32.extend8_s i32.extend16_s", ["i32"], "i32"),
  ...series(0xc2, "i64.extend8_s i64.extend16_s i64.extend32_s", ["i64"], "i64"),
  ...series(0xfc00, "i32.trunc_sat_f32_s i32.trunc_sat_f32_u", ["f32"], "i32"),
  ...series(0xfc02, "i32.trunc_sat_f64_s i32.trunc_sat_f64_u", ["f64"], "i32"),
  ...series(0xfc04, "i64.trunc_sat_f32_s i64.trunc_sat_f32_u", ["f32"], "i64"),
  ...series(0xfc06, "i64.trunc_sat_f64_s i64.trunc_sat_f64_u", ["f64"], "i64"),
]);

/** All loads by name. */
export const LOADS: ReadonlyMap<string, AccessShape> = new Map<string, AccessShape>([
  ["i32.load", { code: 0x28, type: "i32", bytes: 4 }],
  ["i64.load", { code: 0x29, type: "i64", bytes: 8 }],
  ["f32.load", { code: 0x2a, type: "f32", bytes: 4 }],
  ["f64.load", { code: 0x2b, type: "f64", bytes: 8 }],
  ["i32.load8_s", { code: 0x2c, type: "i32", bytes: 1 }],
  ["i32.load8_u", { code: 0x2d, type: "i32", bytes: 1 }],
  ["i32.load16_s", { code: 0x2e, type: "i32", bytes: 2 }],
  ["i32.load16_u", { code: 0x2f, type: "i32", bytes: 2 }],
]);

/** All stores by name. */
const STORES: ReadonlyMap<string, AccessShape> = new Map<string, AccessShape>([
  ["i32.store", { code: 0x36, type: "i32", bytes: 4 }],
  ["i64.store", { code: 0x37, type: "i64", bytes: 8 }],
  ["f32.store", { code: 0x38, type: "f32", bytes: 4 }],
  ["f64.store", { code: 0x39, type: "f64", bytes: 8 }],
  ["i32.store8", { code: 0x3a, type: "i32", bytes: 1 }],
  ["i32.store16", { code: 0x3b, type: "i32", bytes: 2 }],
]);

/** The shape of an operation that must exist. */
export function operationShape(name: string): OperationShape {
  const shape = OPERATIONS.get(name);
  if (shape === undefined) throw new Error(`Cannot find the operation ${name}: it is in no table`);
  return shape;
}

/** The shape of a load or store that must exist. */
export function accessShape(name: string): AccessShape {
  const shape = LOADS.get(name) ?? STORES.get(name);
  if (shape === undefined) throw new Error(`Cannot find the access ${name}: it is in no table`);
  return shape;
}
