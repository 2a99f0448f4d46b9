/**
 * Reads an object of a store in ranges. What the stores have in common: HEAD for size and version, ranges of that
 * version only, and attempts after throttling, failures of the server and connections that break off.
 *
 * Invariant: all bytes are of one version of the object: every range is asked for with If-Match, and an object that has
 * been changed meanwhile ends the reading with an error.
 */
import type { DatabaseError } from "../../base/errors.ts";
import { decodeUtf8 } from "../../base/bytes.ts";
import { attempted, PassingError, passingFailure, passingStatus } from "../attempts.ts";
import type { HttpResponse } from "../http_client.ts";
import { sourceError } from "../source_errors.ts";
import type { OpenContext, SourceBytes } from "../source_reader.ts";
import { STORE_LIMITS } from "./limits.ts";

/** A store's way of asking for an object. */
export interface ObjectAddress {
  /** Names the object in messages: `s3://bucket/key`. */
  readonly name: string;
  readonly url: URL;
  /** The headers of a request, signed for this moment. */
  headers(method: "GET" | "HEAD", headers: Readonly<Record<string, string>>): Record<string, string>;
  /** What can be done about an answer, as far as the store says. */
  hint(response: HttpResponse): string | undefined;
}

interface Version {
  readonly size: number;
  readonly etag: string | null;
}

/** Opens an object. Raises HV000 and HV00N. */
export async function openObject(address: ObjectAddress, context: OpenContext): Promise<SourceBytes> {
  const reader = new ObjectReader(address, context);
  const version = await reader.head();
  const range = (start: number, end: number): Promise<Uint8Array> => reader.range(version, start, end);
  return {
    name: address.name,
    size: version.size,
    async *chunks() {
      for (let at = 0; at < version.size; at += STORE_LIMITS.pieceBytes) {
        yield await range(at, Math.min(version.size, at + STORE_LIMITS.pieceBytes));
      }
    },
    range,
    nextLink: null,
    close: () => undefined,
  };
}

class ObjectReader {
  readonly #address: ObjectAddress;
  readonly #context: OpenContext;

  constructor(address: ObjectAddress, context: OpenContext) {
    this.#address = address;
    this.#context = context;
  }

  /** The object's size and version. */
  head(): Promise<Version> {
    return attempted(async () => {
      const response = await this.#send("HEAD", {});
      if (response.status !== 200) throw await this.#refused(response);
      response.close();
      const length = response.headers.get("content-length") ?? "";
      if (!/^\d{1,15}$/.test(length)) {
        throw sourceError(`${this.#address.name}: the store does not say its size`);
      }
      return { size: Number(length), etag: response.headers.get("etag") ?? null };
    }, this.#context);
  }

  /** Bytes of a version. */
  range({ size, etag }: Version, start: number, end: number): Promise<Uint8Array> {
    if (start === end) return Promise.resolve(new Uint8Array(0));
    return attempted(async () => {
      const response = await this.#send("GET", {
        range: `bytes=${start}-${end - 1}`,
        ...(etag === null ? {} : { "if-match": etag }),
      });
      const { name } = this.#address;
      const isWhole = response.status === 200 && start === 0 && end === size;
      if (response.status !== 206 && !isWhole) {
        if (response.status === 200) {
          response.close();
          throw sourceError(`${name}: the store does not serve ranges`);
        }
        throw await this.#refused(response);
      }
      const answered = response.headers.get("content-range");
      const said = answered === undefined ? null : /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(answered);
      const isOther = etag !== null && (response.headers.get("etag") ?? etag) !== etag;
      const isElsewhere = !isWhole &&
        (said === null || Number(said[1]) !== start || Number(said[2]) !== end - 1);
      const hasOtherSize = said !== null && said[3] !== "*" && Number(said[3]) !== size;
      if (isOther || isElsewhere || hasOtherSize) {
        response.close();
        throw isElsewhere && !isOther && !hasOtherSize
          ? sourceError(`${name}: the store answers with another range than was asked for`)
          : changed(name);
      }
      return await this.#body(response, end - start);
    }, this.#context);
  }

  async #body(response: HttpResponse, length: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(length);
    let at = 0;
    try {
      for await (const piece of response.body()) {
        const size = Math.min(piece.length, length - at);
        bytes.set(piece.subarray(0, size), at);
        at += piece.length;
        if (at > length) break;
      }
    } catch (thrown) {
      throw passingFailure(thrown, this.#context);
    } finally {
      response.close();
    }
    if (at > length) throw sourceError(`${this.#address.name}: a range is longer than was asked for`);
    if (at < length) {
      throw new PassingError(sourceError(`${this.#address.name}: a range is shorter than was asked for`));
    }
    return bytes;
  }

  async #send(method: "GET" | "HEAD", headers: Readonly<Record<string, string>>): Promise<HttpResponse> {
    const { url } = this.#address;
    try {
      return await this.#context.http.request({
        method,
        url,
        headers: this.#address.headers(method, {
          "accept-encoding": "identity",
          "user-agent": "dbd",
          ...headers,
        }),
      });
    } catch (thrown) {
      throw passingFailure(thrown, this.#context);
    }
  }

  /** The error of an answer that is not the one asked for. */
  async #refused(response: HttpResponse): Promise<unknown> {
    const { status } = response;
    const { name } = this.#address;
    const explanation = await explanationOf(response);
    const said = explanation === undefined ? "" : ` (${explanation})`;
    if (status === 412) return changed(name);
    const hint = this.#address.hint(response) ??
      (status === 401 || status === 403
        ? "See AUTH, and the environment variables that it names."
        : undefined);
    const message = status === 404
      ? `${name} does not exist${said}`
      : status >= 300 && status < 400
      ? `${name} is answered with a redirect, status ${status}${said}, which is not followed`
      : `${name}: the store answers with status ${status}${said}`;
    const error = sourceError(message, hint === undefined ? {} : { hint });
    return passingStatus(response, error);
  }
}

function changed(name: string): DatabaseError {
  return sourceError(`${name} was changed while it was read`, { hint: "Run the REFRESH again." });
}

/** The store's own code of an error, of the header (Azure) or the body (XML); undefined when it says none. */
async function explanationOf(response: HttpResponse): Promise<string | undefined> {
  const header = response.headers.get("x-ms-error-code");
  if (header !== undefined && /^[A-Za-z]{1,80}$/.test(header)) {
    response.close();
    return header;
  }
  let text = "";
  try {
    for await (const piece of response.body()) {
      text += decodeUtf8(piece);
      if (text.length > STORE_LIMITS.explanationBytes) break;
    }
  } catch {
    // What the answer means is known without the explanation.
  } finally {
    response.close();
  }
  return /<Code>([A-Za-z.]{1,80})<\/Code>/.exec(text)?.[1];
}
