/**
 * A table as one transaction sees it: the committed rows at its snapshot with its own uncommitted rows laid on top, and
 * every read noted for validation.
 *
 * Locations at or above {@link OVERLAY_BASE} are in the write set: rows first, then (from {@link BATCH_BASE}) the
 * rows of bulk loads one batch after the other. All below belong to the committed table.
 */
import { columnPosition } from "../catalog/catalog.ts";
import type { ColumnDefinition, IndexDefinition, TableDefinition } from "../catalog/definitions.ts";
import { assert, assertDefined, AssertionError } from "../base/assert.ts";
import type { RowBatch, RowId, StoredValue } from "../operations/effect.ts";
import {
  type Block,
  BLOCK_ROWS,
  type BlockCursor,
  NO_ROW,
  type RowLocation,
} from "../storage/access/block.ts";
import type {
  BytesSink,
  ColumnStatistics,
  IndexBounds,
  LocationCursor,
  MakeCondition,
  ReadableTable,
  ZonePredicate,
} from "../storage/access/readable_table.ts";
import type { ScanPiece } from "../storage/access/readable_table.ts";
import type { Vector } from "../storage/access/vector.ts";
import { batchValue, rowOfId } from "./batch_values.ts";
import { type TableWriteSet, vectorOf, type WriteSetRow } from "./write_set.ts";
import type { ReadColumns } from "./read_columns.ts";
import { type ReadPredicate, withinBounds } from "./read_set.ts";
import { compareKeys, comparesDirectly, keyColumns } from "./stored_key.ts";
import { appendAll } from "../base/append_all.ts";

/** First location of the write set: part number 2^20. */
export const OVERLAY_BASE: RowLocation = 2 ** 52;
const BATCH_BASE: RowLocation = OVERLAY_BASE + 2 ** 31;

/** Receives what is read. */
export type ReadTracker = (predicate: ReadPredicate, columns: ReadColumns | null) => void;

/**
 * A table as one transaction sees it: the committed rows at its snapshot with its own uncommitted rows laid on top,
 * and every read noted for validation.
 */
export class TableView implements ReadableTable {
  readonly #definition: TableDefinition;
  readonly #committed: ReadableTable | null;
  /** Columns and indexes of the committed table; null: all, for the definition is the committed one. */
  readonly #committedColumns: ReadonlySet<number> | null;
  readonly #committedIndexes: ReadonlySet<number> | null;
  readonly #writeSet: TableWriteSet | null;
  readonly #track: ReadTracker | null;
  readonly #columns: ReadColumns | null;

  /** `committed` null: the table was created by this transaction. `beneath`: the committed definition. */
  constructor(options: {
    readonly definition: TableDefinition;
    readonly beneath: TableDefinition | null;
    readonly committed: ReadableTable | null;
    readonly writeSet: TableWriteSet | null;
    readonly track: ReadTracker | null;
    /** Hears which columns are read, where that is noted. */
    readonly columns?: ReadColumns | null;
  }) {
    this.#definition = options.definition;
    this.#writeSet = options.writeSet;
    this.#committed = options.writeSet?.truncated ? null : options.committed;
    const { beneath } = options;
    const isSame = beneath === options.definition;
    this.#committedColumns = isSame ? null : new Set(beneath?.columns.map((column) => column.id));
    this.#committedIndexes = isSame ? null : new Set(beneath?.indexes.map((index) => index.id));
    this.#track = options.track;
    this.#columns = options.columns ?? null;
  }

