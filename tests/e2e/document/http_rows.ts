/** Sections 4 and 5 of the document: the HTTP gateway and WebSocket. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { ask, type DocumentRow, type DocumentServer } from "./row.ts";

/** A row about one request: its status, and what the headers and the text must look like. */
function request(
  name: string,
  path: string,
  init: RequestInit & { readonly isAnonymous?: boolean },
  expected: { readonly status: number; readonly text?: RegExp; readonly header?: readonly [string, RegExp] },
): DocumentRow {
  return {
    name,
    check: async ({ http, token }) => {
      const headers = new Headers(init.headers);
      if (init.isAnonymous !== true) headers.set("authorization", `Bearer ${token}`);
      const response = await fetch(`${http}${path}`, { ...init, headers });
      const text = await response.text();
      strictEqual(response.status, expected.status, text);
      if (expected.text !== undefined) match(text, expected.text);
      if (expected.header !== undefined) {
        match(response.headers.get(expected.header[0]) ?? "", expected.header[1]);
      }
    },
  };
}

const text = { "content-type": "text/plain" };

/** The gateway. */
export const HTTP_ROWS: readonly DocumentRow[] = [
  request("POST /v1/sql", "/v1/sql", { method: "POST", headers: text, body: "SELECT 1 AS a" }, {
    status: 200,
    text: /^\{"status":"ok","rows":\[\{"a":1\}\]\}\n$/,
  }),
  request("parameters in JSON", "/v1/sql", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"sql":"SELECT $1::int + 1 AS a","params":[41]}',
  }, { status: 200, text: /"a":42/ }),
  request("rows as NDJSON", "/v1/sql", {
    method: "POST",
    headers: { ...text, accept: "application/x-ndjson" },
    body: "SELECT 1 AS a",
  }, { status: 200, text: /^\{"status":"ok","columns":.*\n\{"a":1\}\n\{"status":"ok","count":1\}\n$/ }),
  request("bad SQL is 400", "/v1/sql", { method: "POST", headers: text, body: "SELEC 1" }, {
    status: 400,
    text: /"code":"42601"/,
  }),
  request("no token is 401", "/v1/sql", {
    method: "POST",
    headers: text,
    body: "SELECT 1",
    isAnonymous: true,
  }, {
    status: 401,
    text: /28000/,
    header: ["www-authenticate", /^Bearer/],
  }),
  request("no token is 401 on any path", "/nowhere", { isAnonymous: true }, { status: 401 }),
  request("unknown path is 404", "/nowhere", {}, { status: 404, text: /08P01/ }),
  request("wrong method is 405", "/v1/sql", { method: "GET" }, { status: 405, header: ["allow", /POST/] }),
  request("wrong content type is 415", "/v1/sql", {
    method: "POST",
    headers: { "content-type": "text/html" },
    body: "SELECT 1",
  }, { status: 415 }),
  request("body over 8 MiB is 413", "/v1/sql", { method: "POST", headers: text, body: "-".repeat(9 << 20) }, {
    status: 413,
    text: /54000/,
  }),
  request("GET /v1/health needs no token", "/v1/health", { isAnonymous: true }, {
    status: 200,
    text: /"status":"ok","role":"single","view":0,"op_number":\d+,"version":/,
  }),
  request("GET /v1/metrics", "/v1/metrics", {}, {
    status: 200,
    text: /^# HELP /,
    header: ["content-type", /version=0\.0\.4/],
  }),
  request("/v1/metrics needs the token", "/v1/metrics", { isAnonymous: true }, { status: 401 }),
  request("/v1/op takes JSON", "/v1/op", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"op":"list_tables"}',
  }, { status: 200 }),
  {
    name: "X-Db-Client-Id and X-Db-Req-Seq: exactly once",
    check: async (server) => {
      await ask(server, "CREATE TABLE IF NOT EXISTS doc_once (a I64)");
      const headers = { "x-db-client-id": "0123456789abcdef0123456789abcdef", "x-db-req-seq": "1" };
      const first = await ask(server, "INSERT INTO doc_once VALUES (1)", headers);
      deepStrictEqual(await ask(server, "INSERT INTO doc_once VALUES (1)", headers), first);
      strictEqual((await ask(server, "SELECT count(*) FROM doc_once")).body.value, 1);
      strictEqual((await ask(server, "INSERT INTO doc_once VALUES (2)", headers)).status, 400);
    },
  },
  {
    name: "one exactly-once header without the other is 400",
    check: async (server) =>
      strictEqual((await ask(server, "SELECT 1", { "x-db-req-seq": "1" })).status, 400),
  },
];

/** A WebSocket that shows the token as a client of the standard API cannot: by a raw handshake. */
async function handshake(
  { http, token }: DocumentServer,
  headers: Readonly<Record<string, string>>,
): Promise<{ status: number; head: string }> {
  const { hostname, port } = new URL(http);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  const lines = [
    "GET /v1/ws HTTP/1.1",
    `Host: ${hostname}:${port}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ...Object.entries({ "Sec-WebSocket-Version": "13", Authorization: `Bearer ${token}`, ...headers })
      .flatMap(([name, value]) => value === "" ? [] : [`${name}: ${value}`]),
  ];
  await connection.write(new TextEncoder().encode(lines.join("\r\n") + "\r\n\r\n"));
  const buffer = new Uint8Array(4096);
  const count = await connection.read(buffer) ?? 0;
  const head = new TextDecoder().decode(buffer.subarray(0, count));
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), head };
}

const subprotocol = { "Sec-WebSocket-Protocol": "db-op-v1" };

/** The WebSocket. */
export const WEBSOCKET_ROWS: readonly DocumentRow[] = [
  {
    name: "/v1/ws upgrades with db-op-v1",
    check: async (server) => {
      const { status, head } = await handshake(server, subprotocol);
      strictEqual(status, 101, head);
      ok(/s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/.test(head), "the key of RFC 6455 is answered");
    },
  },
  {
    name: "/v1/ws needs the token",
    check: async (server) =>
      strictEqual((await handshake(server, { ...subprotocol, Authorization: "" })).status, 401),
  },
  {
    name: "/v1/ws without the subprotocol is 426",
    check: async (server) => strictEqual((await handshake(server, {})).status, 426),
  },
  {
    name: "/v1/ws of a wrong version is 426",
    check: async (server) =>
      strictEqual((await handshake(server, { ...subprotocol, "Sec-WebSocket-Version": "12" })).status, 426),
  },
];
