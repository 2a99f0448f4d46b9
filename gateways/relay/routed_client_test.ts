// A client's socket in a router's thread: what it says first, encryption, windows and ends.
import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { connect as connectSecurely } from "node:tls";
import { until } from "../../tests/support/until.ts";
import { ENCRYPTION_CODE } from "../shared/beginning.ts";
import { listen } from "../shared/listen.ts";
import { testTls } from "../tls/testing/secured.ts";
import { negotiate, type Negotiated } from "./negotiation.ts";
import { THREAD_WINDOW_BYTES as WINDOW_BYTES } from "./relay_stream.ts";
import { RoutedClient } from "./routed_client.ts";

const NOTHING = new Uint8Array(0);
const ANNOUNCED_BYTES = WINDOW_BYTES / 2;
const TEXT = new TextEncoder();

/** A connection over loopback, both of its ends. */
async function withSockets(work: (client: Socket, server: Socket) => Promise<void>): Promise<void> {
  const server = createServer({ noDelay: true, allowHalfOpen: true });
  const { port } = await listen(server, { hostname: "127.0.0.1", port: 0 });
  const accepted = once(server, "connection") as Promise<[Socket]>;
  const client = connect({ host: "127.0.0.1", port, noDelay: true, allowHalfOpen: true });
  const [there] = await accepted;
  for (const socket of [client, there]) socket.on("error", () => {});
  try {
    await work(client, there);
  } finally {
    client.destroy();
    there.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }
}

function request(code: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setUint32(0, 8);
  new DataView(bytes.buffer).setUint32(4, code);
  return bytes;
}