  get estimatedRows(): number {
    const own = this.#writeSet === null ? 0 : this.#writeSet.rows.length + batchRows(this.#writeSet);
    return (this.#committed?.estimatedRows ?? 0) + own;
  }

  exactRowCount(): number | undefined {
    this.#track?.({ kind: "scan", tableId: this.#definition.id, prune: [] }, this.#columns);
    const committed = this.#committed === null ? 0 : this.#committed.exactRowCount();
    if (committed === undefined || this.#writeSet === null) return committed;
    let count = committed + batchRows(this.#writeSet);
    if (this.#committed !== null) count -= this.#writeSet.hiddenCount;
    for (const row of this.#writeSet.rows) {
      count += (row.values === null ? 0 : 1) - (row.existed && this.#committed !== null ? 1 : 0);
    }
    return count;
  }

  statistics(columnId: number): ColumnStatistics | undefined {
    return this.#isCommitted(columnId) ? this.#committed?.statistics(columnId) : undefined;
  }

  find(id: RowId): RowLocation {
    this.#track?.({ kind: "id", tableId: this.#definition.id, id }, this.#columns);
    const writeSet = this.#writeSet;
    if (writeSet !== null) {
      const row = writeSet.byId.get(id);
      if (row !== undefined) return row.values === null ? NO_ROW : OVERLAY_BASE + row.position;
      const inBatch = findInBatches(writeSet.batches, id);
      if (inBatch >= 0) return BATCH_BASE + inBatch;
      if (writeSet.hides(id)) return NO_ROW;
    }
    return this.#committed === null ? NO_ROW : this.#committed.find(id);
  }

  idAt(location: RowLocation): RowId {
    if (location < OVERLAY_BASE) return this.#beneath().idAt(location);
    if (location < BATCH_BASE) return this.#row(location).id;
    const { batch, row } = this.#inBatch(location);
    return batch.ids[row] as number;
  }

  textBytesAt(location: RowLocation, columnId: number, sink: BytesSink): boolean {
    this.#columns?.note(columnId);
    return location < OVERLAY_BASE && this.#isCommitted(columnId) &&
      this.#beneath().textBytesAt(location, columnId, sink);
  }

  /** Whether the committed table has the column. */
  #isCommitted(columnId: number): boolean {
    return this.#committedColumns === null || this.#committedColumns.has(columnId);
  }

  #hasIndex(indexId: number): boolean {
    return this.#committedIndexes === null || this.#committedIndexes.has(indexId);
  }

  valueAt(location: RowLocation, columnId: number): StoredValue {
    this.#columns?.note(columnId);
    if (location < OVERLAY_BASE) {
      return this.#isCommitted(columnId)
        ? this.#beneath().valueAt(location, columnId)
        : this.#column(columnId).missingValue;
    }
    const position = columnPosition(this.#definition, columnId);
    if (location < BATCH_BASE) return this.#row(location).values?.[position] ?? null;
    const { batch, row } = this.#inBatch(location);
    return batchValue(batch, row, position);
  }

  scan(
    columnIds: readonly number[],
    options: { readonly ids: boolean; readonly prune: readonly ZonePredicate[] },
    condition?: MakeCondition,
  ): BlockCursor {
    this.#note({ kind: "scan", tableId: this.#definition.id, prune: options.prune }, condition);
    if (this.#columns !== null) { for (const columnId of columnIds) this.#columns.note(columnId); }
    const committed = this.#committed === null
      ? null
      : this.#scanCommitted(this.#committed, columnIds, options);
    if (this.#writeSet === null) return committed ?? { next: () => null };
    // What the statement writes while it walks over the table is none of the rows.
    const { rows, batches } = this.#writeSet;
    const own = this.#scanWriteSet(this.#writeSet, columnIds, {
      rows: rows.length,
      batches: batches.slice(),
    });
    return { next: () => committed?.next() ?? (own.next().value ?? null) };
  }

  get fileBytes(): number {
    return this.#committed?.fileBytes ?? 0;
  }

  /** None where it has rows, or columns, of its own. */
  pieces(prune: readonly ZonePredicate[]): readonly ScanPiece[] {
    assert(this.#writeSet === null, "what is shared out is committed");
    this.#track?.({ kind: "scan", tableId: this.#definition.id, prune }, null);
    return this.#committed?.pieces?.(prune) ?? [];
  }

  lookup(indexId: number, key: readonly StoredValue[], condition?: MakeCondition): LocationCursor {
    const index = this.#index(indexId);
    this.#trackIndex(index, { prefix: key, low: null, high: null, backward: false }, condition);
    const committed = this.#committed === null
      ? null
      : this.#hasIndex(indexId)
      ? this.#committed.lookup(indexId, key)
      : this.#slowIndexScan(index, { prefix: key, low: null, high: null, backward: false });
    const writeSet = this.#writeSet;
    if (writeSet === null) return committed ?? EMPTY;
    const own = [...writeSet.lookup(index, key)].map((row) => OVERLAY_BASE + row.position);
    if (writeSet.batches.length > 0) {
      if (key.length === index.columns.length && index.unique && !key.includes(null)) {
        const row = writeSet.batchKeys(index).locate(key);
        if (row >= 0) own.push(BATCH_BASE + row);
      } else {
        const bounds = { prefix: key, low: null, high: null, backward: false };
        appendAll(own, this.#batchLocations((values) => withinBounds(values, bounds), index));
      }
    }
    const others = committed === null ? EMPTY : this.#withoutShadowed(committed, this.#committed);
    // Rows with the whole key are equal; those with a part of it come in the order of the rest.
    if (own.length === 0 || key.length === index.columns.length) return concatenate(own, others);
    const compare = this.#keyOrder(index, 1);
    return merge(own.sort(compare), others, compare);
  }

  /** Compares locations by their keys in an index. */
  #keyOrder(index: IndexDefinition, direction: 1 | -1): (a: RowLocation, b: RowLocation) => number {
    const keyAt = (location: RowLocation): StoredValue[] =>
      index.columns.map((part) => this.valueAt(location, part.columnId));
    return (a, b) => direction * compareKeys(this.#definition, index, keyAt(a), keyAt(b));
  }

  range(indexId: number, bounds: IndexBounds, condition?: MakeCondition): LocationCursor {
    const index = this.#index(indexId);
    this.#trackIndex(index, bounds, condition);
    const committed = this.#committed === null
      ? EMPTY
      : this.#hasIndex(indexId)
      ? this.#committed.range(indexId, bounds)
      : this.#slowIndexScan(index, bounds);
    const writeSet = this.#writeSet;
    if (writeSet === null) return committed;
    const keyAt = (location: RowLocation): StoredValue[] =>
      index.columns.map((part) => this.valueAt(location, part.columnId));
    const inRange = (key: readonly StoredValue[]): boolean => withinBounds(key, bounds);
    const own: RowLocation[] = [];
    for (const row of writeSet.rows) {
      const location = OVERLAY_BASE + row.position;
      if (row.values !== null && inRange(keyAt(location))) own.push(location);
    }
    appendAll(own, this.#batchLocations(inRange, index));
    const compare = this.#keyOrder(index, bounds.backward ? -1 : 1);
    return merge(own.sort(compare), this.#withoutShadowed(committed, this.#committed), compare);
  }

  findRange(bounds: IndexBounds, condition?: MakeCondition): LocationCursor {
    this.#note({ kind: "id_range", tableId: this.#definition.id, bounds }, condition);
    const committed = this.#committed?.findRange(bounds) ?? EMPTY;
    const writeSet = this.#writeSet;
    if (writeSet === null) return committed;
    const own = [...this.#ownIds(bounds)];
    const direction = bounds.backward ? -1 : 1;
    const compare = (a: RowLocation, b: RowLocation): number => {
      const left = this.idAt(a), right = this.idAt(b);
      return left < right ? -direction : left > right ? direction : 0;
    };
    return merge(own.sort(compare), this.#withoutShadowed(committed, this.#committed), compare);
  }

  mayHave(indexId: number | null, bounds: IndexBounds): boolean {
    const committed = this.#committed;
    if (indexId !== null || committed?.mayHave === undefined) {
      return (indexId === null ? this.findRange(bounds) : this.range(indexId, bounds)).next() !== NO_ROW;
    }
    this.#track?.({ kind: "id_range", tableId: this.#definition.id, bounds }, this.#columns);
    return committed.mayHave(null, bounds) || this.#ownIds(bounds).next().done !== true;
  }

  /** Where its own rows are whose ids lie in the bounds. */
  *#ownIds(bounds: IndexBounds): Generator<RowLocation, void, void> {
    for (const row of this.#writeSet?.rows ?? []) {
      if (row.values !== null && withinBounds([row.id], bounds)) yield OVERLAY_BASE + row.position;
    }
    let at = BATCH_BASE;
    for (const batch of this.#writeSet?.batches ?? []) {
      for (const id of batch.ids) {
        if (withinBounds([id], bounds)) yield at;
        at++;
      }
    }
  }

  /** Committed blocks, with rows that the write set replaces hidden and columns that only exist here filled in. */
  #scanCommitted(
    committed: ReadableTable,
    columnIds: readonly number[],
    options: { readonly ids: boolean; readonly prune: readonly ZonePredicate[] },
  ): BlockCursor {
    const known = columnIds.filter((id) => this.#isCommitted(id));
    const hidesInBulk = this.#writeSet?.hidesInBulk === true;
    const inner = committed.scan(known, {
      ids: options.ids || hidesInBulk,
      prune: options.prune.filter((prune) => this.#isCommitted(prune.columnId)),
    });
    const shadowed = this.#shadowedLocations(committed);
    if (shadowed.length === 0 && !hidesInBulk && known.length === columnIds.length) return inner;
    return {
      next: () => {
        const block = inner.next();
        return block === null ? null : this.#adapt(block, columnIds, known, shadowed);
      },
    };
  }

  #adapt(
    block: Block,
    columnIds: readonly number[],
    known: readonly number[],
    shadowed: readonly RowLocation[],
  ): Block {
    const columns: Vector[] = columnIds.map((columnId) => {
      const position = known.indexOf(columnId);
      return position >= 0
        ? assertDefined(block.columns[position], "column of a block")
        : { kind: "constant", value: this.#column(columnId).missingValue };
    });
    let hidden = block.hidden;
    let first = lowerBound(shadowed, block.firstLocation);
    if (first < shadowed.length && (shadowed[first] as number) < block.firstLocation + block.rowCount) {
      hidden = hidden === null ? new Uint8Array(block.rowCount) : hidden.slice(0, block.rowCount);
      for (; first < shadowed.length; first++) {
        const row = (shadowed[first] as number) - block.firstLocation;
        if (row >= block.rowCount) break;
        hidden[row] = 1;
      }
    }
    return { ...block, columns, hidden: this.#withBulk(block, hidden) };
  }

  /** The mask of the rows that are hidden, with those that are so in bulk; the block has its ids then. */
  #withBulk({ rowCount, ids }: Block, hidden: Uint8Array | null): Uint8Array | null {
    const writeSet = this.#writeSet;
    if (writeSet === null || !writeSet.hidesInBulk || ids === null) return hidden;
    const mask = hidden === null ? new Uint8Array(rowCount) : hidden.slice(0, rowCount);
    for (let row = 0; row < rowCount; row++) {
      if (mask[row] === 0 && writeSet.hides(idIn(ids, row))) mask[row] = 1;
    }
    return mask;
  }

  *#scanWriteSet(
    writeSet: TableWriteSet,
    columnIds: readonly number[],
    until: { readonly rows: number; readonly batches: readonly RowBatch[] },
  ): Generator<Block, null> {
    // Deleted rows are cut out by splitting, so that a block's locations stay consecutive.
    let run: WriteSetRow[] = [];
    for (let position = 0; position <= until.rows; position++) {
      const row = position < until.rows ? writeSet.rows[position] : undefined;
      if (row !== undefined && row.values !== null) run.push(row);
      if (run.length > 0 && (row === undefined || row.values === null || run.length === BLOCK_ROWS)) {
        yield {
          rowCount: run.length,
          firstLocation: OVERLAY_BASE + (run[0] as WriteSetRow).position,
          ids: vectorOf(run.map((each) => each.id), "int"),
          columns: writeSet.vectors(run, columnIds),
          hidden: null,
        };
        run = [];
      }
    }
    let first = 0;
    for (const batch of until.batches) {
      for (let start = 0; start < batch.rowCount; start += BLOCK_ROWS) {
        const end = Math.min(start + BLOCK_ROWS, batch.rowCount);
        yield {
          rowCount: end - start,
          firstLocation: BATCH_BASE + first + start,
          ids: { kind: "number", data: batch.ids.subarray(start, end), nulls: null, big: null },
          columns: columnIds.map((id) =>
            batchVector(batch, columnPosition(this.#definition, id), start, end)
          ),
          hidden: null,
        };
      }
      first += batch.rowCount;
    }
    return null;
  }

  /** Committed locations that the write set replaces, ascending. */
  #shadowedLocations(committed: ReadableTable): RowLocation[] {
    const result: RowLocation[] = [];
    for (const row of this.#writeSet?.rows ?? []) {
      if (!row.existed) continue;
      const location = committed.find(row.id);
      if (location !== NO_ROW) result.push(location);
    }
    return result.sort((a, b) => a - b);
  }

  #withoutShadowed(cursor: LocationCursor, committed: ReadableTable | null): LocationCursor {
    const writeSet = this.#writeSet;
    if (writeSet === null || committed === null) return cursor;
    if (writeSet.byId.size === 0 && !writeSet.hidesInBulk) return cursor;
    return {
      next: () => {
        for (;;) {
          const location = cursor.next();
          if (location === NO_ROW) return location;
          const id = committed.idAt(location);
          if (!writeSet.byId.has(id) && !writeSet.hides(id)) return location;
        }
      },
    };
  }

  /** An index that only this transaction knows: its committed rows are found by a scan and sorted. */
  #slowIndexScan(index: IndexDefinition, bounds: IndexBounds): LocationCursor {
    const committed = this.#beneath();
    const cursor = committed.scan([], { ids: false, prune: [] });
    const found: RowLocation[] = [];
    const keyAt = (location: RowLocation): StoredValue[] =>
      index.columns.map((part) => this.valueAt(location, part.columnId));
    for (let block = cursor.next(); block !== null; block = cursor.next()) {
      for (let row = 0; row < block.rowCount; row++) {
        if (block.hidden !== null && block.hidden[row] !== 0) continue;
        const location = block.firstLocation + row;
        if (withinBounds(keyAt(location), bounds)) found.push(location);
      }
    }
    const direction = bounds.backward ? -1 : 1;
    found.sort((a, b) => direction * compareKeys(this.#definition, index, keyAt(a), keyAt(b)));
    return concatenate(found, EMPTY);
  }

  #batchLocations(accepts: (key: StoredValue[]) => boolean, index: IndexDefinition): RowLocation[] {
    const result: RowLocation[] = [];
    const positions = index.columns.map((part) => columnPosition(this.#definition, part.columnId));
    let at = 0;
    for (const batch of this.#writeSet?.batches ?? []) {
      for (let row = 0; row < batch.rowCount; row++, at++) {
        if (accepts(positions.map((position) => batchValue(batch, row, position)))) {
          result.push(BATCH_BASE + at);
        }
      }
    }
    return result;
  }

  #note(predicate: ReadPredicate, makeCondition?: MakeCondition): void {
    if (this.#track === null) return;
    // Where columns are not noted, reads may be sent elsewhere, or go on while others write.
    const condition = this.#columns === null ? null : makeCondition?.() ?? null;
    this.#track(condition === null ? predicate : { ...predicate, condition }, this.#columns);
  }

  #trackIndex(index: IndexDefinition, bounds: IndexBounds, condition?: MakeCondition): void {
    if (this.#track === null) return;
    const tableId = this.#definition.id;
    // Rows come in the order of their keys.
    if (this.#columns !== null) { for (const { columnId } of index.columns) this.#columns.note(columnId); }
    if (keyColumns(this.#definition, index).every(comparesDirectly)) {
      const descending = index.columns[bounds.prefix.length]?.descending === true;
      this.#note({
        kind: "index",
        tableId,
        columnIds: index.columns.map((part) => part.columnId),
        bounds: descending ? { ...bounds, low: bounds.high, high: bounds.low } : bounds,
      }, condition);
    } else this.#note({ kind: "scan", tableId, prune: [] }, condition);
  }

  #beneath(): ReadableTable {
    return assertDefined(this.#committed, "committed table");
  }

  #row(location: RowLocation): WriteSetRow {
    return assertDefined(this.#writeSet?.rows[location - OVERLAY_BASE], "writeSet row");
  }

  #inBatch(location: RowLocation): { batch: RowBatch; row: number } {
    let row = location - BATCH_BASE;
    for (const batch of this.#writeSet?.batches ?? []) {
      if (row < batch.rowCount) return { batch, row };
      row -= batch.rowCount;
    }
    throw new AssertionError(`no batch row at ${location}`);
  }

  #column(columnId: number): ColumnDefinition {
    return assertDefined(
      this.#definition.columns.find((column) => column.id === columnId),
      `column ${columnId}`,
    );
  }

  #index(indexId: number): IndexDefinition {
    return assertDefined(this.#definition.indexes.find((index) => index.id === indexId), `index ${indexId}`);
  }
}

const EMPTY: LocationCursor = { next: () => NO_ROW };

/** The id of a row of a block. */
function idIn(ids: Vector, row: number): RowId {
  if (ids.kind === "constant") return ids.value as RowId;
  if (ids.kind !== "number") throw new AssertionError(`row ids are numbers, not ${ids.kind}`);
  return ids.big?.get(row) ?? ids.data[row] as number;
}

function batchRows(writeSet: TableWriteSet): number {
  return writeSet.batches.reduce((sum, batch) => sum + batch.rowCount, 0);
}

function findInBatches(batches: readonly RowBatch[], id: RowId): number {
  if (batches.length === 0 || typeof id !== "number") return -1;
  let first = 0;
  for (const batch of batches) {
    const row = rowOfId(batch, id);
    if (row >= 0) return first + row;
    first += batch.rowCount;
  }
  return -1;
}

function batchVector(batch: RowBatch, position: number, start: number, end: number): Vector {
  const column = assertDefined(batch.columns[position], "column of a batch");
  const nulls = column.nulls?.subarray(start, end) ?? null;
  if (column.storageClass === "float") {
    return { kind: "number", data: column.data.subarray(start, end), nulls, big: null };
  }
  if (column.storageClass === "int") {
    let big: Map<number, bigint> | null = null;
    for (const [row, value] of column.big ?? []) {
      if (row >= start && row < end) (big ??= new Map()).set(row - start, value);
    }
    return { kind: "number", data: column.data.subarray(start, end), nulls, big };
  }
  const starts = column.offsets.subarray(start, end), ends = column.offsets.subarray(start + 1, end + 1);
  return { kind: "bytes", bytes: column.bytes, starts, ends, nulls };
}

function lowerBound(sorted: readonly number[], value: number): number {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function concatenate(first: readonly RowLocation[], then: LocationCursor): LocationCursor {
  let at = 0;
  return { next: () => at < first.length ? first[at++] as number : then.next() };
}

/** Merges two sorted sources; on a tie the committed row comes first. */
function merge(
  own: readonly RowLocation[],
  committed: LocationCursor,
  compare: (a: RowLocation, b: RowLocation) => number,
): LocationCursor {
  let at = 0;
  let waiting = committed.next();
  return {
    next: () => {
      const mine = own[at];
      if (waiting === NO_ROW) {
        if (mine === undefined) return NO_ROW;
        at++;
        return mine;
      }
      if (mine !== undefined && compare(mine, waiting) < 0) {
        at++;
        return mine;
      }
      const result = waiting;
      waiting = committed.next();
      return result;
    },
  };
}
