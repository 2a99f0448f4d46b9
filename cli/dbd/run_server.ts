/**
 * The life of the server: open the data directory, listen, serve until stopped or until the log fails, stop.
 *
 * A first SIGTERM or SIGINT stops cleanly: no new connections, running statements get the time of `--drain-timeout`,
 * everything is synced, exit code 0. A second one (at least a second later) ends the process at once with 1. A failed
 * log ends it with 1: what was acknowledged is safe, the rest is not to be trusted.
 */
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";
import { startBusyPoll } from "../../engine/host/busy_poll.ts";
import { formatAddress } from "../../gateways/binary/address.ts";
import { collectWhenIdle } from "./idle_memory.ts";
import type { Listeners } from "./listeners.ts";
import type { ServerSettings } from "./settings.ts";
import { StartError } from "./start_error.ts";
import { oneLine, type StartRequest, startServer } from "./start_server.ts";
import { setUpCollector } from "./collector.ts";

/** Signals within this time of the first are the same request. */
const REPEATED_SIGNAL_MICROSECONDS = 1_000_000;

/** What the program needs of the world. */
export interface ServerWorld extends StartRequest {
  /** Calls back at each SIGTERM and SIGINT. */
  onStopSignal(listener: (signal: string) => void): void;
  /** Calls back at each SIGHUP. */
  onReloadSignal(listener: () => void): void;
  /** Ends the process at once. */
  exit(code: number): never;
}

/** Runs the server to its end; answers the exit code. Raises a `StartError` or a usage error. */
export async function runServer(settings: ServerSettings, world: ServerWorld): Promise<number> {
  // Before other threads begin, whose event loops it would find as well.
  using _polling = startBusyPoll();
  const [{ engine, listeners, encryption, failed, reload, close }] = await Promise.all([
    startServer(settings, world),
    setUpCollector(),
  ]);
  for (
    const line of startLines(listeners, settings, {
      encryption: encryption?.startLines ?? [],
      shards: engine.shards?.count ?? 1,
    })
  ) world.log(line);
  if (encryption !== null || settings.cluster?.tls) world.onReloadSignal(reload);
  const stopped = new Promise<string>((resolve) => {
    let first: number | null = null;
    world.onStopSignal((signal) => {
      const now = engine.monotonic();
      // One Ctrl-C can arrive twice: from the terminal, and from a task runner that passes it on.
      if (first !== null && now - first < REPEATED_SIGNAL_MICROSECONDS) return;
      if (first !== null) {
        world.log("stopped at once, without waiting for running statements");
        world.exit(1);
      }
      first = now;
      resolve(signal);
    });
  });
  const stopCollecting = collectWhenIdle();
  const end = await Promise.race([
    stopped.then((signal) => ({ kind: "signal" as const, signal })),
    failed.then((error) => ({ kind: "failed" as const, error })),
  ]);
  if (end.kind === "failed") {
    world.log(reasonOf(end.error));
    // Nothing that is still to be answered could be answered truthfully.
    return 1;
  }
  world.log(`${end.signal}: stopping`);
  stopCollecting();
  const hasFailed = failed.then(() => "failed" as const);
  const closing = close(settings.drainMilliseconds).then(() => "closed" as const);
  if (await Promise.race([closing, hasFailed]) === "failed") {
    world.log("the log could not be written while stopping; check the disk");
    return 1;
  }
  world.log("stopped");
  return 0;
}

/** A state that differs, one of a later release, and bugs: looking at the disk would not help. */
const NOT_OF_THE_DISK: readonly string[] = [
  SQLSTATE.dataCorrupted,
  SQLSTATE.featureNotSupported,
  SQLSTATE.internalError,
];

/** Why the server stops, for people. */
function reasonOf(error: Error): string {
  if (error instanceof StartError) return error.message;
  if (error instanceof DatabaseError && NOT_OF_THE_DISK.includes(error.code)) {
    return oneLine(error.hint === undefined ? error.message : `${error.message}. ${error.hint}`);
  }
  return `the log cannot be written any more: ${error.message}; check the disk, then start the server again`;
}

/** What is printed when the server is ready. */
export function startLines(
  listeners: Listeners,
  settings: ServerSettings,
  { encryption, shards }: { readonly encryption: readonly string[]; readonly shards: number },
): string[] {
  const lines = [`binary protocol on ${formatAddress(listeners.binary)}`];
  if (listeners.http !== null) lines.push(`HTTP on http://${formatAddress(listeners.http)}`);
  if (listeners.https !== null) lines.push(`HTTPS on https://${formatAddress(listeners.https)}`);
  if (listeners.pg !== null) lines.push(`PostgreSQL protocol on ${formatAddress(listeners.pg)}`);
  lines.push(...encryption);
  lines.push(`data in ${settings.dataDirectory}${shards === 1 ? "" : `, at ${shards} shards`}`);
  if (settings.checksInput) lines.push("plans check their input (--check-input): everything is slower");
  if (settings.development) lines.push(...exampleLines(listeners, settings));
  lines.push("ready");
  return lines;
}

function exampleLines(listeners: Listeners, settings: ServerSettings): string[] {
  const { binary, http, pg } = listeners;
  const secured = settings.token !== null;
  const lines = ["try it from another terminal:"];
  if (pg !== null) {
    lines.push(`  ${secured ? "PGPASSWORD=$DB_TOKEN " : ""}psql -h ${pg.hostname} -p ${pg.port} -U db`);
  }
  if (http !== null) {
    const authorization = secured ? ' -H "Authorization: Bearer $DB_TOKEN"' : "";
    lines.push(
      `  curl http://${
        formatAddress(http)
      }/v1/sql${authorization} -H 'Content-Type: text/plain' -d 'SELECT 6 * 7 AS answer'`,
    );
  }
  lines.push(`  deno task dbcli --addr ${formatAddress(binary)} 'SELECT 6 * 7 AS answer'`);
  return lines;
}
