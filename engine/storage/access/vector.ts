/**
 * Column vectors: what a scan hands to generated code, one vector per column for a block of rows.
 *
 * Generated code is specialized by the *shape* of a block's vectors (element type, nulls or not, …; see
 * `vector_shape.ts`), so that each specialization only ever sees one kind of typed array and V8 keeps its loops
 * monomorphic.
 */
import type { StoredValue } from "../../operations/effect.ts";

/** Typed arrays that integer and float vectors come in. */
export type NumberArray =
  | Int8Array
  | Int16Array
  | Int32Array
  | Uint8Array
  | Uint16Array
  | Uint32Array
  | Float32Array
  | Float64Array;

/** The values of one column in one block. `nulls[row] === 1` means NULL; `nulls` null: no NULL in the block. */
export type Vector =
  | {
    /** Storage classes int and float. In `int`, a value outside the safe integers is NaN in `data` and in `big`. */
    readonly kind: "number";
    readonly data: NumberArray;
    readonly nulls: Uint8Array | null;
    readonly big: ReadonlyMap<number, bigint> | null;
    /** Bounds of integers that are known to be safe, rounded so that blocks and segments have few different ones. */
    readonly span?: Span;
  }
  | {
    /** Storage classes text (UTF-8) and bytes. Row r is `bytes[starts[r] … ends[r])`. */
    readonly kind: "bytes";
    readonly bytes: Uint8Array;
    readonly starts: Uint32Array;
    readonly ends: Uint32Array;
    readonly nulls: Uint8Array | null;
  }
  | {
    /** Low-cardinality text: `dictionary[codes[row]]`. One dictionary serves a whole segment (same object identity). */
    readonly kind: "dictionary";
    readonly codes: Uint8Array | Uint16Array | Uint32Array;
    readonly dictionary: readonly string[];
    readonly nulls: Uint8Array | null;
  }
  | {
    /** The same value in each row: a column added after the rows were written, or a run. */
    readonly kind: "constant";
    readonly value: StoredValue;
  };

/** Bounds of a column's integers; both ends belong to it. */
export interface Span {
  readonly low: number;
  readonly high: number;
  /** The bounds as a part of a shape's name. */
  readonly name: string;
}

/**
 * The span of integers between two safe ones: from 0, or the negative power of two below, to a power of two less one.
 */
export function spanOf(minimum: number, maximum: number): Span {
  const low = minimum >= 0 ? 0 : -powerFrom(-minimum);
  const high = maximum <= 0 ? 0 : powerFrom(maximum + 1) - 1;
  return { low, high, name: `[${low}..${high}]` };
}

/** The least power of two that is not less; a logarithm would be rounded, and be one too small near 2^50. */
function powerFrom(value: number): number {
  let power = 1;
  while (power < value) power *= 2;
  return power;
}

/** The element types of typed arrays, as they are named in shapes. */
export type ElementName = "i8" | "i16" | "i32" | "u8" | "u16" | "u32" | "f32" | "f64";

/** The element type of a typed array. */
export function elementName(data: NumberArray): ElementName {
  if (data instanceof Float64Array) return "f64";
  if (data instanceof Int32Array) return "i32";
  if (data instanceof Int16Array) return "i16";
  if (data instanceof Int8Array) return "i8";
  if (data instanceof Uint8Array) return "u8";
  if (data instanceof Uint16Array) return "u16";
  if (data instanceof Uint32Array) return "u32";
  return "f32";
}
