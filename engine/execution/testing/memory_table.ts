/**
 * A readable table for tests: rows in an array, handed out in small blocks whose vectors take all shapes that storage
 * knows, chosen by a seeded generator, with hidden rows in between.
 */
import { encodeUtf8 } from "../../base/bytes.ts";
import type { TableDefinition } from "../../catalog/definitions.ts";
import type { RowId, StoredValue } from "../../operations/effect.ts";
import { type Block, type BlockCursor, NO_ROW, type RowLocation } from "../../storage/access/block.ts";
import type {
  BytesSink,
  ColumnStatistics,
  IndexBounds,
  LocationCursor,
  ReadableTable,
  ZonePredicate,
} from "../../storage/access/readable_table.ts";
import { type NumberArray, spanOf, type Vector } from "../../storage/access/vector.ts";
import { compareValues } from "../../types/compare.ts";
import { fromStored } from "../../types/stored_value.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { storageClassOf } from "../../types/physical_type.ts";
import type { SeededRandom } from "./seeded_random.ts";

/** A row with its id. */
export interface MemoryRow {
  readonly id: RowId;
  readonly values: readonly StoredValue[];
}

const encoder = new TextEncoder();

/**
 * A readable table for tests: rows in an array, handed out in small blocks whose vectors take all shapes that storage
 * knows, chosen by a seeded generator, with hidden rows in between.
 */
export class MemoryTable implements ReadableTable {
  readonly definition: TableDefinition;
  readonly rows: readonly MemoryRow[];
  readonly #random: SeededRandom;
  readonly #blockRows: number;
  readonly #dictionaries = new Map<number, readonly string[]>();

  constructor(definition: TableDefinition, rows: readonly MemoryRow[], random: SeededRandom, blockRows = 13) {
    this.definition = definition;
    this.rows = rows;
    this.#random = random;
    this.#blockRows = blockRows;
  }

  get estimatedRows(): number {
    return this.rows.length;
  }

  exactRowCount(): number | undefined {
    return this.#random.chance(0.5) ? this.rows.length : undefined;
  }

  statistics(): ColumnStatistics | undefined {
    return undefined;
  }

  find(id: RowId): RowLocation {
    return this.rows.findIndex((row) => row.id === id);
  }

  idAt(location: RowLocation): RowId {
    return this.#row(location).id;
  }

  valueAt(location: RowLocation, columnId: number): StoredValue {
    return this.#row(location).values[this.#position(columnId)] ?? null;
  }

  textBytesAt(location: RowLocation, columnId: number, sink: BytesSink): boolean {
    const value = this.valueAt(location, columnId);
    if (typeof value !== "string" || this.#random.chance(0.5)) return false;
    sink.bytes = encodeUtf8(`-${value}-`);
    sink.start = 1;
    sink.end = sink.bytes.length - 1;
    return true;
  }

  #row(location: RowLocation): MemoryRow {
    const row = this.rows[location];
    if (row === undefined) throw new Error(`no row at ${location}`);
    return row;
  }

