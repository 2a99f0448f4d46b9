/**
 * The rows that a recursion without ALL has given out, where they may need more than the memory of the statement.
 *
 * The keys of the latest rows are in memory; when they have taken their part of it, they go to a file, divided by their
 * hash. From then on a filter (B. Bloom, CACM 1970) knows of most new rows that they are new, and the others are put
 * aside until their round ends: their parts of the file are then read once for all of them.
 */
import { compositeHashKey } from "../../types/compare.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import { addBits, hashOfKey, newBits } from "./key_bits.ts";
import type { MemoryUser } from "./memory_user.ts";
import { PART_COUNT, PartitionedRows } from "./partitioned_rows.ts";
import { type ColumnLayout, RowBuffer, storageOf } from "./row_buffer.ts";
import type { SpilledColumn } from "./row_codec.ts";
import { allOf, GeneratorWork, type Work } from "./work.ts";

/** What keys in memory, the filter, and keys of rows that were put aside, take of it. */
const SHARE = 1 / 8;
/** What a key takes besides its text, twice: it is in a Set. */
const KEY_BYTES = 80;
/** Keys in one piece of work. */
const PIECE_KEYS = 1024;

const HASH: SpilledColumn & ColumnLayout = { storage: "i32", nullable: false, type: { kind: "i32" } };
const KEY: SpilledColumn & ColumnLayout = { storage: "ref", nullable: false, type: { kind: "text" } };

/** Takes rows that are new. */
export type TakeRow = (values: readonly SqlValue[]) => Generator<void, void, void>;

/** See the file's head. */
export class SeenRows {
  readonly #state: MemoryUser;
  readonly #types: readonly SqlType[];
  readonly #share: number;
  /** Keys that are in no file yet. */
  #latest = new Set<string>();
  #latestBytes = 0;
  /** Two bits for each key that is in a file or among the latest; none while nothing is in a file. */
  #filter: Uint32Array | null = null;
  /** The keys in the file, and what is written or read of them. */
  readonly #seen: PartitionedRows;
  readonly #seenBuffer: RowBuffer;
  readonly #aside: PartitionedRows;
  readonly #asideBuffer: RowBuffer;

  constructor(state: MemoryUser, types: readonly SqlType[]) {
    this.#state = state;
    this.#types = types;
    this.#share = state.context.memoryLimitBytes * SHARE;
    const row = types.map((type): SpilledColumn => ({ storage: storageOf(type), nullable: true, type }));
    this.#seen = new PartitionedRows(state, [KEY, HASH]);
    this.#seenBuffer = new RowBuffer(state, [KEY, HASH]);
    this.#aside = new PartitionedRows(state, [...row, HASH]);
    this.#asideBuffer = new RowBuffer(state, [...row, HASH]);
  }

  /** Whether a row is new; false, too, if that is not known before {@link endRound}. */
  add(values: readonly SqlValue[]): boolean {
    const key = compositeHashKey(this.#types, values);
    if (this.#latest.has(key)) return false;
    const hash = hashOfKey(key);
    if (this.#filter !== null && !addBits(this.#filter, hash)) {
      this.#asideBuffer.append([...values, hash]);
      return false;
    }
    this.#note(key);
    return true;
  }

  #note(key: string): void {
    this.#latest.add(key);
    const bytes = KEY_BYTES + 2 * key.length;
    this.#latestBytes += bytes;
    this.#state.charge(bytes);
  }

  /** Something must be written now. */
  get isDue(): boolean {
    return this.#latestBytes > this.#share || this.#isAsideDue;
  }

  get #isAsideDue(): boolean {
    const { count } = this.#asideBuffer;
    return count > this.#aside.full && this.#aside.isDue(this.#asideBuffer);
  }

