/**
 * The settings of the server program, from flags, environment and configuration file: a flag beats the environment,
 * which beats the file. Pure: given the three, answers the settings or says what is wrong with them.
 *
 * Every setting has one line in `setting_lines.ts`, from which its flag (`--http-addr`), its variable (`DB_HTTP_ADDR`),
 * its key (`http_addr`) and its line of the help are made.
 */
import {
  ISOLATION_LEVELS,
  type IsolationLevel,
  namedLevel,
} from "../../engine/transactions/isolation_level.ts";
import { closest, closestOption } from "../../engine/base/suggest.ts";
import { LIMITS } from "../../engine/base/limits.ts";
import { DatabaseError } from "../../engine/base/errors.ts";
import { usualQueryMemoryBytes } from "../../engine/host/query_memory_size.ts";
import type { FeatureName } from "../features/feature_names.ts";
import { SHARD_COUNTS } from "../../engine/sharding/shard_map.ts";
import { type Address, formatAddress, isLoopback, parseAddress } from "../../gateways/binary/address.ts";
import { UsageError } from "../shared/usage_error.ts";
import { SETTINGS } from "./setting_lines.ts";

export { UsageError };

/** Which certificate the server proves itself with. */
export type TlsSettings =
  | { readonly kind: "files"; readonly certificatePath: string; readonly keyPath: string }
  | { readonly kind: "development" };

/** What a member shows to the others, and whom it trusts. */
export interface PeerTlsFiles {
  readonly authorityPath: string;
  readonly certificatePath: string;
  readonly keyPath: string;
}

/** Which member of which cluster the server is. */
export interface ClusterSettings {
  readonly index: number;
  /** What this member dials, in order of index; its own is not looked at. */
  readonly peers: readonly Address[];
  /** TLS between members; null: they speak clear text. */
  readonly tls: PeerTlsFiles | null;
  /** The primary may answer reads under a lease. */
  readonly usesReadLease: boolean;
  /** 0: files are not read before they are needed. */
  readonly scrubBytesPerSecond: number;
}

/** What the server is started with. */
export interface ServerSettings {
  readonly listenAddress: Address;
  readonly dataDirectory: string;
  readonly httpAddress: Address | null;
  readonly httpTlsAddress: Address | null;
  readonly pgAddress: Address | null;
  /** null: a server of its own. */
  readonly cluster: ClusterSettings | null;
  /** null: as many shards as the directory has; one in a new directory. */
  readonly shardCount: number | null;
  /** Threads for parts of large queries; 0: none. */
  readonly maximumParallelWorkers: number;
  /** How many threads have the sockets of PostgreSQL and binary clients; 1: that of the sessions has. */
  readonly routerCount: number;
  /** null: everything is in clear text. */
  readonly tls: TlsSettings | null;
  /** PostgreSQL and binary clients in clear text are refused. */
  readonly requiresTls: boolean;
  readonly token: string | null;
  readonly maximumConnections: number;
  readonly httpMaximumConnections: number;
  readonly pgMaximumConnections: number;
  readonly httpMaximumBodyBytes: number;
  readonly maximumFrameBytes: number;
  readonly pgIdleTimeoutMilliseconds: number | null;
  readonly blockCacheBytes: number;
  readonly checkpointLogBytes: number;
  readonly queryMemoryBytes: number;
  readonly temporaryFileBytes: number;
  readonly defaultIsolation: IsolationLevel;
  readonly drainMilliseconds: number;
  /** `HOST` or `HOST:PORT` each. */
  readonly externalAllowedHosts: readonly string[];
  readonly externalParquetPageBytes: number;
  /** Plans assert what they assume of their input. */
  readonly checksInput: boolean;
  /** Ports that are taken give way to the next free ones, and examples are printed. */
  readonly development: boolean;
}

/** What a command line asks for. */
export type Command =
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  | { readonly kind: "verify"; readonly dataDirectory: string; readonly against: string | null }
  | { readonly kind: "health"; readonly address: Address; readonly isSecure: boolean }
  | { readonly kind: "run"; readonly settings: ServerSettings };

/** Where settings come from. */
export interface SettingSources {
  readonly parameters: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The features of the build. */
  readonly features: readonly FeatureName[];
  /** Reads a text file; raises when it cannot. */
  readFile(path: string): string;
}

