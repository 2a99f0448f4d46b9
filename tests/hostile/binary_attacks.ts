/** Hostile clients of the binary protocol. */
import { match, ok } from "node:assert/strict";
import { ByteWriter } from "../../engine/base/bytes.ts";
import { encodeClientHello } from "../../gateways/binary/handshake.ts";
import { encodeRequest } from "../../gateways/shared/operation/operation_codec.ts";
import type { Operation } from "../../gateways/shared/operation/operation.ts";
import type { Attack } from "./attacks.ts";
import { RawSocket } from "./raw_socket.ts";

function framed(body: Uint8Array, length = body.length): Uint8Array {
  const writer = new ByteWriter(body.length + 4);
  writer.writeU32(length);
  writer.writeBytes(body);
  return writer.finish();
}

const HELLO = framed(
  encodeClientHello({ version: 1, nonce: new Uint8Array(32), name: "hostile", readFrom: "primary" }),
);
const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

async function greeted(port: number): Promise<RawSocket> {
  const socket = await RawSocket.open(port);
  await socket.send(HELLO);
  return socket;
}

const request = (operation: Operation): Uint8Array =>
  framed(encodeRequest({ number: 1n, client: null, operation }));

/** Hostile clients of the binary protocol. */
export const BINARY_ATTACKS: readonly Attack[] = [
  {
    name: "binary: junk for a hello, and frames of impossible lengths",
    small: 20,
    large: 5000,
    // 144 after 20 000 connections and 168 after 80 000: what the collector lets stand, and no more with more of them.
    grownMebibytes: 192,
    run: async ({ binaryPort }, count) => {
      const junk = new Uint8Array(200);
      for (let round = 0; round < count; round++) {
        crypto.getRandomValues(junk);
        for (
          const [bytes, code] of [
            [framed(junk), "08P01"],
            [framed(junk, 0xffffffff), "54000"],
            [framed(junk, 1025), "54000"],
          ] as const
        ) {
          using socket = await RawSocket.open(binaryPort);
          socket.listen();
          await socket.send(bytes);
          match(await socket.rest(), new RegExp(code));
        }
        using socket = await greeted(binaryPort);
        socket.listen();
        await socket.send(framed(junk, 0xffffffff));
        match(await socket.rest(), /54000/);
      }
    },
  },
  {
    name: "binary: a large frame in tiny pieces that never ends",
    small: 20_000,
    large: 2_000_000,
    grownMebibytes: 192,
    run: async ({ binaryPort }, count) => {
      using socket = await greeted(binaryPort);
      await socket.send(framed(new Uint8Array(0), 64 << 20));
      const piece = Uint8Array.of(7);
      for (let sent = 0; sent < count; sent++) {
        const isSent = socket.send(piece);
        if (sent % 16 === 15) ok(await isSent);
      }
    },
  },
  {
    name: "binary: requests pipelined by a client that never reads",
    small: 1,
    large: 32,
    grownMebibytes: 384,
    run: async ({ binaryPort }, count) => {
      const rows = request({
        kind: "sql",
        text: "SELECT repeat('x', 1000) FROM generate_series(1, 100000)",
        parameters: null,
      });
      const sockets = await Promise.all(Array.from({ length: count }, () => greeted(binaryPort)));
      for (const socket of sockets) for (let sent = 0; sent < 100; sent++) await socket.send(rows, 200);
      await pause(1000);
      for (const socket of sockets) socket[Symbol.dispose]();
    },
  },
  {
    name: "binary: small requests without end from a client that never reads",
    small: 100_000,
    large: 3_000_000,
    grownMebibytes: 384,
    run: async ({ binaryPort }, count) => {
      const ping = request({ kind: "ping" });
      const many = new Uint8Array(ping.length * 1000);
      for (let at = 0; at < many.length; at += ping.length) many.set(ping, at);
      using socket = await greeted(binaryPort);
      for (let sent = 0; sent < count && await socket.send(many, 500);) sent += 1000;
      await pause(500);
    },
  },
  {
    name: "binary: connections opened and dropped",
    small: 1000,
    large: 100_000,
    grownMebibytes: 256,
    run: async ({ binaryPort }, count) => {
      for (let done = 0; done < count; done += 50) {
        await Promise.all(Array.from({ length: 50 }, async (_, index) => {
          using socket = await RawSocket.open(binaryPort);
          if (index % 2 === 0) await socket.send(HELLO);
        }));
      }
    },
  },
];
