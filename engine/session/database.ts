/**
 * The database as a library: open a directory, run SQL, get rows as objects.
 *
 * Statements that run at the same time get sessions of their own, so that each is a transaction by itself; a
 * {@link Database.transaction} holds one session for its callback. Promises resolve when the result is durable.
 */
import { assert } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { SqlType } from "../types/sql_type.ts";
import { formatType } from "../types/type_names.ts";
import { Engine, type EngineOptions } from "./engine.ts";
import { fromJavaScript, type JavaScriptValue, type Row, toJavaScript } from "./javascript_value.ts";
import type { MaybePromise, PreparedStatement, StatementOutcome } from "../statements/outcome.ts";
import { RowBuffer } from "../statements/row_buffer.ts";
import type { Session } from "./session.ts";

/** What a statement did. */
export interface ExecuteResult {
  /** PostgreSQL's command tag, such as `INSERT 0 1`. */
  readonly command: string;
  /** Rows inserted, updated, deleted or returned; 0 where that has no meaning. */
  readonly rowCount: number;
  /** The id that a single-row INSERT assigned. */
  readonly insertedId: number | bigint | null;
}

/** A column of a result. */
export interface ColumnInformation {
  /** As in the result; not necessarily unique. */
  readonly name: string;
  /** PostgreSQL's name of the type. */
  readonly type: string;
}

/** What can run statements: a database or an open transaction. */
export interface Executor {
  /**
   * Runs one or, without parameters, several statements (which are one transaction then).
   *
   * Raises {@link DatabaseError} with an SQLSTATE.
   */
  execute(sql: string, parameters?: readonly JavaScriptValue[]): Promise<ExecuteResult>;
  /** Runs a query and answers its rows, keyed by column name. */
  query<T extends Row = Row>(sql: string, parameters?: readonly JavaScriptValue[]): Promise<T[]>;
}

/** A prepared statement of the library; runs on any of the database's sessions. */
export interface Statement {
  /** Columns of its rows; empty when it returns none. */
  readonly columns: readonly ColumnInformation[];
  /** PostgreSQL's names of the types of `$1 …`. */
  readonly parameterTypes: readonly string[];
  /** Runs it; answers what it did. */
  execute(parameters?: readonly JavaScriptValue[]): Promise<ExecuteResult>;
  /** Runs it; answers its rows. */
  query<T extends Row = Row>(parameters?: readonly JavaScriptValue[]): Promise<T[]>;
}

let readEngine: (database: Database) => Engine;

/** The engine of a database, for tests and tools. */
export function engineOf(database: Database): Engine {
  return readEngine(database);
}

/** See the file's head. */
export class Database implements Executor, AsyncDisposable {
  readonly #engine: Engine;
  readonly #idle: Session[] = [];
  /** Closes what owns the engine; null: the database does. */
  readonly #closeOwner: (() => Promise<void>) | null;

  private constructor(engine: Engine, closeOwner: (() => Promise<void>) | null = null) {
    this.#engine = engine;
    this.#closeOwner = closeOwner;
  }

  static {
    readEngine = (database) => database.#engine;
  }

  /** Opens or creates a database; `open` of `mod.ts` chooses the host. */
  static async open(options: EngineOptions): Promise<Database> {
    return new Database(await Engine.open(options));
  }

  /** The database of an engine that a server serves, too; closing it closes the server. */
  static over(engine: Engine, closeServer: () => Promise<void>): Database {
    return new Database(engine, closeServer);
  }

  execute(sql: string, parameters: readonly JavaScriptValue[] = []): Promise<ExecuteResult> {
    return this.#withSession((session) => execute(session, sql, parameters));
  }

  query<T extends Row = Row>(sql: string, parameters: readonly JavaScriptValue[] = []): Promise<T[]> {
    return this.#withSession((session) => query<T>(session, sql, parameters));
  }

  /** Parses and plans a statement once, to be run often. Raises the errors of its text at once. */
  prepare(sql: string): Statement {
    const session = this.#take();
    let prepared: PreparedStatement;
    try {
      prepared = session.prepare(sql, []);
    } finally {
      this.#idle.push(session);
    }
    return {
      columns: describeColumns(prepared),
      parameterTypes: prepared.parameterTypes.map((type) => formatType(type)),
      execute: (parameters = []) =>
        this.#withSession(async (own) => (await run(own, prepared, parameters)).result),
      query: <T extends Row>(parameters: readonly JavaScriptValue[] = []) =>
        this.#withSession(async (own) => (await run(own, prepared, parameters)).rows as T[]),
    };
  }

