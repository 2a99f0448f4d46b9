/**
 * What the interpreter does for the intrinsics of the library; `lang/library/intrinsics.ts` says what each means.
 */
import { STATIC_SLOT_COUNT } from "../library/intrinsics.ts";
import { ProgramTrap, type Site } from "./trap.ts";
import {
  type Argument,
  at,
  bigintOf,
  bytesOf,
  BytesValue,
  compareTexts,
  copied,
  InterpreterFault,
  listOf,
  ListValue,
  numberOf,
  referenceOf,
  textOf,
  uniqueBytes,
  uniqueList,
  UNIT_VALUE,
  type Value,
  valueOf,
} from "./value.ts";

/** What an intrinsic may keep: the static cells of one run. */
export interface IntrinsicState {
  readonly cells: BytesValue[];
}

/** The state at the start of a run. */
export function newIntrinsicState(): IntrinsicState {
  return { cells: Array.from({ length: STATIC_SLOT_COUNT }, () => new BytesValue(new Uint8Array(0))) };
}

/** The body of an intrinsic. */
export type IntrinsicFunction = (args: readonly Argument[], site: Site, state: IntrinsicState) => Value;

const int = (args: readonly Argument[], index: number) => numberOf(valueOf(args[index]));
const float = int;
const long = (args: readonly Argument[], index: number) => bigintOf(valueOf(args[index]));
const text = (args: readonly Argument[], index: number) => textOf(valueOf(args[index]));
const bytes = (args: readonly Argument[], index: number) => bytesOf(valueOf(args[index]));
const list = (args: readonly Argument[], index: number) => listOf(valueOf(args[index]));

const scratch = new DataView(new ArrayBuffer(8));

function toInt(value: number, site: Site): number {
  const whole = Math.trunc(value);
  if (!(whole >= -0x8000_0000 && whole <= 0x7fff_ffff)) {
    throw new ProgramTrap("conversion", site, "Cannot convert to Int: the number does not fit");
  }
  return whole | 0;
}

function toInt64(value: number, site: Site): bigint {
  // 2^63 itself does not fit; every double below it does.
  if (!(value >= -0x8000_0000_0000_0000 && value < 0x8000_0000_0000_0000)) {
    throw new ProgramTrap("conversion", site, "Cannot convert to Int64: the number does not fit");
  }
  return BigInt(Math.trunc(value));
}

function saturated(value: number): number {
  if (Number.isNaN(value)) return 0;
  return Math.trunc(Math.max(-0x8000_0000, Math.min(0x7fff_ffff, value))) | 0;
}

function saturated64(value: number): bigint {
  if (Number.isNaN(value)) return 0n;
  if (value >= 0x8000_0000_0000_0000) return (1n << 63n) - 1n;
  if (value < -0x8000_0000_0000_0000) return -(1n << 63n);
  return BigInt(Math.trunc(value));
}

function roundEven(value: number): number {
  const floor = Math.floor(value);
  const difference = value - floor;
  if (!(difference >= 0)) return value;
  const rounded = difference < 0.5
    ? floor
    : difference > 0.5
    ? floor + 1
    : floor % 2 === 0
    ? floor
    : floor + 1;
  // The sign stays when the result is zero.
  return rounded === 0 && (value < 0 || Object.is(value, -0)) ? -0 : rounded;
}

function isNegative(value: number): boolean {
  return value < 0 || Object.is(value, -0);
}

function popcount(value: bigint): number {
  let count = 0;
  for (let rest = BigInt.asUintN(64, value); rest !== 0n; rest >>= 1n) count += Number(rest & 1n);
  return count;
}

function inside(index: number, length: number): void {
  if (index < 0 || index >= length) {
    throw new InterpreterFault(`the library went outside: ${index} of ${length}`);
  }
}

function viewOf(value: BytesValue, offset: number, length: number): DataView {
  inside(offset, value.length);
  inside(offset + length - 1, value.length);
  return new DataView(value.data.buffer, value.data.byteOffset + offset, length);
}

