/** What a decoded WebAssembly module consists of. Imports do not exist here: a module with one is refused. */

/** A type of value, as the binary format writes it. */
export type ValueType = 0x7f | 0x7e | 0x7d | 0x7c;

/** 32-bit integer. */
export const I32: ValueType = 0x7f;
/** 64-bit integer. */
export const I64: ValueType = 0x7e;
/** 32-bit float. */
export const F32: ValueType = 0x7d;
/** 64-bit float. */
export const F64: ValueType = 0x7c;

/** The name of a type of value. */
export function valueTypeName(type: ValueType): "i32" | "i64" | "f32" | "f64" {
  switch (type) {
    case I32:
      return "i32";
    case I64:
      return "i64";
    case F32:
      return "f32";
    default:
      return "f64";
  }
}

/** Whether the value is a float. */
export function isFloat(type: ValueType): boolean {
  return type === F32 || type === F64;
}

/** Parameters and results of a function. */
export interface FunctionType {
  readonly parameters: readonly ValueType[];
  readonly results: readonly ValueType[];
}

/** Initial and largest size of a memory in pages of 64 KiB, or of a table in elements. */
export interface SizeLimits {
  readonly initial: number;
  /** `null` when the module states none. */
  readonly maximum: number | null;
}

/** A global variable. Its initial value is kept as the bytes of the constant instruction. */
export interface GlobalVariable {
  readonly type: ValueType;
  readonly isMutable: boolean;
  /** The instruction that makes the initial value, without the `end` after it. */
  readonly initial: Uint8Array;
}

/** A segment of data or of elements. */
export interface Segment {
  /** Where an active segment is put; `null` for a passive one. */
  readonly offset: number | null;
}

/** A segment of data. */
export interface DataSegment extends Segment {
  readonly bytes: Uint8Array;
}

/** A segment of elements. */
export interface ElementSegment extends Segment {
  readonly functions: readonly number[];
}

/** What an export is. */
export type ExportKind = "function" | "table" | "memory" | "global";

/** One export. */
export interface ModuleExport {
  readonly kind: ExportKind;
  readonly index: number;
}

/** Code of a function, still undecoded: its range in the file. */
export interface FunctionBody {
  readonly start: number;
  readonly end: number;
}

/** A module whose sections are decoded, the code of its functions excepted. */
export interface ModuleStructure {
  readonly bytes: Uint8Array;
  readonly types: readonly FunctionType[];
  /** Index of the type of each function. */
  readonly functions: readonly number[];
  readonly table: SizeLimits | null;
  readonly memory: SizeLimits | null;
  readonly globals: readonly GlobalVariable[];
  readonly exports: ReadonlyMap<string, ModuleExport>;
  /** The start function. */
  readonly start: number | null;
  /** Where the start section is. */
  readonly startOffset: number;
  readonly elements: readonly ElementSegment[];
  readonly data: readonly DataSegment[];
  /** What the data count section says; `null` without one. */
  readonly dataCount: number | null;
  readonly bodies: readonly FunctionBody[];
}
