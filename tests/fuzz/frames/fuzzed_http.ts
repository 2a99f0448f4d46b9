/** HTTP under damaged heads and bodies; several requests on a connection. */
import { startHttpServer } from "../../../gateways/http/server.ts";
import { type FuzzedServer, joined, openFuzzedEngine, type Verdict, verdictOn } from "./fuzzed_server.ts";
import { bareFrame, type Frame } from "./mutation.ts";
import { ENCODED_REQUESTS } from "./operations.ts";

const encoder = new TextEncoder();
const latin1 = new TextDecoder("latin1");

interface RequestParts {
  readonly line?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** A request whose length follows its body. */
function post({ line = "POST /v1/sql", headers = {}, body = "" }: RequestParts): Frame {
  const all = { Host: "x", "Content-Type": "text/plain", ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return {
    body: typeof body === "string" ? encoder.encode(body) : body,
    wrap: (bytes) =>
      joined([encoder.encode(`${line} HTTP/1.1\r\n${lines}Content-Length: ${bytes.length}\r\n\r\n`), bytes]),
  };
}

const json = { "Content-Type": "application/json" };
const get = (target: string): Frame => bareFrame(encoder.encode(`GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`));
const text = (body: string, headers: Readonly<Record<string, string>> = {}): Frame => post({ headers, body });

const CONVERSATIONS: readonly (readonly Frame[])[] = [
  [
    text("SELECT id, name, amount, made, data, list FROM t ORDER BY id"),
    text("INSERT INTO t (id) VALUES (80); DELETE FROM t WHERE id = 80"),
    text("SELECT * FROM t", { Accept: "application/x-ndjson" }),
    text("UPDATE t SET name = 'one' WHERE id = 1", {
      "X-Db-Client-Id": "0123456789abcdef0123456789abcdef",
      "X-Db-Req-Seq": "1",
    }),
    get("/v1/health"),
  ],
  [
    post({
      headers: json,
      body: '{"sql":"SELECT $1::int + $2::numeric AS n, $3::text","params":[1,2.50,"a"]}',
    }),
    post({ headers: json, body: '{"sql":"SELECT $1::jsonb, $2::int[]","params":[{"a":[1,null]},[1,null]]}' }),
    post({
      line: "POST /v1/op",
      headers: json,
      body:
        '{"op":"select","table":"t","columns":["id"],"where":[{"column":"id","operator":">","value":0}],"order":[{"column":"id","descending":true}],"limit":5}',
    }),
    post({ line: "POST /v1/op", headers: json, body: '{"op":"get","table":"t","id":1}' }),
  ],
  ENCODED_REQUESTS[0]?.map((body) =>
    post({ line: "POST /v1/op", headers: { "Content-Type": "application/octet-stream" }, body })
  ) ?? [],
  [
    bareFrame(encoder.encode(
      "POST /v1/sql HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n" +
        "6\r\nSELECT\r\n4;x=y\r\n 1+1\r\n0\r\nTrailer: x\r\n\r\n",
    )),
    bareFrame(encoder.encode(
      "POST /v1/sql HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 8\r\nExpect: 100-continue\r\n\r\nSELECT 1",
    )),
    get("/v1/metrics"),
    bareFrame(encoder.encode("GET /v1/health HTTP/1.0\r\n\r\n")),
  ],
];

/** Empty lines, which end a body that the damage has made longer and mean nothing otherwise; and the last request. */
const GOODBYE = encoder.encode(
  "\r\n".repeat(1000) + "GET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
);

/** Starts one. */
export async function openFuzzedHttp(): Promise<FuzzedServer> {
  const engine = await openFuzzedEngine();
  const internalErrors: unknown[] = [];
  const server = await startHttpServer({
    engine,
    address: { hostname: "127.0.0.1", port: 0 },
    token: null,
    version: "0.0.0",
    onInternalError: (error) => internalErrors.push(error),
  });
  const { port } = server.address;
  const ask = async (body: string): Promise<{ readonly status: number; readonly text: string }> => {
    const response = await fetch(`http://127.0.0.1:${port}/v1/sql`, {
      method: "POST",
      headers: { "Content-Type": "text/plain" },
      body,
    });
    return { status: response.status, text: await response.text() };
  };
  return {
    port,
    engine,
    internalErrors,
    conversations: CONVERSATIONS,
    goodbye: GOODBYE,
    judge,
    ping: async () => {
      const { text } = await ask("SELECT 6 * 7");
      if (!/"rows":\[\{[^}]*:42\}\]|"value":42/.test(text)) {
        throw new Error(`SELECT 6 * 7 was answered with ${text}`);
      }
    },
    run: async (sql) => {
      // A session lives for one request, so that the limit has to come with it.
      const { status, text } = await ask(`SET statement_timeout = '200ms'; ${sql}`);
      const answer = JSON.parse(text);
      if (status === 200 && answer.status === "ok") return null;
      if (typeof answer.code !== "string") throw new Error(`${status} without a code: ${text}`);
      return answer.code;
    },
    [Symbol.asyncDispose]: async () => {
      await server.close(0);
      await engine.close();
    },
  };
}

/** Answers one after the other, each with a status that is meant for it; failures have their object. */
export function judge(received: Uint8Array, isCut: boolean): Verdict {
  const outcomes: string[] = [];
  for (let at = 0; at < received.length;) {
    const response = readResponse(received, at);
    if (typeof response === "string") return { problem: isCut ? null : response, outcomes };
    at = response.end;
    const { status, body } = response;
    outcomes.push(String(status));
    if (status === 100 || status < 400) continue;
    if (status === 500) return { problem: `a client was answered 500: ${body}`, outcomes };
    let code: unknown;
    try {
      code = JSON.parse(body).code;
    } catch {
      return { problem: `${status} without a failure object: ${body}`, outcomes };
    }
    if (typeof code !== "string") return { problem: `${status} without a code: ${body}`, outcomes };
    outcomes.push(code);
  }
  return verdictOn(outcomes.length === 0 ? ["no answer"] : outcomes);
}

interface Response {
  readonly status: number;
  readonly body: string;
  readonly end: number;
}

/** One response of the stream, or what is wrong with it. */
export function readResponse(received: Uint8Array, start: number): Response | string {
  const rest = latin1.decode(received.subarray(start));
  const headEnd = rest.indexOf("\r\n\r\n");
  const match = /^HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n/.exec(rest);
  if (headEnd < 0 || match === null) return `no response: ${JSON.stringify(rest.slice(0, 200))}`;
  const head = rest.slice(0, headEnd + 2);
  const status = Number(match[1]);
  const bodyStart = headEnd + 4;
  if (status === 100 || status === 101) return { status, body: "", end: start + bodyStart };
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(head)?.[1];
  if (length !== undefined) {
    const bodyEnd = bodyStart + Number(length);
    if (rest.length < bodyEnd) return "the answer ends within a body";
    return { status, body: rest.slice(bodyStart, bodyEnd), end: start + bodyEnd };
  }
  if (!/\r\ntransfer-encoding: chunked\r\n/i.test(head)) {
    // To a request of HTTP 1.0 the end of the connection is the end of the body.
    return { status, body: rest.slice(bodyStart), end: received.length };
  }
  let body = "";
  for (let at = bodyStart;;) {
    const lineEnd = rest.indexOf("\r\n", at);
    const size = lineEnd < 0 ? NaN : parseInt(rest.slice(at, lineEnd), 16);
    if (!Number.isInteger(size)) return "the answer ends within a chunk";
    at = lineEnd + 2;
    if (rest.length < at + size + 2) return "the answer ends within a chunk";
    body += rest.slice(at, at + size);
    at += size + 2;
    if (size === 0) return { status, body, end: start + at };
  }
}
