/**
 * The client of the binary protocol: `connect()` and SQL, rows as JavaScript objects.
 *
 * Requests may be made without waiting for earlier ones: they are pipelined and answered in order. A lost connection is
 * made again, to each address in turn; requests that had no answer are then repeated where that is safe: reads always,
 * changes when they carry a client id and sequence number (`exactlyOnce`, the default with several addresses), so that
 * none is ever applied twice. For the others the outcome is unknown, and that is what they raise: 40003.
 */
import { randomBytes } from "node:crypto";
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";
import type { JavaScriptValue, Row } from "../../engine/session/javascript_value.ts";
import type { TransactionStatus } from "../../engine/statements/outcome.ts";
import { parseDateStyle } from "../../engine/types/date_time_format.ts";
import type { StoredValue } from "../../engine/types/stored_value.ts";
import { DEFAULT_TEXT_OPTIONS, type TextOptions } from "../../engine/types/text_io.ts";
import { findTimeZone } from "../../engine/types/time_zone.ts";
import type {
  ClientSequence,
  Operation,
  Reply,
  WireColumn,
  WireOutcome,
} from "../shared/operation/operation.ts";
import { parameterOf } from "../shared/operation/parameter_binding.ts";
import { errorOf } from "../shared/operation/reply_codec.ts";
import type {
  Client,
  ClientOptions,
  ClientStatement,
  ClientTls,
  CopyChunk,
  PipelineStatement,
} from "./client_api.ts";
import { ClientConnection, type ConnectionRequest } from "./client_connection.ts";
import { StatementResult } from "./client_result.ts";
import { isRead } from "./retry_rule.ts";
import { type ServerAddress, ServerAddresses } from "./server_addresses.ts";

/** Data of a COPY passing through a client. */
interface CopyHandler {
  readonly source: AsyncIterable<CopyChunk> | Iterable<CopyChunk> | null;
  readonly onData: ((bytes: Uint8Array) => void) | null;
}

