/**
 * Decompression of pages into exactly the bytes that their headers say, and not one more. Snappy and LZ4 are plain
 * code; what the runtime has comes through a port.
 */
import { snappyUncompressor } from "hysnappy";
import { CodecError, decompressLz4 } from "./lz4.ts";
import type { CodecName } from "./metadata.ts";
import type { FilePosition } from "./parquet_error.ts";

/** What the runtime does for the reader. */
export interface PagePlatform {
  /** Decompresses at most `size` bytes; throws when there are more, or when the input is damaged. */
  inflate(codec: "GZIP" | "BROTLI" | "ZSTD", source: Uint8Array, size: number): Uint8Array;
  /** The CRC-32 of zlib, as an unsigned number. */
  crc32(bytes: Uint8Array): number;
}

/** The codecs that can be read. */
export type ReadableCodec = Exclude<CodecName, "LZO" | "LZ4">;

/** The memory of Snappy's module never shrinks; beyond this it is given up with the module. */
const KEPT_SNAPPY_BYTES = 16 * 1024 * 1024;

/** A page to be decompressed. */
export interface CompressedPage {
  readonly codec: ReadableCodec;
  readonly source: Uint8Array;
  /** Bytes after decompression, which the caller has held to the limit. */
  readonly size: number;
}

/** Decompresses pages. */
export class PageCodec {
  readonly #platform: PagePlatform;
  #snappy: ((source: Uint8Array, size: number) => Uint8Array) | null = null;

  constructor(platform: PagePlatform) {
    this.#platform = platform;
  }

  /** See {@link PagePlatform.crc32}. */
  crc32(bytes: Uint8Array): number {
    return this.#platform.crc32(bytes);
  }

  /** The bytes of a page. Raises 22P04. */
  decompress(page: CompressedPage, position: FilePosition): Uint8Array {
    const { codec, source, size } = page;
    if (codec === "UNCOMPRESSED") {
      if (source.length !== size) {
        throw position.damaged("a page without compression has two different sizes");
      }
      return source;
    }
    if (size === 0) return new Uint8Array(0);
    let target: Uint8Array;
    try {
      target = this.#decompress(codec, source, size);
    } catch (error) {
      // Decompressors throw errors of many kinds, all of them about the bytes that they were given.
      const reason = error instanceof CodecError ? error.message : "the compressed bytes are damaged";
      throw position.damaged(`a page cannot be decompressed (${codec}): ${reason}`);
    }
    if (target.length !== size) {
      throw position.damaged(`a page has ${target.length} bytes where its header says ${size} (${codec})`);
    }
    return target;
  }

  #decompress(codec: Exclude<ReadableCodec, "UNCOMPRESSED">, source: Uint8Array, size: number): Uint8Array {
    if (codec === "SNAPPY") return this.#decompressSnappy(source, size);
    if (codec !== "LZ4_RAW") return this.#platform.inflate(codec, source, size);
    const target = new Uint8Array(size);
    decompressLz4(source, target);
    return target;
  }

  #decompressSnappy(source: Uint8Array, size: number): Uint8Array {
    // The module trusts the length in the data, which is therefore compared first.
    if (snappyLength(source) !== size) throw new CodecError("its length is not that of the page's header");
    const uncompress = this.#snappy ?? snappyUncompressor();
    this.#snappy = null;
    const target = uncompress(source, size);
    // A module that has failed is not used again.
    if (source.length + size <= KEPT_SNAPPY_BYTES) this.#snappy = uncompress;
    return target;
  }
}

/** The length that Snappy's raw format begins with; NaN when there is none. */
function snappyLength(source: Uint8Array): number {
  let length = 0;
  for (let index = 0; index < 5; index++) {
    const byte = source[index];
    if (byte === undefined) return NaN;
    length += (byte & 127) * 2 ** (7 * index);
    if (byte < 128) return length;
  }
  return NaN;
}
