/**
 * A client of HTTP/1.1 over the web port: one request at a time, answers as streams, a connection kept for the next
 * request to the same host.
 *
 * It exists because the address that is connected to must be the one that was checked (see `address_guard.ts`), which
 * `fetch` has no way to ask for. It follows no redirects, keeps no cookies and unpacks nothing. Limits: the head of an
 * answer, the time to connect, the time without a byte (`SOURCE_LIMITS`).
 */
import { decodeUtf8, encodeUtf8 } from "../base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { Timers } from "../host/host.ts";
import type { NetworkConnection } from "../host/network.ts";
import type { Web } from "../host/web.ts";
import { type AllowedHosts, refusalOf } from "./address_guard.ts";
import { type AnswerHead, parseHead } from "./http_head.ts";
import { SOURCE_LIMITS } from "./limits.ts";
import {
  BrokenConnectionError,
  connectionError,
  reasonOf,
  shownAddress,
  sourceError,
} from "./source_errors.ts";

/** A request. */
export interface HttpRequest {
  readonly method: "GET" | "HEAD";
  readonly url: URL;
  /** Names in lower case. `host` and `connection` are the client's own. */
  readonly headers: Readonly<Record<string, string>>;
}

/** An answer whose head has come. */
export interface HttpResponse {
  readonly status: number;
  /** Names in lower case; values of one name joined with `, `. */
  readonly headers: ReadonlyMap<string, string>;
  readonly url: URL;
  /** The body, asked for once; a piece is good until the next one is asked for. Raises when it breaks off. */
  body(): AsyncIterable<Uint8Array>;
  /** Ends the transfer unless the body has been read to its end. */
  close(): void;
}

/** HTTP and HTTPS. */
export interface HttpClient {
  /** Sends one request; redirects are not followed. */
  request(request: HttpRequest): Promise<HttpResponse>;
}

/** What the client works with. */
export interface HttpClientOptions {
  readonly web: Web;
  readonly timers: Timers;
  readonly signal: AbortSignal;
  readonly allowed: AllowedHosts;
}

/** See the file's head. */
export class WebHttpClient implements HttpClient {
  readonly #options: HttpClientOptions;
  #idle: { readonly key: string; readonly stream: ByteStream } | null = null;
  #current: ByteStream | null = null;

  constructor(options: HttpClientOptions) {
    this.#options = options;
  }

