/**
 * The values of a subquery that others are looked for among, where they may need more than the memory of the statement.
 *
 * Those that have come last are in memory. When they have taken their part of it they are written, sorted by their
 * hash, and in the end all that were written are one sorted sequence, of which some pages are in memory. A filter knows
 * of most values that are not among them; where the others are their hash tells, as hashes are spread evenly.
 */
import { ExternalSort } from "./external_sort.ts";
import { addBits, hasBits, hashOfKey, newBits } from "./key_bits.ts";
import type { MemoryUser } from "./memory_user.ts";
import { type ColumnLayout, RowBuffer } from "./row_buffer.ts";
import type { SpilledColumn } from "./row_codec.ts";
import type { RowPages } from "./row_pages.ts";
import { RowSort } from "./sorting.ts";
import { allOf, GeneratorWork, type Work } from "./work.ts";

/** What those in memory take of it, and with half of it taken. */
const SHARE = 1 / 8;
const MIN_SHARE = 1 / 32;
/** What one takes in a Set, and its text besides. */
const KEY_BYTES = 48;
/** Keys in one piece of work. */
const PIECE_KEYS = 1024;

const KEY: SpilledColumn & ColumnLayout = { storage: "ref", nullable: false, type: { kind: "text" } };
const HASH: SpilledColumn & ColumnLayout = { storage: "i32", nullable: false, type: { kind: "i32" } };
const LAYOUT = [KEY, HASH];

/** See the file's head. Keys are those of one type: equal ones have equal texts. */
export class KeptKeys {
  readonly #state: MemoryUser;
  readonly #canWrite: boolean;
  #latest = new Set<unknown>();
  #bytes = 0;
  #filter: Uint32Array | null = null;
  readonly #sort: ExternalSort;
  readonly #buffer: RowBuffer;
  #written: RowPages | null = null;

  constructor(state: MemoryUser) {
    this.#state = state;
    this.#canWrite = state.context.spillFile !== undefined;
    this.#sort = new ExternalSort(state, LAYOUT);
    this.#buffer = new RowBuffer(state, LAYOUT);
  }

  /** Adds one that is not null. */
  add(key: unknown): void {
    const latest = this.#latest;
    const { size } = latest;
    latest.add(key);
    if (latest.size === size) return;
    const bytes = KEY_BYTES + (typeof key === "string" ? 2 * key.length : 0);
    this.#bytes += bytes;
    this.#state.charge(bytes);
  }

  /** {@link write} must be called now. */
  get isDue(): boolean {
    const { isHalfFull, context } = this.#state;
    return this.#canWrite && this.#bytes > context.memoryLimitBytes * (isHalfFull ? MIN_SHARE : SHARE);
  }

  /** Writes those that are in memory. */
  write(): Work {
    return new GeneratorWork(this.#write());
  }

  *#write(): Generator<void, void, void> {
    const filter = this.#filter ??= this.#newFilter();
    const buffer = this.#buffer;
    let left = PIECE_KEYS;
    for (const key of this.#latest) {
      const text = String(key);
      const hash = hashOfKey(text);
      addBits(filter, hash);
      buffer.append([text, hash]);
      if (--left > 0) continue;
      left = PIECE_KEYS;
      yield;
    }
    this.#latest = new Set();
    this.#state.charge(-this.#bytes);
    this.#bytes = 0;
    const column = buffer.columns[1];
    const first = column === undefined ? null : { column, text: null, descending: false, nullsFirst: false };
    const sort = new RowSort(buffer.count, this.#compare, first);
    yield* allOf(sort);
    yield* allOf(this.#sort.writeRun(buffer, sort.order, Infinity));
  }

  #newFilter(): Uint32Array {
    const bits = newBits(this.#state.context.memoryLimitBytes * SHARE / 2);
    this.#state.charge(bits.byteLength);
    return bits;
  }

  readonly #compare = (left: number, right: number): number => this.#hashAt(left) - this.#hashAt(right);

  #hashAt(row: number): number {
    return (this.#buffer.columns[1]?.data as Int32Array)[row] as number;
  }

  /** Behind the last one: what was written can be looked at. */
  finish(): Work {
    return new GeneratorWork(this.#finish());
  }

  *#finish(): Generator<void, void, void> {
    if (!this.#sort.hasRuns) return;
    this.#sort.open(this.#buffer);
    const merging = this.#sort.pages(this.#buffer, this.#compare);
    yield* allOf(merging);
    this.#written = merging.result;
  }

  /** Whether one has been added. */
  has(key: unknown): boolean {
    if (this.#latest.has(key)) return true;
    const written = this.#written;
    if (written === null || this.#filter === null) return false;
    const text = String(key);
    const hash = hashOfKey(text);
    if (!hasBits(this.#filter, hash)) return false;
    for (let position = this.#firstOf(written, hash); position < written.count; position++) {
      const row = written.at(position);
      if (this.#hashAt(row) !== hash) return false;
      if ((this.#buffer.columns[0]?.data as readonly string[])[row] === text) return true;
    }
    return false;
  }

  /** The first position with a hash that is not smaller. */
  #firstOf(written: RowPages, hash: number): number {
    const { count } = written;
    const isBefore = (position: number) => this.#hashAt(written.at(position)) < hash;
    let low = 0;
    let high = count;
    const likely = Math.min(count - 1, Math.floor((hash + 2 ** 31) / 2 ** 32 * count));
    let step = Math.ceil(Math.sqrt(count));
    if (isBefore(likely)) {
      for (low = likely + 1; low + step < count; step *= 2) {
        if (!isBefore(low + step)) {
          high = low + step;
          break;
        }
        low += step + 1;
      }
    } else {
      for (high = likely; high - step >= 0; step *= 2) {
        if (isBefore(high - step)) {
          low = high - step + 1;
          break;
        }
        high -= step;
      }
    }
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(middle)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Removes its file. */
  release(): void {
    this.#state.charge(-this.#bytes - (this.#filter?.byteLength ?? 0));
    this.#bytes = 0;
    this.#filter = null;
    this.#written = null;
    this.#latest = new Set();
    this.#sort.release();
    this.#buffer.release();
  }
}
