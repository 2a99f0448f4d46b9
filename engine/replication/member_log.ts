/**
 * The log of a member as its replica sees it: slots named by digests.
 *
 * It is the log of the engine, in which entries that the engine itself appends show up without a call; an engine
 * that is opened again brings another one ({@link MemberLog.attach}). Ops below the checkpoint are kept for others
 * as long as they can be read: what is damaged there is needed by nobody here, and the log begins behind it.
 */
import { assert } from "../base/assert.ts";
import { crc32c } from "../base/checksum.ts";
import { digestAfter } from "../operations/history_digest.ts";
import type { EntryName } from "../storage/log_history.ts";
import { notInChain } from "../storage/log_history.ts";
import type { EntryInPieces } from "../storage/log_entry.ts";
import type { Log } from "../storage/log.ts";
import type { StoredPayload } from "../storage/stored_payload.ts";
import { DamagedFileError } from "../storage/table/damaged_file.ts";
import { type EntryHeader, isSameEntry, type ReplicatedEntry, type Slot } from "./protocol/entry_header.ts";
import { LARGE_ENTRY_SIZES, type LargeEntrySizes, type PiecesPlace } from "./large_entries.ts";
import type { SummedBytes } from "./protocol/message.ts";
import type { CheckpointName, ReplicatedLog } from "./protocol/ports.ts";

const ABSENT: Slot = { kind: "absent" };
const NO_PAYLOAD = new Uint8Array(0);
const UNREADABLE: Slot = { kind: "unreadable" };

/** See the head of the file. */
export class MemberLog implements ReplicatedLog {
  #log: Log;
  readonly #leastLargeBytes: number;
  /** A large entry of which pieces are in the file, though it is no part of the log. */
  #coming: { readonly header: EntryHeader; readonly bytes: number; readonly entry: EntryInPieces } | null =
    null;

  constructor(log: Log, { leastBytes }: LargeEntrySizes = LARGE_ENTRY_SIZES) {
    this.#log = log;
    this.#leastLargeBytes = leastBytes;
  }

  /** The engine was opened again, with this log of the same directory. */
  attach(log: Log): void {
    this.#log = log;
    this.#coming = null;
  }

