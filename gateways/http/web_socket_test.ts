/** `/v1/ws` over loopback: the handshake's rules, messages both ways, and every close code. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { ByteWriter } from "../../engine/base/bytes.ts";
import { LIMITS } from "../../engine/base/limits.ts";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import { TestClient } from "../../engine/statements/copy/client_for_test.ts";
import { until } from "../../tests/support/until.ts";
import type { Operation, Reply } from "../shared/operation/operation.ts";
import { encodeRequest } from "../shared/operation/operation_codec.ts";
import { decodeReply } from "../shared/operation/reply_codec.ts";
import { type HttpServerOptions, startHttpServer } from "./server.ts";

async function withPort(
  work: (port: number, engine: Engine) => Promise<void>,
  options: Partial<HttpServerOptions> = {},
): Promise<void> {
  const engine = await Engine.open({ host: memoryHost(), directory: ":memory:" });
  const server = await startHttpServer({
    engine,
    address: { hostname: "127.0.0.1", port: 0 },
    token: null,
    version: "0.0.0",
    ...options,
  });
  try {
    await work(server.address.port, engine);
  } finally {
    await server.close(0);
    await engine.close();
  }
}

/** A WebSocket with its messages and its end. */
async function open(port: number): Promise<{
  readonly socket: WebSocket;
  readonly closed: Promise<number>;
  ask(operation: Operation, number?: bigint): Promise<Reply[]>;
}> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/ws`, "db-op-v1");
  socket.binaryType = "arraybuffer";
  const closed = new Promise<number>((resolve) =>
    socket.addEventListener("close", ({ code }) => resolve(code))
  );
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", reject);
  });
  let columns = 0;
  const waiting = new Map<bigint, { replies: Reply[]; resolve(replies: Reply[]): void }>();
  socket.addEventListener("message", ({ data }) => {
    const reply = decodeReply(new Uint8Array(data as ArrayBuffer), () => columns);
    if (reply.kind === "columns") columns = reply.columns.length;
    const request = waiting.get(reply.number);
    request?.replies.push(reply);
    if (reply.kind === "end" || reply.kind === "error") request?.resolve(request.replies);
  });
  return {
    socket,
    closed,
    ask: (operation, number = 1n) =>
      new Promise((resolve) => {
        waiting.set(number, { replies: [], resolve });
        socket.send(encodeRequest({ number, client: null, operation }) as Uint8Array<ArrayBuffer>);
      }),
  };
}

const HANDSHAKE: Readonly<Record<string, string>> = {
  Host: "x",
  Connection: "Upgrade",
  Upgrade: "websocket",
  "Sec-WebSocket-Version": "13",
  "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
  "Sec-WebSocket-Protocol": "db-op-v1",
};

function head(changes: Readonly<Record<string, string | null>> = {}): string {
  const headers = Object.entries({ ...HANDSHAKE, ...changes }).filter(([, value]) => value !== null);
  return `GET /v1/ws HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
}

/** A bare connection that has sent bytes; `until` waits for what matches. */
function bare(
  port: number,
  bytes: string,
): { readonly socket: Socket; until(pattern: RegExp | string): Promise<string> } {
  let text = "";
  let check = (): void => {};
  const socket = connect({ host: "127.0.0.1", port }, () => socket.write(bytes));
  socket.on("data", (data: Uint8Array) => {
    text += Array.from(data, (byte) => String.fromCharCode(byte)).join("");
    check();
  });
  socket.on("error", () => {});
  socket.on("close", () => check());
  return {
    socket,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`no ${pattern} in ${JSON.stringify(text)}`)), 60_000);
        check = () => {
          if (!(typeof pattern === "string" ? text.includes(pattern) : pattern.test(text))) return;
          clearTimeout(timer);
          resolve(text);
        };
        check();
      }),
  };
}

/** A ping without a payload, as the server sends it. */
const PING = String.fromCharCode(0x89, 0);

/** A close frame, as the server sends it. */
function closeFrame(code: number): string {
  return String.fromCharCode(0x88, 2, code >> 8, code & 255);
}

/** A masked frame, as clients send them. */
function frame(opcode: number, payload: Uint8Array): Uint8Array {
  const writer = new ByteWriter();
  writer.writeU8(0x80 | opcode);
  if (payload.length < 126) writer.writeU8(0x80 | payload.length);
  else {
    writer.writeU8(0x80 | 126);
    writer.writeU8(payload.length >> 8);
    writer.writeU8(payload.length & 255);
  }
  writer.writeBytes(new Uint8Array(4));
  writer.writeBytes(payload);
  return writer.finish();
}

Deno.test("/v1/ws answers encoded operations, pipelined and in order", () =>
  withPort(async (port) => {
    const { socket, ask, closed } = await open(port);
    strictEqual(socket.protocol, "db-op-v1");
    const sql = (text: string): Operation => ({ kind: "sql", text, parameters: null });
    await ask(sql("CREATE TABLE t (id BIGINT PRIMARY KEY)"));
    const [, failed, rows] = await Promise.all([
      ask(sql("INSERT INTO t VALUES (1)"), 2n),
      ask(sql("INSERT INTO t VALUES (1)"), 3n),
      ask(sql("SELECT id FROM t"), 4n),
    ]);
    const [error] = failed;
    ok(error?.kind === "error" && error.failure.code === "23505");
    deepStrictEqual(rows.map((reply) => reply.kind), ["columns", "rows", "outcome", "end"]);
    const many = await Promise.all(
      Array.from({ length: 200 }, (_, index) => ask({ kind: "ping" }, BigInt(index + 10))),
    );
    ok(many.every(([reply]) => reply?.kind === "end"));
    socket.close();
    strictEqual(await closed, 1005);
  }));

