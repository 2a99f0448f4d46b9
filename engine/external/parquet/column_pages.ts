/**
 * The pages of one column in one row group: headers, checksums, decompression, levels and the reader of each page's
 * values, of both versions of data pages.
 *
 * Every number of a header is checked before it is used. Limits: a page's bytes after decompression, by default
 * 256 MiB.
 */
import { readableEncodings, valueReader } from "./encodings.ts";
import { BitPackedReader, HybridReader, type IntegerReader } from "./hybrid.ts";
import { PARQUET_LIMITS } from "./limits.ts";
import {
  CODECS,
  type ColumnChunk,
  ENCODINGS,
  PAGE,
  type PageHeader,
  PHYSICAL_TYPES,
  readPageHeader,
} from "./metadata.ts";
import type { ByteRange, ByteWindow } from "./byte_window.ts";
import type { Conversion } from "./natural_values.ts";
import type { PageCodec, ReadableCodec } from "./page_codec.ts";
import type { FilePosition } from "./parquet_error.ts";
import { fixedSize, plainReader, type ValueReader } from "./plain_values.ts";
import type { Leaf } from "./schema.ts";
import { ThriftError } from "./thrift.ts";
import { ValueError, type Vector } from "./vector.ts";

/** The distinct values of a column chunk, converted. */
export interface Dictionary {
  readonly vector: Vector;
  readonly size: number;
  /** Length of its longest value. */
  readonly maxLength: number;
}

/** Where the values of a page come from: themselves, or the dictionary. */
export type PageValues =
  | { readonly kind: "plain"; readonly reader: ValueReader }
  | { readonly kind: "dictionary"; readonly indices: IntegerReader; readonly dictionary: Dictionary };

/** A data page that is being read. */
export interface DataPage {
  /** Entries of the levels that have not been read; without levels, values. */
  left: number;
  readonly repetitions: IntegerReader | null;
  readonly definitions: IntegerReader | null;
  readonly values: PageValues;
}

/** Takes the pages of a column, row group by row group. */
export interface PageConsumer {
  readonly leaf: Leaf;
  /** What is to be done with the values of a dictionary; null: nothing. */
  readonly dictionaryConversion: Conversion | null;
  /** Begins a row group. */
  begin(pages: ColumnPages): void;
}

/** What all columns of a file share. */
export interface PageContext {
  readonly position: FilePosition;
  readonly codec: PageCodec;
  readonly maximumPageBytes: number;
}

/** The range of a column chunk. Raises 22P04 and 0A000. */
export function chunkRange(
  chunk: ColumnChunk,
  leaf: Leaf,
  fileEnd: number,
  position: FilePosition,
): ByteRange {
  if (chunk.isEncrypted) throw position.unsupported("the column is encrypted");
  if (chunk.isElsewhere) throw position.unsupported("the column is in another file");
  if (PHYSICAL_TYPES[chunk.type] !== leaf.physical) {
    throw position.damaged("a column has two different types");
  }
  const codec = CODECS[chunk.codec];
  if (codec === undefined || codec === "LZO" || codec === "LZ4") {
    throw position.unsupported(
      codec === "LZ4"
        ? "compression LZ4 in its old framing (codec 5)"
        : `compression ${codec ?? `codec ${chunk.codec}`}`,
      "Write the file anew with another compression, for example LZ4_RAW or ZSTD.",
    );
  }
  const { dictionaryPageOffset, dataPageOffset, compressedBytes } = chunk;
  const start = dictionaryPageOffset > 0 && dictionaryPageOffset < dataPageOffset
    ? dictionaryPageOffset
    : dataPageOffset;
  if (!(start >= 4 && compressedBytes >= 0 && start + compressedBytes <= fileEnd)) {
    throw position.damaged("a column chunk is not within the file");
  }
  if (chunk.valueCount < 0) throw position.damaged("a column chunk has fewer than no values");
  return { start, end: start + compressedBytes };
}

/** See the file's head. */
export class ColumnPages {
  readonly #context: PageContext;
  readonly #leaf: Leaf;
  readonly #codec: ReadableCodec;
  readonly #window: ByteWindow;
  readonly #convert: Conversion | null;
  readonly #capacity: number;
  #at: number;
  #valuesLeft: number;
  #dictionary: Dictionary | null = null;
  #pageNumber = -1;

  constructor(context: PageContext, column: {
    readonly leaf: Leaf;
    readonly chunk: ColumnChunk;
    readonly window: ByteWindow;
    /** Makes the dictionary's values the target's. */
    readonly convert: Conversion | null;
    /** The most values that are read at once. */
    readonly capacity: number;
  }) {
    this.#context = context;
    this.#leaf = column.leaf;
    this.#codec = CODECS[column.chunk.codec] as ReadableCodec;
    this.#window = column.window;
    this.#convert = column.convert;
    this.#capacity = column.capacity;
    this.#at = column.window.start;
    this.#valuesLeft = column.chunk.valueCount;
  }

