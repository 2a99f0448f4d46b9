/**
 * The functions of the library whose bodies are here. What is hot is written in line; what is long calls a helper of
 * the run-time.
 *
 * `lang/library/intrinsics.ts` says what each means; a test holds this table to it.
 */
import type { Span } from "../../source/source_file.ts";
import type { Expression, TypedFunction } from "../../typed/tree.ts";
import type { Type } from "../../types/type.ts";
import { BLOCK_HEADER, type Layout, LENGTH_OFFSET } from "../layout.ts";
import { timesSize } from "../cells.ts";
import { constant, get, i32, type IrExpression, type IrLocal, load, op } from "../node.ts";
import { fold } from "../fold.ts";
import { evaluateArguments, type LoweredArgument } from "./call.ts";
import { isNatural } from "./expression.ts";
import { addressOf, read, readMemory, storeMemory, writeMemory } from "./memory.ts";
import { type Frame, owned, type Value, zeros } from "./frame.ts";
import { ownPointer, putLocation, resolvePlace, takeLocation } from "./place.ts";

/** A call of an intrinsic, its arguments evaluated. */
interface Use {
  readonly frame: Frame;
  readonly span: Span;
  readonly typeArguments: readonly Type[];
  readonly args: readonly LoweredArgument[];
  /** The layout of the result. */
  readonly result: Layout;
}

type Writer = (use: Use) => Value;

/** The first slot of a value argument. */
function slot(use: Use, index: number): IrExpression {
  const argument = use.args[index];
  return argument?.kind === "value" ? argument.value[0] ?? i32(0) : i32(0);
}

function valueOf(use: Use, index: number): Value {
  const argument = use.args[index];
  return argument?.kind === "value" ? argument.value : [];
}

/** An operation of the arguments. */
function operation(name: string, ...more: IrExpression[]): Writer {
  return (use) => [fold(op(name, ...use.args.map((_, index) => slot(use, index)), ...more))];
}

/** An operation on `Int64` whose count is an `Int`. */
function longShift(name: string): Writer {
  return (use) => [fold(op(name, slot(use, 0), fold(op("i64.extend_i32_u", slot(use, 1)))))];
}

function longBits(name: string): Writer {
  return (use) => [fold(op("i32.wrap_i64", op(name, slot(use, 0))))];
}

/** Float to integer: traps unless the number lies strictly between the bounds, which NaN does not. */
function truncation(name: string, low: number, high: number): Writer {
  return (use) => {
    const value = use.frame.reusable(slot(use, 0));
    if (
      value.kind === "const" && Number(value.value) > low && Number(value.value) < high &&
      name.startsWith("i32")
    ) {
      return [i32(Math.trunc(Number(value.value)))];
    }
    const fits = op(
      "i32.and",
      op("f64.gt", value, constant("f64", low)),
      op("f64.lt", value, constant("f64", high)),
    );
    use.frame.check(op("i32.eqz", fits), "conversion", use.span);
    return [op(name, value)];
  };
}

function bytesBlock(use: Use, index: number): IrExpression {
  return use.frame.reusable(slot(use, index));
}

/** The element layout of the list that the first type argument is of. */
function elementOf(use: Use): Layout {
  const [type] = use.typeArguments;
  if (type === undefined) throw new Error("Cannot lower an intrinsic of lists: it has no element type");
  return use.frame.program.layouts.of(type);
}

/** Takes the block out of the `inout` argument, lets a helper change it, and puts it back. */
function changeBlock(
  use: Use,
  index: number,
  change: (block: IrExpression) => IrExpression,
): IrLocal | null {
  const argument = use.args[index];
  if (argument?.kind !== "inout") return null;
  const { frame } = use;
  const location = resolvePlace(frame, argument.prepared);
  const [taken] = takeLocation(frame, location);
  const changed = change(taken ?? i32(0));
  if (location.kind === "locals") {
    putLocation(frame, location, [changed]);
    return location.locals[0] ?? null;
  }
  // The block lies in memory, which owns it; what follows only uses its address.
  const address = frame.local("block", { type: "i32", pointer: null }, { base: location.base });
  frame.emit({ kind: "set", local: address, value: changed });
  putLocation(frame, location, [changed]);
  return address;
}

