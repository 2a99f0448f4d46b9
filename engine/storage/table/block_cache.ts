/**
 * The cache of decoded chunks, shared by all tables and bounded in bytes.
 *
 * Replacement is the CLOCK algorithm with a twist for scans: an entry that a scan brought in begins without its reference
 * bit and below the hand, so a scan larger than the cache replaces other scanned entries before the hot set. Owners keep
 * their entries in arrays of their own (a hit is an array access and a flag); the cache calls them back to forget one.
 *
 * A chunk read together with its neighbours shares their buffer, which is freed when the last of them goes: the memory
 * in use can exceed the bound by the read-ahead of the scans under way.
 */

/** A cached thing; made by the owner, linked by the cache. */
export interface CacheEntry {
  readonly bytes: number;
  /** Set by the owner at each use. */
  referenced: boolean;
  /** Called when the entry is evicted: the owner must drop it. */
  evict(): void;
}

/** The cache; see the file's head. */
export class BlockCache {
  readonly #limit: number;
  readonly #ring: (CacheEntry | null)[] = [];
  readonly #free: number[] = [];
  readonly #places = new Map<CacheEntry, number>();
  #hand = 0;
  #bytes = 0;

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

  /** Takes an entry in, evicting others; an entry larger than the cache is evicted at once. */
  add(entry: CacheEntry): void {
    this.#bytes += entry.bytes;
    const place = this.#free.pop() ?? this.#ring.length;
    this.#ring[place] = entry;
    this.#places.set(entry, place);
    while (this.#bytes > this.#limit && this.#places.size > 0) this.#evictOne(entry);
  }

  #evictOne(newest: CacheEntry): void {
    const ring = this.#ring;
    for (;;) {
      if (this.#hand >= ring.length) this.#hand = 0;
      const entry = ring[this.#hand++];
      if (entry === null || entry === undefined) continue;
      if (entry.referenced) {
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
      return;
    }
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
