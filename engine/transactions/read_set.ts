/**
 * What a transaction has read, as predicates: whole tables narrowed by conditions, id and key ranges, single ids. At
 * commit a transaction whose snapshot is no longer the newest must show that no row written since, before or after its
 * change, satisfies one of them; that catches write skew and phantoms as well as changed rows
 * (backward validation of precision locks: Jordan, Banerjee, Batman, "Precision Locks", SIGMOD 1981).
 */
import { batchRow } from "./batch_values.ts";
import type { ReadColumns } from "./read_columns.ts";
import { compareText } from "../types/text.ts";
import type { IndexBounds, RowCondition, ZonePredicate } from "../storage/access/readable_table.ts";
import type { RowBatch, RowId, StoredRow, StoredValue } from "../operations/effect.ts";

/**
 * One thing read. Columns are named by id; `columns`: those whose values were read, not given: any. `condition`: what
 * the rows had to meet besides.
 */
export type ReadPredicate =
  & (
    | { readonly kind: "id"; readonly tableId: number; readonly id: RowId }
    | { readonly kind: "id_range"; readonly tableId: number; readonly bounds: IndexBounds }
    | { readonly kind: "scan"; readonly tableId: number; readonly prune: readonly ZonePredicate[] }
    | {
      readonly kind: "index";
      readonly tableId: number;
      readonly columnIds: readonly number[];
      readonly bounds: IndexBounds;
    }
  )
  & { columns?: ReadColumns; readonly condition?: RowCondition };

/** One committed write, as later validations need it. Rows are in the order of `columnIds`. */
export interface CommittedWrite {
  readonly tableId: number;
  readonly columnIds: readonly number[];
  readonly id: RowId;
  readonly before: StoredRow | null;
  readonly after: StoredRow | null;
}

/** Rows of a load that are looked at one by one. */
const LOOKED_AT = 1000;

/**
 * A committed bulk load, truncation, DDL, or the many changes of a large entry: judged by table, by its ids and, where
 * it is small, its rows for a load, and where the rows themselves tell (`byVersion`), by the version of a row that was
 * read by its id.
 */
export interface CommittedBulk {
  readonly tableId: number;
  readonly batch: RowBatch | null;
  /** Of the columns of the batch; not given: its rows are not looked at. */
  readonly columnIds?: readonly number[];
  readonly byVersion?: boolean;
}

/** What a transaction has read and another one has changed; `id` null: any rows of the table. */
export interface Conflict {
  readonly tableId: number;
  readonly id: RowId | null;
  readonly read: ReadPredicate;
  /** The row was not there when it was read. */
  readonly cameNew: boolean;
}

/** What the predicate read that a committed entry has changed; null: nothing. */
export function conflictWith(
  record: { readonly writes: readonly CommittedWrite[]; readonly bulk: readonly CommittedBulk[] },
  predicate: ReadPredicate,
  changed: (tableId: number, id: RowId) => boolean,
): Conflict | null {
  for (const write of record.writes) {
    if (!affects(write, predicate)) continue;
    const cameNew = write.before === null && predicate.kind !== "id";
    return { tableId: write.tableId, id: write.id, read: predicate, cameNew };
  }
  for (const bulk of record.bulk) {
    if (!bulkAffects(bulk, predicate, changed)) continue;
    const id = predicate.kind === "id" ? predicate.id : null;
    return { tableId: bulk.tableId, id, read: predicate, cameNew: id === null };
  }
  return null;
}

/** Whether a committed write touches what the predicate read. */
export function affects(write: CommittedWrite, predicate: ReadPredicate): boolean {
  if (write.tableId !== predicate.tableId) return false;
  switch (predicate.kind) {
    case "id":
      return write.id === predicate.id && isSeen(write, predicate);
    case "id_range":
    case "scan":
    case "index": {
      if (predicate.kind === "id_range" && !withinBounds([write.id], predicate.bounds)) return false;
      const before = matches(write.before, write.columnIds, predicate);
      return before === matches(write.after, write.columnIds, predicate)
        ? before && isSeen(write, predicate)
        : true;
    }
  }
}

/** Whether a row that is part of what was read, before its change and after it, may look different to the reader. */
function isSeen({ before, after, columnIds }: CommittedWrite, { columns }: ReadPredicate): boolean {
  return columns === undefined || before === null || after === null ||
    columns.seesChange(before, after, columnIds);
}

/**
 * Whether a bulk write touches what the predicate read; errs on the side of yes. `changed` tells whether a row has
 * another version than the reader saw.
 */