  async request(request: HttpRequest): Promise<HttpResponse> {
    const { url } = request;
    const key = `${url.protocol}//${url.host}`;
    const kept = this.#idle?.key === key ? this.#idle.stream : null;
    if (kept === null) this.#idle?.stream.close();
    this.#idle = null;
    if (kept !== null) {
      try {
        return await this.#exchange(kept, request);
      } catch (thrown) {
        kept.close();
        // The server may have closed a kept connection just now; anything that came of it is an answer.
        if (this.#options.signal.aborted || kept.hasRead) throw thrown;
      }
    }
    const stream = await this.#connect(url);
    try {
      return await this.#exchange(stream, request);
    } catch (thrown) {
      stream.close();
      throw thrown;
    }
  }

  /** Closes what is open. */
  close(): void {
    this.#idle?.stream.close();
    this.#idle = null;
    this.#current?.close();
    this.#current = null;
  }

  async #connect(url: URL): Promise<ByteStream> {
    const { web, signal, allowed } = this.#options;
    const isSecure = url.protocol === "https:";
    if (!isSecure && url.protocol !== "http:") {
      throw sourceError(`cannot read ${shownAddress(url)}: the scheme is not http or https`);
    }
    const { upgradeToTls } = web;
    if (isSecure && upgradeToTls === undefined) {
      throw new DatabaseError(
        SQLSTATE.featureNotSupported,
        `cannot read ${shownAddress(url)}: this server was built without the feature "external-sources-tls"`,
      );
    }
    const port = url.port === "" ? (isSecure ? 443 : 80) : Number(url.port);
    const hostname = url.hostname.replace(/^\[|\]$/g, "");
    const addresses = await this.#addresses(url, hostname);
    let refused: string | null = null;
    let failure: unknown = null;
    for (const address of addresses) {
      const reason = allowed.allows(url.hostname, port) ? null : refusalOf(address);
      if (reason !== null) {
        refused = `${address} is ${reason}`;
        continue;
      }
      const controller = new AbortController();
      let made: NetworkConnection | null = null;
      const opening = (async () => {
        const connection = await web.connect({ address, port, signal: controller.signal });
        // The time was over meanwhile.
        if (controller.signal.aborted) connection.close();
        made = connection;
        if (!isSecure || upgradeToTls === undefined) return connection;
        return made = await upgradeToTls(connection, hostname);
      })();
      try {
        const connection = await this.#timed(
          opening,
          SOURCE_LIMITS.connectMicroseconds,
          "no connection in time",
        );
        return new ByteStream(connection, this.#options, shownAddress(url));
      } catch (thrown) {
        controller.abort();
        (made as NetworkConnection | null)?.close();
        // If it comes after all, it is closed.
        opening.then((late) => late.close(), () => undefined);
        if (signal.aborted) throw signal.reason;
        failure = thrown;
      }
    }
    if (failure !== null) {
      throw connectionError(`cannot connect to ${shownAddress(url)}: ${reasonOf(failure)}`);
    }
    throw new DatabaseError(
      SQLSTATE.insufficientPrivilege,
      `external sources may not be read from "${url.host}"${refused === null ? "" : `: ${refused}`}`,
      { hint: `The operator of the server can allow it: --external-allow ${url.hostname}:${port}` },
    );
  }

  async #addresses(url: URL, hostname: string): Promise<readonly string[]> {
    const isLiteral = hostname.includes(":") || /^\d+\.\d+\.\d+\.\d+$/.test(hostname);
    if (isLiteral) return [hostname];
    try {
      const resolving = this.#options.web.resolve(hostname);
      const addresses = await this.#timed(resolving, SOURCE_LIMITS.connectMicroseconds, "no answer in time");
      if (addresses.length > 0) return addresses;
    } catch (thrown) {
      if (this.#options.signal.aborted) throw this.#options.signal.reason;
      throw connectionError(`cannot find the host of ${shownAddress(url)}: ${reasonOf(thrown)}`);
    }
    throw connectionError(`cannot find the host of ${shownAddress(url)}: it has no address`);
  }

  #timed<T>(work: Promise<T>, microseconds: number, message: string): Promise<T> {
    return timed(work, { ...this.#options, microseconds, failure: () => new Error(message) });
  }

  async #exchange(stream: ByteStream, { method, url, headers }: HttpRequest): Promise<HttpResponse> {
    this.#current = stream;
    const lines = [`${method} ${url.pathname}${url.search} HTTP/1.1`, `host: ${url.host}`];
    for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
    lines.push("connection: keep-alive");
    await stream.write(encodeUtf8(`${lines.join("\r\n")}\r\n\r\n`));
    let head = await readHead(stream, url);
    // Interim answers.
    for (let interim = 0; head.status < 200; interim++) {
      if (interim === 10 || head.status === 101) throw broken(url, "it answers with interim heads only");
      head = await readHead(stream, url);
    }
    const ended = { value: false };
    const hasBody = method !== "HEAD" && head.status !== 204 && head.status !== 304;
    const framing = hasBody ? framingOf(head, url) : { kind: "length" as const, length: 0 };
    const keep = head.keepAlive && framing.kind !== "close";
    const finish = (): void => {
      if (ended.value) return;
      ended.value = true;
      if (keep && this.#idle === null && stream.isEmpty) {
        stream.hasRead = false;
        this.#idle = { key: `${url.protocol}//${url.host}`, stream };
      } else stream.close();
    };
    if (framing.kind === "length" && framing.length === 0) finish();
    return {
      status: head.status,
      headers: head.headers,
      url,
      async *body() {
        if (!ended.value) yield* readBody(stream, framing, url);
        finish();
      },
      close() {
        if (!ended.value) stream.close();
        ended.value = true;
      },
    };
  }
}

