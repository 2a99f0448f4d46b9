/**
 * Hash tables of joins in memory that threads share: where their arrays are. What is no number (texts, and values of
 * keys that have numbers of their own) travels beside them, once for all rows that have it.
 */
import { assertDefined } from "../base/assert.ts";
import type { KeptTables } from "../execution/runtime/execution.ts";
import { HashIndex } from "../execution/runtime/hash_index.ts";
import { BigInterner, TextInterner, ValueInterner } from "../execution/runtime/interner.ts";
import { type Interner, KeptTable } from "../execution/runtime/kept_table.ts";
import type { MemoryUser } from "../execution/runtime/memory_user.ts";
import { type ColumnLayout, RowBuffer } from "../execution/runtime/row_buffer.ts";
import type { StoredValue } from "../operations/effect.ts";
import { fromStored, toStored } from "../types/stored_value.ts";
import type { SqlType } from "../types/sql_type.ts";
import type { SqlValue } from "../types/value.ts";

/** Values that travel for all tables of a run, at the most: each worker makes them anew. */
export const MAX_TRAVELLING = 1 << 16;
/** Values that are looked at, or bytes that are copied, in one step. */
const STEP_VALUES = 1 << 15, STEP_BYTES = 1 << 22;
/** Arrays begin at multiples of this. */
const ALIGNMENT = 8;

type Numbers = Int32Array | Float64Array | Uint8Array;

/** An array in the memory. */
interface Place {
  readonly at: number;
  readonly length: number;
}

interface SharedColumn extends ColumnLayout {
  readonly type: SqlType;
  /** The values, or their places in `values`; NULL is -1. */
  readonly data: Place;
  readonly nulls: Place | null;
  readonly values: readonly StoredValue[] | null;
  readonly big: ReadonlyMap<number, bigint> | null;
}

/** A hash table, as it is sent to workers. */
export interface SharedTable {
  readonly number: number;
  readonly rows: number;
  readonly columns: readonly SharedColumn[];
  readonly heads: Place;
  readonly next: Place;
  readonly filters: readonly { readonly words: Place; readonly low: number; readonly high: number }[];
  readonly mask: number;
  readonly direct: boolean;
  readonly minimum: number;
  readonly hasNull: boolean;
  readonly longestChain: number;
  readonly interners: readonly SharedInterner[];
}

type SharedInterner = { readonly kind: "text" | "value" | "big"; readonly keys: readonly unknown[] } | null;

/** Tables that are complete, and the arrays that are to be copied. */
interface Measured {
  readonly tables: readonly SharedTable[];
  readonly bytes: number;
  /** How many values travel. */
  readonly travelling: number;
  readonly copies: readonly { readonly from: Numbers; readonly place: Place }[];
}

/** Looks at the tables, in steps; null: more values would have to travel than may. */
export function* measureTables(kept: KeptTables): Generator<void, Measured | null> {
  const copies: { readonly from: Numbers; readonly place: Place }[] = [];
  let bytes = 0, travelling = 0;
  const put = (from: Numbers): Place => {
    const place = { at: bytes, length: from.length };
    bytes += Math.ceil(from.byteLength / ALIGNMENT) * ALIGNMENT;
    copies.push({ from, place });
    return place;
  };
  const tables: SharedTable[] = [];
  for (const [number, table] of kept) {
    const { rows, types, index, interners } = KeptTable.of(table);
    const columns: SharedColumn[] = [];
    for (const [position, column] of rows.columns.entries()) {
      const { storage, nulls, big } = column;
      const type = assertDefined(types[position], "a type of a column");
      let data: Numbers, values: readonly StoredValue[] | null = null;
      if (Array.isArray(column.data)) {
        const distinct = yield* distinctOf(column.data as SqlValue[], rows.count);
        if (distinct === null) return null;
        data = distinct.places;
        values = distinct.values.map((value) => toStored(type, value));
      } else data = column.data.subarray(0, rows.count);
      travelling += (values?.length ?? 0) + (big?.size ?? 0);
      columns.push({
        storage,
        nullable: nulls !== null,
        type,
        data: put(data),
        nulls: nulls === null ? null : put(nulls.subarray(0, rows.count)),
        values,
        big,
      });
    }
    const shared = interners.map(sharedInterner);
    for (const interner of shared) travelling += interner?.keys.length ?? 0;
    if (travelling > MAX_TRAVELLING) return null;
    const { mask, direct, minimum, hasNull, longestChain } = index;
    tables.push({
      number,
      rows: rows.count,
      columns,
      heads: put(index.heads),
      next: put(index.next),
      filters: index.filters.map(({ words, low, high }) => ({ words: put(words), low, high })),
      ...{ mask, direct, minimum, hasNull, longestChain, interners: shared },
    });
  }
  return { tables, bytes, travelling, copies };
}

