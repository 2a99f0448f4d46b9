/**
 * The functions of the library whose bodies are in the compiler: `intrinsic fn` in the modules, code in the back end,
 * functions in the interpreter.
 *
 * A test holds the modules, and each of the two evaluators, to this list. Everything that can be written in the
 * language without loss of speed is written in the language, so that the list stays short. Intrinsics with an owner
 * (`std.int.Int.to_float`) are safe and part of what users see; those of `std.raw` trust their caller (no bounds are
 * checked, no text is validated) and only modules of the library may `use std.raw`.
 *
 * Where the meaning names a trap, it has the site of the call in the caller's source. Counts of shifts and rotations
 * are taken modulo the width. Element types are whatever the instance has: copying an element adds to the counts in
 * it, dropping one releases them.
 */

/** One function that back end and interpreter know by its id. */
export interface Intrinsic {
  /** `module.name` or `module.Type.name`. */
  readonly id: string;
  /** As the module declares it, behind `intrinsic`. */
  readonly signature: string;
  /** What it does, with its traps and its limits. */
  readonly meaning: string;
}

function of(module: string, table: readonly (readonly [signature: string, meaning: string])[]): Intrinsic[] {
  return table.map(([signature, meaning]) => {
    const name = /^fn ([\w.]+)/.exec(signature)?.[1] ?? signature;
    return { id: `${module}.${name}`, signature, meaning };
  });
}

const INTEGERS = of("std.int", [
  ["fn Int.shift_right_unsigned(self: Int, count: Int) -> Int", "i32.shr_u"],
  ["fn Int.rotate_left(self: Int, count: Int) -> Int", "i32.rotl"],
  ["fn Int.count_ones(self: Int) -> Int", "i32.popcnt"],
  ["fn Int.leading_zeros(self: Int) -> Int", "i32.clz; 32 for 0"],
  ["fn Int.trailing_zeros(self: Int) -> Int", "i32.ctz; 32 for 0"],
  ["fn Int.to_int64(self: Int) -> Int64", "i64.extend_i32_s"],
  ["fn Int.to_float(self: Int) -> Float", "f64.convert_i32_s, exact"],
]);

const LONG_INTEGERS = of("std.int64", [
  ["fn Int64.shift_right_unsigned(self: Int64, count: Int) -> Int64", "i64.shr_u"],
  ["fn Int64.rotate_left(self: Int64, count: Int) -> Int64", "i64.rotl"],
  ["fn Int64.count_ones(self: Int64) -> Int", "i64.popcnt"],
  ["fn Int64.leading_zeros(self: Int64) -> Int", "i64.clz; 64 for 0"],
  ["fn Int64.trailing_zeros(self: Int64) -> Int", "i64.ctz; 64 for 0"],
  ["fn Int64.to_int(self: Int64) -> Int", "the same number; traps (integer conversion) when it does not fit"],
  ["fn Int64.low_int(self: Int64) -> Int", "i32.wrap_i64: the low 32 bits"],
  ["fn Int64.to_float(self: Int64) -> Float", "f64.convert_i64_s, to nearest, ties to even"],
]);

const FLOATS = of("std.float", [
  ["fn Float.floor(self: Float) -> Float", "f64.floor"],
  ["fn Float.ceil(self: Float) -> Float", "f64.ceil"],
  ["fn Float.trunc(self: Float) -> Float", "f64.trunc"],
  ["fn Float.round_even(self: Float) -> Float", "f64.nearest: ties to even"],
  ["fn Float.sqrt(self: Float) -> Float", "f64.sqrt; NaN for numbers below zero"],
  ["fn Float.abs(self: Float) -> Float", "f64.abs"],
  ["fn Float.copy_sign(self: Float, sign: Float) -> Float", "f64.copysign; the sign of a NaN counts as plus"],
  ["fn Float.min(self: Float, other: Float) -> Float", "f64.min: NaN when one is NaN, -0.0 below 0.0"],
  ["fn Float.max(self: Float, other: Float) -> Float", "f64.max: NaN when one is NaN, 0.0 above -0.0"],
  [
    "fn Float.to_int(self: Float) -> Int",
    "cut toward zero; traps (integer conversion) for NaN and what does not fit",
  ],
  [
    "fn Float.to_int64(self: Float) -> Int64",
    "cut toward zero; traps (integer conversion) for NaN and what does not fit",
  ],
  [
    "fn Float.to_int_saturating(self: Float) -> Int",
    "i32.trunc_sat_f64_s: the nearest number that fits, 0 for NaN",
  ],
  [
    "fn Float.to_int64_saturating(self: Float) -> Int64",
    "i64.trunc_sat_f64_s: the nearest number that fits, 0 for NaN",
  ],
  ["fn Float.to_f32(self: Float) -> F32", "f32.demote_f64"],
  ["fn Float.to_bits(self: Float) -> Int64", "i64.reinterpret_f64; every NaN as 0x7ff8000000000000"],
  ["fn Float.from_bits(bits: Int64) -> Float", "f64.reinterpret_i64"],
]);