  /** Tells errors where they are. */
  locate(): void {
    this.#context.position.column = this.#leaf.path.join(".");
    this.#context.position.page = this.#pageNumber < 0 ? null : this.#pageNumber;
  }

  /** The next data page; null after the last one. */
  async next(): Promise<DataPage | null> {
    const { position } = this.#context;
    while (this.#valuesLeft > 0) {
      this.#pageNumber++;
      this.locate();
      if (this.#at >= this.#window.end) {
        throw position.damaged("a column has fewer values than the footer says");
      }
      const header = await this.#header();
      const body = await this.#body(header);
      this.locate();
      if (header.kind === PAGE.dictionary) this.#readDictionary(header, body);
      else if (header.kind === PAGE.data || header.kind === PAGE.dataV2) {
        if (header.valueCount < 0 || header.valueCount > this.#valuesLeft) {
          throw position.damaged("a page has more values than the footer says");
        }
        this.#valuesLeft -= header.valueCount;
        if (header.valueCount > 0) return this.#guard(() => this.#dataPage(header, body));
      } else if (header.kind !== PAGE.index) throw position.unsupported(`pages of kind ${header.kind}`);
    }
    return null;
  }

  async #header(): Promise<PageHeader> {
    const { position } = this.#context;
    const available = this.#window.end - this.#at;
    for (let size = 1024;; size *= 8) {
      const length = Math.min(size, available, PARQUET_LIMITS.maximumPageHeaderBytes);
      const bytes = this.#window.peek(this.#at, length) ?? await this.#window.at(this.#at, length, position);
      try {
        const header = readPageHeader(bytes, 0, length);
        this.#at += header.bytes;
        return header;
      } catch (error) {
        if (!(error instanceof ThriftError)) throw error;
        const isWhole = length === available || length === PARQUET_LIMITS.maximumPageHeaderBytes;
        if (!error.isTruncated || isWhole) {
          throw position.damaged(`a page's header is damaged: ${error.message}`);
        }
      }
    }
  }

  async #body(header: PageHeader): Promise<Uint8Array> {
    const { position, maximumPageBytes } = this.#context;
    const { compressedBytes, uncompressedBytes } = header;
    if (!(compressedBytes >= 0 && compressedBytes <= this.#window.end - this.#at && uncompressedBytes >= 0)) {
      throw position.damaged("a page is not within its column chunk");
    }
    if (uncompressedBytes > maximumPageBytes || compressedBytes > maximumPageBytes) {
      throw position.unsupported(
        `a page of ${
          Math.max(uncompressedBytes, compressedBytes)
        } bytes; at most ${maximumPageBytes} can be read`,
        "Write the file anew with smaller pages, or start the server with a larger --external-parquet-page.",
      );
    }
    const bytes = this.#window.peek(this.#at, compressedBytes) ??
      await this.#window.at(this.#at, compressedBytes, position);
    this.#at += compressedBytes;
    if (header.crc !== null && this.#context.codec.crc32(bytes) !== header.crc >>> 0) {
      throw position.damaged("a page does not match its checksum");
    }
    return bytes;
  }

  #decompress(source: Uint8Array, size: number): Uint8Array {
    return this.#context.codec.decompress({ codec: this.#codec, source, size }, this.#context.position);
  }

  #readDictionary(header: PageHeader, body: Uint8Array): void {
    const { position } = this.#context;
    const leaf = this.#leaf;
    const encoding = ENCODINGS[header.encoding];
    if (this.#dictionary !== null) throw position.damaged("a column chunk has two dictionaries");
    if (encoding !== "PLAIN" && encoding !== "PLAIN_DICTIONARY") {
      throw position.unsupported(`a dictionary in the encoding ${encoding ?? header.encoding}`);
    }
    const bytes = this.#decompress(body, header.uncompressedBytes);
    const size = header.valueCount;
    const least = leaf.physical === "BYTE_ARRAY" ? 4 : fixedSize(leaf.physical, leaf.typeLength);
    if (least === 0 || size < 0 || size * least > bytes.length) {
      throw position.damaged("a dictionary has a wrong size");
    }
    this.#dictionary = this.#guard(() => {
      const reader = plainReader({
        bytes,
        start: 0,
        end: bytes.length,
        type: leaf.physical,
        typeLength: leaf.typeLength,
        capacity: size,
      });
      reader.read(size);
      const vector = this.#convert === null ? reader.vector : this.#convert(reader.vector, size);
      let maxLength = 0;
      if (vector.kind === "bytes") {
        for (let index = 0; index < size; index++) {
          maxLength = Math.max(maxLength, (vector.ends[index] as number) - (vector.starts[index] as number));
        }
      }
      return { vector, size, maxLength };
    });
  }

  #dataPage(header: PageHeader, body: Uint8Array): DataPage {
    const { maxDefinition, maxRepetition } = this.#leaf;
    let bytes: Uint8Array;
    let at = 0;
    let repetitions: IntegerReader | null = null, definitions: IntegerReader | null = null;
    if (header.kind === PAGE.dataV2) {
      const levels = header.repetitionBytes + header.definitionBytes;
      if (
        !(header.repetitionBytes >= 0 && header.definitionBytes >= 0 && levels <= body.length) ||
        levels > header.uncompressedBytes
      ) {
        throw new ValueError("the levels are longer than their page");
      }
      const split = header.repetitionBytes;
      if (maxRepetition > 0) repetitions = new HybridReader(body, 0, split, bitsOf(maxRepetition));
      if (maxDefinition > 0) definitions = new HybridReader(body, split, levels, bitsOf(maxDefinition));
      const rest = body.subarray(levels);
      const size = header.uncompressedBytes - levels;
      if (!header.isCompressed && rest.length !== size) {
        throw new ValueError("the page has two different sizes");
      }
      bytes = header.isCompressed && rest.length > 0 ? this.#decompress(rest, size) : rest;
    } else {
      bytes = this.#decompress(body, header.uncompressedBytes);
      if (maxRepetition > 0) {
        const levels = levelReader(bytes, at, header.repetitionEncoding, maxRepetition, header.valueCount);
        repetitions = levels.reader;
        at = levels.end;
      }
      if (maxDefinition > 0) {
        const levels = levelReader(bytes, at, header.definitionEncoding, maxDefinition, header.valueCount);
        definitions = levels.reader;
        at = levels.end;
      }
    }
    return { left: header.valueCount, repetitions, definitions, values: this.#values(header, bytes, at) };
  }

  #values(header: PageHeader, bytes: Uint8Array, start: number): PageValues {
    const { position } = this.#context;
    const leaf = this.#leaf;
    const encoding = ENCODINGS[header.encoding];
    const end = bytes.length;
    if (encoding === "RLE_DICTIONARY" || encoding === "PLAIN_DICTIONARY") {
      const dictionary = this.#dictionary;
      if (dictionary === null) throw new ValueError("the column chunk has no dictionary");
      // A page of NULLs only has no indices, and may not even have their width.
      const width = start < end ? bytes[start] as number : 1;
      if (width > 32) throw new ValueError("indices into the dictionary have more than 32 bits");
      return { kind: "dictionary", indices: new HybridReader(bytes, start + 1, end, width), dictionary };
    }
    const reader = encoding === undefined ? undefined : valueReader(encoding, {
      bytes,
      start,
      end,
      type: leaf.physical,
      typeLength: leaf.typeLength,
      capacity: this.#capacity,
    });
    if (reader === undefined) {
      const name = encoding ?? `number ${header.encoding}`;
      throw position.unsupported(
        `the encoding ${name} of ${leaf.physical}`,
        `Supported are ${readableEncodings}.`,
      );
    }
    return { kind: "plain", reader };
  }

  /** Gives errors about values their place. */
  #guard<Result>(work: () => Result): Result {
    const { position } = this.#context;
    try {
      return work();
    } catch (error) {
      throw error instanceof ValueError ? position.damaged(error.message) : position.located(error);
    }
  }
}

function bitsOf(maximum: number): number {
  return 32 - Math.clz32(maximum);
}

function levelReader(
  bytes: Uint8Array,
  start: number,
  encoding: number,
  maximum: number,
  count: number,
): { readonly reader: IntegerReader; readonly end: number } {
  const width = bitsOf(maximum);
  if (ENCODINGS[encoding] === "BIT_PACKED") {
    const end = start + Math.ceil(count * width / 8);
    if (end > bytes.length) throw new ValueError("the levels are longer than their page");
    return { reader: new BitPackedReader(bytes, start, end, width), end };
  }
  if (ENCODINGS[encoding] !== "RLE") throw new ValueError("the levels are in a wrong encoding");
  if (start + 4 > bytes.length) throw new ValueError("the levels are longer than their page");
  const length = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(start, true);
  const end = start + 4 + length;
  if (end > bytes.length) throw new ValueError("the levels are longer than their page");
  return { reader: new HybridReader(bytes, start + 4, end, width), end };
}
