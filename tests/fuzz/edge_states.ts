/**
 * States that the rows of the edge table may be in, and ways to ask for them: neither may change an answer.
 */
import assert from "node:assert/strict";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Database, engineOf } from "../../engine/session/database.ts";
import { RowBuffer } from "../../engine/session/row_buffer.ts";
import type { Session } from "../../engine/session/session.ts";
import { decodeBinary } from "../../engine/types/binary_io.ts";
import { formatText, parseText } from "../../engine/types/text_io.ts";
import { typeByOid } from "../../engine/types/type_names.ts";
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
import { RawClient } from "../pg/support/raw_client.ts";
import { type Answer, answerOf } from "./engine_answers.ts";
import type { EdgeStatement } from "./edge_statements.ts";
import { createEdgeTable, type EdgeTable, insertEdgeRows, sqlName } from "./edge_tables.ts";

type TextRow = (string | null)[];

/** A database in this process whose rows are in one of the states. */
export class EdgeDatabase implements AsyncDisposable {
  readonly #host = memoryHost();
  #database: Database | null = null;
  #session: Session | null = null;
  #inTransaction = false;
  #client: { readonly raw: RawClient; readonly stop: () => Promise<void> } | null = null;

  /** A database with the table in a state. */
  static async make(state: EdgeState, table: EdgeTable): Promise<EdgeDatabase> {
    const database = new EdgeDatabase();
    await database.reopen();
    await STATES[state](database, table);
    return database;
  }

