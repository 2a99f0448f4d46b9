/**
 * Hashes of key codes.
 *
 * Hash joins, groupings and DISTINCT reduce each key value to a *key code*, a double that is equal exactly when the
 * values are equal by SQL's `=`: small integers stand for themselves, everything else is interned (`interner.ts`).
 * Codes are integers or infinities, so that {@link NULL_CODE}, which is neither, can stand for NULL.
 */

/** The key code of NULL. */
export const NULL_CODE = 0.5;

/** Hash of one key code, well mixed in its low bits. */
export function hashCode(code: number): number {
  let hash = (code | 0) ^ Math.imul((code * 2.3283064365386963e-10) | 0, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return hash ^ (hash >>> 13);
}

/**
 * Hash of a key that has one code: mixed, but eight integers that follow one another are places that do. What comes
 * roughly in the order of the key finds most of a large table in the processor's cache.
 */
export function nearHash(code: number): number {
  const word = code | 0;
  // Most keys are integers of 32 bits, whose hash takes no arithmetic of doubles.
  if (word !== code) return (hashCode(code * 0.125) + code) | 0;
  const first = Math.imul(word >> 3, 0x45d9f3b);
  const second = Math.imul(first ^ first >>> 15, 0x2c1b3c6d);
  return (second ^ second >>> 13) + word | 0;
}

/** Hash of one more key code on top of the hash of those before it. */
export function hashMore(hash: number, code: number): number {
  return Math.imul(hash, 0x01000193) ^ hashCode(code);
}

/** The smallest power of two that is at least `count`. */
export function powerOfTwo(count: number): number {
  let size = 16;
  while (size < count) size *= 2;
  return size;
}
