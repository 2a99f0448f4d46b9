/** Replacement in the block cache, with entries that remember whether they are in it. */
import { deepStrictEqual as equal, ok } from "node:assert/strict";
import { BlockCache, type CacheEntry } from "./block_cache.ts";

class Entry implements CacheEntry {
  readonly bytes: number;
  referenced = false;
  isCached = false;

  constructor(bytes: number) {
    this.bytes = bytes;
  }

  evict(): void {
    this.isCached = false;
  }

  /** Uses the entry as its owner would; answers whether it was there. */
  use(cache: BlockCache, isHot: boolean): boolean {
    if (this.isCached) {
      this.referenced = true;
      return true;
    }
    this.isCached = true;
    this.referenced = isHot;
    cache.add(this);
    return false;
  }
}

const entries = (count: number): Entry[] => Array.from({ length: count }, () => new Entry(100));

Deno.test("BlockCache.add() keeps within the bound, and an entry larger than it not at all", () => {
  const cache = new BlockCache(1000);
  const all = entries(25);
  for (const entry of all) entry.use(cache, false);
  equal([cache.bytes, all.filter(({ isCached }) => isCached).length], [1000, 10]);
  const large = new Entry(1001);
  large.use(cache, true);
  ok(!large.isCached && cache.bytes <= 1000);
});

Deno.test("BlockCache: a scan a little larger than the cache, done again and again, finds most of what it needs", () => {
  for (const [count, least] of [[1100, 0.7], [1500, 0.25], [3000, 0.04]] as const) {
    const cache = new BlockCache(100_000);
    const all = entries(count);
    let hits = 0;
    for (let round = 0; round < 20; round++) for (const entry of all) if (entry.use(cache, false)) hits++;
    const share = hits / (20 * count);
    ok(share >= least, `${count} entries in a cache for 1000: ${share} of them were found`);
  }
});

Deno.test("BlockCache: what is used all the time stays while a large scan passes", () => {
  const cache = new BlockCache(100_000);
  const hot = entries(300), scanned = entries(20_000);
  for (const entry of hot) entry.use(cache, true);
  let misses = 0;
  for (const [index, entry] of scanned.entries()) {
    entry.use(cache, false);
    if (hot[index % 300]?.use(cache, true) !== true) misses++;
  }
  ok(misses < scanned.length / 100, `${misses} misses of ${scanned.length}`);
});
