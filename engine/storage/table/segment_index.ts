/**
 * Reading an index file: a binary search over first keys in memory, then within one cached block. Equality on a whole
 * key asks the Bloom filter first.
 */
import type { StoredValue } from "../../operations/effect.ts";
import { BLOCK_ROWS } from "../access/block.ts";
import type { BlockCache, BlockCount, CacheEntry } from "./block_cache.ts";
import { hashNumber, hashText } from "./bloom_filter.ts";
import type { ChunkFile } from "./chunk_file.ts";
import { LivePositions, type RowEnds, TombstoneRanges } from "./tombstone_ranges.ts";
import { compareNumberKeys, type IndexKeyEncoder, type KeyBounds } from "./index_key.ts";
import type { IndexKeys, PartIndexCursor } from "./part.ts";
import {
  decodeEntries,
  decodeIndexDescription,
  type IndexBlock,
  type IndexDescription,
  textOfEntry,
} from "./segment_index_format.ts";

const SHIFT = 12;
const MASK = BLOCK_ROWS - 1;

class BlockEntry implements CacheEntry {
  readonly block: IndexBlock;
  readonly bytes: number;
  referenced = true;
  readonly #owner: (BlockEntry | null)[];
  readonly #at: number;

  constructor(block: IndexBlock, bytes: number, owner: (BlockEntry | null)[], at: number) {
    this.block = block;
    this.bytes = bytes;
    this.#owner = owner;
    this.#at = at;
  }

  evict(): void {
    this.#owner[this.#at] = null;
  }
}

/** An index of a segment. */
export class SegmentIndex {
  readonly file: ChunkFile;
  readonly encoder: IndexKeyEncoder;
  /** As many as the segment has rows. */
  readonly entryCount: number;
  /** null until the index is used first: most of a large one is the Bloom filter. */
  #loaded: IndexDescription | null = null;
  readonly #cache: BlockCache;
  readonly #blocks: BlockCount;
  readonly #entries: (BlockEntry | null)[];
  /** Stretches of entries whose rows have ended. */
  readonly dead = new TombstoneRanges();

  constructor(file: ChunkFile, { encoder, indexId }: IndexKeys, cache: BlockCache, entryCount: number) {
    this.file = file;
    this.encoder = encoder;
    this.#cache = cache;
    this.#blocks = cache.blocksOf(indexId);
    this.entryCount = entryCount;
    this.#entries = new Array<BlockEntry | null>(Math.ceil(entryCount / BLOCK_ROWS)).fill(null);
  }