/** Sends each part when the one before has arrived. */
async function sendInParts(client: Socket, parts: readonly Uint8Array[]): Promise<void> {
  for (const part of parts) {
    client.write(part);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function answerOf(client: Socket): Promise<string> {
  const [bytes] = await once(client, "data") as [Uint8Array];
  return new TextDecoder().decode(bytes);
}

Deno.test("negotiate() passes on what is no request, and what it has read of one that is not whole", async () => {
  using tls = testTls();
  const ssl = request(ENCRYPTION_CODE.ssl);
  const cases: [readonly Uint8Array[], Uint8Array][] = [
    [[TEXT.encode("hello")], TEXT.encode("hello")],
    // A startup packet that has the length of a request.
    [[request(3 << 16)], request(3 << 16)],
    [[Uint8Array.from([0]), Uint8Array.from([0, 0, 9])], Uint8Array.from([0, 0, 0, 9])],
    // Clear text behind a request: the gateway refuses it.
    [[Uint8Array.from([...ssl, 1])], Uint8Array.from([...ssl, 1])],
  ];
  for (const [parts, first] of cases) {
    await withSockets(async (client, server) => {
      const [negotiated] = await Promise.all([
        negotiate(server, "pg", tls.server),
        sendInParts(client, parts),
      ]);
      deepStrictEqual([new Uint8Array(negotiated?.first ?? []), negotiated?.secured], [first, null]);
    });
  }
  await withSockets(async (client, server) => {
    client.end(ssl.subarray(0, 3));
    const negotiated = await negotiate(server, "pg", tls.server);
    deepStrictEqual(new Uint8Array(negotiated?.first ?? []), ssl.slice(0, 3));
  });
  await withSockets(async (client, server) => {
    client.end();
    strictEqual(await negotiate(server, "pg", tls.server), null);
  });
});

Deno.test("negotiate() shakes hands after a request in pieces, after one for GSS, and without one", async () => {
  using tls = testTls();
  const shake = async (client: Socket, protocols: readonly string[]): Promise<string | false | null> => {
    const secured = connectSecurely({
      socket: client,
      ca: tls.authority,
      servername: "localhost",
      ALPNProtocols: [...protocols],
    });
    await once(secured, "secureConnect");
    return secured.alpnProtocol;
  };
  const isSecured = (negotiated: Negotiated | null): void => {
    deepStrictEqual([negotiated?.secured?.encryption.version, negotiated?.first], ["TLSv1.3", NOTHING]);
  };
  await withSockets(async (client, server) => {
    const negotiated = negotiate(server, "pg", tls.server);
    const declined = answerOf(client);
    client.write(request(ENCRYPTION_CODE.gssEncryption));
    strictEqual(await declined, "N");
    const ssl = request(ENCRYPTION_CODE.ssl);
    const accepted = answerOf(client);
    await sendInParts(client, Array.from(ssl, (byte) => Uint8Array.of(byte)));
    strictEqual(await accepted, "S");
    strictEqual(await shake(client, ["postgresql"]), "postgresql");
    isSecured(await negotiated);
  });
  for (
    const [protocol, named] of [["pg", ["postgresql"]], ["binary", ["db-op-v1"]], ["binary", []]] as const
  ) {
    await withSockets(async (client, server) => {
      const negotiated = negotiate(server, protocol, tls.server);
      await shake(client, named);
      isSecured(await negotiated);
    });
  }
  // PostgreSQL's without a request must name the protocol.
  await withSockets(async (client, server) => {
    const negotiated = negotiate(server, "pg", tls.server);
    await rejects(
      shake(client, []).then(() => negotiated).then((done) => {
        if (done === null) throw new Error("refused");
      }),
    );
  });
});

/** What a client's end says on its link, in words. */
class FakeLink {
  readonly said: string[] = [];
  bytes = 0;

  sendBytes(_: number, bytes: Uint8Array): Promise<void> {
    this.bytes += bytes.length;
    return Promise.resolve();
  }

  sendEnd(): Promise<void> {
    this.said.push("end");
    return Promise.resolve();
  }

  sendRead(_: number, count: number): void {
    this.said.push(`read ${count}`);
  }

  sendClose(): void {
    this.said.push("close");
  }
}

async function withClient(
  work: (
    ends: { client: Socket; routed: RoutedClient; link: FakeLink; gone: Promise<void> },
  ) => Promise<void>,
): Promise<void> {
  await withSockets(async (client, socket) => {
    const link = new FakeLink();
    const gone = Promise.withResolvers<void>();
    const routed = new RoutedClient({
      link,
      number: 1,
      socket,
      first: TEXT.encode("first"),
      onGone: () => gone.resolve(),
    });
    routed.start();
    await work({ client, routed, link, gone: gone.promise });
  });
}

Deno.test("RoutedClient sends as much as the window allows, and its end behind that", async () => {
  await withClient(async ({ client, routed, link }) => {
    strictEqual(link.bytes, 5);
    client.end(new Uint8Array(3 * WINDOW_BYTES));
    await until(() => link.bytes === WINDOW_BYTES);
    await new Promise((resolve) => setTimeout(resolve, 20));
    deepStrictEqual([link.bytes, link.said], [WINDOW_BYTES, []]);
    for (let allowed = 0; allowed < 2 * WINDOW_BYTES + 5; allowed += ANNOUNCED_BYTES) {
      routed.allowed(ANNOUNCED_BYTES);
      await until(() =>
        link.bytes === Math.min(3 * WINDOW_BYTES + 5, WINDOW_BYTES + allowed + ANNOUNCED_BYTES)
      );
    }
    await until(() => link.said.length > 0);
    deepStrictEqual(link.said, ["end"]);
  });
});

Deno.test("RoutedClient says what the client has taken, and takes no more than the window", async () => {
  await withClient(async ({ client, routed, link, gone }) => {
    let came = 0;
    client.on("data", (bytes: Uint8Array) => came += bytes.length);
    strictEqual(routed.received(new Uint8Array(ANNOUNCED_BYTES)), true);
    strictEqual(routed.isWritten, false);
    await until(() => link.said.length > 0);
    deepStrictEqual([link.said, routed.isWritten], [[`read ${ANNOUNCED_BYTES}`], true]);
    strictEqual(routed.received(new Uint8Array(WINDOW_BYTES)), true);
    strictEqual(routed.received(new Uint8Array(1)), false);
    // The last words arrive whole, whether the other side ends first or not.
    routed.ended();
    routed.closed();
    await once(client, "end");
    strictEqual(came, ANNOUNCED_BYTES + WINDOW_BYTES);
    client.end();
    await gone;
    deepStrictEqual(link.said.filter((each) => !each.startsWith("read")), []);
  });
});

Deno.test("RoutedClient sends the last words to a client that reads late, and then closes", async () => {
  await withClient(async ({ client, routed, gone }) => {
    const part = new Uint8Array(ANNOUNCED_BYTES);
    let sent = 0;
    // Until the system takes no more.
    do {
      strictEqual(routed.received(part), true);
      sent += part.length;
      await new Promise((resolve) => setTimeout(resolve, 20));
    } while (routed.isWritten);
    routed.closed();
    await new Promise((resolve) => setTimeout(resolve, 20));
    let came = 0;
    client.on("data", (bytes: Uint8Array) => came += bytes.length);
    await once(client, "end");
    strictEqual(came, sent);
    client.end();
    await gone;
  });
});

Deno.test("RoutedClient says that its client is gone, and is gone when its link is", async () => {
  await withClient(async ({ client, link, gone }) => {
    client.resetAndDestroy();
    await gone;
    deepStrictEqual(link.said, ["close"]);
  });
  await withClient(async ({ client, routed, link, gone }) => {
    client.resume();
    routed.lost();
    await gone;
    await Promise.race([once(client, "end"), once(client, "close")]);
    deepStrictEqual(link.said, []);
  });
});