const DEFAULT_PORT = 7878;
const DEFAULT_LISTEN = `127.0.0.1:${DEFAULT_PORT}`;
const DEFAULT_DIRECTORY = "./dbd-data";
const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  http_addr: 6533,
  http_tls_addr: 6534,
  pg_addr: 5432,
};

/** Variables that other programs of the project read. */
const FOREIGN_VARIABLES: readonly string[] = ["DB_ADDR", "DB_TLS_CA", "DB_PROGRAMS"];

/** Reads the command line and what follows it. Raises {@link UsageError}. */
export function readCommand(sources: SettingSources): Command {
  const line = parseCommandLine(sources.parameters);
  if (line.help) return { kind: "help" };
  if (line.version) return { kind: "version" };
  const configPath = line.values.get("config") ?? nonEmpty(sources.environment.DB_CONFIG);
  const file = configPath === undefined
    ? new Map<string, string>()
    : parseConfiguration(readText(sources, configPath, "configuration file"), configPath);
  requireKnownVariables(sources.environment);
  const places: readonly Place[] = [
    { find: (key) => line.values.get(key), nameOf: flagOf },
    { find: (key) => nonEmpty(sources.environment[variableOf(key)]), nameOf: variableOf },
    { find: (key) => file.get(key), nameOf: (key) => `"${key}" in ${configPath}` },
  ];
  requireFeatures(places, sources.features);
  const [verb, directory, ...more] = line.positional;
  const against = line.values.get("verify_against") ?? null;
  if (verb === "verify" || against !== null) {
    const [given, ...rest] = verb === "verify" ? [directory, ...more] : line.positional;
    if (rest.length > 0) throw new UsageError(`unexpected argument "${rest[0]}": dbd verify takes DATA_DIR`);
    const dataDirectory = given ?? findIn(places)("data_dir") ?? DEFAULT_DIRECTORY;
    return { kind: "verify", dataDirectory, against };
  }
  if (verb === "health") {
    if (more.length > 0) throw new UsageError(`unexpected argument "${more[0]}": dbd health takes HTTP_ADDR`);
    return healthCommand(directory, findIn(places));
  }
  requireAddress(verb);
  return { kind: "run", settings: settingsFrom({ ...line, places, sources }) };
}

/** A misspelled `verify` would be the name of a host. */
function requireAddress(text: string | undefined): void {
  if (text === undefined || /[.:]/.test(text)) return;
  const near = closest(text, ["verify", "health"]);
  if (near !== undefined) throw new UsageError(`unknown command "${text}"; did you mean "${near}"?`);
}

/** Asks in clear text where the server listens so, for nothing secret is said; otherwise over TLS. */
function healthCommand(given: string | undefined, find: Find): Command {
  const [, scheme, named] = /^(?:(https?):\/\/)?(.*)$/s.exec(given ?? "") ?? [];
  const isSecure = given === undefined
    ? find("http_addr") === undefined && find("http_tls_addr") !== undefined
    : scheme === "https";
  const key = isSecure ? "http_tls_addr" : "http_addr";
  const text = given === undefined ? find(key) ?? "127.0.0.1" : named ?? "";
  return { kind: "health", isSecure, address: readAddress(text, DEFAULT_PORTS[key] ?? 0, "HTTP_ADDR") };
}

/** Looks a setting up in one place or several. */
type Find = (key: string) => string | undefined;

/** One place that settings come from. */
interface Place {
  readonly find: Find;
  /** How a setting is called there. */
  readonly nameOf: (key: string) => string;
}

/** Looks in the places in turn, from the strongest to the weakest. */
function findIn(places: readonly Place[]): Find {
  return (key) => places.map((place) => place.find(key)).find((value) => value !== undefined);
}

/** Raises for a variable that looks like a setting and is none: a typo there would be ignored in silence. */
function requireKnownVariables(environment: SettingSources["environment"]): void {
  const known = [...knownKeys(), "config"].map(variableOf);
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith("DB_") || nonEmpty(value) === undefined) continue;
    if (known.includes(name) || FOREIGN_VARIABLES.includes(name)) continue;
    const near = closest(name, known);
    throw new UsageError(
      `unknown variable ${name} in the environment${
        near === undefined ? "; names that begin with DB_ are settings: unset it" : `; did you mean ${near}?`
      }`,
    );
  }
}

