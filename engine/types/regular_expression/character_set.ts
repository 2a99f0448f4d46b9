/** A set of characters, asked of V8 once for each that comes up. */

/** Code points whose membership in a set is kept in a table. */
const TABLE_SIZE = 256;

/** A set of characters, asked of V8 once for each that comes up. */
export class CharacterSet {
  readonly #expression: RegExp;
  readonly #table = new Int8Array(TABLE_SIZE).fill(-1);
  #last = -1;
  #lastHas = false;

  /** `source` matches one character, under `flags`. */
  constructor(source: string, flags: string) {
    this.#expression = new RegExp(`^(?:${source})$`, flags);
  }

  /** Whether the character of this code point is in the set. */
  has(code: number): boolean {
    if (code < TABLE_SIZE) {
      const known = this.#table[code] ?? -1;
      if (known >= 0) return known === 1;
      const has = this.#expression.test(String.fromCodePoint(code));
      this.#table[code] = has ? 1 : 0;
      return has;
    }
    if (code !== this.#last) {
      this.#last = code;
      this.#lastHas = this.#expression.test(String.fromCodePoint(code));
    }
    return this.#lastHas;
  }
}
