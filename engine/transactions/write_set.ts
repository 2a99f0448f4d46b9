/**
 * The uncommitted rows of one transaction in one table: what it created, changed and deleted, in the order of first
 * touch. The committed table does not know of them until commit turns them into effects.
 *
 * Where one statement deletes very many committed rows, only their ids are kept ({@link TableWriteSet.deleted}); where
 * it changes very many, their ids and batches of new values ({@link TableWriteSet.replaced}).
 *
 * Invariants: a row id is in the write set at most once. `values` null means deleted. A row that was created and
 * deleted within the transaction stays in the list, and leaves no effect.
 */
import { columnPosition } from "../catalog/catalog.ts";
import type { ColumnDefinition, IndexDefinition, TableDefinition } from "../catalog/definitions.ts";
import type { Effect, OpNumber, RowBatch, RowId, StoredRow, StoredValue } from "../operations/effect.ts";
import { storageClassOf } from "../types/physical_type.ts";
import { BLOCK_ROWS } from "../storage/access/block.ts";
import type { Vector } from "../storage/access/vector.ts";
import { BatchKeys } from "./batch_keys.ts";
import { batchRow, constantColumn } from "./batch_values.ts";
import { RowIdMap } from "./row_id_map.ts";
import type { RowIdSet } from "./row_id_set.ts";
import { keyColumns, keyOf, keyText } from "./stored_key.ts";

/** One row in an write set. */
export interface WriteSetRow {
  readonly id: RowId;
  /** Position in the write set. */
  readonly position: number;
  /** null: deleted. */
  values: StoredRow | null;
  /** A committed row of this id lies beneath. */
  existed: boolean;
  /**
   * Only a column that the transaction adds was given a value: the row is not locked, and follows what others make of
   * it. `values` null: they have deleted it.
   */
  isFilled: boolean;
}

/** Values that a row has in the columns of a unique index. */
export interface HeldKey {
  readonly columns: readonly ColumnDefinition[];
  readonly values: readonly StoredValue[];
}

/** Where it is noted that a row came back to the list. */
interface Journal {
  push(entry: { readonly kind: "revived"; readonly writeSet: TableWriteSet; readonly id: RowId }): unknown;
}

/** Rows by key text, for one index and one number of leading key parts. */
interface KeyMap {
  readonly index: IndexDefinition;
  readonly length: number;
  readonly rows: Map<string, Set<WriteSetRow>>;
}

const encoder = new TextEncoder();

/**
 * The uncommitted rows of one transaction in one table: what it created, changed and deleted, in the order of first
 * touch.
 */
export class TableWriteSet {
  definition: TableDefinition;
  readonly rows: WriteSetRow[] = [];
  readonly byId = new RowIdMap<WriteSetRow>();
  readonly batches: RowBatch[] = [];
  /** Committed rows that were deleted, besides those in the list; a set for each statement that deleted many. */
  readonly deleted: RowIdSet[] = [];
  /** Committed rows whose new values are in batches. */
  readonly replaced: RowIdSet[] = [];
  /** Such batches. */
  readonly replacing = new Set<RowBatch>();
  /** Ids of deleted rows that are in the list all the same, for something was done to them later. */
  readonly revived = new Set<RowId>();
  /** What the journal notes for each row that comes. */
  readonly added = { kind: "add", writeSet: this } as const;
  /** Committed rows beneath are hidden. */
  truncated = false;
  /** The op up to which filled rows follow what others have committed, and the first one; null: there are none. */
  filled: { readonly at: OpNumber; readonly since: OpNumber } | null = null;
  /** Rows to be looked at before the commit, for constraints that nobody knew of when they were written. */
  unchecked: Set<RowId> | "all" | null = null;
  /** Indexes that came later than rows, for whose keys no lock was taken. */
  readonly unlocked = new Set<number>();
  /** Rows that were given other ids: the committed row by the new one, and null by the one that it had. */
  readonly origins = new Map<RowId, RowId | null>();
  /** By row and column: defaults that were computed after the row was written. */
  readonly drawn = new Map<RowId, Map<number, StoredValue>>();
  readonly #keyMaps: KeyMap[] = [];
  /** By unique index: the keys in batches, made on demand. */
  readonly #batchKeys = new Map<number, BatchKeys>();

  constructor(definition: TableDefinition) {
    this.definition = definition;
  }

  get isEmpty(): boolean {
    return this.rows.length === 0 && this.batches.length === 0 && !this.hidesInBulk &&
      !this.truncated;
  }

  /** Whether it has rows of its own besides bulk loads, or hides committed ones. */
  get writesRows(): boolean {
    return this.truncated || this.hidesInBulk || this.rows.some((row) => !row.isFilled);
  }

