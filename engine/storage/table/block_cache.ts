/**
 * The cache of decoded chunks, shared by all tables and bounded in bytes.
 *
 * Replacement is the CLOCK algorithm with two twists for scans. An entry that a scan brought in begins without its
 * reference bit and below the hand, so a scan larger than the cache replaces other scanned entries before the hot
 * set. And the hand jumps to another place after some evictions: were it to go on and on, a scan a little larger than
 * the cache, done again and again, would find nothing, because what it needs next is always what was evicted last.
 * Owners keep their entries in arrays of their own (a hit is an array access and a flag); the cache calls them back
 * to forget one.
 *
 * A chunk read together with its neighbors shares their buffer, which is freed when the last of them goes: the memory
 * in use can exceed the bound by the read-ahead of the scans under way.
 */

/**
 * The hand jumps when it has evicted this share of the ring. Long ways keep entries together that came together and
 * share a buffer, and leave those in use time to be used again before the hand comes back.
 */
const SHARE_BETWEEN_JUMPS = 1 / 8;
/**
 * How often the hand passes by what was used, after it has cleared its reference bit: places are passed at uneven
 * times.
 */
const LIVES = 3;

/** A cached thing; made by the owner, linked by the cache. */
export interface CacheEntry {
  readonly bytes: number;
  /** Set by the owner at each use. */
  referenced: boolean;
  /** Called when the entry is evicted: the owner must drop it. */
  evict(): void;
}

/** How often blocks of a table, or of one of its indexes, were asked for since the start. */
export interface BlockCount {
  /** They had to be read from their file, whole or in part. */
  read: number;
  /** They were in the cache. */
  hit: number;
}

/** The cache. */
export class BlockCache {
  readonly #limit: number;
  readonly #ring: (CacheEntry | null)[] = [];
  /** For each place of the ring, how often the hand will still pass by. */
  readonly #lives: number[] = [];
  readonly #free: number[] = [];
  readonly #places = new Map<CacheEntry, number>();
  #hand = 0;
  #evictionsUntilJump = 0;
  /** Where the hand jumps to: pseudo-random and the same in each run. */
  #chance = 1;
  #bytes = 0;
  /** Entries that were taken in since the start: what was asked for and not there. */
  loads = 0;
  readonly #counts = new Map<number, BlockCount>();
  /** Hits of tables that were dropped. */
  #forgottenHits = 0;

  /** At most this many bytes are kept. */
  constructor(limitBytes: number) {
    this.#limit = limitBytes;
  }

  /** The bound. */
  get limitBytes(): number {
    return this.#limit;
  }

  /** Bytes kept now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The count of a table or of an index, by its object identifier; to be counted in by the owners of entries. */
  blocksOf(id: number): BlockCount {
    let count = this.#counts.get(id);
    if (count === undefined) this.#counts.set(id, count = { read: 0, hit: 0 });
    return count;
  }

  /** Blocks that were asked for and there, since the start. */
  get hits(): number {
    let total = this.#forgottenHits;
    for (const { hit } of this.#counts.values()) total += hit;
    return total;
  }

  /** Forgets the counts of what was dropped. */
  forgetCounts(ids: Iterable<number>): void {
    for (const id of ids) {
      this.#forgottenHits += this.#counts.get(id)?.hit ?? 0;
      this.#counts.delete(id);
    }
  }

  /** Takes an entry in, evicting others; an entry larger than the cache is evicted at once. */
  add(entry: CacheEntry): void {
    this.loads++;
    this.#bytes += entry.bytes;
    const place = this.#free.pop() ?? this.#ring.length;
    this.#ring[place] = entry;
    this.#lives[place] = 0;
    this.#places.set(entry, place);
    while (this.#bytes > this.#limit && this.#places.size > 0) this.#evictOne(entry);
  }

  #evictOne(newest: CacheEntry): void {
    const ring = this.#ring;
    for (;;) {
      if (this.#hand >= ring.length) this.#hand = 0;
      const place = this.#hand++;
      const entry = ring[place];
      if (entry === null || entry === undefined) continue;
      const lives = this.#lives[place] ?? 0;
      if (entry.referenced || lives > 0) {
        this.#lives[place] = entry.referenced ? LIVES : lives - 1;
        entry.referenced = false;
        continue;
      }
      if (entry === newest && this.#places.size > 1 && entry.bytes <= this.#limit) {
        // The newest goes last.
        entry.referenced = true;
        continue;
      }
      this.remove(entry);
      entry.evict();
      if (--this.#evictionsUntilJump <= 0) this.#jump();
      return;
    }
  }

  #jump(): void {
    const { length } = this.#ring;
    this.#evictionsUntilJump = Math.floor(length * SHARE_BETWEEN_JUMPS);
    // Numerical Recipes' linear congruence modulo 2 ** 32, whose high bits are the good ones.
    this.#chance = (Math.imul(this.#chance, 1_664_525) + 1_013_904_223) >>> 0;
    this.#hand = Math.floor(this.#chance / 2 ** 32 * length);
  }

  /** Forgets an entry without calling it back. */
  remove(entry: CacheEntry): void {
    const place = this.#places.get(entry);
    if (place === undefined) return;
    this.#places.delete(entry);
    this.#ring[place] = null;
    this.#free.push(place);
    this.#bytes -= entry.bytes;
  }
}
