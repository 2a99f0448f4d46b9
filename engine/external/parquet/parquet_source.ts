/** FORMAT PARQUET of external sources: the reader of Parquet files behind the interface of formats. */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { parseSourcePath } from "../../catalog/source_path.ts";
import type { FormatReader, SourceBytes } from "../source_reader.ts";
import type { PagePlatform } from "./page_codec.ts";
import { ParquetFile } from "./parquet_file.ts";

/** What the reader needs, and the one limit of its own that can be changed. */
export interface ParquetSourceOptions {
  readonly platform: PagePlatform;
  /** A page's bytes after decompression. */
  readonly maximumPageBytes?: number;
}

/** The reader of FORMAT PARQUET. */
export function parquetReader(options: ParquetSourceOptions): FormatReader {
  return {
    format: "parquet",
    read: async (bytes, target) => {
      const file = await ParquetFile.open(rangesOf(bytes), { ...options, name: bytes.name });
      const columns = target.columns.map(({ name, type, from, builder }) => ({
        name,
        type,
        path: parseSourcePath(from),
        builder,
      }));
      target.found.fill(1);
      await file.read(columns, target);
      return null;
    },
  };
}

function rangesOf({ name, size, range }: SourceBytes) {
  if (size === null || range === null) {
    throw new DatabaseError(SQLSTATE.featureNotSupported, `"${name}" cannot be read as Parquet`, {
      detail: "A Parquet file is read in ranges, which this source does not offer.",
      hint: "Parquet files are read from object stores: s3:// and az://.",
    });
  }
  return { size, read: range };
}
