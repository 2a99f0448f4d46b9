/** The client of the binary protocol as programs see it; `client.ts` implements it. */
import type { DatabaseError } from "../../engine/base/errors.ts";
import type { ColumnInformation } from "../../engine/session/database.ts";
import type { JavaScriptValue, Row } from "../../engine/session/javascript_value.ts";

/** How a client checks that the server is the one it means. */
export interface ClientTls {
  /** PEM text of the authorities to trust in the place of the system's. */
  readonly ca?: string;
  /** The name that the certificate must be for; the host of the address unless given. */
  readonly serverName?: string;
}

/** How to connect. */
export interface ClientOptions {
  /** `host:port`; 127.0.0.1:7878 unless given. */
  readonly address?: string;
  /** Several servers of one cluster, tried in order. */
  readonly addresses?: readonly string[];
  /** The shared secret of the server. */
  readonly token?: string | null;
  /** Encrypts the connection, and checks the server's certificate; in clear text unless given. */
  readonly tls?: boolean | ClientTls;
  /**
   * Whether changes outside of a transaction carry a sequence number, so that they can be repeated safely when a
   * connection was lost; on with several addresses, else off unless given.
   */
  readonly exactlyOnce?: boolean;
  /** How long a connection attempt may take; 5 s unless given. */
  readonly connectTimeoutMilliseconds?: number;
  /** How long a lost connection is tried to be made again, to each address in turn; 30 s unless given. */
  readonly reconnectTimeoutMilliseconds?: number;
  /**
   * `follower`: read at the member that the client is connected to, which may be behind, and change nothing; at the
   * primary unless given.
   */
  readonly readFrom?: "primary" | "follower";
  /** Names the program to the server. */
  readonly name?: string;
}

/** A piece of data for COPY … FROM STDIN. */
export type CopyChunk = Uint8Array | string;

/** A message in addition to an answer, such as `relation "t" already exists, skipping`. */
export interface ClientNotice {
  /** How much it matters. */
  readonly severity: "NOTICE" | "WARNING" | "INFO";
  /** SQLSTATE. */
  readonly code: string;
  /** What there is to say. */
  readonly message: string;
  /** One more sentence about it. */
  readonly detail?: string;
  /** What could be done about it. */
  readonly hint?: string;
}

/** How a statement ended. */
export interface ClientResult {
  /** PostgreSQL's command tag, such as `INSERT 0 1`. */
  readonly command: string;
  /** Rows returned, inserted, updated, deleted or copied; 0 where that has no meaning. */
  readonly rowCount: number;
  /** The id that a single-row INSERT assigned. */
  readonly insertedId: number | bigint | null;
  /**
   * A member of the cluster that has applied this op has what the statement made and what it has seen: see
   * {@link Client.minOp}.
   */
  readonly op: number;
  /** What the server had to say besides. */
  readonly notices: readonly ClientNotice[];
  /** Empty when the statement returns no rows. */
  readonly columns: readonly ColumnInformation[];
  /** The rows as objects keyed by column name. */
  rows<T extends Row = Row>(): T[];
  /** The rows as lists of values in column order. */
  values(): JavaScriptValue[][];
}

/** A statement that is kept to be run often. */
export interface ClientStatement {
  /** Runs it with these parameters. */
  execute(parameters?: readonly JavaScriptValue[]): Promise<ClientResult>;
  /** Runs it and answers its rows. */
  query<T extends Row = Row>(parameters?: readonly JavaScriptValue[]): Promise<T[]>;
}

/** One statement of a {@link Client.pipeline}. */
export interface PipelineStatement {
  /** Its text. */
  readonly sql: string;
  /** The values of `$1 …`. */
  readonly parameters?: readonly JavaScriptValue[];
}

/** A connection to a server, made anew when it is lost. One client is one session of the database. */
export interface Client extends AsyncDisposable {
  /** The version of the server program. */
  readonly serverVersion: string;
  /**
   * What is asked from now on sees at least the state of this op, which the result of another client had: it waits for
   * that where it reads from a follower. 0: any state.
   */
  minOp: number;
  /** Runs one statement, or, without parameters, several (one transaction); answers how the last one ended. */
  execute(sql: string, parameters?: readonly JavaScriptValue[]): Promise<ClientResult>;
  /** Runs a query and answers its rows, keyed by column name. */
  query<T extends Row = Row>(sql: string, parameters?: readonly JavaScriptValue[]): Promise<T[]>;
  /** Keeps a statement to be run often; the server keeps its plan. */
  prepare(sql: string): ClientStatement;
  /**
   * Sends all statements at once and answers how each ended, errors included; each is a transaction by itself unless
   * there is a BEGIN among them.
   */
  pipeline(statements: readonly PipelineStatement[]): Promise<(ClientResult | DatabaseError)[]>;
  /** Runs the work between BEGIN and COMMIT; rolls back when it rejects. Nothing else may use the client meanwhile. */
  transaction<T>(work: (client: Client) => Promise<T>): Promise<T>;
  /**
   * Loads data: `target` is a COPY … FROM STDIN statement, or the name of a table, which is loaded from text format.
   */
  copyIn(target: string, chunks: AsyncIterable<CopyChunk> | Iterable<CopyChunk>): Promise<ClientResult>;
  /** Runs a COPY … TO STDOUT statement and hands out its data piece by piece. */
  copyOut(text: string, onData: (bytes: Uint8Array) => void): Promise<ClientResult>;
  /** Asks the server to break off what it is doing for this client; that request then raises 57014. */
  cancel(): void;
  /** Closes the connection; requests without an answer are rejected. */
  close(): Promise<void>;
}