  #position(columnId: number): number {
    return this.definition.columns.findIndex((column) => column.id === columnId);
  }

  #type(columnId: number): SqlType {
    return this.definition.columns[this.#position(columnId)]?.type ?? { kind: "i64" };
  }

  findRange(bounds: IndexBounds): LocationCursor {
    const id = (row: MemoryRow): readonly StoredValue[] => [row.id];
    return this.#ordered(id, [{ kind: "i64" }], [false], bounds);
  }

  lookup(indexId: number, key: readonly StoredValue[]): LocationCursor {
    return this.range(indexId, { prefix: key, low: null, high: null, backward: false });
  }

  range(indexId: number, bounds: IndexBounds): LocationCursor {
    const index = this.definition.indexes.find((each) => each.id === indexId);
    if (index === undefined) throw new Error(`no index ${indexId}`);
    const positions = index.columns.map(({ columnId }) => this.#position(columnId));
    const keys = (row: MemoryRow) => positions.map((position) => row.values[position] ?? null);
    const types = index.columns.map(({ columnId }) => this.#type(columnId));
    return this.#ordered(keys, types, index.columns.map(({ descending }) => descending), bounds);
  }

  #ordered(
    keys: (row: MemoryRow) => readonly StoredValue[],
    types: readonly SqlType[],
    descending: readonly boolean[],
    bounds: IndexBounds,
  ): LocationCursor {
    const compare = (index: number, a: StoredValue, b: StoredValue): number => {
      if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
      const type = types[index] ?? { kind: "i64" };
      const order = compareValues(type, fromStored(type, a), fromStored(type, b));
      return descending[index] === true ? -order : order;
    };
    const next = bounds.prefix.length;
    const found = this.rows.map((row, location) => ({ key: keys(row), location, id: row.id })).filter(
      ({ key }) => {
        if (bounds.prefix.some((value, index) => compare(index, value, key[index] ?? null) !== 0)) {
          return false;
        }
        const value = key[next] ?? null;
        if ((bounds.low !== null || bounds.high !== null) && value === null) return false;
        const low = bounds.low === null ? 1 : compare(next, value, bounds.low.value);
        const high = bounds.high === null ? -1 : compare(next, value, bounds.high.value);
        return (low > 0 || low === 0 && bounds.low?.inclusive === true) &&
          (high < 0 || high === 0 && bounds.high?.inclusive === true);
      },
    );
    found.sort((left, right) => {
      for (let index = 0; index < types.length; index++) {
        const order = compare(index, left.key[index] ?? null, right.key[index] ?? null);
        if (order !== 0) return order;
      }
      return left.id < right.id ? -1 : 1;
    });
    if (bounds.backward) found.reverse();
    let position = 0;
    return { next: () => found[position++]?.location ?? NO_ROW };
  }

  scan(
    columnIds: readonly number[],
    options: { readonly ids: boolean; readonly prune: readonly ZonePredicate[] },
  ): BlockCursor {
    let begin = 0;
    return {
      next: () => {
        if (begin >= this.rows.length) return null;
        const rows = this.rows.slice(begin, begin + this.#blockRows);
        const firstLocation = begin;
        begin += rows.length;
        return this.#block(rows, firstLocation, columnIds, options.ids);
      },
    };
  }

  #block(
    rows: readonly MemoryRow[],
    firstLocation: number,
    columnIds: readonly number[],
    ids: boolean,
  ): Block {
    const hidden = this.#random.chance(0.4) ? this.#hidden(rows) : null;
    const versions = hidden === null ? rows : hidden.versions;
    const columns = columnIds.map((columnId) => {
      const position = this.#position(columnId);
      const values = versions.map((row) => row.values[position] ?? null);
      return this.#vector(columnId, this.#type(columnId), values);
    });
    const idValues = versions.map((row) => row.id);
    const rowCount = versions.length;
    return {
      rowCount,
      firstLocation,
      ids: ids ? this.#vector(-1, { kind: "i64" }, idValues) : null,
      columns,
      hidden: hidden === null ? null : hidden.mask,
    };
  }

  /** The rows, some of them with a version before that has ended. */
  #hidden(
    rows: readonly MemoryRow[],
  ): { readonly mask: Uint8Array; readonly versions: readonly MemoryRow[] } {
    const mask: number[] = [];
    const versions: MemoryRow[] = [];
    for (const row of rows) {
      if (this.#random.chance(0.3)) {
        mask.push(1);
        versions.push(row);
      }
      mask.push(0);
      versions.push(row);
    }
    return { mask: Uint8Array.from(mask), versions };
  }

  #vector(columnId: number, type: SqlType, values: readonly StoredValue[]): Vector {
    const [first = null] = values;
    if (
      !(first instanceof Uint8Array) && values.every((value) => value === first) && this.#random.chance(0.7)
    ) {
      return { kind: "constant", value: first };
    }
    const hasNull = values.includes(null) || this.#random.chance(0.1);
    const nulls = hasNull ? Uint8Array.from(values, (value) => value === null ? 1 : 0) : null;
    const storage = storageClassOf(type);
    if (storage === "int" || storage === "float") return this.#numbers(values, nulls, storage === "int");
    if (storage === "text" && this.#random.chance(0.5)) return this.#dictionary(columnId, values, nulls);
    const parts = values.map((value) =>
      typeof value === "string" ? encoder.encode(value) : value as Uint8Array | null
    );
    const bytes = new Uint8Array(parts.reduce((sum, part) => sum + (part?.length ?? 0), 0));
    const starts = new Uint32Array(values.length);
    const ends = new Uint32Array(values.length);
    let offset = 0;
    parts.forEach((part, row) => {
      starts[row] = offset;
      if (part !== null) bytes.set(part, offset);
      offset += part?.length ?? 0;
      ends[row] = offset;
    });
    return { kind: "bytes", bytes, starts, ends, nulls };
  }

  #numbers(values: readonly StoredValue[], nulls: Uint8Array | null, isInteger: boolean): Vector {
    const big = new Map<number, bigint>();
    const data = values.map((value, row) => {
      if (typeof value === "bigint") {
        big.set(row, value);
        return NaN;
      }
      return typeof value === "number" ? value : 0;
    });
    const isSmall = isInteger && big.size === 0 &&
      data.every((value) => Number.isInteger(value) && Math.abs(value) < 2 ** 31);
    const array: NumberArray = isSmall && this.#random.chance(0.6)
      ? Int32Array.from(data)
      : Float64Array.from(data);
    const hasSpan = isInteger && big.size === 0 && this.#random.chance(0.6) &&
      data.every((value) => Number.isSafeInteger(value));
    const span = hasSpan ? spanOf(Math.min(...data), Math.max(...data)) : undefined;
    return {
      kind: "number",
      data: array,
      nulls,
      big: big.size > 0 ? big : null,
      ...(span === undefined ? {} : { span }),
    };
  }

  /** One dictionary serves several blocks, as in a segment. */
  #dictionary(columnId: number, values: readonly StoredValue[], nulls: Uint8Array | null): Vector {
    let dictionary = this.#dictionaries.get(columnId);
    if (dictionary === undefined) {
      const position = this.#position(columnId);
      const texts = this.rows.map((row) => row.values[position]).filter((value) => typeof value === "string");
      dictionary = [...new Set(texts)];
      this.#dictionaries.set(columnId, dictionary);
    }
    const known = dictionary;
    const codes = values.map((value) => Math.max(0, known.indexOf(value as string)));
    return {
      kind: "dictionary",
      codes: known.length < 256 ? Uint8Array.from(codes) : Uint16Array.from(codes),
      dictionary: known.length === 0 ? [""] : known,
      nulls,
    };
  }
}