const onNumbers: readonly (readonly [string, IntrinsicFunction])[] = [
  ["std.int.Int.shift_right_unsigned", (args) => int(args, 0) >>> int(args, 1) | 0],
  [
    "std.int.Int.rotate_left",
    (args) =>
      int(args, 0) << int(args, 1) | (int(args, 1) & 31 ? int(args, 0) >>> (32 - (int(args, 1) & 31)) : 0),
  ],
  ["std.int.Int.count_ones", (args) => popcount(BigInt(int(args, 0) >>> 0))],
  ["std.int.Int.leading_zeros", (args) => Math.clz32(int(args, 0))],
  [
    "std.int.Int.trailing_zeros",
    (args) => int(args, 0) === 0 ? 32 : 31 - Math.clz32(int(args, 0) & -int(args, 0)),
  ],
  ["std.int.Int.to_int64", (args) => BigInt(int(args, 0))],
  ["std.int.Int.to_float", (args) => int(args, 0)],
  [
    "std.int64.Int64.shift_right_unsigned",
    (args) => BigInt.asIntN(64, BigInt.asUintN(64, long(args, 0)) >> BigInt(int(args, 1) & 63)),
  ],
  ["std.int64.Int64.rotate_left", (args) => {
    const bits = BigInt.asUintN(64, long(args, 0));
    const count = BigInt(int(args, 1) & 63);
    return BigInt.asIntN(64, bits << count | bits >> (64n - count));
  }],
  ["std.int64.Int64.count_ones", (args) => popcount(long(args, 0))],
  [
    "std.int64.Int64.leading_zeros",
    (args) => long(args, 0) === 0n ? 64 : 64 - BigInt.asUintN(64, long(args, 0)).toString(2).length,
  ],
  ["std.int64.Int64.trailing_zeros", (args) => {
    const digits = BigInt.asUintN(64, long(args, 0)).toString(2);
    return digits === "0" ? 64 : digits.length - 1 - digits.lastIndexOf("1");
  }],
  ["std.int64.Int64.to_int", (args, site) => {
    const value = long(args, 0);
    if (BigInt.asIntN(32, value) !== value) {
      throw new ProgramTrap("conversion", site, "Cannot convert to Int: the number does not fit");
    }
    return Number(value);
  }],
  ["std.int64.Int64.low_int", (args) => Number(BigInt.asIntN(32, long(args, 0)))],
  ["std.int64.Int64.to_float", (args) => Number(long(args, 0))],
  ["std.float.Float.floor", (args) => Math.floor(float(args, 0))],
  ["std.float.Float.ceil", (args) => Math.ceil(float(args, 0))],
  ["std.float.Float.trunc", (args) => Math.trunc(float(args, 0))],
  ["std.float.Float.round_even", (args) => roundEven(float(args, 0))],
  ["std.float.Float.sqrt", (args) => Math.sqrt(float(args, 0))],
  ["std.float.Float.abs", (args) => Math.abs(float(args, 0))],
  [
    "std.float.Float.copy_sign",
    (args) => isNegative(float(args, 1)) ? -Math.abs(float(args, 0)) : Math.abs(float(args, 0)),
  ],
  ["std.float.Float.min", (args) => Math.min(float(args, 0), float(args, 1))],
  ["std.float.Float.max", (args) => Math.max(float(args, 0), float(args, 1))],
  ["std.float.Float.to_int", (args, site) => toInt(float(args, 0), site)],
  ["std.float.Float.to_int64", (args, site) => toInt64(float(args, 0), site)],
  ["std.float.Float.to_int_saturating", (args) => saturated(float(args, 0))],
  ["std.float.Float.to_int64_saturating", (args) => saturated64(float(args, 0))],
  ["std.float.Float.to_f32", (args) => Math.fround(float(args, 0))],
  ["std.float.Float.to_bits", (args) => {
    if (Number.isNaN(float(args, 0))) return 0x7ff8000000000000n;
    scratch.setFloat64(0, float(args, 0));
    return scratch.getBigInt64(0);
  }],
  ["std.float.Float.from_bits", (args) => {
    scratch.setBigInt64(0, long(args, 0));
    return scratch.getFloat64(0);
  }],
  ["std.f32.F32.to_float", (args) => float(args, 0)],
  ["std.f32.F32.to_bits", (args) => {
    if (Number.isNaN(float(args, 0))) return 0x7fc00000;
    scratch.setFloat32(0, float(args, 0));
    return scratch.getInt32(0);
  }],
  ["std.f32.F32.from_bits", (args) => {
    scratch.setInt32(0, int(args, 0));
    return scratch.getFloat32(0);
  }],
  ["std.char.Char.to_int", (args) => int(args, 0)],
  ["std.raw.char_from_int", (args) => int(args, 0)],
  ["std.raw.less_unsigned", (args) => int(args, 0) >>> 0 < int(args, 1) >>> 0],
  ["std.raw.divide_unsigned", (args) => Math.floor((int(args, 0) >>> 0) / (int(args, 1) >>> 0)) | 0],
  [
    "std.raw.divide_unsigned64",
    (args) => BigInt.asIntN(64, BigInt.asUintN(64, long(args, 0)) / BigInt.asUintN(64, long(args, 1))),
  ],
  [
    "std.raw.remainder_unsigned64",
    (args) => BigInt.asIntN(64, BigInt.asUintN(64, long(args, 0)) % BigInt.asUintN(64, long(args, 1))),
  ],
];

