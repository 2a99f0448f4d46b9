/**
 * The hash table of a join: chains of build rows by key.
 *
 * Rows with a NULL in a key are in no chain. `next` links rows of a bucket in their order of insertion. When the keys
 * are one column of integers without large gaps, buckets are the keys themselves (less the smallest one). Each key
 * column has a {@link KeyFilter} besides, which generated code asks first: what passes it lies between the smallest
 * and the largest key.
 */
import type { MemoryUser } from "./memory_user.ts";
import { hashCode, hashMore, nearHash, NULL_CODE, powerOfTwo } from "./hashing.ts";
import { type CodeRange, filterBytes, KeyFilter } from "./key_filter.ts";
import type { RowBuffer } from "./row_buffer.ts";
import type { Work } from "./work.ts";

/** Rows in a piece of building. */
const PIECE_ROWS = 8192;

/** More keys are not asked one by one whether they are in a block. */
const MAX_FEW = 16_384;

/** Buckets are the keys themselves where there are no more integers between them than so many for each. */
const MAX_GAPS = 4;
/** The same where memory is little: no more than buckets of hashes take. */
const MAX_GAPS_OF_PARTS = 2;

/** So many are always. */
const MIN_DIRECT = 64;

/** Chains are counted up to here while the index is built. */
const MAX_COUNTED = 255;

/** What an index that is complete is made of. */
export type IndexParts =
  & Pick<HashIndex, "heads" | "next" | "mask" | "direct" | "minimum" | "hasNull" | "longestChain">
  & { readonly filters: readonly Pick<KeyFilter, "words" | "low" | "high">[] };

/**
 * The hash table of a join: chains of build rows by key. It is complete when {@link HashIndex.advance} has answered
 * true.
 */
export class HashIndex implements Work {
  /** By bucket: the first row of its chain, plus 1; 0: the bucket is empty. */
  heads: Int32Array = new Int32Array(0);
  readonly next: Int32Array;
  /** One for each key column. */
  filters: readonly KeyFilter[] = [];
  mask = 0;
  direct = false;
  minimum = 0;
  /** Whether some row has a NULL in a key. */
  hasNull = false;
  readonly rows: number;
  /** Rows in the longest chain; Infinity when that is more than 254. */
  longestChain = 0;
  readonly #state: MemoryUser;
  readonly #keys: readonly Float64Array[];
  /** Of each key column; of rows that have been looked at for it. */
  readonly #ranges: { low: number; high: number }[];
  #measured = 0;
  /** By key column, when they have been asked for: each morsel of a scan asks. */
  readonly #few: Float64Array[] = [];
  /** The row before which all are linked. */
  #linked: number;
  /** For each row how many rows its chain has behind it. */
  #depths: Uint8Array | null = null;

  /** `whole`: what an index over the same rows is made of. */
  constructor(
    state: MemoryUser,
    buffer: RowBuffer,
    keyColumns: readonly number[],
    whole: IndexParts | null = null,
  ) {
    const rows = buffer.count;
    this.#state = state;
    this.#keys = keyColumns.map((column) => buffer.columns[column]?.data as Float64Array);
    this.rows = rows;
    this.#linked = rows;
    this.#ranges = keyColumns.map(() => ({ low: Infinity, high: -Infinity }));
    if (whole === null) {
      state.charge(rows * 4);
      this.next = new Int32Array(rows);
      return;
    }
    this.next = whole.next;
    this.heads = whole.heads;
    this.filters = whole.filters.map(({ words, low, high }) =>
      new KeyFilter(state, rows, { low, high }, words)
    );
    this.mask = whole.mask;
    this.direct = whole.direct;
    this.minimum = whole.minimum;
    this.hasNull = whole.hasNull;
    this.longestChain = whole.longestChain;
    this.#measured = rows;
    this.#linked = 0;
  }

