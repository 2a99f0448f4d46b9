/**
 * The database as a library, the whole server inside of a program, and the client of its binary protocol.
 *
 * ```ts
 * import { open } from "./mod.ts";
 *
 * await using database = await open(":memory:");
 * await database.execute("CREATE TABLE ball (id BIGINT PRIMARY KEY, color TEXT NOT NULL)");
 * await database.execute("INSERT INTO ball VALUES ($1, $2)", [1, "red"]);
 * const rows = await database.query("SELECT color FROM ball WHERE id = $1", [1]);
 * if (rows[0]?.color !== "red") throw new Error("unexpected");
 * ```
 *
 * @module
 */
import { denoHost } from "./engine/host/deno_host.ts";
import { memoryHost } from "./engine/host/memory_host.ts";
import { usualQueryMemoryBytes } from "./engine/host/query_memory_size.ts";
import type { Server, ServeSettings } from "./cli/serve.ts";
import { Database } from "./engine/session/database.ts";
import type { EngineOptions } from "./engine/session/engine.ts";
import { openSharded } from "./engine/sharding/open_sharded.ts";
import { namedLevel } from "./engine/transactions/isolation_level.ts";
import { DatabaseError } from "./engine/base/errors.ts";

export { DatabaseError, type ErrorFields, SQLSTATE, type SqlState } from "./engine/base/errors.ts";
export {
  type ColumnInformation,
  Database,
  type ExecuteResult,
  type Executor,
  type Statement,
} from "./engine/session/database.ts";
export type { Instant, JavaScriptValue, Row } from "./engine/session/javascript_value.ts";

export { connect } from "./gateways/binary/client.ts";
export type {
  Client,
  ClientNotice,
  ClientOptions,
  ClientResult,
  ClientStatement,
  ClientTls,
  CopyChunk,
  PipelineStatement,
} from "./gateways/binary/client_api.ts";

export type { Server, ServeSettings } from "./cli/serve.ts";

/** Options of {@link open}. */
export interface OpenOptions {
  /** Memory for decoded blocks of segments; 64 MiB unless given. */
  readonly blockCacheBytes?: number;
  /**
   * What all statements together may take for sorts, hash tables and materialized rows; a quarter of the machine's
   * memory unless given, but no more than half of the heap, and no less than 256 MiB.
   */
  readonly queryMemoryBytes?: number;
  /** What the temporary files of all statements together may take; 64 GiB unless given. */
  readonly temporaryFileBytes?: number;
  /** The isolation level of statements and transactions that ask for none; `serializable` unless given. */
  readonly default_isolation?: "read committed" | "repeatable read" | "serializable";
  /** 1, 2, 4, 8 or 16 shards, each in its own thread; fixed with the directory, 1 in a new one unless given. */
  readonly shard_count?: number;
  /** Lets statements read external sources, as `serve` and `dbd` do; without it they are refused. */
  readonly externalSources?: {
    /** `HOST` or `HOST:PORT` on this machine or its own network that they may read; none unless given. */
    readonly allowedHosts?: readonly string[];
  };
}

/**
 * Opens a data directory, which is created when it does not exist, or a database in memory.
 *
 * ```ts
 * import { open } from "./mod.ts";
 *
 * const database = await open(":memory:");
 * const [row] = await database.query("SELECT 6 * 7 AS answer");
 * if (row?.answer !== 42) throw new Error("unexpected");
 * await database.close();
 * ```
 *
 * Raises {@link DatabaseError}: 55006 when another process uses the directory, XX001 when a file in it is damaged,
 * 58030 when it cannot be read or written, 22023 for an option that is wrong.
 */
export async function open(directory: string, options: OpenOptions = {}): Promise<Database> {
  const host = directory === ":memory:" ? memoryHost() : denoHost();
  const { externalSources, shard_count: shardCount = null, default_isolation, ...others } = options;
  const defaultIsolation = namedLevel(default_isolation ?? "serializable");
  if (defaultIsolation === undefined) {
    throw new DatabaseError("22023", `default_isolation: there is no level "${default_isolation}"`);
  }
  const opened = async (more: Partial<EngineOptions>): Promise<Database> => {
    const engine = await openSharded({
      host,
      directory,
      shardCount,
      defaultIsolation,
      queryMemoryBytes: usualQueryMemoryBytes(),
      ...others,
      ...more,
    });
    return Database.over(engine, () => engine.close());
  };
  if (externalSources === undefined) return await opened({});
  const { externalSourcesOf } = await import("./cli/serve.ts");
  const external = await externalSourcesOf(externalSources.allowedHosts ?? [], host.clock);
  return await opened(external);
}

/**
 * Starts the whole server in this program, with the settings of the configuration file of `dbd`.
 *
 * ```ts
 * import { connect, serve } from "./mod.ts";
 *
 * await using server = await serve({
 *   data_dir: ":memory:",
 *   listen_addr: "127.0.0.1:0",
 *   http_addr: "127.0.0.1:0",
 *   pg_addr: "127.0.0.1:0",
 *   pg_max_conns: 20,
 *   token: "secret",
 * });
 * await server.database.execute("CREATE TABLE ball (id BIGINT PRIMARY KEY, color TEXT)");
 *
 * await using client = await connect({ address: server.addresses.binary, token: "secret" });
 * await client.execute("INSERT INTO ball VALUES (1, 'red')");
 * const answer = await fetch(`http://${server.addresses.http}/v1/sql`, {
 *   method: "POST",
 *   headers: { Authorization: "Bearer secret", "Content-Type": "text/plain" },
 *   body: "SELECT color FROM ball",
 * });
 * if ((await answer.json()).rows[0].color !== "red") throw new Error("unexpected");
 * ```
 *
 * `log` receives lines for people who watch the server: internal errors, certificates that cannot be read. Raises
 * {@link DatabaseError}: 22023 for a setting that is unknown or wrong, 58030 when an address cannot be listened on, and
 * those of {@link open}.
 */
export async function serve(
  settings: ServeSettings = {},
  log: (line: string) => void = () => {},
): Promise<Server> {
  const { serveDatabase } = await import("./cli/serve.ts");
  return await serveDatabase(settings, log);
}
