/**
 * WebAssembly's instructions by their opcodes: operands and result of those that only compute, what they do with the
 * bits of a NaN, natural alignments, and what each instruction costs.
 *
 * Whatever is not in these tables or among the instructions that the validator knows by name is refused.
 */
import { F32, F64, I32, I64, type ValueType } from "./module_structure.ts";

/** What an instruction does with the bits of NaNs; the specification leaves those of arithmetic open. */
export const NAN_EFFECT = {
  /** It takes and makes no float, or its bits are determined. */
  none: 0,
  /** The result may be any NaN, whatever the operands are. */
  makes: 1,
  /** The result has the bits of its first operand, but for the sign. */
  passes: 2,
  /** As {@link NAN_EFFECT.passes}, and the sign of the second operand is observed. */
  copiesSign: 3,
  /** The bits of the operand are observed. */
  observes: 4,
} as const;

/** First operand by opcode; 0 when the opcode is none that only computes. */
export const FIRST_OPERAND = new Uint8Array(256);
/** Second operand by opcode; 0 without one. */
export const SECOND_OPERAND = new Uint8Array(256);
/** Result by opcode. */
export const RESULT = new Uint8Array(256);
/** {@link NAN_EFFECT} by opcode. */
export const NAN_EFFECTS = new Uint8Array(256);
/** What an instruction costs by opcode, in units of gas. */
export const COST = new Uint8Array(256).fill(1);

const LETTERS: Readonly<Record<string, ValueType>> = { i: I32, I: I64, f: F32, F: F64 };

/** Ranges of opcodes with the same operands and result: the first, the last, operands, result. */
const SIGNATURES: readonly (readonly [number, number, string, string])[] = [
  [0x45, 0x45, "i", "i"],
  [0x46, 0x4f, "ii", "i"],
  [0x50, 0x50, "I", "i"],
  [0x51, 0x5a, "II", "i"],
  [0x5b, 0x60, "ff", "i"],
  [0x61, 0x66, "FF", "i"],
  [0x67, 0x69, "i", "i"],
  [0x6a, 0x78, "ii", "i"],
  [0x79, 0x7b, "I", "I"],
  [0x7c, 0x8a, "II", "I"],
  [0x8b, 0x91, "f", "f"],
  [0x92, 0x98, "ff", "f"],
  [0x99, 0x9f, "F", "F"],
  [0xa0, 0xa6, "FF", "F"],
  [0xa7, 0xa7, "I", "i"],
  [0xa8, 0xa9, "f", "i"],
  [0xaa, 0xab, "F", "i"],
  [0xac, 0xad, "i", "I"],
  [0xae, 0xaf, "f", "I"],
  [0xb0, 0xb1, "F", "I"],
  [0xb2, 0xb3, "i", "f"],
  [0xb4, 0xb5, "I", "f"],
  [0xb6, 0xb6, "F", "f"],
  [0xb7, 0xb8, "i", "F"],
  [0xb9, 0xba, "I", "F"],
  [0xbb, 0xbb, "f", "F"],
  [0xbc, 0xbc, "f", "i"],
  [0xbd, 0xbd, "F", "I"],
  [0xbe, 0xbe, "i", "f"],
  [0xbf, 0xbf, "I", "F"],
  [0xc0, 0xc1, "i", "i"],
  [0xc2, 0xc4, "I", "I"],
];
for (const [first, last, operands, result] of SIGNATURES) {
  for (let opcode = first; opcode <= last; opcode++) {
    FIRST_OPERAND[opcode] = LETTERS[operands.charAt(0)] ?? 0;
    SECOND_OPERAND[opcode] = LETTERS[operands.charAt(1)] ?? 0;
    RESULT[opcode] = LETTERS[result] ?? 0;
  }
}

function setRange(table: Uint8Array, ranges: readonly (readonly [number, number])[], value: number): void {
  for (const [first, last] of ranges) table.fill(value, first, last + 1);
}

setRange(
  NAN_EFFECTS,
  [[0x8d, 0x97], [0x9b, 0xa5], [0xb6, 0xb6], [0xbb, 0xbb]],
  NAN_EFFECT.makes,
);
setRange(NAN_EFFECTS, [[0x8b, 0x8c], [0x99, 0x9a]], NAN_EFFECT.passes);
setRange(NAN_EFFECTS, [[0x98, 0x98], [0xa6, 0xa6]], NAN_EFFECT.copiesSign);
setRange(NAN_EFFECTS, [[0xbc, 0xbd]], NAN_EFFECT.observes);

