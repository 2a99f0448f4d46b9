/**
 * The first pass over a column of a segment under construction: its range, zones and statistics, and from these the
 * layout. The choice depends on the rows alone, so that equal content gives equal bytes.
 */
import type { StoredValue } from "../../operations/effect.ts";
import type { StorageClass } from "../../types/physical_type.ts";
import { hashBytes, hashNumber, hashText } from "./bloom_filter.ts";
import type { ColumnReader } from "./column_reader.ts";
import type { BytesSink } from "../access/readable_table.ts";
import { decodeTextRange } from "./delta_column.ts";
import { DistinctSketch } from "./distinct_sketch.ts";
import { chooseElement, type Element } from "./number_block.ts";
import { type ColumnZones, ZONE_TEXT_LENGTH } from "./segment_format.ts";

/** Most entries and bytes of a dictionary, which stays in memory. */
const DICTIONARY_ENTRIES = 65536;
const DICTIONARY_BYTES = 1 << 20;
/** A dictionary must save at least this many repetitions per entry. */
const DICTIONARY_REPETITION = 4;
/** After this many rows without repetition the search for a dictionary ends. */
const DICTIONARY_TRIAL_ROWS = 16384;

const NOTHING = new Uint8Array(0);

/** Rows of one block: `rows[from … from + count)` of one source each. */
export interface BlockRows {
  readonly sources: readonly ColumnReader[];
  /** Which source a row is of; null: all of the first. */
  readonly sourceOf: Uint8Array | null;
  readonly rows: Uint32Array;
  readonly from: number;
  readonly count: number;
}

/** What the analysis of a whole column found. */
export interface ColumnSummary {
  readonly zones: ColumnZones;
  readonly nullCount: number;
  readonly minimum: StoredValue;
  readonly maximum: StoredValue;
  readonly valueBytes: number;
  readonly sketch: DistinctSketch;
  /** Set when every row holds this value. */
  readonly constant: StoredValue | undefined;
  readonly element: Element;
  readonly hasBig: boolean;
  /** Ids base, base + 1, …: set when that is what the column holds. */
  readonly sequenceBase: number | undefined;
  /** Distinct texts in byte order, when a dictionary is worth while. */
  readonly dictionary: readonly Uint8Array[] | null;
}

/** Sees the rows of a column block by block. */
export interface ColumnAnalysis {
  addBlock(block: BlockRows): void;
  finish(): ColumnSummary;
}

/** The analysis for a column of the class. */
export function analyzeColumn(storageClass: StorageClass, blocks: number): ColumnAnalysis {
  return storageClass === "int" || storageClass === "float"
    ? new NumberAnalysis(blocks)
    : new BytesAnalysis(blocks, storageClass === "text");
}

class NumberAnalysis implements ColumnAnalysis {
  readonly #nullCounts: Uint16Array;
  readonly #minima: Float64Array;
  readonly #maxima: Float64Array;
  readonly #sketch = new DistinctSketch();
  #block = 0;
  #rowCount = 0;
  #nullCount = 0;
  #minimum = Infinity;
  #maximum = -Infinity;
  #bigMinimum: bigint | null = null;
  #bigMaximum: bigint | null = null;
  #any = false;
  #integral = true;
  #single = true;
  #hasBig = false;
  #hasNaN = false;
  #base = 0;
  #sequence = true;
  #first = 0;
  #constant = true;

  constructor(blocks: number) {
    this.#nullCounts = new Uint16Array(blocks);
    this.#minima = new Float64Array(blocks);
    this.#maxima = new Float64Array(blocks);
  }

