/** Entries on their way into the log and out of it. */
import { assert } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import type { OpNumber } from "../operations/effect.ts";
import { detachedHead, type LogFormat, type RecordHead } from "./log_file.ts";
import { PartedBody, type RecordBody } from "./log_part.ts";
import type { LogTail } from "./log_tail.ts";
import { BlockChecksums, type StoredPayload } from "./stored_payload.ts";

/** An entry read back. */
export interface LoggedEntry {
  readonly op: OpNumber;
  /** Good until the next entry is read. One that is {@link stored} is read as a whole now. */
  readonly payload: Uint8Array;
  /** The payload of a large entry, in its file, until the next entry is read; null for others. */
  readonly stored: StoredPayload | null;
}

/** An entry on its way into the log, piece by piece; nothing else is appended until it is finished or given up. */
export interface EntryInPieces {
  /** Bytes so far. */
  readonly bytes: number;
  /** CRC-32C of the bytes so far. */
  readonly checksum: number;
  /**
   * Writes a piece, whose CRC-32C may be given; it is in the file when this returns. Raises 53100 or 54000, with the
   * log as it was before the entry.
   */
  write(piece: Uint8Array, checksum?: number): void;
  /** Makes the entry part of the log. */
  finish(): void;
  /** Takes back what was written. */
  abandon(): void;
}

/** What an entry on its way asks of its log. */
export interface PiecewiseOwner {
  /** Raises the error of a log that cannot be written. */
  checkUsable(): void;
  headOf(payloadBytes: number, checksum: number): RecordHead;
  /** Its head is written. */
  finished(head: RecordHead, recordBytes: number, blocks: BlockChecksums | undefined): void;
  /** It is no longer wanted; or the disk is full, and what was written was taken back. */
  abandoned(error?: unknown): void;
}

/** A payload that is written behind the place of its head. The head comes last. */
class WholeBody implements RecordBody {
  readonly limitBytes = LIMITS.maximumEntryBytes;
  readonly blocks = new BlockChecksums();
  readonly #tail: LogTail;
  readonly #format: LogFormat;
  readonly #position: number;

  constructor(tail: LogTail, format: LogFormat) {
    this.#tail = tail;
    this.#format = format;
    this.#position = tail.end;
  }

  get bytes(): number {
    return this.blocks.bytes;
  }

  get checksum(): number {
    return this.blocks.checksum;
  }

  get #end(): number {
    return this.#position + this.#format.headBytes + this.bytes;
  }

  add(piece: Uint8Array, checksum?: number): void {
    this.#tail.writePiece(this.#end, piece);
    this.blocks.add(piece, checksum);
  }

  finish(head: RecordHead): number {
    this.#tail.write(this.#position, detachedHead(this.#format, head));
    return this.#end;
  }
}

/** An entry on its way to the end of the log; see {@link EntryInPieces}. */
export class PiecewiseEntry implements EntryInPieces {
  readonly #tail: LogTail;
  readonly #format: LogFormat;
  readonly #owner: PiecewiseOwner;
  readonly #body: RecordBody;
  #isOver = false;

  /** `partBytes`: of its parts; null: it is one record. */
  constructor(tail: LogTail, format: LogFormat, partBytes: number | null, owner: PiecewiseOwner) {
    this.#tail = tail;
    this.#format = format;
    this.#owner = owner;
    this.#body = partBytes === null ? new WholeBody(tail, format) : new PartedBody(tail.end, partBytes, {
      put: (position, bytes) => tail.writePiece(position, bytes),
      headOf: () => owner.headOf(0, 0),
    });
  }

  get bytes(): number {
    return this.#body.bytes;
  }

  get checksum(): number {
    return this.#body.checksum;
  }

  write(piece: Uint8Array, checksum?: number): void {
    assert(!this.#isOver, "the entry is on its way");
    const { limitBytes } = this.#body;
    if (this.bytes + piece.length > limitBytes) {
      this.abandon();
      throw entryTooLarge(limitBytes);
    }
    this.#write(() => this.#body.add(piece, checksum));
  }

  finish(): void {
    assert(!this.#isOver && this.bytes > 0, "an entry has a payload");
    const head = this.#owner.headOf(this.bytes, this.checksum);
    const end = this.#write(() => this.#body.finish(head));
    this.#isOver = true;
    this.#tail.finish(end);
    this.#owner.finished(head, this.#format.headBytes + this.bytes, this.#body.blocks);
  }

  abandon(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#owner.abandoned();
  }

  #write<T>(write: () => T): T {
    this.#owner.checkUsable();
    try {
      return write();
    } catch (error) {
      this.#isOver = true;
      this.#owner.abandoned(error);
      throw error;
    }
  }
}

/** The error for a transaction whose entry would have more bytes. */
export function entryTooLarge(limitBytes: number = LIMITS.maximumEntryBytes): DatabaseError {
  return new DatabaseError(SQLSTATE.programLimitExceeded, "transaction is too large for one log entry", {
    hint: `A transaction may write at most ${limitBytes} bytes; split it.`,
  });
}