  get session(): Session {
    assert(this.#session !== null);
    return this.#session;
  }

  /** Closes and opens the database, with what it has on its disk. */
  async reopen(): Promise<void> {
    await this.#database?.close();
    this.#database = await Database.open({ host: this.#host, directory: "edges" });
    this.#session = engineOf(this.#database).openSession();
  }

  async checkpoint(): Promise<void> {
    assert(this.#database !== null);
    await engineOf(this.#database).checkpoint();
  }

  async run(sql: string): Promise<TextRow[]> {
    const sink = new RowBuffer();
    await this.session.simple(sql, sink, () => {});
    return this.#textOf(sink);
  }

  async begin(): Promise<void> {
    await this.run("BEGIN");
    this.#inTransaction = true;
  }

  /** Whether another connection sees the rows. */
  get isShared(): boolean {
    return !this.#inTransaction;
  }

  /** The answer to a statement that is asked in a way. */
  async answer(statement: EdgeStatement, way: EdgeWay): Promise<Answer> {
    if (!this.#inTransaction) return await answerOf(() => WAYS[way](this, statement));
    await this.run("SAVEPOINT s");
    const answer = await answerOf(() => WAYS[way](this, statement));
    await this.run("ROLLBACK TO SAVEPOINT s");
    await this.run("RELEASE SAVEPOINT s");
    return answer;
  }

  /** By a prepared statement; every execution must answer the same. */
  async execute(
    sql: string,
    { parameters, times }: { parameters: readonly (string | null)[]; times: number },
  ): Promise<TextRow[]> {
    const prepared = this.session.prepare(sql, []);
    const options = this.session.evaluation.textOptions;
    const values = parameters.map((text, index) => {
      const type = prepared.parameterTypes[index];
      assert(type !== undefined);
      return text === null ? null : parseText(type, text, options);
    });
    const ask = async () => {
      const sink = new RowBuffer();
      await this.session.execute(prepared, values, sink);
      return this.#textOf(sink);
    };
    const first = await ask();
    for (let time = 1; time < times; time++) {
      assert.deepEqual(sorted(await ask()), sorted(first), `execution ${time + 1}`);
    }
    return first;
  }

  /** Over a connection to the gateway. */
  async overPg(request: Uint8Array, isBinary: boolean): Promise<TextRow[]> {
    this.#client ??= await this.#connect();
    await this.#client.raw.send(request);
    return rowsOf(await this.#client.raw.until("Z"), isBinary);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client?.stop();
    await this.#database?.close();
  }

  async #connect(): Promise<{ readonly raw: RawClient; readonly stop: () => Promise<void> }> {
    assert(this.#database !== null);
    const server = await startPgServer({
      token: null,
      onInternalError: (error) => {
        throw error;
      },
      engine: engineOf(this.#database),
      address: { hostname: "127.0.0.1", port: 0 },
    });
    const raw = await RawClient.start(server.address.port);
    return {
      raw,
      stop: async () => {
        raw[Symbol.dispose]();
        await server.close(0);
      },
    };
  }

  #textOf(sink: RowBuffer): TextRow[] {
    const options = this.session.evaluation.textOptions;
    return sink.rows.map((row) =>
      sink.columns.map(({ type }, index) => {
        const value = row[index] ?? null;
        return value === null ? null : formatText(type, value, options);
      })
    );
  }
}

function sorted(rows: readonly TextRow[]): string[] {
  return rows.map((row) => JSON.stringify(row)).sort();
}

async function fill(
  database: EdgeDatabase,
  table: EdgeTable,
  from = 0,
  to = table.rows.length,
): Promise<void> {
  for (const sql of insertEdgeRows(table, from, to)) await database.run(sql);
}

async function createFilled(database: EdgeDatabase, table: EdgeTable): Promise<void> {
  await database.run(createEdgeTable(table));
  await fill(database, table);
}

const STATES = {
  "in the delta": createFilled,
  checkpointed: async (database: EdgeDatabase, table: EdgeTable) => {
    await createFilled(database, table);
    await database.checkpoint();
  },
  // Half in segments; of these some deleted and written again, some updated without a change.
  "half and half": async (database: EdgeDatabase, table: EdgeTable) => {
    const middle = table.rows.length >> 1;
    await database.run(createEdgeTable(table));
    await fill(database, table, 0, middle);
    await database.checkpoint();
    await fill(database, table, middle);
    await database.run("CREATE TABLE kept AS SELECT * FROM e WHERE id % 3 = 0");
    await database.run("DELETE FROM e WHERE id % 3 = 0");
    await database.run("INSERT INTO e SELECT * FROM kept");
    await database.run("UPDATE e SET c1 = c1, c3 = c3 WHERE id % 5 = 1");
  },
  restarted: async (database: EdgeDatabase, table: EdgeTable) => {
    const middle = table.rows.length >> 1;
    await database.run(createEdgeTable(table));
    await fill(database, table, 0, middle);
    await database.checkpoint();
    await fill(database, table, middle);
    await database.reopen();
  },
  // Segments lack the columns; the first row's value is the default.
  "with added columns": async (database: EdgeDatabase, table: EdgeTable) => {
    await database.run("CREATE TABLE e (id int PRIMARY KEY)");
    await database.run(`INSERT INTO e SELECT i FROM generate_series(1, ${table.rows.length}) AS g(i)`);
    await database.checkpoint();
    for (const [index, { name, type }] of table.columns.entries()) {
      const first = table.rows[0]?.[index] ?? null;
      const literal = (text: string | null) => text === null ? "NULL" : `'${text.replaceAll("'", "''")}'`;
      await database.run(`ALTER TABLE e ADD COLUMN ${name} ${sqlName(type)} DEFAULT ${literal(first)}`);
      const byText = new Map<string | null, number[]>();
      for (const [at, row] of table.rows.entries()) {
        const text = row[index] ?? null;
        if (text !== first) byText.set(text, [...byText.get(text) ?? [], at + 1]);
      }
      for (const [text, ids] of byText) {
        await database.run(`UPDATE e SET ${name} = ${literal(text)} WHERE id IN (${ids.join(", ")})`);
      }
    }
  },
  "in its transaction": async (database: EdgeDatabase, table: EdgeTable) => {
    const middle = table.rows.length >> 1;
    await database.run(createEdgeTable(table));
    await fill(database, table, 0, middle);
    await database.checkpoint();
    await database.begin();
    await fill(database, table, middle);
    await database.run("UPDATE e SET c1 = c1, c2 = c2 WHERE id % 2 = 1");
  },
  indexed: async (database: EdgeDatabase, table: EdgeTable) => {
    const middle = table.rows.length >> 1;
    await database.run(createEdgeTable(table));
    await fill(database, table, 0, middle);
    for (const { name, type } of table.columns) {
      if (type !== "jsonb") await database.run(`CREATE INDEX ON e (${name})`);
    }
    await database.checkpoint();
    await fill(database, table, middle);
  },
} satisfies Record<string, (database: EdgeDatabase, table: EdgeTable) => Promise<void>>;

/** A state of rows. */
export type EdgeState = keyof typeof STATES;
/** All of them. */
export const EDGE_STATES = Object.keys(STATES) as readonly EdgeState[];

const WAYS = {
  "simple query": (database: EdgeDatabase, { sql }: EdgeStatement) => database.run(sql),
  parameters: (database: EdgeDatabase, { prepared, parameters }: EdgeStatement) =>
    database.execute(prepared, { parameters, times: 1 }),
  "prepared, six times": (database: EdgeDatabase, { prepared, parameters }: EdgeStatement) =>
    database.execute(prepared, { parameters, times: 6 }),
  "PG in text": (database: EdgeDatabase, { prepared, parameters }: EdgeStatement) =>
    database.overPg(extended(prepared, parameters), false),
  "PG in binary": (database: EdgeDatabase, { sql }: EdgeStatement) => database.overPg(binaryQuery(sql), true),
} satisfies Record<string, (database: EdgeDatabase, statement: EdgeStatement) => Promise<TextRow[]>>;

/** A way to ask. */
export type EdgeWay = keyof typeof WAYS;
/** All of them. */
export const EDGE_WAYS = Object.keys(WAYS) as readonly EdgeWay[];
/** Those that see the rows of an open transaction. */
export const OWN_WAYS: readonly EdgeWay[] = ["simple query", "parameters", "prepared, six times"];

function binaryQuery(sql: string): Uint8Array {
  return concat(
    message("P", "", sql, [2, 0]),
    bind("", "", [], [1]),
    message("D", Uint8Array.of(0x50), ""),
    message("E", "", [4, 0]),
    message("S"),
  );
}

/** The rows in an answer of a server. Raises its `DatabaseError`. */
export function rowsOf(messages: readonly ServerMessage[], isBinary: boolean): TextRow[] {
  const rows: TextRow[] = [];
  let types: ReturnType<typeof typesIn> = [];
  for (const each of messages) {
    if (each.type === "T") types = typesIn(each.body);
    else if (each.type === "D") rows.push(isBinary ? binaryRow(each.body, types) : rowOf(each));
    else if (each.type === "E") {
      const { C: code = "", M: text = "" } = errorFields(each);
      throw new DatabaseError(code as SqlState, text);
    }
  }
  return rows;
}

function binaryRow(body: Uint8Array, types: ReturnType<typeof typesIn>): TextRow {
  const view = new DataView(body.buffer, body.byteOffset, body.length);
  let at = 2;
  return types.map((type) => {
    const length = view.getInt32(at);
    at += 4;
    if (length < 0) return null;
    const bytes = body.slice(at, at += length);
    assert(type !== undefined, "a type of the server");
    return formatText(type, decodeBinary(type, bytes));
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