/** The address of the `inout` argument's block, made its own. */
function ownBlock(
  use: Use,
  index: number,
): { readonly pointer: IrExpression; readonly base: IrLocal | null } {
  const argument = use.args[index];
  if (argument?.kind !== "inout") throw new Error("Cannot lower an intrinsic: the argument is not inout");
  const location = resolvePlace(use.frame, argument.prepared);
  const { shape } = location.layout;
  if (shape.kind !== "block") throw new Error("Cannot lower an intrinsic: the argument is no list");
  return ownPointer(use.frame, location, shape.cell);
}

/** The address of the `inout` argument's block, which is its own already. */
function heldBlock(
  use: Use,
  index: number,
): { readonly pointer: IrExpression; readonly base: IrLocal | null } {
  const argument = use.args[index];
  if (argument?.kind !== "inout") throw new Error("Cannot lower an intrinsic: the argument is not inout");
  const { frame } = use;
  const location = resolvePlace(frame, argument.prepared);
  if (location.kind === "locals") {
    const [local] = location.locals;
    if (local === undefined) throw new Error("Cannot lower an intrinsic: the argument has no pointer");
    frame.emit({ kind: "touch", local });
    return { pointer: get(local), base: local };
  }
  const { address, offset, base } = location;
  const pointer = frame.local("block", { type: "i32", pointer: null }, { base });
  frame.set(pointer, load("i32.load", address, offset));
  return { pointer: get(pointer), base };
}

function own(use: Use): Value {
  ownBlock(use, 0);
  return [];
}

/** A float of 32 bits, whose bits the host sees: every NaN is the canonical one. */
function storeShort(use: Use): Value {
  const { frame } = use;
  const offset = frame.stable(slot(use, 1));
  const value = frame.reusable(frame.stable(slot(use, 2)));
  const { pointer } = heldBlock(use, 0);
  frame.emit({
    kind: "store",
    op: "f32.store",
    address: fold(op("i32.add", pointer, offset)),
    offset: BLOCK_HEADER,
    value: {
      kind: "select",
      type: "f32",
      condition: op("f64.eq", value, value),
      then: fold(op("f32.demote_f64", value)),
      otherwise: constant("f32", Number.NaN),
    },
  });
  return [];
}

function reserveOne(use: Use, element: Layout): IrLocal | null {
  const { frame } = use;
  return changeBlock(use, 0, (block) => {
    const pointer = block.kind === "get" ? block.local.pointer : null;
    return frame.helper(frame.program.runtime.reserveOne(element), [owned(block)], pointer);
  });
}

function push(use: Use, element: Layout, value: Value): Value {
  const { frame } = use;
  const block = reserveOne(use, element);
  if (block === null) return [];
  const length = frame.reusable(frame.temporary(load("i32.load", get(block), LENGTH_OFFSET)));
  const at = addressOf(frame, get(block), element, length);
  storeMemory(frame, { ...at, base: block.pointer === null ? block.base : block }, value);
  setLength(frame, get(block), op("i32.add", length, i32(1)));
  return [];
}

function setLength(frame: Frame, block: IrExpression, length: IrExpression): void {
  frame.emit({ kind: "store", op: "i32.store", address: block, offset: LENGTH_OFFSET, value: length });
}

function append(use: Use, element: Layout): Value {
  const { frame } = use;
  changeBlock(use, 0, (block) => {
    const pointer = block.kind === "get" ? block.local.pointer : null;
    return frame.helper(frame.program.runtime.append(element), [owned(block), slot(use, 1)], pointer);
  });
  return [];
}

function reserve(use: Use, element: Layout): Value {
  const { frame } = use;
  changeBlock(use, 0, (block) => {
    const pointer = block.kind === "get" ? block.local.pointer : null;
    const wish = frame.reusable(slot(use, 1));
    // A capacity below zero asks for nothing.
    const least: IrExpression = isNatural(frame, wish) ? wish : {
      kind: "select",
      type: "i32",
      condition: op("i32.gt_s", wish, i32(0)),
      then: wish,
      otherwise: i32(0),
    };
    return frame.helper(frame.program.runtime.reserve(element), [owned(block), least, i32(0)], pointer);
  });
  return [];
}

function elementBytes(element: Layout): IrExpression {
  return i32(element.size);
}

