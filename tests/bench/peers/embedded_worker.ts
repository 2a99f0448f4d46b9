/**
 * The process of an embedded peer: `embedded_worker.ts NAME FOLDER` answers requests, a line of JSON each, with a
 * line of JSON; see `embedded.ts`. Packages are imported by names that only `embedded.json` knows, so that neither
 * the type check nor the lock of the project needs them.
 */
import { DatabaseSync } from "node:sqlite";
import type { EmbeddedAnswer, EmbeddedName, EmbeddedRequest } from "./embedded.ts";
import { TextLineStream } from "./text_lines.ts";

type Rows = readonly (readonly unknown[])[];

interface Engine {
  execute(sql: string): Promise<void>;
  query(sql: string): Promise<Rows>;
  load(request: Extract<EmbeddedRequest, { kind: "load" }>): Promise<void>;
}

const ENGINES: Readonly<Record<EmbeddedName, (folder: string) => Promise<Engine>>> = {
  DuckDB: startDuckDb,
  SQLite: startSqlite,
  PGlite: startPglite,
};

/** DuckDB with one thread, as the engine that it is compared with has one. */
async function startDuckDb(folder: string): Promise<Engine> {
  const specifier = "@duckdb/node-api";
  const { DuckDBInstance } = await import(specifier);
  const instance = await DuckDBInstance.create(`${folder}/data.duckdb`, { threads: "1" });
  const connection = await instance.connect();
  const run = async (sql: string) => {
    await connection.run(sql);
  };
  return {
    execute: run,
    query: async (sql) => {
      const reader = await connection.runAndReadAll(sql);
      const rows: Rows = reader.getRows();
      return rows.map((row) => row.map((value) => value === null ? null : String(value)));
    },
    load: async ({ table, file, columns }) => {
      const types = columns.map((column) => {
        const [name = "", ...type] = column.split(" ");
        return `'${name}': '${type.join(" ")}'`;
      });
      await run(
        `INSERT INTO ${table} SELECT * FROM read_csv('${file}', delim = '|', header = false, quote = '', columns = {${
          types.join(", ")
        }})`,
      );
    },
  };
}

/** SQLite has no exact fractions, no dates and no padding: numbers are floats and dates are texts. */
function startSqlite(folder: string): Promise<Engine> {
  const database = new DatabaseSync(`${folder}/data.sqlite`);
  database.exec("PRAGMA journal_mode = WAL");
  return Promise.resolve({
    execute: (sql) => Promise.resolve(database.exec(sql)),
    query: (sql) => {
      const statement = database.prepare(sql);
      statement.setReadBigInts(false);
      return Promise.resolve(statement.all().map((row) => Object.values(row)));
    },
    load: async ({ table, file, columns }) => {
      const insert = database.prepare(`INSERT INTO ${table} VALUES (${columns.map(() => "?").join(", ")})`);
      const stream = (await Deno.open(file)).readable.pipeThrough(new TextDecoderStream()).pipeThrough(
        new TextLineStream(),
      );
      database.exec("BEGIN");
      for await (const line of stream) insert.run(...line.split("|"));
      database.exec("COMMIT");
    },
  });
}

/** PostgreSQL in WebAssembly. */
async function startPglite(folder: string): Promise<Engine> {
  const specifier = "@electric-sql/pglite";
  const { PGlite } = await import(specifier);
  const database = await PGlite.create(`file://${folder}/pglite`);
  return {
    execute: async (sql) => {
      await database.exec(sql);
    },
    query: async (sql) => {
      const { rows } = await database.query(sql, [], { rowMode: "array" });
      return rows;
    },
    load: async ({ table, file }) => {
      await database.query(`COPY ${table} FROM '/dev/blob' WITH (FORMAT text, DELIMITER '|')`, [], {
        blob: new Blob([await Deno.readFile(file)]),
      });
    },
  };
}

async function answer(engine: Engine, request: EmbeddedRequest): Promise<EmbeddedAnswer> {
  try {
    const start = performance.now();
    let rows: Rows = [];
    if (request.kind === "load") await engine.load(request);
    else if (request.kind === "execute") await engine.execute(request.sql);
    else rows = await engine.query(request.sql);
    return { kind: "done", rows, milliseconds: performance.now() - start };
  } catch (error) {
    return { kind: "failed", message: error instanceof Error ? error.message : String(error) };
  }
}

async function main(): Promise<void> {
  const [name, folder = ""] = Deno.args;
  const engine = await ENGINES[name as EmbeddedName](folder);
  const write = async (text: string) => {
    const writer = Deno.stdout.writable.getWriter();
    await writer.write(new TextEncoder().encode(text + "\n"));
    writer.releaseLock();
  };
  await write("ready");
  for await (
    const line of Deno.stdin.readable.pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream())
  ) {
    await write(JSON.stringify(await answer(engine, JSON.parse(line) as EmbeddedRequest)));
  }
  Deno.exit(0);
}

if (import.meta.main) await main();