/** Raises for a setting of a feature that the build does not have. */
function requireFeatures(places: readonly Place[], features: readonly FeatureName[]): void {
  for (const { find, nameOf } of places) {
    for (const { key, feature } of SETTINGS) {
      if (feature === undefined || features.includes(feature) || find(key) === undefined) continue;
      throw new UsageError(
        `${nameOf(key)} needs a build with the feature ${feature}, which this one does not have`,
      );
    }
  }
}

interface CommandLine {
  readonly help: boolean;
  readonly version: boolean;
  readonly development: boolean;
  readonly positional: readonly string[];
  readonly values: ReadonlyMap<string, string>;
}

function parseCommandLine(parameters: readonly string[]): CommandLine {
  const values = new Map<string, string>();
  const positional: string[] = [];
  let help = false, version = false, development = false;
  for (let index = 0; index < parameters.length; index++) {
    const parameter = parameters[index] ?? "";
    if (parameter === "--") {
      // Behind both arguments it can only be that of `deno task start -- --shards 4`.
      if (positional.length === 2) continue;
      positional.push(...parameters.slice(index + 1));
      break;
    }
    if (!parameter.startsWith("-") || parameter === "-") {
      positional.push(parameter);
      continue;
    }
    const [name = "", attached] = splitOnce(parameter, "=");
    if (name === "--help" || name === "-h") help = true;
    else if (name === "--version" || name === "-V") version = true;
    else if (name === "--dev") development = true;
    else {
      const key = name.replace(/^--/, "").replaceAll("-", "_");
      const setting = key === "config" || key === "verify_against"
        ? { key, kind: "text" as const }
        : SETTINGS.find((each) => each.key === key && name.startsWith("--"));
      if (setting === undefined) throw unknownOption(name);
      if (setting.kind === "switch") values.set(key, attached ?? "true");
      else {
        const value = attached ?? parameters[++index];
        if (value === undefined) throw new UsageError(`${name} needs a value`);
        values.set(key, value);
      }
    }
  }
  if (positional.length > 2 && positional[0] !== "verify" && positional[0] !== "health") {
    throw new UsageError(`unexpected argument "${positional[2]}": dbd takes LISTEN_ADDR and DATA_DIR`);
  }
  return { help, version, development, positional, values };
}

