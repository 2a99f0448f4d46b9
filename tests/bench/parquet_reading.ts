/**
 * The process that reads lineitem as a Parquet file: `parquet_reading.ts FILE` prints rows, milliseconds and the
 * largest resident memory as JSON. All columns are read into batches, as REFRESH does; the batches are not kept.
 */
import type { TableDefinition } from "../../engine/catalog/definitions.ts";
import { ParquetFile } from "../../engine/external/parquet/parquet_file.ts";
import * as platform from "../../engine/host/page_platform.ts";
import { BATCH_ROWS, BatchBuilder, type ColumnBuilder } from "../../engine/transactions/batch_builder.ts";
import { parseTypeText } from "../../engine/types/type_names.ts";
import { columnsOf } from "./tpch/schema.ts";

const [path = ""] = Deno.args;
using file = await Deno.open(path);
const size = (await file.stat()).size;
const reader = {
  size,
  read: (start: number, end: number) => {
    const bytes = new Uint8Array(end - start);
    file.seekSync(start, Deno.SeekMode.Start);
    for (let at = 0; at < bytes.length;) {
      const count = file.readSync(bytes.subarray(at));
      if (count === null) break;
      at += count;
    }
    return Promise.resolve(bytes);
  },
};

const NAMES = columnsOf("lineitem").map((column) => {
  const [name = "", ...type] = column.split(" ");
  return { name, type: parseTypeText(type.join(" ")) ?? { kind: "text" as const } };
});

const builder = new BatchBuilder({ columns: NAMES } as unknown as TableDefinition);
let rows = 0, largest = 0;
const sink = {
  get batchRow() {
    return builder.rowCount;
  },
  get room() {
    return BATCH_ROWS - builder.rowCount;
  },
  endRows(count: number) {
    builder.rowCount += count;
    rows += count;
    if (!builder.isFull) return;
    builder.take(new Float64Array(0));
    largest = Math.max(largest, Deno.memoryUsage().rss);
  },
  pause: () => undefined,
};
const start = performance.now();
const parquet = await ParquetFile.open(reader, { name: path, platform });
await parquet.read(
  NAMES.map((column, index) => ({
    ...column,
    path: [column.name],
    builder: builder.columns[index] as ColumnBuilder,
  })),
  sink,
);
const milliseconds = performance.now() - start;
console.log(JSON.stringify({ rows, milliseconds, bytes: Math.max(largest, Deno.memoryUsage().rss) }));