/** A request without its final answer. */
interface Pending {
  readonly number: bigint;
  readonly operation: Operation;
  readonly client: ClientSequence | null;
  readonly minOp: number;
  readonly copy: CopyHandler | null;
  /** Whether the request may be made again when its answer was lost. */
  readonly isRepeatable: boolean;
  columns: readonly WireColumn[];
  rows: (readonly StoredValue[])[];
  results: StatementResult[];
  wasSentBefore: boolean;
  /** When its connection was lost first. */
  lostAt: number | null;
  readonly resolve: (results: StatementResult[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Codes that a server answers when another one, or the same one later, may answer better. */
const UNAVAILABLE: readonly string[] = [
  SQLSTATE.connectionException,
  SQLSTATE.cannotConnectNow,
  SQLSTATE.adminShutdown,
  SQLSTATE.tooManyConnections,
];

/**
 * Connects to a server of the binary protocol.
 *
 * Raises {@link DatabaseError}: 08000 when none can be reached, 08001 when its certificate is not trusted, 28P01 for a
 * wrong token, 53300 when there are too many clients.
 */
export function connect(options: ClientOptions = {}): Promise<Client> {
  return OperationClient.connect(options);
}

/** What a client has of the world around it; the system's unless given. */
export interface ClientSurroundings {
  /** Names the client in its exactly-once requests: 32 hexadecimal digits. */
  readonly clientId?: string;
  readonly openSocket?: ConnectionRequest["openSocket"];
}

/**
 * The client of the binary protocol: `connect()` and SQL, rows as JavaScript objects. One client is one session of
 * the database.
 */
export class OperationClient implements Client {
  readonly #options: ClientOptions;
  readonly #addresses: ServerAddresses;
  readonly #tls: ClientTls | null;
  readonly #clientId: string;
  readonly #surroundings: ClientSurroundings;
  readonly #exactlyOnce: boolean;
  readonly #pending = new Map<bigint, Pending>();
  #connection: ClientConnection | null = null;
  #connecting: Promise<void> | null = null;
  #nextNumber = 1n;
  #nextSequence = 1n;
  /** See {@link Client.minOp}. */
  minOp = 0;
  #status: TransactionStatus = "idle";
  /** Why an open block was lost between two requests: the next one must not go on outside of it. */
  #lostBlock: DatabaseError | null = null;
  #isClosed = false;
  #textOptions: TextOptions = DEFAULT_TEXT_OPTIONS;

  private constructor(options: ClientOptions, surroundings: ClientSurroundings) {
    this.#options = options;
    this.#surroundings = surroundings;
    this.#clientId = surroundings.clientId ?? new Uint8Array(randomBytes(16)).toHex();
    const addresses = options.addresses ?? [options.address ?? "127.0.0.1:7878"];
    this.#tls = options.tls === undefined || options.tls === false
      ? null
      : options.tls === true
      ? {}
      : options.tls;
    this.#addresses = new ServerAddresses(addresses);
    this.#exactlyOnce = options.exactlyOnce ?? addresses.length > 1;
  }

  /** See {@link connect}. */
  static async connect(
    options: ClientOptions,
    surroundings: ClientSurroundings = {},
  ): Promise<OperationClient> {
    const client = new OperationClient(options, surroundings);
    await client.#connect();
    return client;
  }

  /** Whether a transaction block is open, and whether it has failed; of the last answer. */
  get status(): TransactionStatus {
    return this.#status;
  }

  /** The version of the server program. */
  get serverVersion(): string {
    return this.#connection?.serverVersion ?? "";
  }

  /** Runs one statement, or, without parameters, several (one transaction); answers how the last one ended. */
  async execute(sql: string, parameters?: readonly JavaScriptValue[]): Promise<StatementResult> {
    const results = await this.run(sql, parameters);
    return results.at(-1) ?? emptyResult(this.#textOptions);
  }

  /** Runs a query and answers its rows, keyed by column name. */
  async query<T extends Row = Row>(sql: string, parameters?: readonly JavaScriptValue[]): Promise<T[]> {
    return (await this.execute(sql, parameters)).rows<T>();
  }

  /** Runs a text and answers how each of its statements ended. */
  run(sql: string, parameters?: readonly JavaScriptValue[]): Promise<StatementResult[]> {
    return this.request({
      kind: "sql",
      text: sql,
      parameters: parameters === undefined || parameters.length === 0 ? null : parameters.map(parameterOf),
    });
  }

  /** Keeps a statement to be run often; the server keeps its plan. */
  prepare(sql: string): ClientStatement {
    return {
      execute: (parameters) => this.execute(sql, parameters),
      query: <T extends Row>(parameters?: readonly JavaScriptValue[]) => this.query<T>(sql, parameters),
    };
  }

  /**
   * Sends all statements at once and answers how each ended, errors included; each is a transaction by itself unless
   * there is a BEGIN among them.
   */
  pipeline(statements: readonly PipelineStatement[]): Promise<(StatementResult | DatabaseError)[]> {
    return Promise.all(
      statements.map(({ sql, parameters }) =>
        this.execute(sql, parameters).catch((error: unknown) => {
          if (error instanceof DatabaseError) return error;
          throw error;
        })
      ),
    );
  }

  /** Runs the work between BEGIN and COMMIT; rolls back when it rejects. Nothing else may use the client meanwhile. */
  async transaction<T>(work: (client: OperationClient) => Promise<T>): Promise<T> {
    await this.execute("BEGIN");
    let result: T;
    try {
      result = await work(this);
    } catch (error) {
      if (this.#status !== "idle") await this.execute("ROLLBACK");
      throw error;
    }
    const { command } = await this.execute("COMMIT");
    if (command === "ROLLBACK") {
      throw new DatabaseError(
        SQLSTATE.inFailedSqlTransaction,
        "the transaction was rolled back after a failed statement",
      );
    }
    return result;
  }

  /**
   * Loads data: `target` is a COPY … FROM STDIN statement, or the name of a table, which is loaded from text format.
   */
  async copyIn(
    target: string,
    chunks: AsyncIterable<CopyChunk> | Iterable<CopyChunk>,
  ): Promise<StatementResult> {
    const text = /\s/.test(target.trim()) ? target : `COPY ${target} FROM STDIN`;
    const results = await this.#request({ kind: "sql", text, parameters: null }, {
      source: chunks,
      onData: null,
    });
    return results.at(-1) ?? emptyResult(this.#textOptions);
  }

  /** Runs a COPY … TO STDOUT statement and hands out its data piece by piece. */
  async copyOut(text: string, onData: (bytes: Uint8Array) => void): Promise<StatementResult> {
    const results = await this.#request({ kind: "sql", text, parameters: null }, { source: null, onData });
    return results.at(-1) ?? emptyResult(this.#textOptions);
  }

  /** Carries out an operation of the protocol. */
  request(operation: Operation): Promise<StatementResult[]> {
    return this.#request(operation, null);
  }

  /** Asks the server to break off what it is doing for this client; that request then raises 57014. */
  cancel(): void {
    const [first] = this.#pending.keys();
    if (first !== undefined) {
      this.#connection?.send({ number: first, client: null, operation: { kind: "cancel" } });
    }
  }

  /** Closes the connection; requests without an answer are rejected. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const closing = this.#connection?.close();
    this.#rejectAll(new DatabaseError(SQLSTATE.connectionException, "the client was closed"));
    await closing;
  }

  /** The same as {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  // ---------------------------------------------------------------- requests

  #request(operation: Operation, copy: CopyHandler | null): Promise<StatementResult[]> {
    if (this.#isClosed) {
      return Promise.reject(new DatabaseError(SQLSTATE.connectionException, "the client was closed"));
    }
    const lostBlock = this.#lostBlock;
    this.#lostBlock = null;
    if (lostBlock !== null && !isRollback(operation)) return Promise.reject(lostBlock);
    return new Promise((resolve, reject) => {
      const isInBlock = this.#status !== "idle";
      const reads = !isInBlock && copy === null && isRead(operation);
      const sequenced = this.#exactlyOnce && !isInBlock && copy === null && !reads && isRepeatable(operation);
      const pending: Pending = {
        number: this.#nextNumber++,
        operation,
        client: sequenced ? { clientId: this.#clientId, sequence: this.#nextSequence++ } : null,
        minOp: this.minOp,
        copy,
        isRepeatable: reads || sequenced,
        columns: [],
        rows: [],
        results: [],
        wasSentBefore: false,
        lostAt: null,
        resolve,
        reject,
      };
      this.#pending.set(pending.number, pending);
      if (this.#connection !== null) this.#send(this.#connection, pending);
      else this.#reconnect();
    });
  }

  #send(connection: ClientConnection, pending: Pending): void {
    pending.columns = [];
    pending.rows = [];
    pending.results = [];
    const { number, client, minOp, operation } = pending;
    connection.send({ number, client, minOp, operation });
    pending.wasSentBefore = true;
  }

  #receive(reply: Reply): void {
    if (reply.kind === "setting") {
      this.#applySetting(reply.name, reply.value);
      return;
    }
    const pending = this.#pending.get(reply.number);
    if (pending === undefined) return;
    switch (reply.kind) {
      case "columns":
        pending.columns = reply.columns;
        pending.rows = [];
        return;
      case "rows":
        for (const row of reply.rows) pending.rows.push(row);
        return;
      case "outcome":
        pending.results.push(this.#resultOf(reply.outcome, pending));
        pending.columns = [];
        pending.rows = [];
        return;
      case "copy_in":
        this.#sendCopy(pending);
        return;
      case "copy_out":
        return;
      case "copy_data":
        // The frame's bytes are only valid now.
        pending.copy?.onData?.(reply.bytes.slice());
        return;
      case "end":
        this.#status = reply.status;
        this.#pending.delete(pending.number);
        for (const result of pending.results) result.op = reply.op;
        pending.resolve(pending.results);
        return;
      case "error": {
        this.#status = reply.status;
        this.#pending.delete(pending.number);
        const error = errorOf(reply.failure);
        pending.reject(isUnknownAgain(pending, error) ? unknownOutcome(error) : error);
      }
    }
  }

  #resultOf(outcome: WireOutcome, pending: Pending): StatementResult {
    return new StatementResult({
      outcome,
      columns: pending.columns,
      rows: pending.rows,
      textOptions: this.#textOptions,
    });
  }

  #applySetting(name: string, value: string): void {
    const options = this.#textOptions;
    switch (name) {
      case "TimeZone":
        this.#textOptions = { ...options, timeZone: findTimeZone(value) ?? options.timeZone };
        return;
      case "DateStyle":
        this.#textOptions = { ...options, dateStyle: parseDateStyle(value) ?? options.dateStyle };
        return;
      case "IntervalStyle":
        this.#textOptions = { ...options, intervalStyle: value as TextOptions["intervalStyle"] };
        return;
      default:
        return;
    }
  }

  // ---------------------------------------------------------------- COPY

  async #sendCopy(pending: Pending): Promise<void> {
    const connection = this.#connection;
    if (connection === null) return;
    const { number } = pending;
    const encoder = new TextEncoder();
    try {
      if (pending.copy?.source === null || pending.copy === null) {
        connection.send({
          number,
          client: null,
          operation: { kind: "copy_fail", message: "the client has no data for this statement" },
        });
        return;
      }
      for await (const chunk of pending.copy.source) {
        const bytes = typeof chunk === "string" ? encoder.encode(chunk) : chunk;
        for (let at = 0; at < bytes.length; at += COPY_PIECE_BYTES) {
          const piece = bytes.subarray(at, at + COPY_PIECE_BYTES);
          const ready = connection.send({
            number,
            client: null,
            operation: { kind: "copy_data", bytes: piece },
          });
          if (!ready) await connection.drained();
        }
        // An error has ended the statement: nothing waits for the rest.
        if (!this.#pending.has(number)) return;
      }
      connection.send({ number, client: null, operation: { kind: "copy_done" } });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      connection.send({ number, client: null, operation: { kind: "copy_fail", message } });
    }
  }

  // ---------------------------------------------------------------- connections

  get #reconnectMilliseconds(): number {
    return this.#options.reconnectTimeoutMilliseconds ?? 30_000;
  }

  /**
   * Connects to whichever server takes the client. A first time it waits only while a cluster has a server that says
   * that it will: where none answers, there is nothing to wait for.
   */
  async #connect({ isLost = false } = {}): Promise<void> {
    const deadline = performance.now() + this.#reconnectMilliseconds;
    for (let round = 0;; round++) {
      let last: DatabaseError | null = null;
      for (let tries = 0; tries < this.#addresses.count; tries++) {
        try {
          const timeout = this.#options.connectTimeoutMilliseconds ?? 5000;
          const connection = await this.#atPrimary(await this.#open(this.#addresses.current, timeout));
          if (this.#isClosed) {
            await connection.close();
            throw new DatabaseError(SQLSTATE.connectionException, "the client was closed");
          }
          // While the primary itself was tried: nobody would make another one when it is adopted.
          if (connection.isClosed) throw connection.closeError;
          this.#adopt(connection);
          return;
        } catch (error) {
          if (!(error instanceof DatabaseError) || !UNAVAILABLE.includes(error.code)) throw error;
          // What a server says is worth more than the silence of another.
          if (last === null || last.code === SQLSTATE.connectionException) last = error;
          this.#addresses.next();
        }
      }
      const rest = deadline - performance.now();
      const isWorthIt = isLost || this.#addresses.count > 1 && last?.code === SQLSTATE.cannotConnectNow;
      if (last !== null && (this.#isClosed || rest <= 0 || !isWorthIt)) throw last;
      await new Promise((resolve) => setTimeout(resolve, Math.min(pauseMilliseconds(round), rest)));
    }
  }

  #open({ hostname, port, name }: ServerAddress, timeoutMilliseconds: number): Promise<ClientConnection> {
    return ClientConnection.open({
      hostname,
      port,
      token: this.#options.token ?? null,
      tls: this.#tls === null || name === null ? this.#tls : { serverName: name, ...this.#tls },
      name: this.#options.name ?? "db-client",
      readFrom: this.#options.readFrom ?? "primary",
      timeoutMilliseconds,
      ...(this.#surroundings.openSocket === undefined ? {} : { openSocket: this.#surroundings.openSocket }),
    });
  }

  /** A connection to the primary itself in the place of one through another member, if an address leads there. */
  async #atPrimary(connection: ClientConnection): Promise<ClientConnection> {
    const { cluster } = connection;
    if (cluster === null) return connection;
    this.#addresses.metHere(cluster);
    const tried = new Set<number>();
    for (;;) {
      const index = this.#addresses.ofPrimary(cluster, tried);
      if (index === null || connection.isClosed || this.#isClosed) return connection;
      tried.add(index);
      const other = await this.#open(this.#addresses.at(index), MOVE_MILLISECONDS).catch((error: unknown) => {
        // The way through the member that was asked first is as good as it was.
        if (error instanceof DatabaseError) return null;
        throw error;
      });
      if (other === null) continue;
      if (other.cluster !== null) this.#addresses.met(index, other.cluster.member);
      const isThere = other.cluster !== null && other.cluster.member === other.cluster.primary;
      void (isThere ? connection : other).close();
      if (!isThere) continue;
      this.#addresses.use(index);
      return other;
    }
  }

  #adopt(connection: ClientConnection): void {
    this.#connection = connection;
    this.#status = "idle";
    this.#textOptions = DEFAULT_TEXT_OPTIONS;
    connection.listen({
      onReply: (reply) => this.#receive(reply),
      onClose: (error) => this.#lost(connection, error),
    });
    for (const pending of this.#pending.values()) this.#send(connection, pending);
  }

  #lost(connection: ClientConnection, error: DatabaseError): void {
    if (this.#connection !== connection) return;
    this.#connection = null;
    this.#addresses.next();
    const wasInBlock = this.#status !== "idle";
    const now = performance.now();
    this.#status = "idle";
    if (wasInBlock && this.#pending.size === 0) this.#lostBlock = error;
    for (const pending of [...this.#pending.values()]) {
      pending.lostAt ??= now;
      if (pending.isRepeatable && now - pending.lostAt <= this.#reconnectMilliseconds) continue;
      this.#pending.delete(pending.number);
      const isKnown = isRead(pending.operation) || wasInBlock && !endsTransaction(pending.operation);
      pending.reject(isKnown ? error : unknownOutcome(error));
    }
    if (this.#pending.size > 0) this.#reconnect();
  }

  #reconnect(): void {
    if (this.#connecting !== null || this.#isClosed) return;
    this.#connecting = this.#connect({ isLost: true })
      .catch((error: unknown) => this.#rejectAll(error))
      .finally(() => {
        this.#connecting = null;
      });
  }

  #rejectAll(error: unknown): void {
    for (const pending of [...this.#pending.values()]) {
      this.#pending.delete(pending.number);
      pending.reject(pending.wasSentBefore && !isRead(pending.operation) ? unknownOutcome(error) : error);
    }
  }
}

const COPY_PIECE_BYTES = 256 * 1024;

/** How long a client that is served looks for the primary at one address. */
const MOVE_MILLISECONDS = 1000;
const FIRST_PAUSE_MILLISECONDS = 10;
const LAST_PAUSE_MILLISECONDS = 1000;

/** The time between two rounds over all servers: it doubles, and half of it is random, so that clients spread. */
function pauseMilliseconds(round: number): number {
  const longest = Math.min(FIRST_PAUSE_MILLISECONDS * 2 ** round, LAST_PAUSE_MILLISECONDS);
  return longest * (0.5 + Math.random() / 2);
}

/** Whether a change can be one exactly-once request: transactions that the client steers cannot. */
function isRepeatable(operation: Operation): boolean {
  switch (operation.kind) {
    case "sql":
      return !/^\s*(begin|start|commit|end|rollback|abort|savepoint|release|set|reset|discard|declare|fetch|move|close|prepare|execute|deallocate|copy|listen|unlisten|notify|checkpoint|vacuum|lock)\b/i
        .test(operation.text);
    case "create":
    case "update":
    case "delete":
    case "txn":
    case "ddl":
      return true;
    default:
      return false;
  }
}

function isRollback(operation: Operation): boolean {
  return operation.kind === "sql" && /^\s*(rollback|abort)\b/i.test(operation.text);
}

function endsTransaction(operation: Operation): boolean {
  return operation.kind === "sql" && /\b(commit|end)\b/i.test(operation.text);
}

/**
 * Whether the answer to a repeated request says nothing of the first time: a server has no time for it, or has its
 * reply no longer, for a later request of this client was answered meanwhile.
 */
function isUnknownAgain({ client, lostAt }: Pending, { code, message }: DatabaseError): boolean {
  if (client === null) return false;
  return lostAt !== null && UNAVAILABLE.includes(code) ||
    code === SQLSTATE.objectNotInPrerequisiteState && message.includes("is older than its last request");
}

function unknownOutcome(cause: unknown): DatabaseError {
  return new DatabaseError(
    SQLSTATE.statementCompletionUnknown,
    "the connection was lost before the answer came: whether the statement took effect is unknown",
    { hint: "Look whether the change is there before you make it again.", cause },
  );
}

function emptyResult(textOptions: TextOptions): StatementResult {
  return new StatementResult({
    outcome: { tag: "", kind: "empty", rowCount: null, insertedId: null, notices: [] },
    columns: [],
    rows: [],
    textOptions,
  });
}
