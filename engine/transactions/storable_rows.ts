/**
 * Refuses rows whose values their columns may not hold (see `types/stored_range.ts`), for every way in which rows are
 * written: one by one and in batches. What is asked of a column is worked out once for each definition of a table.
 */
import type { ColumnDefinition, TableDefinition } from "../catalog/definitions.ts";
import type { BatchColumn, RowBatch, StoredRow, StoredValue } from "../operations/effect.ts";
import { storageClassOf } from "../types/physical_type.ts";
import { isStorable, notStorable, storedRangeOf } from "../types/stored_range.ts";
import { formatType } from "../types/type_names.ts";
import { batchValue } from "./batch_values.ts";

/** What a column's values are asked first: a plain number within bounds needs no second question. */
interface ColumnCheck {
  readonly column: ColumnDefinition;
  /** What `typeof` says of every value of a class without bounds; null: values have bounds. */
  readonly unbounded: "number" | "string" | "object" | null;
  /** Bounds of the safe integers among the column's values. */
  readonly low: number;
  readonly high: number;
}

const checksByTable = new WeakMap<TableDefinition, readonly ColumnCheck[]>();

function checksOf(table: TableDefinition): readonly ColumnCheck[] {
  let checks = checksByTable.get(table);
  if (checks === undefined) checksByTable.set(table, checks = table.columns.map(checkOf));
  return checks;
}

const NO_BOUNDS = { low: Infinity, high: -Infinity };
/** Integers up to here are their own single-precision form; those beyond are asked one by one. */
const SINGLE_BOUNDS = { low: -(2 ** 24), high: 2 ** 24 };

function checkOf(column: ColumnDefinition): ColumnCheck {
  switch (storageClassOf(column.type)) {
    case "text":
      return { column, unbounded: "string", ...NO_BOUNDS };
    case "bytes":
      return { column, unbounded: "object", ...NO_BOUNDS };
    case "float":
      return column.type.kind === "f64"
        ? { column, unbounded: "number", ...NO_BOUNDS }
        : { column, unbounded: null, ...SINGLE_BOUNDS };
    case "int": {
      const { low, high } = storedRangeOf(column.type) ?? { low: -Infinity, high: Infinity };
      return {
        column,
        unbounded: null,
        low: Math.max(Number(low), Number.MIN_SAFE_INTEGER),
        high: Math.min(Number(high), Number.MAX_SAFE_INTEGER),
      };
    }
  }
}

/** Raises XX000 for a row with a value that its column may not hold. */
export function requireStorableRow(table: TableDefinition, values: StoredRow): void {
  const checks = checksOf(table);
  for (let position = 0; position < checks.length; position++) {
    const check = checks[position] as ColumnCheck;
    const value = values[position] ?? null;
    const form = typeof value;
    if (form === check.unbounded) continue;
    if (
      typeof value === "number" && value >= check.low && value <= check.high && Math.floor(value) === value
    ) {
      continue;
    }
    requireStorable(table, check, value);
  }
}

/** Raises XX000 for a batch with a value that its column may not hold. */
export function requireStorableBatch(table: TableDefinition, batch: RowBatch): void {
  checksOf(table).forEach((check, position) => {
    const column = batch.columns[position];
    if (column !== undefined) requireStorableColumn(table, check, batch, position, column);
  });
}

function requireStorableColumn(
  table: TableDefinition,
  check: ColumnCheck,
  batch: RowBatch,
  position: number,
  column: BatchColumn,
): void {
  if (column.storageClass !== "int" && column.storageClass !== "float") return;
  const { data } = column;
  const { low, high } = check;
  if (check.unbounded !== null) return;
  for (let row = 0; row < batch.rowCount; row++) {
    const value = data[row] as number;
    if (value >= low && value <= high && Math.floor(value) === value) continue;
    requireStorable(table, check, batchValue(batch, row, position));
  }
}

function requireStorable(table: TableDefinition, { column }: ColumnCheck, value: StoredValue): void {
  if (isStorable(column.type, value)) return;
  throw notStorable(table.name, column.name, formatType(column.type), value);
}