  /** Whether rows that are not in the list hide committed ones. */
  get hidesInBulk(): boolean {
    return this.deleted.length > 0 || this.replaced.length > 0;
  }

  /** The set of {@link deleted} rows that an id is in; null: none. */
  deletedSet(id: RowId): RowIdSet | null {
    if (this.deleted.length === 0 || typeof id !== "number") return null;
    return this.deleted.find((set) => set.has(id)) ?? null;
  }

  /** A row of the list; one that was {@link deleted} is put there, as the journal says then. */
  own(id: RowId, journal: Journal): WriteSetRow | undefined {
    const own = this.byId.get(id);
    if (own !== undefined || this.deletedSet(id) === null) return own;
    journal.push({ kind: "revived", writeSet: this, id });
    this.revived.add(id);
    return this.add(id, null, true);
  }

  /** Whether the committed row of this id is deleted or replaced in bulk. */
  hides(id: RowId): boolean {
    return this.deletedSet(id) !== null ||
      typeof id === "number" && this.replaced.length > 0 && this.replaced.some((set) => set.has(id));
  }

  /** Whether a committed row loses a key that it has, or with null its id. */
  frees(id: RowId, key: HeldKey | null): boolean {
    const own = this.byId.get(id);
    if (own === undefined) return this.deletedSet(id) !== null;
    if (own.values === null || key === null) return own.values === null;
    const { values } = own;
    const now = key.columns.map((column) => values[columnPosition(this.definition, column.id)] ?? null);
    return keyText(key.columns, now) !== keyText(key.columns, key.values);
  }

  /** How many {@link deleted} rows there are that are not in the list. */
  get deletedCount(): number {
    let count = -this.revived.size;
    for (const set of this.deleted) count += set.size;
    return count;
  }

  /** How many committed rows are {@link hides hidden} by something else than the list. */
  get hiddenCount(): number {
    let count = this.deletedCount;
    for (const set of this.replaced) count += set.size;
    return count;
  }

  /** Adds a row that the write set does not know yet. */
  add(id: RowId, values: StoredRow | null, existed: boolean, isFilled = false): WriteSetRow {
    const row: WriteSetRow = { id, position: this.rows.length, values, existed, isFilled };
    this.rows.push(row);
    this.byId.add(id, row);
    if (values !== null) this.#index(row, values);
    return row;
  }

  /** Replaces the values of a row (null: deletes it). */
  set(row: WriteSetRow, values: StoredRow | null): void {
    if (row.values !== null) this.#unindex(row, row.values);
    row.values = values;
    if (values !== null) this.#index(row, values);
  }

  /** Rows get other ids, all at once; they can be gone through again. `note` hears what was known of an id before. */
  noteMoves(
    moves: Iterable<{ readonly from: RowId; readonly to: RowId }>,
    note: (id: RowId, origin: RowId | null | undefined) => void,
  ): void {
    const { origins, byId } = this;
    const first = Array.from(moves, ({ from }) => {
      const known = origins.get(from);
      const existed = byId.get(from)?.existed === true || this.deletedSet(from) !== null;
      return known === undefined && existed ? from : known ?? null;
    });
    const set = (id: RowId, origin: RowId | null): void => {
      note(id, origins.get(id));
      origins.set(id, origin);
    };
    for (const { from } of moves) set(from, null);
    let at = 0;
    for (const { to } of moves) set(to, first[at++] ?? null);
  }

  /** Takes back the newest {@link add}. */
  removeLast(): void {
    const row = this.rows.pop();
    if (row === undefined) return;
    this.byId.delete(row.id);
    if (row.values !== null) this.#unindex(row, row.values);
  }

  /** Turns the rows of batches into rows of their own, so that they can be found by id and changed. */
  spreadBatches(): void {
    this.#batchKeys.clear();
    for (const batch of this.batches.splice(0)) {
      for (let row = 0; row < batch.rowCount; row++) {
        this.add(batch.ids[row] as number, batchRow(batch, row), this.replacing.has(batch));
      }
    }
    this.replaced.length = 0;
    this.replacing.clear();
  }

  /** The keys that the batches bring to a unique index. */
  batchKeys(index: IndexDefinition): BatchKeys {
    let keys = this.#batchKeys.get(index.id);
    const { batches } = this;
    const known = keys?.batches.length ?? 0;
    // Batches come and go at the end of the list only.
    if (
      keys === undefined || known > batches.length ||
      (known > 0 && keys.batches[known - 1] !== batches[known - 1])
    ) {
      this.#batchKeys.set(index.id, keys = new BatchKeys(this.definition, index));
    }
    for (let at = keys.batches.length; at < batches.length; at++) keys.add(batches[at] as RowBatch);
    return keys;
  }