const SHORT_FLOATS = of("std.f32", [
  ["fn F32.to_float(self: F32) -> Float", "f64.promote_f32, exact"],
  ["fn F32.to_bits(self: F32) -> Int", "i32.reinterpret_f32; every NaN as 0x7fc00000"],
  ["fn F32.from_bits(bits: Int) -> F32", "f32.reinterpret_i32"],
]);

const TEXTS = [
  ...of("std.char", [
    ["fn Char.to_int(self: Char) -> Int", "the code point; no code"],
  ]),
  ...of("std.string", [
    ["fn String.byte_len(self: String) -> Int", "length of the block in bytes"],
    ["fn String.to_bytes(self: String) -> Bytes", "the same block, counted once more"],
  ]),
  ...of("std.bytes", [
    ["fn Bytes.len(self: Bytes) -> Int", "length of the block"],
    [
      "fn Bytes.push(self: inout Bytes, byte: Int)",
      "appends the low 8 bits; makes the block unique and grows it by half or more",
    ],
    [
      "fn Bytes.append(self: inout Bytes, other: Bytes)",
      "appends all bytes of the other; makes unique and grows",
    ],
    [
      "fn Bytes.reserve(self: inout Bytes, capacity: Int)",
      "makes unique, with room for so many bytes in all; a hint to the interpreter",
    ],
  ]),
];

const LISTS = of("std.list", [
  ["fn List.len[T](self: List[T]) -> Int", "length of the block in elements"],
  [
    "fn List.push[T](self: inout List[T], value: T)",
    "appends; makes the block unique and grows it by half or more",
  ],
  [
    "fn List.append[T](self: inout List[T], other: List[T])",
    "appends copies of all elements; makes unique and grows",
  ],
  [
    "fn List.reserve[T](self: inout List[T], capacity: Int)",
    "makes unique, with room for so many elements in all; a hint to the interpreter",
  ],
]);

