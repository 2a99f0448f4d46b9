/**
 * A log on a simulated disk that loses what was not synced, in order, and whose entries can be made unreadable.
 *
 * The disk is an image and the writes since the last sync; a crash keeps the image and a random number of the first of
 * those writes. A damaged entry of the image stays known as unreadable (a mark vouches for it); a damaged or missing
 * write that was never synced is a torn tail and is cut.
 */
import { assert } from "../../../engine/base/assert.ts";
import type { SeededRandom } from "../../../engine/base/random.ts";
import type { ReplicatedEntry, Slot } from "../../../engine/replication/entry_header.ts";
import type { ReplicatedLog } from "../../../engine/replication/ports.ts";

type DiskSlot = ReplicatedEntry | "damaged";

type Write =
  | { readonly kind: "entry"; readonly entry: ReplicatedEntry }
  | { readonly kind: "truncate"; readonly op: number };

const ABSENT: Slot = { kind: "absent" };
const UNREADABLE: Slot = { kind: "unreadable" };

function perform(slots: DiskSlot[], write: Write): void {
  if (write.kind === "truncate") slots.length = Math.min(slots.length, write.op);
  else slots[write.entry.header.op - 1] = write.entry;
}

/** The disk of a member, which outlives its process. */
export class ToyDisk {
  readonly image: DiskSlot[] = [];
  unsynced: Write[] = [];

  /** The process is killed: some of what was not synced is lost. */
  crash(random: SeededRandom): void {
    const kept = random.between(0, this.unsynced.length);
    for (const write of this.unsynced.slice(0, kept)) perform(this.image, write);
    this.unsynced = [];
  }

  /** Makes the entry of the op unreadable; whether there was one. */
  damage(op: number): boolean {
    const slot = this.image[op - 1];
    if (slot === undefined || slot === "damaged") return false;
    this.image[op - 1] = "damaged";
    return true;
  }
}

/** The log of one life of a member. */
export class ToyLog implements ReplicatedLog {
  readonly #disk: ToyDisk;
  readonly #slots: DiskSlot[];

  constructor(disk: ToyDisk) {
    this.#disk = disk;
    assert(disk.unsynced.length === 0, "a disk is recovered after its crash");
    this.#slots = [...disk.image];
  }

  get lastOp(): number {
    return this.#slots.length;
  }

  slot(op: number): Slot {
    const slot = this.#slots[op - 1];
    if (slot === undefined) return ABSENT;
    return slot === "damaged" ? UNREADABLE : { kind: "present", header: slot.header };
  }

  read(op: number): ReplicatedEntry | null {
    const slot = this.#slots[op - 1];
    return slot === undefined || slot === "damaged" ? null : slot;
  }

  write(entry: ReplicatedEntry): void {
    const { op } = entry.header;
    assert(
      op <= this.lastOp + 1 && this.slot(op).kind !== "present",
      `cannot write op ${op} after ${this.lastOp}`,
    );
    this.#perform({ kind: "entry", entry });
  }

  truncateAfter(op: number): void {
    if (op < this.lastOp) this.#perform({ kind: "truncate", op });
  }

  isDurable(op: number): boolean {
    const slot = this.#slots[op - 1];
    return slot !== undefined && slot !== "damaged" && this.#disk.image[op - 1] === slot;
  }

  /** How many writes a sync that begins now makes durable. */
  get unsyncedCount(): number {
    return this.#disk.unsynced.length;
  }

  /** The sync of the first writes has ended. */
  synced(count: number): void {
    for (const write of this.#disk.unsynced.splice(0, count)) perform(this.#disk.image, write);
  }

  #perform(write: Write): void {
    perform(this.#slots, write);
    this.#disk.unsynced.push(write);
  }
}
