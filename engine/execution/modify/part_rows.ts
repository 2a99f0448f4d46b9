/** The rows of one part of a statement that changes data in its WITH; in a file if need be. */
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import { KeptRows } from "../runtime/kept_rows.ts";
import type { MemoryUser } from "../runtime/memory_user.ts";
import { RowBuffer, storageOf } from "../runtime/row_buffer.ts";
import type { SpilledColumn } from "../runtime/row_codec.ts";
import { BufferRows, RowPages } from "../runtime/row_pages.ts";
import { ValueWriter } from "../runtime/value_writer.ts";
import type { Work } from "../runtime/work.ts";

/** Bytes that are written without a pause. */
const WRITTEN_AT_ONCE = 1 << 20;

/** See the file's head. They can be gone through again and again. */
export class PartRows extends ValueWriter implements Iterable<readonly SqlValue[]> {
  readonly #user: MemoryUser;
  readonly #layout: readonly SpilledColumn[];
  readonly #buffer: RowBuffer;
  readonly #kept: KeptRows;

  constructor(user: MemoryUser, types: readonly SqlType[]) {
    super();
    this.#user = user;
    this.#layout = types.map((type) => ({ storage: storageOf(type), nullable: true, type }));
    this.#buffer = new RowBuffer(user, this.#layout);
    this.#kept = new KeptRows(user, this.#buffer, this.#layout);
  }

  /** What is to be written now; null: nothing. */
  due(): Work | null {
    return this.#isDue ? this.#kept.writeAll(this.#buffer) : null;
  }

  get #isDue(): boolean {
    return this.#user.context.spills === true && this.#buffer.count > this.#kept.full &&
      this.#kept.isDue(this.#buffer);
  }

  /** The rows, from the first one on. */
  *[Symbol.iterator](): Generator<readonly SqlValue[], void, void> {
    const isInFile = this.#kept.isInFile;
    const buffer = isInFile ? new RowBuffer(this.#user, this.#layout) : this.#buffer;
    const rows = isInFile ? new RowPages(buffer, this.#kept) : new BufferRows(buffer);
    for (let position = 0; position < rows.count; position++) {
      const row = rows.at(position);
      yield buffer.columns.map((column) => column.get(row));
    }
    if (isInFile) buffer.release();
  }

  endRow(): void {
    this.#buffer.append(this.row);
    // Where the memory is small, what comes in one step may be too much.
    if (this.#isDue && this.#buffer.measure() < WRITTEN_AT_ONCE) {
      const work = this.#kept.writeAll(this.#buffer);
      while (!work.advance());
    }
  }
}