function swap(use: Use): Value {
  const { frame } = use;
  const element = elementOf(use);
  const { pointer, base } = heldBlock(use, 0);
  const left = { ...addressOf(frame, pointer, element, frame.stable(slot(use, 1))), base };
  const right = { ...addressOf(frame, pointer, element, frame.stable(slot(use, 2))), base };
  // Moved as plain words: no count changes.
  const first = rawWords(frame, left.address, left.offset, element);
  const second = rawWords(frame, right.address, right.offset, element);
  putWords(frame, left.address, left.offset, element, second);
  putWords(frame, right.address, right.offset, element, first);
  return [];
}

function rawWords(frame: Frame, address: IrExpression, offset: number, element: Layout): IrExpression[] {
  return element.slots.map((part, index) => {
    const local = frame.local("word", { type: part.type, pointer: null });
    frame.set(local, load(part.load, address, offset + (element.offsets[index] ?? 0)));
    return get(local);
  });
}

function putWords(
  frame: Frame,
  address: IrExpression,
  offset: number,
  element: Layout,
  words: readonly IrExpression[],
): void {
  for (const [index, part] of element.slots.entries()) {
    const value = words[index];
    if (value === undefined) continue;
    frame.emit({
      kind: "store",
      op: part.store,
      address,
      offset: offset + (element.offsets[index] ?? 0),
      value,
    });
  }
}

function takeLast(use: Use): Value {
  const { frame } = use;
  const element = elementOf(use);
  const { pointer, base } = ownBlock(use, 0);
  const length = frame.temporary(op("i32.sub", load("i32.load", pointer, LENGTH_OFFSET), i32(1)));
  const at = { ...addressOf(frame, pointer, element, length), base };
  const value = readMemory(frame, at, true).map((part, index) => frame.stable(part, element.slots[index]));
  setLength(frame, pointer, length);
  return value;
}

function remove(use: Use): Value {
  const { frame } = use;
  const element = elementOf(use);
  const index = frame.stable(slot(use, 1));
  const { pointer, base } = ownBlock(use, 0);
  const at = { ...addressOf(frame, pointer, element, index), base };
  const value = readMemory(frame, at, true).map((part, position) =>
    frame.stable(part, element.slots[position])
  );
  const length = frame.temporary(op("i32.sub", load("i32.load", pointer, LENGTH_OFFSET), i32(1)));
  const address = op("i32.add", at.address, i32(at.offset));
  frame.emit({
    kind: "copy",
    to: address,
    from: op("i32.add", address, elementBytes(element)),
    bytes: fold(timesSize(op("i32.sub", length, index), element.size)),
  });
  setLength(frame, pointer, length);
  return value;
}

function insert(use: Use): Value {
  const { frame } = use;
  const element = elementOf(use);
  const index = frame.stable(slot(use, 1));
  const value = frame.stableValue(valueOf(use, 2), element);
  const block = reserveOne(use, element);
  if (block === null) return [];
  const base = block.pointer === null ? block.base : block;
  const length = frame.temporary(load("i32.load", get(block), LENGTH_OFFSET));
  const at = { ...addressOf(frame, get(block), element, index), base };
  const address = op("i32.add", at.address, i32(at.offset));
  frame.emit({
    kind: "copy",
    to: op("i32.add", address, elementBytes(element)),
    from: address,
    bytes: fold(timesSize(op("i32.sub", length, index), element.size)),
  });
  storeMemory(frame, at, value);
  setLength(frame, get(block), op("i32.add", length, i32(1)));
  return [];
}

function truncate(use: Use, element: Layout): Value {
  const { frame } = use;
  const wanted = frame.stable(slot(use, 1));
  const { pointer } = ownBlock(use, 0);
  // An empty list has no block whose length could be set.
  frame.if(pointer, () => {
    const length = frame.temporary(load("i32.load", pointer, LENGTH_OFFSET));
    setLength(frame, pointer, wanted);
    if (element.hasPointers) {
      frame.emit({
        kind: "call",
        call: {
          kind: "call",
          function: frame.program.runtime.releaseRange(element),
          args: [pointer, wanted, length],
        },
      });
    }
  });
  return [];
}

function slice(use: Use, element: Layout): Value {
  const [part] = use.result.slots;
  const target = use.frame.program.runtime.slice(element);
  return [use.frame.helper(target, [slot(use, 0), slot(use, 1), slot(use, 2)], part?.pointer ?? null)];
}

