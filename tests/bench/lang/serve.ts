/**
 * How quickly `lang serve` delivers, and how soon a saved change is there, by the real process over the loopback
 * address.
 *
 * The client is this file's own: plain connections that stay open, without pipelining, so that what is measured is
 * the server. What a page does with a new build comes on top: `tests/lang/browser/reload_times.ts` measures it in
 * Chromium.
 */
import { newPackageFiles } from "../../../lang/package/new_package.ts";
import { compareWorkers, type Comparison, type Scale, type Worker } from "../benchmark.ts";
import type { LanguageOptions } from "./options.ts";

interface Measurement {
  readonly name: string;
  readonly unit: string;
  readonly bar: string;
  measure(server: RunningServer, scale: Scale): Promise<number>;
}

const ASSET_BYTES = 10_000_000;
const CONNECTIONS = 8;

const MEASUREMENTS: readonly Measurement[] = [
  { name: "serve, a 10 MB asset", unit: "MB/s", bar: "≥ 500", measure: assetRate },
  { name: "serve, small requests, 8 connections", unit: "requests/s", bar: "≥ 5,000", measure: requestRate },
  {
    name: "serve --watch, from saving Pong to its new module",
    unit: "ms",
    bar: "≤ 300",
    measure: rebuildTime,
  },
];

/** Names of what {@link measureServe} gives. */
export const SERVE_NAMES: readonly string[] = MEASUREMENTS.map(({ name }) => name);

/** Measures the server; what is ready is told at once. */
export async function measureServe(
  options: LanguageOptions,
  tell: (result: Comparison) => void,
): Promise<readonly Comparison[]> {
  const results: Comparison[] = [];
  const server = await startServer(options);
  try {
    for (const measurement of MEASUREMENTS) {
      const worker: Worker = {
        name: "lang",
        prepare: async () => void await measurement.measure(server, "smoke"),
        measure: () => measurement.measure(server, options.scale),
      };
      const result = await compareWorkers(measurement, [worker], options.rounds);
      tell(result);
      results.push(result);
    }
  } finally {
    await server.stop();
  }
  return results;
}

async function assetRate({ port }: RunningServer, scale: Scale): Promise<number> {
  using client = await HttpClient.connect(port);
  const count = scale === "smoke" ? 2 : 100;
  const start = performance.now();
  for (let index = 0; index < count; index++) await client.get("/asset.bin", ASSET_BYTES);
  return Math.round(count * ASSET_BYTES / 1e3 / (performance.now() - start));
}

async function requestRate({ port }: RunningServer, scale: Scale): Promise<number> {
  const count = scale === "smoke" ? 20 : 4_000;
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => HttpClient.connect(port)));
  const start = performance.now();
  await Promise.all(clients.map(async (client) => {
    for (let index = 0; index < count; index++) await client.get("/small.json", null);
    client[Symbol.dispose]();
  }));
  return Math.round(count * CONNECTIONS * 1000 / (performance.now() - start));
}

/** Median of the time from the end of writing the source to the last byte of the module that is made of it. */
async function rebuildTime({ port, folder }: RunningServer, scale: Scale): Promise<number> {
  const path = `${folder}/src/main.lang`;
  const text = await Deno.readTextFile(path);
  const socket = new WebSocket(`ws://127.0.0.1:${port}/_events`);
  const messages: string[] = [];
  let wake = (): void => {};
  socket.addEventListener("message", ({ data }) => {
    messages.push(String(data));
    wake();
  });
  const next = async (): Promise<string> => {
    if (messages.length === 0) await new Promise<void>((resolve) => wake = resolve);
    return messages.shift() ?? "";
  };
  await next();
  using client = await HttpClient.connect(port);
  const times: number[] = [];
  const save = async (contents: string): Promise<number> => {
    await Deno.writeTextFile(path, contents);
    const start = performance.now();
    const message = await next();
    if (!message.includes('"state":"built"')) throw new Error(`Cannot measure the server: ${message}`);
    await client.get("/main.wasm", null);
    return performance.now() - start;
  };
  for (let index = 0; index < (scale === "smoke" ? 2 : 40); index++) {
    times.push(await save(text.replace("Color.rgb(235, 240, 255)", `Color.rgb(${index}, 240, 255)`)));
  }
  await save(text);
  const closed = new Promise((resolve) => socket.addEventListener("close", resolve));
  socket.close();
  await closed;
  return times.toSorted((left, right) => left - right)[times.length >> 1] ?? 0;
}

