/**
 * Keys of sorted indexes. An index keeps its entries in order of one of two key forms:
 *
 * - *number keys*, for an index over a single int or float column as long as every value is exact as a double: the
 *   value itself, negated when the column is descending; NaN stands for NULL and sorts first or last as the index
 *   says;
 * - *text keys* otherwise: a string whose order under JavaScript's `<` is the order of the index. Each column is a
 *   marker (NULL first, value, NULL last) and, for a value, an encoding that is no prefix of another value's
 *   encoding; a descending column has each code unit inverted.
 *
 * Invariants: both forms order the same values alike; text compares by code point (the "C" collation), although
 * JavaScript compares by UTF-16 unit; equal keys mean equal SQL values. Part-wise structures may use different forms
 * for the same index (a value outside the safe integers turns only its own part to text keys), so every number key
 * can be turned into its text key.
 */
import { assertDefined } from "../../base/assert.ts";
import { type IndexColumn, plainColumn, type TableDefinition } from "../../catalog/definitions.ts";
import type { StoredValue } from "../../operations/effect.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { type StorageClass, storageClassOf } from "../../types/physical_type.ts";
import type { IndexBounds } from "../access/readable_table.ts";
import { hasOwnOrder, orderedBytesKey } from "./value_key.ts";

const NULL_FIRST = "\u0001";
const VALUE = "\u0002";
const NULL_LAST = "\u0003";
/** Above every continuation of a complete key: what follows a complete column is a marker. */
const ABOVE = "\uffff";

const FOURTEEN_BITS = 16384;

const floatScratch = new Float64Array(1);
const wordScratch = new Uint32Array(floatScratch.buffer);

interface KeyColumn {
  readonly columnId: number;
  readonly storageClass: StorageClass;
  readonly type: SqlType;
  readonly ownOrder: boolean;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** A range of row ids; null: unbounded on that side. */
export interface IdRange {
  readonly low: number | bigint | null;
  /** Begin after rows with the id `low`. */
  readonly lowAfter: boolean;
  readonly high: number | bigint | null;
  /** End after rows with the id `high`. */
  readonly highAfter: boolean;
}

/** Where a walk over an index begins and ends, in both key forms; see {@link IndexKeyEncoder.bounds}. */
export class KeyBounds {
  readonly #encoder: IndexKeyEncoder;
  readonly #bounds: IndexBounds;
  /** Entries from this key on (after those equal to it when `lowAfter`). Only for encoders with number keys. */
  lowNumber = 0;
  lowAfter = false;
  /** Entries up to this key (those equal to it included when `highAfter`). */
  highNumber = 0;
  highAfter = true;
  #lowText: string | null = null;
  #highText: string | null = null;

  constructor(encoder: IndexKeyEncoder, bounds: IndexBounds) {
    this.#encoder = encoder;
    this.#bounds = bounds;
    if (encoder.numeric) encoder.setNumberBounds(this, bounds);
  }

  /** Bounds on row ids, as ids; null when no id can be within. */
  idRange(): IdRange | null {
    const { prefix, low, high } = this.#bounds;
    if (prefix.length > 0) {
      const id = idBound(prefix[0]);
      return id === null ? null : { low: id, lowAfter: false, high: id, highAfter: true };
    }
    const lowId = low === null ? null : idBound(low.value);
    const highId = high === null ? null : idBound(high.value);
    if (low !== null && lowId === null || high !== null && highId === null) return null;
    return {
      low: lowId,
      lowAfter: low?.inclusive === false,
      high: highId,
      highAfter: high?.inclusive !== false,
    };
  }

  /** Whether all entries are meant, those of NULL included. */
  get isEverything(): boolean {
    const { prefix, low, high } = this.#bounds;
    return prefix.length === 0 && low === null && high === null;
  }

  /** Whether exactly the entries with one complete key are meant. */
  get isEquality(): boolean {
    return this.#bounds.prefix.length === this.#encoder.columnIds.length;
  }

  /** The first text key that is not below the bounds. */
  get lowText(): string {
    if (this.#lowText === null) this.#setText();
    return this.#lowText ?? "";
  }

  /** The first text key above the bounds. */
  get highText(): string {
    if (this.#highText === null) this.#setText();
    return this.#highText ?? "";
  }

  #setText(): void {
    const [low, high] = this.#encoder.textBounds(this.#bounds);
    this.#lowText = low;
    this.#highText = high;
  }
}

/** Turns the values of an index's columns into keys. */
export class IndexKeyEncoder {
  readonly #columns: readonly KeyColumn[];
  /** Whether number keys are possible: a single column of class int or float. */
  readonly numeric: boolean;
  /** Of the single column, when `numeric`. */
  readonly descending: boolean;
  readonly nullsFirst: boolean;
  readonly columnIds: readonly number[];

