/** Bodies and heads that are damaged: every request gets an answer with a status of its own, and none a 500. */
import { deepStrictEqual, ok } from "node:assert/strict";
import { connect } from "node:net";
import { SeededRandom } from "../../engine/base/random.ts";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import { encodeRequest } from "../shared/operation/operation_codec.ts";
import { startHttpServer } from "./server.ts";

const encoder = new TextEncoder();

const SEEDS: readonly { readonly path: string; readonly type: string; readonly body: Uint8Array }[] = [
  {
    path: "/v1/sql",
    type: "text/plain",
    body: encoder.encode("SELECT id, name FROM t WHERE name LIKE 'a%' ORDER BY 1 LIMIT 3"),
  },
  {
    path: "/v1/sql",
    type: "text/plain",
    body: encoder.encode("INSERT INTO t VALUES (1, 'x'); DELETE FROM t WHERE id = 1"),
  },
  {
    path: "/v1/sql",
    type: "application/json",
    body: encoder.encode('{"sql":"SELECT $1::int + $2::numeric AS n, $3::text","params":[1,2.50,"a"]}'),
  },
  {
    path: "/v1/op",
    type: "application/json",
    body: encoder.encode(
      '{"op":"select","table":"t","where":[{"column":"id","operator":">","value":0}],"limit":5}',
    ),
  },
  {
    path: "/v1/op",
    type: "application/octet-stream",
    body: encodeRequest({
      number: 1n,
      client: null,
      operation: { kind: "get", table: { schema: null, name: "t" }, columns: ["name"], id: 1 },
    }),
  },
];

Deno.test("the HTTP listener answers 10 000 damaged bodies, none with 500", async () => {
  const engine = await Engine.open({ host: memoryHost(), directory: ":memory:" });
  const bugs: unknown[] = [];
  const server = await startHttpServer({
    engine,
    address: { hostname: "127.0.0.1", port: 0 },
    token: null,
    version: "0.0.0",
    onInternalError: (error) => bugs.push(error),
  });
  const setup = await fetch(`http://127.0.0.1:${server.address.port}/v1/sql`, {
    method: "POST",
    headers: { "Content-Type": "text/plain" },
    body: "CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT)",
  });
  await setup.body?.cancel();
  const random = new SeededRandom(5);
  const statuses = new Map<string, number>();
  const rounds = 10_000, perConnection = 500;
  for (let done = 0; done < rounds; done += perConnection) {
    const requests = Array.from({ length: perConnection }, () => {
      const seed = random.pick(SEEDS);
      const body = damaged(seed.body, random);
      const head = encoder.encode(
        `POST ${seed.path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${seed.type}\r\nContent-Length: ${body.length}\r\n\r\n`,
      );
      const bytes = new Uint8Array(head.length + body.length);
      bytes.set(head);
      bytes.set(body, head.length);
      return bytes;
    });
    for (const status of await exchange(server.address.port, requests)) {
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  }
  await server.close(0);
  await engine.close();
  deepStrictEqual(bugs, []);
  const answered = [...statuses.values()].reduce((sum, count) => sum + count, 0);
  deepStrictEqual(answered, rounds, JSON.stringify([...statuses]));
  ok([...statuses.keys()].every((status) => /^(200|400|409)$/.test(status)), JSON.stringify([...statuses]));
});

Deno.test("the HTTP listener answers or closes on damaged heads", async () => {
  const engine = await Engine.open({ host: memoryHost(), directory: ":memory:" });
  const server = await startHttpServer({
    engine,
    address: { hostname: "127.0.0.1", port: 0 },
    token: "secret",
    version: "0.0.0",
  });
  const random = new SeededRandom(6);
  const head = encoder.encode(
    "POST /v1/sql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\nContent-Type: text/plain\r\nContent-Length: 8\r\n" +
      "Connection: close\r\n\r\nSELECT 1",
  );
  for (let round = 0; round < 300; round++) {
    const bytes = damaged(head, random);
    await new Promise<void>((resolve) => {
      const socket = connect({ host: "127.0.0.1", port: server.address.port }, () => socket.end(bytes));
      socket.on("data", () => {});
      socket.on("error", () => {});
      const timer = setTimeout(() => socket.destroy(), 3000);
      socket.on("close", () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
  const health = await fetch(`http://127.0.0.1:${server.address.port}/v1/health`);
  deepStrictEqual((await health.json()).status, "ok");
  await server.close(0);
  await engine.close();
});

/** Sends requests one after the other on one connection; answers the statuses. */
function exchange(port: number, requests: readonly Uint8Array[]): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const statuses: string[] = [];
    let text = "", next = 0;
    const socket = connect({ host: "127.0.0.1", port }, () => send());
    const send = (): void => {
      const request = requests[next++];
      if (request === undefined) socket.end();
      else socket.write(request);
    };
    socket.on("data", (data: Uint8Array) => {
      text += new TextDecoder("latin1").decode(data);
      const match = /^HTTP\/1.1 (\d{3}) [\s\S]*?content-length: (\d+)\r\n[\s\S]*?\r\n\r\n/i.exec(text);
      if (match === null || text.length < match[0].length + Number(match[2])) return;
      statuses.push(match[1] ?? "");
      text = text.slice(match[0].length + Number(match[2]));
      send();
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(statuses));
  });
}

function damaged(original: Uint8Array, random: SeededRandom): Uint8Array {
  const bytes = original.slice();
  for (let changes = random.between(0, 3); changes > 0; changes--) {
    bytes[random.below(bytes.length)] = random.chance(0.7) ? random.between(0x20, 0x7e) : random.below(256);
  }
  return random.chance(0.1) ? bytes.subarray(0, random.below(bytes.length)) : bytes;
}