  /** Rows whose key begins with these values. */
  lookup(index: IndexDefinition, key: readonly StoredValue[]): Iterable<WriteSetRow> {
    if (this.rows.length === 0) return [];
    let map = this.#keyMaps.find((each) => each.index.id === index.id && each.length === key.length);
    if (map === undefined) {
      map = { index, length: key.length, rows: new Map() };
      this.#keyMaps.push(map);
      for (const row of this.rows) if (row.values !== null) addTo(map, this.definition, row, row.values);
    }
    return map.rows.get(keyText(keyColumns(this.definition, index), key)) ?? [];
  }

  /** Brings rows to a new layout of the table: added columns get their missing value, dropped ones vanish. */
  remap(next: TableDefinition): void {
    const old = this.definition;
    const sources = next.columns.map((column) => old.columns.findIndex((each) => each.id === column.id));
    const onlyAdded = old.columns.every((_, position) => sources[position] === position);
    const missing = next.columns.slice(old.columns.length).map((column) => column.missingValue);
    for (const row of this.rows) {
      const values = row.values;
      if (values === null) continue;
      row.values = onlyAdded ? values.concat(missing) : next.columns.map((column, position) => {
        const source = sources[position] as number;
        return source < 0 ? column.missingValue : values[source] ?? null;
      });
    }
    for (const [at, batch] of this.batches.entries()) {
      const columns = next.columns.map(({ type, missingValue }, position) =>
        batch.columns[sources[position] as number] ??
          constantColumn(storageClassOf(type), missingValue, batch.rowCount)
      );
      this.batches[at] = { ...batch, columns };
    }
    this.takeDefinition(next);
  }

  /** Rows and batches have the columns of this definition now. */
  takeDefinition(next: TableDefinition): void {
    this.definition = next;
    this.#keyMaps.length = 0;
    this.#batchKeys.clear();
  }

  /** Goes back to a state that {@link copy} has kept. The write set stays the same object, for others refer to it. */
  restore(saved: TableWriteSet): void {
    this.definition = saved.definition;
    this.truncated = saved.truncated;
    this.rows.length = 0;
    this.byId.clear();
    this.#keyMaps.length = 0;
    this.#batchKeys.clear();
    this.filled = saved.filled;
    for (const row of saved.rows) this.add(row.id, row.values, row.existed, row.isFilled);
    this.batches.splice(0, Infinity, ...saved.batches);
    this.deleted.splice(0, Infinity, ...saved.deleted);
    this.replaced.splice(0, Infinity, ...saved.replaced);
    this.replacing.clear();
    for (const batch of saved.replacing) this.replacing.add(batch);
    this.revived.clear();
    for (const id of saved.revived) this.revived.add(id);
  }

  /** A copy to return to when a savepoint is rolled back. */
  copy(): TableWriteSet {
    const result = new TableWriteSet(this.definition);
    for (const row of this.rows) result.add(row.id, row.values, row.existed, row.isFilled);
    result.filled = this.filled;
    result.batches.push(...this.batches);
    result.deleted.push(...this.deleted);
    result.replaced.push(...this.replaced);
    for (const batch of this.replacing) result.replacing.add(batch);
    for (const id of this.revived) result.revived.add(id);
    result.truncated = this.truncated;
    return result;
  }

  /** The effect of a row; null when it leaves none. */
  effectOf({ id, values, existed }: WriteSetRow): Effect | null {
    const tableId = this.definition.id;
    const isThere = existed && !this.truncated;
    if (values !== null) return { kind: isThere ? "update" : "create", tableId, id, values };
    return isThere ? { kind: "delete", tableId, id } : null;
  }

  /**
   * The write set's effects in the order of first touch, and then what came in bulk. `lists`: whether an effect may
   * delete a list of rows.
   */
  *effects(lists: boolean): Generator<Effect, void> {
    const tableId = this.definition.id;
    if (this.truncated) yield { kind: "truncate", tableId };
    for (const row of this.rows) {
      const effect = this.effectOf(row);
      if (effect !== null) yield effect;
    }
    for (const set of this.deleted) {
      for (const list of set.lists()) {
        const ids = this.revived.size === 0 ? list : list.filter((id) => !this.revived.has(id));
        if (lists) yield { kind: "delete_batch", tableId, ids };
        else for (const id of ids) yield { kind: "delete", tableId, id };
      }
    }
    for (const batch of this.batches) {
      yield { kind: this.replacing.has(batch) ? "update_batch" : "create_batch", tableId, batch };
    }
  }