function filledList(use: Use): Value {
  const { frame } = use;
  const element = elementOf(use);
  const value = frame.stableValue(valueOf(use, 0), element);
  const count = frame.stable(slot(use, 1));
  const list = frame.helper(
    frame.program.runtime.unset(element),
    [count],
    use.result.slots[0]?.pointer ?? null,
  );
  if (element.slots.length === 0) return [list];
  const at = frame.local("at", { type: "i32", pointer: null }, {
    isMutable: true,
    base: list.kind === "get" ? list.local : null,
  });
  const end = frame.local("end", { type: "i32", pointer: null });
  frame.set(at, list);
  frame.set(end, op("i32.add", list, timesSize(count, element.size)));
  frame.block("filled", (filled) => {
    frame.loop("fill", (again) => {
      frame.branchIf(op("i32.ge_u", get(at), get(end)), filled);
      storeMemory(frame, {
        kind: "memory",
        address: get(at),
        offset: BLOCK_HEADER,
        base: at.base,
        layout: element,
      }, value);
      frame.set(at, op("i32.add", get(at), i32(element.size)));
      frame.emit({ kind: "branch", label: again });
    });
  });
  return [list];
}

function filledBytes(use: Use): Value {
  const { frame } = use;
  const byte = frame.stable(slot(use, 0));
  const count = frame.stable(slot(use, 1));
  const block = frame.helper(
    frame.program.runtime.unset(frame.program.byteLayout),
    [count],
    use.result.slots[0]?.pointer ?? null,
  );
  frame.if(
    block,
    () => frame.emit({ kind: "fill", to: op("i32.add", block, i32(BLOCK_HEADER)), byte, bytes: count }),
  );
  return [block];
}

/** A load from bytes at an offset that is inside. */
function bytesLoad(name: string): Writer {
  return (use) =>
    [load(name, fold(op("i32.add", bytesBlock(use, 0), slot(use, 1))), BLOCK_HEADER)].map((value) =>
      use.frame.temporary(value)
    );
}

function bytesStore(name: string): Writer {
  return (use) => {
    const { frame } = use;
    const offset = frame.stable(slot(use, 1));
    const value = frame.stable(slot(use, 2));
    const { pointer } = heldBlock(use, 0);
    frame.emit({
      kind: "store",
      op: name,
      address: fold(op("i32.add", pointer, offset)),
      offset: BLOCK_HEADER,
      value,
    });
    return [];
  };
}

function extendBytes(use: Use): Value {
  const { frame } = use;
  const count = frame.stable(slot(use, 1));
  const element = frame.program.byteLayout;
  const length = frame.local("length", { type: "i32", pointer: null }, { isMutable: true });
  const sum = frame.local("sum", { type: "i32", pointer: null }, { isMutable: true });
  const block = changeBlock(use, 0, (before) => {
    const pointer = before.kind === "get" ? before.local.pointer : null;
    frame.set(length, load("i32.load", before, LENGTH_OFFSET));
    frame.set(sum, op("i32.add", get(length), count));
    return frame.helper(frame.program.runtime.reserve(element), [
      owned(before),
      get(sum),
      op("i32.add", get(sum), op("i32.shr_u", get(sum), i32(1))),
    ], pointer);
  });
  if (block !== null) frame.if(get(block), () => setLength(frame, get(block), get(sum)));
  return [frame.temporary(get(length))];
}

function listGet(use: Use): Value {
  const { frame } = use;
  const pointer = frame.reusable(slot(use, 0));
  const at = addressOf(frame, pointer, elementOf(use), slot(use, 1));
  return read(frame, at).map((part, index) => frame.stable(part, at.layout.slots[index]));
}

function listSet(use: Use): Value {
  const { frame } = use;
  const element = elementOf(use);
  const index = frame.stable(slot(use, 1));
  const value = frame.stableValue(valueOf(use, 2), element);
  const { pointer, base } = heldBlock(use, 0);
  writeMemory(frame, { ...addressOf(frame, pointer, element, index), base }, value);
  return [];
}

function staticSlot(use: Use): number {
  const number = slot(use, 0);
  if (number.kind !== "const") {
    throw new Error("Cannot use a static cell: its slot is not written as a number");
  }
  return use.frame.program.staticCell(Number(number.value));
}