const onTexts: readonly (readonly [string, IntrinsicFunction])[] = [
  ["std.string.String.byte_len", (args) => text(args, 0).length],
  ["std.string.String.to_bytes", (args) => copied(new BytesValue(text(args, 0)))],
  ["std.raw.string_slice", (args) => text(args, 0).slice(int(args, 1), int(args, 2))],
  ["std.raw.string_byte", (args) => {
    inside(int(args, 1), text(args, 0).length);
    return text(args, 0)[int(args, 1)] ?? 0;
  }],
  ["std.raw.string_from_bytes", (args) => {
    // The text keeps the bytes, which are copied by whoever changes them from now on.
    const value = bytes(args, 0);
    copied(value);
    return value.view();
  }],
  ["std.raw.string_compare", (args) => compareTexts(text(args, 0), text(args, 1))],
  ["std.bytes.Bytes.len", (args) => bytes(args, 0).length],
  ["std.bytes.Bytes.push", (args) => {
    const value = uniqueBytes(referenceOf(args[0]), 1);
    value.data[value.length++] = int(args, 1);
    return UNIT_VALUE;
  }],
  ["std.bytes.Bytes.append", (args) => {
    const other = bytes(args, 1).view();
    const value = uniqueBytes(referenceOf(args[0]), other.length);
    value.data.set(other, value.length);
    value.length += other.length;
    return UNIT_VALUE;
  }],
  ["std.bytes.Bytes.reserve", () => UNIT_VALUE],
  ["std.raw.bytes_get", (args) => {
    const value = bytes(args, 0);
    inside(int(args, 1), value.length);
    return value.data[int(args, 1)] ?? 0;
  }],
  ["std.raw.bytes_own", (args) => {
    uniqueBytes(referenceOf(args[0]), 0);
    return UNIT_VALUE;
  }],
  ["std.raw.bytes_set_f32", (args) => {
    viewOf(uniqueBytes(referenceOf(args[0]), 0), int(args, 1), 4).setFloat32(0, float(args, 2), true);
    return UNIT_VALUE;
  }],
  ["std.raw.bytes_set", (args) => {
    const value = uniqueBytes(referenceOf(args[0]), 0);
    inside(int(args, 1), value.length);
    value.data[int(args, 1)] = int(args, 2);
    return UNIT_VALUE;
  }],
  ["std.raw.bytes_truncate", (args) => {
    const value = uniqueBytes(referenceOf(args[0]), 0);
    value.length = int(args, 1);
    return UNIT_VALUE;
  }],
  ["std.raw.bytes_slice", (args) => new BytesValue(bytes(args, 0).data.slice(int(args, 1), int(args, 2)))],
  ["std.raw.bytes_filled", (args) => new BytesValue(new Uint8Array(int(args, 1)).fill(int(args, 0)))],
  ["std.raw.bytes_get_int", (args) => viewOf(bytes(args, 0), int(args, 1), 4).getInt32(0, true)],
  ["std.raw.bytes_get_int64", (args) => viewOf(bytes(args, 0), int(args, 1), 8).getBigInt64(0, true)],
  ["std.raw.bytes_set_int", (args) => {
    viewOf(uniqueBytes(referenceOf(args[0]), 0), int(args, 1), 4).setInt32(0, int(args, 2), true);
    return UNIT_VALUE;
  }],
  ["std.raw.bytes_set_int64", (args) => {
    viewOf(uniqueBytes(referenceOf(args[0]), 0), int(args, 1), 8).setBigInt64(0, long(args, 2), true);
    return UNIT_VALUE;
  }],
  ["std.raw.bytes_extend", (args) => {
    const value = uniqueBytes(referenceOf(args[0]), int(args, 1));
    const before = value.length;
    value.length += int(args, 1);
    value.data.fill(0, before, value.length);
    return before;
  }],
  ["std.raw.static_take", (args, _site, state) => {
    const taken = state.cells[int(args, 0)];
    if (taken === undefined) throw new InterpreterFault(`there is no static cell ${int(args, 0)}`);
    state.cells[int(args, 0)] = new BytesValue(new Uint8Array(0));
    return taken;
  }],
  ["std.raw.static_put", (args, _site, state) => {
    // What is put in is copied by whoever goes on with it.
    const value = bytes(args, 1);
    const copy = new BytesValue(value.data, value.length);
    copy.shared = value.shared;
    value.shared = true;
    state.cells[int(args, 0)] = copy;
    return UNIT_VALUE;
  }],
];