/** Bytes of a connection, with a time limit for each read. */
class ByteStream {
  /** Something has come since the last request. */
  hasRead = false;
  readonly #connection: NetworkConnection;
  readonly #options: Pick<HttpClientOptions, "timers" | "signal">;
  readonly #name: string;
  #buffer: Uint8Array = new Uint8Array(SOURCE_LIMITS.readBytes);
  #start = 0;
  #end = 0;
  #isClosed = false;

  constructor(
    connection: NetworkConnection,
    options: Pick<HttpClientOptions, "timers" | "signal">,
    name: string,
  ) {
    this.#connection = connection;
    this.#options = options;
    this.#name = name;
  }

  get isEmpty(): boolean {
    return this.#start === this.#end;
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#guarded(this.#connection.write(bytes));
  }

  /** What is there, at most `limit` bytes; null at the end. Good until the next read. */
  async read(limit = Infinity): Promise<Uint8Array | null> {
    if (this.isEmpty && !await this.#fill()) return null;
    const end = Math.min(this.#end, this.#start + limit);
    const piece = this.#buffer.subarray(this.#start, end);
    this.#start = end;
    return piece;
  }

  /** Bytes up to and with the next line feed; null when the stream ends before. Raises RangeError beyond the limit. */
  async readLine(limit: number): Promise<Uint8Array | null> {
    for (;;) {
      const at = this.#buffer.subarray(this.#start, this.#end).indexOf(10);
      if (at >= 0) {
        const line = this.#buffer.slice(this.#start, this.#start + at + 1);
        this.#start += at + 1;
        if (line.length > limit) throw new RangeError("line too long");
        return line;
      }
      if (this.#end - this.#start > limit) throw new RangeError("line too long");
      if (!await this.#fill()) return null;
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#connection.close();
  }

  /** Reads more behind what is there. */
  async #fill(): Promise<boolean> {
    if (this.#start > 0) {
      this.#buffer.copyWithin(0, this.#start, this.#end);
      this.#end -= this.#start;
      this.#start = 0;
    }
    if (this.#end === this.#buffer.length) {
      const larger = new Uint8Array(this.#buffer.length * 2);
      larger.set(this.#buffer);
      this.#buffer = larger;
    }
    const count = await this.#guarded(this.#connection.read(this.#buffer.subarray(this.#end)));
    if (count === null) return false;
    this.hasRead = true;
    this.#end += count;
    return true;
  }

  async #guarded<T>(work: Promise<T>): Promise<T> {
    const { signal } = this.#options;
    const seconds = SOURCE_LIMITS.idleMicroseconds / 1_000_000;
    try {
      return await timed(work, {
        ...this.#options,
        microseconds: SOURCE_LIMITS.idleMicroseconds,
        failure: () => new Error(`nothing has come for ${seconds} seconds`),
      });
    } catch (thrown) {
      this.close();
      if (signal.aborted) throw signal.reason;
      throw new BrokenConnectionError(`the connection to ${this.#name} failed: ${reasonOf(thrown)}`);
    }
  }
}

/** The work's result, unless the time is over or the statement is canceled before. */
function timed<T>(work: Promise<T>, options: {
  readonly timers: Timers;
  readonly signal: AbortSignal;
  readonly microseconds: number;
  readonly failure: () => Error;
}): Promise<T> {
  const { timers, signal } = options;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      timers.clearTimer(timer);
      reject(signal.reason);
    };
    const timer = timers.setTimer(options.microseconds, () => {
      signal.removeEventListener("abort", onAbort);
      reject(options.failure());
    });
    const settle = (): void => {
      timers.clearTimer(timer);
      signal.removeEventListener("abort", onAbort);
    };
    if (signal.aborted) {
      work.catch(() => undefined);
      return onAbort();
    }
    signal.addEventListener("abort", onAbort, { once: true });
    work.then((value) => {
      settle();
      resolve(value);
    }, (thrown) => {
      settle();
      reject(thrown);
    });
  });
}

function broken(url: URL, what: string): DatabaseError {
  return sourceError(`${shownAddress(url)} does not speak HTTP: ${what}`);
}

async function readHead(stream: ByteStream, url: URL): Promise<AnswerHead> {
  const lines: string[] = [];
  let bytes = 0;
  for (;;) {
    let line: Uint8Array | null;
    try {
      line = await stream.readLine(SOURCE_LIMITS.headBytes - bytes);
    } catch (thrown) {
      if (thrown instanceof RangeError) throw broken(url, "the head of its answer is too long");
      throw thrown;
    }
    if (line === null) {
      throw new BrokenConnectionError(
        bytes === 0
          ? `${shownAddress(url)} closed the connection without an answer`
          : `${shownAddress(url)} closed the connection within the head of its answer`,
      );
    }
    bytes += line.length;
    const text = decodeUtf8(line).replace(/\r?\n$/, "");
    if (text === "") break;
    lines.push(text);
  }
  const head = parseHead(lines);
  if (typeof head === "string") throw broken(url, head);
  return head;
}

/** How the end of a body is found. */
type Framing =
  | { readonly kind: "length"; readonly length: number }
  | { readonly kind: "chunked" }
  | { readonly kind: "close" };

function framingOf(head: AnswerHead, url: URL): Framing {
  const coding = head.headers.get("transfer-encoding");
  if (coding !== undefined) {
    if (coding.trim().toLowerCase() !== "chunked") {
      throw broken(url, `transfer-encoding ${coding.slice(0, 40)}`);
    }
    return { kind: "chunked" };
  }
  const length = head.headers.get("content-length");
  if (length === undefined) return { kind: "close" };
  // Repeated, the same value is allowed.
  const values = new Set(length.split(",").map((each) => each.trim()));
  const [first = ""] = values;
  if (values.size !== 1 || !/^\d{1,15}$/.test(first)) throw broken(url, "its content-length is no number");
  return { kind: "length", length: Number(first) };
}

async function* readBody(stream: ByteStream, framing: Framing, url: URL): AsyncGenerator<Uint8Array, void> {
  const cut = (): DatabaseError =>
    new BrokenConnectionError(`${shownAddress(url)} closed the connection before the end of the data`);
  const exactly = async function* (length: number): AsyncGenerator<Uint8Array, void> {
    for (let left = length; left > 0;) {
      const piece = await stream.read(left);
      if (piece === null) throw cut();
      left -= piece.length;
      yield piece;
    }
  };
  switch (framing.kind) {
    case "length":
      return yield* exactly(framing.length);
    case "close":
      for (let piece = await stream.read(); piece !== null; piece = await stream.read()) yield piece;
      return;
    case "chunked":
  }
  const line = async (): Promise<string> => {
    try {
      const bytes = await stream.readLine(4096);
      if (bytes === null) throw cut();
      return decodeUtf8(bytes).trim();
    } catch (thrown) {
      if (thrown instanceof RangeError) throw broken(url, "a line between chunks is too long");
      throw thrown;
    }
  };
  for (;;) {
    const size = /^([0-9a-f]{1,8})(?:\s*;.*)?$/i.exec(await line())?.[1];
    if (size === undefined) throw broken(url, "the size of a chunk is no number");
    const length = parseInt(size, 16);
    if (length === 0) break;
    yield* exactly(length);
    if (await line() !== "") throw broken(url, "a chunk is longer than it says");
  }
  for (let trailers = 0; await line() !== ""; trailers++) {
    if (trailers === 100) throw broken(url, "too many trailers");
  }
}
