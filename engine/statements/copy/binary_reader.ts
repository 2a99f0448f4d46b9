/**
 * Parses COPY's binary format from chunks that may be split anywhere: a signature, flags, then rows of sized fields
 * in the types' binary form, and a trailer. A row has at most `LIMITS.maximumCopyRowBytes` bytes.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import { decodeBinary } from "../../types/binary_io.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { toStored } from "../../types/stored_value.ts";
import type { BatchBuilder } from "../../transactions/batch_builder.ts";
import type { ReaderPlace } from "../parsed_copy.ts";
import { rowTooLong, withContext } from "./copy_options.ts";
import { PartialRow } from "./partial_row.ts";

/** `PGCOPY\n\377\r\n\0`. */
export const BINARY_SIGNATURE = Uint8Array.of(80, 71, 67, 79, 80, 89, 10, 255, 13, 10, 0);
const HEADER_BYTES = BINARY_SIGNATURE.length + 8;
/** From here on a row that is not whole is not looked at with every chunk. */
const LONG_ROW = 65_536;

/** A column that the data has. */
export interface BinaryColumn {
  readonly name: string;
  readonly type: SqlType;
  readonly position: number;
}

function malformed(message: string): DatabaseError {
  return new DatabaseError(SQLSTATE.badCopyFileFormat, message);
}

/** See the file's head. */
export class BinaryFormatReader {
  readonly #tableName: string;
  readonly #columns: readonly BinaryColumn[];
  readonly #batch: BatchBuilder;
  readonly #flush: () => void;
  readonly #carry = new PartialRow(() => `COPY ${this.#tableName}, line ${this.#row}`);
  /** Length of the carried bytes from which it is worth looking again for the end of a long row. */
  #nextTry = 0;
  #headerSeen = false;
  #ended = false;
  #isPaused = false;
  #row = 1;

  constructor(options: {
    readonly tableName: string;
    readonly columns: readonly BinaryColumn[];
    readonly batch: BatchBuilder;
    readonly flush: () => void;
    /** Where it goes on; null: at the beginning. */
    readonly from: ReaderPlace | null;
  }) {
    this.#tableName = options.tableName;
    this.#columns = options.columns;
    this.#batch = options.batch;
    this.#flush = options.flush;
    if (options.from === null) return;
    this.#row = options.from.line;
    this.#headerSeen = true;
  }

  /** Parses nothing behind the row at hand. */
  pause(): void {
    this.#isPaused = true;
  }

  /** Where another reader goes on; null: this one has not paused, or has come to the end. */
  takePlace(): ReaderPlace | null {
    if (!this.#isPaused || this.#ended) return null;
    const rest = this.#carry.length === 0
      ? new Uint8Array(0)
      : this.#carry.joined().slice(0, this.#carry.length);
    return { line: this.#row, lineEnd: "unknown", rest };
  }

  /** Number of the row that comes next, from 1. */
  get line(): number {
    return this.#row;
  }

  /** Parses a chunk, which is a piece of these bytes. */
  write(bytes: Uint8Array, start = 0, end = bytes.length): void {
    const chunk = bytes.subarray(start, end);
    if (chunk.length === 0) return;
    if (this.#ended) throw malformed("received copy data after EOF marker");
    const carry = this.#carry;
    if (carry.length === 0) {
      const rest = chunk.subarray(this.#parse(chunk));
      if (rest.length > 0) carry.append(rest);
    } else {
      carry.append(chunk);
      if (carry.length < this.#nextTry) return;
      carry.drop(this.#parse(carry.joined()));
    }
    // A long row is looked at again when it has grown by half: its bytes are moved a constant number of times.
    this.#nextTry = carry.length < LONG_ROW ? 0 : carry.length + (carry.length >> 1);
  }

  /** The data has ended. */
  finish(): void {
    const carry = this.#carry;
    if (!this.#ended && carry.length > 0) carry.drop(this.#parse(carry.joined()));
    if (!this.#headerSeen) throw malformed("COPY file signature not recognized");
    if (!this.#ended && carry.length > 0) throw malformed("unexpected EOF in COPY data");
  }

  /** Parses whole rows. Answers where the first incomplete one begins. */
  #parse(bytes: Uint8Array): number {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = this.#headerSeen ? 0 : this.#parseHeader(bytes, view);
    while (this.#headerSeen && !this.#ended && !this.#isPaused && this.#isRowWhole(view, at)) {
      at = this.#parseRow(bytes, view, at);
    }
    if (this.#ended && at < bytes.length) throw malformed("received copy data after EOF marker");
    return at;
  }

  #parseHeader(bytes: Uint8Array, view: DataView): number {
    for (let index = 0; index < BINARY_SIGNATURE.length && index < bytes.length; index++) {
      if (bytes[index] !== BINARY_SIGNATURE[index]) throw malformed("COPY file signature not recognized");
    }
    if (bytes.length < HEADER_BYTES) return 0;
    const flags = view.getUint32(BINARY_SIGNATURE.length);
    if ((flags & 0x10000) !== 0) throw malformed("invalid COPY file header (WITH OIDS)");
    if ((flags >>> 16) !== 0) throw malformed("unrecognized critical flags in COPY file header");
    const extension = view.getInt32(BINARY_SIGNATURE.length + 4);
    if (extension < 0) throw malformed("invalid COPY file header (missing length)");
    if (bytes.length < HEADER_BYTES + extension) return 0;
    this.#headerSeen = true;
    return HEADER_BYTES + extension;
  }

  /**
   * Whether all fields are there, or one that cannot be right. Nothing of a row is decoded before: it may come in
   * many chunks.
   */
  #isRowWhole(view: DataView, start: number): boolean {
    const end = view.byteLength;
    if (end - start < 2) return false;
    const count = view.getInt16(start);
    if (count !== this.#columns.length) return true;
    let at = start + 2;
    for (let field = 0; field < count; field++) {
      if (end - at < 4) return false;
      const size = view.getInt32(at);
      if (size < -1 || size > LIMITS.maximumCopyRowBytes) return true;
      at += 4 + Math.max(size, 0);
      if (at > end) return false;
    }
    return true;
  }

  /** Parses a row that is whole. Answers where the next begins. */
  #parseRow(bytes: Uint8Array, view: DataView, start: number): number {
    const count = view.getInt16(start);
    let at = start + 2;
    if (count === -1) {
      this.#ended = true;
      return at;
    }
    if (count !== this.#columns.length) {
      throw withContext(
        malformed(`row field count is ${count}, expected ${this.#columns.length}`),
        `COPY ${this.#tableName}, line ${this.#row}`,
      );
    }
    for (const column of this.#columns) {
      const size = view.getInt32(at);
      at += 4;
      if (size === -1) {
        this.#batch.setStored(column.position, null);
        continue;
      }
      const context = `COPY ${this.#tableName}, line ${this.#row}, column ${column.name}`;
      if (size < 0) throw withContext(malformed("invalid field size"), context);
      if (size > LIMITS.maximumCopyRowBytes) throw withContext(rowTooLong(), context);
      try {
        const value = decodeBinary(column.type, bytes.slice(at, at + size));
        this.#batch.setStored(column.position, toStored(column.type, value));
      } catch (thrown) {
        throw withContext(thrown, context);
      }
      at += size;
    }
    this.#batch.rowCount++;
    this.#row++;
    if (this.#batch.isFull) this.#flush();
    return at;
  }
}
