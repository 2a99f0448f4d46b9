/**
 * Starts the listeners that the settings ask for, and closes them. A listener that cannot start closes those that
 * could.
 *
 * Limits: with `development` a taken port gives way to one of the next 50.
 */
import { DatabaseError } from "../../engine/base/errors.ts";
import { TurnWatch } from "../../engine/host/turn_watch.ts";
import type { Engine } from "../../engine/session/engine.ts";
import { type Address, formatAddress } from "../../gateways/binary/address.ts";
import type { MemberDoor } from "../../gateways/binary/member_door.ts";
import { type BinaryServer, startBinaryServer } from "../../gateways/binary/server.ts";
import { RouterThreads } from "../../gateways/relay/router_threads.ts";
import type { RoutedProtocol } from "../../gateways/relay/router_words.ts";
import type { ByteListener } from "../../gateways/shared/byte_stream.ts";
import type { RelayPort } from "../../gateways/shared/relay_port.ts";
import type { Features } from "../features/feature_table.ts";
import type { ServerEncryption } from "./encryption.ts";
import { threadSource } from "./router_source.ts";
import type { ServerSettings } from "./settings.ts";
import { UsageError } from "./settings.ts";
import { StartError } from "./start_error.ts";

/** What listens. */
export interface Listeners {
  readonly binary: Address;
  readonly http: Address | null;
  readonly https: Address | null;
  readonly pg: Address | null;
  /** Stops accepting on all of them, lets running statements finish within the time, and closes all connections. */
  close(drainMilliseconds: number): Promise<void>;
}

interface Listener {
  close(drainMilliseconds: number): Promise<void>;
}

/** How to start them. */
export interface ListenerRequest {
  readonly engine: Engine;
  /** Where the binary protocol is served by a member of a cluster; null: at an address of its own. */
  readonly door: MemberDoor | null;
  readonly settings: ServerSettings;
  readonly features: Features;
  /** null: everything is in clear text. */
  readonly encryption: ServerEncryption | null;
  readonly version: string;
  /** Where sessions are, when the server is a member of a cluster. */
  readonly relay?: RelayPort;
  readonly onInternalError: (error: unknown) => void;
  /** Writes one line for people. */
  log(line: string): void;
}

const NEXT_PORTS = 50;

/** Starts all listeners. Raises {@link StartError}, or {@link UsageError} when the build lacks one. */
export async function startListeners(request: ListenerRequest): Promise<Listeners> {
  const { engine, door, settings, features, encryption, version, onInternalError } = request;
  const { token, requiresTls } = settings;
  const member = request.relay === undefined ? {} : { relay: request.relay };
  const tls = encryption?.server;
  const started: Listener[] = [];
  const start = async <T extends Listener>(
    what: string,
    wanted: Address,
    open: (address: Address) => Promise<T>,
  ): Promise<T> => {
    const listener = await onFreePort(what, wanted, { open, search: settings.development });
    started.push(listener);
    return listener;
  };
  const routers = startRouters(request);
  const turns = new TurnWatch();
  // HTTP stays where it is: what a request costs is its head, whichever thread has the socket.
  const routed = async (protocol: RoutedProtocol, address: Address): Promise<{ listener?: ByteListener }> =>
    routers === null ? {} : { listener: await routers.listen(protocol, address) };
  const closeAll = async (drainMilliseconds: number): Promise<void> => {
    await Promise.all(started.map((listener) => listener.close(drainMilliseconds)));
    await routers?.close();
    turns.close();
  };
  try {
    let binary: BinaryServer | null = null;
    binary = await start("the binary protocol", settings.listenAddress, async (address) =>
      startBinaryServer({
        engine,
        address: door ?? address,
        // At a member's door there are other members as well.
        ...(door === null ? await routed("binary", address) : {}),
        token,
        version,
        maximumConnections: settings.maximumConnections,
        maximumFrameBytes: settings.maximumFrameBytes,
        requiresTls,
        ...(tls === undefined ? {} : { tls }),
        onInternalError,
        ...member,
      }));
    let http: Address | null = null,
      https: Address | null = null,
      pg: (Listener & { readonly address: Address; readonly sessionCount: number }) | null = null;
    if (settings.httpAddress !== null || settings.httpTlsAddress !== null) {
      if (features.httpGateway === undefined) throw missingFeature("http-gateway");
      const { startHttpServer } = await features.httpGateway();
      const startHttp = (address: Address | null) =>
        startHttpServer({
          engine,
          address,
          token,
          version,
          maximumConnections: settings.httpMaximumConnections,
          maximumBodyBytes: settings.httpMaximumBodyBytes,
          onInternalError,
          ...member,
          turns: turns.times,
          otherMetrics: () => ({
            binary_connections: binary?.connections ?? 0,
            pg_connections: pg?.sessionCount ?? 0,
            ...(encryption === null ? {} : tlsMetrics(encryption, routers)),
          }),
        });
      let server: Awaited<ReturnType<typeof startHttp>>;
      if (settings.httpAddress === null) started.push(server = await startHttp(null));
      else http = (server = await start("HTTP", settings.httpAddress, startHttp)).address;
      if (settings.httpTlsAddress !== null) {
        if (tls === undefined) throw missingFeature("tls");
        https = await onFreePort("HTTPS", settings.httpTlsAddress, {
          open: (address) => server.listenTls(tls, address),
          search: settings.development,
        });
      }
    }
    if (settings.pgAddress !== null) {
      if (features.pgGateway === undefined) throw missingFeature("pg-gateway");
      const { startPgServer } = await features.pgGateway();
      pg = await start("PostgreSQL clients", settings.pgAddress, async (address) =>
        startPgServer({
          engine,
          address,
          ...await routed("pg", address),
          token,
          version,
          maximumConnections: settings.pgMaximumConnections,
          requiresTls,
          ...(tls === undefined ? {} : { tls }),
          onInternalError,
          ...member,
          ...(settings.pgIdleTimeoutMilliseconds === null
            ? {}
            : { idleTimeoutMilliseconds: settings.pgIdleTimeoutMilliseconds }),
        }));
    }
    return { binary: binary.address, http, https, pg: pg?.address ?? null, close: closeAll };
  } catch (error) {
    await closeAll(0);
    throw error;
  }
}

