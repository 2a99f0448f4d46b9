/**
 * From row id to slot, for ids in any order: ids that differ in the last three bits only are side by side in one
 * *line* of eight slots, and a {@link SlotHash} finds the line. Ids are mostly used near one another, so that one
 * look into the hash table, which is a miss of the processor's caches in a large one, serves up to eight of them; the
 * line of the last use is remembered.
 *
 * Dense ids take 7 to 9 bytes each, scattered ones about 55. Lines that become empty are used again.
 */
import { CHUNK_MASK, CHUNK_ROWS, CHUNK_SHIFT, chunkLength, growNumbers } from "./delta_column.ts";
import { SlotHash } from "./slot_hash.ts";

const LINE_SHIFT = 3;
const LINE_SLOTS = 1 << LINE_SHIFT;
const LINE_MASK = LINE_SLOTS - 1;
const FIRST_LINES = 16;

/**
 * From row id to slot, for ids in any order: ids that differ in the last three bits only are side by side in one
 * *line* of eight slots, and a {@link SlotHash} finds the line. Ids are numbers.
 */
export class SlotGroups {
  /** By line, in chunks: the ids' common part. */
  readonly #groups: Float64Array[] = [];
  /** By line, in chunks: slots plus one; 0 where there is none. */
  readonly #slots: Int32Array[] = [];
  readonly #lineOf = new SlotHash(this.#groups);
  #lines = 0;
  #capacity = 0;
  readonly #free: number[] = [];
  #lastGroup = NaN;
  #lastLine = -1;
  #size = 0;

  /** Ids that have a slot. */
  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return this.#capacity * (8 + LINE_SLOTS * 4) + this.#lineOf.bytes;
  }

  /** The line of a group, or -1. */
  #find(group: number): number {
    if (group === this.#lastGroup) return this.#lastLine;
    this.#lastGroup = group;
    return this.#lastLine = this.#lineOf.get(group);
  }

  /** The slot noted for the id, or -1. */
  get(id: number): number {
    if (this.#size === 0) return -1;
    const line = this.#find(Math.floor(id / LINE_SLOTS));
    if (line < 0 || !Number.isInteger(id)) return -1;
    const slots = this.#slots[line >>> CHUNK_SHIFT] as Int32Array;
    return (slots[((line & CHUNK_MASK) << LINE_SHIFT) | (id & LINE_MASK)] as number) - 1;
  }

  /** Notes the slot for the id, an integer, in place of the one noted before. */
  put(id: number, slot: number): void {
    const group = Math.floor(id / LINE_SLOTS);
    let line = this.#find(group);
    if (line < 0) line = this.#addLine(group);
    const slots = this.#slots[line >>> CHUNK_SHIFT] as Int32Array;
    const at = ((line & CHUNK_MASK) << LINE_SHIFT) | (id & LINE_MASK);
    if (slots[at] === 0) this.#size++;
    slots[at] = slot + 1;
  }

  #addLine(group: number): number {
    const line = this.#free.pop() ?? this.#lines++;
    if (line >= this.#capacity) this.#grow();
    (this.#groups[line >>> CHUNK_SHIFT] as Float64Array)[line & CHUNK_MASK] = group;
    this.#lineOf.put(group, line);
    this.#lastGroup = group;
    return this.#lastLine = line;
  }

  #grow(): void {
    this.#capacity = this.#capacity < CHUNK_ROWS
      ? Math.max(FIRST_LINES, this.#capacity * 2)
      : this.#capacity + CHUNK_ROWS;
    growNumbers(this.#groups, this.#capacity);
    const length = chunkLength(this.#capacity) * LINE_SLOTS;
    const [first] = this.#slots;
    if (first !== undefined && first.length < length) {
      const larger = new Int32Array(length);
      larger.set(first);
      this.#slots[0] = larger;
    }
    while (this.#slots.length < this.#groups.length) this.#slots.push(new Int32Array(length));
  }

  /** Forgets the id, if it is there. */
  remove(id: number): void {
    if (this.get(id) < 0) return;
    const group = this.#lastGroup;
    const line = this.#lastLine;
    const slots = this.#slots[line >>> CHUNK_SHIFT] as Int32Array;
    const from = (line & CHUNK_MASK) << LINE_SHIFT;
    slots[from | (id & LINE_MASK)] = 0;
    this.#size--;
    for (let at = from; at < from + LINE_SLOTS; at++) if (slots[at] !== 0) return;
    this.#lineOf.remove(group);
    this.#free.push(line);
    this.#lastGroup = NaN;
  }
}