const RAW = of("std.raw", [
  ["fn list_get[T](list: List[T], index: Int) -> T", "a copy of the element; the index is inside"],
  ["fn list_own[T](list: inout List[T])", "makes the block unique, so that what follows may store into it"],
  [
    "fn list_set[T](list: inout List[T], index: Int, value: T)",
    "drops what was there, stores; the index is inside, the block unique (`list_own` was called)",
  ],
  [
    "fn list_swap[T](list: inout List[T], left: Int, right: Int)",
    "exchanges two elements without counting; inside, the block unique",
  ],
  [
    "fn list_take_last[T](list: inout List[T]) -> T",
    "makes unique, moves the last element out; the list is not empty",
  ],
  [
    "fn list_insert[T](list: inout List[T], index: Int, value: T)",
    "makes unique, moves what is behind up by one; 0 <= index <= length",
  ],
  [
    "fn list_remove[T](list: inout List[T], index: Int) -> T",
    "makes unique, moves the element out and what is behind down; inside",
  ],
  [
    "fn list_truncate[T](list: inout List[T], length: Int)",
    "makes unique, drops the elements from there on; 0 <= length <= that of the list",
  ],
  [
    "fn list_slice[T](list: List[T], start: Int, end: Int) -> List[T]",
    "a new list of copies; 0 <= start <= end <= length",
  ],
  ["fn list_filled[T](value: T, count: Int) -> List[T]", "a new list of copies of one value; 0 <= count"],

  [
    "fn string_slice(text: String, start: Int, end: Int) -> String",
    "a new text of the bytes; 0 <= start <= end <= byte length, both between characters",
  ],
  ["fn string_byte(text: String, index: Int) -> Int", "the byte, 0 to 255; inside"],
  ["fn string_from_bytes(bytes: Bytes) -> String", "the same block; the bytes are UTF-8"],
  ["fn string_compare(left: String, right: String) -> Int", "-1, 0 or 1 by bytes, the shorter first"],
  ["fn char_from_int(code: Int) -> Char", "no code; a Unicode scalar value"],

  ["fn bytes_get(bytes: Bytes, index: Int) -> Int", "i32.load8_u; inside"],
  ["fn bytes_own(bytes: inout Bytes)", "makes the block unique, so that what follows may store into it"],
  ["fn bytes_set(bytes: inout Bytes, index: Int, byte: Int)", "i32.store8; inside, the block unique"],
  [
    "fn bytes_truncate(bytes: inout Bytes, length: Int)",
    "makes unique; 0 <= length <= that of the bytes; keeps the room",
  ],
  ["fn bytes_slice(bytes: Bytes, start: Int, end: Int) -> Bytes", "a new block; 0 <= start <= end <= length"],
  ["fn bytes_filled(byte: Int, count: Int) -> Bytes", "a new block of equal bytes; 0 <= count"],
  [
    "fn bytes_get_int(bytes: Bytes, offset: Int) -> Int",
    "i32.load, little-endian, unaligned; all four inside",
  ],
  [
    "fn bytes_get_int64(bytes: Bytes, offset: Int) -> Int64",
    "i64.load, little-endian, unaligned; all eight inside",
  ],
  [
    "fn bytes_set_int(bytes: inout Bytes, offset: Int, value: Int)",
    "i32.store, little-endian, unaligned; all four inside, the block unique",
  ],
  [
    "fn bytes_set_int64(bytes: inout Bytes, offset: Int, value: Int64)",
    "i64.store, little-endian, unaligned; all eight inside, the block unique",
  ],
  [
    "fn bytes_extend(bytes: inout Bytes, count: Int) -> Int",
    "makes unique, appends so many bytes of any value (the interpreter: 0), which the caller sets; gives the length before",
  ],

  ["fn less_unsigned(left: Int, right: Int) -> Bool", "i32.lt_u"],
  [
    "fn bytes_set_f32(bytes: inout Bytes, offset: Int, value: Float)",
    "f32.store of f32.demote_f64, little-endian; all four inside, the block unique; a NaN is canonical",
  ],
  ["fn divide_unsigned(left: Int, right: Int) -> Int", "i32.div_u; the right side is not 0"],
  ["fn divide_unsigned64(left: Int64, right: Int64) -> Int64", "i64.div_u; the right side is not 0"],
  ["fn remainder_unsigned64(left: Int64, right: Int64) -> Int64", "i64.rem_u; the right side is not 0"],

  [
    "fn static_take(slot: Int) -> Bytes uses Draw",
    "the bytes of a static cell, which is empty afterwards; at first they are empty. Cells hold the commands of a frame, hence the effect",
  ],
  [
    "fn static_put(slot: Int, bytes: Bytes) uses Draw",
    "puts bytes into a static cell; what was there is dropped",
  ],
]);

/** All intrinsics, grouped by module. */
export const INTRINSICS: readonly Intrinsic[] = [
  ...INTEGERS,
  ...LONG_INTEGERS,
  ...FLOATS,
  ...SHORT_FLOATS,
  ...TEXTS,
  ...LISTS,
  ...RAW,
];

/** Intrinsics by id. */
export const INTRINSIC_BY_ID: ReadonlyMap<string, Intrinsic> = new Map(
  INTRINSICS.map((intrinsic) => [intrinsic.id, intrinsic]),
);

/**
 * How many static cells the back end lays out; the argument of `static_take` and `static_put` is a literal below it.
 * Slot 0 has the commands of the frame that is drawn.
 */
export const STATIC_SLOT_COUNT = 4;
