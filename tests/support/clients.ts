/**
 * Connections of the npm drivers `pg` and `postgres` to a server on loopback, opened and closed the same way
 * everywhere.
 *
 * A driver's own reconnecting is off: a test wants to see a connection end.
 */
import { Buffer } from "node:buffer";
import pg from "pg";
import postgres from "postgres";

/** A statement and its parameters go in, rows come out; rejects with what the server or the driver said. */
export interface SqlClient {
  /** Which driver it is. */
  readonly driver: "pg" | "postgres";
  /** Runs one statement. */
  query(sql: string, parameters?: readonly (string | number | null)[]): Promise<Record<string, unknown>[]>;
  /** Runs COPY … FROM STDIN with this text. With postgres.js one would wait for ever when the server is gone. */
  readonly copyIn?: (sql: string, data: string) => Promise<void>;
  /** Closes the connection; never rejects. */
  close(): Promise<void>;
}

/** Where the server is. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/** A connection by node-postgres. */
export async function connectPg({ host, port }: ServerAddress): Promise<SqlClient> {
  const client = new pg.Client({ host, port, user: "test", database: "test" });
  // A connection that ends is seen by its queries; without a listener the event would end the program.
  client.on("error", () => undefined);
  await client.connect();
  return {
    driver: "pg",
    query: async (sql, parameters = []) => (await client.query(sql, [...parameters])).rows,
    copyIn: (sql, data) =>
      new Promise((resolve, reject) => void client.query(new CopyIn(sql, data, { resolve, reject }))),
    close: () => client.end().catch(() => undefined),
  };
}

/** What the driver's types leave out. */
interface CopyConnection extends pg.Connection {
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/** What node-postgres calls while a COPY … FROM STDIN runs; it has none of its own. */
export class CopyIn implements pg.Submittable {
  readonly #sql: string;
  readonly #data: string;
  readonly #outcome: { resolve(): void; reject(error: Error): void };

  constructor(sql: string, data: string, outcome: { resolve(): void; reject(error: Error): void }) {
    this.#sql = sql;
    this.#data = data;
    this.#outcome = outcome;
  }

  submit(connection: pg.Connection): void {
    connection.query(this.#sql);
  }

  handleCopyInResponse(connection: CopyConnection): void {
    connection.sendCopyFromChunk(Buffer.from(this.#data));
    connection.endCopyFrom();
  }

  handleCommandComplete(): void {}

  handleError(error: Error): void {
    this.#outcome.reject(error);
  }

  handleReadyForQuery(): void {
    this.#outcome.resolve();
  }
}

/** A connection by postgres.js. */
export async function connectPostgres(address: ServerAddress): Promise<SqlClient> {
  const sql = postgresPool(address, 1);
  await sql`SELECT 1`;
  return {
    driver: "postgres",
    query: async (text, parameters = []) => [...await sql.unsafe(text, [...parameters])],
    close: () => sql.end({ timeout: 0 }).catch(() => undefined),
  };
}

/** postgres.js with up to so many connections. */
export function postgresPool({ host, port }: ServerAddress, maximum: number): postgres.Sql {
  return postgres({
    host,
    port,
    username: "test",
    database: "test",
    max: maximum,
    // Saves a query of the catalog for each connection; the types that tests use are built in.
    fetch_types: false,
    onnotice: () => undefined,
    connect_timeout: 10,
    backoff: () => 60,
  });
}
