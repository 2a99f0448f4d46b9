/**
 * The bytes of the column chunks of a row group: fetched together if they are few, else in windows as pages are read,
 * so that memory does not grow with the file.
 */
import { PARQUET_LIMITS } from "./limits.ts";
import type { FilePosition } from "./parquet_error.ts";

/** A file of known size that is read in ranges. */
export interface RangeReader {
  readonly size: number;
  /** The bytes from `start` (inclusive) to `end` (exclusive), all of them. */
  read(start: number, end: number): Promise<Uint8Array>;
}

/** Where bytes of a file are. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A range of the file, of which a window is in memory. */
export class ByteWindow {
  readonly start: number;
  readonly end: number;
  readonly #reader: RangeReader;
  #bytes: Uint8Array;
  #from: number;

  constructor(reader: RangeReader, range: ByteRange, bytes: Uint8Array = new Uint8Array(0)) {
    this.#reader = reader;
    this.start = range.start;
    this.end = range.end;
    this.#bytes = bytes;
    this.#from = range.start;
  }

  /** The bytes from a position in memory, at most `length`; undefined when fewer than that are there. */
  peek(position: number, length: number): Uint8Array | undefined {
    const from = position - this.#from;
    if (from < 0 || from + length > this.#bytes.length) return undefined;
    return this.#bytes.subarray(from, from + length);
  }

  /** The bytes from a position in the file, which are within the range. */
  async at(position: number, length: number, file: FilePosition): Promise<Uint8Array> {
    const there = this.peek(position, length);
    if (there !== undefined) return there;
    const end = Math.min(this.end, Math.max(position + length, position + PARQUET_LIMITS.windowBytes));
    this.#bytes = await readRange(this.#reader, { start: position, end }, file);
    this.#from = position;
    return this.#bytes.subarray(0, length);
  }
}

/** Reads a range and holds the reader to it. */
export async function readRange(
  reader: RangeReader,
  range: ByteRange,
  file: FilePosition,
): Promise<Uint8Array> {
  const bytes = await reader.read(range.start, range.end);
  if (bytes.length !== range.end - range.start) throw file.damaged("it ended while it was read");
  return bytes;
}

/** Windows of ranges, in their order. Ranges that lie close together are fetched in one piece. */
export async function openWindows(
  reader: RangeReader,
  ranges: readonly ByteRange[],
  file: FilePosition,
): Promise<ByteWindow[]> {
  const size = ranges.reduce((sum, { start, end }) => sum + end - start, 0);
  if (size > PARQUET_LIMITS.rowGroupReadBytes) return ranges.map((range) => new ByteWindow(reader, range));
  const windows = new Map<ByteRange, ByteWindow>();
  const sorted = [...ranges].sort((left, right) => left.start - right.start);
  for (let index = 0; index < sorted.length;) {
    const first = sorted[index] as ByteRange;
    let end = first.end, next = index + 1;
    for (; next < sorted.length; next++) {
      const following = sorted[next] as ByteRange;
      if (following.start - end > PARQUET_LIMITS.maximumGapBytes) break;
      end = Math.max(end, following.end);
    }
    const bytes = await readRange(reader, { start: first.start, end }, file);
    for (const range of sorted.slice(index, next)) {
      windows.set(
        range,
        new ByteWindow(reader, range, bytes.subarray(range.start - first.start, range.end - first.start)),
      );
    }
    index = next;
  }
  return ranges.map((range) => windows.get(range) as ByteWindow);
}
