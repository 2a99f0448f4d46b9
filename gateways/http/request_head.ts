/**
 * What the head of a request says: who asks, for what, in which form, and whether it may. Pure, so that the table of
 * statuses can be tested line by line.
 */
import { type IsolationLevel, namedLevel } from "../../engine/transactions/isolation_level.ts";
import { createHash, timingSafeEqual } from "node:crypto";
import { SQLSTATE } from "../../engine/base/errors.ts";
import type { ClientSequence } from "../shared/operation/operation.ts";
import { type ReadFrom, readFromOf } from "../shared/relay_port.ts";
import { httpFailure } from "./failure.ts";

/** The head of a request; header names in lower case. */
export interface RequestHead {
  readonly method: string;
  /** As it is in the request line. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** Where a request goes. */
export type Route = "sql" | "op" | "health" | "metrics" | "ws";

const ROUTES: Readonly<Record<string, { readonly route: Route; readonly methods: readonly string[] }>> = {
  "/v1/sql": { route: "sql", methods: ["POST"] },
  "/v1/op": { route: "op", methods: ["POST"] },
  "/v1/health": { route: "health", methods: ["GET", "HEAD"] },
  "/v1/metrics": { route: "metrics", methods: ["GET", "HEAD"] },
  "/v1/ws": { route: "ws", methods: ["GET"] },
};

const MAX_SEQUENCE = (1n << 64n) - 1n;

/** Compares tokens in a time that tells nothing about them. */
export class TokenCheck {
  readonly #digest: Uint8Array | null;

  constructor(token: string | null) {
    this.#digest = token === null ? null : digestOf(token);
  }

