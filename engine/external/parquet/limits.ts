/** The limits of the Parquet reader: what a file may make it allocate, whatever its footer says. */
import { LIMITS } from "../../base/limits.ts";

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;

/** See the file's head. */
export const PARQUET_LIMITS = {
  /** A page's bytes after decompression, by default: whoever embeds the reader may change it. */
  maximumPageBytes: LIMITS.parquetPageBytes,
  /** The footer, which holds the schema and where the pages are. */
  maximumFooterBytes: 64 * MEBIBYTE,
  /** The header of a page, with its statistics. */
  maximumPageHeaderBytes: 16 * MEBIBYTE,
  /** Elements of the schema. */
  maximumSchemaElements: 65_536,
  /** Column chunks of all row groups. */
  maximumColumnChunks: 500_000,
  /** Lists, maps and structs around a value. */
  maximumNesting: 3,
  /** Digits of a DECIMAL. */
  maximumDecimalPrecision: 38,
  /** Structures within structures of the metadata; the format needs seven. */
  maximumMetadataDepth: 32,
  /** Rows that are decoded in one piece, column by column. */
  pieceRows: 2048,
  /** The same of columns with lists and structs, whose rows become texts. */
  nestedPieceRows: 256,
  /** Texts that one piece of a column may hold, as far as rows can be divided. */
  pieceBytes: 8 * MEBIBYTE,
  /** Elements of lists that the rows of one piece may have. */
  maximumPieceElements: 4_194_304,
  /** Texts of lists and structs that one piece may hold. */
  maximumNestedPieceBytes: 256 * MEBIBYTE,
  /** What is read of the end of a file at first. */
  footerReadBytes: 64 * KIBIBYTE,
  /** The column chunks of a row group are fetched together when they are not larger than this. */
  rowGroupReadBytes: 32 * MEBIBYTE,
  /** Chunks with no more than this between them are fetched in one piece. */
  maximumGapBytes: 64 * KIBIBYTE,
  /** What is fetched of a column chunk that is too large to be fetched at once. */
  windowBytes: 4 * MEBIBYTE,
} as const;
