/**
 * How rows are found by the values of some columns: by row id, through an index, or by a scan. Foreign keys look for
 * parents and children this way.
 *
 * Keys are in stored form and in the order of the columns that the route was made for. NULL never matches.
 */
import { assertDefined } from "../../base/assert.ts";
import { DatabaseError } from "../../base/errors.ts";
import { columnPosition } from "../../catalog/catalog.ts";
import type { ColumnDefinition, TableDefinition } from "../../catalog/definitions.ts";
import type { RowId, StoredRow, StoredValue } from "../../operations/effect.ts";
import { NO_ROW, type RowLocation } from "../../storage/access/block.ts";
import type { ReadableTable, ZonePredicate } from "../../storage/access/readable_table.ts";
import { compareColumnValues } from "../../transactions/stored_key.ts";
import { Decimal } from "../../types/decimal.ts";
import { isIntegerKind } from "../../types/number_or_bigint.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { storageClassOf } from "../../types/physical_type.ts";
import { fromStored, toStored } from "../../types/stored_value.ts";
import { formatText, parseText } from "../../types/text_io.ts";
import { equalTypes } from "../../types/type_names.ts";

/**
 * How rows are found by the values of some columns: by row id, through an index, or by a scan. `order[i]` is the key
 * part that the index's i-th column holds.
 */
export type KeyRoute =
  & (
    | { readonly kind: "row_id" }
    | { readonly kind: "index"; readonly indexId: number; readonly order: readonly number[] }
    | { readonly kind: "scan" }
  )
  & {
    /** The table or index that the reads are counted for; by row id, the index that the primary key is shown with. */
    readonly countedAs: number;
  };

/** The best way to find rows of a table by these columns (ids). */
export function routeTo(table: TableDefinition, columnIds: readonly number[]): KeyRoute {
  if (columnIds.length === 1 && columnIds[0] === table.rowIdColumn) {
    const primaryKey = table.constraints.find((each) => each.kind === "primary_key");
    return { kind: "row_id", countedAs: primaryKey?.id ?? table.id };
  }
  let best: KeyRoute | null = null;
  let bestColumns = Infinity;
  for (const index of table.indexes) {
    if (index.predicateText !== null || index.columns.length < columnIds.length) continue;
    if (index.columns.length >= bestColumns) continue;
    const order = index.columns.slice(0, columnIds.length).map((part) => columnIds.indexOf(part.columnId));
    if (order.includes(-1) || new Set(order).size < order.length) continue;
    best = { kind: "index", indexId: index.id, order, countedAs: index.id };
    bestColumns = index.columns.length;
  }
  return best ?? { kind: "scan", countedAs: table.id };
}

/** The columns of a table by id. */
export function columnsById(table: TableDefinition, ids: readonly number[]): readonly ColumnDefinition[] {
  return ids.map((id) =>
    assertDefined(table.columns.find((column) => column.id === id), `column ${id} of ${table.name}`)
  );
}

/** Positions of columns in rows. */
export function positionsOf(table: TableDefinition, ids: readonly number[]): readonly number[] {
  return ids.map((id) => columnPosition(table, id));
}

/** The values of a row at some positions. */
export function keyAt(row: StoredRow, positions: readonly number[]): StoredValue[] {
  return positions.map((position) => row[position] ?? null);
}

/** All values of the row at a location, in the order of the table's columns. */
export function readRow(reader: ReadableTable, table: TableDefinition, location: RowLocation): StoredValue[] {
  const row: StoredValue[] = [];
  for (const column of table.columns) row.push(reader.valueAt(location, column.id));
  return row;
}

/** The first row whose columns equal the key, or NO_ROW. */
export function findFirst(
  reader: ReadableTable,
  route: KeyRoute,
  columns: readonly ColumnDefinition[],
  key: readonly StoredValue[],
): RowLocation {
  if (route.kind === "row_id") return reader.find(key[0] as RowId);
  if (route.kind === "index") {
    return reader.lookup(route.indexId, route.order.map((part) => key[part] ?? null)).next();
  }
  let found: RowLocation = NO_ROW;
  scanAtOnce(reader, columns, pruneOf(columns, key), (values, location) => {
    if (!sameKey(columns, values(), key)) return true;
    found = location;
    return false;
  });
  return found;
}

