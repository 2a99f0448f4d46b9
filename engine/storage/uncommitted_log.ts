/**
 * How far the log of a replication group's primary is ahead of the commit number, in bytes.
 *
 * It must stay below what one checkpoint has of log: the next checkpoint ends the one before, which can end only when
 * its entry is committed, and nothing may block until then. The places of ops are known to a sixteenth of the limit.
 */
import type { OpNumber } from "../operations/effect.ts";
import type { CommitHorizon } from "./commit_horizon.ts";

/** How many marks make the limit. */
const MARKS = 16;

/** See the head of the file. */
export class UncommittedLog {
  readonly #committed: CommitHorizon;
  readonly #limitBytes: number;
  /** The log had so many bytes up to and with the op, in order. */
  readonly #marks: { readonly op: number; readonly bytes: number }[] = [];
  #lastOp = 0;
  #bytes = 0;
  /** Bytes up to an op that is committed. */
  #committedBytes = 0;

  constructor(committed: CommitHorizon, limitBytes: number) {
    this.#committed = committed;
    this.#limitBytes = limitBytes;
  }

  /** The entry of the op ends so many bytes into the log. */
  add(op: OpNumber, bytes: number): void {
    this.#lastOp = op;
    this.#bytes = bytes;
    if (this.#committed.durableOp >= op) {
      this.#marks.length = 0;
      this.#committedBytes = bytes;
      return;
    }
    const marked = this.#marks.at(-1)?.bytes ?? this.#committedBytes;
    if (bytes - marked >= this.#limitBytes / MARKS) this.#marks.push({ op, bytes });
  }

  /** Whether an entry of so many bytes must wait; one that is larger than the limit goes by itself. */
  isFull(entryBytes: number): boolean {
    const { durableOp } = this.#committed;
    if (durableOp >= this.#lastOp) return false;
    for (let mark = this.#marks[0]; mark !== undefined && mark.op <= durableOp; mark = this.#marks[0]) {
      this.#marks.shift();
      this.#committedBytes = mark.bytes;
    }
    return this.#bytes - this.#committedBytes + entryBytes > this.#limitBytes;
  }
}
