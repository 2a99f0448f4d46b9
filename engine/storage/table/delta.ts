/**
 * The mutable part of a table: row versions in slots of growable columns, with the op numbers at which each version
 * begins and ends, the older version of the same row, a map from id to newest slot, and sorted indexes.
 *
 * A snapshot S sees the version with begin ≤ S < end. A version that ended is reclaimed once no open snapshot is older
 * than its end; its slot is then given to the next new version. When no open snapshot can see the version that an
 * update replaces, the update happens in place. Slots that ended wait for reclamation in the order of their ends.
 *
 * A frozen delta takes no new versions, only ends. Invariants: the chain from a newest slot leads to ever older
 * versions; an empty slot has begin = Infinity; every occupied slot is in every index exactly once. Limit: 2^31 slots.
 */
import { assert } from "../../base/assert.ts";
import type { RowBatch, RowId, StoredRow, StoredValue } from "../../operations/effect.ts";
import { storageClassOf } from "../../types/physical_type.ts";
import type { ColumnDefinition } from "../../catalog/definitions.ts";
import { type Block, BLOCK_ROWS, type BlockCursor } from "../access/block.ts";
import type { BytesSink } from "../access/readable_table.ts";
import type { Vector } from "../access/vector.ts";
import { type ColumnReader, ConstantReader, ID_COLUMN, VERSION_COLUMN } from "./column_reader.ts";
import {
  CHUNK_MASK,
  CHUNK_ROWS,
  CHUNK_SHIFT,
  createDeltaColumn,
  type DeltaColumn,
  eachPiece,
  growNumbers,
} from "./delta_column.ts";
import { DeltaIndex, type IndexedSlots } from "./delta_index.ts";
import { IdMap } from "./id_map.ts";
import { IndexKeyEncoder, type KeyBounds } from "./index_key.ts";
import {
  DRAINED,
  type IndexKeys,
  type Part,
  PART_ROWS,
  type PartIndexCursor,
  type PartScan,
  ROW_ID_INDEX,
  type TableShape,
} from "./part.ts";

const MINIMUM_CAPACITY = 64;
const BLOCK_SHIFT = 12;
/** Of so many rows the index by id is made on demand. */
const SORTED_AT_ONCE = 4096;
/** Versions reclaimed for one that is written. */
const RECLAIMED_AT_ONCE = 8;

/** A delta; see the head of the file. */
export class Delta implements Part, IndexedSlots {
  readonly number: number;
  from = 0;
  until = Infinity;
  readonly #shape: TableShape;
  #capacity = 0;
  #slotCount = 0;
  #liveCount = 0;
  /** By chunk, as the columns are. */
  readonly #ids: Float64Array[] = [];
  #bigIds: Map<number, bigint> | null = null;
  readonly #begins: Float64Array[] = [];
  readonly #ends: Float64Array[] = [];
  /** By chunk: the next older version of each slot's row, or -1; null where no slot of the chunk has one. */
  readonly #previous: (Int32Array | null)[] = [];
  /** By block of slots: the last op that touched it, and whether a version in it ever ended. */
  readonly #blockOps: number[] = [];
  readonly #blockEnded: boolean[] = [];
  readonly #map: IdMap;
  /** By column id. */
  readonly #columns: (DeltaColumn | undefined)[] = [];
  /** In the order of row values. */
  #order: DeltaColumn[] = [];
  /** By column id: where its value is in row values. */
  #positions: (number | undefined)[] = [];
  #indexes: DeltaIndex[] = [];
  #idIndex: DeltaIndex | null = null;
  /** true: indexes keep rows that come in bulk apart until {@link settleInSteps}; see `TableStore.beginEntry`. */
  holdsRanges = false;
  /** true: nothing is in the indexes, and all of it comes in when one is used; see {@link deferIndexes}. */
  #defersIndexes = false;
  /** Whether {@link settleStep} may have begun something. */
  #isSorting = false;
  #free: number[] = [];
  #ended: number[] = [];
  #endedHead = 0;

  constructor(number: number, shape: TableShape) {
    this.number = number;
    this.#shape = shape;
    this.#map = new IdMap(this.#ids);
  }

  /** Slots given out so far, reclaimed ones included. */
  get slotCount(): number {
    return this.#slotCount;
  }

  /** Versions that have not ended. */
  get liveCount(): number {
    return this.#liveCount;
  }

  get rowLimit(): number {
    return this.#slotCount;
  }