/** Ids of all rows whose columns equal the key. */
export function findAll(
  reader: ReadableTable,
  route: KeyRoute,
  columns: readonly ColumnDefinition[],
  key: readonly StoredValue[],
): RowId[] {
  if (route.kind === "row_id") {
    const location = reader.find(key[0] as RowId);
    return location === NO_ROW ? [] : [reader.idAt(location)];
  }
  const ids: RowId[] = [];
  if (route.kind === "index") {
    const cursor = reader.lookup(route.indexId, route.order.map((part) => key[part] ?? null));
    for (let at = cursor.next(); at !== NO_ROW; at = cursor.next()) ids.push(reader.idAt(at));
    return ids;
  }
  scanAtOnce(reader, columns, pruneOf(columns, key), (values, location) => {
    if (sameKey(columns, values(), key)) ids.push(reader.idAt(location));
    return true;
  });
  return ids;
}

/** Rows visited in one piece. */
const PIECE = 512;

/**
 * Visits every visible row; `values` reads the columns' values. Ends when `visit` answers false. Yields between
 * pieces of the table.
 */
export function* scanByKey(
  reader: ReadableTable,
  columns: readonly ColumnDefinition[],
  prune: readonly ZonePredicate[],
  visit: (values: () => StoredValue[], location: RowLocation) => boolean,
): Generator<void, void, void> {
  const cursor = reader.scan([], { ids: false, prune });
  for (let block = cursor.next(); block !== null; block = cursor.next()) {
    for (let row = 0; row < block.rowCount; row++) {
      if (row % PIECE === PIECE - 1) yield;
      if (block.hidden !== null && block.hidden[row] !== 0) continue;
      const location = block.firstLocation + row;
      const values = (): StoredValue[] => columns.map((column) => reader.valueAt(location, column.id));
      if (!visit(values, location)) return;
    }
  }
}

/** The same, to its end at once. */
function scanAtOnce(...args: Parameters<typeof scanByKey>): void {
  const steps = scanByKey(...args);
  while (steps.next().done !== true);
}

function pruneOf(
  columns: readonly ColumnDefinition[],
  key: readonly StoredValue[],
): readonly ZonePredicate[] {
  return columns.flatMap((column, part) => {
    const value = key[part] ?? null;
    return value === null || storageClassOf(column.type) === "bytes"
      ? []
      : [{ columnId: column.id, operator: "=" as const, value }];
  });
}

/** Whether two keys are equal; NULL equals nothing. */
export function sameKey(
  columns: readonly ColumnDefinition[],
  left: readonly StoredValue[],
  right: readonly StoredValue[],
): boolean {
  for (let part = 0; part < columns.length; part++) {
    const a = left[part] ?? null, b = right[part] ?? null;
    if (a === null || b === null) return false;
    if (a === b) continue;
    if (typeof a !== "object" && typeof b !== "object" && a === a) return false;
    if (compareColumnValues(columns[part] as ColumnDefinition, a, b) !== 0) return false;
  }
  return true;
}

/** Whether a stored value is the same in SQL as another; NULL is the same as NULL. */
export function sameStored(column: ColumnDefinition, left: StoredValue, right: StoredValue): boolean {
  if (left === right) return true;
  return left !== null && right !== null && sameKey([column], [left], [right]);
}

/** Turns a stored value of one type into that of another; undefined: no value of the other type is equal to it. */
export type KeyConverter = (stored: StoredValue) => StoredValue | undefined;

/** How a key part of one type is looked for among values of another; null: as it is. */
export function converterBetween(from: SqlType, to: SqlType): KeyConverter | null {
  if (equalTypes(from, to) || from.kind === to.kind && from.kind !== "numeric" && from.kind !== "array") {
    return null;
  }
  const fromClass = storageClassOf(from), toClass = storageClassOf(to);
  if (fromClass === toClass && (fromClass === "text" || fromClass === "float")) return null;
  if (isIntegerKind(from.kind) && isIntegerKind(to.kind)) return null;
  if (
    from.kind === "numeric" && to.kind === "numeric" && from.scale !== undefined && from.scale === to.scale
  ) {
    return null;
  }
  return (stored) => {
    const value = fromStored(from, stored);
    if (value === null) return null;
    const text = formatText(from, value);
    const plain = isIntegerKind(to.kind) ? text.replace(/\.0+$/, "") : text;
    try {
      const converted = parseText(to, plain);
      if (to.kind === "numeric" && converted !== null) {
        const same = Decimal.fromString(formatText(to, converted)).compare(Decimal.fromString(text)) === 0;
        if (!same) return undefined;
      }
      return toStored(to, converted);
    } catch (thrown) {
      if (thrown instanceof DatabaseError) return undefined;
      throw thrown;
    }
  };
}
