/** Who comes in over HTTP, and what is held for him: headers, bodies that are wrong, long or slow, and sessions. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { httpDoor } from "../../../cli/lang/servers/mcp/http_server.ts";
import { LANG_LIMITS } from "../../../lang/limits.ts";
import { HttpEndpoint } from "../../../lang/servers/mcp/http_endpoint.ts";
import * as sdk from "../../../lang/servers/mcp/sdk.ts";
import { createServer } from "../../../lang/servers/mcp/server.ts";
import { memoryEnvironment } from "./memory_environment.ts";
import { TOURED } from "./tour.ts";

interface DoorTest {
  readonly endpoint: HttpEndpoint;
  readonly send: (init: RequestInit & { readonly path?: string }) => Promise<Response>;
}

const HOST = "127.0.0.1:8890";

const HEADERS = {
  host: HOST,
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

async function withDoor(
  options: {
    readonly token?: string;
    readonly maximumSessions?: number;
    readonly maximumBodies?: number;
    readonly bodyTimeoutMilliseconds?: number;
  },
  work: (test: DoorTest) => Promise<void>,
): Promise<void> {
  using environment = memoryEnvironment(TOURED);
  let last = 0;
  const endpoint = new HttpEndpoint({
    sdk,
    createServer: () => createServer(environment),
    newSessionId: () => `session-${++last}`,
    ...(options.maximumSessions === undefined ? {} : { maximumSessions: options.maximumSessions }),
  });
  const door = httpDoor({ sdk, endpoint, token: options.token ?? null, ...options });
  try {
    await work({
      endpoint,
      send: ({ path = "/mcp", ...init }) =>
        door(new Request(`http://${HOST}${path}`, { headers: HEADERS, method: "POST", ...init })),
    });
  } finally {
    await endpoint.close();
  }
}

/** The value of a response, which is JSON or one event. */
async function valueOf(response: Response): Promise<Record<string, unknown>> {
  const text = await response.text();
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
}

Deno.test("the door refuses foreign hosts and origins, wrong tokens, other paths and other methods, and tells nobody else", async () => {
  await withDoor({ token: "secret" }, async ({ send }) => {
    const authorization = "Bearer secret";
    const cases: readonly (readonly [number, RequestInit & { readonly path?: string }])[] = [
      [403, { headers: { ...HEADERS, authorization, host: "evil.example" } }],
      [403, { headers: { ...HEADERS, authorization, origin: "http://evil.example" } }],
      [403, { headers: { ...HEADERS, authorization, origin: "null" } }],
      [401, { headers: HEADERS }],
      [401, { headers: { ...HEADERS, authorization: "Bearer wrong" } }],
      [404, { headers: { ...HEADERS, authorization }, path: "/" }],
      [404, { headers: { ...HEADERS, authorization }, path: "/mcp/more" }],
      [405, { headers: { ...HEADERS, authorization }, method: "PUT" }],
      [405, { headers: { ...HEADERS, authorization }, method: "OPTIONS" }],
    ];
    for (const [status, init] of cases) {
      const response = await send({
        ...(init.method === undefined ? { body: JSON.stringify(INITIALIZE) } : {}),
        ...init,
      });
      strictEqual(response.status, status, JSON.stringify(init));
      match(await response.text(), /Cannot /);
      for (const name of response.headers.keys()) ok(!name.startsWith("access-control-"), name);
    }
    const response = await send({ headers: { ...HEADERS, authorization }, body: JSON.stringify(INITIALIZE) });
    strictEqual(response.status, 200);
    strictEqual((await valueOf(response))["id"], 1);
  });
});

Deno.test("the door answers what is no message with 400, and goes on", async () => {
  await withDoor({}, async ({ send, endpoint }) => {
    const bodies = [
      "",
      "{",
      "[]",
      "[1,2]",
      "1",
      "null",
      '"text"',
      "{}",
      '{"jsonrpc":"2.0"}',
      '{"jsonrpc":"1.0","id":1,"method":"initialize"}',
      '{"jsonrpc":"2.0","id":{},"method":"initialize"}',
      `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
    ];
    for (const body of bodies) {
      const response = await send({ body });
      strictEqual(response.status, 400, body.slice(0, 50));
      await response.text();
    }
    const other = await send({
      body: JSON.stringify(INITIALIZE),
      headers: { ...HEADERS, "content-type": "text/plain" },
    });
    strictEqual(other.status, 415);
    await other.text();
    strictEqual(endpoint.sessionCount, 0);
    strictEqual((await send({ body: JSON.stringify(INITIALIZE) })).status, 200);
    strictEqual(endpoint.sessionCount, 1);
  });
});

Deno.test("the door takes bodies up to its limit, whether they say their length or not", async () => {
  await withDoor({}, async ({ send }) => {
    const long = "x".repeat(LANG_LIMITS.maximumMcpMessageBytes + 1);
    const said = await send({ body: long, headers: { ...HEADERS, "content-length": String(long.length) } });
    strictEqual(said.status, 413);
    let pulled = 0;
    const chunk = new TextEncoder().encode("x".repeat(1024 * 1024));
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulled++;
        controller.enqueue(chunk);
      },
    });
    const unsaid = await send({ body: endless });
    strictEqual(unsaid.status, 413);
    ok(pulled < 20, `${pulled} MiB were read`);
  });
});

Deno.test("the door lets slow bodies go, and takes only so many at a time", async () => {
  await withDoor({ maximumBodies: 2, bodyTimeoutMilliseconds: 50 }, async ({ send }) => {
    const never = () => new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) });
    const slow = [send({ body: never() }), send({ body: never() })];
    strictEqual((await send({ body: JSON.stringify(INITIALIZE) })).status, 503);
    deepStrictEqual((await Promise.all(slow)).map(({ status }) => status), [408, 408]);
    strictEqual((await send({ body: JSON.stringify(INITIALIZE) })).status, 200);
  });
});

Deno.test("sessions are as many as may be, and the one that was quiet longest makes room", async () => {
  await withDoor({ maximumSessions: 2 }, async ({ send, endpoint }) => {
    const open = async () => {
      const response = await send({ body: JSON.stringify(INITIALIZE) });
      await response.text();
      return response.headers.get("mcp-session-id") ?? "";
    };
    const ask = async (session: string) => {
      const response = await send({
        body: JSON.stringify({ jsonrpc: "2.0", id: 2, method: "ping" }),
        headers: { ...HEADERS, "mcp-session-id": session },
      });
      await response.text();
      return response.status;
    };
    const [first, second] = [await open(), await open()];
    strictEqual(await ask(first), 200);
    const third = await open();
    strictEqual(endpoint.sessionCount, 2);
    deepStrictEqual([await ask(first), await ask(second), await ask(third)], [200, 404, 200]);
    const ended = await send({ method: "DELETE", headers: { ...HEADERS, "mcp-session-id": first } });
    strictEqual(ended.status, 200);
    strictEqual(endpoint.sessionCount, 1);
    strictEqual(await ask(first), 404);
    strictEqual(
      (await send({ method: "GET", headers: { ...HEADERS, "mcp-session-id": "session-99" } })).status,
      404,
    );
    strictEqual((await send({ method: "GET" })).status, 400);
    for (let count = 0; count < 50; count++) await open();
    strictEqual(endpoint.sessionCount, 2);
  });
});
