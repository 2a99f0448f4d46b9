/**
 * Filters of keys that are in files (B. Bloom, CACM 1970): two bits for each key. Of a key that has not both of them it
 * is known that it is not there.
 */
import { mix } from "../../base/mix.ts";
import { powerOfTwo } from "./hashing.ts";

/** An empty filter of about so many bytes. */
export function newBits(bytes: number): Uint32Array {
  return new Uint32Array(powerOfTwo(bytes / 4));
}

/** The hash of a key's text. */
export function hashOfKey(key: string): number {
  let hash = key.length;
  for (let index = 0; index < key.length; index++) {
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  }
  return mix(hash);
}

/** Sets the bits of a hash; false: all were set. */
export function addBits(filter: Uint32Array, hash: number): boolean {
  let isNew = false;
  for (const bits of [hash, mix(hash ^ 0x9e3779b1)]) {
    const word = bits >>> 5 & filter.length - 1;
    const bit = 1 << (bits & 31);
    if (((filter[word] as number) & bit) !== 0) continue;
    filter[word] = (filter[word] as number) | bit;
    isNew = true;
  }
  return isNew;
}

/** Whether all bits of a hash are set. */
export function hasBits(filter: Uint32Array, hash: number): boolean {
  const other = mix(hash ^ 0x9e3779b1);
  return ((filter[hash >>> 5 & filter.length - 1] as number) & 1 << (hash & 31)) !== 0 &&
    ((filter[other >>> 5 & filter.length - 1] as number) & 1 << (other & 31)) !== 0;
}