function staticTake(use: Use): Value {
  const { frame } = use;
  const address = i32(staticSlot(use));
  const local = frame.local("static", use.result.slots[0] ?? { type: "i32", pointer: null });
  frame.emit({
    kind: "set",
    local,
    value: { kind: "load", op: "i32.load", address, offset: 0, isTaken: true },
  });
  frame.emit({ kind: "store", op: "i32.store", address, offset: 0, value: i32(0) });
  return [get(local)];
}

function staticPut(use: Use): Value {
  const { frame } = use;
  const value = valueOf(use, 1);
  const layout = frame.program.layouts.of({ kind: "primitive", name: "Bytes" });
  writeMemory(frame, { kind: "memory", address: i32(staticSlot(use)), offset: 0, base: null, layout }, value);
  return [];
}

function canonicalBits(use: Use): Value {
  const value = use.frame.reusable(slot(use, 0));
  const isLong = use.result.slots[0]?.type === "i64";
  return [{
    kind: "select",
    type: isLong ? "i64" : "i32",
    condition: op(isLong ? "f64.eq" : "f32.eq", value, value),
    then: op(isLong ? "i64.reinterpret_f64" : "i32.reinterpret_f32", value),
    otherwise: isLong ? constant("i64", 0x7ff8000000000000n) : i32(0x7fc00000),
  }];
}

/** `f64.copysign` sees the sign of a NaN, which is not the same everywhere. */
function copySign(use: Use): Value {
  const sign = use.frame.reusable(slot(use, 1));
  const plain: IrExpression = sign.kind === "const" ? sign : {
    kind: "select",
    type: "f64",
    condition: op("f64.eq", sign, sign),
    then: sign,
    otherwise: constant("f64", 0),
  };
  return [op("f64.copysign", slot(use, 0), plain)];
}

function longToInt(use: Use): Value {
  const { frame } = use;
  const value = frame.reusable(slot(use, 0));
  frame.check(fold(op("i64.ne", op("i64.extend32_s", value), value)), "conversion", use.span);
  return [fold(op("i32.wrap_i64", value))];
}

const same: Writer = (use) => [slot(use, 0)];
const lengthOf: Writer = (use) => {
  const value = use.frame.temporary(load("i32.load", slot(use, 0), LENGTH_OFFSET));
  if (value.kind === "get") use.frame.intervals.set(value.local, { low: 0, high: 0x7fffffff });
  return [value];
};

