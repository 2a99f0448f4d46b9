/**
 * The model that tests compare a table with: every version of every row in a Map, read by plain loops. Values are
 * compared, not representations. Random numbers come from a seeded generator.
 */
import assertStrict from "node:assert/strict";
import {
  type ColumnDefinition,
  type IndexDefinition,
  plainColumn,
  type TableDefinition,
} from "../../catalog/definitions.ts";
import type { OpNumber, RowId, StoredRow, StoredValue } from "../../operations/effect.ts";
import { compareText } from "../../types/text.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { Block } from "../access/block.ts";
import type { IndexBounds, LocationCursor } from "../access/readable_table.ts";
import type { Vector } from "../access/vector.ts";
import { MemoryDisk } from "../../host/memory_host.ts";
import { BlockCache } from "./block_cache.ts";
import { type SegmentFiles, segmentFilesIn } from "./segment_files.ts";
import { decodeTextRange } from "./delta_column.ts";
import type { TableStore } from "./table_store.ts";

/** A seeded generator (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Brands an op number. */
export function op(value: number): OpNumber {
  return value as OpNumber;
}

/** A column definition with what matters to storage. */
export function testColumn(id: number, type: SqlType, missingValue: StoredValue = null): ColumnDefinition {
  return plainColumn(id, `c${id}`, type, { missingValue });
}

/** An index over columns; a negative id means descending, with NULLs first. */
export function testIndex(id: number, columns: readonly number[]): IndexDefinition {
  return {
    id,
    name: `i${id}`,
    kind: "plain",
    unique: false,
    nullsNotDistinct: false,
    columns: columns.map((column) => ({
      columnId: Math.abs(column),
      descending: column < 0,
      nullsFirst: column < 0,
    })),
    includes: [],
    predicateText: null,
    comment: null,
  };
}

/** A table definition with what matters to storage. */
export function testTable(
  columns: readonly ColumnDefinition[],
  indexes: readonly IndexDefinition[] = [],
): TableDefinition {
  return {
    id: 20000,
    schema: "public",
    name: "t",
    columns,
    nextColumnId: columns.length + 1,
    rowIdColumn: null,
    constraints: [],
    indexes,
    triggers: [],
    options: {},
    comment: null,
  };
}

/** Files in memory and a cache. */
export function memorySurroundings(
  cacheBytes = 1 << 22,
): { files: SegmentFiles; cache: BlockCache; disk: MemoryDisk } {
  const disk = new MemoryDisk();
  return { files: segmentFilesIn(disk, "tables"), cache: new BlockCache(cacheBytes), disk };
}

interface Version {
  readonly begin: number;
  end: number;
  /** By column id. */
  readonly values: Map<number, StoredValue>;
}

/** A row of the model as a snapshot sees it. */
export interface ModelRow {
  readonly id: RowId;
  readonly begin: number;
  readonly value: (columnId: number) => StoredValue;
}

/** The reference table. */
export class TableModel {
  definition: TableDefinition;
  readonly #rows = new Map<RowId, Version[]>();
  readonly #missing = new Map<number, StoredValue>();

  constructor(definition: TableDefinition) {
    this.definition = definition;
    this.alter(definition);
  }

  alter(definition: TableDefinition): void {
    this.definition = definition;
    for (const column of definition.columns) this.#missing.set(column.id, column.missingValue);
  }

  put(at: number, id: RowId, values: StoredRow): void {
    this.remove(at, id);
    const versions = this.#rows.get(id) ?? [];
    const byId = new Map<number, StoredValue>();
    this.definition.columns.forEach((column, index) => byId.set(column.id, values[index] ?? null));
    versions.push({ begin: at, end: Infinity, values: byId });
    this.#rows.set(id, versions);
  }

  remove(at: number, id: RowId): void {
    const last = this.#rows.get(id)?.at(-1);
    if (last !== undefined && last.end === Infinity) last.end = at;
  }

