/** Decompression and checksums of Parquet's pages by the runtime's zlib, brotli and zstd. */
import { brotliDecompressSync, crc32, gunzipSync, zstdDecompressSync } from "node:zlib";

/** Decompresses at most `size` bytes; throws when there are more, or when the input is damaged. */
export function inflate(codec: "GZIP" | "BROTLI" | "ZSTD", source: Uint8Array, size: number): Uint8Array {
  const options = { maxOutputLength: size };
  switch (codec) {
    case "GZIP":
      return gunzipSync(source, options);
    case "BROTLI":
      return brotliDecompressSync(source, options);
    case "ZSTD":
      return zstdDecompressSync(source, options);
  }
}

export { crc32 };
