/**
 * `serve()` of the library: the whole server inside of another program, with the settings that `dbd` reads from its
 * configuration file. Nothing is read from the environment or the command line, and no signal is listened to: both
 * belong to the program.
 */
import { DatabaseError, SQLSTATE } from "../engine/base/errors.ts";
import { LIMITS } from "../engine/base/limits.ts";
import type { Clock } from "../engine/host/host.ts";
import { Database } from "../engine/session/database.ts";
import type { EngineOptions } from "../engine/session/engine.ts";
import { type Address, formatAddress } from "../gateways/binary/address.ts";
import { features } from "./features.ts";
import { version } from "./shared/version.ts";
import { openExternalSources } from "./dbd/external.ts";
import { readCommand, type ServerSettings, UsageError } from "./dbd/settings.ts";
import { StartError } from "./dbd/start_error.ts";
import { startServer } from "./dbd/start_server.ts";

/**
 * The settings of a server, by the names that the configuration file of `dbd` has: `dbd --help` lists all of them.
 * Addresses are texts such as `127.0.0.1:6533`; port 0 is any free one.
 */
export interface ServeSettings {
  /** Where the data is kept, or `:memory:`; `./dbd-data` unless given. */
  readonly data_dir?: string;
  /** Address of the binary protocol; `127.0.0.1:7878` unless given. */
  readonly listen_addr?: string;
  /** Listen for HTTP and WebSocket. */
  readonly http_addr?: string;
  /** Listen for HTTPS and WebSocket over TLS. */
  readonly http_tls_addr?: string;
  /** Listen for PostgreSQL clients. */
  readonly pg_addr?: string;
  /** File of the certificate, for TLS on all listeners. */
  readonly tls_cert?: string;
  /** File of its private key. */
  readonly tls_key?: string;
  /** The shared secret that clients must present. */
  readonly token?: string;
  /** Let everybody in on addresses that others can reach. */
  readonly allow_open?: boolean;
  /** The most connections of the binary protocol. */
  readonly max_conns?: number;
  /** The most connections over HTTP. */
  readonly http_max_conns?: number;
  /** The most connections of PostgreSQL clients. */
  readonly pg_max_conns?: number;
  /** Any other setting of the configuration file. */
  readonly [key: string]: string | number | boolean | undefined;
}

/** A server that runs in this program. */
export interface Server extends AsyncDisposable {
  /** Where it listens, as texts that clients take; null: not at all. */
  readonly addresses: {
    readonly binary: string;
    readonly http: string | null;
    readonly https: string | null;
    readonly pg: string | null;
  };
  /** The same database without a network. It is closed with the server. */
  readonly database: Database;
  /** Resolves when the log can no longer be written: what was acknowledged is safe, the server must be closed. */
  readonly failed: Promise<Error>;
  /** Stops accepting, lets running statements finish (`drain_timeout`), and makes everything durable. */
  close(): Promise<void>;
}

const CONFIGURATION = "serve()";

/** See `serve` of `mod.ts`. */
export async function serveDatabase(
  settings: ServeSettings,
  log: (line: string) => void,
): Promise<Server> {
  const read = readSettings(settings);
  const started = await startServer(read, { features, version, log }).catch(raise);
  const { engine, listeners } = started;
  const database = Database.over(engine, () => close());
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => closing ??= started.close(read.drainMilliseconds);
  const text = (address: Address | null) => address === null ? null : formatAddress(address);
  return {
    addresses: {
      binary: formatAddress(listeners.binary),
      http: text(listeners.http),
      https: text(listeners.https),
      pg: text(listeners.pg),
    },
    database,
    failed: engine.failed,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The option `externalSources` of `open` of `mod.ts`, as an option of the engine. */
export async function externalSourcesOf(
  externalAllowedHosts: readonly string[],
  clock: Clock,
): Promise<Pick<EngineOptions, "external">> {
  const settings = { externalAllowedHosts, externalParquetPageBytes: LIMITS.parquetPageBytes };
  const external = await openExternalSources(settings, features, clock).catch(raise);
  return external === undefined ? {} : { external };
}

function readSettings(settings: ServeSettings): ServerSettings {
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  try {
    const command = readCommand({
      parameters: ["--config", CONFIGURATION],
      environment: {},
      features: features.enabled,
      readFile: (path) =>
        path === CONFIGURATION ? JSON.stringify(Object.fromEntries(given)) : Deno.readTextFileSync(path),
    });
    if (command.kind !== "run") throw new Error("the settings of a server run one");
    return command.settings;
  } catch (error) {
    return raise(error);
  }
}

/** What the program reports in a line is an error with an SQLSTATE here. */
function raise(error: unknown): never {
  if (error instanceof UsageError) {
    throw new DatabaseError(SQLSTATE.invalidParameterValue, error.message);
  }
  if (error instanceof StartError) {
    throw new DatabaseError(
      error.cause instanceof DatabaseError ? error.cause.code : SQLSTATE.ioError,
      error.message,
    );
  }
  throw error;
}
