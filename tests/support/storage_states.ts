/**
 * The same statements over the same rows, kept and asked for in different ways: what the rows went through, the plan that
 * reads them, and the protocol that carries the answer must not change it.
 *
 * A state is a database that takes statements as text. Between two statements it moves rows (checkpoints, updates that change
 * nothing, restarts, columns that come and go), or it asks in another way (parameters, prepared plans, the PostgreSQL protocol).
 */
import assert from "node:assert/strict";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Database, engineOf } from "../../engine/session/database.ts";
import type { Engine } from "../../engine/session/engine.ts";
import { RowBuffer } from "../../engine/session/row_buffer.ts";
import type { Session } from "../../engine/session/session.ts";
import { startPgServer } from "../../gateways/pg/server.ts";
import {
  bind,
  concat,
  errorFields,
  extended,
  message,
  rowOf,
  type ServerMessage,
} from "../../gateways/pg/testing/wire.ts";
import { DatabaseError, type SqlState } from "../../mod.ts";
import { decodeBinary } from "../../engine/types/binary_io.ts";
import { formatText, parseText, type TextOptions } from "../../engine/types/text_io.ts";
import { typeByOid } from "../../engine/types/type_names.ts";
import { RawClient } from "../pg/support/raw_client.ts";
import { parametrized } from "./parametrized.ts";

type TextRow = (string | null)[];

/** A database in one of the states. */
export interface StateDatabase extends AsyncDisposable {
  /** Runs one statement; rows as text. Raises `DatabaseError`. */
  run(sql: string): Promise<TextRow[]>;
}

/** A way to keep rows and to ask for them. */
export interface StorageState {
  readonly name: string;
  /** Statements that mean something else in this state; a script that holds one is not run in it. */
  readonly excludes: RegExp | null;
  open(): Promise<StateDatabase>;
}

/** What may have changed rows or tables. */
const CHANGE = /\b(INSERT|UPDATE|DELETE|MERGE|COPY|CREATE|ALTER|TRUNCATE|DROP|COMMIT|END)\b/i;
/** Statements with a plan. */
const PLANNED = /^\s*(SELECT|WITH|VALUES|TABLE|INSERT|UPDATE|DELETE|MERGE)\b/i;
const READS_ONLY = /^\s*(SELECT|WITH|VALUES|TABLE)\b(?![\s\S]*\b(INSERT|UPDATE|DELETE|MERGE|INTO)\b)/i;
/** Answers that differ from one execution to the next. */
const VOLATILE =
  /nextval|setval|lastval|random|clock_timestamp|advisory|TABLESAMPLE|pg_sleep|set_config|pg_notify|FOR\s+(UPDATE|SHARE)/i;
const NEEDS_SAME_EXPRESSION = /\bGROUP BY\b|\bDISTINCT\b|\bON CONFLICT\b|\bORDER BY\s+-/i;
/** What a session keeps and a restart ends. */
const SESSION_STATE = /^\s*(SET|PREPARE|DECLARE|LISTEN)\b|\bTEMP(ORARY)?\b|set_config/i;

/** A database in this process with one session. */
class OwnDatabase implements StateDatabase {
  readonly #host = memoryHost();
  #database: Database | null = null;
  #session: Session | null = null;

  async open(): Promise<this> {
    this.#database = await Database.open({ host: this.#host, directory: "db" });
    this.#session = engineOf(this.#database).openSession();
    return this;
  }

