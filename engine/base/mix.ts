/** The finalizer of MurmurHash3 for 32 bits. */

/** Mixes the bits of a number, so that each depends on all. */
export function mix(value: number): number {
  let hash = value ^ (value >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