  constructor(table: TableDefinition, columns: readonly IndexColumn[]) {
    this.#columns = columns.map((column) => {
      const definition = assertDefined(
        table.columns.find((candidate) => candidate.id === column.columnId),
        `column ${column.columnId} of table ${table.name}`,
      );
      return {
        columnId: column.columnId,
        storageClass: storageClassOf(definition.type),
        type: definition.type,
        ownOrder: hasOwnOrder(definition.type),
        descending: column.descending,
        nullsFirst: column.nullsFirst,
      };
    });
    this.columnIds = columns.map((column) => column.columnId);
    const first = this.#columns[0];
    this.numeric = this.#columns.length === 1 && first !== undefined &&
      (first.storageClass === "int" || first.storageClass === "float");
    this.descending = first?.descending ?? false;
    this.nullsFirst = first?.nullsFirst ?? false;
  }

  /** The encoder for row ids: ascending numbers, never NULL. */
  static forRowIds(): IndexKeyEncoder {
    return rowIdEncoder;
  }

  /** The number key, NaN for NULL; undefined when the value has only a text key. */
  numberKey(value: StoredValue): number | undefined {
    if (typeof value === "number") {
      if (value !== value) return undefined;
      return this.descending ? 0 - value : value;
    }
    return value === null ? NaN : undefined;
  }

  /** The value that a number key stands for. */
  valueOfNumberKey(key: number): StoredValue {
    if (key !== key) return null;
    return this.descending ? 0 - key : key;
  }

  /** The text key of an entry in number form. */
  textOfNumberKey(key: number): string {
    return this.textKey([this.valueOfNumberKey(key)]);
  }

  /** The text key of values for the index's columns or for a prefix of them. */
  textKey(values: readonly StoredValue[]): string {
    let key = "";
    for (let index = 0; index < values.length; index++) {
      const column = this.#columns[index] as KeyColumn;
      const value = values[index] as StoredValue;
      if (value === null) key += column.nullsFirst ? NULL_FIRST : NULL_LAST;
      else key += VALUE + encodeColumn(column, value);
    }
    return key;
  }

  /** The value of a column in a text key of `units` from `start` on; undefined: the key alone does not have it. */
  valueIn(units: Uint16Array, start: number, column: number): StoredValue | undefined {
    let at = start;
    for (let index = 0; index < column; index++) at = this.#behind(units, at, index);
    return at < 0 ? undefined : decodeColumn(this.#columns[column] as KeyColumn, units, at);
  }

  /** Where the column behind this one begins; -1: nobody knows. */
  #behind(units: Uint16Array, at: number, index: number): number {
    if (at < 0 || units[at] !== MARKED_VALUE) return at < 0 ? at : at + 1;
    const column = this.#columns[index] as KeyColumn;
    if (column.storageClass === "int" && !column.ownOrder) {
      return (units[at + 1] as number) === (column.descending ? 0xffff - SAFE : SAFE) ? at + 6 : -1;
    }
    if (column.storageClass !== "text" || column.ownOrder) return -1;
    return endOfText(column, units, at + 1) + 1;
  }

  /** Bounds in terms of keys. `low` and `high` bound the column's value, also when the column is descending. */
  bounds(bounds: IndexBounds): KeyBounds {
    return new KeyBounds(this, bounds);
  }

  /** Fills in the number form of bounds. */
  setNumberBounds(target: KeyBounds, bounds: IndexBounds): void {
    if (bounds.prefix.length > 0) {
      const key = this.#nearestNumberKey(bounds.prefix[0] ?? null);
      target.lowNumber = key;
      target.highNumber = key;
      target.lowAfter = false;
      // A bigint or NaN is equal to no number key: nothing lies between the two positions.
      target.highAfter = typeof bounds.prefix[0] !== "bigint" && !isNaNValue(bounds.prefix[0]);
      return;
    }
    const lower = this.descending ? bounds.high : bounds.low;
    const upper = this.descending ? bounds.low : bounds.high;
    const bounded = lower !== null || upper !== null;
    if (lower !== null && lower.value === null || upper !== null && upper.value === null) {
      // A comparison with NULL is never true: an empty range.
      target.lowNumber = NaN;
      target.highNumber = NaN;
      target.lowAfter = true;
      target.highAfter = false;
      return;
    }
    if (lower !== null) {
      target.lowNumber = this.#nearestNumberKey(lower.value);
      target.lowAfter = !lower.inclusive;
    } else if (this.nullsFirst) {
      target.lowNumber = NaN;
      target.lowAfter = bounded;
    } else {
      target.lowNumber = -Infinity;
      target.lowAfter = false;
    }
    if (upper !== null) {
      target.highNumber = this.#nearestNumberKey(upper.value);
      target.highAfter = upper.inclusive;
    } else if (this.nullsFirst) {
      target.highNumber = Infinity;
      target.highAfter = true;
    } else {
      target.highNumber = NaN;
      target.highAfter = !bounded;
    }
    // NaN as a bound of a float column is above every number: place it past the largest number key.
    if (lower !== null && isNaNValue(lower.value)) target.lowAfter = !this.descending;
    if (upper !== null && isNaNValue(upper.value)) target.highAfter = !this.descending;
  }

