/**
 * Messages of the Model Context Protocol as lines over two streams of bytes, as it has them on standard input and
 * output.
 *
 * What is no message is answered with an error without an id, and the next line is read: one bad line never ends a
 * session. A line is held only up to `LANG_LIMITS.maximumMcpMessageBytes`; the rest of a longer one is dropped as it
 * comes. Requests beyond `LANG_LIMITS.mcpRequestsInFlight` are refused at once. Reading waits for its own refusals to
 * be written, so a client that sends without reading stops itself. When the input ends, what was asked before is
 * still answered, for a while.
 */
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { LANG_LIMITS } from "../../limits.ts";

/** The implementation of the protocol. */
type Sdk = typeof import("./sdk.ts");

/** Codes of JSON-RPC 2.0, and one of the range that is left to servers. */
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const TOO_MANY_REQUESTS = -32_000;

const NEWLINE = 0x0a;

/** Where lines come from and go to. */
export interface LineStreams {
  readonly input: ReadableStream<Uint8Array>;
  /** Writes all bytes, and is done when they are out. */
  readonly write: (bytes: Uint8Array) => Promise<void>;
  /** Done when answers are not waited for any longer, called when the input has ended. */
  readonly farewell: () => Promise<void>;
}

/** What a connection may hold; smaller in tests. */
export interface LineLimits {
  readonly maximumBytes: number;
  readonly maximumInFlight: number;
}

/** A connection that speaks in lines. */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #sdk: Sdk;
  readonly #streams: LineStreams;
  readonly #limits: LineLimits;
  readonly #inFlight = new Set<string | number>();
  readonly #ended = Promise.withResolvers<void>();
  /** Called when the last waiting request is answered. */
  #onAnswered: () => void = () => {};
  #reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  #writing: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(
    sdk: Sdk,
    streams: LineStreams,
    limits: LineLimits = {
      maximumBytes: LANG_LIMITS.maximumMcpMessageBytes,
      maximumInFlight: LANG_LIMITS.mcpRequestsInFlight,
    },
  ) {
    this.#sdk = sdk;
    this.#streams = streams;
    this.#limits = limits;
  }

  /** Done when the connection is closed and everything is written. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  // deno-lint-ignore require-await
  async start(): Promise<void> {
    if (this.#reader !== null) throw new Error("Cannot start the connection: it was started");
    this.#reader = this.#streams.input.getReader();
    this.#read(this.#reader).then(() => this.#answered()).catch((error: unknown) =>
      this.onerror?.(asError(error))
    ).finally(() => this.close());
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error("Cannot send the message: the connection is closed"));
    if (
      (this.#sdk.isJSONRPCResultResponse(message) || this.#sdk.isJSONRPCErrorResponse(message)) &&
      message.id !== undefined
    ) {
      this.#inFlight.delete(message.id);
    }
    const written = this.#write(message);
    if (this.#inFlight.size === 0) this.#onAnswered();
    return written;
  }

  /** Waits until everything that was asked is answered, or the time for that is over. */
  async #answered(): Promise<void> {
    if (this.#inFlight.size === 0 || this.#isClosed) return;
    const answered = new Promise<void>((resolve) => this.#onAnswered = resolve);
    await Promise.race([answered, this.#streams.farewell()]);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#reader?.cancel().catch(() => {});
    this.onclose?.();
    // Who cannot be written to any more has closed the connection himself.
    await this.#writing.catch(() => {});
    this.#ended.resolve();
  }

  #write(message: unknown): Promise<void> {
    const bytes = new TextEncoder().encode(`${JSON.stringify(message)}\n`);
    const written = this.#writing.then(() => this.#streams.write(bytes));
    this.#writing = written.catch(() => {});
    return written;
  }

  async #read(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    let parts: Uint8Array[] = [];
    let length = 0;
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      let rest = chunk.value;
      for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
        length += end;
        if (length <= this.#limits.maximumBytes) await this.#take(joined(parts, rest.subarray(0, end)));
        else await this.#refuseLength();
        [parts, length] = [[], 0];
        rest = rest.subarray(end + 1);
        if (this.#isClosed) return;
      }
      length += rest.length;
      if (length > this.#limits.maximumBytes) parts = [];
      else if (rest.length > 0) parts.push(rest);
    }
    // A last line without an end is taken as well.
    if (length > this.#limits.maximumBytes) await this.#refuseLength();
    else if (length > 0) await this.#take(joined(parts, new Uint8Array()));
  }

  async #take(line: Uint8Array): Promise<void> {
    let value: unknown;
    try {
      const text = new TextDecoder("utf-8", { fatal: true }).decode(line).trim();
      if (text === "") return;
      value = JSON.parse(text);
    } catch {
      return await this.#refuse(null, PARSE_ERROR, "Cannot read the message: the line is no JSON in UTF-8");
    }
    let message: JSONRPCMessage;
    try {
      message = this.#sdk.parseJSONRPCMessage(value);
    } catch {
      return await this.#refuse(null, INVALID_REQUEST, "Cannot take the message: it is none of JSON-RPC 2.0");
    }
    if (this.#sdk.isJSONRPCRequest(message)) {
      if (this.#inFlight.size >= this.#limits.maximumInFlight) {
        return await this.#refuse(
          message.id,
          TOO_MANY_REQUESTS,
          `Cannot take the request: ${this.#limits.maximumInFlight} others wait for their answers`,
        );
      }
      if (this.#inFlight.has(message.id)) {
        return await this.#refuse(message.id, INVALID_REQUEST, "Cannot take the request: its id is in use");
      }
      this.#inFlight.add(message.id);
    }
    if (this.#sdk.isJSONRPCNotification(message) && message.method === "notifications/cancelled") {
      // Who cancels gets no answer.
      const id = message.params?.["requestId"];
      if (typeof id === "string" || typeof id === "number") this.#inFlight.delete(id);
    }
    this.onmessage?.(message);
  }

  async #refuseLength(): Promise<void> {
    await this.#refuse(
      null,
      INVALID_REQUEST,
      `Cannot take the message: it is longer than ${this.#limits.maximumBytes} bytes`,
    );
  }

  async #refuse(id: string | number | null, code: number, message: string): Promise<void> {
    await this.#write({ jsonrpc: "2.0", id, error: { code, message } });
  }
}

function joined(parts: readonly Uint8Array[], last: Uint8Array): Uint8Array {
  if (parts.length === 0) return last;
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, last.length));
  let at = 0;
  for (const part of [...parts, last]) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function asError(value: unknown): Error {
  return value instanceof Error ? value : new Error(String(value));
}