  /**
   * Where the pieces of a large entry go. Those of one that follows the last entry are written at once, behind the log,
   * and none is taken twice. Null: here is another entry, or none that it could follow.
   */
  placeOf(header: EntryHeader, bytes: number): PiecesPlace | null {
    const { op, view, previousDigest } = header;
    if (op <= this.lastOp) return this.slot(op).kind === "present" ? null : { kind: "memory" };
    if (op > this.lastOp + 1 || view === null) return null;
    // The end of the log cannot be read: only the whole entry proves what it follows.
    if (this.#log.digest === null) return { kind: "memory" };
    if (this.#log.digest !== previousDigest) return null;
    const coming = this.#coming;
    if (coming !== null && isSameEntry(coming.header, header) && coming.bytes === bytes) {
      return { kind: "log", bytes: coming.entry.bytes };
    }
    this.forgetComing();
    this.#coming = { header, bytes, entry: this.#log.appendInPieces(op, bytes, view) };
    return { kind: "log", bytes: 0 };
  }

  /** The next piece of the entry that {@link placeOf} has found a place for; false if that is gone. */
  addPiece({ op, digest }: EntryHeader, { bytes, checksum }: SummedBytes): boolean {
    const coming = this.#coming;
    if (coming?.header.op !== op || coming.header.digest !== digest) return false;
    try {
      coming.entry.write(bytes, checksum);
    } catch (error) {
      this.#coming = null;
      throw error;
    }
    return true;
  }

  /** Takes back what has come of a large entry. */
  forgetComing(): void {
    this.#coming?.entry.abandon();
    this.#coming = null;
  }

  /** The lowest op of which this and all that follow are kept, or damaged above the checkpoint. */
  get oldestOp(): number {
    const { checkpointOp, damaged, oldestOp } = this.#log;
    const last = damaged.findLast(({ from }) => from <= checkpointOp);
    return last === undefined ? oldestOp : Math.max(oldestOp, Math.min(last.to, checkpointOp) + 1);
  }

  /** Whether what the log has above the checkpoint continues it. */
  continues({ op, digest }: CheckpointName): boolean {
    // Where all before it is gone, what the log begins with is known.
    if (op === this.oldestOp - 1) return this.#log.digestBefore(op + 1) === digest;
    const [at, next] = [this.slot(op), this.slot(op + 1)];
    if (at.kind === "present") return at.header.digest === digest;
    return next.kind === "present" && next.header.previousDigest === digest;
  }

  get checkpointOp(): number {
    return this.#log.checkpointOp;
  }

  /** The digest of the log before {@link oldestOp}. */
  get baseDigest(): bigint {
    const { oldestOp } = this;
    const digest = this.#log.digestBefore(oldestOp);
    // Reading may have found the first entry damaged; the log begins behind it now.
    if (this.oldestOp > oldestOp) return this.baseDigest;
    if (digest === null) throw notInChain(oldestOp);
    return digest;
  }

  get lastOp(): number {
    return this.#log.lastOp;
  }

  slot(op: number): Slot {
    if (op < this.#log.oldestOp || op > this.#log.lastOp) return ABSENT;
    const name = this.#log.nameOf(op);
    return name === null ? UNREADABLE : { kind: "present", header: headerOf(op, name) };
  }

  /** Without its payload if the entry is too large for a message. */
  read(op: number): ReplicatedEntry | null {
    if (op < this.#log.oldestOp || op > this.#log.lastOp) return null;
    const stored = this.#log.storedPayload(op, this.#leastLargeBytes);
    const name = stored === null ? null : this.#log.nameOf(op);
    if (stored !== null && name !== null) {
      return { header: headerOf(op, name), payload: NO_PAYLOAD, largeBytes: stored.length };
    }
    const entry = this.#log.readEntry(op);
    return entry === null ? null : { header: headerOf(op, entry), payload: entry.payload };
  }

  /** The payload of a large entry; null if that is not here. */
  storedPayload(op: number, digest: bigint): StoredPayload | null {
    const slot = this.slot(op);
    if (slot.kind !== "present" || slot.header.digest !== digest) return null;
    return this.#log.storedPayload(op, this.#leastLargeBytes);
  }

  /** A piece of the payload of a large entry; null if it is not there, or cannot be read. */
  readPiece(op: number, digest: bigint, offset: number, bytes: number): SummedBytes | null {
    const stored = this.storedPayload(op, digest);
    if (stored === null || offset >= stored.length) return null;
    try {
      const piece = stored.read(offset, bytes);
      return { bytes: piece, checksum: stored.blockChecksum(offset, piece.length) ?? crc32c(piece) };
    } catch (error) {
      if (!(error instanceof DamagedFileError)) throw error;
      this.#log.lookForDamage(op);
      return null;
    }
  }

  /**
   * False for a large entry whose pieces have not come, or not rightly: it comes again. Raises XX001 for an entry whose
   * bytes, or whose place, are not those that its header names.
   */
  write({ header, payload, largeBytes }: ReplicatedEntry): boolean {
    const { op, view, digest, previousDigest } = header;
    if (largeBytes !== undefined) return this.#finishComing(header, largeBytes);
    assert(view !== null && previousDigest !== null, `the entry of op ${op} is named`);
    this.forgetComing();
    const checksum = crc32c(payload);
    if (payload.length === 0 || digestAfter(previousDigest, checksum, op) !== digest) throw notInChain(op);
    if (this.#log.endsOtherwise(op, digest)) this.#log.forgetEnd();
    if (op === this.#log.lastOp + 1) {
      if (this.#log.digest === null) this.#log.setUnknownDigest(previousDigest);
      if (this.#log.digest !== previousDigest) throw notInChain(op);
      this.#log.appendAs(op, payload, view, checksum);
    } else this.#log.repair(op, payload, view, previousDigest);
    return true;
  }

  #finishComing({ op, digest }: EntryHeader, bytes: number): boolean {
    const coming = this.#coming;
    if (coming === null || coming.header.op !== op || coming.header.digest !== digest) return false;
    const { entry, header: { previousDigest } } = coming;
    if (coming.bytes !== bytes || entry.bytes !== bytes) return false;
    if (previousDigest === null || digestAfter(previousDigest, entry.checksum, op) !== digest) {
      this.forgetComing();
      return false;
    }
    this.#coming = null;
    entry.finish();
    return true;
  }

  truncateAfter(op: number): void {
    this.forgetComing();
    this.#log.truncateAfter(op);
  }

  isDurable(op: number): boolean {
    return op >= this.#log.oldestOp && this.#log.isDurable(op);
  }
}

function headerOf(op: number, { view, digest, previousDigest }: EntryName): EntryHeader {
  return { op, view, digest, previousDigest };
}
