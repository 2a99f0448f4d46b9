/** TLS of HTTPS, of the binary protocol and its client, and certificates that change. */
import { deepStrictEqual as same, match, rejects, strictEqual as equal, throws } from "node:assert/strict";
import { createServer } from "node:net";
import { connect as connectSecurely } from "node:tls";
import { WebSocket } from "ws";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import { connect } from "../binary/client.ts";
import { startBinaryServer } from "../binary/server.ts";
import { listen } from "../shared/listen.ts";
import { startHttpServer } from "../http/server.ts";
import { CertificateError, endPointOf, readCertificate } from "./certificate.ts";
import { CertificateFiles } from "./certificate_files.ts";
import { ensureDevelopmentCertificate } from "./development_certificate.ts";
import { testTls } from "./testing/secured.ts";

const DAY_MILLISECONDS = 86_400_000;
const ADDRESS = { hostname: "127.0.0.1", port: 0 };

/** An engine in memory. */
async function openEngine(): Promise<Engine & AsyncDisposable> {
  const engine = await Engine.open({ host: memoryHost(), directory: ":memory:" });
  return Object.assign(engine, { [Symbol.asyncDispose]: () => engine.close() });
}

const PEM = /-----BEGIN CERTIFICATE-----\n([\s\S]*?)-----END/;

Deno.test("HTTPS serves the paths of HTTP, requests in one packet with the handshake's end, and WebSockets", async () => {
  using tls = testTls();
  await using engine = await openEngine();
  const http = await startHttpServer({
    engine,
    address: null,
    token: null,
    version: "1",
    maximumConnections: 3,
  });
  const { port } = await http.listenTls(tls.server, ADDRESS);
  const client = Deno.createHttpClient({ caCerts: [tls.authority], poolMaxIdlePerHost: 0 });
  const ask = async (sql: string): Promise<unknown> => {
    const response = await fetch(`https://localhost:${port}/v1/sql`, {
      method: "POST",
      headers: { "Content-Type": "text/plain" },
      body: sql,
      client,
    });
    return (await response.json() as { rows: unknown }).rows;
  };
  same(await ask("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"), [{ ssl: true }]);
  same(await ask(`SELECT length('${"x".repeat(300_000)}') AS n`), [{ n: 300_000 }]);
  client.close();

  const head = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  const pipelined = await new Promise<string>((resolve, reject) => {
    let text = "";
    const socket = connectSecurely({ host: "127.0.0.1", port, ca: tls.authority, servername: "localhost" });
    // Written before the handshake is done.
    socket.write(head("/v1/health").repeat(200));
    socket.on("data", (data: Uint8Array) => {
      text += new TextDecoder().decode(data);
      if (text.match(/HTTP\/1.1 200/g)?.length === 200) socket.end();
    });
    socket.on("close", () => resolve(text)).on("error", reject);
  });
  equal(pipelined.match(/"status":"ok"/g)?.length, 200);

  const webSocket = new WebSocket(`wss://localhost:${port}/v1/ws`, "db-op-v1", { ca: tls.authority });
  await new Promise((resolve, reject) => webSocket.once("open", resolve).once("error", reject));
  // Code 24 with a number: a ping.
  webSocket.send(Uint8Array.of(0x24, 7, 0, 0, 0, 0, 0, 0, 0, 0));
  const [answer] = await new Promise<[Uint8Array]>((resolve) =>
    webSocket.once("message", (data) => resolve([data as Uint8Array]))
  );
  equal(answer[1], 7);

  // Beyond the cap the refusal is said over TLS, too; clear text and other protocols are not answered at all.
  const others = await Promise.all(
    [1, 2].map(() => Deno.connectTls({ hostname: "localhost", port, caCerts: [tls.authority] })),
  );
  await Promise.all(others.map((other) => other.handshake()));
  const beyond = await Deno.connectTls({ hostname: "localhost", port, caCerts: [tls.authority] });
  match(new TextDecoder().decode(await readAll(beyond)), /^HTTP\/1.1 503 /);
  for (const other of others) other.close();
  webSocket.close();
  while (http.connections > 0) await new Promise((resolve) => setTimeout(resolve, 1));
  const plain = await Deno.connect({ hostname: "127.0.0.1", port });
  await plain.write(new TextEncoder().encode(head("/v1/health")));
  equal((await readAll(plain))[0] ?? 0x15, 0x15);
  await rejects(
    Deno.connectTls({ hostname: "localhost", port, caCerts: [tls.authority], alpnProtocols: ["h2"] })
      .then((connection) => connection.handshake()),
    /NoApplicationProtocol/,
  );
  await http.close(0);
  equal(tls.server.connections, 0);
});

