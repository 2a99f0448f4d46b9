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
import type { EntryHeader, ReplicatedEntry, Slot } from "./entry_header.ts";
import type { ReplicatedLog } from "./ports.ts";

const ABSENT: Slot = { kind: "absent" };
const NO_PAYLOAD = new Uint8Array(0);
/** Entries from here on travel in pieces. */
const LARGE_ENTRY_BYTES = 1024 * 1024;
const UNREADABLE: Slot = { kind: "unreadable" };

/** See the head of the file. */
export class MemberLog implements ReplicatedLog {
  #log: Log;
  /** A large entry of which pieces are in the file, though it is no part of the log. */
  #coming: { readonly header: EntryHeader; readonly entry: EntryInPieces } | null = null;
  /** The last large entry that has come, for whoever applies it. */
  #received: ReplicatedEntry | null = null;

  constructor(log: Log) {
    this.#log = log;
  }

  /** The engine was opened again, with this log of the same directory. */
  attach(log: Log): void {
    this.#log = log;
    this.#coming = this.#received = null;
  }

  /**
   * A piece of a large entry has come, in order. Its bytes are written at once where the entry would follow the last
   * one, so that little is left to do when the replica writes it.
   */
  receivePiece(
    header: EntryHeader,
    piece: Uint8Array,
    { isFirst, bytes }: { isFirst: boolean; bytes: number },
  ): void {
    const { op, view, previousDigest } = header;
    if (isFirst) {
      this.forgetComing();
      if (op !== this.lastOp + 1 || view === null || this.#log.digest !== previousDigest) return;
      this.#coming = { header, entry: this.#log.appendInPieces(op, bytes, view) };
    }
    if (this.#coming?.header.digest !== header.digest) return;
    try {
      this.#coming.entry.write(piece);
    } catch (error) {
      this.#coming = null;
      throw error;
    }
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
    const largeBytes = this.#log.largeBytes(op, LARGE_ENTRY_BYTES);
    const name = largeBytes === null ? null : this.#log.nameOf(op);
    if (largeBytes !== null && name !== null) {
      return { header: headerOf(op, name), payload: NO_PAYLOAD, largeBytes };
    }
    const entry = this.#log.readEntry(op);
    return entry === null ? null : { header: headerOf(op, entry), payload: entry.payload };
  }

  /** The payload of an entry of any size; null if it cannot be read. */
  readPayload(op: number, digest: bigint): Uint8Array | null {
    const received = this.#received;
    this.#received = null;
    if (received?.header.op === op && received.header.digest === digest) return received.payload;
    return this.#log.readEntry(op)?.payload ?? null;
  }

  /** A piece of the payload of a large entry; null if it is not there. */
  readPiece(op: number, digest: bigint, offset: number, bytes: number): Uint8Array | null {
    const slot = this.slot(op);
    if (slot.kind !== "present" || slot.header.digest !== digest) return null;
    if (this.#log.largeBytes(op, LARGE_ENTRY_BYTES) === null) return null;
    return this.#log.readPiece(op, offset, bytes);
  }

  /** Raises XX001 for an entry whose bytes, or whose place, are not those that its header names. */
  write({ header, payload }: ReplicatedEntry): void {
    const { op, view, digest, previousDigest } = header;
    assert(view !== null && previousDigest !== null, `the entry of op ${op} is named`);
    const coming = this.#coming;
    if (coming?.header.digest === digest && coming.entry.bytes === payload.length) {
      if (digestAfter(previousDigest, coming.entry.checksum, op) !== digest) {
        this.forgetComing();
        throw notInChain(op);
      }
      coming.entry.finish();
      this.#coming = null;
      this.#received = { header, payload };
      return;
    }
    this.forgetComing();
    const checksum = crc32c(payload);
    if (payload.length === 0 || digestAfter(previousDigest, checksum, op) !== digest) throw notInChain(op);
    if (op === this.#log.lastOp + 1) {
      if (this.#log.digest === null) this.#log.setUnknownDigest(previousDigest);
      if (this.#log.digest !== previousDigest) throw notInChain(op);
      this.#log.appendAs(op, payload, view, checksum);
    } else this.#log.repair(op, payload, view, previousDigest);
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
