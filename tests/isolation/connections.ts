/** Connections over the PostgreSQL protocol for recorded workloads: rows as texts, and errors told apart. */
import pg from "pg";
import type { ServerAddress } from "../support/clients.ts";

/** What became of a statement that failed. */
export type FailureKind =
  /** The transaction lost against another: it may be tried again. */
  | "lost"
  /** The session has ended, and nothing of what was not answered holds. */
  | "ended"
  /** The connection is gone; whether the statement had an effect is unknown. */
  | "disconnected"
  /** Anything else: a bug of the workload or of the server. */
  | "other";

/** One client. */
export interface Connection {
  /** Whether BEGIN and COMMIT may be sent one by one: over HTTP each request is a session of its own. */
  readonly hasBlocks: boolean;
  /** Runs one statement. */
  query(sql: string): Promise<(string | null)[][]>;
  /** Never rejects. */
  close(): Promise<void>;
}

/** Which of the protocol's ways to run statements. */
export type QueryMode = "simple" | "extended";

/** Connects. */
export async function connect({ host, port }: ServerAddress, queryMode: QueryMode): Promise<Connection> {
  const client = new pg.Client({
    host,
    port,
    user: "test",
    database: "test",
    types: { getTypeParser: () => (text: string) => text },
  });
  // What the server says to an idle session is the answer to the next statement, which is not sent.
  let farewell: Error | null = null;
  client.on("error", (error) => farewell ??= error);
  await client.connect();
  return {
    hasBlocks: true,
    query: async (sql) => {
      if (farewell !== null) throw farewell;
      const config: pg.QueryArrayConfig & { readonly queryMode: QueryMode } = {
        text: sql,
        rowMode: "array",
        queryMode,
      };
      return (await client.query(config)).rows;
    },
    close: () => client.end().catch(() => undefined),
  };
}

/** See {@link FailureKind}. */
export function failureKind(error: unknown): FailureKind {
  const code = typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
  if (code === "40001" || code === "40P01") return "lost";
  if (code === "57P01" || code === "57P03") return "ended";
  if (code === "40003" || code === "08006" || /^(ECONN|EPIPE)/.test(code)) return "disconnected";
  const message = error instanceof Error ? error.message : "";
  return /connection|not queryable|closed/i.test(message) && !/^\w{5}$/.test(code) ? "disconnected" : "other";
}
