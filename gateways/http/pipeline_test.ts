/** Requests that a connection sends ahead: how many are taken, and that all are answered in the end, in their order. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { connect } from "node:net";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import { startHttpServer } from "./server.ts";

const REQUESTS = 3000;

Deno.test("a connection is not read while hundreds of its requests wait, and all are answered in order", async () => {
  const engine = await Engine.open({ host: memoryHost(), directory: ":memory:" });
  const server = await startHttpServer({
    engine,
    address: { hostname: "127.0.0.1", port: 0 },
    token: null,
    version: "0.0.0",
  });
  const { port } = server.address;
  const socket = connect({ host: "127.0.0.1", port });
  try {
    const ended = new Promise((resolve) => socket.once("close", resolve));
    socket.pause();
    const body = (number: number) => `SELECT ${number} AS a, repeat('x', 2000) AS b`;
    for (let number = 1; number <= REQUESTS; number++) {
      const text = body(number);
      socket.write(
        `POST /v1/sql HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n` +
          `Connection: ${
            number < REQUESTS ? "keep-alive" : "close"
          }\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
      );
    }
    let most = 0;
    for (let look = 0; look < 20; look++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      const metrics = await (await fetch(`http://127.0.0.1:${port}/v1/metrics`)).text();
      most = Math.max(most, Number(/^db_http_requests_in_flight (\d+)$/m.exec(metrics)?.[1] ?? NaN));
    }
    ok(most > 64 && most < 1500, `${most} requests in flight`);
    const numbers: number[] = [];
    let rest = "";
    socket.on("data", (data) => {
      rest += String(data);
      // A number that a piece ends with may go on in the next.
      for (const [, number] of rest.matchAll(/"a":(\d+),/g)) numbers.push(Number(number));
      rest = rest.slice(Math.max(rest.lastIndexOf('"a":') + 4, rest.length - 20)).slice(-20);
    });
    socket.resume();
    await ended;
    strictEqual(numbers.length, REQUESTS);
    deepStrictEqual(numbers, Array.from({ length: REQUESTS }, (_, index) => index + 1));
  } finally {
    socket.destroy();
    await server.close(0);
    await engine.close();
  }
});
