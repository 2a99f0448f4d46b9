/** Entries on their way into the log and out of it. */
import { assert } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import type { OpNumber } from "../operations/effect.ts";
import { detachedHead, type LogFormat, type RecordHead } from "./log_file.ts";
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
  finished(head: RecordHead, recordBytes: number, blocks: BlockChecksums): void;
  /** It is no longer wanted; or the disk is full, and what was written was taken back. */
  abandoned(error?: unknown): void;
}

/** An entry that is written behind the place of its head, at the end of the log. The head comes last. */
export class PiecewiseEntry implements EntryInPieces {
  readonly #tail: LogTail;
  readonly #format: LogFormat;
  readonly #owner: PiecewiseOwner;
  readonly #position: number;
  #at: number;
  readonly #blocks = new BlockChecksums();
  #isOver = false;

  constructor(tail: LogTail, format: LogFormat, owner: PiecewiseOwner) {
    this.#tail = tail;
    this.#format = format;
    this.#owner = owner;
    this.#position = tail.end;
    this.#at = tail.end + format.headBytes;
  }

  get bytes(): number {
    return this.#at - this.#position - this.#format.headBytes;
  }

  get checksum(): number {
    return this.#blocks.checksum;
  }

  write(piece: Uint8Array, checksum?: number): void {
    assert(!this.#isOver, "the entry is on its way");
    if (this.bytes + piece.length > LIMITS.maximumEntryBytes) {
      this.abandon();
      throw entryTooLarge();
    }
    this.#blocks.add(piece, checksum);
    this.#write(() => this.#tail.writePiece(this.#at, piece));
    this.#at += piece.length;
  }

  finish(): void {
    assert(!this.#isOver && this.bytes > 0, "an entry has a payload");
    const head = this.#owner.headOf(this.bytes, this.checksum);
    this.#write(() => this.#tail.write(this.#position, detachedHead(this.#format, head)));
    this.#isOver = true;
    this.#tail.finish(this.#at);
    this.#owner.finished(head, this.#at - this.#position, this.#blocks);
  }

  abandon(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#owner.abandoned();
  }

  #write(write: () => void): void {
    this.#owner.checkUsable();
    try {
      write();
    } catch (error) {
      this.#isOver = true;
      this.#owner.abandoned(error);
      throw error;
    }
  }
}

/** The error for a transaction beyond {@link LIMITS.maximumEntryBytes}. */
export function entryTooLarge(): DatabaseError {
  return new DatabaseError(SQLSTATE.programLimitExceeded, "transaction is too large for one log entry", {
    hint: `A transaction may write at most ${LIMITS.maximumEntryBytes} bytes; split it.`,
  });
}