  /** The half-open range of text keys that bounds describe. */
  textBounds(bounds: IndexBounds): [low: string, high: string] {
    const prefix = this.textKey(bounds.prefix);
    const column = this.#columns[bounds.prefix.length];
    if (bounds.low === null && bounds.high === null) return [prefix, prefix + ABOVE];
    const range = assertDefined(column, "the column that an index range bounds");
    const lower = range.descending ? bounds.high : bounds.low;
    const upper = range.descending ? bounds.low : bounds.high;
    let low = prefix + VALUE;
    let high = prefix + NULL_LAST;
    if (lower !== null) {
      // A comparison with NULL is never true: an empty range.
      if (lower.value === null) return [prefix, prefix];
      low += encodeColumn(range, lower.value) + (lower.inclusive ? "" : ABOVE);
    }
    if (upper !== null) {
      if (upper.value === null) return [prefix, prefix];
      high = prefix + VALUE + encodeColumn(range, upper.value) + (upper.inclusive ? ABOVE : "");
    }
    return [low, high];
  }

  #nearestNumberKey(value: StoredValue): number {
    if (value === null) return NaN;
    // Outside the safe integers the nearest double still lies beyond every number key, or between the same two.
    let key = typeof value === "number" ? value : Number(value);
    if (key !== key) key = Infinity;
    return this.descending ? 0 - key : key;
  }
}

function idBound(value: StoredValue | undefined): number | bigint | null {
  if (typeof value === "bigint") return value;
  if (typeof value !== "number") return null;
  // NaN is greater than every number.
  return value === value ? value : Infinity;
}

function isNaNValue(value: StoredValue | undefined): boolean {
  return typeof value === "number" && value !== value;
}

const rowIdEncoder = new IndexKeyEncoder({
  id: 0,
  schema: "",
  name: "row ids",
  columns: [plainColumn(0, "rowid", { kind: "i64" }, { notNull: true, hidden: true })],
  nextColumnId: 1,
  rowIdColumn: null,
  constraints: [],
  indexes: [],
  triggers: [],
  options: {},
  comment: null,
}, [{ columnId: 0, descending: false, nullsFirst: false }]);

/** Compares number keys of an index, NaN being NULL. */
export function compareNumberKeys(left: number, right: number, nullsFirst: boolean): number {
  if (left < right) return -1;
  if (left > right) return 1;
  if (left === right) return 0;
  if (left !== left) {
    if (right !== right) return 0;
    return nullsFirst ? -1 : 1;
  }
  return nullsFirst ? 1 : -1;
}

/** Whether a column's values can be read out of text keys. */
export function isInKeys(type: SqlType): boolean {
  const storage = storageClassOf(type);
  return !hasOwnOrder(type) && (storage === "int" || storage === "text");
}

const MARKED_VALUE = VALUE.charCodeAt(0);
/** What a safe integer begins with. */
const SAFE = 0x30;

function decodeColumn(column: KeyColumn, units: Uint16Array, at: number): StoredValue | undefined {
  if (units[at] !== MARKED_VALUE) return null;
  const isWhole = !column.ownOrder;
  if (isWhole && column.storageClass === "int") return decodeInteger(units, at + 1, column.descending);
  if (isWhole && column.storageClass === "text") return decodeText(column, units, at + 1);
  return undefined;
}

/** The safe integer at a place; undefined: it is none. */
function decodeInteger(units: Uint16Array, at: number, descending: boolean): number | undefined {
  const mask = descending ? 0xffff : 0;
  if (((units[at] as number) ^ mask) !== SAFE) return undefined;
  const first = (units[at + 1] as number) ^ mask;
  const second = (units[at + 2] as number) ^ mask;
  const high = first * FOURTEEN_BITS + second - 33554432;
  return high * 268435456 + ((units[at + 3] as number) ^ mask) * FOURTEEN_BITS +
    ((units[at + 4] as number) ^ mask);
}

