/** A database in memory behind a real PostgreSQL listener on a free port, for tests with real clients. */
import { memoryHost } from "../../../engine/host/memory_host.ts";
import type { Engine } from "../../../engine/session/engine.ts";
import { openEngineForTest } from "../../../engine/sharding/shards_for_test.ts";
import { type PgServer, type PgServerOptions, startPgServer } from "../../../gateways/pg/server.ts";

/** A running database; close it at the end. */
export interface PgDatabase extends AsyncDisposable {
  readonly engine: Engine;
  readonly server: PgServer;
  readonly port: number;
  /** Errors that are bugs of the database. */
  readonly internalErrors: unknown[];
}

/** Starts one; without a token, and with an engine alone, unless others are given. */
export async function openPgDatabase(
  options: Partial<Omit<PgServerOptions, "engine" | "address">> & { readonly engine?: Engine } = {},
): Promise<PgDatabase> {
  const engine = options.engine ?? await openEngineForTest({ host: memoryHost(), directory: ":memory:" });
  const internalErrors: unknown[] = [];
  const server = await startPgServer({
    token: null,
    onInternalError: (error) => internalErrors.push(error),
    ...options,
    engine,
    address: { hostname: "127.0.0.1", port: 0 },
  });
  let isClosed = false;
  return {
    engine,
    server,
    port: server.address.port,
    internalErrors,
    [Symbol.asyncDispose]: async () => {
      if (isClosed) return;
      isClosed = true;
      await server.close(0);
      await engine.close();
    },
  };
}

/** Waits until no client is connected any more: pools tell that they have ended before the server has heard of it. */
export async function sessionsEnded(database: PgDatabase): Promise<void> {
  while (database.server.sessionCount > 0) await new Promise((resolve) => setTimeout(resolve, 2));
}
