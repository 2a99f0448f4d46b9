/**
 * Rows outside of generated code that are kept in the order in which they come, and gone through again and again if
 * need be. When they have taken their share of a statement's memory, what it has goes to a file.
 */
import { storageClassOf } from "../../types/physical_type.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import { KeptRows } from "./kept_rows.ts";
import type { MemoryUser } from "./memory_user.ts";
import { RowBuffer, storageOf } from "./row_buffer.ts";
import type { SpilledColumn } from "./row_codec.ts";
import { BufferRows, RowPages } from "./row_pages.ts";

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
  #rows: { readonly buffer: RowBuffer; readonly kept: KeptRows } | null = null;

  constructor(user: MemoryUser, types: readonly SqlType[]) {
    this.#user = user;
    this.#layout = types.map((type) => ({ storage: storageOf(type), nullable: true, type }));
  }

  get count(): number {
    return this.#few.length + (this.#rows?.kept.count ?? 0);
  }

  /** Adds a row, which must not change any more. */
  append(row: readonly SqlValue[]): void {
    if (this.#few.length < FEW_ROWS) return void this.#few.push(row);
    const { buffer, kept } = this.#rows ??= this.#newRows();
    buffer.append(row);
    if (buffer.count <= kept.full || !kept.isDue(buffer)) return;
    const work = kept.writeAll(buffer);
    while (!work.advance());
  }

  #newRows(): { readonly buffer: RowBuffer; readonly kept: KeptRows } {
    const buffer = new RowBuffer(this.#user, this.#layout);
    const kept = new KeptRows(this.#user, buffer, this.#layout);
    kept.limitShare(WRITTEN_AT_ONCE);
    return { buffer, kept };
  }

  /** The rows, from the first one on. */
  *[Symbol.iterator](): Generator<readonly SqlValue[], void, void> {
    yield* this.#few;
    if (this.#rows === null) return;
    const { kept, buffer } = this.#rows;
    const pages = kept.isInFile ? new RowBuffer(this.#user, this.#layout) : null;
    const rows = pages === null ? new BufferRows(buffer) : new RowPages(pages, kept);
    const { columns } = pages ?? buffer;
    for (let position = 0; position < rows.count; position++) {
      const row = rows.at(position);
      yield columns.map((column) => column.get(row));
    }
    pages?.release();
  }

  /** Forgets them, and removes their file. */
  release(): void {
    this.#few.length = 0;
    this.#rows?.kept.release();
    this.#rows?.buffer.release();
    this.#rows = null;
  }
}
