/**
 * A set of row ids that takes a bit for each row where ids lie close together, for transactions that change millions.
 *
 * Ids are safe integers. They are kept by stretches of {@link STRETCH} consecutive ids, in the order in which the first
 * of each came, so that the same calls give the same order.
 */
import { RowIdMap } from "./row_id_map.ts";

const SHIFT = 12;
/** Consecutive ids that one bitmap is for. */
const STRETCH = 1 << SHIFT;
const WORDS = STRETCH >>> 5;
/** What one takes, the map's share included. */
const STRETCH_BYTES = WORDS * 4 + 256;

interface Stretch {
  readonly first: number;
  readonly words: Uint32Array;
}

/** See the head of the file. */
export class RowIdSet {
  readonly #stretches: Stretch[] = [];
  readonly #byNumber = new RowIdMap<Stretch>();
  #last: Stretch | null = null;
  #size = 0;

  /** Ids in the set. */
  get size(): number {
    return this.#size;
  }

  /** How many {@link lists} there are. */
  get listCount(): number {
    return this.#stretches.length;
  }

  #find(id: number): Stretch | undefined {
    const last = this.#last;
    if (last !== null && id >= last.first && id < last.first + STRETCH) return last;
    return this.#byNumber.get(Math.floor(id / STRETCH));
  }

  has(id: number): boolean {
    const stretch = this.#find(id);
    if (stretch === undefined) return false;
    const at = id - stretch.first;
    return ((stretch.words[at >>> 5] as number) >>> (at & 31) & 1) === 1;
  }

  /** Adds an id. Answers by how many bytes of memory the set has grown. */
  add(id: number): number {
    let stretch = this.#find(id), grown = 0;
    if (stretch === undefined) {
      const number = Math.floor(id / STRETCH);
      stretch = { first: number * STRETCH, words: new Uint32Array(WORDS) };
      this.#byNumber.add(number, stretch);
      this.#stretches.push(stretch);
      grown = STRETCH_BYTES;
    }
    this.#last = stretch;
    const at = id - stretch.first;
    const word = stretch.words[at >>> 5] as number, bit = 1 << (at & 31);
    if ((word & bit) === 0) this.#size++;
    stretch.words[at >>> 5] = word | bit;
    return grown;
  }

  /** The ids, ascending in each list. */
  *lists(): Generator<Float64Array, void> {
    const ids = new Float64Array(STRETCH);
    for (const { first, words } of this.#stretches) {
      let count = 0;
      for (let at = 0; at < WORDS; at++) {
        // The lowest bit that is left, again and again.
        for (let word = words[at] as number; word !== 0; word &= word - 1) {
          ids[count++] = first + at * 32 + (31 - Math.clz32(word & -word));
        }
      }
      yield ids.slice(0, count);
    }
  }
}