const onLists: readonly (readonly [string, IntrinsicFunction])[] = [
  ["std.list.List.len", (args) => list(args, 0).items.length],
  ["std.list.List.push", (args) => {
    uniqueList(referenceOf(args[0])).items.push(copied(valueOf(args[1])));
    return UNIT_VALUE;
  }],
  ["std.list.List.append", (args) => {
    const other = list(args, 1).items;
    const { items } = uniqueList(referenceOf(args[0]));
    for (const item of other.slice()) items.push(copied(item));
    return UNIT_VALUE;
  }],
  ["std.list.List.reserve", () => UNIT_VALUE],
  ["std.raw.list_get", (args) => copied(at(list(args, 0).items, int(args, 1)))],
  ["std.raw.list_own", (args) => {
    uniqueList(referenceOf(args[0]));
    return UNIT_VALUE;
  }],
  ["std.raw.list_set", (args) => {
    const { items } = uniqueList(referenceOf(args[0]));
    inside(int(args, 1), items.length);
    items[int(args, 1)] = copied(valueOf(args[2]));
    return UNIT_VALUE;
  }],
  ["std.raw.list_swap", (args) => {
    const { items } = uniqueList(referenceOf(args[0]));
    const left = at(items, int(args, 1));
    items[int(args, 1)] = at(items, int(args, 2));
    items[int(args, 2)] = left;
    return UNIT_VALUE;
  }],
  ["std.raw.list_take_last", (args) => {
    const last = uniqueList(referenceOf(args[0])).items.pop();
    if (last === undefined) throw new InterpreterFault("the library took from an empty list");
    return last;
  }],
  ["std.raw.list_insert", (args) => {
    uniqueList(referenceOf(args[0])).items.splice(int(args, 1), 0, copied(valueOf(args[2])));
    return UNIT_VALUE;
  }],
  ["std.raw.list_remove", (args) => {
    const [removed] = uniqueList(referenceOf(args[0])).items.splice(int(args, 1), 1);
    if (removed === undefined) throw new InterpreterFault("the library removed outside of a list");
    return removed;
  }],
  ["std.raw.list_truncate", (args) => {
    uniqueList(referenceOf(args[0])).items.length = int(args, 1);
    return UNIT_VALUE;
  }],
  [
    "std.raw.list_slice",
    (args) => new ListValue(list(args, 0).items.slice(int(args, 1), int(args, 2)).map(copied)),
  ],
  ["std.raw.list_filled", (args) => {
    const value = copied(valueOf(args[0]));
    return new ListValue(Array.from({ length: int(args, 1) }, () => value));
  }],
];

/** The bodies by id. */
export const INTRINSIC_FUNCTIONS: ReadonlyMap<string, IntrinsicFunction> = new Map([
  ...onNumbers,
  ...onTexts,
  ...onLists,
]);
