/** Reads a whole Parquet file as the server does, and answers the texts of all values; for tests. */
import { LIMITS } from "../../engine/base/limits.ts";
import type { TableDefinition } from "../../engine/catalog/definitions.ts";
import { parseSourcePath } from "../../engine/catalog/source_path.ts";
import { type ParquetColumn, ParquetFile, type RowSink } from "../../engine/external/parquet/parquet_file.ts";
import type { RangeReader } from "../../engine/external/parquet/byte_window.ts";
import * as platform from "../../engine/host/page_platform.ts";
import type { RowBatch } from "../../engine/operations/effect.ts";
import { BATCH_ROWS, BatchBuilder, type ColumnBuilder } from "../../engine/transactions/batch_builder.ts";
import { batchRow } from "../../engine/transactions/batch_values.ts";
import { fromStored } from "../../engine/types/stored_value.ts";
import { formatText } from "../../engine/types/text_io.ts";
import { parseTypeText } from "../../engine/types/type_names.ts";

/** A column to be read. */
export interface WantedColumn {
  readonly name: string;
  readonly type: string;
  readonly from: string;
}

/** How a file is read. */
export interface ReadOptions {
  readonly maximumPageBytes?: number;
  /** Reading ends with an error beyond so many rows. */
  readonly maximumRows?: number;
}

/** A file in memory. */
export function rangesOf(bytes: Uint8Array): RangeReader {
  return { size: bytes.length, read: (start, end) => Promise.resolve(bytes.slice(start, end)) };
}

/** More rows than a test wants. */
export class TooManyRows extends Error {}

/** The batches of a file. */
export async function readBatches(
  reader: RangeReader,
  wanted: readonly WantedColumn[],
  options: ReadOptions = {},
): Promise<RowBatch[]> {
  const { maximumPageBytes, maximumRows = Infinity } = options;
  const file = await ParquetFile.open(reader, {
    name: "test.parquet",
    platform,
    ...(maximumPageBytes === undefined ? {} : { maximumPageBytes }),
  });
  const columns = wanted.map(({ name, type, from }) => {
    const parsed = parseTypeText(type);
    if (parsed === undefined) throw new Error(`no type ${type}`);
    return { name, type: parsed, path: parseSourcePath(from) };
  });
  const builder = new BatchBuilder({ columns } as unknown as TableDefinition);
  const batches: RowBatch[] = [];
  let rows = 0;
  const sink: RowSink = {
    get batchRow() {
      return builder.rowCount;
    },
    get room() {
      return BATCH_ROWS - builder.rowCount;
    },
    endRows(count) {
      builder.rowCount += count;
      rows += count;
      if (rows > maximumRows) throw new TooManyRows();
      if (builder.isFull) batches.push(builder.take(new Float64Array(0)));
    },
    pause: () => undefined,
  };
  const targets = columns.map((column, index): ParquetColumn => ({
    ...column,
    builder: builder.columns[index] as ColumnBuilder,
  }));
  await file.read(targets, sink);
  if (builder.rowCount > 0) batches.push(builder.take(new Float64Array(0)));
  return batches;
}

/** The texts of all values, row by row. */
export async function readTexts(
  reader: RangeReader,
  wanted: readonly WantedColumn[],
  options: ReadOptions = {},
): Promise<(string | null)[][]> {
  const types = wanted.map(({ type }) => parseTypeText(type) ?? { kind: "text" as const });
  const rows: (string | null)[][] = [];
  for (const batch of await readBatches(reader, wanted, options)) {
    for (let row = 0; row < Math.min(batch.rowCount, LIMITS.maximumBatchRows); row++) {
      const stored = batchRow(batch, row);
      rows.push(types.map((type, index) => {
        const value = fromStored(type, stored[index] ?? null);
        return value === null ? null : formatText(type, value);
      }));
    }
  }
  return rows;
}