  /** Works through a piece of building the index. true: it is complete. */
  advance(): boolean {
    if (this.#measured < this.rows) {
      const end = Math.min(this.rows, this.#measured + PIECE_ROWS);
      this.#keys.forEach((keys, at) =>
        widen(this.#ranges[at] as { low: number; high: number }, keys, this.#measured, end)
      );
      this.#measured = end;
      return false;
    }
    if (this.#depths === null) this.#allocate();
    this.#link();
    if (this.#linked > 0) return false;
    this.#depths = null;
    return true;
  }

  #allocate(): void {
    const { rows } = this;
    const [first = NO_RANGE] = this.#ranges;
    const range = this.#keys.length === 1 ? first.high - first.low + 1 : 0;
    const gaps = this.#state.context.spills === true ? MAX_GAPS_OF_PARTS : MAX_GAPS;
    this.direct = range >= 1 && range <= rows * gaps + MIN_DIRECT;
    const size = this.direct ? range : hashBuckets(rows);
    this.minimum = this.direct ? first.low : 0;
    this.filters = this.#ranges.map((each) => new KeyFilter(this.#state, rows, each));
    this.mask = this.direct ? 0 : size - 1;
    this.#state.charge(size * 4);
    this.heads = new Int32Array(size);
    this.#depths = new Uint8Array(rows);
  }

  /** Links a piece of the rows, from the last one down, so that chains run in the order of insertion. */
  #link(): void {
    const { heads, next, direct, minimum, mask } = this;
    const keys = this.#keys;
    const first = keys[0];
    const depths = this.#depths as Uint8Array;
    const end = Math.max(0, this.#linked - PIECE_ROWS);
    for (let key = 0; key < keys.length; key++) {
      this.filters[key]?.add(keys[key] as Float64Array, end, this.#linked);
    }
    let longest = this.longestChain;
    for (let row = this.#linked - 1; row >= end; row--) {
      const bucket = direct && first !== undefined
        ? directBucket(first[row] as number, minimum)
        : keys.length === 1 && first !== undefined
        ? nearBucket(first[row] as number, mask)
        : hashedBucket(keys, row, mask);
      if (bucket < 0) {
        this.hasNull = true;
        continue;
      }
      const after = (heads[bucket] as number) - 1;
      next[row] = after;
      heads[bucket] = row + 1;
      let depth = 1;
      if (after >= 0) {
        depth = Math.min(MAX_COUNTED, (depths[after] as number) + 1);
        depths[row] = depth;
      } else depths[row] = 1;
      if (depth > longest) longest = depth;
    }
    this.longestChain = longest === MAX_COUNTED ? Infinity : longest;
    this.#linked = end;
  }

  /** The keys of a column in ascending order, where they are few; null: they are many. */
  fewKeys(column: number): Float64Array | null {
    const keys = this.#keys[column];
    if (keys === undefined || this.rows > MAX_FEW) return null;
    return this.#few[column] ??= keys.slice(0, this.rows).filter((code) => code !== NULL_CODE).sort();
  }

  /** Gives the accounted memory back; the index is not used any more. */
  release(): void {
    this.#state.charge(-(this.heads.length + this.next.length) * 4);
    for (const filter of this.filters) filter.release();
  }

  /** The first row of the bucket of a hash, when buckets are no keys, or -1. */
  firstByHash(hash: number): number {
    return (this.heads[hash & this.mask] as number) - 1;
  }
}

/** Buckets of so many rows that have hashes. */
function hashBuckets(rows: number): number {
  return powerOfTwo(rows + (rows >> 1));
}

/** What an index takes at the most, where memory is little, if the keys of its first column have such a distance. */
export function indexBytes(rows: number, span: number, keyColumns: number): number {
  const isDirect = keyColumns === 1 && span <= rows * MAX_GAPS_OF_PARTS + MIN_DIRECT;
  const buckets = isDirect ? span : Math.max(hashBuckets(rows), MIN_DIRECT + rows * MAX_GAPS_OF_PARTS);
  return (rows + buckets) * 4 + keyColumns * filterBytes(rows, keyColumns === 1 ? span : Infinity);
}

const NO_RANGE: CodeRange = { low: Infinity, high: -Infinity };

/** Makes a range as wide as the keys of some rows. */
function widen(range: { low: number; high: number }, keys: Float64Array, from: number, to: number): void {
  let { low, high } = range;
  for (let row = from; row < to; row++) {
    const code = keys[row] as number;
    if (code === NULL_CODE) continue;
    if (code < low) low = code;
    if (code > high) high = code;
  }
  range.low = low;
  range.high = high;
}

function directBucket(code: number, minimum: number): number {
  return code === NULL_CODE ? -1 : code - minimum;
}

function nearBucket(code: number, mask: number): number {
  return code === NULL_CODE ? -1 : nearHash(code) & mask;
}

function hashedBucket(keys: readonly Float64Array[], row: number, mask: number): number {
  let hash = 0;
  for (let key = 0; key < keys.length; key++) {
    const code = (keys[key] as Float64Array)[row] as number;
    if (code === NULL_CODE) return -1;
    hash = key === 0 ? hashCode(code) : hashMore(hash, code);
  }
  return hash & mask;
}