  get memoryBytes(): number {
    let bytes = this.#capacity * 24 + this.#map.bytes;
    for (const chunk of this.#previous) bytes += chunk?.byteLength ?? 0;
    for (const column of this.#columns) if (column !== undefined) bytes += column.bytes;
    for (const index of this.#indexes) bytes += index.bytes;
    return bytes + (this.#idIndex?.bytes ?? 0);
  }

  /** Takes the table's live columns; those not known yet are added, with the missing value in all present slots. */
  setColumns(columns: readonly ColumnDefinition[]): void {
    this.#endSorting();
    this.#positions = [];
    columns.forEach((definition, position) => this.#positions[definition.id] = position);
    this.#order = columns.map((definition) => {
      const present = this.#columns[definition.id];
      if (present !== undefined) return present;
      const column = createDeltaColumn(definition.id, storageClassOf(definition.type), this.#capacity);
      column.fill(this.#slotCount, definition.missingValue);
      this.#columns[definition.id] = column;
      return column;
    });
  }

  /** Takes the table's indexes; those not known yet are built. */
  setIndexes(indexes: readonly IndexKeys[]): void {
    this.#endSorting();
    this.#indexes = indexes.map(({ indexId, encoder }) => {
      const present = this.#indexes.find((candidate) => candidate.indexId === indexId);
      if (present !== undefined) return present;
      const index = new DeltaIndex(indexId, encoder, this);
      if (!this.#defersIndexes) index.addRange(0, this.#slotCount, this.holdsRanges);
      return index;
    });
  }

  /**
   * From now on rows are not put into the indexes one by one, until they are used or settled: then all are
   * sorted at once. For an empty delta, which is not read while the log is replayed.
   */
  deferIndexes(): void {
    assert(this.#slotCount === 0, "indexes are deferred from the first row on");
    this.#defersIndexes = true;
  }

  /**
   * Notes for the indexes the rows that {@link deferIndexes} has kept from them; they are sorted in when an index is
   * used, or in steps.
   */
  noteDeferred(): void {
    if (!this.#defersIndexes) return;
    this.#defersIndexes = false;
    for (const index of this.#indexes) index.addRange(0, this.#slotCount, false);
  }

  /** Sorts rows that came in bulk into the indexes, where more than `limit` wait for it. */
  settle(limit: number): void {
    this.noteDeferred();
    for (const index of this.#indexes) if (index.pendingCount > limit) index.settle();
    if (this.#idIndex !== null && this.#idIndex.pendingCount > limit) this.#idIndex.settle();
  }

  /** Whether rows wait to be sorted into indexes. */
  get hasUnsorted(): boolean {
    return this.#indexes.some((index) => index.pendingCount > 0);
  }

  /** Sorts some of them. */
  settleStep(): void {
    const index = this.#indexes.find((each) => each.pendingCount > 0);
    if (index === undefined) return;
    this.#isSorting = true;
    index.settleStep();
  }

  /** Before rows change: ends what {@link settleStep} has begun. */
  #endSorting(): void {
    if (!this.#isSorting) return;
    this.#isSorting = false;
    for (const index of this.#indexes) index.endStep();
  }

  /** Sorts into the indexes, in steps, what they keep apart. Nothing else is added or removed meanwhile. */
  *settleInSteps(): Generator<void, void> {
    this.#endSorting();
    this.noteDeferred();
    for (const index of this.#indexes) yield* index.settleInSteps();
    if (this.#idIndex !== null) yield* this.#idIndex.settleInSteps();
    else if (this.#liveCount > SORTED_AT_ONCE) {
      // Whoever reads by ranges of ids later would have to make it at once. Readers in between make their own.
      const index = new DeltaIndex(ROW_ID_INDEX, IndexKeyEncoder.forRowIds(), this);
      index.addRange(0, this.#slotCount, true);
      yield* index.settleInSteps();
      this.#idIndex ??= index;
    }
  }

  #reserve(slots: number): void {
    if (slots <= this.#capacity) return;
    const capacity = slots > CHUNK_ROWS
      ? Math.ceil(slots / CHUNK_ROWS) * CHUNK_ROWS
      : Math.min(CHUNK_ROWS, Math.max(slots, MINIMUM_CAPACITY, this.#capacity * 2));
    growNumbers(this.#ids, capacity);
    growNumbers(this.#begins, capacity);
    growNumbers(this.#ends, capacity);
    while (this.#previous.length < this.#ids.length) this.#previous.push(null);
    const [previous, ids] = [this.#previous[0], this.#ids[0]];
    if (previous !== undefined && previous !== null && ids !== undefined && previous.length < ids.length) {
      const larger = new Int32Array(ids.length).fill(-1);
      larger.set(previous);
      this.#previous[0] = larger;
    }
    const blocks = (capacity >> BLOCK_SHIFT) + 1;
    while (this.#blockOps.length < blocks) {
      this.#blockOps.push(0);
      this.#blockEnded.push(false);
    }
    this.#capacity = capacity;
    for (const column of this.#columns) column?.grow(capacity);
  }

  #begin(slot: number): number {
    return (this.#begins[slot >>> CHUNK_SHIFT] as Float64Array)[slot & CHUNK_MASK] as number;
  }

  #end(slot: number): number {
    return (this.#ends[slot >>> CHUNK_SHIFT] as Float64Array)[slot & CHUNK_MASK] as number;
  }

  #setBegin(slot: number, op: number): void {
    (this.#begins[slot >>> CHUNK_SHIFT] as Float64Array)[slot & CHUNK_MASK] = op;
  }

  #setEnd(slot: number, op: number): void {
    (this.#ends[slot >>> CHUNK_SHIFT] as Float64Array)[slot & CHUNK_MASK] = op;
  }

  /** The next older version of the slot's row, or -1. */
  #older(slot: number): number {
    const chunk = this.#previous[slot >>> CHUNK_SHIFT] as Int32Array | null;
    return chunk === null ? -1 : chunk[slot & CHUNK_MASK] as number;
  }

  #setOlder(slot: number, older: number): void {
    const number = slot >>> CHUNK_SHIFT;
    let chunk = this.#previous[number] as Int32Array | null;
    if (chunk === null) {
      if (older < 0) return;
      chunk = new Int32Array((this.#ids[number] as Float64Array).length).fill(-1);
      this.#previous[number] = chunk;
    }
    chunk[slot & CHUNK_MASK] = older;
  }

  /** The newest version of the row when it has not ended, else -1. */
  liveRow(id: RowId): number {
    const slot = this.#map.get(id);
    return this.isLive(slot) ? slot : -1;
  }

  /** The newest version of the row, ended or not, or -1. */
  newestRow(id: RowId): number {
    return this.#map.get(id);
  }

  /** Whether the slot, which may be -1, holds a version that has not ended. */
  isLive(slot: number): boolean {
    return slot >= 0 && this.#begin(slot) !== Infinity && this.#end(slot) === Infinity;
  }

  /** Adds a version of a row that has no live version here; `newest` is what {@link newestRow} says. */
  insert(op: number, id: RowId, values: StoredRow, newest = this.#map.get(id)): void {
    assert(
      values.length === this.#order.length,
      `a row of ${this.#order.length} values, not ${values.length}`,
    );
    assert(newest < 0 || this.#end(newest) !== Infinity, `row ${id} exists already`);
    this.#endSorting();
    let slot: number;
    if (newest >= 0 && this.#begin(newest) === Infinity) {
      slot = newest;
    } else {
      slot = this.#takeSlot();
      this.#setId(slot, id);
      if (newest >= 0) this.#chain(slot, newest);
      else {
        this.#setOlder(slot, -1);
        this.#map.add(id, slot);
      }
    }
    this.#write(op, slot, values);
  }

  #takeSlot(): number {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const slot = this.#slotCount;
    this.#reserve(slot + 1);
    this.#slotCount = slot + 1;
    return slot;
  }

  #setId(slot: number, id: RowId): void {
    const ids = this.#ids[slot >>> CHUNK_SHIFT] as Float64Array;
    if (typeof id === "number") {
      ids[slot & CHUNK_MASK] = id;
      if (this.#bigIds !== null) this.#bigIds.delete(slot);
      return;
    }
    ids[slot & CHUNK_MASK] = NaN;
    this.#bigIds ??= new Map();
    this.#bigIds.set(slot, id);
  }

  #chain(slot: number, older: number): void {
    this.#setOlder(slot, older);
    this.#map.move(this.idAt(slot), slot);
  }

  #write(op: number, slot: number, values: StoredRow): void {
    const order = this.#order;
    for (let index = 0; index < order.length; index++) {
      (order[index] as DeltaColumn).set(slot, values[index] as StoredValue);
    }
    this.#setBegin(slot, op);
    this.#setEnd(slot, Infinity);
    this.#liveCount++;
    this.#blockOps[slot >> BLOCK_SHIFT] = op;
    if (this.#defersIndexes) return;
    for (let index = 0; index < this.#indexes.length; index++) (this.#indexes[index] as DeltaIndex).add(slot);
    if (this.#idIndex !== null) this.#idIndex.add(slot);
  }

  /** Replaces a live version; in place when no snapshot from `oldestSnapshot` on can see it. */
  update(op: number, slot: number, values: StoredRow, oldestSnapshot: number): void {
    if (oldestSnapshot < op) {
      const id = this.idAt(slot);
      this.markEnd(slot, op);
      this.insert(op, id, values);
      return;
    }
    assert(
      values.length === this.#order.length,
      `a row of ${this.#order.length} values, not ${values.length}`,
    );
    this.#endSorting();
    const order = this.#order;
    const indexes = this.#indexes;
    if (indexes.length === 0 || this.#defersIndexes) {
      for (let index = 0; index < order.length; index++) {
        (order[index] as DeltaColumn).set(slot, values[index] as StoredValue);
      }
    } else {
      const moved = indexes.filter((index) => !index.keeps(slot, values, this.#positions));
      for (const index of moved) index.remove(slot);
      for (let index = 0; index < order.length; index++) {
        (order[index] as DeltaColumn).set(slot, values[index] as StoredValue);
      }
      for (const index of moved) index.add(slot);
    }
    this.#setBegin(slot, op);
    this.#blockOps[slot >> BLOCK_SHIFT] = op;
  }

  markEnd(slot: number, op: number): void {
    assert(this.#end(slot) === Infinity, "a version ends once");
    this.#setEnd(slot, op);
    this.#liveCount--;
    const block = slot >> BLOCK_SHIFT;
    this.#blockOps[block] = op;
    this.#blockEnded[block] = true;
    this.#ended.push(slot);
  }

  /**
   * Reclaims some of the versions that no snapshot from `oldestSnapshot` on can see, the oldest ones first: a few for
   * each version that is written, so that no statement waits for many. Not for frozen deltas.
   */
  reclaim(oldestSnapshot: number, limit = RECLAIMED_AT_ONCE): void {
    const ended = this.#ended;
    let head = this.#endedHead;
    const stop = Math.min(ended.length, head + limit);
    while (head < stop && this.#end(ended[head] as number) <= oldestSnapshot) {
      this.#reclaimSlot(ended[head] as number);
      head++;
    }
    if (head > 1024 && head * 2 > ended.length) {
      this.#ended = ended.slice(head);
      head = 0;
    } else if (head === ended.length && head > 0) {
      ended.length = 0;
      head = 0;
    }
    this.#endedHead = head;
  }

  #reclaimSlot(slot: number): void {
    this.#endSorting();
    if (!this.#defersIndexes) {
      for (const index of this.#indexes) index.remove(slot);
      this.#idIndex?.remove(slot);
    }
    const id = this.idAt(slot);
    const newest = this.#map.get(id);
    // Older versions ended earlier and are gone: the slot is the last of its chain.
    if (newest === slot) this.#map.remove(id);
    else {
      let newer = newest;
      while (newer >= 0 && this.#older(newer) !== slot) newer = this.#older(newer);
      if (newer >= 0) this.#setOlder(newer, -1);
    }
    this.#setBegin(slot, Infinity);
    if (!this.#map.inRun(slot)) this.#free.push(slot);
  }

  /** Adds many new rows; their columns are in the order of row values. */
  appendBatch(op: number, batch: RowBatch): void {
    const count = batch.rowCount;
    assert(batch.columns.length === this.#order.length, "a batch has the table's columns");
    if (count === 0) return;
    this.#endSorting();
    const first = this.#slotCount;
    const end = first + count;
    this.#reserve(end);
    this.#slotCount = end;
    eachPiece(first, count, (chunk, at, from, piece) => {
      (this.#ids[chunk] as Float64Array).set(batch.ids.subarray(from, from + piece), at);
      (this.#begins[chunk] as Float64Array).fill(op, at, at + piece);
      (this.#ends[chunk] as Float64Array).fill(Infinity, at, at + piece);
    });
    for (let index = 0; index < this.#order.length; index++) {
      const source = batch.columns[index];
      assert(source !== undefined, "a batch has the table's columns");
      (this.#order[index] as DeltaColumn).append(first, source, count);
    }
    for (let block = first >> BLOCK_SHIFT; block <= (end - 1) >> BLOCK_SHIFT; block++) {
      this.#blockOps[block] = op;
    }
    this.#liveCount += count;
    this.#linkReplaced(first, end);
    this.#map.addBatch(first, count);
    if (this.#defersIndexes) return;
    for (const index of this.#indexes) index.addRange(first, end, this.holdsRanges);
    this.#idIndex?.addRange(first, end, this.holdsRanges);
  }

  /** Chains new slots to ended versions of the same ids. */
  #linkReplaced(first: number, end: number): void {
    if (this.#ended.length === 0) return;
    for (let slot = first; slot < end; slot++) {
      const older = this.#map.get(this.idAt(slot));
      if (older >= 0 && this.#begin(older) !== Infinity) this.#setOlder(slot, older);
    }
  }

  visibleRow(id: RowId, snapshot: number): number {
    let slot = this.#map.get(id);
    while (slot >= 0) {
      if (this.#begin(slot) <= snapshot) return snapshot < this.#end(slot) ? slot : -1;
      slot = this.#older(slot);
    }
    return -1;
  }

  idAt(slot: number): RowId {
    const id = (this.#ids[slot >>> CHUNK_SHIFT] as Float64Array)[slot & CHUNK_MASK] as number;
    return id === id ? id : this.#bigIds?.get(slot) ?? id;
  }

  valueAt(slot: number, columnId: number): StoredValue {
    const column = this.#columns[columnId];
    return column === undefined ? this.#shape.missingValue(columnId) : column.get(slot);
  }

  hasColumn(columnId: number): boolean {
    return this.#columns[columnId] !== undefined;
  }

  /** The column itself, for sampling and for building segments. */
  column(columnId: number): DeltaColumn | undefined {
    return this.#columns[columnId];
  }

  columnReader(columnId: number): ColumnReader {
    if (columnId === ID_COLUMN) return new SlotReader(this.#ids, this.#bigIds);
    if (columnId === VERSION_COLUMN) return new SlotReader(this.#begins, null);
    const column = this.#columns[columnId];
    return column === undefined
      ? new ConstantReader(this.#shape.missingValue(columnId))
      : new SlotColumnReader(column);
  }

  bytesAt(slot: number, columnId: number, sink: BytesSink): boolean {
    const column = this.#columns[columnId];
    return column !== undefined && column.bytesAt(slot, sink);
  }

  versionOp(slot: number): number {
    return this.#begin(slot);
  }

  endOp(slot: number): number {
    return this.#end(slot);
  }

  *endedAfter(op: number): Generator<number, void> {
    // Ends are noted in their order. A frozen delta forgets none of them.
    let from = this.#ended.length;
    while (from > this.#endedHead && this.#end(this.#ended[from - 1] as number) > op) from--;
    for (;;) {
      while (from < this.#ended.length) yield this.#ended[from++] as number;
      yield DRAINED;
    }
  }

  isVisible(slot: number, snapshot: number): boolean {
    return this.#begin(slot) <= snapshot && snapshot < this.#end(slot);
  }

  isOccupied(slot: number): boolean {
    return this.#begin(slot) !== Infinity;
  }

  indexedValue(slot: number, columnId: number): StoredValue {
    return columnId === 0 ? this.idAt(slot) : this.valueAt(slot, columnId);
  }

  compareSlots(left: number, right: number): number {
    const a = (this.#ids[left >>> CHUNK_SHIFT] as Float64Array)[left & CHUNK_MASK] as number;
    const b = (this.#ids[right >>> CHUNK_SHIFT] as Float64Array)[right & CHUNK_MASK] as number;
    if (a < b) return -1;
    if (a > b) return 1;
    if (a !== a || b !== b) {
      const x = this.idAt(left);
      const y = this.idAt(right);
      if (x < y) return -1;
      if (x > y) return 1;
    }
    return left - right;
  }

  openIndex(keys: IndexKeys, bounds: KeyBounds, snapshot: number, backward: boolean): PartIndexCursor | null {
    if (this.#slotCount === 0) return null;
    this.noteDeferred();
    if (keys.indexId === ROW_ID_INDEX) return this.#openIdIndex(bounds, snapshot, backward);
    for (let index = 0; index < this.#indexes.length; index++) {
      const candidate = this.#indexes[index] as DeltaIndex;
      if (candidate.indexId === keys.indexId) return candidate.open(bounds, snapshot, backward);
    }
    return null;
  }

  #openIdIndex(bounds: KeyBounds, snapshot: number, backward: boolean): PartIndexCursor | null {
    if (this.#idIndex === null) {
      this.#idIndex = new DeltaIndex(ROW_ID_INDEX, IndexKeyEncoder.forRowIds(), this);
      this.#idIndex.addRange(0, this.#slotCount, false);
    }
    return this.#idIndex.open(bounds, snapshot, backward);
  }

  scan(scan: PartScan): BlockCursor {
    return new DeltaScan(this, scan);
  }

  /** The block of slots from `from`, of a scan that saw `slotCount` slots at its begin. */
  block(from: number, slotCount: number, scan: PartScan): Block {
    const to = Math.min(from + BLOCK_ROWS, slotCount);
    const columns: Vector[] = [];
    for (let index = 0; index < scan.columnIds.length; index++) {
      const columnId = scan.columnIds[index] as number;
      const column = this.#columns[columnId];
      columns.push(
        column === undefined
          ? { kind: "constant", value: this.#shape.missingValue(columnId) }
          : column.vector(from, to),
      );
    }
    return {
      rowCount: to - from,
      firstLocation: this.number * PART_ROWS + from,
      ids: scan.ids ? this.#idVector(from, to) : null,
      columns,
      hidden: this.#hidden(from, to, scan.snapshot),
    };
  }

  #idVector(from: number, to: number): Vector {
    let big: Map<number, bigint> | null = null;
    if (this.#bigIds !== null) {
      big = new Map();
      for (const [slot, id] of this.#bigIds) if (slot >= from && slot < to) big.set(slot - from, id);
    }
    return { kind: "number", data: blockOf(this.#ids, from, to), nulls: null, big };
  }

  #hidden(from: number, to: number, snapshot: number): Uint8Array | null {
    const block = from >> BLOCK_SHIFT;
    if (this.#blockEnded[block] === false && (this.#blockOps[block] as number) <= snapshot) return null;
    const begins = blockOf(this.#begins, from, to);
    const ends = blockOf(this.#ends, from, to);
    const hidden = new Uint8Array(to - from);
    let any = 0;
    for (let row = 0; row < hidden.length; row++) {
      const invisible = (begins[row] as number) > snapshot || snapshot >= (ends[row] as number) ? 1 : 0;
      hidden[row] = invisible;
      any |= invisible;
    }
    return any === 0 ? null : hidden;
  }
}

/** The numbers of a block of slots, which lies in one chunk. */
function blockOf(chunks: readonly Float64Array[], from: number, to: number): Float64Array {
  const at = from & CHUNK_MASK;
  return (chunks[from >>> CHUNK_SHIFT] as Float64Array).subarray(at, at + to - from);
}

/** Reads chunks of numbers without NULLs. */
class SlotReader implements ColumnReader {
  readonly #data: readonly Float64Array[];
  readonly #big: ReadonlyMap<number, bigint> | null;

  constructor(data: readonly Float64Array[], big: ReadonlyMap<number, bigint> | null) {
    this.#data = data;
    this.#big = big;
  }

  isNull(_slot: number): boolean {
    return false;
  }

  numberAt(slot: number): number {
    return (this.#data[slot >>> CHUNK_SHIFT] as Float64Array)[slot & CHUNK_MASK] as number;
  }

  bigAt(slot: number): bigint | undefined {
    return this.#big?.get(slot);
  }

  bytesAt(_slot: number, _sink: BytesSink): void {
    assert(false, "numbers have no bytes");
  }
}

/** Reads a column of a delta. */
class SlotColumnReader implements ColumnReader {
  readonly #column: DeltaColumn;

  constructor(column: DeltaColumn) {
    this.#column = column;
  }

  isNull(slot: number): boolean {
    return this.#column.isNull(slot);
  }

  numberAt(slot: number): number {
    return this.#column.kind === "number" ? this.#column.numberAt(slot) : NaN;
  }

  bigAt(slot: number): bigint | undefined {
    return this.#column.kind === "number" ? this.#column.big?.get(slot) : undefined;
  }

  bytesAt(slot: number, sink: BytesSink): void {
    this.#column.bytesAt(slot, sink);
  }
}

class DeltaScan implements BlockCursor {
  readonly #delta: Delta;
  readonly #scan: PartScan;
  readonly #slotCount: number;
  #next = 0;

  constructor(delta: Delta, scan: PartScan) {
    this.#delta = delta;
    this.#scan = scan;
    this.#slotCount = delta.slotCount;
  }

  next(): Block | null {
    if (this.#next >= this.#slotCount) return null;
    const block = this.#delta.block(this.#next, this.#slotCount, this.#scan);
    this.#next += BLOCK_ROWS;
    return block;
  }
}