Deno.test("/v1/ws refuses handshakes that are not proper", () =>
  withPort(async (port) => {
    const check = async (changes: Readonly<Record<string, string | null>>, expected: RegExp) => {
      const { socket, until } = bare(port, head(changes));
      await until(expected);
      socket.destroy();
    };
    await check({ "Sec-WebSocket-Protocol": null }, /^HTTP\/1.1 426 .*"code":"08P01"/s);
    await check({ "Sec-WebSocket-Protocol": "other" }, /^HTTP\/1.1 426 /);
    await check({ "Sec-WebSocket-Version": "8" }, /^HTTP\/1.1 426 .*\r\nSec-WebSocket-Version: 13\r\n/s);
    await check({ "Sec-WebSocket-Version": null }, /^HTTP\/1.1 426 .*\r\nSec-WebSocket-Version: 13\r\n/s);
    const refused = /^HTTP\/1.1 400 .*"code":"08P01"/s;
    await check({ "Sec-WebSocket-Key": "short" }, refused);
    await check({ "Sec-WebSocket-Key": "\u{a0}dGhlIHNhbXBsZSBub25jZQ==" }, refused);
    for (const names of ["db-op-v1,\u{a0}b", "db-op-v1, (b)", "db-op-v1, a, a"]) {
      await check({ "Sec-WebSocket-Protocol": names }, refused);
    }
    await check({ Upgrade: "h2c, websocket" }, /^HTTP\/1.1 426 .*"code":"08P01"/s);
    await check({ Connection: "close", Upgrade: null }, /^HTTP\/1.1 426 .*\r\nUpgrade: websocket\r\n/s);
    await check(
      { "Sec-WebSocket-Protocol": "a, db-op-v1" },
      /^HTTP\/1.1 101 .*\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n.*Sec-WebSocket-Protocol: db-op-v1\r\n/s,
    );
  }));

Deno.test("/v1/ws closes with the code that says why", () =>
  withPort(async (port) => {
    const text = await open(port);
    text.socket.send("SELECT 1");
    strictEqual(await text.closed, 1003);
    const undecodable = await open(port);
    undecodable.socket.send(new Uint8Array([0xee, 1, 2]));
    strictEqual(await undecodable.closed, 1002);
    const long = await open(port);
    long.socket.send(new Uint8Array(8 * 1024 * 1024 + 1));
    strictEqual(await long.closed, 1009);
    // An unmasked frame violates RFC 6455, 5.1.
    const violation = bare(port, head());
    await violation.until(/^HTTP\/1.1 101 /);
    violation.socket.write(new Uint8Array([0x82, 0x01, 0x24]));
    await violation.until(closeFrame(1002));
    violation.socket.destroy();
  }));

Deno.test("/v1/ws closes with 1011 when a ping has no pong for two heartbeats", () =>
  withPort(async (port) => {
    const { socket, until } = bare(port, head());
    // A ping is 0x89 0x00; this client never answers one.
    const text = await until(closeFrame(1011));
    strictEqual(text.split(PING).length - 1, 2);
    socket.destroy();
    const patient = await open(port);
    await new Promise((resolve) => setTimeout(resolve, 200));
    strictEqual(patient.socket.readyState, WebSocket.OPEN);
    patient.socket.close();
    await patient.closed;
  }, { heartbeatMilliseconds: 30 }));

Deno.test("/v1/ws closes with 1013 when a client that takes nothing has more than its queue coming", () =>
  withPort(async (port, engine) => {
    const socket = connect({ host: "127.0.0.1", port }, () => socket.write(head()));
    await new Promise((resolve) => socket.once("data", resolve));
    socket.pause();
    const watching = TestClient.over(engine);
    await watching.run("CREATE SEQUENCE taken");
    const text = "SELECT repeat('x', 1000000) AS v, nextval('taken')";
    const operation: Operation = { kind: "sql", text, parameters: null };
    for (let number = 1n; number <= 60n; number++) {
      socket.write(frame(2, encodeRequest({ number, client: null, operation })));
    }
    const answered = async () => Number((await watching.rows("SELECT last_value FROM taken"))[0]);
    // An answer is two messages.
    await until(async () => await answered() * 2 >= LIMITS.webSocketSendQueue, "a queue that is full");
    // Longer than a queue may stand still.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    let received = 0, tail = new Uint8Array(0);
    const ended = new Promise<void>((resolve) => socket.on("close", () => resolve()));
    socket.on("data", (data: Uint8Array) => {
      received += data.length;
      tail = new Uint8Array([...tail, ...data.subarray(-4)]).slice(-4);
    });
    socket.on("error", () => {});
    socket.resume();
    // The close frame is the last that comes; the client answers it by closing.
    const timer = setInterval(() => {
      if (tail[0] === 0x88) socket.destroy();
    }, 10);
    await ended;
    clearInterval(timer);
    deepStrictEqual([...tail], [0x88, 0x02, 0x03, 0xf5]);
    ok(received < 60e6);
  }));

Deno.test("/v1/ws says 1001 when the server stops", () =>
  withPort(async (port, engine) => {
    const server = await startHttpServer({
      engine,
      address: { hostname: "127.0.0.1", port: 0 },
      token: null,
      version: "0.0.0",
    });
    const { closed } = await open(server.address.port);
    await server.close(100);
    strictEqual(await closed, 1001);
    ok(port > 0);
  }));