  addBlock(block: BlockRows): void {
    const { sources, sourceOf, rows, from, count } = block;
    let reader = sources[0] as ColumnReader;
    let minimum = Infinity;
    let maximum = -Infinity;
    let nulls = 0;
    let unknown = false;
    // Zone bounds of big values, widened by more than the rounding of their conversion.
    let bigLow = Infinity;
    let bigHigh = -Infinity;
    for (let index = from; index < from + count; index++) {
      if (sourceOf !== null) reader = sources[sourceOf[index] as number] as ColumnReader;
      const row = rows[index] as number;
      if (reader.isNull(row)) {
        nulls++;
        continue;
      }
      const value = reader.numberAt(row);
      if (value !== value) {
        const big = reader.bigAt(row);
        if (big === undefined) {
          this.#hasNaN = true;
          unknown = true;
          this.#sketch.add(hashNumber(NaN));
        } else {
          this.#addBig(big);
          const near = Number(big);
          bigLow = Math.min(bigLow, near - Math.abs(near) * 1e-15);
          bigHigh = Math.max(bigHigh, near + Math.abs(near) * 1e-15);
        }
        this.#constant = this.#sequence = this.#integral = false;
        this.#any = true;
        continue;
      }
      if (!this.#any) {
        this.#any = true;
        this.#first = this.#base = value;
      } else if (this.#constant && !Object.is(value, this.#first)) this.#constant = false;
      if (value !== this.#base + this.#rowCount + (index - from)) this.#sequence = false;
      if (value < minimum) minimum = value;
      if (value > maximum) maximum = value;
      if (this.#integral && (!Number.isSafeInteger(value) || Object.is(value, -0))) this.#integral = false;
      if (this.#single && !Object.is(Math.fround(value), value)) this.#single = false;
      this.#sketch.add(hashNumber(value));
    }
    if (minimum < this.#minimum) this.#minimum = minimum;
    if (maximum > this.#maximum) this.#maximum = maximum;
    this.#nullCounts[this.#block] = nulls;
    this.#minima[this.#block] = Math.min(minimum, bigLow);
    this.#maxima[this.#block] = unknown ? NaN : Math.max(maximum, bigHigh);
    this.#block++;
    this.#nullCount += nulls;
    this.#rowCount += count;
  }

  #addBig(big: bigint): void {
    this.#hasBig = true;
    if (this.#bigMinimum === null || big < this.#bigMinimum) this.#bigMinimum = big;
    if (this.#bigMaximum === null || big > this.#bigMaximum) this.#bigMaximum = big;
    this.#sketch.add(hashText(big.toString(36)));
  }

  finish(): ColumnSummary {
    const allNull = this.#nullCount === this.#rowCount;
    const oneValue = this.#constant && this.#any && this.#nullCount === 0;
    const low = this.#minimum;
    const high = this.#maximum;
    const bigLow = this.#bigMinimum;
    const bigHigh = this.#bigMaximum;
    const least = bigLow !== null && bigLow < low ? bigLow : low;
    const greatest = bigHigh !== null && bigHigh > high ? bigHigh : high;
    const hasBig = this.#hasBig;
    return {
      zones: {
        nullCounts: this.#nullCounts,
        minima: this.#minima,
        maxima: this.#maxima,
        lows: [],
        highs: [],
        cut: new Uint8Array(0),
      },
      nullCount: this.#nullCount,
      minimum: allNull || least > greatest ? null : least,
      maximum: allNull ? null : this.#hasNaN ? NaN : greatest,
      valueBytes: (this.#rowCount - this.#nullCount) * 8,
      sketch: this.#sketch,
      constant: allNull ? null : oneValue ? this.#first : undefined,
      element: hasBig ? "f64" : chooseElement({
        minimum: allNull ? 0 : low,
        maximum: allNull ? 0 : high,
        integral: this.#integral,
        single: this.#single,
      }),
      hasBig,
      sequenceBase: this.#sequence && this.#integral && this.#nullCount === 0 ? this.#base : undefined,
      dictionary: null,
    };
  }
}

class BytesAnalysis implements ColumnAnalysis {
  readonly #isText: boolean;
  readonly #nullCounts: Uint16Array;
  readonly #lows: string[] = [];
  readonly #highs: string[] = [];
  readonly #cut: Uint8Array;
  readonly #sketch = new DistinctSketch();
  readonly #sink: BytesSink = { bytes: new Uint8Array(0), start: 0, end: 0 };
  #block = 0;
  #rowCount = 0;
  #nullCount = 0;
  #valueBytes = 0;
  #minimum: Uint8Array | null = null;
  #maximum: Uint8Array | null = null;
  #entries: Map<string, Uint8Array> | null;
  #entryBytes = 0;

  constructor(blocks: number, isText: boolean) {
    this.#isText = isText;
    this.#nullCounts = new Uint16Array(blocks);
    this.#cut = new Uint8Array(isText ? blocks : 0);
    this.#entries = isText ? new Map() : null;
  }

  addBlock(block: BlockRows): void {
    const { sources, sourceOf, rows, from, count } = block;
    const sink = this.#sink;
    let reader = sources[0] as ColumnReader;
    let nulls = 0;
    // Places, not copies: in ascending data every row is a new greatest one. Sources do not move their bytes.
    const least: BytesSink = { bytes: NOTHING, start: 0, end: 0 };
    const greatest: BytesSink = { bytes: NOTHING, start: 0, end: 0 };
    const previous: BytesSink = { bytes: NOTHING, start: 0, end: 0 };
    let any = false;
    for (let index = from; index < from + count; index++) {
      if (sourceOf !== null) reader = sources[sourceOf[index] as number] as ColumnReader;
      const row = rows[index] as number;
      if (reader.isNull(row)) {
        nulls++;
        continue;
      }
      reader.bytesAt(row, sink);
      this.#valueBytes += sink.end - sink.start;
      if (any && comparePlaces(previous, sink) === 0) continue;
      setPlace(previous, sink);
      this.#sketch.add(hashBytes(sink.bytes, sink.start, sink.end));
      if (!any || comparePlaces(least, sink) > 0) setPlace(least, sink);
      if (!any || comparePlaces(greatest, sink) < 0) setPlace(greatest, sink);
      any = true;
      if (this.#entries !== null) this.#addEntry(this.#entries, sink);
    }
    const low = any ? least.bytes.slice(least.start, least.end) : null;
    const high = any ? greatest.bytes.slice(greatest.start, greatest.end) : null;
    this.#nullCounts[this.#block] = nulls;
    if (this.#isText) {
      this.#lows.push(prefixOf(low));
      const prefix = prefixOf(high);
      this.#highs.push(prefix);
      this.#cut[this.#block] = high !== null && decodeTextRange(high, 0, high.length).length > prefix.length
        ? 1
        : 0;
    }
    this.#block++;
    this.#rowCount += count;
    this.#nullCount += nulls;
    if (low !== null && (this.#minimum === null || compareBytes(low, this.#minimum) < 0)) this.#minimum = low;
    if (high !== null && (this.#maximum === null || compareBytes(high, this.#maximum) > 0)) {
      this.#maximum = high;
    }
    const entries = this.#entries;
    if (entries !== null && this.#rowCount >= DICTIONARY_TRIAL_ROWS && entries.size * 2 > this.#rowCount) {
      this.#entries = null;
    }
  }

  #addEntry(entries: Map<string, Uint8Array>, sink: BytesSink): void {
    const text = decodeTextRange(sink.bytes, sink.start, sink.end);
    if (entries.has(text)) return;
    entries.set(text, sink.bytes.slice(sink.start, sink.end));
    this.#entryBytes += sink.end - sink.start;
    if (entries.size > DICTIONARY_ENTRIES || this.#entryBytes > DICTIONARY_BYTES) this.#entries = null;
  }

  finish(): ColumnSummary {
    const minimum = this.#minimum;
    const maximum = this.#maximum;
    const present = this.#rowCount - this.#nullCount;
    const valueOf = (bytes: Uint8Array | null): StoredValue =>
      bytes === null ? null : this.#isText ? decodeTextRange(bytes, 0, bytes.length) : bytes;
    const same = minimum !== null && maximum !== null && compareBytes(minimum, maximum) === 0;
    const entries = this.#entries;
    const dictionary = entries !== null && entries.size * DICTIONARY_REPETITION <= present
      ? [...entries.values()].sort(compareBytes)
      : null;
    return {
      zones: {
        nullCounts: this.#nullCounts,
        minima: new Float64Array(0),
        maxima: new Float64Array(0),
        lows: this.#lows,
        highs: this.#highs,
        cut: this.#cut,
      },
      nullCount: this.#nullCount,
      minimum: statisticOf(valueOf(minimum)),
      maximum: statisticOf(valueOf(maximum)),
      valueBytes: this.#valueBytes,
      sketch: this.#sketch,
      constant: present === 0 ? null : same && this.#nullCount === 0 ? valueOf(minimum) : undefined,
      element: "f64",
      hasBig: false,
      sequenceBase: undefined,
      dictionary,
    };
  }
}

/** Statistics keep bounds of moderate size only. */
function statisticOf(value: StoredValue): StoredValue {
  if (typeof value === "string" && value.length > 128) return null;
  return value instanceof Uint8Array ? null : value;
}

function prefixOf(bytes: Uint8Array | null): string {
  if (bytes === null) return "";
  const text = decodeTextRange(bytes, 0, Math.min(bytes.length, ZONE_TEXT_LENGTH * 4 + 3));
  return Array.from(text).slice(0, ZONE_TEXT_LENGTH).join("");
}

function compareBytes(left: Uint8Array, right: Uint8Array): number {
  const shared = Math.min(left.length, right.length);
  for (let index = 0; index < shared; index++) {
    const difference = (left[index] as number) - (right[index] as number);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

function setPlace(target: BytesSink, source: BytesSink): void {
  target.bytes = source.bytes;
  target.start = source.start;
  target.end = source.end;
}

function comparePlaces(left: BytesSink, right: BytesSink): number {
  const leftLength = left.end - left.start;
  const rightLength = right.end - right.start;
  const shared = Math.min(leftLength, rightLength);
  for (let index = 0; index < shared; index++) {
    const difference = (left.bytes[left.start + index] as number) -
      (right.bytes[right.start + index] as number);
    if (difference !== 0) return difference;
  }
  return leftLength - rightLength;
}
