/**
 * What a transaction keeps others from writing into: all rows, there or to come, that are part of something it reads.
 * Such locks are in a space of their own beside the rows of a table.
 */
import type { TableDefinition } from "../catalog/definitions.ts";
import type { StoredRow, StoredValue } from "../operations/effect.ts";
import type { IndexBounds, ZonePredicate } from "../storage/access/readable_table.ts";
import type { LockedSet } from "./lock_table.ts";
import { compareStored, matches, type ReadPredicate } from "./read_set.ts";
import { readKey } from "./read_key.ts";

/** A read that is narrower than its table and wider than a row. */
export type RangePredicate = Extract<ReadPredicate, { kind: "scan" | "index" }>;

/** The space of locks on ranges of a table. */
export function rangeSpace(tableId: number): number {
  return -tableId;
}

/** A read as a range of the table; null: it is one row, or the whole table. */
export function rangeOf(table: TableDefinition | undefined, read: ReadPredicate): RangePredicate | null {
  if (read.kind === "id") return null;
  const { tableId, condition } = read;
  const given = condition === undefined ? {} : { condition };
  const isBounded = read.kind === "scan" ? read.prune.length > 0 : !isUnbounded(read.bounds);
  if (isBounded && read.kind === "scan") return { kind: "scan", tableId, prune: read.prune, ...given };
  // A row's id may be in a column.
  const idColumn = table?.rowIdColumn ?? null;
  const columnIds = read.kind === "index" ? read.columnIds : idColumn === null ? [] : [idColumn];
  if (isBounded && read.kind !== "scan" && columnIds.length > 0) {
    return { kind: "index", tableId, columnIds, bounds: read.bounds, ...given };
  }
  return condition === undefined ? null : { kind: "scan", tableId, prune: [], condition };
}

function isUnbounded({ prefix, low, high }: IndexBounds): boolean {
  return prefix.length === 0 && low === null && high === null;
}

/** See the head of the file. */
export class LockedRange implements LockedSet {
  readonly predicate: RangePredicate;
  /** Equal ones have the same. */
  readonly key: string;
  readonly #columnIds: readonly number[];

  constructor(table: TableDefinition, predicate: RangePredicate) {
    this.predicate = predicate;
    this.key = readKey(predicate);
    this.#columnIds = table.columns.map(({ id }) => id);
  }

  /** Whether a row is in it. */
  has(row: number | readonly StoredValue[]): boolean {
    return typeof row !== "number" && matches(row as StoredRow, this.#columnIds, this.predicate);
  }

  /** Whether a row may be in both; errs on the side of yes. */
  overlaps({ predicate, key }: LockedRange): boolean {
    if (key === this.key) return true;
    const left = comparisonsOf(this.predicate), right = comparisonsOf(predicate);
    return !left.some((each) => right.some((other) => areApart(each, other)));
  }
}

/** What holds for each row of a range. */
function comparisonsOf(predicate: RangePredicate): ZonePredicate[] {
  if (predicate.kind === "scan") return [...predicate.prune];
  const { columnIds, bounds: { prefix, low, high } } = predicate;
  const result: ZonePredicate[] = prefix.map((value, at) => ({
    columnId: columnIds[at] ?? -1,
    operator: value === null ? "is null" : "=",
    value,
  }));
  const columnId = columnIds[prefix.length] ?? -1;
  if (low !== null) result.push({ columnId, operator: low.inclusive ? ">=" : ">", value: low.value });
  if (high !== null) result.push({ columnId, operator: high.inclusive ? "<=" : "<", value: high.value });
  return result;
}

/** Whether no value satisfies both. */
function areApart(left: ZonePredicate, right: ZonePredicate): boolean {
  if (left.columnId !== right.columnId) return false;
  const isLow = (operator: string) => operator.startsWith(">") || operator === "=";
  const isHigh = (operator: string) => operator.startsWith("<") || operator === "=";
  if (left.operator === "is null" || right.operator === "is null") return left.operator !== right.operator;
  if (left.value === null || right.value === null) return false;
  const order = compareStored(left.value, right.value);
  const isStrict = left.operator === "<" || left.operator === ">" || right.operator === "<" ||
    right.operator === ">";
  const below = order < 0 || order === 0 && isStrict, above = order > 0 || order === 0 && isStrict;
  return below && isHigh(left.operator) && isLow(right.operator) ||
    above && isLow(left.operator) && isHigh(right.operator);
}
