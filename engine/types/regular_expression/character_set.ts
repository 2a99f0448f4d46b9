/** A set of characters, asked of V8 once for each that comes up. */

/** Code points whose membership is kept in one table. */
const PAGE_SIZE = 256;
const PAGE_SHIFT = 8;

/** A set of characters, asked of V8 once for each that comes up. */
export class CharacterSet {
  readonly #expression: RegExp;
  readonly #first = new Int8Array(PAGE_SIZE).fill(-1);
  /** Tables of the code points beyond the first one. */
  readonly #pages = new Map<number, Int8Array>();

  /** `source` matches one character, under `flags`. */
  constructor(source: string, flags: string) {
    this.#expression = new RegExp(`^(?:${source})$`, flags);
  }

  /** Whether the character of this code point is in the set. */
  has(code: number): boolean {
    const page = code < PAGE_SIZE ? this.#first : this.#page(code >> PAGE_SHIFT);
    const at = code & (PAGE_SIZE - 1);
    const known = page[at] as number;
    if (known >= 0) return known === 1;
    const has = this.#expression.test(String.fromCodePoint(code));
    page[at] = has ? 1 : 0;
    return has;
  }

  #page(number: number): Int8Array {
    let page = this.#pages.get(number);
    if (page === undefined) this.#pages.set(number, page = new Int8Array(PAGE_SIZE).fill(-1));
    return page;
  }
}
