/** TLS on the PostgreSQL port, by clients that keep to the rules and by clients that do not. */
import { deepStrictEqual as same, match, ok, rejects, strictEqual as equal } from "node:assert/strict";
import {
  concat,
  errorFields,
  fields,
  message,
  messagesOf,
  rowOf,
  startup,
  typesOf,
} from "../../gateways/pg/testing/wire.ts";
import { startRelay, type TestTls, testTls } from "../../gateways/tls/testing/secured.ts";
import { untilRunning } from "../support/until.ts";
import { openPgDatabase, type PgDatabase } from "./support/pg_database.ts";
import { RawClient } from "./support/raw_client.ts";

const SSL_REQUEST = fields([4, 8], [4, 80877103]);
const GSS_REQUEST = fields([4, 8], [4, 80877104]);
const YES = 0x53, NO = 0x4e;
const query = (text: string): Uint8Array => message("Q", text);

/** A client that has sent SSLRequest and shaken hands. */
async function secured(port: number, { authority }: TestTls): Promise<RawClient> {
  const client = await RawClient.connect(port);
  await client.send(SSL_REQUEST);
  equal(await client.byte(), YES);
  await client.startTls({ hostname: "localhost", caCerts: [authority] });
  return client;
}

async function ended(client: RawClient): Promise<string> {
  return typesOf(messagesOf(await client.rest()));
}

async function noSessions(database: PgDatabase): Promise<void> {
  while (database.server.sessionCount > 0) await new Promise((resolve) => setTimeout(resolve, 1));
}

Deno.test("The PostgreSQL port encrypts after SSLRequest, once, and says so in pg_stat_ssl", async () => {
  using tls = testTls();
  await using database = await openPgDatabase({ tls: tls.server });
  using client = await RawClient.connect(database.port);
  await client.send(GSS_REQUEST);
  equal(await client.byte(), NO);
  await client.send(SSL_REQUEST);
  equal(await client.byte(), YES);
  await client.startTls({ hostname: "localhost", caCerts: [tls.authority] });
  await client.send(startup({ user: "test" }));
  match(typesOf(await client.until("Z")), /^RS+KZ$/);
  await client.send(query("SELECT ssl, version, bits > 0 FROM pg_stat_ssl WHERE pid = pg_backend_pid()"));
  const [, row] = await client.until("Z");
  same(row && rowOf(row), ["t", "TLSv1.3", "t"]);
  await client.send(query("SELECT g, repeat('x', 100) FROM generate_series(1, 20000) g"));
  equal((await client.until("Z")).filter(({ type }) => type === "D").length, 20_000);
  equal(tls.server.connections, 1);

  using plain = await RawClient.start(database.port);
  await plain.send(query("SELECT ssl, version FROM pg_stat_ssl WHERE pid = pg_backend_pid()"));
  const [, clear] = await plain.until("Z");
  same(clear && rowOf(clear), ["f", null]);

  for (const request of [SSL_REQUEST, GSS_REQUEST]) {
    using again = await secured(database.port, tls);
    await again.send(request);
    const [error] = messagesOf(await again.rest());
    equal(error && errorFields(error)["C"], "08P01");
  }
  await client.send(message("X"));
  await ended(client);
  same(database.internalErrors, []);
});

Deno.test("The PostgreSQL port takes a handshake without SSLRequest if its protocol is postgresql", async () => {
  using tls = testTls();
  await using database = await openPgDatabase({ tls: tls.server });
  const connect = (protocols: readonly string[]): Promise<Deno.TlsConn> =>
    Deno.connectTls({
      hostname: "localhost",
      port: database.port,
      caCerts: [tls.authority],
      ...(protocols.length === 0 ? {} : { alpnProtocols: [...protocols] }),
    });
  using client = new RawClient(await connect(["postgresql"]));
  await client.send(startup({ user: "test" }));
  match(typesOf(await client.until("Z")), /^RS+KZ$/);
  for (const protocols of [[], ["http/1.1"]]) {
    await rejects(async () => {
      using refused = new RawClient(await connect(protocols));
      await refused.send(startup({ user: "test" }));
      equal(await ended(refused), "");
      throw new Error("closed without an answer");
    }, /NoApplicationProtocol|closed without an answer|reset|Broken pipe|eof/i);
  }
  equal(tls.server.failures, 2);
});