  /** Raises 401 unless the header carries the token, or none is set. */
  require(authorization: string | undefined): void {
    if (this.#digest === null) return;
    const match = /^bearer +(\S+) *$/i.exec(authorization ?? "");
    if (match !== null && timingSafeEqual(digestOf(match[1] ?? ""), this.#digest)) return;
    throw httpFailure(
      401,
      SQLSTATE.invalidAuthorizationSpecification,
      authorization === undefined ? "a token is needed" : "the token is wrong",
      { hint: "Send it as: Authorization: Bearer <token>", headers: { "WWW-Authenticate": "Bearer" } },
    );
  }
}

function digestOf(text: string): Uint8Array {
  return createHash("sha256").update(text, "utf8").digest();
}

/** The path of a target, without the query. */
export function pathOf(target: string): string {
  const end = target.search(/[?#]/);
  return end < 0 ? target : target.slice(0, end);
}

/** The path by which a request is counted: its own when something is there, else `other`. */
export function countedPath(head: RequestHead): string {
  const path = pathOf(head.target);
  return Object.hasOwn(ROUTES, path) ? path : "other";
}

/** Where the request goes. Raises 401, 404 and 405, in this order. */
export function routeOf(head: RequestHead, tokens: TokenCheck): Route {
  const path = pathOf(head.target);
  if (path !== "/v1/health") tokens.require(headerOf(head, "authorization"));
  const found = Object.hasOwn(ROUTES, path) ? ROUTES[path] : undefined;
  if (found === undefined) {
    throw httpFailure(404, SQLSTATE.protocolViolation, `there is nothing at ${path}`, {
      hint: `There are ${Object.keys(ROUTES).join(", ")}.`,
    });
  }
  if (!found.methods.includes(head.method)) {
    throw httpFailure(405, SQLSTATE.protocolViolation, `${path} does not take ${head.method}`, {
      headers: { Allow: found.methods.join(", ") },
    });
  }
  return found.route;
}

/** The content type, one of those accepted. Raises 415. */
export function contentTypeOf<Accepted extends string>(
  head: RequestHead,
  accepted: readonly Accepted[],
): Accepted {
  const header = headerOf(head, "content-type");
  const [type = "", ...parameters] = (header ?? "").split(";").map((part) => part.trim().toLowerCase());
  const found = accepted.find((each) => each === type);
  const charset = parameters.find((parameter) => parameter.startsWith("charset="));
  const encoding = headerOf(head, "content-encoding")?.toLowerCase() ?? "identity";
  if (found === undefined || !/^(charset="?utf-?8"?)?$/.test(charset ?? "") || encoding !== "identity") {
    throw httpFailure(
      415,
      SQLSTATE.protocolViolation,
      header === undefined ? "a Content-Type is needed" : `the content type "${header}" is not accepted here`,
      {
        hint: `Send ${accepted.join(" or ")} in UTF-8, not compressed.`,
        headers: { Accept: accepted.join(", ") },
      },
    );
  }
  return found;
}

/** Where the request is to read. Raises 400 for anything but `primary` and `follower`. */
export function readFromHeader(head: RequestHead): ReadFrom {
  return readFromOf(headerOf(head, "x-db-read-from") ?? "primary", "X-Db-Read-From");
}

/** The op that the request is to see, which an answer's `X-Db-Op` told; 0: any. Raises 400. */
export function minOpHeader(head: RequestHead): number {
  const text = headerOf(head, "x-db-min-op") ?? "0";
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw httpFailure(400, SQLSTATE.protocolViolation, "X-Db-Min-Op must be a decimal number");
}

/** Whether an answer may lack the rows of shards that take too long. Raises 400. */
export function partialHeader(head: RequestHead): boolean {
  const text = headerOf(head, "x-db-partial-on-timeout") ?? "off";
  if (text === "on" || text === "off") return text === "on";
  throw httpFailure(400, SQLSTATE.protocolViolation, 'X-Db-Partial-On-Timeout must be "on" or "off"');
}

/** The isolation level that the request asks for; null: none. Raises 400. */
export function isolationHeader(head: RequestHead): IsolationLevel | null {
  const text = headerOf(head, "x-db-isolation");
  if (text === undefined) return null;
  const level = namedLevel(text);
  if (level !== undefined) return level;
  const message = "X-Db-Isolation must be read-committed, repeatable-read or serializable";
  throw httpFailure(400, SQLSTATE.protocolViolation, message);
}

/** The exactly-once headers, or null when there are none. Raises 400 for one without the other and for bad ones. */
export function clientSequenceOf(head: RequestHead): ClientSequence | null {
  const clientId = headerOf(head, "x-db-client-id");
  const sequence = headerOf(head, "x-db-req-seq");
  if (clientId === undefined && sequence === undefined) return null;
  if (clientId === undefined || sequence === undefined) {
    throw httpFailure(
      400,
      SQLSTATE.protocolViolation,
      `${clientId === undefined ? "X-Db-Req-Seq" : "X-Db-Client-Id"} needs ${
        clientId === undefined ? "X-Db-Client-Id" : "X-Db-Req-Seq"
      } beside it`,
    );
  }
  if (!/^[0-9a-f]{32}$/.test(clientId)) {
    throw httpFailure(
      400,
      SQLSTATE.protocolViolation,
      "X-Db-Client-Id must be 32 lower-case hexadecimal digits",
    );
  }
  if (!/^\d{1,20}$/.test(sequence) || BigInt(sequence) > MAX_SEQUENCE) {
    throw httpFailure(400, SQLSTATE.protocolViolation, "X-Db-Req-Seq must be a decimal number below 2^64");
  }
  return { clientId, sequence: BigInt(sequence) };
}

/** Whether the answer is wanted as NDJSON: it is named and not ranked below JSON. */
export function wantsLines(head: RequestHead): boolean {
  let lines = 0, object = 0;
  for (const range of (headerOf(head, "accept") ?? "").split(",")) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const quality = Number(parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? 1);
    if (type === "application/x-ndjson") lines = quality;
    else if (type === "application/json") object = quality;
  }
  return lines > 0 && lines >= object;
}

/** A header; several of one name are joined. */
export function headerOf(head: RequestHead, name: string): string | undefined {
  const value = head.headers[name];
  return typeof value === "string" || value === undefined ? value : value.join(", ");
}
