/**
 * A primary's right to answer reads alone: while a quorum has promised to vote for no other view, no other primary can
 * have committed anything.
 *
 * Messages carry stamps, which backups echo; a promise counts from when its stamp was made. Time is the larger of
 * monotonic and wall time, for a monotonic clock may stand still while a machine sleeps. Without a valid lease, an
 * entry that is appended behind a read and committed in this view proves the read (`Engine.readBarrier`).
 */
import { assert } from "../../base/assert.ts";
import type { ReplicaPorts } from "./ports.ts";
import { LEASE_MILLISECONDS, STAMP_MILLISECONDS } from "./timeouts.ts";

interface Stamp {
  readonly id: number;
  readonly monotonic: number;
  readonly wall: number;
}

/** The lease of one primary in one view. */
export class ReadLease {
  readonly #ports: ReplicaPorts;
  /** Backups whose promises make a quorum with the primary's own. */
  readonly #needed: number;
  /** By member: the newest stamp that it has echoed. */
  readonly #echoed: number[];
  /** Stamps that may still count, in order. */
  #stamps: Stamp[] = [];
  #newest = 0;
  /** The newest stamp that a quorum has echoed, the primary counted; 0 without any. */
  #agreed = 0;
  /** Stamps up to this one count no more. */
  #expired = 0;

  constructor(ports: ReplicaPorts) {
    const { memberCount } = ports.identity;
    this.#ports = ports;
    this.#needed = (memberCount - 1) / 2;
    this.#echoed = Array.from({ length: memberCount }, () => 0);
  }

  /** Whether reads may be answered now. */
  get isValid(): boolean {
    if (this.#needed === 0) return true;
    return this.#ports.readLease !== false && this.#isAgreedFresh();
  }

  /** How long ago a quorum was surely in this view, in milliseconds; Infinity when stamps are not kept as long. */
  get age(): number {
    if (this.#needed === 0) return 0;
    const stamp = this.#agreedStamp;
    return stamp === undefined || this.#agreed <= this.#expired ? Infinity : this.#age(stamp);
  }

  get #agreedStamp(): Stamp | undefined {
    const first = this.#stamps[0];
    return first === undefined ? undefined : this.#stamps[this.#agreed - first.id];
  }

  /** What was once seen to have expired never counts again, though a clock is set back. */
  #isAgreedFresh(): boolean {
    if (this.#agreed <= this.#expired) return false;
    const stamp = this.#agreedStamp;
    if (stamp !== undefined && this.#age(stamp) < LEASE_MILLISECONDS) return true;
    this.#expired = this.#agreed;
    return false;
  }

  /** The stamp of a message that is sent now. */
  stamp(): number {
    this.#isAgreedFresh();
    const newest = this.#stamps.at(-1);
    const isFresh = newest !== undefined && this.#age(newest) < STAMP_MILLISECONDS;
    return isFresh ? newest.id : this.#makeStamp();
  }

  /** A backup has echoed a stamp of this view. */
  echoed(from: number, stamp: number): void {
    assert(stamp <= this.#newest, `stamp ${stamp} was never made`);
    if (stamp <= (this.#echoed[from] ?? 0)) return;
    this.#echoed[from] = stamp;
    // The primary's own place is 0, and sorts last.
    this.#agreed = this.#echoed.toSorted((a, b) => b - a)[this.#needed - 1] ?? 0;
    this.#isAgreedFresh();
  }

  #makeStamp(): number {
    const now = this.#ports.now();
    const stamps = this.#stamps;
    const stale = stamps.findIndex((stamp) => now - stamp.monotonic < LEASE_MILLISECONDS);
    if (stale !== 0) stamps.splice(0, stale < 0 ? stamps.length : stale);
    stamps.push({ id: ++this.#newest, monotonic: now, wall: this.#ports.wallNow() });
    return this.#newest;
  }

  #age({ monotonic, wall }: Stamp): number {
    return Math.max(this.#ports.now() - monotonic, this.#ports.wallNow() - wall);
  }
}