/** A connection that stays open. */
class HttpClient implements Disposable {
  readonly #connection: Deno.TcpConn;
  readonly #host: string;
  readonly #buffer = new Uint8Array(1 << 20);
  #isClosed = false;

  private constructor(connection: Deno.TcpConn, port: number) {
    this.#connection = connection;
    this.#host = `127.0.0.1:${port}`;
  }

  static async connect(port: number): Promise<HttpClient> {
    const connection = await Deno.connect({ hostname: "127.0.0.1", port });
    connection.setNoDelay(true);
    return new HttpClient(connection, port);
  }

  /** Asks for a file and reads it to its end; `bytes` is how many are expected, where that is known. */
  async get(path: string, bytes: number | null): Promise<void> {
    const request = new TextEncoder().encode(`GET ${path} HTTP/1.1\r\nhost: ${this.#host}\r\n\r\n`);
    await this.#connection.write(request);
    let head = "";
    let rest = 0;
    for (let end = -1; end < 0;) {
      const count = await this.#read();
      head += new TextDecoder("latin1").decode(this.#buffer.subarray(0, Math.min(count, 4096)));
      end = head.indexOf("\r\n\r\n");
      if (end < 0) continue;
      const [, length] = /\r\ncontent-length: (\d+)/i.exec(head) ?? [];
      if (
        !head.startsWith("HTTP/1.1 200") || length === undefined || bytes !== null && Number(length) !== bytes
      ) {
        throw new Error(`Cannot measure the server: ${head.slice(0, end)}`);
      }
      rest = end + 4 + Number(length) - count;
    }
    while (rest > 0) rest -= await this.#read();
  }

  async #read(): Promise<number> {
    const count = await this.#connection.read(this.#buffer);
    if (count === null) throw new Error("Cannot measure the server: it has closed the connection");
    return count;
  }

  [Symbol.dispose](): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#connection.close();
  }
}

interface RunningServer {
  readonly folder: string;
  readonly port: number;
  stop(): Promise<void>;
}

async function startServer({ binary }: LanguageOptions): Promise<RunningServer> {
  const folder = await Deno.makeTempDir({ prefix: "lang-bench-serve-" });
  for (const [path, text] of newPackageFiles("pong", "game")) {
    const place = `${folder}/${path}`;
    await Deno.mkdir(place.slice(0, place.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(place, text);
  }
  await Deno.writeFile(`${folder}/web/asset.bin`, new Uint8Array(ASSET_BYTES).fill(7));
  await Deno.writeTextFile(`${folder}/web/small.json`, '{"lives":3}');
  const sources = new URL("../../../cli/lang.ts", import.meta.url).pathname;
  const [command = "", ...args] = binary === null
    ? [Deno.execPath(), "run", "-A", "--no-check", sources]
    : [await Deno.realPath(binary)];
  const child = new Deno.Command(command, {
    args: [...args, "serve", "--watch", "--port", "0"],
    cwd: folder,
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const { promise, resolve } = Promise.withResolvers<number>();
  const read = async (): Promise<void> => {
    let text = "";
    for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
      text = (text + part).slice(0, 4096);
      const [, port] = /^serving http:\/\/127\.0\.0\.1:(\d+)\//.exec(text) ?? [];
      if (port !== undefined) resolve(Number(port));
    }
    resolve(0);
  };
  const reading = read();
  const port = await promise;
  if (port === 0) throw new Error("Cannot measure the server: it has not started");
  return {
    folder,
    port,
    async stop() {
      child.kill("SIGINT");
      await Promise.all([child.status, reading]);
      await Deno.remove(folder, { recursive: true });
    },
  };
}