/** Raises {@link StartError} when one of the addresses cannot be had, before anything is written for its sake. */
export async function requireAddresses(settings: ServerSettings): Promise<void> {
  const wanted = [
    ["the binary protocol", settings.listenAddress],
    ["HTTP", settings.httpAddress],
    ["HTTPS", settings.httpTlsAddress],
    ["PostgreSQL clients", settings.pgAddress],
  ] as const;
  for (const [what, address] of wanted) {
    if (address === null) continue;
    const open = (place: Address) => Promise.resolve(Deno.listen(place).close());
    await onFreePort(what, address, { open, search: settings.development });
  }
}

/** Starts the threads that have the clients' sockets; null: this one has. */
function startRouters({ engine, settings, encryption, log }: ListenerRequest): RouterThreads | null {
  if (settings.routerCount === 1) return null;
  const routers = new RouterThreads({
    count: settings.routerCount,
    source: threadSource(),
    certificate: encryption === null ? null : () => encryption.certificate(),
    endOfTurn: () => engine.host.timers.endOfTurn(),
    log,
  });
  encryption?.onCertificate(() => routers.certificateChanged());
  return routers;
}

/** Opens a listener; the next free port will do where `search` says so. Raises {@link StartError}. */
export async function onFreePort<T>(
  what: string,
  wanted: Address,
  options: { readonly search: boolean; open(address: Address): Promise<T> },
): Promise<T> {
  for (let port = wanted.port;; port++) {
    try {
      return await options.open({ hostname: wanted.hostname, port });
    } catch (error) {
      const reason = bindProblem(error);
      if (reason === null) throw error;
      const mayTryNext = options.search && reason !== "unknown" && port > 0 &&
        port < wanted.port + NEXT_PORTS &&
        port < 65_535;
      if (!mayTryNext) throw cannotListen(what, wanted, reason);
    }
  }
}

/** Why an address cannot be bound; null when the error is about something else. */
function bindProblem(error: unknown): "in use" | "not permitted" | "unknown" | null {
  if (error instanceof DatabaseError || error instanceof UsageError || !(error instanceof Error)) return null;
  const code = "code" in error ? String(error.code) : error.name;
  if (code === "EADDRINUSE" || code === "AddrInUse") return "in use";
  if (code === "EACCES" || code === "PermissionDenied") return "not permitted";
  if (/^(EADDRNOTAVAIL|AddrNotAvailable|ENOTFOUND|EAI_\w+|EINVAL|EAFNOSUPPORT)$/.test(code)) return "unknown";
  return /in use/i.test(error.message) ? "in use" : null;
}

function cannotListen(
  what: string,
  address: Address,
  reason: "in use" | "not permitted" | "unknown",
): StartError {
  const place = formatAddress(address);
  switch (reason) {
    case "in use":
      return new StartError(
        `Cannot listen on ${place} for ${what}: the address is in use; stop the program that uses it or choose another`,
      );
    case "not permitted":
      return new StartError(
        `Cannot listen on ${place} for ${what}: it is not permitted; choose a port above 1023`,
      );
    case "unknown":
      return new StartError(
        `Cannot listen on ${place} for ${what}: this machine has no such address; choose one that it has`,
      );
  }
}

/** The settings were checked against the features: what is missing now is a bug. */
function missingFeature(feature: string): Error {
  return new Error(`settings ask for the feature ${feature}, which the build lacks`);
}

/** What `/v1/metrics` shows of TLS. */
function tlsMetrics(
  { server, certificateEnd }: ServerEncryption,
  routers: RouterThreads | null,
): Record<string, number> {
  const there = routers?.tls ?? { connections: 0, handshakes: 0, failures: 0 };
  return {
    tls_connections: server.connections + there.connections,
    tls_handshakes_total: server.handshakes + there.handshakes,
    tls_handshake_failures_total: server.failures + there.failures,
    tls_certificate_end_timestamp_seconds: certificateEnd(),
  };
}
