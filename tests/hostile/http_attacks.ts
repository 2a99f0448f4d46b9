/** Hostile clients of HTTP and of the WebSocket. */
import { match, ok, strictEqual as equal } from "node:assert/strict";
import { maskedFrame, UPGRADE } from "../fuzz/frames/fuzzed_websocket.ts";
import { ENCODED_REQUESTS } from "../fuzz/frames/operations.ts";
import type { Attack } from "./attacks.ts";
import { RawSocket } from "./raw_socket.ts";

const HEAD = "POST /v1/sql HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n";
const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Sends a request and answers the status that the connection ends with. */
async function refusedWith(port: number, request: string): Promise<string> {
  using socket = await RawSocket.open(port);
  socket.listen();
  await socket.send(request);
  const text = await socket.rest();
  const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status);
  equal(statuses.length, 1, `one answer to ${JSON.stringify(request.slice(0, 200))}: ${text}`);
  match(text, /"code":"\w{5}"/);
  return statuses[0] ?? "";
}

async function upgraded(port: number): Promise<RawSocket> {
  const socket = await RawSocket.open(port);
  await socket.send(UPGRADE);
  return socket;
}

/** The code of the close frame that the server's answer ends with. */
function closeCode(text: string): number {
  const at = text.lastIndexOf("\x88");
  return text.charCodeAt(at + 2) << 8 | text.charCodeAt(at + 3);
}

