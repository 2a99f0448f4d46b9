/** Every limit of external sources in one place, with its unit in its name. */
import { assert } from "../base/assert.ts";

const MEBIBYTE = 1 << 20;

/** The limits. */
export const SOURCE_LIMITS = {
  /** Pages of one REFRESH. */
  pages: 1000,
  /** One page, decompressed. */
  pageBytes: 64 * MEBIBYTE,
  /** All pages of one REFRESH together. */
  totalBytes: 512 * MEBIBYTE,
  /** Redirects of one request. */
  redirects: 5,
  /** The head of an answer. */
  headBytes: 65_536,
  /** An address, as a source or a page may name it. */
  addressCharacters: 8192,
  /** Time for a name to be resolved, and for each address to answer. */
  connectMicroseconds: 10_000_000,
  /** Time in which at least one byte must come. */
  idleMicroseconds: 30_000_000,
  /** Compressed bytes that are unpacked at once: what becomes of them is a thousand times as much at worst. */
  compressedPieceBytes: 4096,
  /** Bytes read at once. */
  readBytes: 65_536,
} as const;

assert(SOURCE_LIMITS.pageBytes <= SOURCE_LIMITS.totalBytes, "a page fits a refresh");