function settingsFrom(options: {
  readonly positional: readonly string[];
  readonly development: boolean;
  readonly sources: SettingSources;
  /** From the strongest to the weakest. */
  readonly places: readonly Place[];
}): ServerSettings {
  const { places, sources, development } = options;
  const find = findIn(places);
  const [listen, directory] = options.positional;
  const has = (feature: FeatureName): boolean => sources.features.includes(feature);
  const address = (key: string, byDefault: boolean): Address | null => {
    const text = find(key) ?? (byDefault ? `127.0.0.1:${DEFAULT_PORTS[key]}` : undefined);
    return text === undefined ? null : readAddress(text, DEFAULT_PORTS[key] ?? 0, flagOf(key));
  };
  const tls = readTls(find);
  const settings: ServerSettings = {
    listenAddress: readAddress(listen ?? find("listen_addr") ?? DEFAULT_LISTEN, DEFAULT_PORT, "LISTEN_ADDR"),
    dataDirectory: directory ?? find("data_dir") ?? DEFAULT_DIRECTORY,
    httpAddress: address("http_addr", development && has("http-gateway")),
    httpTlsAddress: address("http_tls_addr", development && has("http-gateway") && tls !== null),
    pgAddress: address("pg_addr", development && has("pg-gateway")),
    cluster: readCluster(find),
    shardCount: readShardCount(find),
    routerCount: count(find, "routers", { initial: 1, maximum: MAX_ROUTERS }),
    maximumParallelWorkers: count(find, "max_parallel_workers", {
      initial: defaultWorkers(),
      minimum: 0,
      maximum: MAX_WORKERS,
    }),
    tls,
    requiresTls: readSwitch(find, "tls_required"),
    token: readToken(places, sources),
    maximumConnections: count(find, "max_conns", { initial: LIMITS.binaryConnections }),
    httpMaximumConnections: count(find, "http_max_conns", { initial: LIMITS.httpConnections }),
    pgMaximumConnections: count(find, "pg_max_conns", { initial: LIMITS.pgConnections }),
    httpMaximumBodyBytes: bytes(find, "http_max_body", {
      initial: LIMITS.maximumHttpBodyBytes,
      maximum: LIMITS.maximumStatementBytes,
    }),
    maximumFrameBytes: bytes(find, "max_frame", {
      initial: LIMITS.maximumFrameBytes,
      maximum: LIMITS.maximumEntryBytes,
    }),
    pgIdleTimeoutMilliseconds: seconds(find, "pg_idle_timeout"),
    blockCacheBytes: bytes(find, "block_cache", { initial: LIMITS.blockCacheBytes, maximum: 2 ** 50 }),
    checkpointLogBytes: bytes(find, "checkpoint_log", {
      initial: LIMITS.checkpointLogBytes,
      maximum: 2 ** 50,
    }),
    queryMemoryBytes: bytes(find, "query_memory", { initial: usualQueryMemoryBytes(), maximum: 2 ** 50 }),
    temporaryFileBytes: bytes(find, "temp_file_limit", {
      initial: LIMITS.temporaryFileBytes,
      maximum: 2 ** 50,
    }),
    defaultIsolation: isolationLevel(find, "default_isolation"),
    drainMilliseconds: seconds(find, "drain_timeout") ?? 10_000,
    checksInput: readSwitch(find, "check_input"),
    externalAllowedHosts: (find("external_allow") ?? "").split(",").map((each) => each.trim())
      .filter((each) => each !== ""),
    externalParquetPageBytes: bytes(find, "external_parquet_page", {
      initial: LIMITS.parquetPageBytes,
      maximum: LIMITS.maximumParquetPageBytes,
    }),
    development,
  };
  if (settings.dataDirectory === "") throw new UsageError("DATA_DIR is empty");
  requireCertificate(settings, has("http-gateway"));
  requireMemberDirectory(settings);
  if (!readSwitch(find, "allow_open")) {
    requireLoopback(settings);
    requireLoopbackPeers(settings);
  }
  return settings;
}

function readTls(find: Find): TlsSettings | null {
  const certificatePath = find("tls_cert"), keyPath = find("tls_key");
  const isDevelopment = readSwitch(find, "dev_tls");
  if (certificatePath === undefined && keyPath === undefined) {
    return isDevelopment ? { kind: "development" } : null;
  }
  if (isDevelopment) {
    throw new UsageError("--dev-tls makes a certificate: leave --tls-cert and --tls-key out");
  }
  if (certificatePath === undefined) throw new UsageError("--tls-key needs --tls-cert FILE besides it");
  if (keyPath === undefined) throw new UsageError("--tls-cert needs --tls-key FILE besides it");
  return { kind: "files", certificatePath, keyPath };
}

function readShardCount(find: Find): number | null {
  const text = find("shards");
  if (text === undefined) return null;
  const count = Number(text);
  if (/^\d+$/.test(text) && SHARD_COUNTS.includes(count)) return count;
  throw new UsageError(`--shards takes 1, 2, 4, 8 or 16, not "${text}"`);
}

const MAX_ROUTERS = 8;
const MAX_WORKERS = 64;
/** More workers than these must be asked for. */
const MAX_DEFAULT_WORKERS = 8;

/** One processor has enough to do without workers. */
function defaultWorkers(): number {
  const processors = navigator.hardwareConcurrency;
  return processors === 1 ? 0 : Math.min(MAX_DEFAULT_WORKERS, processors);
}

/** The sizes of clusters: those of which a majority outlives the loss of as many members as it can. */
const CLUSTER_SIZES: readonly number[] = [1, 3, 5];