Deno.test("A paused TLS socket reads no further, and goes on where it stopped", async () => {
  using tls = testTls();
  const total = 24 << 20, pauseAt = 1 << 20;
  let received = 0, sent = 0, sentWhilePaused = 0;
  const ended = Promise.withResolvers<void>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    void tls.server.secure(socket, { protocols: ["test"], received: null }).then(({ socket: secured }) => {
      secured.on("data", (data: Uint8Array) => {
        const before = received;
        received += data.length;
        if (before >= pauseAt || received < pauseAt) return;
        secured.pause();
        const atPause = sent;
        setTimeout(() => {
          sentWhilePaused = sent - atPause;
          secured.resume();
        }, 150);
      });
      secured.on("end", () => secured.end()).on("close", () => ended.resolve());
    });
  });
  const { port } = await listen(server, ADDRESS);
  const client = await Deno.connectTls({ hostname: "localhost", port, caCerts: [tls.authority] });
  const piece = new Uint8Array(65_536);
  while (sent < total) sent += await client.write(piece);
  await client.closeWrite();
  await ended.promise;
  client.close();
  equal(received, total);
  // What the system's buffers take on both sides.
  equal(sentWhilePaused < 12 << 20, true, `${sentWhilePaused} bytes`);
  await new Promise((resolve) => server.close(resolve));
});

Deno.test("HTTPS does not read on behind requests whose answers nobody takes", async () => {
  using tls = testTls();
  await using engine = await openEngine();
  const http = await startHttpServer({ engine, address: null, token: null, version: "1" });
  const { port } = await http.listenTls(tls.server, ADDRESS);
  const client = await Deno.connectTls({ hostname: "localhost", port, caCerts: [tls.authority] });
  const head = "POST /v1/sql HTTP/1.1\r\nHost: l\r\nContent-Type: text/plain\r\nContent-Length: 8\r\n\r\n";
  const requests = new TextEncoder().encode(`${head}SELECT 1`.repeat(500));
  let sent = 0, sentBefore = -1;
  void (async () => {
    for (;;) sent += await client.write(requests);
  })().catch(() => {});
  // What the system's buffers take; without holding back it would go on for ever.
  while (sent > sentBefore && sent < 24 << 20) {
    sentBefore = sent;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  equal(sent < 24 << 20, true, `${sent} bytes`);
  const trusting = Deno.createHttpClient({ caCerts: [tls.authority], poolMaxIdlePerHost: 0 });
  const metrics = await fetch(`https://localhost:${port}/v1/metrics`, { client: trusting });
  const inFlight = Number(/^db_http_requests_in_flight (\d+)$/m.exec(await metrics.text())?.[1]);
  equal(inFlight < 5_000, true, `${inFlight} requests in flight`);
  trusting.close();
  client.close();
  await http.close(0);
});

async function readAll(connection: Deno.Conn): Promise<Uint8Array> {
  const bytes: number[] = [];
  const buffer = new Uint8Array(4096);
  try {
    for (let count = await connection.read(buffer); count !== null; count = await connection.read(buffer)) {
      bytes.push(...buffer.subarray(0, count));
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.UnexpectedEof)) {
      throw error;
    }
  }
  connection.close();
  return Uint8Array.from(bytes);
}

Deno.test("connect() speaks TLS to the port that takes clear text, and says why it does not trust a server", async () => {
  using tls = testTls();
  using other = testTls();
  using expired = testTls({ now: new Date(Date.now() - 800 * DAY_MILLISECONDS) });
  await using engine = await openEngine();
  const start = (secure: typeof tls | null, requiresTls = false) =>
    startBinaryServer({
      engine,
      address: ADDRESS,
      token: "secret",
      version: "1",
      requiresTls,
      ...(secure === null ? {} : { tls: secure.server }),
    });
  const servers = {
    good: await start(tls),
    required: await start(tls, true),
    expired: await start(expired),
    plain: await start(null),
  };
  const at = (server: { readonly address: { readonly port: number } }, host = "localhost") =>
    `${host}:${server.address.port}`;
  const ca = tls.authority;
  for (const secure of [{ ca }, { ca, serverName: "127.0.0.1" }, null]) {
    await using client = await connect({ address: at(servers.good), token: "secret", tls: secure ?? false });
    const [row] = await client.query("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()");
    same(row, { ssl: secure !== null });
    if (secure === null) continue;
    // More than a record and more than a read.
    const [large] = await client.query("SELECT length($1) AS n, repeat('y', 300000) AS t", [
      "x".repeat(300_000),
    ]);
    same([large?.n, String(large?.t).length], [300_000, 300_000]);
  }
  const refused = (server: { readonly address: { readonly port: number } }, secure: object | false) =>
    connect({ address: at(server), token: "secret", tls: secure, connectTimeoutMilliseconds: 2000 })
      .then(
        () => "connected",
        (error: { readonly code: string; readonly message: string }) =>
          `${error.code} ${error.message.replace(/^Cannot connect to [^ ]+: /, "")}`,
      );
  equal(
    await refused(servers.good, { ca: other.authority }),
    "08001 its certificate is not signed by an authority that is trusted here",
  );
  equal(
    await refused(servers.good, {}),
    "08001 its certificate is not signed by an authority that is trusted here",
  );
  match(
    await refused(servers.good, { ca, serverName: "db.example" }),
    /^08001 its certificate is for DNS:localhost, .*, not for db.example$/,
  );
  match(
    await refused(servers.expired, { ca: expired.authority }),
    /^08001 its certificate has expired on \d{4}-\d\d-\d\d$/,
  );
  equal(await refused(servers.plain, { ca }), "08001 it does not speak TLS there");
  equal(
    await refused(servers.required, false),
    "28000 no encryption: the server refuses clients in clear text",
  );
  equal(await refused(servers.required, { ca }), "connected");
  for (const server of Object.values(servers)) {
    await server.close(0);
    equal(server.connections, 0);
  }
});