export function bulkAffects(
  bulk: CommittedBulk,
  predicate: ReadPredicate,
  changed: (tableId: number, id: RowId) => boolean = () => true,
): boolean {
  if (bulk.tableId !== predicate.tableId) return false;
  if (bulk.byVersion === true && predicate.kind === "id") return changed(bulk.tableId, predicate.id);
  if (bulk.batch === null) return true;
  if (predicate.kind === "scan" || predicate.kind === "index") {
    return loadAffects(bulk, bulk.batch, predicate);
  }
  if (predicate.kind === "id") {
    return typeof predicate.id === "number" && bulk.batch.ids.includes(predicate.id);
  }
  return bulk.batch.ids.some((id) => withinBounds([id], predicate.bounds));
}

function loadAffects(
  { columnIds }: CommittedBulk,
  batch: RowBatch,
  predicate: Extract<ReadPredicate, { kind: "scan" | "index" }>,
): boolean {
  if (columnIds === undefined || batch.rowCount > LOOKED_AT) return true;
  for (let row = 0; row < batch.rowCount; row++) {
    if (matches(batchRow(batch, row), columnIds, predicate)) return true;
  }
  return false;
}

/** Whether a row, whose id is in the bounds where these are of ids, is one of those that the predicate has read. */
export function matches(
  row: StoredRow | null,
  columnIds: readonly number[],
  predicate: Exclude<ReadPredicate, { kind: "id" }>,
): boolean {
  if (row === null) return false;
  const valueOf = (columnId: number): StoredValue | undefined => row[columnIds.indexOf(columnId)];
  return isInRange(valueOf, predicate) && predicate.condition?.admits(valueOf) !== false;
}

function isInRange(
  valueOf: (columnId: number) => StoredValue | undefined,
  predicate: Exclude<ReadPredicate, { kind: "id" }>,
): boolean {
  if (predicate.kind === "id_range") return true;
  if (predicate.kind === "scan") {
    return predicate.prune.every((prune) => {
      const value = valueOf(prune.columnId);
      return value === undefined || satisfies(value, prune);
    });
  }
  const key: StoredValue[] = [];
  for (const columnId of predicate.columnIds) {
    const value = valueOf(columnId);
    if (value === undefined) return true;
    key.push(value);
  }
  return withinBounds(key, predicate.bounds);
}

function satisfies(value: StoredValue, prune: ZonePredicate): boolean {
  if (prune.operator === "is null") return value === null;
  if (prune.operator === "is not null") return value !== null;
  if (value === null || prune.value === null) return false;
  const order = compareStored(value, prune.value);
  switch (prune.operator) {
    case "=":
      return order === 0;
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
  }
}

/** Whether a key lies in the bounds: equality on the prefix, then the range on the next part. */
export function withinBounds(key: readonly StoredValue[], bounds: IndexBounds): boolean {
  for (const [position, wanted] of bounds.prefix.entries()) {
    const value = key[position] ?? null;
    if (wanted === null ? value !== null : value === null || compareStored(value, wanted) !== 0) return false;
  }
  const next = key[bounds.prefix.length];
  if (next === undefined || (bounds.low === null && bounds.high === null)) return true;
  if (next === null) return false;
  if (bounds.low !== null) {
    if (bounds.low.value === null) return false;
    const order = compareStored(next, bounds.low.value);
    if (order < 0 || (order === 0 && !bounds.low.inclusive)) return false;
  }
  if (bounds.high !== null) {
    if (bounds.high.value === null) return false;
    const order = compareStored(next, bounds.high.value);
    if (order > 0 || (order === 0 && !bounds.high.inclusive)) return false;
  }
  return true;
}

/** Order of two non-null stored values of one storage class; NaN last, text by code point. */
export function compareStored(left: StoredValue, right: StoredValue): number {
  if (typeof left === "string" && typeof right === "string") return compareText(left, right);
  if (left instanceof Uint8Array && right instanceof Uint8Array) return compareBytes(left, right);
  const a = left as number | bigint;
  const b = right as number | bigint;
  if (a < b) return -1;
  if (a > b) return 1;
  if (a === b) return 0;
  const aNaN = a !== a, bNaN = b !== b;
  return aNaN === bNaN ? 0 : aNaN ? 1 : -1;
}

function compareBytes(left: Uint8Array, right: Uint8Array): number {
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; i++) {
    const difference = (left[i] as number) - (right[i] as number);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
