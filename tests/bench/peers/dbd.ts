/** This database's server, from the sources or as a compiled file, on free ports with a temporary directory. */
import type { Peer, ServerOptions } from "../benchmark.ts";

/** A running server. */
export interface DbdPeer extends Peer {
  readonly directory: string;
  readonly processId: number;
  readonly httpPort: number;
  readonly binaryPort: number;
  /** null: `--http-tls-addr` is not among the flags. */
  readonly httpsPort: number | null;
  /** From the start of the process until it was ready. */
  readonly startMilliseconds: number;
  /** Sends SIGKILL and waits; the directory stays. */
  kill(): Promise<void>;
  another(options: ServerOptions & Pick<DbdOptions, "directory" | "flags">): Promise<DbdPeer>;
}

/** Whether a peer is this database. */
export function isDbd(peer: Peer): peer is DbdPeer {
  return "kill" in peer;
}

/** A metric without labels, as the server shows it now. */
export async function readMetric(
  { host, httpPort }: Pick<DbdPeer, "host" | "httpPort">,
  name: string,
): Promise<number> {
  const text = await (await fetch(`http://${host}:${httpPort}/v1/metrics`)).text();
  const value = new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1];
  if (value === undefined) throw new Error(`the server does not show ${name}`);
  return Number(value);
}

/** The longest turns of its event loop of more than 50 ms, in words: by what they worked at. */
export async function longTurns({ host, httpPort }: Pick<DbdPeer, "host" | "httpPort">): Promise<string[]> {
  const text = await (await fetch(`http://${host}:${httpPort}/v1/metrics`)).text();
  const samples = text.matchAll(/^db_event_loop_long_turn_seconds\{work="(.*)"\} (\S+)$/gm);
  return [...samples].map(([, work, seconds]) => `${work} ${Math.round(1000 * Number(seconds))} ms`);
}

/** How to start it. */
export interface DbdOptions {
  /** A compiled program; from the sources when absent. */
  readonly binary?: string;
  /** Another checkout, whose sources are run in the place of these; the peer is then called "dbd before". */
  readonly checkout?: string;
  /** An existing data directory, which is then left alone at the end. */
  readonly directory?: string;
  readonly flags?: readonly string[];
  readonly v8Flags?: string;
  readonly tls?: true;
}

/** Free ports, chosen by the system when they are bound, so that nobody else can take them in between. */
const anyPort = "127.0.0.1:0";

/** Starts a server and waits until it is ready. */
export async function startDbd(options: DbdOptions = {}): Promise<DbdPeer> {
  const directory = options.directory ?? await Deno.makeTempDir({ prefix: "dbd-" });
  const own = new URL("../../..", import.meta.url).pathname;
  const source = `${options.checkout ?? own}/cli/dbd.ts`;
  const [command, first] = options.binary === undefined
    ? [Deno.execPath(), [
      "run",
      "-A",
      "--config",
      `${options.checkout ?? own}/deno.json`,
      ...(options.v8Flags === undefined ? [] : [`--v8-flags=${options.v8Flags}`]),
      source,
    ]]
    : [options.binary, []];
  const started = performance.now();
  const child = new Deno.Command(command, {
    args: [
      ...first,
      "--pg-addr",
      anyPort,
      "--http-addr",
      anyPort,
      ...(options.flags ?? []),
      ...(options.tls === true ? ["--dev-tls"] : []),
      anyPort,
      `${directory}/data`,
    ],
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const { port, httpPort, httpsPort, binaryPort } = await listening(child);
  return {
    startMilliseconds: performance.now() - started,
    name: options.checkout === undefined ? "dbd" : "dbd before",
    host: "127.0.0.1",
    port,
    httpPort,
    httpsPort,
    binaryPort,
    user: "postgres",
    database: "postgres",
    directory: `${directory}/data`,
    processId: child.pid,
    ...(options.tls === undefined ? {} : { tls: options.tls }),
    stop: async () => {
      child.kill("SIGTERM");
      await child.status;
      if (options.directory === undefined) await Deno.remove(directory, { recursive: true });
    },
    kill: async () => {
      child.kill("SIGKILL");
      await child.status;
    },
    another: ({ cacheBytes, ...others }) =>
      startDbd({
        ...(options.binary === undefined ? {} : { binary: options.binary }),
        ...(options.checkout === undefined ? {} : { checkout: options.checkout }),
        ...others,
        flags: [
          ...(others.flags ?? []),
          ...(cacheBytes === undefined ? [] : ["--block-cache", String(cacheBytes)]),
        ],
      }),
  };
}

/** The ports that the server says it listens on, once it is ready; rejects when it ends before that. */
async function listening(
  child: Deno.ChildProcess,
): Promise<Pick<DbdPeer, "port" | "httpPort" | "httpsPort" | "binaryPort">> {
  const log = collect(child.stderr);
  if (!await log.until(/^dbd: ready$/m)) {
    const { code } = await child.status;
    throw new Error(`dbd ended with ${code} before it was ready: ${log.text()}`);
  }
  const printed = (pattern: RegExp): number => {
    const found = pattern.exec(log.text())?.[1];
    if (found === undefined) throw new Error(`dbd does not say where it listens: ${log.text()}`);
    return Number(found);
  };
  return {
    port: printed(/PostgreSQL protocol on \S+:(\d+)/),
    httpPort: printed(/HTTP on \S+:(\d+)/),
    httpsPort: log.text().includes("HTTPS on ") ? printed(/HTTPS on \S+:(\d+)/) : null,
    binaryPort: printed(/binary protocol on \S+:(\d+)/),
  };
}

interface CollectedText {
  text(): string;
  /** Waits until the text matches; false when it ends before. */
  until(pattern: RegExp): Promise<boolean>;
}

/** Reads a stream to its end, so that the writer never waits, and keeps the last of it. */
function collect(stream: ReadableStream<Uint8Array>): CollectedText {
  let text = "";
  let changed = Promise.withResolvers<void>();
  let ended = false;
  const decoder = new TextDecoder();
  void (async () => {
    for await (const chunk of stream) {
      text = (text + decoder.decode(chunk, { stream: true })).slice(-10_000);
      changed.resolve();
      changed = Promise.withResolvers();
    }
    ended = true;
    changed.resolve();
  })();
  return {
    text: () => text.trim(),
    until: async (pattern) => {
      while (!pattern.test(text) && !ended) await changed.promise;
      return pattern.test(text);
    },
  };
}