  /** The same at the end of a list, of a write set whose rows are few. */
  appendEffects(list: Effect[], lists: boolean): void {
    const tableId = this.definition.id;
    if (this.truncated || this.hidesInBulk) {
      for (const effect of this.effects(lists)) list.push(effect);
      return;
    }
    const { rows } = this;
    for (let index = 0; index < rows.length; index++) {
      const effect = this.effectOf(rows[index] as WriteSetRow);
      if (effect !== null) list.push(effect);
    }
    for (const batch of this.batches) list.push({ kind: "create_batch", tableId, batch });
  }

  /** Rows that the transaction has inserted, updated and deleted as it stands: one that it took back is none. */
  get written(): { readonly inserted: number; readonly updated: number; readonly deleted: number } {
    let inserted = 0, updated = 0, deleted = 0;
    for (const { values, existed } of this.rows) {
      if (values === null) deleted += existed ? 1 : 0;
      else if (existed) updated++;
      else inserted++;
    }
    for (const batch of this.batches) {
      if (this.replacing.has(batch)) updated += batch.rowCount;
      else inserted += batch.rowCount;
    }
    return { inserted, updated, deleted: deleted + this.deletedCount };
  }

  /** How many {@link effects} there are. */
  effectCount(lists: boolean): number {
    let count = (this.truncated ? 1 : 0) + this.batches.length;
    if (lists) { for (const set of this.deleted) count += set.listCount; }
    else count += this.deletedCount;
    for (const row of this.rows) if (row.values !== null || (row.existed && !this.truncated)) count++;
    return count;
  }

  /** Vectors over at most a block of rows, for scans. Deleted rows must have been left out. */
  vectors(rows: readonly WriteSetRow[], columnIds: readonly number[]): Vector[] {
    return columnIds.map((columnId) => {
      const position = columnPosition(this.definition, columnId);
      const column = this.definition.columns[position];
      const storageClass = column === undefined ? "bytes" : storageClassOf(column.type);
      return vectorOf(rows.map((row) => row.values?.[position] ?? null), storageClass);
    });
  }

  #index(row: WriteSetRow, values: StoredRow): void {
    for (const map of this.#keyMaps) addTo(map, this.definition, row, values);
  }

  #unindex(row: WriteSetRow, values: StoredRow): void {
    for (const map of this.#keyMaps) {
      const text = textIn(map, this.definition, values);
      const rows = map.rows.get(text);
      rows?.delete(row);
      if (rows?.size === 0) map.rows.delete(text);
    }
  }
}

function textIn(map: KeyMap, table: TableDefinition, values: StoredRow): string {
  return keyText(keyColumns(table, map.index), keyOf(table, map.index, values, map.length));
}

function addTo(map: KeyMap, table: TableDefinition, row: WriteSetRow, values: StoredRow): void {
  const text = textIn(map, table, values);
  const rows = map.rows.get(text);
  if (rows === undefined) map.rows.set(text, new Set([row]));
  else rows.add(row);
}

/** Roughly what the values of a row take in memory. */
export function rowBytes(values: StoredRow): number {
  let bytes = 16 * values.length;
  for (let position = 0; position < values.length; position++) {
    const value = values[position];
    if (typeof value === "string" || value instanceof Uint8Array) bytes += value.length;
  }
  return bytes;
}

/** A vector holding the values; at most {@link BLOCK_ROWS}. */
export function vectorOf(
  values: readonly StoredValue[],
  storageClass: "int" | "float" | "text" | "bytes",
): Vector {
  const count = Math.min(values.length, BLOCK_ROWS);
  let nulls: Uint8Array | null = null;
  const markNull = (row: number): void => {
    nulls ??= new Uint8Array(count);
    nulls[row] = 1;
  };
  if (storageClass === "int" || storageClass === "float") {
    const data = new Float64Array(count);
    let big: Map<number, bigint> | null = null;
    for (let row = 0; row < count; row++) {
      const value = values[row] ?? null;
      if (value === null) markNull(row);
      else if (typeof value === "bigint") {
        data[row] = NaN;
        big ??= new Map();
        big.set(row, value);
      } else data[row] = value as number;
    }
    return { kind: "number", data, nulls, big };
  }
  const starts = new Uint32Array(count), ends = new Uint32Array(count);
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (let row = 0; row < count; row++) {
    const value = values[row] ?? null;
    starts[row] = length;
    if (value === null) markNull(row);
    else {
      const piece = typeof value === "string" ? encoder.encode(value) : value as Uint8Array;
      pieces.push(piece);
      length += piece.length;
    }
    ends[row] = length;
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return { kind: "bytes", bytes, starts, ends, nulls };
}

export { batchRow, batchValue } from "./batch_values.ts";
