/** This database's server, from the sources or as a compiled file, on free ports with a temporary directory. */
import type { Peer } from "../benchmark.ts";
import { freePort, waitForPort } from "./process.ts";

/** A running server. */
export interface DbdPeer extends Peer {
  readonly directory: string;
  readonly processId: number;
  readonly httpPort: number;
  readonly binaryPort: number;
  /** Sends SIGKILL and waits; the directory stays. */
  kill(): Promise<void>;
}

/** How to start it. */
export interface DbdOptions {
  /** A compiled program; from the sources when absent. */
  readonly binary?: string;
  /** An existing data directory, which is then left alone at the end. */
  readonly directory?: string;
  readonly flags?: readonly string[];
  readonly v8Flags?: string;
}

/** Starts a server and waits until it answers. */
export async function startDbd(options: DbdOptions = {}): Promise<DbdPeer> {
  const directory = options.directory ?? await Deno.makeTempDir({ prefix: "dbd-" });
  const [port, httpPort, binaryPort] = [freePort(), freePort(), freePort()];
  const source = new URL("../../../cli/dbd.ts", import.meta.url).pathname;
  const [command, first] = options.binary === undefined
    ? [Deno.execPath(), [
      "run",
      "-A",
      ...(options.v8Flags === undefined ? [] : [`--v8-flags=${options.v8Flags}`]),
      source,
    ]]
    : [options.binary, []];
  const child = new Deno.Command(command, {
    args: [
      ...first,
      "--pg-addr",
      `127.0.0.1:${port}`,
      "--http-addr",
      `127.0.0.1:${httpPort}`,
      ...(options.flags ?? []),
      `127.0.0.1:${binaryPort}`,
      `${directory}/data`,
    ],
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const log = collect(child.stderr);
  const ended = child.status.then((status) => {
    throw new Error(`dbd ended with ${status.code} before it listened: ${log.text()}`);
  });
  // The loser of the race is expected to fail later, when the server is stopped.
  ended.catch(() => undefined);
  await Promise.race([waitForPort(port, 30_000), ended]);
  return {
    name: "dbd",
    host: "127.0.0.1",
    port,
    httpPort,
    binaryPort,
    user: "postgres",
    database: "postgres",
    directory: `${directory}/data`,
    processId: child.pid,
    stop: async () => {
      child.kill("SIGTERM");
      await child.status;
      if (options.directory === undefined) await Deno.remove(directory, { recursive: true });
    },
    kill: async () => {
      child.kill("SIGKILL");
      await child.status;
    },
  };
}

function collect(stream: ReadableStream<Uint8Array>): { text(): string } {
  let text = "";
  const decoder = new TextDecoder();
  void (async () => {
    for await (const chunk of stream) text = (text + decoder.decode(chunk, { stream: true })).slice(-10_000);
  })();
  return { text: () => text.trim() };
}
