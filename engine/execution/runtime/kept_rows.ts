/**
 * Rows that are kept in the order in which they come, and read by their position, again and again if need be. When
 * their buffer has taken its share of a statement's memory, what it has goes to a file; whoever reads has pages of his
 * own.
 */
import type { ExecutionState } from "./execution_state.ts";
import type { MemoryUser } from "./memory_user.ts";
import { identity } from "./partitioned_rows.ts";
import { RowBuffer } from "./row_buffer.ts";
import { copyRows, type SpilledColumn } from "./row_codec.ts";
import { BufferRows, type PageSource, RowPages, type RowSequence, WrittenBlocks } from "./row_pages.ts";
import { slotObject } from "./slot_object.ts";
import { blockBytesFor, SpilledRows } from "./spilled_rows.ts";
import { GeneratorWork, type Work } from "./work.ts";

/** Rows of a page at most, and of how many bytes of memory one of them comes. */
const MAX_PAGE_ROWS = 1024;
const MIN_PAGE_ROWS = 8;
const BYTES_FOR_ROW = 8192;

/** See the file's head. */
export class KeptRows extends SpilledRows implements PageSource {
  readonly page: PageSource["page"];
  readonly #blocks = new WrittenBlocks();
  /** Holds those that are not in the file. */
  readonly #buffer: RowBuffer;

  constructor(state: MemoryUser, buffer: RowBuffer, layout: readonly SpilledColumn[]) {
    super(state, layout);
    const { memoryLimitBytes } = state.context;
    const rows = Math.floor(memoryLimitBytes / BYTES_FOR_ROW);
    this.page = {
      rows: Math.min(MAX_PAGE_ROWS, Math.max(MIN_PAGE_ROWS, rows)),
      bytes: blockBytesFor(memoryLimitBytes),
      count: 0,
    };
    this.#buffer = buffer;
  }

  /** Whether something has been written. */
  get isInFile(): boolean {
    return this.#blocks.count > 0;
  }

  /** All rows. */
  get count(): number {
    return this.#blocks.count + this.#buffer.count;
  }

  /** Writes the buffer's rows and empties it. */
  writeAll(buffer: RowBuffer): Work {
    return new GeneratorWork(this.#writeAll(buffer));
  }

  *#writeAll(buffer: RowBuffer): Generator<void, void, void> {
    const { count } = buffer;
    this.state.beganRun();
    this.state.beganPass(1);
    const rows = { order: identity(count), from: 0, to: count, inPlace: true as const };
    for (const written of this.write(buffer, rows, this.page)) {
      this.#blocks.add(written);
      yield;
    }
    buffer.release();
    this.full = 0;
  }

  /** See {@link PageSource.readPage}. */
  readPage(
    buffer: RowBuffer,
    position: number,
    at: number,
  ): { readonly begin: number; readonly end: number } {
    const written = this.#blocks.count;
    if (position < written) {
      const block = this.#blocks.at(position);
      this.read(buffer, [block.written], at);
      return { begin: block.begin, end: block.begin + block.written.rows };
    }
    const from = position - written;
    const to = Math.min(this.#buffer.count, from + this.page.rows);
    copyRows(this.#buffer, { from, to }, { buffer, at });
    return { begin: position, end: written + to };
  }
}

/** Slots of kept rows: themselves, and the buffer that they come into. */
export interface KeptSlots {
  readonly kept: number;
  readonly buffer: number;
}

/** The kept rows of a slot, made at first use. */
export function keptRows(
  state: ExecutionState,
  slots: KeptSlots,
  layout: readonly SpilledColumn[],
): KeptRows {
  const known = state.x[slots.kept];
  if (known !== undefined) return known as KeptRows;
  return slotObject(state, slots.kept, KeptRows, slotObject(state, slots.buffer, RowBuffer, layout), layout);
}

/** The rows for one reader, whose slot is given; those that are in memory are in the slot of his buffer in the end. */
export function keptReader(
  state: ExecutionState,
  slots: KeptSlots,
  reader: { readonly slot: number; readonly buffer: number },
  layout: readonly SpilledColumn[],
): RowSequence {
  const rows = keptRows(state, slots, layout);
  const known = state.x[reader.slot];
  if (known instanceof RowPages) {
    if (known.source === rows) return known;
    known.buffer.release();
    state.x[reader.slot] = undefined;
  }
  if (!rows.isInFile) {
    const buffer = state.x[reader.buffer] = slotObject(state, slots.buffer, RowBuffer, layout);
    return new BufferRows(buffer);
  }
  const buffer = state.x[reader.buffer] = new RowBuffer(state.userOf(reader.buffer), layout);
  return state.x[reader.slot] = new RowPages(buffer, rows);
}