  get #description(): IndexDescription {
    return this.#loaded ?? this.#load();
  }

  #load(): IndexDescription {
    const { entryCount, file } = this;
    const description = decodeIndexDescription(file.takeDescription());
    if (description.entryCount !== entryCount || file.chunkCount !== this.#entries.length) {
      const found = `${description.entryCount} entries in ${file.chunkCount} blocks`;
      throw file.damage(0, `${entryCount} entries expected, ${found} found`);
    }
    return this.#loaded = description;
  }

  get memoryBytes(): number {
    let bytes = this.file.memoryBytes;
    if (this.#loaded === null) return bytes;
    bytes += this.#loaded.firstNumbers.byteLength + this.#loaded.bloom.words.byteLength;
    for (const text of this.#loaded.firstTexts) bytes += text.length * 2;
    return bytes;
  }

  /** Closes the file and gives the cache back what it keeps. */
  close(): void {
    this.file.close();
    for (const entry of this.#entries) if (entry !== null) this.#cache.remove(entry);
  }

  #block(at: number): IndexBlock {
    const entry = this.#entries[at];
    if (entry !== null && entry !== undefined) {
      entry.referenced = true;
      this.#blocks.hit++;
      return entry.block;
    }
    const chunk = this.file.readChunk(at);
    this.#blocks.read++;
    const { form, entryCount } = this.#description;
    const block = decodeEntries(chunk, form, Math.min(BLOCK_ROWS, entryCount - at * BLOCK_ROWS));
    const loaded = new BlockEntry(block, chunk.length, this.#entries, at);
    this.#entries[at] = loaded;
    this.#cache.add(loaded);
    return block;
  }

  rowAt(position: number): number {
    return this.#block(position >>> SHIFT).rows[position & MASK] as number;
  }

  numberAt(position: number): number {
    return (this.#block(position >>> SHIFT).numbers as Float64Array)[position & MASK] as number;
  }

  textAt(position: number): string {
    return textOfEntry(this.#block(position >>> SHIFT), position & MASK);
  }

  /** The value of a column of the key at a position; undefined: the key does not tell it. */
  valueAt(position: number, column: number): StoredValue | undefined {
    const { numbers, offsets, units } = this.#block(position >>> SHIFT);
    const at = position & MASK;
    if (numbers !== null) return this.encoder.valueOfNumberKey(numbers[at] as number);
    return offsets === null || units === null
      ? undefined
      : this.encoder.valueIn(units, offsets[at] as number, column);
  }

  get form(): IndexDescription["form"] {
    return this.#description.form;
  }

  /** A walk over the entries within bounds that the snapshot sees; null when there are none at all. */
  open(bounds: KeyBounds, ends: RowEnds, snapshot: number, backward: boolean): PartIndexCursor | null {
    const description = this.#description;
    if (description.entryCount === 0) return null;
    let from = 0;
    let to = this.entryCount;
    // The least or greatest of all need no search.
    if (bounds.isEverything) return new SegmentIndexCursor(this, ends, snapshot, { from, to, backward });
    if (description.form === "text") {
      if (bounds.isEquality && !description.bloom.mayContain(hashText(bounds.lowText))) return null;
      from = this.#seekText(bounds.lowText);
      to = this.#seekText(bounds.highText);
    } else {
      const equality = bounds.isEquality && bounds.highAfter;
      if (equality && !description.bloom.mayContain(hashNumber(bounds.lowNumber))) return null;
      from = this.#seekNumber(bounds.lowNumber, bounds.lowAfter);
      to = (equality ? this.#shortRunEnd(from, bounds.lowNumber) : null) ??
        this.#seekNumber(bounds.highNumber, bounds.highAfter);
    }
    return from < to ? new SegmentIndexCursor(this, ends, snapshot, { from, to, backward }) : null;
  }

  /**
   * The end of the entries with `key`, of which `position` would be the first, if none or one can be seen at once;
   * null: look for it. Spares a second search for unique keys. The Bloom filter may have let a key pass that is not
   * there.
   */
  #shortRunEnd(position: number, key: number): number | null {
    if (key !== key || position >= this.#description.entryCount) return null;
    const keys = this.#block(position >>> SHIFT).numbers as Float64Array;
    if (keys[position & MASK] !== key) return position;
    const next = position + 1;
    if ((next & MASK) === 0 || next >= this.#description.entryCount) return null;
    return keys[next & MASK] !== key ? next : null;
  }

  #seekNumber(key: number, after: boolean): number {
    const { firstNumbers, entryCount } = this.#description;
    const nullsFirst = this.encoder.nullsFirst;
    const block = searchKeys(firstNumbers, firstNumbers.length, key, { after, nullsFirst }) - 1;
    if (block < 0) return 0;
    const keys = this.#block(block).numbers as Float64Array;
    const base = block * BLOCK_ROWS;
    return base + searchKeys(keys, Math.min(BLOCK_ROWS, entryCount - base), key, { after, nullsFirst });
  }

  /** The first position whose key is not below `key`. */
  #seekText(key: string): number {
    const { firstTexts, entryCount } = this.#description;
    let low = 0;
    let high = firstTexts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((firstTexts[middle] as string) < key) low = middle + 1;
      else high = middle;
    }
    if (low === 0) return 0;
    const at = low - 1;
    const block = this.#block(at);
    const base = at * BLOCK_ROWS;
    low = 0;
    high = Math.min(BLOCK_ROWS, entryCount - base);
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBelow(block, middle, key)) low = middle + 1;
      else high = middle;
    }
    return base + low;
  }
}

/** How many of the sorted keys are below `key`, or with `after` not above it; NaN is NULL. */
function searchKeys(
  keys: Float64Array,
  count: number,
  key: number,
  order: { readonly after: boolean; readonly nullsFirst: boolean },
): number {
  const { after, nullsFirst } = order;
  let low = 0;
  let high = count;
  if (key !== key) {
    const limit = after ? 0 : -1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareNumberKeys(keys[middle] as number, key, nullsFirst) <= limit) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  while (low < high) {
    const middle = (low + high) >> 1;
    const entry = keys[middle] as number;
    if (entry === entry ? (after ? entry <= key : entry < key) : nullsFirst) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isBelow(block: IndexBlock, index: number, key: string): boolean {
  const offsets = block.offsets as Uint32Array;
  const units = block.units as Uint16Array;
  const start = offsets[index] as number;
  const length = (offsets[index + 1] as number) - start;
  const shared = Math.min(length, key.length);
  for (let unit = 0; unit < shared; unit++) {
    const difference = (units[start + unit] as number) - key.charCodeAt(unit);
    if (difference !== 0) return difference < 0;
  }
  return length < key.length;
}

class SegmentIndexCursor implements PartIndexCursor {
  readonly #index: SegmentIndex;
  readonly #live: LivePositions;
  #text: string | null = null;

  constructor(
    index: SegmentIndex,
    ends: RowEnds,
    snapshot: number,
    span: { readonly from: number; readonly to: number; readonly backward: boolean },
  ) {
    this.#index = index;
    const rowAt = (position: number) => index.rowAt(position);
    this.#live = new LivePositions({ dead: index.dead, ends, rowAt }, snapshot, span);
  }

  get row(): number {
    return this.#live.row;
  }

  advance(): boolean {
    this.#text = null;
    return this.#live.advance();
  }

  get isNarrow(): boolean {
    return this.#index.form === "i32";
  }

  get numberKey(): number {
    return this.#index.numberAt(this.#live.position);
  }

  get textKey(): string | null {
    if (this.#index.form !== "text") return null;
    return this.#text ??= this.#index.textAt(this.#live.position);
  }

  keyValue(column: number): StoredValue | undefined {
    return this.#index.valueAt(this.#live.position, column);
  }
}
