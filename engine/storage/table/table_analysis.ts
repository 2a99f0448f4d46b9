/**
 * ANALYZE of a table: rows are sampled with a fixed seed and the values of their columns counted, in slices of about a
 * millisecond between which anything may happen to the table. Equal tables give equal figures.
 */
import type { StoredValue } from "../../operations/effect.ts";
import { BLOCK_ROWS } from "../access/block.ts";
import { type ColumnDistribution, columnDistribution } from "../access/column_distribution.ts";
import { type GroupDistribution, groupDistribution } from "./group_distribution.ts";

/** Rows for each common value and step of a histogram (Chaudhuri, Motwani and Narasayya, SIGMOD 1998). */
const ROWS_PER_TARGET = 300;
/** Rows that one block at least gives, so that not every block has to be read. */
const ROWS_PER_BLOCK = 64;
/** Of tables with at most so many rows all are kept for estimates of joins, but for columns of long values. */
const MAX_KEPT_ROWS = BLOCK_ROWS;
const MAX_KEPT_BYTES = 64;

/** A part of a table, as far as rows are sampled. */
export interface SampledPart {
  readonly rowLimit: number;
  /** Whether the row is there and has not ended. */
  isLive(row: number): boolean;
  valueAt(row: number, columnId: number): StoredValue;
}

/** What is to be found out. */
export interface AnalysisRequest {
  /** By column: how many common values and steps at most; 0: nothing. */
  readonly targets: ReadonlyMap<number, number>;
  /** Columns that are looked at together. */
  readonly groups: readonly (readonly number[])[];
  /** By {@link groupKey}: how many common combinations at most, unless as many as values of columns. */
  readonly groupTargets?: ReadonlyMap<string, number>;
}

/** What ANALYZE has found. */
export interface TableAnalysis {
  /** Rows of the table then. */
  readonly rows: number;
  readonly columns: ReadonlyMap<number, ColumnDistribution>;
  /** By the ids of their columns, see {@link groupKey}. */
  readonly groups: ReadonlyMap<string, GroupDistribution>;
  /** All rows, by column, of a small table; null: it is larger. */
  readonly whole: ReadonlyMap<number, readonly StoredValue[]> | null;
}

/** What a group of columns is found under. */
export function groupKey(columns: readonly number[]): string {
  return columns.join();
}

/** Analyzes the rows of a table, which says anew in each slice of which parts it consists. */
export function* analyzeRows(
  table: { readonly rowCount: number; sampledParts(): readonly SampledPart[] },
  { targets, groups, groupTargets = new Map() }: AnalysisRequest,
): Generator<void, TableAnalysis> {
  const ofColumns = Math.max(1, ...targets.values());
  const largest = Math.max(ofColumns, ...groupTargets.values());
  const grouped = new Set(groups.flat());
  const columnIds = [...targets].filter(([id, target]) => target > 0 || grouped.has(id)).map(([id]) => id);
  const values = new Map<number, StoredValue[]>(columnIds.map((id) => [id, []]));
  yield* sample(table, largest * ROWS_PER_TARGET, values);
  const rows = table.rowCount;
  const columns = new Map<number, ColumnDistribution>();
  for (const [id, list] of values) {
    const target = targets.get(id) ?? 0;
    if (target > 0) columns.set(id, yield* columnDistribution(list, rows, target));
  }
  const found = new Map<string, GroupDistribution>();
  for (const group of groups) {
    const lists = group.map((each) => values.get(each) ?? []);
    found.set(
      groupKey(group),
      yield* groupDistribution(lists, rows, groupTargets.get(groupKey(group)) ?? ofColumns),
    );
  }
  const sampled = values.values().next().value?.length ?? 0;
  const isWhole = sampled === rows && rows <= MAX_KEPT_ROWS;
  const isShort = (id: number) => (columns.get(id)?.averageBytes ?? Infinity) <= MAX_KEPT_BYTES;
  const whole = isWhole ? new Map([...values].filter(([id]) => isShort(id))) : null;
  return { rows, columns, groups: found, whole };
}

function* sample(
  table: { sampledParts(): readonly SampledPart[] },
  wanted: number,
  values: ReadonlyMap<number, StoredValue[]>,
): Generator<void, void> {
  const size = () => table.sampledParts().reduce((sum, part) => sum + part.rowLimit, 0);
  const total = size();
  const blocks = Math.min(Math.ceil(total / BLOCK_ROWS), Math.ceil(wanted / ROWS_PER_BLOCK));
  let state = 1;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
  const perBlock = Math.ceil(wanted / Math.max(1, blocks));
  for (let block = 0; block < blocks; block++) {
    yield;
    // The table may be another one in each slice: places are shares of its length.
    const length = size();
    const width = length / blocks;
    const from = Math.floor(block * width + random() * Math.max(0, width - BLOCK_ROWS));
    const to = Math.min(length, Math.ceil(Math.min(from + BLOCK_ROWS, (block + 1) * width)));
    const step = Math.max(1, (to - from) / perBlock);
    const parts = table.sampledParts();
    let taken = 0;
    for (let at = from; at < to; at += step) {
      // Of each stretch one, so that no row comes twice.
      const first = Math.ceil(at);
      const row = first + Math.floor(random() * (Math.min(to, Math.ceil(at + step)) - first));
      takeRow(parts, row, values);
      if ((++taken & (ROWS_PER_BLOCK - 1)) === 0) yield;
    }
  }
}

/** Notes the values of a row, counted over all parts. */
function takeRow(
  parts: readonly SampledPart[],
  position: number,
  values: ReadonlyMap<number, StoredValue[]>,
): void {
  let row = position;
  for (const part of parts) {
    if (row < part.rowLimit) {
      if (!part.isLive(row)) return;
      for (const [columnId, list] of values) list.push(part.valueAt(row, columnId));
      return;
    }
    row -= part.rowLimit;
  }
}