function readCluster(find: Find): ClusterSettings | null {
  const replica = find("replica"), list = find("peers"), lease = find("read_lease");
  if (replica === undefined && list === undefined) {
    const alien = ["read_lease", "scrub_rate", "peer_ca", "peer_cert", "peer_key"].find((key) =>
      find(key) !== undefined
    );
    if (alien !== undefined) {
      throw new UsageError(`${flagOf(alien)} is for members of a cluster: give --replica and --peers`);
    }
    return null;
  }
  if (list === undefined) throw new UsageError("--replica needs --peers ADDR,ADDR,ADDR besides it");
  if (replica === undefined) {
    throw new UsageError("--peers needs --replica N besides it: which of them this is, from 0 on");
  }
  const peers = list.split(",").map((text) => readAddress(text, DEFAULT_PORT, "--peers"));
  if (!CLUSTER_SIZES.includes(peers.length)) {
    throw new UsageError(`--peers names ${peers.length} members; a cluster has 1, 3 or 5`);
  }
  const index = Number(replica);
  if (!/^\d+$/.test(replica) || index >= peers.length) {
    throw new UsageError(
      `--replica takes the index of this member in --peers, ${
        peers.length === 1 ? "0" : `from 0 to ${peers.length - 1}`
      }, not "${replica}"`,
    );
  }
  const addresses = peers.map(formatAddress);
  const repeated = addresses.find((address, peer) => addresses.indexOf(address) !== peer);
  if (repeated !== undefined) throw new UsageError(`--peers names ${repeated} twice`);
  return {
    index,
    peers,
    tls: readPeerTls(find),
    usesReadLease: lease === undefined || readSwitch(find, "read_lease"),
    scrubBytesPerSecond: find("scrub_rate")?.toLowerCase() === "off" ? 0 : bytes(find, "scrub_rate", {
      initial: LIMITS.scrubBytesPerSecond,
      maximum: 2 ** 40,
      otherwise: "off",
    }),
  };
}

function readPeerTls(find: Find): PeerTlsFiles | null {
  const [authorityPath, certificatePath, keyPath] = ["peer_ca", "peer_cert", "peer_key"].map(find);
  if (authorityPath === undefined && certificatePath === undefined && keyPath === undefined) return null;
  if (authorityPath === undefined || certificatePath === undefined || keyPath === undefined) {
    throw new UsageError("--peer-ca, --peer-cert and --peer-key are given together, at all members");
  }
  return { authorityPath, certificatePath, keyPath };
}

/** A member must find again what it has promised, where the others look for it. */
function requireMemberDirectory({ cluster, dataDirectory, development }: ServerSettings): void {
  if (cluster === null) return;
  if (dataDirectory === ":memory:") {
    throw new UsageError("a member of a cluster keeps its promises in DATA_DIR, and :memory: is none");
  }
  if (development) {
    throw new UsageError("--dev may choose other ports than --peers names: leave one of them out");
  }
}

/** What asks for TLS needs a certificate, and a place to keep one that is made. */
function requireCertificate(settings: ServerSettings, hasHttp: boolean): void {
  const { tls, httpTlsAddress, requiresTls, dataDirectory } = settings;
  if (httpTlsAddress !== null && !hasHttp) {
    throw new UsageError(
      "--http-tls-addr needs a build with the feature http-gateway, which this one does not have",
    );
  }
  if (tls?.kind === "development" && dataDirectory === ":memory:") {
    throw new UsageError("--dev-tls keeps its certificate in DATA_DIR, and :memory: is none");
  }
  if (tls !== null) return;
  const flag = httpTlsAddress !== null ? "--http-tls-addr" : requiresTls ? "--tls-required" : null;
  if (flag === null) return;
  throw new UsageError(`${flag} needs a certificate: --tls-cert FILE --tls-key FILE, or --dev-tls to try it`);
}

/** Without a token, only this machine may come in. */
function requireLoopback(settings: ServerSettings): void {
  if (settings.token !== null) return;
  for (
    const address of [
      settings.listenAddress,
      settings.httpAddress,
      settings.httpTlsAddress,
      settings.pgAddress,
    ]
  ) {
    if (address === null || isLoopback(address.hostname)) continue;
    throw new UsageError(
      `${formatAddress(address)} can be reached by others and there is no token: ` +
        "give one with --token-file or DB_TOKEN, listen on 127.0.0.1, or add --allow-open",
    );
  }
}