  /**
   * Runs the callback in a transaction: commits when it resolves, rolls back when it rejects. Isolation is
   * serializable; on a serialization conflict (40001) or deadlock (40P01) the callback runs again, up to `attempts`
   * times.
   */
  async transaction<T>(
    work: (transaction: Executor) => Promise<T>,
    options: { readonly attempts?: number } = {},
  ): Promise<T> {
    const attempts = options.attempts ?? 10;
    for (let attempt = 1;; attempt++) {
      try {
        return await this.#withSession((session) => inTransaction(session, work));
      } catch (error) {
        const lost = error instanceof DatabaseError &&
          (error.code === SQLSTATE.serializationFailure || error.code === SQLSTATE.deadlockDetected);
        if (!lost || attempt >= attempts) throw error;
      }
    }
  }

  /** Copies a consistent state to an empty directory while writes go on; answers the op number it holds. */
  snapshot(directory: string): Promise<number> {
    return this.#engine.snapshotTo(directory);
  }

  /** Digest of everything written so far; equal on every replica at the same op number. */
  digest(): string {
    return this.#engine.digest();
  }

  /** Makes everything durable and releases the directory. */
  async close(): Promise<void> {
    for (const session of this.#idle.splice(0)) session.close();
    await (this.#closeOwner === null ? this.#engine.close() : this.#closeOwner());
  }

  /** The same as {@link Database.close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #take(): Session {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (!idle.isClosed) return idle;
    }
    return this.#engine.openSession();
  }

  async #withSession<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const session = this.#take();
    try {
      return await work(session);
    } finally {
      if (session.block !== null) session.rollbackBlock("ROLLBACK");
      this.#idle.push(session);
    }
  }
}

async function inTransaction<T>(session: Session, work: (transaction: Executor) => Promise<T>): Promise<T> {
  session.beginBlock(true);
  let open = true;
  const use = <R>(run: () => Promise<R>): Promise<R> => {
    if (!open) {
      return Promise.reject(new DatabaseError(SQLSTATE.invalidTransactionState, "the transaction has ended"));
    }
    return run();
  };
  try {
    const result = await work({
      execute: (sql, parameters = []) => use(() => execute(session, sql, parameters)),
      query: (sql, parameters = []) => use(() => query(session, sql, parameters)),
    });
    const outcome = await session.commitBlock("COMMIT");
    if (outcome.tag === "ROLLBACK") {
      throw new DatabaseError(
        SQLSTATE.inFailedSqlTransaction,
        "the transaction was rolled back after a failed statement",
      );
    }
    await session.whenDurable(outcome.durableOp);
    return result;
  } finally {
    open = false;
  }
}

async function execute(
  session: Session,
  sql: string,
  parameters: readonly JavaScriptValue[],
): Promise<ExecuteResult> {
  if (parameters.length > 0) return (await run(session, await prepare(session, sql), parameters)).result;
  let last: StatementOutcome | null = null;
  let durableOp = 0;
  const onOutcome = (outcome: StatementOutcome): void => {
    last = outcome;
    durableOp = Math.max(durableOp, outcome.durableOp);
  };
  await session.whenParsed(sql, () => session.simple(sql, new RowBuffer(), onOutcome));
  await session.whenDurable(durableOp);
  return resultOf(last);
}

async function query<T extends Row>(
  session: Session,
  sql: string,
  parameters: readonly JavaScriptValue[],
): Promise<T[]> {
  return (await run(session, await prepare(session, sql), parameters)).rows as T[];
}

function prepare(session: Session, sql: string): MaybePromise<PreparedStatement> {
  return session.whenParsed(sql, () => session.prepare(sql, []), []);
}

async function run(
  session: Session,
  prepared: PreparedStatement,
  parameters: readonly JavaScriptValue[],
): Promise<{ rows: Row[]; result: ExecuteResult }> {
  const { parameterTypes } = prepared;
  if (parameters.length !== parameterTypes.length) {
    throw new DatabaseError(
      SQLSTATE.protocolViolation,
      `the statement takes ${parameterTypes.length} parameters, but ${parameters.length} were given`,
    );
  }
  const options = session.evaluation.textOptions;
  const values = parameters.map((value, index) =>
    fromJavaScript(typeAt(parameterTypes, index), value, options)
  );
  const sink = new RowBuffer();
  const outcome = await session.execute(prepared, values, sink);
  await session.whenDurable(outcome.durableOp);
  const { columns } = sink;
  const rows = sink.rows.map((row) => {
    const object: Row = {};
    for (const [position, column] of columns.entries()) {
      object[column.name] = toJavaScript(column.type, row[position] ?? null, options);
    }
    return object;
  });
  return { rows, result: resultOf(outcome) };
}

function typeAt(types: readonly SqlType[], index: number): SqlType {
  const type = types[index];
  assert(type !== undefined, "a parameter has a type");
  return type;
}

function resultOf(outcome: StatementOutcome | null): ExecuteResult {
  return {
    command: outcome?.tag ?? "",
    rowCount: outcome?.rowCount ?? 0,
    insertedId: outcome?.insertedId ?? null,
  };
}

function describeColumns(prepared: PreparedStatement): ColumnInformation[] {
  return (prepared.columns ?? []).map((column) => ({ name: column.name, type: formatType(column.type) }));
}