/** The place of a text's terminator. */
function endOfText(column: KeyColumn, units: Uint16Array, at: number): number {
  const terminator = column.descending ? 0xffff : 0;
  let end = at;
  while (units[end] !== terminator) end++;
  return end;
}

/** The text at a place; the reverse of {@link encodeText}. */
function decodeText(column: KeyColumn, units: Uint16Array, at: number): string {
  const mask = column.descending ? 0xffff : 0;
  const end = endOfText(column, units, at);
  let text = "";
  for (let index = at; index < end; index++) {
    const unit = (units[index] as number) ^ mask;
    if (unit === 1) text += String.fromCharCode(((units[++index] as number) ^ mask) - 1);
    else if (unit >= 0xf800) text += String.fromCharCode(unit - 0x2000);
    else if (unit >= 0xd800) text += String.fromCharCode(unit + 0x800);
    else text += String.fromCharCode(unit);
  }
  return text;
}

function encodeColumn(column: KeyColumn, value: Exclude<StoredValue, null>): string {
  const encoded = column.ownOrder
    ? encodeUnits(orderedBytesKey(column.type, value))
    : typeof value === "string"
    ? encodeText(value)
    : typeof value === "number" || typeof value === "bigint"
    ? column.storageClass === "float" ? encodeFloat(Number(value)) : encodeInteger(value)
    : encodeBytes(value);
  return column.descending ? invert(encoded) : encoded;
}

/** Inverts each unit, which reverses the order of prefix-free strings. */
function invert(text: string): string {
  let inverted = "";
  for (let index = 0; index < text.length; index++) {
    inverted += String.fromCharCode(0xffff - text.charCodeAt(index));
  }
  return inverted;
}

function encodeText(text: string): string {
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 || unit <= 1) return encodeTextUnits(text);
  }
  return text + "\u0000";
}

/** Moves surrogates above U+FFFF's units, and makes room for the terminator 0. */
function encodeTextUnits(text: string): string {
  let encoded = "";
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xe000) encoded += String.fromCharCode(unit - 0x800);
    else if (unit >= 0xd800) encoded += String.fromCharCode(unit + 0x2000);
    else if (unit <= 1) encoded += "\u0001" + String.fromCharCode(unit + 1);
    else encoded += String.fromCharCode(unit);
  }
  return encoded + "\u0000";
}

function encodeBytes(bytes: Uint8Array): string {
  let encoded = "";
  for (let index = 0; index < bytes.length; index++) {
    encoded += String.fromCharCode((bytes[index] as number) + 1);
  }
  return encoded + "\u0000";
}

function encodeUnits(units: string): string {
  let encoded = "";
  for (let index = 0; index < units.length; index++) {
    encoded += String.fromCharCode(units.charCodeAt(index) + 1);
  }
  return encoded + "\u0000";
}

function encodeInteger(value: number | bigint): string {
  if (typeof value === "bigint") return encodeBigInteger(value);
  if (value === Infinity) return "\u0050";
  if (value === -Infinity) return "\u0010";
  if (Number.isSafeInteger(value)) return "\u0030" + encodeSafeInteger(value);
  return encodeBigInteger(BigInt(value));
}

function encodeSafeInteger(value: number): string {
  const high = Math.floor(value / 268435456);
  const low = value - high * 268435456;
  const shifted = high + 33554432;
  return String.fromCharCode(
    Math.floor(shifted / FOURTEEN_BITS),
    shifted % FOURTEEN_BITS,
    low >>> 14,
    low & (FOURTEEN_BITS - 1),
  );
}

function encodeBigInteger(value: bigint): string {
  const negative = value < 0n;
  const digits = (negative ? -value : value).toString(16);
  if (!negative) return "\u0040" + String.fromCharCode(digits.length) + digits;
  let encoded = "\u0020" + String.fromCharCode(0x7fff - digits.length);
  for (let index = 0; index < digits.length; index++) {
    encoded += String.fromCharCode(0x7f - digits.charCodeAt(index));
  }
  return encoded;
}

function encodeFloat(value: number): string {
  if (value !== value) return "\uffff\uffff\uffff\uffff";
  floatScratch[0] = value === 0 ? 0 : value;
  let low = wordScratch[0] as number;
  let high = wordScratch[1] as number;
  if (high >= 0x80000000) {
    high = ~high >>> 0;
    low = ~low >>> 0;
  } else {
    high = (high ^ 0x80000000) >>> 0;
  }
  return String.fromCharCode(high >>> 16, high & 0xffff, low >>> 16, low & 0xffff);
}
