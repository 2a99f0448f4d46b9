/**
 * One HTTP request and its answer: the body in, within its limit; the reply out, as a whole or line by line.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { SQLSTATE } from "../../engine/base/errors.ts";
import type { Session } from "../../engine/session/session.ts";
import type { OpNumber } from "../../engine/operations/effect.ts";
import { type HttpFailure, httpFailure } from "./failure.ts";
import type { LineTarget } from "./json_sink.ts";
import { failureBody } from "./failure.ts";

/** A whole answer. */
export interface HttpReply {
  readonly status: number;
  readonly contentType: string;
  readonly body: Uint8Array | string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Content types of answers. */
export const JSON_TYPE = "application/json";
/** The same for line by line. */
export const LINES_TYPE = "application/x-ndjson";

/** Lines that wait for the client or the disk beyond this make the statement wait. */
const FULL_BYTES = 1 << 20;

/** The header that tells which op the state of an answer has at least: a read elsewhere can wait for it. */
export function opHeader(op: number): Readonly<Record<string, string>> {
  return { "X-Db-Op": String(op) };
}

/** Reads the body. Raises 413 as soon as it is certain that the body is too long; 400 when it breaks off. */
export function readBody(request: IncomingMessage, maximumBytes: number): Promise<Uint8Array> {
  const tooLong = (): HttpFailure =>
    httpFailure(413, SQLSTATE.programLimitExceeded, `the body is longer than ${maximumBytes} bytes`, {
      hint: "Send the data in several requests, or load it with COPY through dbcli or a PostgreSQL client.",
    });
  const announced = Number(request.headers["content-length"] ?? 0);
  if (announced > maximumBytes) return Promise.reject(tooLong());
  return new Promise((resolve, reject) => {
    const parts: Uint8Array[] = [];
    let length = 0;
    request.on("data", (part: Uint8Array) => {
      length += part.length;
      if (length > maximumBytes) {
        parts.length = 0;
        reject(tooLong());
      } else parts.push(part);
    });
    request.on("end", () => resolve(joined(parts, Math.min(length, maximumBytes))));
    const broken = (): void =>
      reject(httpFailure(400, SQLSTATE.connectionException, "the request ended before its body did"));
    request.on("error", broken);
    request.on("close", broken);
    // A request that waited for its turn may have lost its connection meanwhile.
    if (request.destroyed || request.socket.destroyed) broken();
  });
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) {
    return new Uint8Array(first.buffer, first.byteOffset, first.byteLength);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Sends a whole answer. */
export function sendReply(response: ServerResponse, reply: HttpReply): void {
  if (response.destroyed || response.headersSent) return;
  const length = typeof reply.body === "string"
    ? new TextEncoder().encode(reply.body).length
    : reply.body.length;
  response.writeHead(reply.status, {
    "Content-Type": reply.contentType,
    "Content-Length": length,
    "Cache-Control": "no-store",
    ...reply.headers,
  });
  response.end(reply.body);
}

/** The answer to a failure. */
export function failureReply(failure: HttpFailure): HttpReply {
  return {
    status: failure.status,
    contentType: JSON_TYPE,
    body: failureBody(failure.error),
    headers: failure.headers,
  };
}

/** Sends lines while a statement runs, each part once what it can have read is durable. */
export class LineStream implements LineTarget {
  readonly #response: ServerResponse;
  readonly #session: Session;
  #tail: Promise<void> = Promise.resolve();
  #waitingBytes = 0;
  #hasBegun = false;

  constructor(response: ServerResponse, session: Session) {
    this.#response = response;
    this.#session = session;
  }

  /** Whether the status has been decided already: success. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get isFull(): boolean {
    return this.#waitingBytes > FULL_BYTES;
  }

  /** Resolves when all lines so far have been taken by the client's system. */
  drained(): Promise<void> {
    return this.#tail;
  }

  sendLines(bytes: Uint8Array<ArrayBuffer>): void {
    this.#push(bytes, this.#session.engine.lastOp, false);
  }

  /** The last lines. */
  end(bytes: Uint8Array | string, op: OpNumber): Promise<void> {
    const last = typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes;
    this.#push(last, op, true);
    return this.#tail;
  }

  #push(bytes: Uint8Array, op: OpNumber, isLast: boolean): void {
    this.#hasBegun = true;
    this.#waitingBytes += bytes.length;
    this.#tail = this.#tail.then(() => this.#write(bytes, op, isLast)).finally(() => {
      this.#waitingBytes -= bytes.length;
    });
  }

  async #write(bytes: Uint8Array, op: OpNumber, isLast: boolean): Promise<void> {
    if (op > this.#session.engine.durableOp) await this.#session.whenDurable(op);
    const response = this.#response;
    if (response.destroyed) return;
    if (!response.headersSent) {
      response.writeHead(200, {
        "Content-Type": LINES_TYPE,
        "Cache-Control": "no-store",
        ...opHeader(isLast ? Math.max(op, this.#session.need.seenOp) : op),
      });
    }
    if (isLast) {
      response.end(bytes);
      return;
    }
    if (response.write(bytes)) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        response.removeListener("drain", done);
        response.removeListener("close", done);
        resolve();
      };
      response.on("drain", done);
      response.on("close", done);
    });
  }
}
