/**
 * A database in this process that is asked in several ways: by its session, by prepared statements, over the
 * PostgreSQL protocol in text and in binary. Rows are texts, however they come.
 */
import assert from "node:assert/strict";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Database, engineOf } from "../../engine/session/database.ts";
import type { Engine } from "../../engine/session/engine.ts";
import { RowBuffer } from "../../engine/statements/row_buffer.ts";
import { runDurably } from "./run_sql.ts";
import type { Session } from "../../engine/session/session.ts";
import { openSharded, shardInThisThread } from "../../engine/sharding/open_sharded.ts";
import { decodeBinary } from "../../engine/types/binary_io.ts";
import { formatText, parseText, type TextOptions } from "../../engine/types/text_io.ts";
import { typeByOid } from "../../engine/types/type_names.ts";
import { startPgServer } from "../../gateways/pg/server.ts";
import {
  bind,
  concat,
  errorFields,
  message,
  rowOf,
  type ServerMessage,
} from "../../gateways/pg/testing/wire.ts";
import { DatabaseError, type SqlState } from "../../mod.ts";
import { RawClient } from "../pg/support/raw_client.ts";

/** A row as text. */
export type TextRow = (string | null)[];

/** A statement with its literals in it and out of it. */
export interface Question {
  readonly sql: string;
  /** The same with `$1` and so on. */
  readonly prepared: string;
  readonly parameters: readonly (string | null)[];
}

/**
 * A database in this process that is asked in several ways: by its session, by prepared statements, over the
 * PostgreSQL protocol in text and in binary.
 */
export class StateDatabase implements AsyncDisposable {
  readonly #host = memoryHost();
  readonly #shardCount: number;
  #database: Database | null = null;
  #session: Session | null = null;
  #client: { readonly raw: RawClient; readonly stop: () => Promise<void> } | null = null;

  private constructor(shardCount: number) {
    this.#shardCount = shardCount;
  }

  static async open(shardCount = 1): Promise<StateDatabase> {
    const database = new StateDatabase(shardCount);
    await database.reopen();
    return database;
  }

  get engine(): Engine {
    assert(this.#database !== null);
    return engineOf(this.#database);
  }

  get session(): Session {
    assert(this.#session !== null);
    return this.#session;
  }

  /** Closes and opens the database, with what it has on its disk. */
  async reopen(): Promise<void> {
    await this[Symbol.asyncDispose]();
    const engine = await openSharded({
      ...{ host: this.#host, directory: "db", shardCount: this.#shardCount },
      startShard: shardInThisThread(this.#host),
    });
    this.#database = Database.over(engine, () => engine.close());
    this.#session = this.engine.openSession();
  }

  /** A statement of a session of its own, which nothing is set in. */
  async move(sql: string): Promise<void> {
    const session = this.engine.openSession();
    try {
      await runDurably(session, sql);
    } finally {
      session.close();
    }
  }

  async checkpoint(): Promise<void> {
    await this.engine.checkpoint();
  }

  /** One statement, or several, by the session. */
  async run(sql: string): Promise<TextRow[]> {
    const sink = new RowBuffer();
    await this.session.simple(sql, sink, () => {});
    return this.#textOf(sink);
  }

  /** By a prepared statement; every execution must answer the same. */
  async execute({ prepared: text, parameters }: Question, times: number): Promise<TextRow[]> {
    const prepared = this.session.prepare(text, []);
    const options = this.session.evaluation.textOptions;
    const values = parameters.map((parameter, index) => {
      const type = prepared.parameterTypes[index];
      assert(type !== undefined);
      return parameter === null ? null : parseText(type, parameter, options);
    });
    const ask = async () => {
      const sink = new RowBuffer();
      await this.session.execute(prepared, values, sink);
      return this.#textOf(sink);
    };
    const first = await ask();
    for (let time = 1; time < times; time++) {
      assert.deepEqual(sorted(await ask()), sorted(first), `execution ${time + 1} of ${text}`);
    }
    return first;
  }

  /** By messages over a connection to the gateway. */
  async overPg(request: Uint8Array, isBinary: boolean): Promise<TextRow[]> {
    this.#client ??= await this.#connect();
    await this.#client.raw.send(request);
    return rowsOf(await this.#client.raw.until("Z"), isBinary ? this.#clientsOptions() : null);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client?.stop();
    this.#client = null;
    await this.#database?.close();
    this.#database = null;
  }

  async #connect(): Promise<{ readonly raw: RawClient; readonly stop: () => Promise<void> }> {
    const server = await startPgServer({
      token: null,
      onInternalError: (error) => {
        throw error;
      },
      engine: this.engine,
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

  /** How the client's session, which is the last one, writes texts. */
  #clientsOptions(): TextOptions {
    const session = [...this.engine.sessions].at(-1);
    assert(session !== undefined, "the client's session");
    return session.evaluation.textOptions;
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

/** Messages that ask for rows in binary. */
export function binaryQuery(sql: string): Uint8Array {
  return concat(
    message("P", "", sql, [2, 0]),
    bind("", "", [], [1]),
    message("D", Uint8Array.of(0x50), ""),
    message("E", "", [4, 0]),
    message("S"),
  );
}

/** The rows in a server's answer; `options`: they are binary. Raises its `DatabaseError`. */
export function rowsOf(messages: readonly ServerMessage[], options: TextOptions | null): TextRow[] {
  const rows: TextRow[] = [];
  let types: ReturnType<typeof typesIn> = [];
  for (const each of messages) {
    if (each.type === "T") types = options === null ? [] : typesIn(each.body);
    else if (each.type === "D") {
      rows.push(options === null ? rowOf(each) : binaryRow(each.body, types, options));
    } else if (each.type === "E") {
      const { C: code = "", M: text = "" } = errorFields(each);
      throw new DatabaseError(code as SqlState, text);
    }
  }
  return rows;
}

/** The values of a row in binary form; a type that has no text here is compared by its bytes. */
function binaryRow(body: Uint8Array, types: ReturnType<typeof typesIn>, options: TextOptions): TextRow {
  const view = new DataView(body.buffer, body.byteOffset, body.length);
  assert.equal(view.getInt16(0), types.length, "a description before the rows");
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