Deno.test("readCertificate() says what is wrong, and knows the channel binding", () => {
  using tls = testTls();
  using other = testTls();
  const read = (path: string): string => Deno.readTextFileSync(path);
  const [certificate, key] = [read(`${tls.folder}/server.pem`), read(`${tls.folder}/server.key`)];
  equal(readCertificate(certificate, key).endPoint?.length, 32);
  for (
    const [chain, privateKey, problem] of [
      ["", key, /holds no certificate in PEM form/],
      [certificate, "", /holds no private key in PEM form/],
      [certificate, read(`${other.folder}/server.key`), /does not belong to the certificate/],
      [certificate, "-----BEGIN ENCRYPTED PRIVATE KEY-----\n", /key is encrypted/],
    ] as const
  ) {
    throws(
      () => readCertificate(chain, privateKey),
      (error) => error instanceof CertificateError && problem.test(error.message),
    );
  }
  const der = Uint8Array.fromBase64((PEM.exec(certificate)?.[1] ?? "").replaceAll("\n", ""));
  const digest = endPointOf(der);
  equal(digest?.length, 32);
  // ecdsa-with-SHA384 and a signature without a hash of its own, in the place of ecdsa-with-SHA256.
  const at = der.length - 72 - 12;
  const last = der.findLastIndex((byte, index) =>
    index <= at + 12 && byte === 0x02 && der[index - 1] === 0x03
  );
  equal(endPointOf(der.with(last, 0x03))?.length, 48);
  equal(endPointOf(der.with(last, 0x7f)), null);
});

Deno.test("CertificateFiles reads files that have changed, and keeps what it has while they cannot be used", async () => {
  using tls = testTls();
  using other = testTls();
  const lines: string[] = [];
  const files = CertificateFiles.open({
    certificatePath: `${tls.folder}/server.pem`,
    keyPath: `${tls.folder}/server.key`,
    log: (line) => lines.push(line),
    pollMilliseconds: 5,
  });
  const first = files.current;
  const logged = async (count: number): Promise<void> => {
    while (lines.length < count) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  Deno.copyFileSync(`${other.folder}/server.pem`, `${tls.folder}/server.pem`);
  await logged(1);
  match(lines[0] ?? "", /key does not belong to the certificate; the certificate that was read before stays/);
  equal(files.current, first);
  Deno.copyFileSync(`${other.folder}/server.key`, `${tls.folder}/server.key`);
  await logged(2);
  match(lines[1] ?? "", /^TLS certificate ".*" read again, valid until \d{4}-\d\d-\d\d$/);
  Deno.removeSync(`${tls.folder}/server.pem`);
  await logged(3);
  match(lines[2] ?? "", /there is no such file/);
  files.reload();
  equal(lines.length, 4);
  files.close();
  throws(() => CertificateFiles.open({ certificatePath: "/none", keyPath: "/none", log: () => {} }), {
    message: 'Cannot read the TLS certificate "/none": there is no such file',
  });
});

Deno.test("ensureDevelopmentCertificate() keeps its files, and renews what is about to end", () => {
  const folder = Deno.makeTempDirSync({ prefix: "tls-" });
  const read = (name: string): string => Deno.readTextFileSync(`${folder}/${name}`);
  const now = new Date();
  const later = (days: number): Date => new Date(now.getTime() + days * DAY_MILLISECONDS);
  const states = [0, 300, 340, 3630].map((days) => {
    ensureDevelopmentCertificate(folder, later(days));
    return [read("ca.pem"), read("server.pem"), read("server.key")];
  });
  const changes = states.slice(1).map((state, index) =>
    state.map((text, at) => text !== states[index]?.[at])
  );
  same(changes, [[false, false, false], [false, true, true], [true, true, true]]);
  if (Deno.build.os !== "windows") {
    for (const name of ["ca.key", "server.key"]) {
      equal((Deno.statSync(`${folder}/${name}`).mode ?? 0) & 0o777, 0o600);
    }
  }
  Deno.removeSync(`${folder}/ca.pem`);
  ensureDevelopmentCertificate(folder, later(3631));
  equal(read("ca.pem") === states[3]?.[0], false);
  Deno.writeTextFileSync(`${folder}/server.key`, "damaged");
  throws(() => ensureDevelopmentCertificate(folder, now), CertificateError);
  Deno.removeSync(folder, { recursive: true });
});