  truncate(at: number): void {
    for (const id of this.#rows.keys()) this.remove(at, id);
  }

  isLive(id: RowId): boolean {
    return this.#rows.get(id)?.at(-1)?.end === Infinity;
  }

  find(id: RowId, snapshot: number): ModelRow | undefined {
    const version = this.#rows.get(id)?.find((item) => item.begin <= snapshot && snapshot < item.end);
    if (version === undefined) return undefined;
    return {
      id,
      begin: version.begin,
      value: (columnId) => {
        const value = version.values.get(columnId);
        return value === undefined ? this.#missing.get(columnId) ?? null : value;
      },
    };
  }

  /** Visible rows by ascending id. */
  rows(snapshot: number): ModelRow[] {
    const rows: ModelRow[] = [];
    for (const id of this.#rows.keys()) {
      const row = this.find(id, snapshot);
      if (row !== undefined) rows.push(row);
    }
    return rows.sort((left, right) => left.id < right.id ? -1 : left.id > right.id ? 1 : 0);
  }
}

/** Compares stored values of one column as SQL does; NULL is not special here but greater than all. */
export function compareStored(left: StoredValue, right: StoredValue): number {
  if (left === null || right === null) return left === right ? 0 : left === null ? 1 : -1;
  if (left instanceof Uint8Array && right instanceof Uint8Array) {
    return compareText(latin(left), latin(right));
  }
  if (typeof left === "string" && typeof right === "string") return compareText(left, right);
  if (typeof left === "number" && left !== left) return right !== right ? 0 : 1;
  if (typeof right === "number" && right !== right) return -1;
  return left < right ? -1 : left > right ? 1 : 0;
}

function latin(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}

/** The model's rows in index order. */
export function modelIndexOrder(rows: readonly ModelRow[], index: IndexDefinition): ModelRow[] {
  return [...rows].sort((left, right) => {
    for (const column of index.columns) {
      const a = left.value(column.columnId);
      const b = right.value(column.columnId);
      if (a === null || b === null) {
        if (a === b) continue;
        return (a === null) === column.nullsFirst ? -1 : 1;
      }
      const order = compareStored(a, b);
      if (order !== 0) return column.descending ? -order : order;
    }
    return left.id < right.id ? -1 : 1;
  });
}

/** Whether a row is within bounds. */
export function modelInBounds(row: ModelRow, index: IndexDefinition, bounds: IndexBounds): boolean {
  for (let at = 0; at < bounds.prefix.length; at++) {
    const value = row.value(index.columns[at]?.columnId ?? 0);
    if (compareStored(value, bounds.prefix[at] ?? null) !== 0) return false;
  }
  if (bounds.low === null && bounds.high === null) return true;
  const value = row.value(index.columns[bounds.prefix.length]?.columnId ?? 0);
  if (value === null || bounds.low?.value === null || bounds.high?.value === null) return false;
  if (bounds.low !== null) {
    const order = compareStored(value, bounds.low.value);
    if (order < 0 || (order === 0 && !bounds.low.inclusive)) return false;
  }
  if (bounds.high !== null) {
    const order = compareStored(value, bounds.high.value);
    if (order > 0 || (order === 0 && !bounds.high.inclusive)) return false;
  }
  return true;
}

/** The value of a row of a vector. */
export function vectorValue(vector: Vector, row: number, isText: boolean): StoredValue {
  if (vector.kind === "constant") return vector.value;
  if (vector.nulls !== null && vector.nulls[row] === 1) return null;
  switch (vector.kind) {
    case "number": {
      const value = vector.data[row] as number;
      return value !== value ? vector.big?.get(row) ?? value : value;
    }
    case "bytes": {
      const start = vector.starts[row] as number;
      const end = vector.ends[row] as number;
      return isText ? decodeTextRange(vector.bytes, start, end) : vector.bytes.slice(start, end);
    }
    case "dictionary":
      return vector.dictionary[vector.codes[row] as number] ?? null;
  }
}

/** Takes all locations of a cursor. */
export function drain(cursor: LocationCursor): number[] {
  const locations: number[] = [];
  for (let location = cursor.next(); location !== -1; location = cursor.next()) locations.push(location);
  return locations;
}

function same(actual: StoredValue, expected: StoredValue, what: string): void {
  if (compareStored(actual, expected) !== 0 || typeof actual !== typeof expected) {
    assertStrict.deepEqual(actual, expected, what);
  }
}

/** Compares everything that a reader at the snapshot can be asked with the model. */
export function checkAgainstModel(
  table: TableStore,
  model: TableModel,
  snapshot: number,
  options: { readonly random: () => number; readonly anyId: () => RowId },
): void {
  const reader = table.at(op(snapshot));
  const expected = model.rows(snapshot);
  const columns = model.definition.columns;
  const seen = new Map<RowId, StoredValue[]>();
  const cursor = reader.scan(columns.map((column) => column.id), { ids: true, prune: [] });
  for (let block: Block | null = cursor.next(); block !== null; block = cursor.next()) {
    for (let row = 0; row < block.rowCount; row++) {
      if (block.hidden !== null && block.hidden[row] !== 0) continue;
      assertStrict.ok(block.ids !== null);
      const id = vectorValue(block.ids, row, false) as RowId;
      assertStrict.ok(!seen.has(id), `row ${id} is scanned once at ${snapshot}`);
      assertStrict.equal(reader.idAt(block.firstLocation + row), id);
      seen.set(
        id,
        block.columns.map((vector, index) => {
          const kind = columns[index]?.type.kind;
          return vectorValue(vector, row, kind !== "bytea");
        }),
      );
    }
  }
  assertStrict.equal(seen.size, expected.length, `rows scanned at ${snapshot}`);
  for (const row of expected) {
    const values = seen.get(row.id);
    assertStrict.ok(values !== undefined, `row ${row.id} is scanned at ${snapshot}`);
    columns.forEach((column, index) => {
      same(
        values[index] ?? null,
        row.value(column.id),
        `scanned ${row.id} column ${column.id} at ${snapshot}`,
      );
    });
  }
  const sink = { bytes: new Uint8Array(0), start: 0, end: 0 };
  for (let attempt = 0; attempt < 40; attempt++) {
    const id = options.anyId();
    const row = model.find(id, snapshot);
    const location = reader.find(id);
    assertStrict.equal(location >= 0, row !== undefined, `find ${id} at ${snapshot}`);
    if (row === undefined) continue;
    assertStrict.equal(reader.idAt(location), id);
    assertStrict.equal(reader.versionOp(location), row.begin, `version of ${id} at ${snapshot}`);
    for (const column of columns) {
      const value = row.value(column.id);
      same(reader.valueAt(location, column.id), value, `find ${id} column ${column.id} at ${snapshot}`);
      if (column.type.kind === "text") {
        assertStrict.equal(reader.textBytesAt(location, column.id, sink), value !== null);
        if (value !== null) same(decodeTextRange(sink.bytes, sink.start, sink.end), value, "text bytes");
      }
    }
  }
  const byId = testIndex(-1, [0]);
  const idBounds = randomBounds(byId, expected, options.random, (row) => row.id);
  const idRows = expected.map((row): ModelRow => ({ ...row, value: () => row.id }));
  const idExpected = idRows.filter((row) => modelInBounds(row, byId, idBounds)).map((row) => row.id);
  if (idBounds.backward) idExpected.reverse();
  assertStrict.deepEqual(
    drain(reader.findRange(idBounds)).map((location) => reader.idAt(location)),
    idExpected,
    `rows by id within ${describe(idBounds)} at ${snapshot}`,
  );
  for (const index of model.definition.indexes) {
    const ordered = modelIndexOrder(expected, index);
    for (let attempt = 0; attempt < 3; attempt++) {
      const bounds = randomBounds(
        index,
        expected,
        options.random,
        (row, at) => row.value(index.columns[at]?.columnId ?? 0),
      );
      const wanted = ordered.filter((row) => modelInBounds(row, index, bounds)).map((row) => row.id);
      if (bounds.backward) wanted.reverse();
      assertStrict.deepEqual(
        drain(reader.range(index.id, bounds)).map((location) => reader.idAt(location)),
        wanted,
        `index ${index.id} within ${describe(bounds)} at ${snapshot}`,
      );
      const plain: IndexBounds = { prefix: bounds.prefix, low: null, high: null, backward: false };
      assertStrict.deepEqual(
        drain(reader.lookup(index.id, bounds.prefix)).map((location) => reader.idAt(location)),
        ordered.filter((row) => modelInBounds(row, index, plain)).map((row) => row.id),
        `index ${index.id} = ${describe(plain)} at ${snapshot}`,
      );
    }
  }
}

function describe(bounds: IndexBounds): string {
  return JSON.stringify(bounds, (_key, value) => typeof value === "bigint" ? `${value}n` : value);
}

function randomBounds(
  index: IndexDefinition,
  rows: readonly ModelRow[],
  random: () => number,
  valueOf: (row: ModelRow, at: number) => StoredValue,
): IndexBounds {
  const pick = (at: number): StoredValue => {
    const row = rows[Math.floor(random() * rows.length)];
    return row === undefined ? null : valueOf(row, at);
  };
  const prefixLength = Math.floor(random() * (index.columns.length + 1));
  const prefix = Array.from({ length: prefixLength }, (_unused, at) => pick(at));
  const open = prefixLength < index.columns.length;
  const low = open && random() < 0.5 ? { value: pick(prefixLength), inclusive: random() < 0.5 } : null;
  const high = open && random() < 0.5 ? { value: pick(prefixLength), inclusive: random() < 0.5 } : null;
  return { prefix, low, high, backward: random() < 0.5 };
}
