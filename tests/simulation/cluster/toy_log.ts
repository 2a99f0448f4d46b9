/**
 * A log on a simulated disk that loses what was not synced, in order, and whose entries can be made unreadable.
 *
 * The disk is an image and the writes since the last sync; a crash keeps the image and a random number of the first of
 * those writes. A damaged entry of the image stays known as unreadable (a mark vouches for it); a damaged or missing
 * write that was never synced is a torn tail and is cut. A checkpoint is there whole or not at all, and the log begins
 * at or below it.
 */
import { assert } from "../../../engine/base/assert.ts";
import type { SeededRandom } from "../../../engine/base/random.ts";
import {
  EMPTY_LOG,
  type ReplicatedEntry,
  type Slot,
} from "../../../engine/replication/protocol/entry_header.ts";
import type { ReplicatedLog } from "../../../engine/replication/protocol/ports.ts";

type DiskSlot = ReplicatedEntry | "damaged";

type Write =
  | { readonly kind: "entry"; readonly entry: ReplicatedEntry }
  | { readonly kind: "truncate"; readonly op: number };

const ABSENT: Slot = { kind: "absent" };
const UNREADABLE: Slot = { kind: "unreadable" };

/** The slots above a base. */
class Slots {
  baseOp = 0;
  baseDigest = EMPTY_LOG.digest;
  items: DiskSlot[] = [];

  get lastOp(): number {
    return this.baseOp + this.items.length;
  }

  at(op: number): DiskSlot | undefined {
    return op <= this.baseOp ? undefined : this.items[op - this.baseOp - 1];
  }

  perform(write: Write): void {
    if (write.kind === "truncate") {
      this.items.length = Math.min(this.items.length, Math.max(0, write.op - this.baseOp));
    } else if (write.entry.header.op > this.baseOp) {
      this.items[write.entry.header.op - this.baseOp - 1] = write.entry;
    }
  }

  /** Drops the slots up to the op; all of them, where what follows it has another digest before. */
  beginAfter(op: number, digest: bigint): void {
    const [own, next] = [this.at(op), this.at(op + 1)];
    const isOther = (own !== undefined && own !== "damaged" && own.header.digest !== digest) ||
      (next !== undefined && next !== "damaged" && next.header.previousDigest !== digest);
    this.items = isOther ? [] : this.items.slice(op - this.baseOp);
    this.baseOp = op;
    this.baseDigest = digest;
  }

  copy(): Slots {
    const slots = new Slots();
    slots.baseOp = this.baseOp;
    slots.baseDigest = this.baseDigest;
    slots.items = [...this.items];
    return slots;
  }
}

/** The disk of a member, which outlives its process. */
export class ToyDisk {
  readonly image = new Slots();
  /** The digests of all entries up to the newest checkpoint. */
  checkpoint: readonly bigint[] = [];
  unsynced: Write[] = [];

  /** The process is killed: some of what was not synced is lost. */
  crash(random: SeededRandom): void {
    const kept = random.between(0, this.unsynced.length);
    for (const write of this.unsynced.slice(0, kept)) this.image.perform(write);
    this.unsynced = [];
  }

  /** Makes the entry of the op unreadable; whether there was one. */
  damage(op: number): boolean {
    const slot = this.image.at(op);
    if (slot === undefined || slot === "damaged") return false;
    this.image.items[op - this.image.baseOp - 1] = "damaged";
    return true;
  }
}

/** The log of one life of a member. */
export class ToyLog implements ReplicatedLog {
  readonly #disk: ToyDisk;
  readonly #slots: Slots;
  /** Grows when a checkpoint takes the place of the log: syncs of before mean nothing then. */
  generation = 0;

  constructor(disk: ToyDisk) {
    this.#disk = disk;
    assert(disk.unsynced.length === 0, "a disk is recovered after its crash");
    this.#slots = disk.image.copy();
  }

  get checkpointOp(): number {
    return this.oldestOp - 1;
  }

  get oldestOp(): number {
    return this.#slots.baseOp + 1;
  }

  get baseDigest(): bigint {
    return this.#slots.baseDigest;
  }

  get lastOp(): number {
    return this.#slots.lastOp;
  }

  slot(op: number): Slot {
    const slot = this.#slots.at(op);
    if (slot === undefined) return ABSENT;
    return slot === "damaged" ? UNREADABLE : { kind: "present", header: slot.header };
  }

  read(op: number): ReplicatedEntry | null {
    const slot = this.#slots.at(op);
    return slot === undefined || slot === "damaged" ? null : slot;
  }

  write(entry: ReplicatedEntry): boolean {
    const { op } = entry.header;
    assert(
      op <= this.lastOp + 1 && op >= this.oldestOp && this.slot(op).kind !== "present",
      `cannot write op ${op} after ${this.lastOp}`,
    );
    this.#perform({ kind: "entry", entry });
    return true;
  }

  truncateAfter(op: number): void {
    assert(op >= this.checkpointOp, `op ${op} is in the checkpoint`);
    if (op < this.lastOp) this.#perform({ kind: "truncate", op });
  }

  isDurable(op: number): boolean {
    const slot = this.#slots.at(op);
    return slot !== undefined && slot !== "damaged" && this.#disk.image.at(op) === slot;
  }

  /** How many writes a sync that begins now makes durable. */
  get unsyncedCount(): number {
    return this.#disk.unsynced.length;
  }

  /** The sync of the first writes has ended. */
  synced(count: number): void {
    for (const write of this.#disk.unsynced.splice(0, count)) this.#disk.image.perform(write);
  }

  /** A checkpoint of this member is durable, and the log forgets what is before the op, at or below it. */
  truncateBefore(op: number, checkpoint: readonly bigint[]): void {
    assert(op <= checkpoint.length + 1, "a log reaches back to its checkpoint");
    this.#disk.checkpoint = checkpoint;
    if (op > this.oldestOp) this.#beginAfter(op - 1, checkpoint);
  }

  /** A checkpoint of another member takes the place of this one's. */
  install(checkpoint: readonly bigint[]): void {
    this.#disk.checkpoint = checkpoint;
    for (const write of this.#disk.unsynced.splice(0)) this.#disk.image.perform(write);
    this.generation++;
    this.#beginAfter(checkpoint.length, checkpoint);
  }

  #beginAfter(op: number, checkpoint: readonly bigint[]): void {
    const digest = checkpoint[op - 1] ?? EMPTY_LOG.digest;
    this.#slots.beginAfter(op, digest);
    this.#disk.image.beginAfter(op, digest);
  }

  #perform(write: Write): void {
    this.#slots.perform(write);
    this.#disk.unsynced.push(write);
  }
}
