/** Which place a row goes to by the hash of its keys. */

/** The place and the pass that a hash says. */
export function placeOf(hash: number, count: number): number {
  return (hash & 0xffff) % count;
}

/** See {@link placeOf}. */
export function passOf(hash: number, passes: number): number {
  return (hash >>> 16) % passes;
}