/** Without a token, a member trusts this machine only. */
function requireLoopbackPeers({ cluster, token }: ServerSettings): void {
  const peer = cluster?.peers.find(({ hostname }, index) => index !== cluster.index && !isLoopback(hostname));
  if (token !== null || peer === undefined) return;
  throw new UsageError(
    `--peers names ${formatAddress(peer)}, another machine, and there is no token: ` +
      "give all members the same with --token-file or DB_TOKEN, or add --allow-open",
  );
}

function readToken(places: readonly Place[], sources: SettingSources): string | null {
  for (const { find } of places) {
    const token = find("token"), file = find("token_file");
    if (token !== undefined && file !== undefined) {
      throw new UsageError("a token and a token file are given; one of them is enough");
    }
    if (token === "") throw new UsageError("the token is empty");
    if (token !== undefined) return requireOneWord(token, "the token");
    if (file === undefined) continue;
    const line = (readText(sources, file, "token file").split("\n")[0] ?? "").trim();
    if (line === "") throw new UsageError(`the first line of the token file "${file}" is empty`);
    return requireOneWord(line, `the token in "${file}"`);
  }
  return null;
}

/** Over HTTP a token is one word of a header: with anything between words it would let nobody in there. */
function requireOneWord(token: string, what: string): string {
  if (!/[\s\p{Cc}]/u.test(token)) return token;
  throw new UsageError(
    `${what} has a space or a control character in it, which no client can send over HTTP`,
  );
}

/** Lines `key = value` with `#` comments and optional quotes, or a JSON object. Raises {@link UsageError}. */
export function parseConfiguration(text: string, path: string): Map<string, string> {
  const values = new Map<string, string>();
  const put = (key: string, value: string, place: string): void => {
    if (!knownKeys().includes(key)) {
      const near = closest(key, knownKeys());
      throw new UsageError(
        `unknown setting "${key}" in ${place}${near === undefined ? "" : `; did you mean "${near}"?`}`,
      );
    }
    values.set(key, value);
  };
  if (text.trimStart().startsWith("{")) {
    for (const [key, value] of Object.entries(parseJsonObject(text, path))) {
      if (typeof value === "object") {
        throw new UsageError(`the setting "${key}" in ${path} must be a plain value`);
      }
      put(key, String(value), path);
    }
    return values;
  }
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(#.*)?$/.test(line)) continue;
    const match = /^\s*([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^#]*?))\s*(?:#.*)?$/.exec(line);
    if (match === null) throw new UsageError(`${path}:${index + 1}: write a line as key = value`);
    put(
      (match[1] ?? "").replaceAll("-", "_"),
      match[2] ?? match[3] ?? match[4] ?? "",
      `${path}:${index + 1}`,
    );
  }
  return values;
}

function parseJsonObject(text: string, path: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (error) {
    if (error instanceof SyntaxError) throw new UsageError(`${path} is not valid JSON: ${error.message}`);
    throw error;
  }
}

function knownKeys(): string[] {
  return ["listen_addr", "data_dir", ...SETTINGS.map((setting) => setting.key)];
}

function readText(sources: SettingSources, path: string, what: string): string {
  try {
    return sources.readFile(path);
  } catch (error) {
    throw new UsageError(
      `cannot read the ${what} "${path}": ${error instanceof Error ? error.message : error}`,
    );
  }
}

function readAddress(text: string, port: number, what: string): Address {
  try {
    return parseAddress(text, port);
  } catch (error) {
    if (error instanceof DatabaseError) throw new UsageError(`${what}: ${error.message}`);
    throw error;
  }
}

function count(
  find: Find,
  key: string,
  { initial, minimum = 1, maximum = 100_000 }: {
    readonly initial: number;
    readonly minimum?: number;
    readonly maximum?: number;
  },
): number {
  const text = find(key);
  if (text === undefined) return initial;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < minimum || value > maximum) {
    throw new UsageError(`${flagOf(key)} takes a number from ${minimum} to ${maximum}, not "${text}"`);
  }
  return value;
}

const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  k: 2 ** 10,
  m: 2 ** 20,
  g: 2 ** 30,
  t: 2 ** 40,
};