const WRITERS: ReadonlyMap<string, Writer> = new Map<string, Writer>([
  ["std.int.Int.shift_right_unsigned", operation("i32.shr_u")],
  ["std.int.Int.rotate_left", operation("i32.rotl")],
  ["std.int.Int.count_ones", operation("i32.popcnt")],
  ["std.int.Int.leading_zeros", operation("i32.clz")],
  ["std.int.Int.trailing_zeros", operation("i32.ctz")],
  ["std.int.Int.to_int64", operation("i64.extend_i32_s")],
  ["std.int.Int.to_float", operation("f64.convert_i32_s")],
  ["std.int64.Int64.shift_right_unsigned", longShift("i64.shr_u")],
  ["std.int64.Int64.rotate_left", longShift("i64.rotl")],
  ["std.int64.Int64.count_ones", longBits("i64.popcnt")],
  ["std.int64.Int64.leading_zeros", longBits("i64.clz")],
  ["std.int64.Int64.trailing_zeros", longBits("i64.ctz")],
  ["std.int64.Int64.to_int", longToInt],
  ["std.int64.Int64.low_int", operation("i32.wrap_i64")],
  ["std.int64.Int64.to_float", operation("f64.convert_i64_s")],
  ["std.float.Float.floor", operation("f64.floor")],
  ["std.float.Float.ceil", operation("f64.ceil")],
  ["std.float.Float.trunc", operation("f64.trunc")],
  ["std.float.Float.round_even", operation("f64.nearest")],
  ["std.float.Float.sqrt", operation("f64.sqrt")],
  ["std.float.Float.abs", operation("f64.abs")],
  ["std.float.Float.copy_sign", copySign],
  ["std.float.Float.min", operation("f64.min")],
  ["std.float.Float.max", operation("f64.max")],
  ["std.float.Float.to_int", truncation("i32.trunc_f64_s", -2147483649, 2147483648)],
  ["std.float.Float.to_int64", truncation("i64.trunc_f64_s", -9223372036854777856, 9223372036854775808)],
  ["std.float.Float.to_int_saturating", operation("i32.trunc_sat_f64_s")],
  ["std.float.Float.to_int64_saturating", operation("i64.trunc_sat_f64_s")],
  ["std.float.Float.to_f32", operation("f32.demote_f64")],
  ["std.float.Float.to_bits", canonicalBits],
  ["std.float.Float.from_bits", operation("f64.reinterpret_i64")],
  ["std.f32.F32.to_float", operation("f64.promote_f32")],
  ["std.f32.F32.to_bits", canonicalBits],
  ["std.f32.F32.from_bits", operation("f32.reinterpret_i32")],
  ["std.char.Char.to_int", same],
  ["std.string.String.byte_len", lengthOf],
  ["std.string.String.to_bytes", same],
  ["std.bytes.Bytes.len", lengthOf],
  ["std.bytes.Bytes.push", (use) => push(use, use.frame.program.byteLayout, [slot(use, 1)])],
  ["std.bytes.Bytes.append", (use) => append(use, use.frame.program.byteLayout)],
  ["std.bytes.Bytes.reserve", (use) => reserve(use, use.frame.program.byteLayout)],
  ["std.list.List.len", lengthOf],
  ["std.list.List.push", (use) => push(use, elementOf(use), valueOf(use, 1))],
  ["std.list.List.append", (use) => append(use, elementOf(use))],
  ["std.list.List.reserve", (use) => reserve(use, elementOf(use))],
  ["std.raw.list_get", listGet],
  ["std.raw.list_own", own],
  ["std.raw.list_set", listSet],
  ["std.raw.list_swap", swap],
  ["std.raw.list_take_last", takeLast],
  ["std.raw.list_insert", insert],
  ["std.raw.list_remove", remove],
  ["std.raw.list_truncate", (use) => truncate(use, elementOf(use))],
  ["std.raw.list_slice", (use) => slice(use, elementOf(use))],
  ["std.raw.list_filled", filledList],
  ["std.raw.string_slice", (use) => slice(use, use.frame.program.byteLayout)],
  ["std.raw.string_byte", bytesLoad("i32.load8_u")],
  ["std.raw.string_from_bytes", same],
  [
    "std.raw.string_compare",
    (use) => [use.frame.helper(use.frame.program.runtime.compareBytes(), [slot(use, 0), slot(use, 1)])],
  ],
  ["std.raw.char_from_int", same],
  ["std.raw.bytes_get", bytesLoad("i32.load8_u")],
  ["std.raw.bytes_own", own],
  ["std.raw.bytes_set_f32", storeShort],
  ["std.raw.bytes_set", bytesStore("i32.store8")],
  ["std.raw.bytes_truncate", (use) => truncate(use, use.frame.program.byteLayout)],
  ["std.raw.bytes_slice", (use) => slice(use, use.frame.program.byteLayout)],
  ["std.raw.bytes_filled", filledBytes],
  ["std.raw.bytes_get_int", bytesLoad("i32.load")],
  ["std.raw.bytes_get_int64", bytesLoad("i64.load")],
  ["std.raw.bytes_set_int", bytesStore("i32.store")],
  ["std.raw.bytes_set_int64", bytesStore("i64.store")],
  ["std.raw.bytes_extend", extendBytes],
  ["std.raw.less_unsigned", operation("i32.lt_u")],
  ["std.raw.divide_unsigned", operation("i32.div_u")],
  ["std.raw.divide_unsigned64", operation("i64.div_u")],
  ["std.raw.remainder_unsigned64", operation("i64.rem_u")],
  ["std.raw.static_take", staticTake],
  ["std.raw.static_put", staticPut],
]);

/** Ids of the intrinsics that the back end knows. */
export const KNOWN_INTRINSICS: readonly string[] = [...WRITERS.keys()];

/** The value of a call of an intrinsic. */
export function lowerIntrinsic(frame: Frame, options: {
  readonly target: TypedFunction;
  readonly typeArguments: readonly Type[];
  readonly call: Expression & { readonly kind: "call" };
}): Value {
  const { target, typeArguments, call } = options;
  const writer = WRITERS.get(target.id);
  if (writer === undefined) {
    throw new Error(`Cannot lower ${target.id}: the back end does not know this intrinsic`);
  }
  const args = evaluateArguments(frame, call.arguments);
  const result = frame.layout(call.type);
  if (!frame.isReachable) return zeros(result);
  return writer({ frame, span: call.span, typeArguments, args, result });
}
