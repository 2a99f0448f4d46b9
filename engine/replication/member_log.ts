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
import type { Log } from "../storage/log.ts";
import type { EntryHeader, ReplicatedEntry, Slot } from "./entry_header.ts";
import type { ReplicatedLog } from "./ports.ts";

const ABSENT: Slot = { kind: "absent" };
const UNREADABLE: Slot = { kind: "unreadable" };

/** See the head of the file. */
export class MemberLog implements ReplicatedLog {
  #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** The engine was opened again, with this log of the same directory. */
  attach(log: Log): void {
    this.#log = log;
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

  read(op: number): ReplicatedEntry | null {
    const entry = this.#log.readEntry(op);
    return entry === null ? null : { header: headerOf(op, entry), payload: entry.payload };
  }

  /** Raises XX001 for an entry whose bytes, or whose place, are not those that its header names. */
  write({ header, payload }: ReplicatedEntry): void {
    const { op, view, digest, previousDigest } = header;
    assert(view !== null && previousDigest !== null, `the entry of op ${op} is named`);
    if (payload.length === 0 || digestAfter(previousDigest, crc32c(payload), op) !== digest) {
      throw notInChain(op);
    }
    if (op === this.#log.lastOp + 1) {
      if (this.#log.digest === null) this.#log.setUnknownDigest(previousDigest);
      if (this.#log.digest !== previousDigest) throw notInChain(op);
      this.#log.appendAs(op, payload, view);
    } else this.#log.repair(op, payload, view, previousDigest);
  }

  truncateAfter(op: number): void {
    this.#log.truncateAfter(op);
  }

  isDurable(op: number): boolean {
    return op >= this.#log.oldestOp && this.#log.isDurable(op);
  }
}

function headerOf(op: number, { view, digest, previousDigest }: EntryName): EntryHeader {
  return { op, view, digest, previousDigest };
}
