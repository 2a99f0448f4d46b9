/**
 * The states that an exploration has seen, as 63 bits of a hash each, in a table of typed arrays: of 100 million, two
 * share one with a probability of 1 in 1 800.
 */

/** Hashes of texts; grows by doubling. */
export class StateSet {
  #low: Uint32Array;
  #high: Uint32Array;
  #size = 0;

  constructor(capacity = 1 << 16) {
    this.#low = new Uint32Array(capacity);
    this.#high = new Uint32Array(capacity);
  }

  get size(): number {
    return this.#size;
  }

  /** Adds a text; false when it was there. */
  add(text: string): boolean {
    let [a, b] = [0x9e37_79b9, 0x85eb_ca6b];
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      a = Math.imul(a ^ code, 0x0100_0193);
      b = Math.imul(b ^ code, 0x27d4_eb2f) + (a >>> 15);
    }
    a = Math.imul(a ^ (a >>> 16), 0xc2b2_ae35);
    b = Math.imul(b ^ (b >>> 15), 0x1656_67b1);
    // A place that is zero in both is free.
    return this.#add((a ^ (a >>> 13)) >>> 0, (b ^ (b >>> 16) | 1) >>> 0);
  }

  #add(low: number, high: number): boolean {
    const mask = this.#low.length - 1;
    let at = Math.imul(low, 0x9e37_79b1) >>> 0 & mask;
    for (; this.#high[at] !== 0; at = (at + 1) & mask) {
      if (this.#low[at] === low && this.#high[at] === high) return false;
    }
    this.#low[at] = low;
    this.#high[at] = high;
    if (++this.#size * 10 > this.#low.length * 7) this.#grow();
    return true;
  }

  #grow(): void {
    const [low, high] = [this.#low, this.#high];
    this.#low = new Uint32Array(low.length * 2);
    this.#high = new Uint32Array(low.length * 2);
    this.#size = 0;
    for (let at = 0; at < low.length; at++) {
      if (high[at] !== 0) this.#add(low[at] as number, high[at] as number);
    }
  }
}