Deno.test("The PostgreSQL port never takes clear text for encrypted bytes (CVE-2021-23214)", async () => {
  using tls = testTls();
  await using database = await openPgDatabase({ tls: tls.server });
  using early = await RawClient.connect(database.port);
  await early.send(concat(SSL_REQUEST, startup({ user: "test" })));
  const [error] = messagesOf(await early.rest());
  same(error && [errorFields(error)["C"], errorFields(error)["M"]], [
    "08P01",
    "received unencrypted data after SSL request",
  ]);
  // The same in a packet of its own.
  using late = await RawClient.connect(database.port);
  await late.send(SSL_REQUEST);
  equal(await late.byte(), YES);
  await late.send(startup({ user: "test" }), query("SELECT 1"));
  // At most an alert of TLS, and no message.
  const [first = 0x15] = await late.rest();
  equal(first, 0x15);
  equal(database.server.sessionCount, 0);
  equal(tls.server.failures, 1);
});

Deno.test("The PostgreSQL port ends damaged, cut off and endless handshakes and records", async () => {
  using tls = testTls({ handshakeMilliseconds: 150 });
  await using database = await openPgDatabase({ tls: tls.server });
  // A handshake that never ends, and one of a client that leaves.
  for (const leaves of [false, true]) {
    using half = await RawClient.connect(database.port);
    await half.send(SSL_REQUEST);
    equal(await half.byte(), YES);
    await half.send(Uint8Array.of(0x16, 3, 1, 2, 0, 1));
    if (leaves) await half.finish();
    equal(await ended(half), "");
  }
  equal(tls.server.failures, 2);
  for (const damage of ["flip", "cut"] as const) {
    let isArmed = false;
    using relay = startRelay(database.port, (bytes) => {
      if (!isArmed) return { bytes };
      isArmed = false;
      return damage === "cut"
        ? { bytes: bytes.subarray(0, bytes.length - 5), isLast: true }
        : { bytes: bytes.with(bytes.length - 1, (bytes.at(-1) ?? 0) ^ 1) };
    });
    using client = await secured(relay.port, tls);
    await client.send(startup({ user: "test" }));
    await client.until("Z");
    isArmed = true;
    await client.send(query("CREATE TABLE never ()"));
    if (damage === "cut") equal(await ended(client), "");
    else await rejects(() => client.rest(), /BadRecordMac/);
    await noSessions(database);
  }
  using client = await RawClient.start(database.port);
  await client.send(query("SELECT count(*) FROM pg_tables WHERE tablename = 'never'"));
  const [, row] = await client.until("Z");
  same(row && rowOf(row), ["0"]);
  same(database.internalErrors, []);
});

Deno.test("The PostgreSQL port refuses versions before TLS 1.2", async () => {
  using tls = testTls();
  await using database = await openPgDatabase({ tls: tls.server });
  for (const minor of [0, 1, 2]) {
    using client = await RawClient.connect(database.port);
    await client.send(SSL_REQUEST);
    equal(await client.byte(), YES);
    // A ClientHello with suites and signatures that each version has.
    const signatures = [0, 13, 0, 6, 0, 4, 4, 3, 2, 3], groups = [0, 10, 0, 4, 0, 2, 0, 23];
    const hello = [3, minor, ...new Array(32).fill(7), 0, 0, 4, 0xc0, 0x09, 0xc0, 0x0a, 1, 0, 0, 18];
    const body = [...hello, ...signatures, ...groups];
    await client.send(
      Uint8Array.from([0x16, 3, minor, 0, body.length + 4, 1, 0, 0, body.length, ...body]),
    );
    const [record, major, , , , level] = await client.rest();
    same([record, major, level], [0x15, 3, 2], `an alert for 3.${minor}`);
  }
  equal(tls.server.handshakes, 0);
});

Deno.test("Cancel requests come over TLS, and a server may refuse sessions in clear text", async () => {
  using tls = testTls();
  await using database = await openPgDatabase({ tls: tls.server, requiresTls: true });
  using refused = await RawClient.connect(database.port);
  await refused.send(startup({ user: "test" }));
  const [error] = messagesOf(await refused.rest());
  equal(error && errorFields(error)["C"], "28000");

  using client = await secured(database.port, tls);
  await client.send(startup({ user: "test" }));
  const key = (await client.until("Z")).find(({ type }) => type === "K");
  ok(key !== undefined);
  await client.send(query("SELECT count(*) FROM generate_series(1, 100000000000)"));
  await untilRunning(database.engine);
  using canceler = await secured(database.port, tls);
  await canceler.send(concat(fields([4, 16], [4, 80877102]), key.body.slice(0, 8)));
  equal(await ended(canceler), "");
  const canceled = (await client.until("Z")).find(({ type }) => type === "E");
  equal(canceled && errorFields(canceled)["C"], "57014");
});