/** Hostile clients of HTTP and of the WebSocket. */
export const HTTP_ATTACKS: readonly Attack[] = [
  {
    name: "http: chunked bodies without end",
    small: 2,
    large: 50,
    grownMebibytes: 384,
    run: async ({ httpPort }, count) => {
      const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;
      for (let round = 0; round < count; round++) {
        using socket = await RawSocket.open(httpPort);
        socket.listen();
        await socket.send(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
        // The body's limit is 8 MiB, and a client that was refused may go on for 64.
        let sent = 0;
        while (sent < 2000 && await socket.send(chunk)) sent++;
        ok(sent < 2000, "128 MB were taken");
        // Who goes on sending may meet a reset before the answer.
        match(await socket.rest(), /^(HTTP\/1\.1 413 [^]*"54000"|$)/);
      }
    },
  },
  {
    name: "http: giant headers, and too many of them",
    small: 20,
    large: 5000,
    grownMebibytes: 192,
    run: async ({ httpPort }, count) => {
      for (let round = 0; round < count; round++) {
        equal(await refusedWith(httpPort, `${HEAD}X: ${"x".repeat(20_000)}\r\n\r\n`), "431");
        using endless = await RawSocket.open(httpPort);
        endless.listen();
        await endless.send(HEAD);
        const fields = "X: y\r\n".repeat(1000);
        let sent = 0;
        while (sent < 1000 && endless.text === "" && await endless.send(fields)) sent++;
        match(await endless.rest(), /^HTTP\/1\.1 431 [^]*"54000"/);
      }
    },
  },
  {
    name: "http: forms of request smuggling",
    small: 1,
    large: 200,
    grownMebibytes: 128,
    run: async ({ httpPort }, count) => {
      const smuggled = "GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n";
      for (let round = 0; round < count; round++) {
        for (
          const headers of [
            "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
            "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
            "Content-Length: 3\r\nContent-Length: 4\r\n",
            "Content-Length: +3\r\n",
            "Content-Length: 3, 3\r\n",
            "Transfer-Encoding : chunked\r\n",
            "Transfer-Encoding: chunked, identity\r\n",
            "Transfer-Encoding: xchunked\r\n",
            "X: a\r\n b\r\nContent-Length: 3\r\n",
          ]
        ) {
          equal(await refusedWith(httpPort, `${HEAD}${headers}\r\n0\r\n\r\n${smuggled}`), "400", headers);
        }
      }
    },
  },
  {
    name: "http: 10 000 requests pipelined by a client that never reads",
    small: 1,
    large: 20,
    grownMebibytes: 512,
    run: async ({ httpPort }, count) => {
      const body = "SELECT repeat('x', 10000)";
      const requests = `${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`.repeat(1000);
      for (let round = 0; round < count; round++) {
        using socket = await RawSocket.open(httpPort);
        for (let sent = 0; sent < 10_000 && await socket.send(requests, 500);) sent += 1000;
        await pause(500);
      }
    },
  },
  {
    name: "http: rows that are never read, as one object and as lines",
    small: 1,
    large: 20,
    grownMebibytes: 768,
    run: async ({ httpPort }, count) => {
      const body = "SELECT repeat('x', 1000) FROM generate_series(1, 100000000)";
      const lines = await Promise.all(Array.from({ length: count }, () => RawSocket.open(httpPort)));
      for (const socket of lines) {
        await socket.send(
          `${HEAD}Accept: application/x-ndjson\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        );
      }
      await pause(1000);
      for (const socket of lines) socket[Symbol.dispose]();
    },
  },
  {
    name: "http: more connections than there are places",
    small: 1,
    large: 20,
    grownMebibytes: 256,
    run: async ({ httpPort }, count) => {
      for (let round = 0; round < count; round++) {
        const sockets = await Promise.all(Array.from({ length: 1024 }, () => RawSocket.open(httpPort)));
        equal(await refusedWith(httpPort, `${HEAD}Content-Length: 8\r\n\r\nSELECT 1`), "503");
        for (const socket of sockets) socket[Symbol.dispose]();
        await pause(200);
      }
    },
  },
  {
    name: "http: connections opened and dropped",
    small: 1000,
    large: 100_000,
    grownMebibytes: 256,
    run: async ({ httpPort }, count) => {
      for (let done = 0; done < count; done += 50) {
        await Promise.all(Array.from({ length: 50 }, async (_, index) => {
          using socket = await RawSocket.open(httpPort);
          if (index % 2 === 0) await socket.send(HEAD);
        }));
      }
    },
  },
  {
    name: "websocket: fragments without end, small and large",
    small: 1,
    large: 20,
    grownMebibytes: 384,
    run: async ({ httpPort }, count) => {
      for (let round = 0; round < count; round++) {
        for (const [size, code] of [[1, 1008], [60_000, 1009]] as const) {
          using socket = await upgraded(httpPort);
          socket.listen();
          await socket.send(maskedFrame(0x02, new Uint8Array(size)));
          const fragment = maskedFrame(0x00, new Uint8Array(size));
          const many = new Uint8Array(fragment.length * (size === 1 ? 1000 : 1));
          for (let at = 0; at < many.length; at += fragment.length) many.set(fragment, at);
          // More than it takes; on a slow machine all of it is on its way before the server has seen enough.
          for (let sent = 0; sent < 1000 && await socket.send(many);) sent++;
          equal(closeCode(await socket.rest()), code);
        }
      }
    },
  },
  {
    name: "websocket: pings without end from a client that never reads",
    small: 1,
    large: 10,
    grownMebibytes: 256,
    run: async ({ httpPort }, count) => {
      const ping = maskedFrame(0x89, new Uint8Array(125));
      const many = new Uint8Array(ping.length * 5000);
      for (let at = 0; at < many.length; at += ping.length) many.set(ping, at);
      for (let round = 0; round < count; round++) {
        using socket = await upgraded(httpPort);
        for (let sent = 0; sent < 200 && await socket.send(many, 500);) sent++;
        await pause(500);
      }
    },
  },
  {
    name: "websocket: frames that break RFC 6455",
    small: 1,
    large: 500,
    grownMebibytes: 128,
    run: async ({ httpPort }, count) => {
      const ping = ENCODED_REQUESTS[0]?.at(-1) ?? new Uint8Array(0);
      const unmasked = Uint8Array.of(0x82, ping.length, ...ping);
      for (let round = 0; round < count; round++) {
        for (
          const [frame, code] of [
            [unmasked, 1002],
            [maskedFrame(0x89, new Uint8Array(126)), 1002],
            [maskedFrame(0x09, new Uint8Array(1)), 1002],
            [maskedFrame(0x83, new Uint8Array(1)), 1002],
            [maskedFrame(0xc2, ping), 1002],
            [maskedFrame(0x80, ping), 1002],
            [maskedFrame(0x81, new Uint8Array(1)), 1003],
            [Uint8Array.of(0x82, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), 1009],
            [Uint8Array.of(0x82, 0xff, 0, 0, 0, 0, 0, 0x80, 0, 1), 1009],
          ] as const
        ) {
          using socket = await upgraded(httpPort);
          socket.listen();
          await socket.send(frame);
          equal(closeCode(await socket.rest()), code, frame.toHex().slice(0, 40));
        }
      }
    },
  },
];