  get database(): Database {
    assert(this.#database !== null);
    return this.#database;
  }

  get session(): Session {
    assert(this.#session !== null);
    return this.#session;
  }

  async reopen(): Promise<void> {
    this.session.close();
    await this.database.close();
    await this.open();
  }

  async run(sql: string): Promise<TextRow[]> {
    const sink = new RowBuffer();
    await this.session.simple(sql, sink, () => {});
    return this.textOf(sink);
  }

  textOf(sink: RowBuffer): TextRow[] {
    const options = this.session.evaluation.textOptions;
    return sink.rows.map((row) =>
      sink.columns.map(({ type }, index) => {
        const value = row[index] ?? null;
        return value === null ? null : formatText(type, value, options);
      })
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.database.close();
  }
}

/** Does something after each statement that may have changed rows, outside of transaction blocks. */
function moving(
  name: string,
  move: (database: OwnDatabase, changes: number) => Promise<void>,
  excludes: RegExp | null = null,
): StorageState {
  return {
    name,
    excludes,
    open: async () => {
      const database = await new OwnDatabase().open();
      let changes = 0;
      return {
        run: async (sql) => {
          try {
            return await database.run(sql);
          } finally {
            if (CHANGE.test(sql) && database.session.block === null) await move(database, ++changes);
          }
        },
        [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
      };
    },
  };
}

/** Asks for the rows of a planned statement in another way. */
function asking(
  name: string,
  ask: (database: OwnDatabase, sql: string) => Promise<TextRow[]>,
  excludes: RegExp | null = null,
): StorageState {
  return {
    name,
    excludes,
    open: async () => {
      const database = await new OwnDatabase().open();
      return {
        run: (sql) => PLANNED.test(sql) ? ask(database, sql) : database.run(sql),
        [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
      };
    },
  };
}

function checkpoint(database: OwnDatabase): Promise<unknown> {
  return Promise.resolve(engineOf(database.database).checkpoint());
}

/** Tables of users, as `schema.name` with a column that can be set to itself. */
function ownTables(
  database: OwnDatabase,
): { readonly name: string; readonly column: string; readonly key: string }[] {
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  return engineOf(database.database).machine.catalog.tables.flatMap(({ schema, name, columns }) => {
    const column = columns.find((each) =>
      !each.hidden && each.generatedText === null && each.identity !== "always"
    );
    if (column === undefined || schema.startsWith("pg_")) return [];
    return [{ name: `${quoted(schema)}.${quoted(name)}`, column: quoted(column.name), key: quoted(name) }];
  });
}

/** Rows of a checkpoint, half of which are then written again with the same values: their old versions lie in segments as deleted. */
async function halfMoved(database: OwnDatabase, changes: number): Promise<void> {
  await checkpoint(database);
  for (const { name, column } of ownTables(database)) {
    const parity = changes % 2;
    await database.run(
      `UPDATE ${name} AS moved_ SET ${column} = ${column} WHERE length(moved_::text) % 2 = ${parity}`,
    );
  }
  if (changes % 3 === 0) await checkpoint(database);
}

/** Segments lack a column that the table has had since. */
async function relaid(database: OwnDatabase): Promise<void> {
  await checkpoint(database);
  for (const { name } of ownTables(database)) {
    await database.run(`ALTER TABLE ${name} ADD COLUMN relaid_ int DEFAULT 7`);
    await database.run(`ALTER TABLE ${name} DROP COLUMN relaid_`);
  }
}

async function indexed(database: OwnDatabase): Promise<void> {
  const { catalog } = engineOf(database.database).machine;
  for (const { schema, name, columns, indexes } of catalog.tables) {
    if (schema.startsWith("pg_")) continue;
    for (const column of columns) {
      if (
        column.hidden || !isOrdered(column.type.kind) ||
        indexes.some((each) => each.columns[0]?.columnId === column.id)
      ) {
        continue;
      }
      // Of a name that no statement of a script gives or expects.
      const index = `indexed_${name}_${column.id}`;
      await database.run(`CREATE INDEX "${index}" ON "${schema}"."${name}" ("${column.name}")`);
    }
  }
}

function isOrdered(kind: string): boolean {
  return kind !== "json" && kind !== "jsonpath" && kind !== "record";
}

/** All statements in one transaction, each after a savepoint. */
const uncommitted: StorageState = {
  name: "uncommitted",
  excludes:
    /^\s*(BEGIN|START|COMMIT|END|ROLLBACK|ABORT|SAVEPOINT|RELEASE|VACUUM|CHECKPOINT|LISTEN|CREATE DATABASE|DROP DATABASE|SET)\b|DEFERR|now\(\)|_timestamp|current_|pg_stat|CONCURRENTLY|txid|advisory|ENUM|ADD VALUE|DECLARE|WITH HOLD|rowid|\bID -?\d/im,
  open: async () => {
    const database = await new OwnDatabase().open();
    await database.run("BEGIN");
    return {
      run: async (sql) => {
        await database.run("SAVEPOINT before_");
        try {
          const rows = await database.run(sql);
          await database.run("RELEASE before_");
          return rows;
        } catch (error) {
          await database.run("ROLLBACK TO before_");
          throw error;
        }
      },
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  },
};

/** A restart after each change, as long as the session holds nothing that would be lost. */
const reopened: StorageState = {
  name: "reopened",
  excludes: /currval|lastval|setseed|pg_stat|advisory/i,
  open: async () => {
    const database = await new OwnDatabase().open();
    let holds = false;
    return {
      run: async (sql) => {
        holds ||= SESSION_STATE.test(sql);
        try {
          return await database.run(sql);
        } finally {
          if (!holds && CHANGE.test(sql) && database.session.block === null) await database.reopen();
        }
      },
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  },
};

/** Rows by a prepared statement. */
async function executed(
  database: OwnDatabase,
  sql: string,
  { parameters, times }: { readonly parameters: readonly string[]; readonly times: number },
): Promise<TextRow[]> {
  const { session } = database;
  const prepared = session.prepare(sql, []);
  const values = parameters.map((text, index) => {
    const type = prepared.parameterTypes[index];
    assert(type !== undefined);
    return parseText(type, text, session.evaluation.textOptions);
  });
  let first: TextRow[] | null = null;
  for (let time = 0; time < times; time++) {
    const sink = new RowBuffer();
    await session.execute(prepared, values, sink);
    const rows = database.textOf(sink);
    if (first === null) first = rows;
    else assert.deepEqual(sorted(rows), sorted(first), `execution ${time + 1} of ${sql}`);
  }
  return first ?? [];
}

function sorted(rows: readonly TextRow[]): string[] {
  return rows.map((row) => JSON.stringify(row)).sort();
}

async function withParameters(database: OwnDatabase, sql: string): Promise<TextRow[]> {
  const { text, parameters } = parametrized(sql);
  // Two parameters of one value are not the same expression, as a key and a column of the list must be.
  if (parameters.length === 0 || NEEDS_SAME_EXPRESSION.test(sql)) return await database.run(sql);
  return await executed(database, text, { parameters, times: 1 });
}

async function sixTimes(database: OwnDatabase, sql: string): Promise<TextRow[]> {
  if (!READS_ONLY.test(sql) || VOLATILE.test(sql) || sql.includes(";")) return await database.run(sql);
  return await executed(database, sql, { parameters: [], times: 6 });
}

/** Through the real gateway. */
function overPg(name: string, isBinary: boolean): StorageState {
  return {
    name,
    // Numbers of objects and labels have no text without the catalog.
    excludes: isBinary ? /\bENUM\b|regtype|pg_typeof|regclass|pg_constraint/i : null,
    open: async () => {
      const database = await new OwnDatabase().open();
      const engine = engineOf(database.database);
      const server = await startPgServer({
        token: null,
        onInternalError: (error) => {
          throw error;
        },
        engine,
        address: { hostname: "127.0.0.1", port: 0 },
      });
      const client = await RawClient.start(server.address.port);
      return {
        run: async (sql) => {
          // The fields of a record have no names or types in binary form that a text could be made of.
          const isPlanned = PLANNED.test(sql) && !sql.includes(";") && !(isBinary && /\brow\s*\(/i.test(sql));
          await client.send(
            !isPlanned ? message("Q", sql) : isBinary ? binaryQuery(sql) : extended(sql),
          );
          return rowsOf(await client.until("Z"), isPlanned && isBinary ? textOptionsOf(engine) : null);
        },
        [Symbol.asyncDispose]: async () => {
          client[Symbol.dispose]();
          await server.close(0);
          await database[Symbol.asyncDispose]();
        },
      };
    },
  };
}

function binaryQuery(sql: string): Uint8Array {
  return concat(
    message("P", "", sql, [2, 0]),
    bind("", "", [], [1]),
    message("D", Uint8Array.of(0x50), ""),
    message("E", "", [4, 0]),
    message("S"),
  );
}

/** How the client's session writes texts. */
function textOptionsOf({ sessions }: Engine): TextOptions {
  const session = [...sessions].at(-1);
  assert(session !== undefined, "the client's session");
  return session.evaluation.textOptions;
}

/** The rows of an answer; `options`: they are binary. */
function rowsOf(messages: readonly ServerMessage[], options: TextOptions | null): TextRow[] {
  const rows: TextRow[] = [];
  let description: ServerMessage | null = null;
  for (const each of messages) {
    if (each.type === "T") description = each;
    else if (each.type === "E") {
      const { C: code = "", M: text = "" } = errorFields(each);
      throw new DatabaseError(code as SqlState, text);
    } else if (each.type === "D") {
      rows.push(options === null ? rowOf(each) : binaryRow(each, description, options));
    }
  }
  return rows;
}

/** The values of a DataRow in binary form; a type that has no text here is compared by its bytes. */
function binaryRow(
  { body }: ServerMessage,
  description: ServerMessage | null,
  options: TextOptions,
): TextRow {
  assert(description !== null, "a description before the rows");
  const types = typesIn(description.body);
  const view = new DataView(body.buffer, body.byteOffset, body.length);
  let at = 2;
  return types.map((type) => {
    const length = view.getInt32(at);
    at += 4;
    if (length < 0) return null;
    const bytes = body.slice(at, at += length);
    return type === undefined
      ? new TextDecoder().decode(bytes)
      : formatText(type, decodeBinary(type, bytes), options);
  });
}

function typesIn(body: Uint8Array): (ReturnType<typeof typeByOid>)[] {
  const view = new DataView(body.buffer, body.byteOffset, body.length);
  let at = 2;
  return Array.from({ length: view.getInt16(0) }, () => {
    at = body.indexOf(0, at) + 1;
    const type = typeByOid(view.getUint32(at + 6), view.getInt32(at + 12));
    at += 18;
    return type;
  });
}

/** Every state; the first is the plain one. */
export const STORAGE_STATES: readonly StorageState[] = [
  moving("in memory", () => Promise.resolve()),
  moving("checkpointed", async (database) => void await checkpoint(database)),
  moving("half moved", halfMoved),
  moving("relaid", relaid, /attnum|ordinal_position|pg_attribute/i),
  moving(
    "indexed",
    indexed,
    /pg_index|pg_class|pg_indexes|EXPLAIN|pg_stat|information_schema|pg_get_indexdef/i,
  ),
  reopened,
  uncommitted,
  asking("with parameters", withParameters),
  asking("prepared, six times", sixTimes, /nextval/i),
  overPg("over PG, text", false),
  overPg("over PG, binary", true),
];
