/**
 * The database as a library, and the client of its binary protocol.
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
import { Database } from "./engine/session/database.ts";

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

/** Options of {@link open}. */
export interface OpenOptions {
  /** Memory for decoded blocks of segments; 64 MiB unless given. */
  readonly blockCacheBytes?: number;
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
 * 58030 when it cannot be read or written.
 */
export function open(directory: string, options: OpenOptions = {}): Promise<Database> {
  const host = directory === ":memory:" ? memoryHost() : denoHost();
  return Database.open({ host, directory, ...options });
}