  /** Writes what {@link isDue}. */
  write(): Work {
    return new GeneratorWork(this.#write());
  }

  *#write(): Generator<void, void, void> {
    if (this.#latestBytes > this.#share) yield* this.#writeLatest();
    if (this.#isAsideDue) yield* allOf(this.#aside.writeAll(this.#asideBuffer));
  }

  *#writeLatest(): Generator<void, void, void> {
    const filter = this.#filter ??= this.#newFilter();
    let left = PIECE_KEYS;
    for (const key of this.#latest) {
      const hash = hashOfKey(key);
      addBits(filter, hash);
      this.#seenBuffer.append([key, hash]);
      const { count } = this.#seenBuffer;
      if (count > this.#seen.full && this.#seen.isDue(this.#seenBuffer)) {
        yield* allOf(this.#seen.writeAll(this.#seenBuffer));
      }
      if (--left === 0) {
        left = PIECE_KEYS;
        yield;
      }
    }
    yield* allOf(this.#seen.writeAll(this.#seenBuffer));
    this.#latest = new Set();
    this.#state.charge(-this.#latestBytes);
    this.#latestBytes = 0;
  }

  #newFilter(): Uint32Array {
    const bits = newBits(this.#share / 2);
    this.#state.charge(bits.byteLength);
    return bits;
  }

  /** At the end of a round: gives those that were put aside, and are new, to `take`. */
  endRound(take: TakeRow): Work {
    return new GeneratorWork(this.#endRound(take));
  }

  *#endRound(take: TakeRow): Generator<void, void, void> {
    const { parts } = this.#aside;
    if (parts.length === 0) {
      yield* this.#decideRows(take);
      this.#asideBuffer.reset();
      return;
    }
    yield* allOf(this.#aside.writeAll(this.#asideBuffer));
    for (const part of parts) {
      const rows = this.#aside.open(this.#asideBuffer, part);
      while (rows.more()) yield* this.#decideRows(take, rows.order.length);
      this.#asideBuffer.release();
    }
    this.#aside.release();
  }

  /** The same for the first rows of the buffer. */
  *#decideRows(take: TakeRow, count = this.#asideBuffer.count): Generator<void, void, void> {
    const byPart = new Map<number, Map<string, number>>();
    for (let row = 0; row < count; row++) {
      const key = compositeHashKey(this.#types, this.#valuesAt(row));
      if (this.#latest.has(key)) continue;
      const part = hashOfKey(key) & PART_COUNT - 1;
      const rows = byPart.get(part);
      if (rows === undefined) byPart.set(part, new Map([[key, row]]));
      else if (!rows.has(key)) rows.set(key, row);
      if (row % PIECE_KEYS === PIECE_KEYS - 1) yield;
    }
    const isNew: number[] = [];
    for (const [part, rows] of byPart) {
      yield* this.#removeSeen(part, rows);
      isNew.push(...rows.values());
    }
    for (const row of isNew.sort((left, right) => left - right)) {
      const values = this.#valuesAt(row);
      this.#note(compositeHashKey(this.#types, values));
      yield* take(values);
      if (this.#latestBytes > this.#share) yield* this.#writeLatest();
    }
  }

  *#removeSeen(part: number, rows: Map<string, number>): Generator<void, void, void> {
    const written = this.#seen.parts[part];
    if (written === undefined) return;
    const seen = this.#seen.open(this.#seenBuffer, written);
    while (rows.size > 0 && seen.more()) {
      const keys = this.#seenBuffer.columns[0]?.data as readonly string[];
      for (let row = 0; row < seen.order.length; row++) rows.delete(keys[row] as string);
      yield;
    }
    this.#seenBuffer.release();
  }

  #valuesAt(row: number): readonly SqlValue[] {
    return this.#types.map((_, index) => this.#asideBuffer.columns[index]?.get(row) ?? null);
  }

  /** Removes its files. */
  release(): void {
    this.#state.charge(-this.#latestBytes - 4 * (this.#filter?.length ?? 0));
    for (const rows of [this.#seen, this.#aside]) rows.release();
    for (const buffer of [this.#seenBuffer, this.#asideBuffer]) buffer.release();
  }
}
