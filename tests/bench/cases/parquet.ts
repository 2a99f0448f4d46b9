/**
 * Parquet: lineitem of TPC-H, which DuckDB has written, read by dbd's reader in a process of its own and by DuckDB with
 * one thread; and what memory the reader takes.
 */
import { projectRoot } from "../../../tools/project.ts";
import type { Benchmark, Scale } from "../benchmark.ts";
import { startEmbedded } from "../peers/embedded.ts";
import { runProgram } from "../peers/process.ts";
import { columnsOf } from "../tpch/schema.ts";
import { tableFiles } from "../tpch/tables.ts";

const ROWS = 5_998_563;

/** The file; a smoke needs neither DuckDB nor the rows. */
async function lineitemFile(scale: Scale): Promise<string> {
  if (scale === "smoke") return new URL("../fixtures/lineitem.parquet", import.meta.url).pathname;
  const file = `${await tableFiles(1)}/lineitem.parquet`;
  const isThere = await Deno.stat(file).then(() => true, () => false);
  if (isThere) return file;
  const duckdb = await startEmbedded("DuckDB");
  if ("missing" in duckdb) throw new Error(`DuckDB does not start: ${duckdb.missing}`);
  try {
    const columns = columnsOf("lineitem");
    await duckdb.execute(`CREATE TABLE lineitem (${columns.join(", ")})`);
    await duckdb.load("lineitem", file.replace(/parquet$/, "tbl"), columns);
    await duckdb.execute(`COPY lineitem TO '${file}.part' (FORMAT PARQUET)`);
    await Deno.rename(`${file}.part`, file);
  } finally {
    await duckdb.stop();
  }
  return file;
}

async function read(scale: Scale): Promise<{ readonly milliseconds: number; readonly bytes: number }> {
  const file = await lineitemFile(scale);
  const program = `${projectRoot}/tests/bench/parquet_reading.ts`;
  const answer = JSON.parse(await runProgram(Deno.execPath(), ["run", "-A", "--no-check", program, file]));
  if (scale === "full" && answer.rows !== ROWS) throw new Error(`${answer.rows} rows instead of ${ROWS}`);
  return answer;
}

/** Only the first of the peers stands for dbd; the others have no Parquet. */
const ours: Pick<Benchmark, "prepare" | "alone"> = {
  alone: true,
  prepare: async (_, scale) => {
    await lineitemFile(scale);
  },
};

/** See the file's head. */
export const parquet: readonly Benchmark[] = [
  ...([
    ["into a table in memory", "CREATE OR REPLACE TEMP TABLE read AS SELECT * FROM", "≤ 2"],
    ["DuckDB: the largest value of each column only", "SELECT max(COLUMNS(*)) FROM", "–"],
  ] as const).map(([name, query, bar]): Benchmark => ({
    ...ours,
    name: `read lineitem as Parquet, ${name}`,
    unit: "ms",
    higherIsBetter: false,
    bar,
    measure: async (_, scale) => (await read(scale)).milliseconds,
    embedded: {
      prepare: async () => {},
      measure: async (peer, scale) => {
        if (peer.name !== "DuckDB") return NaN;
        return (await peer.query(`${query} read_parquet('${await lineitemFile(scale)}')`)).milliseconds;
      },
    },
  })),
  {
    ...ours,
    name: "resident memory while lineitem is read as Parquet",
    unit: "MB",
    higherIsBetter: false,
    bar: "≤ 256",
    measure: async (_, scale) => (await read(scale)).bytes / 1e6,
  },
];