/** Values that differ, and which of them each row has; null: they are too many. */
function* distinctOf(
  list: readonly SqlValue[],
  count: number,
): Generator<void, { readonly values: readonly SqlValue[]; readonly places: Int32Array } | null> {
  const places = new Int32Array(count);
  const known = new Map<SqlValue, number>([[null, -1]]);
  const values: SqlValue[] = [];
  let last: SqlValue = null, place = -1;
  for (let row = 0; row < count; row++) {
    if (row % STEP_VALUES === STEP_VALUES - 1) yield;
    const value = list[row] ?? null;
    if (value !== last) {
      last = value;
      const found = known.get(value);
      if (found === undefined) {
        if (values.length === MAX_TRAVELLING) return null;
        known.set(value, place = values.push(value) - 1);
      } else place = found;
    }
    places[row] = place;
  }
  return { values, places };
}

function sharedInterner(interner: Interner): SharedInterner {
  if (interner === undefined) return null;
  if (interner instanceof TextInterner) return { kind: "text", keys: interner.texts };
  return interner instanceof ValueInterner
    ? { kind: "value", keys: interner.keys }
    : { kind: "big", keys: interner.values };
}

/** Copies the arrays, in steps. */
export function* copyTables(
  { copies }: Measured,
  memory: SharedArrayBuffer,
  at: number,
): Generator<void, void> {
  let copied = 0;
  for (const { from, place } of copies) {
    const to = new Uint8Array(memory, at + place.at, from.byteLength);
    const bytes = new Uint8Array(from.buffer, from.byteOffset, from.byteLength);
    for (let done = 0; done < bytes.length; done += STEP_BYTES) {
      const piece = bytes.subarray(done, done + STEP_BYTES);
      to.set(piece, done);
      if ((copied += piece.length) < STEP_BYTES) continue;
      copied = 0;
      yield;
    }
  }
}

/** Counts nothing: the statement has what is shared on its account, and the rest is little. */
const NOBODY: Omit<MemoryUser, "context"> = {
  isHalfFull: false,
  charge: () => {},
  chargeValue: () => {},
  wrote: () => {},
  beganRun: () => {},
  beganPass: () => {},
};

/** The tables over what another thread has written, from `at` on. */
export function tablesOver(
  tables: readonly SharedTable[],
  memory: SharedArrayBuffer,
  at: number,
): KeptTables {
  return new Map(tables.map((table) => [table.number, tableOver(table, memory, at)]));
}

function tableOver(table: SharedTable, memory: SharedArrayBuffer, start: number): KeptTable {
  const user = NOBODY as MemoryUser;
  const integers = ({ at, length }: Place): Int32Array => new Int32Array(memory, start + at, length);
  const bytes = ({ at, length }: Place): Uint8Array => new Uint8Array(memory, start + at, length);
  const rows = new RowBuffer(user, table.columns);
  rows.count = rows.capacity = table.rows;
  rows.columns.forEach((column, position) => {
    const { storage, data, nulls, values, type, big } = assertDefined(table.columns[position], "a column");
    if (values !== null) {
      const known = values.map((value) => fromStored(type, value));
      const places = integers(data);
      const list = new Array<SqlValue>(places.length);
      for (let row = 0; row < list.length; row++) {
        const place = places[row] as number;
        list[row] = place < 0 ? null : known[place] as SqlValue;
      }
      column.data = list;
    } else if (storage === "i32") column.data = integers(data);
    else if (storage === "bool") column.data = bytes(data);
    else column.data = new Float64Array(memory, start + data.at, data.length);
    column.nulls = nulls === null ? null : bytes(nulls);
    column.big = big === null ? null : new Map(big);
  });
  const keys = table.interners.map((_, key) => key);
  const filters = table.filters.map(({ words, low, high }) => ({ words: integers(words), low, high }));
  const { heads, next, mask, direct, minimum, hasNull, longestChain } = table;
  return new KeptTable({
    rows,
    types: table.columns.map(({ type }) => type),
    index: new HashIndex(user, rows, keys, {
      heads: integers(heads),
      next: integers(next),
      ...{ mask, direct, minimum, hasNull, longestChain, filters },
    }),
    interners: table.interners.map((interner) => internerOver(interner, user)),
  });
}

function internerOver(shared: SharedInterner, user: MemoryUser): Interner {
  if (shared === null) return undefined;
  const { kind, keys } = shared;
  if (kind === "text") {
    const interner = new TextInterner(user);
    for (const text of keys) interner.ofText(text as string);
    return interner;
  }
  if (kind === "big") {
    const interner = new BigInterner();
    for (const integer of keys) interner.of(integer as bigint);
    return interner;
  }
  const interner = new ValueInterner(user);
  // They are looked for, and never read.
  for (const key of keys) interner.of(key, null);
  return interner;
}
