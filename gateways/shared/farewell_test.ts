/** Farewells over real sockets, with short limits. */
import { ok, strictEqual as equal } from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import { type FarewellLimits, sayFarewell } from "./farewell.ts";

/** Says farewell to a client with the limits; answers what the client read and whether it was closed. */
async function farewell(limits: FarewellLimits, client: (connection: Deno.Conn) => Promise<void>) {
  const closed = Promise.withResolvers<number>();
  let readBytes = 0;
  const server = createServer({ allowHalfOpen: true }, (socket: Socket) => {
    socket.on("error", () => {});
    socket.on("data", (data: Uint8Array) => readBytes += data.length);
    socket.on("close", () => closed.resolve(readBytes));
    socket.end("goodbye");
    sayFarewell(socket, limits);
  });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await client(connection);
  const read = await closed.promise;
  await new Promise((resolve) => server.close(resolve));
  return read;
}

const LONG = 1_000_000;

Deno.test("sayFarewell() reads on while the client sends, and its last words arrive", async () => {
  const limits = { silenceMilliseconds: LONG, totalMilliseconds: LONG, bytes: 1 << 30 };
  const sent = 4 << 20;
  const read = await farewell(limits, async (connection) => {
    for (let at = 0; at < sent;) at += await connection.write(new Uint8Array(sent - at));
    const words = new Uint8Array(100);
    const count = await connection.read(words) ?? 0;
    equal(new TextDecoder().decode(words.subarray(0, count)), "goodbye");
    connection.close();
  });
  equal(read, sent);
});

Deno.test("sayFarewell() ends with silence, and with too much time or too many bytes", async () => {
  const sendOn = async (connection: Deno.Conn): Promise<void> => {
    try {
      for (;;) await connection.write(new Uint8Array(65_536));
    } catch {
      // The server has closed.
    }
  };
  const none = { silenceMilliseconds: LONG, totalMilliseconds: LONG, bytes: Infinity };
  equal(await farewell({ ...none, silenceMilliseconds: 20 }, async () => {}), 0);
  equal(await farewell({ ...none, totalMilliseconds: 20 }, async () => {}), 0);
  ok(await farewell({ ...none, totalMilliseconds: 300 }, sendOn) > 0);
  ok(await farewell({ ...none, bytes: 1_000_000 }, sendOn) > 1_000_000);
});
