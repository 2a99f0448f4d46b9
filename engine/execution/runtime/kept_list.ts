/**
 * Rows outside of generated code that are kept in the order in which they come, and gone through again and again if
 * need be. When the first ones have taken their share of a statement's memory, the others go to a file.
 */
import { storageClassOf } from "../../types/physical_type.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import { KeptRows } from "./kept_rows.ts";
import type { MemoryUser } from "./memory_user.ts";
import { RowBuffer, storageOf } from "./row_buffer.ts";
import type { SpilledColumn } from "./row_codec.ts";
import { BufferRows, RowPages, type RowSequence } from "./row_pages.ts";

/** The part of the memory that its first rows take; they stay there. */
const SHARE = 1 / 8;
/** Rows between two looks at what they take. */
const LOOK_ROWS = 64;
/** Bytes that are written without a pause. */
const WRITTEN_AT_ONCE = 1 << 20;
/** So many first rows are in no buffer: most lists have no more. */
const FEW_ROWS = 16;

/** The type of a value as storage keeps it. */
export function storedType(type: SqlType): SqlType {
  switch (storageClassOf(type)) {
    case "int":
      return { kind: "i64" };
    case "float":
      return { kind: "f64" };
    case "text":
      return { kind: "text" };
    case "bytes":
      return { kind: "bytea" };
  }
}

/** See the file's head. */
export class KeptList implements Iterable<readonly SqlValue[]> {
  readonly #user: MemoryUser;
  readonly #layout: readonly SpilledColumn[];
  readonly #few: (readonly SqlValue[])[] = [];
  /** Those that stay in memory. */
  #first: RowBuffer | null = null;
  /** Those behind them. */
  #rest: { readonly buffer: RowBuffer; readonly kept: KeptRows } | null = null;

  constructor(user: MemoryUser, types: readonly SqlType[]) {
    this.#user = user;
    this.#layout = types.map((type) => ({ storage: storageOf(type), nullable: true, type }));
  }

  get count(): number {
    return this.#few.length + (this.#first?.count ?? 0) + (this.#rest?.kept.count ?? 0);
  }

  /** Adds a row, which must not change any more. */
  append(row: readonly SqlValue[]): void {
    if (this.#few.length < FEW_ROWS) return void this.#few.push(row);
    const first = this.#first ??= new RowBuffer(this.#user, this.#layout);
    if (this.#rest === null) {
      if (first.count % LOOK_ROWS !== 0 || !this.#isFull(first)) return first.append(row);
      this.#rest = this.#newRest();
    }
    const { buffer, kept } = this.#rest;
    buffer.append(row);
    if (buffer.count <= kept.full || !kept.isDue(buffer)) return;
    const work = kept.writeAll(buffer);
    while (!work.advance());
  }

  #isFull(first: RowBuffer): boolean {
    const { context: { spillFile, memoryLimitBytes }, isHalfFull } = this.#user;
    return spillFile !== undefined && (isHalfFull || 2 * first.measure() > memoryLimitBytes * SHARE);
  }

  #newRest(): { readonly buffer: RowBuffer; readonly kept: KeptRows } {
    const buffer = new RowBuffer(this.#user, this.#layout);
    const kept = new KeptRows(this.#user, buffer, this.#layout);
    kept.limitShare(WRITTEN_AT_ONCE);
    return { buffer, kept };
  }

  /** The rows, from the first one on. */
  *[Symbol.iterator](): Generator<readonly SqlValue[], void, void> {
    yield* this.#few;
    if (this.#first !== null) yield* rowsOf(this.#first, new BufferRows(this.#first));
    if (this.#rest === null) return;
    const { kept, buffer } = this.#rest;
    if (!kept.isInFile) return yield* rowsOf(buffer, new BufferRows(buffer));
    const pages = new RowBuffer(this.#user, this.#layout);
    yield* rowsOf(pages, new RowPages(pages, kept));
    pages.release();
  }

  /** Forgets them, and removes their file. */
  release(): void {
    this.#few.length = 0;
    this.#first?.release();
    this.#rest?.kept.release();
    this.#rest?.buffer.release();
    this.#first = this.#rest = null;
  }
}

function* rowsOf({ columns }: RowBuffer, rows: RowSequence): Generator<readonly SqlValue[], void, void> {
  for (let position = 0; position < rows.count; position++) {
    const row = rows.at(position);
    yield columns.map((column) => column.get(row));
  }
}