// Loads may miss the cache; stores also mark what they write.
setRange(COST, [[0x28, 0x35]], 2);
setRange(COST, [[0x36, 0x3e]], 3);
// Division and square root.
setRange(COST, [[0x6d, 0x70], [0x91, 0x91], [0x95, 0x95], [0x9f, 0x9f], [0xa3, 0xa3]], 5);
setRange(COST, [[0x7f, 0x82]], 10);
// Calls, a call through the table, a jump through a table.
setRange(COST, [[0x10, 0x10]], 5);
setRange(COST, [[0x11, 0x11]], 10);
setRange(COST, [[0x0e, 0x0e]], 3);
// Growing the memory, with the pages on top of it; bulk instructions, with the size on top of it.
setRange(COST, [[0x40, 0x40]], 100);
setRange(COST, [[0xfc, 0xfc]], 10);
// What makes no code: block, loop, else, end, drop, nop.
setRange(COST, [[0x01, 0x03], [0x05, 0x05], [0x0b, 0x0b], [0x1a, 0x1a]], 0);

/** What each page costs by which a memory grows. */
export const PAGE_COST = 4096;
/** Pages that fit the caches of a processor. Reading from more of them at random takes many times as long. */
export const CHEAP_PAGES = 16;
/**
 * What each page above {@link CHEAP_PAGES} costs a call, besides {@link PAGE_COST}, whether the memory begins with it
 * or grows by it: who has more memory gets fewer instructions, so that the slowest ones end as soon.
 */
export const LARGE_PAGE_COST = 81_920;
/**
 * Rewritten code that an exported function can reach and that costs nothing: V8 compiles functions when they are first
 * called, in one piece, at some 10 ms for 100 KiB at worst.
 */
export const CHEAP_CODE_BYTES = 256 << 10;
/** What each KiB above {@link CHEAP_CODE_BYTES} costs a call: compiling and running end as soon as running alone. */
export const LARGE_CODE_COST = 100_000;
/** Bulk instructions cost 1 for so many bytes, as a shift. */
export const BULK_SHIFT = 3;

/** Types of values that loads (0x28 to 0x35) and stores (0x36 to 0x3e) move. */
const ACCESS_TYPES = "iIfFiiiiIIIIIIiIfFiiIII";
/** The largest alignment each may state, as an exponent of 2. */
const ACCESS_ALIGNMENTS = "23230011001122232301012";

/** The type of value that a load or store moves. */
export function accessType(opcode: number): ValueType {
  return LETTERS[ACCESS_TYPES.charAt(opcode - 0x28)] ?? I32;
}

/** The natural alignment of a load or store, as an exponent of 2. */
export function naturalAlignment(opcode: number): number {
  return ACCESS_ALIGNMENTS.charCodeAt(opcode - 0x28) - 48;
}

/** Saturating conversions 0xfc 0 to 7: operand, then result. */
export const SATURATING: readonly (readonly [ValueType, ValueType])[] = [
  [F32, I32],
  [F32, I32],
  [F64, I32],
  [F64, I32],
  [F32, I64],
  [F32, I64],
  [F64, I64],
  [F64, I64],
];

/** Why an opcode is refused. */
export function refusedOpcode(opcode: number): string {
  const shown = `opcode 0x${opcode.toString(16).padStart(2, "0")}`;
  if (opcode === 0xfd) return `SIMD is not allowed: ${shown}`;
  if (opcode === 0xfe) return `threads are not allowed: ${shown}`;
  if (opcode === 0xfb) return `garbage-collected types are not allowed: ${shown}`;
  if ((opcode >= 0x06 && opcode <= 0x0a) || opcode === 0x18 || opcode === 0x19 || opcode === 0x1f) {
    return `exceptions are not allowed: ${shown}`;
  }
  if (opcode === 0x12 || opcode === 0x13) return `tail calls are not allowed: ${shown}`;
  if (
    opcode === 0x14 || opcode === 0x15 || opcode === 0x1c || opcode === 0x25 || opcode === 0x26 ||
    (opcode >= 0xd0 && opcode <= 0xd6)
  ) {
    return `references are not allowed as values: ${shown}`;
  }
  return `illegal ${shown}`;
}
