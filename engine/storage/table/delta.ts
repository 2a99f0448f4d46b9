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
import { storageClassOf } from "../../types/sql_type.ts";
import type { ColumnDefinition } from "../../catalog/definitions.ts";
import { type Block, BLOCK_ROWS, type BlockCursor, type Vector } from "../vector.ts";
import { type ColumnReader, ConstantReader, ID_COLUMN, VERSION_COLUMN } from "./column_reader.ts";
import { type BytesSink, createDeltaColumn, type DeltaColumn } from "./delta_column.ts";
import { DeltaIndex, type IndexedSlots } from "./delta_index.ts";
import { IdMap } from "./id_map.ts";
import { IndexKeyEncoder, type KeyBounds } from "./index_key.ts";
import {
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

/** A delta; see the head of the file. */
export class Delta implements Part, IndexedSlots {
  readonly number: number;
  from = 0;
  until = Infinity;
  readonly #shape: TableShape;
  #capacity = 0;
  #slotCount = 0;
  #liveCount = 0;
  #ids = new Float64Array(0);
  #bigIds: Map<number, bigint> | null = null;
  #begins = new Float64Array(0);
  #ends = new Float64Array(0);
  #previous: Int32Array | null = null;
  /** By block of slots: the last op that touched it, and whether a version in it ever ended. */
  #blockOps = new Float64Array(0);
  #blockEnded = new Uint8Array(0);
  readonly #map: IdMap;
  /** By column id. */
  readonly #columns: (DeltaColumn | undefined)[] = [];
  /** In the order of row values. */
  #order: DeltaColumn[] = [];
  /** By column id: where its value stands in row values. */
  #positions: (number | undefined)[] = [];
  #indexes: DeltaIndex[] = [];
  #idIndex: DeltaIndex | null = null;
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
    let bytes = this.#capacity * 24 + (this.#previous?.byteLength ?? 0) + this.#map.bytes;
    for (const column of this.#columns) if (column !== undefined) bytes += column.bytes;
    for (const index of this.#indexes) bytes += index.bytes;
    return bytes + (this.#idIndex?.bytes ?? 0);
  }

  /** Takes the table's live columns; those not known yet are added, with the missing value in all present slots. */
  setColumns(columns: readonly ColumnDefinition[]): void {
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
    this.#indexes = indexes.map(({ indexId, encoder }) => {
      const present = this.#indexes.find((candidate) => candidate.indexId === indexId);
      if (present !== undefined) return present;
      const index = new DeltaIndex(indexId, encoder, this);
      index.addRange(0, this.#slotCount);
      return index;
    });
  }

  #reserve(slots: number): void {
    if (slots <= this.#capacity) return;
    const capacity = Math.max(slots, MINIMUM_CAPACITY, Math.ceil(this.#capacity * 1.6));
    const ids = new Float64Array(capacity);
    const begins = new Float64Array(capacity);
    const ends = new Float64Array(capacity);
    ids.set(this.#ids);
    begins.set(this.#begins);
    ends.set(this.#ends);
    this.#ids = ids;
    this.#begins = begins;
    this.#ends = ends;
    if (this.#previous !== null) {
      const previous = new Int32Array(capacity).fill(-1);
      previous.set(this.#previous);
      this.#previous = previous;
    }
    const blocks = (capacity >> BLOCK_SHIFT) + 1;
    const blockOps = new Float64Array(blocks);
    const blockEnded = new Uint8Array(blocks);
    blockOps.set(this.#blockOps);
    blockEnded.set(this.#blockEnded);
    this.#blockOps = blockOps;
    this.#blockEnded = blockEnded;
    this.#capacity = capacity;
    this.#map.idsMoved(ids);
    for (const column of this.#columns) column?.grow(capacity);
  }

  /** The newest version of the row when it has not ended, else -1. */
  liveRow(id: RowId): number {
    const slot = this.#map.get(id);
    return slot >= 0 && this.#begins[slot] !== Infinity && this.#ends[slot] === Infinity ? slot : -1;
  }

  /** Adds a version of a row that has no live version here. */
  insert(op: number, id: RowId, values: StoredRow): void {
    assert(
      values.length === this.#order.length,
      `a row of ${this.#order.length} values, not ${values.length}`,
    );
    const newest = this.#map.get(id);
    assert(newest < 0 || this.#ends[newest] !== Infinity, `row ${id} exists already`);
    let slot: number;
    if (newest >= 0 && this.#begins[newest] === Infinity) {
      slot = newest;
    } else {
      slot = this.#takeSlot();
      this.#setId(slot, id);
      if (newest >= 0) this.#chain(slot, newest);
      else {
        if (this.#previous !== null) this.#previous[slot] = -1;
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
    if (typeof id === "number") {
      this.#ids[slot] = id;
      if (this.#bigIds !== null) this.#bigIds.delete(slot);
      return;
    }
    this.#ids[slot] = NaN;
    this.#bigIds ??= new Map();
    this.#bigIds.set(slot, id);
  }

  #chain(slot: number, older: number): void {
    this.#previous ??= new Int32Array(this.#capacity).fill(-1);
    this.#previous[slot] = older;
    this.#map.move(this.idAt(slot), slot);
  }

  #write(op: number, slot: number, values: StoredRow): void {
    const order = this.#order;
    for (let index = 0; index < order.length; index++) {
      (order[index] as DeltaColumn).set(slot, values[index] as StoredValue);
    }
    this.#begins[slot] = op;
    this.#ends[slot] = Infinity;
    this.#liveCount++;
    this.#blockOps[slot >> BLOCK_SHIFT] = op;
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
    const order = this.#order;
    const indexes = this.#indexes;
    if (indexes.length === 0) {
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
    this.#begins[slot] = op;
    this.#blockOps[slot >> BLOCK_SHIFT] = op;
  }

  markEnd(slot: number, op: number): void {
    assert(this.#ends[slot] === Infinity, "a version ends once");
    this.#ends[slot] = op;
    this.#liveCount--;
    const block = slot >> BLOCK_SHIFT;
    this.#blockOps[block] = op;
    this.#blockEnded[block] = 1;
    this.#ended.push(slot);
  }

  /** Reclaims versions that no snapshot from `oldestSnapshot` on can see. Not for frozen deltas. */
  reclaim(oldestSnapshot: number): void {
    const ended = this.#ended;
    let head = this.#endedHead;
    while (head < ended.length && (this.#ends[ended[head] as number] as number) <= oldestSnapshot) {
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
    for (const index of this.#indexes) index.remove(slot);
    this.#idIndex?.remove(slot);
    const id = this.idAt(slot);
    const newest = this.#map.get(id);
    // Older versions ended earlier and are gone: the slot is the last of its chain.
    if (newest === slot) this.#map.remove(id);
    else if (this.#previous !== null) {
      let newer = newest;
      while (newer >= 0 && this.#previous[newer] !== slot) newer = this.#previous[newer] as number;
      if (newer >= 0) this.#previous[newer] = -1;
    }
    this.#begins[slot] = Infinity;
    if (!this.#map.inRun(slot)) this.#free.push(slot);
  }

  /** Makes room for so many new rows, so that several batches do not grow the columns one after the other. */
  expect(rows: number): void {
    this.#reserve(this.#slotCount + rows);
  }

  /** Adds many new rows; their columns are in the order of row values. */
  appendBatch(op: number, batch: RowBatch): void {
    const count = batch.rowCount;
    assert(batch.columns.length === this.#order.length, "a batch has the table's columns");
    if (count === 0) return;
    const first = this.#slotCount;
    const end = first + count;
    this.#reserve(end);
    this.#slotCount = end;
    this.#ids.set(batch.ids.subarray(0, count), first);
    this.#begins.fill(op, first, end);
    this.#ends.fill(Infinity, first, end);
    if (this.#previous !== null) this.#previous.fill(-1, first, end);
    for (let index = 0; index < this.#order.length; index++) {
      const source = batch.columns[index];
      assert(source !== undefined, "a batch has the table's columns");
      (this.#order[index] as DeltaColumn).append(first, source, count);
    }
    this.#blockOps.fill(op, first >> BLOCK_SHIFT, ((end - 1) >> BLOCK_SHIFT) + 1);
    this.#liveCount += count;
    this.#linkReplaced(first, end);
    this.#map.addBatch(first, count);
    for (const index of this.#indexes) index.addRange(first, end);
    this.#idIndex?.addRange(first, end);
  }

  /** Chains new slots to ended versions of the same ids. */
  #linkReplaced(first: number, end: number): void {
    if (this.#ended.length === 0) return;
    for (let slot = first; slot < end; slot++) {
      const older = this.#map.get(this.#ids[slot] as number);
      if (older >= 0 && this.#begins[older] !== Infinity) {
        this.#previous ??= new Int32Array(this.#capacity).fill(-1);
        this.#previous[slot] = older;
      }
    }
  }

  visibleRow(id: RowId, snapshot: number): number {
    let slot = this.#map.get(id);
    while (slot >= 0) {
      if ((this.#begins[slot] as number) <= snapshot) {
        return snapshot < (this.#ends[slot] as number) ? slot : -1;
      }
      slot = this.#previous === null ? -1 : this.#previous[slot] as number;
    }
    return -1;
  }

  idAt(slot: number): RowId {
    const id = this.#ids[slot] as number;
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
    return this.#begins[slot] as number;
  }

  endOp(slot: number): number {
    return this.#ends[slot] as number;
  }

  *endedAfter(op: number): Generator<number> {
    // Ends are noted in their order.
    const ended = this.#ended;
    let from = ended.length;
    while (from > this.#endedHead && (this.#ends[ended[from - 1] as number] as number) > op) from--;
    for (; from < ended.length; from++) yield ended[from] as number;
  }

  isVisible(slot: number, snapshot: number): boolean {
    return (this.#begins[slot] as number) <= snapshot && snapshot < (this.#ends[slot] as number);
  }

  isOccupied(slot: number): boolean {
    return this.#begins[slot] !== Infinity;
  }

  indexedValue(slot: number, columnId: number): StoredValue {
    return columnId === 0 ? this.idAt(slot) : this.valueAt(slot, columnId);
  }

  compareSlots(left: number, right: number): number {
    const a = this.#ids[left] as number;
    const b = this.#ids[right] as number;
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
      this.#idIndex.addRange(0, this.#slotCount);
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
    return { kind: "number", data: this.#ids.subarray(from, to), nulls: null, big };
  }

  #hidden(from: number, to: number, snapshot: number): Uint8Array | null {
    const block = from >> BLOCK_SHIFT;
    if (this.#blockEnded[block] === 0 && (this.#blockOps[block] as number) <= snapshot) return null;
    const begins = this.#begins;
    const ends = this.#ends;
    const hidden = new Uint8Array(to - from);
    let any = 0;
    for (let slot = from; slot < to; slot++) {
      const invisible = (begins[slot] as number) > snapshot || snapshot >= (ends[slot] as number) ? 1 : 0;
      hidden[slot - from] = invisible;
      any |= invisible;
    }
    return any === 0 ? null : hidden;
  }
}

/** Reads an array of numbers without NULLs. */
class SlotReader implements ColumnReader {
  readonly #data: Float64Array;
  readonly #big: ReadonlyMap<number, bigint> | null;

  constructor(data: Float64Array, big: ReadonlyMap<number, bigint> | null) {
    this.#data = data;
    this.#big = big;
  }

  isNull(_slot: number): boolean {
    return false;
  }

  numberAt(slot: number): number {
    return this.#data[slot] as number;
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
  readonly #nulls: Uint8Array | null;
  readonly #data: Float64Array;

  constructor(column: DeltaColumn) {
    this.#column = column;
    this.#nulls = column.nulls;
    this.#data = column.kind === "number" ? column.data : new Float64Array(0);
  }

  isNull(slot: number): boolean {
    return this.#nulls !== null && this.#nulls[slot] === 1;
  }

  numberAt(slot: number): number {
    return this.#data[slot] as number;
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