function bytes(
  find: Find,
  key: string,
  range: { readonly initial: number; readonly maximum: number; readonly otherwise?: string },
): number {
  const text = find(key);
  if (text === undefined) return range.initial;
  const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?$/i.exec(text.trim());
  const value = match === null
    ? NaN
    : Math.round(Number(match[1]) * (UNITS[(match[2] ?? "").toLowerCase()] ?? 1));
  if (!(value >= 1024 && value <= range.maximum)) {
    const others = range.otherwise === undefined ? "" : `, or "${range.otherwise}"`;
    throw new UsageError(`${flagOf(key)} takes a size such as 64MiB, at least 1KiB${others}, not "${text}"`);
  }
  return value;
}

function seconds(find: Find, key: string): number | null {
  const text = find(key);
  if (text === undefined) return null;
  const value = Number(text.replace(/s$/, ""));
  if (!/^\d+(\.\d+)?s?$/.test(text) || value > 86_400) {
    throw new UsageError(`${flagOf(key)} takes a number of seconds up to 86400, not "${text}"`);
  }
  return Math.round(value * 1000);
}

function isolationLevel(find: Find, key: string): IsolationLevel {
  const text = find(key) ?? "serializable";
  const level = namedLevel(text);
  if (level !== undefined) return level;
  const levels = ISOLATION_LEVELS.map((each) => each.replace(" ", "-"));
  throw new UsageError(`${flagOf(key)} is ${levels[0]}, ${levels[1]} or ${levels[2]}, not "${text}"`);
}

function readSwitch(find: Find, key: string): boolean {
  const text = (find(key) ?? "false").toLowerCase();
  if (["true", "1", "yes", "on"].includes(text)) return true;
  if (["false", "0", "no", "off"].includes(text)) return false;
  throw new UsageError(`${flagOf(key)} is either on or off, not "${text}"`);
}

/** The flag of a setting. */
export function flagOf(key: string): string {
  return `--${key.replaceAll("_", "-")}`;
}

/** The variable of a setting. */
function variableOf(key: string): string {
  return `DB_${key.toUpperCase()}`;
}

function unknownOption(name: string): UsageError {
  const known = [
    ...SETTINGS.map((setting) => flagOf(setting.key)),
    "--config",
    "--verify-against",
    "--dev",
    "--help",
    "--version",
  ];
  const near = closestOption(name, known);
  return new UsageError(`unknown option "${name}"${near === undefined ? "" : `; did you mean "${near}"?`}`);
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

/** The text of `--help`. */
export function helpText(version: string, features: readonly FeatureName[]): string {
  const served = SETTINGS.filter(({ feature }) => feature === undefined || features.includes(feature));
  const lines = served.map((setting) => {
    const flag = `${flagOf(setting.key)}${setting.value === "" ? "" : ` ${setting.value}`}`;
    return `  ${flag.padEnd(28)} ${setting.help}`;
  });
  return `dbd ${version}: the database server

Usage: dbd [LISTEN_ADDR] [DATA_DIR] [options]
       dbd verify [DATA_DIR] [--verify-against OTHER_DIR]
       dbd health [HTTP_ADDR]

  LISTEN_ADDR                  address of the binary protocol (default ${DEFAULT_LISTEN})
  DATA_DIR                     where the data is kept (default ${DEFAULT_DIRECTORY})
  verify                       read every byte and every value of a database that no server runs on, and name what is
                               wrong
  --verify-against DIR         compare DATA_DIR with that of another member, both stopped, and say where they differ
  health                       ask a running server over HTTP whether it serves; exit code 0 if so. HTTP_ADDR may begin
                               with https://; only the answer counts then, not the certificate's name

Options
${lines.join("\n")}
  --config FILE                read settings from a file: lines "http_addr = 127.0.0.1:6533"
  --dev                        all listeners on this machine, next free ports, examples to try
  -V, --version                print the version
  -h, --help                   print this text

Every option is also a variable of the environment (DB_HTTP_ADDR for --http-addr) and a key of the configuration file
(http_addr); an option beats the environment, which beats the file. Without a token, only addresses of this machine are
listened on.

Features of this build: ${features.length === 0 ? "none" : features.join(" ")}
Exit codes: 0 stopped cleanly or found everything right, 1 could not start or go on or found something wrong,
2 bad usage.
`;
}
