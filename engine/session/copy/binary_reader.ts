/**
 * Parses COPY's binary format from chunks that may be split anywhere: a signature, flags, then rows of sized fields in the
 * types' binary form, and a trailer. A row has at most `LIMITS.maximumCopyRowBytes` bytes.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import { decodeBinary } from "../../types/binary_io.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { toStored } from "../../types/stored_value.ts";
import type { BatchBuilder } from "./batch_builder.ts";
import { rowTooLong, withContext } from "./copy_options.ts";

/** `PGCOPY\n\377\r\n\0`. */
export const BINARY_SIGNATURE = Uint8Array.of(80, 71, 67, 79, 80, 89, 10, 255, 13, 10, 0);
const HEADER_BYTES = BINARY_SIGNATURE.length + 8;

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
  /** What is not parsed yet, in front of free space. */
  #carry = new Uint8Array(0);
  #carryLength = 0;
  #headerSeen = false;
  #ended = false;
  #row = 1;

  constructor(options: {
    readonly tableName: string;
    readonly columns: readonly BinaryColumn[];
    readonly batch: BatchBuilder;
    readonly flush: () => void;
  }) {
    this.#tableName = options.tableName;
    this.#columns = options.columns;
    this.#batch = options.batch;
    this.#flush = options.flush;
  }

  /** Number of the row that comes next, from 1. */
  get line(): number {
    return this.#row;
  }

  /** Parses a chunk. */
  write(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    if (this.#ended) throw malformed("received copy data after EOF marker");
    const isCarried = this.#carryLength > 0;
    if (isCarried) this.#append(chunk);
    const bytes = isCarried ? this.#carry.subarray(0, this.#carryLength) : chunk;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = this.#headerSeen ? 0 : this.#parseHeader(bytes, view);
    while (this.#headerSeen && !this.#ended) {
      const next = this.#parseRow(bytes, view, at);
      if (next < 0) break;
      at = next;
    }
    if (this.#ended && at < bytes.length) throw malformed("received copy data after EOF marker");
    if (isCarried) {
      this.#carry.copyWithin(0, at, this.#carryLength);
      this.#carryLength -= at;
    } else if (at < chunk.length) this.#append(chunk.subarray(at));
  }

  #append(bytes: Uint8Array): void {
    const needed = this.#carryLength + bytes.length;
    if (needed > LIMITS.maximumCopyRowBytes) {
      throw withContext(rowTooLong(), `COPY ${this.#tableName}, line ${this.#row}`);
    }
    if (needed > this.#carry.length) {
      const size = Math.min(Math.max(needed, this.#carry.length * 2, 4096), LIMITS.maximumCopyRowBytes);
      const larger = new Uint8Array(size);
      larger.set(this.#carry.subarray(0, this.#carryLength));
      this.#carry = larger;
    }
    this.#carry.set(bytes, this.#carryLength);
    this.#carryLength = needed;
  }

  /** The data has ended. */
  finish(): void {
    if (!this.#headerSeen) throw malformed("COPY file signature not recognized");
    if (!this.#ended && this.#carryLength > 0) throw malformed("unexpected EOF in COPY data");
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

  /** Parses a row. Answers where the next begins, or -1 when the row is not whole. */
  #parseRow(bytes: Uint8Array, view: DataView, start: number): number {
    const end = bytes.length;
    if (end - start < 2) return -1;
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
      if (end - at < 4) return -1;
      const size = view.getInt32(at);
      at += 4;
      if (size === -1) {
        this.#batch.setStored(column.position, null);
        continue;
      }
      const context = `COPY ${this.#tableName}, line ${this.#row}, column ${column.name}`;
      if (size < 0) throw withContext(malformed("invalid field size"), context);
      if (size > LIMITS.maximumCopyRowBytes) throw withContext(rowTooLong(), context);
      if (end - at < size) return -1;
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
