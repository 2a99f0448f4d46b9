/**
 * Decoded values of a column: numbers in one array, or bytes as ranges of a buffer. No value is an object of its own,
 * but for integers beyond 2^53.
 */

/** The bytes of values are damaged. The reader of the column adds the place. */
export class ValueError extends Error {}

/** Numbers, by position. One beyond the safe integers is NaN in `data` and in `big`. */
export interface NumberVector {
  readonly kind: "number";
  data: Float64Array;
  big: Map<number, bigint> | null;
}

/** Value `i` is `bytes[starts[i] … ends[i])`. */
export interface BytesVector {
  readonly kind: "bytes";
  bytes: Uint8Array;
  starts: Uint32Array;
  ends: Uint32Array;
}

/** Values of either kind. */
export type Vector = NumberVector | BytesVector;

/** Room for numbers. */
export function numberVector(capacity: number): NumberVector {
  return { kind: "number", data: new Float64Array(capacity), big: null };
}

/** Room for ranges of bytes. */
export function bytesVector(bytes: Uint8Array, capacity: number): BytesVector {
  return { kind: "bytes", bytes, starts: new Uint32Array(capacity), ends: new Uint32Array(capacity) };
}

const HIGH_SAFE = 2 ** 21;

/** Sets an integer of 64 bits, of two halves. */
export function setInt64(vector: NumberVector, index: number, low: number, high: number): void {
  if (high >= -HIGH_SAFE && high < HIGH_SAFE && !(high === -HIGH_SAFE && low === 0)) {
    vector.data[index] = high * 4294967296 + (low >>> 0);
  } else setBig(vector, index, BigInt(high) << 32n | BigInt(low >>> 0));
}

/** Sets an integer beyond the safe ones. */
export function setBig(vector: NumberVector, index: number, value: bigint): void {
  vector.data[index] = NaN;
  vector.big ??= new Map();
  vector.big.set(index, value);
}

/** Sets an integer of any size. */
export function setInteger(vector: NumberVector, index: number, value: number | bigint): void {
  if (typeof value === "number") {
    vector.data[index] = value;
    vector.big?.delete(index);
  } else setBig(vector, index, value);
}

/** The integer at a position. */
export function integerAt(vector: NumberVector, index: number): number | bigint {
  const value = vector.data[index] as number;
  return value === value ? value : vector.big?.get(index) ?? value;
}
