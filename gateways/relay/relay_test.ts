/** Clients of all protocols at a member that is not the primary, and what they meet when there is none. */
import { deepStrictEqual, match, ok, rejects, strictEqual, throws } from "node:assert/strict";
import { Buffer } from "node:buffer";
import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import process from "node:process";
import PgDriver from "pg";
import { WebSocket } from "ws";
import { DatabaseError } from "../../engine/base/errors.ts";
import type { NetworkConnection } from "../../engine/host/network.ts";
import { denoNetwork } from "../../engine/host/deno_network.ts";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import { quickTimers } from "../../tests/support/quick_timers.ts";
import { until, untilRunning } from "../../tests/support/until.ts";
import { OperationClient } from "../binary/client.ts";
import { MemberDoor } from "../binary/member_door.ts";
import { securedNetwork } from "../binary/member_network.ts";
import { refuseClient, startBinaryServer } from "../binary/server.ts";
import { startHttpServer } from "../http/server.ts";
import { startPgServer } from "../pg/server.ts";
import { concat, extended, fields, message, startup } from "../pg/testing/wire.ts";
import type { ByteStream, TlsServer } from "../shared/byte_stream.ts";
import { PeerTls } from "../tls/peer_tls.ts";
import { testTls } from "../tls/testing/secured.ts";
import type { PeerSecurity } from "../shared/peer_security.ts";
import {
  decodeRelayedStream,
  decodeRelayHello,
  encodeRelayedStream,
  encodeRelayHello,
  relayHelloState,
} from "../shared/relay_hello.ts";
import { noPrimary, type RelayedStream } from "../shared/relay_port.ts";
import { Relay, type RelayTarget } from "./relay.ts";

const LOOPBACK = { hostname: "127.0.0.1", port: 0 };

interface Member {
  readonly engine: Engine;
  readonly relay: Relay;
  readonly binary: string;
  readonly pg: number;
  readonly http: number;
  readonly https: number | null;
  target: RelayTarget;
  sessions(): number;
  /** Stops the gateway of PostgreSQL's protocol, with time for what runs. */
  stopPg(): Promise<void>;
}

/** Members over databases of their own, so that it shows where a statement ran; member 0 is the primary. */
async function withMembers(
  work: (members: readonly [Member, Member]) => Promise<void>,
  { token = null, tls, security = null }: {
    readonly token?: string | null;
    readonly tls?: TlsServer;
    readonly security?: PeerSecurity | null;
  } = {},
): Promise<void> {
  const bugs: unknown[] = [], lines: string[] = [];
  const closes: (() => Promise<void>)[] = [];
  const processes = [0, 1].map((index) => new Uint8Array(16).fill(index + 1));
  const doors = await Promise.all(
    [0, 1].map(() =>
      MemberDoor.open(LOOPBACK, {
        security,
        offersTls: false,
        onPeer: (connection) => connection.close(),
        onEarlyClient: (socket) => refuseClient(socket, noPrimary()),
        log: (line) => lines.push(line),
      })
    ),
  );
  const members = await Promise.all(doors.map(async (door, index): Promise<Member> => {
    const engine = await Engine.open({ host: memoryHost(), directory: ":memory:" });
    const relay = new Relay({
      index,
      token,
      endOfTurn: () => new Promise((resolve) => setTimeout(resolve, 0)),
      network: security === null ? denoNetwork() : securedNetwork(security),
      peers: {
        hello: (other) => ({ process: processes[other] ?? new Uint8Array(16), version: 2 }),
        address: (other) => doors[other]?.address ?? LOOPBACK,
        process: processes[index] ?? new Uint8Array(16),
        versions: { oldest: 1, newest: 3 },
        oldestVersion: 2,
      },
      target: () => member.target,
      log: (line) => lines.push(line),
    });
    door.onRelayed = (connection, received) => relay.accept(connection, received);
    const options = {
      engine,
      token,
      ...(tls === undefined ? {} : { tls, requiresTls: true }),
      version: "1.0.0",
      relay,
      onInternalError: (error: unknown) => bugs.push(error),
    };
    const binary = await startBinaryServer({ ...options, address: door });
    const pg = await startPgServer({ ...options, address: LOOPBACK });
    const http = await startHttpServer({ ...options, address: LOOPBACK });
    const https = tls === undefined ? null : (await http.listenTls(tls, LOOPBACK)).port;
    closes.push(async () => {
      await Promise.all([binary.close(0), pg.close(0), http.close(0)]);
      relay.close();
      await door.close();
      await engine.close();
    });
    const member: Member = {
      engine,
      relay,
      binary: `127.0.0.1:${door.address.port}`,
      pg: pg.address.port,
      http: http.address.port,
      https,
      target: index === 0 ? "here" : { index: 0 },
      sessions: () => binary.connections + pg.sessionCount,
      stopPg: () => pg.close(10_000),
    };
    return member;
  }));
  const [primary, backup] = members;
  ok(primary !== undefined && backup !== undefined);
  for (const [index, { engine }] of members.entries()) {
    const session = engine.openSession();
    await session.simple(
      `CREATE TABLE place (name text); INSERT INTO place VALUES ('member ${index}')`,
      NOWHERE,
      () => {},
    );
    session.close();
  }
  try {
    await work([primary, backup]);
  } finally {
    await Promise.all(closes.map((close) => close()));
  }
  deepStrictEqual([bugs, lines], [[], []]);
}

// deno-lint-ignore no-explicit-any
const NOWHERE: any = { columns: () => {}, row: () => {} };

/** A PostgreSQL client that collects what it is sent. */
class PgClient {
  readonly socket: Socket;
  text = "";
  isOver = false;

  constructor(port: number, options: { readonly readsAll?: boolean } = {}) {
    this.socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
    if (options.readsAll === false) this.socket.pause();
    else {
      this.socket.on("data", (data: Uint8Array) => {
        this.text += Buffer.from(data).toString("latin1");
      });
    }
    this.socket.on("end", () => this.isOver = true).on("close", () => this.isOver = true).on(
      "error",
      () => {},
    );
  }

  async sends(bytes: Uint8Array, answer: RegExp): Promise<string> {
    this.socket.write(bytes);
    await until(() => answer.test(this.text), `${answer} in ${this.text}`);
    const { text } = this;
    this.text = "";
    return text;
  }
}

const READY = /Z\0\0\0.[ITE]$/s;
const query = (text: string): Uint8Array => message("Q", text);

Deno.test("Relay: PostgreSQL clients of a backup are at the primary: login, pipelines, COPY, cancel, half-close", async () => {
  await withMembers(async ([primary, backup]) => {
    const client = new PgClient(backup.pg);
    // A request for encryption is answered here, and the rest at the primary.
    strictEqual(await client.sends(fields([4, 8], [4, 80877103]), /./), "N");
    // What comes with the startup packet goes along.
    const first = await client.sends(
      concat(startup({ user: "u", application_name: "relayed" }), query("SELECT name FROM place")),
      /Z\0\0\0.I.*Z\0\0\0.I$/s,
    );
    match(first, /member 0/);
    strictEqual(primary.sessions(), 1);
    strictEqual(backup.sessions(), 0);
    match(await client.sends(extended("SELECT application_name FROM pg_stat_activity"), READY), /relayed/);
    await client.sends(query("CREATE TABLE t (a text); COPY t FROM STDIN"), /G\0\0\0/);
    const row = Buffer.from("x".repeat(99) + "\n");
    const data = concat(
      ...Array.from(
        { length: 300 },
        () => message("d", new Uint8Array(Buffer.concat(new Array(200).fill(row)))),
      ),
    );
    await client.sends(concat(data, message("c")), /COPY 60000/);
    // The key that cancels is the primary's.
    const key = first.slice(first.indexOf("K\0\0\0\x0c") + 5);
    client.socket.write(query("SELECT pg_sleep(100)"));
    await untilRunning(primary.engine);
    const cancel = connect({ host: "127.0.0.1", port: backup.pg });
    const secret = new Uint8Array(Buffer.from(key.slice(0, 8), "latin1"));
    cancel.write(concat(fields([4, 16], [4, 80877102]), secret));
    match(await client.sends(new Uint8Array(0), READY), /57014/);
    cancel.destroy();
    // A client that has closed its direction is still answered.
    client.socket.end(query("SELECT pg_sleep(0.05), 'the last'"));
    await until(() => client.isOver, "the end");
    match(client.text, /the last/);
    await until(() => primary.sessions() === 0 && backup.relay.connections === 0, "all closed");
  });
});

Deno.test("Relay: a client that does not read stops its answers; one that leaves ends its session", async () => {
  await withMembers(async ([primary, backup]) => {
    const client = new PgClient(backup.pg, { readsAll: false });
    client.socket.write(
      concat(startup({ user: "u" }), query("SELECT repeat('x', 1000) FROM generate_series(1, 2000000)")),
    );
    await untilRunning(primary.engine);
    await new Promise((resolve) => setTimeout(resolve, 300));
    // Of this thread alone: others of the process have tests of their own.
    const held = () => Deno.memoryUsage().heapUsed + Deno.memoryUsage().external;
    const before = held();
    await new Promise((resolve) => setTimeout(resolve, 300));
    ok(held() - before < 100 << 20, "what is not read is not made");
    strictEqual(primary.sessions(), 1);
    client.socket.destroy();
    await until(() => primary.sessions() === 0 && backup.relay.connections === 0, "all closed");
  });
});

Deno.test("Relay: clients of the binary protocol, of HTTP and WebSocket are at the primary, health is here", async () => {
  await withMembers(reachEverything);
});

Deno.test("Relay: the same, with TLS between the members", async () => {
  using tls = testTls();
  const security = PeerTls.open({
    authorityPath: `${tls.folder}/ca.pem`,
    certificatePath: `${tls.folder}/server.pem`,
    keyPath: `${tls.folder}/server.key`,
  }, () => {});
  await withMembers(reachEverything, { security }).finally(() => security.close());
});

async function reachEverything([primary, backup]: readonly [Member, Member]): Promise<void> {
  const client = await OperationClient.connect({ address: backup.binary });
  const select = "SELECT name FROM place";
  deepStrictEqual(await client.query(select), [{ name: "member 0" }]);
  const follower = await OperationClient.connect({ address: backup.binary, readFrom: "follower" });
  deepStrictEqual(await follower.query(select), [{ name: "member 1" }]);
  await Promise.all([client.close(), follower.close()]);

  // One that knows the primary's address goes there before it asks for anything; a follower stays.
  await until(() => backup.relay.connections === 0, "both closed");
  for (
    const addresses of [[backup.binary, primary.binary], ["127.0.0.1:1", backup.binary, primary.binary]]
  ) {
    const direct = await OperationClient.connect({ addresses });
    await until(() => backup.relay.connections === 0, "the way through the backup is left");
    deepStrictEqual(await direct.query(select), [{ name: "member 0" }]);
    await until(() => primary.sessions() === 1, "one session is left");
    await direct.close();
  }
  // Where the primary's address leads nowhere, or to a server of its own, the way through the backup stays.
  const stranger = await startBinaryServer({
    engine: backup.engine,
    address: LOOPBACK,
    token: null,
    version: "1.0.0",
  });
  for (const other of ["127.0.0.1:1", `127.0.0.1:${stranger.address.port}`]) {
    const relayed = await OperationClient.connect({ addresses: [backup.binary, other] });
    strictEqual(backup.relay.connections, 1);
    deepStrictEqual(await relayed.query(select), [{ name: "member 0" }]);
    await relayed.close();
    await until(() => backup.relay.connections === 0, "closed");
  }
  await stranger.close(0);
  const staying = await OperationClient.connect({
    addresses: [backup.binary, primary.binary],
    readFrom: "follower",
  });
  deepStrictEqual(await staying.query(select), [{ name: "member 1" }]);
  await staying.close();

  const sql = async (
    text: string,
    headers: Record<string, string> = {},
  ): Promise<[number, string, Headers]> => {
    const answer = await fetch(`http://127.0.0.1:${backup.http}/v1/sql`, {
      method: "POST",
      headers: { "Content-Type": "text/plain", ...headers },
      body: text,
    });
    return [answer.status, await answer.text(), answer.headers];
  };
  const warnings: Error[] = [];
  const onWarning = (warning: Error): unknown => warnings.push(warning);
  process.on("warning", onWarning);
  for (let count = 0; count < 12; count++) match((await sql(select))[1], /member 0/);
  process.off("warning", onWarning);
  deepStrictEqual(warnings, []);
  match((await sql(select, { "X-Db-Read-From": "follower" }))[1], /member 1/);
  strictEqual((await sql(select, { "X-Db-Read-From": "anyone" }))[0], 400);
  const [status, body] = await sql("SELECT 1 / 0");
  deepStrictEqual([status, JSON.parse(body).code], [400, "22012"]);
  const lines = (await sql("SELECT n, repeat('y', 100) AS y FROM generate_series(1, 20000) AS s(n)", {
    Accept: "application/x-ndjson",
  }))[1];
  strictEqual(lines.trim().split("\n").length, 20_000 + 2);
  const large = await sql(`SELECT length('${"z".repeat(3 << 20)}') AS n`);
  match(large[1], /3145728/);
  const health = await (await fetch(`http://127.0.0.1:${backup.http}/v1/health`)).json();
  strictEqual(health.op_number, backup.engine.lastOp);

  const socket = new WebSocket(`ws://127.0.0.1:${backup.http}/v1/ws`, ["db-op-v1"]);
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const sessions = (): number => [...primary.engine.sessions].length;
  ok(sessions() > 0, "the session is at the primary");
  socket.close();
  await until(() => sessions() === 0, "its end");
}

Deno.test("Relay: an HTTP request whose way to the primary breaks is not sent again", async () => {
  await withMembers(async ([primary, backup]) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const sql = (text: string): Promise<[number, string]> =>
      new Promise((resolve, reject) => {
        const headers = { "Content-Type": "text/plain" };
        const asked = request(
          { agent, host: "127.0.0.1", port: backup.http, method: "POST", path: "/v1/sql", headers },
          (answer) => {
            let body = "";
            answer.setEncoding("utf8");
            answer.on("data", (piece: string) => body += piece);
            answer.on("end", () => resolve([answer.statusCode ?? 0, body]));
          },
        );
        asked.on("error", reject);
        asked.end(text);
      });
    // The connection to the primary has been used before.
    strictEqual((await sql("SELECT 1"))[0], 200);
    const sessions = (): number => [...primary.engine.sessions].length;
    await until(() => sessions() === 0, "the first request's end");
    const slow = sql("INSERT INTO place SELECT 'x' FROM generate_series(1, 300000)");
    await until(() => sessions() === 1, "the request is at the primary");
    backup.relay.close();
    const [status, body] = await slow;
    deepStrictEqual([status, JSON.parse(body).code], [409, "40003"]);
    // Nobody is there to be asked again, and nothing else of the member suffers.
    backup.target = null;
    strictEqual((await sql("SELECT 1"))[0], 503);
    agent.destroy();
    await until(() => sessions() === 0, "the session's end");
  });
});

Deno.test("Relay: TLS ends at the member that clients are connected to, and the primary knows of it", async () => {
  using tls = testTls();
  await withMembers(async ([primary, backup]) => {
    const select =
      "SELECT ssl, version, (SELECT name FROM place) AS name FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    const expected = [{ ssl: true, version: "TLSv1.3", name: "member 0" }];
    // The login is bound to the certificate that the client saw (SCRAM-SHA-256-PLUS).
    const pg = new PgDriver.Client({
      host: "localhost",
      port: backup.pg,
      user: "test",
      password: "secret",
      ssl: { ca: tls.authority },
      enableChannelBinding: true,
    });
    await pg.connect();
    deepStrictEqual((await pg.query(select)).rows, expected);
    strictEqual(primary.sessions(), 1);
    await pg.end();
    const client = await OperationClient.connect({
      address: backup.binary,
      token: "secret",
      tls: { ca: tls.authority, serverName: "localhost" },
    });
    deepStrictEqual(await client.query(select), expected);
    await client.close();
    using http = Deno.createHttpClient({ caCerts: [tls.authority] });
    const answer = await fetch(`https://localhost:${backup.https}/v1/sql`, {
      method: "POST",
      headers: { "Content-Type": "text/plain", Authorization: "Bearer secret" },
      body: select,
      client: http,
    });
    match(await answer.text(), /TLSv1.3.*member 0/);
    // Who comes in clear text is refused as at the primary.
    const clear = new PgClient(backup.pg);
    clear.socket.write(startup({ user: "u" }));
    await until(() => clear.isOver, "the end");
    match(clear.text, /C28000\0/);
    const wrong = new PgDriver.Client({
      host: "localhost",
      port: backup.pg,
      user: "test",
      password: "wrong",
      ssl: { ca: tls.authority },
    });
    await rejects(wrong.connect(), /password authentication failed/);
  }, { token: "secret", tls: tls.server });
});

Deno.test("Relay: where no primary is known, or none answers, clients get 57P03 and 503", async () => {
  await withMembers(async ([primary, backup]) => {
    const refused = async (): Promise<void> => {
      const client = new PgClient(backup.pg);
      client.socket.write(startup({ user: "u" }));
      await until(() => client.isOver, "the end");
      match(client.text, /SFATAL\0VFATAL\0C57P03\0/);
      await rejects(
        OperationClient.connect({ address: backup.binary, reconnectTimeoutMilliseconds: 1 }),
        (error) => error instanceof DatabaseError && error.code === "57P03",
      );
      const answer = await fetch(`http://127.0.0.1:${backup.http}/v1/sql`, {
        method: "POST",
        headers: { "Content-Type": "text/plain" },
        body: "SELECT 1",
      });
      deepStrictEqual([answer.status, answer.headers.get("retry-after")], [503, "1"]);
      strictEqual((await answer.json()).code, "57P03");
      const socket = new WebSocket(`ws://127.0.0.1:${backup.http}/v1/ws`, ["db-op-v1"]);
      const error = await new Promise((resolve) => socket.once("error", resolve));
      match(String(error), /503/);
    };
    backup.target = null;
    await refused();
    // A primary that has just lost its view does not pass on what was passed on to it.
    backup.target = { index: 0 };
    primary.target = { index: 1 };
    await refused();
    primary.target = "here";
    // A gateway that is not there takes nothing, and what ends without a byte was not looked at.
    primary.relay.take("pg", () => {})();
    const early = new PgClient(backup.pg);
    early.socket.write(startup({ user: "u" }));
    await until(() => early.isOver, "the end");
    match(early.text, /SFATAL\0VFATAL\0C57P03\0/);
  });
});

Deno.test("Forwarding sends a request once, and says 40003 when its connection ends, whether it was used before or not", async () => {
  await withMembers(async ([primary, backup]) => {
    const post = (sql: string) =>
      Buffer.from(
        `POST /v1/sql HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: ${sql.length}\r\n\r\n${sql}`,
      );
    for (const isUsed of [true, false]) {
      for (const next of [{ index: 0 }, null] as const) {
        backup.target = { index: 0 };
        const client = new PgClient(backup.http);
        if (isUsed) await client.sends(post("SELECT 1 AS one"), /"one":1/);
        client.socket.write(post("SELECT pg_sleep(60)"));
        await untilRunning(primary.engine);
        backup.target = next;
        backup.relay.close();
        await until(() => client.text.includes("}"), "an answer");
        match(client.text, /^HTTP\/1\.1 409 [^]*"code":"40003"/);
        // With the former primary gone the next request says that there is none, and the member goes on.
        if (next === null) await client.sends(post("SELECT 1 AS one"), /503 [^]*57P03/);
        client.socket.destroy();
        await until(() => [...primary.engine.sessions].length === 0, "the end of the session");
      }
    }
  });
});

Deno.test("Forwarding says 40003 when the primary ends behind the head of its answer, and ends the connection within one", async () => {
  const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n";
  let answer = "";
  const open = (): Promise<ByteStream> => {
    const asked = Promise.withResolvers<void>();
    const pieces = [Buffer.from(head), Buffer.from(answer)].filter(({ length }) => length > 0);
    return Promise.resolve({
      read: async (into) => {
        await asked.promise;
        const piece = pieces.shift();
        if (piece === undefined) return null;
        into.set(piece);
        return piece.length;
      },
      write: (bytes) => {
        asked.resolve();
        return Promise.resolve(bytes.length);
      },
      closeWrite: () => Promise.resolve(),
      close: () => {},
    });
  };
  const engine = await Engine.open({ host: memoryHost(), directory: ":memory:" });
  const server = await startHttpServer({
    engine,
    token: null,
    version: "1.0.0",
    relay: { self: { index: 1, address: "here" }, route: () => "primary", open, take: () => () => {} },
    onInternalError: (error) => {
      throw error;
    },
    address: LOOPBACK,
  });
  for (
    const [sent, told] of [
      ["", /^HTTP\/1\.1 409 [^]*"code":"40003"/],
      ['{"stat', /^HTTP\/1\.1 200 [^]*\{"stat$/],
      ['{"status":"ok"}', /^HTTP\/1\.1 200 [^]*\{"status":"ok"\}$/],
    ] as const
  ) {
    answer = sent;
    const client = new PgClient(server.address.port);
    const request =
      "POST /v1/sql HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 8\r\n\r\nSELECT 1";
    await client.sends(Buffer.from(request), told).then((text) => match(text, told));
    if (sent === '{"stat') await until(() => client.isOver, "the end of the connection");
    client.socket.destroy();
  }
  await server.close(0);
  await engine.close();
});

Deno.test("Relay: clients that are passed on to a primary that stops are told that, and not that there are too many", async () => {
  await withMembers(async ([primary, backup]) => {
    const first = new PgClient(backup.pg);
    await first.sends(startup({ user: "u" }), READY);
    first.socket.write(query("SELECT pg_sleep(60)"));
    await untilRunning(primary.engine);
    const stopped = primary.stopPg();
    const late = new PgClient(backup.pg);
    late.socket.write(startup({ user: "u" }));
    await until(() => late.isOver, "the end");
    match(late.text, /SFATAL\0VFATAL\0C57P03\0Mthe database system is shutting down\0/);
    first.socket.destroy();
    await stopped;
  });
});

Deno.test("Relay: clients of PostgreSQL's protocol are told what became of what they did when the primary is lost", async () => {
  await withMembers(async ([primary, backup]) => {
    const start = async (...texts: readonly Uint8Array[]): Promise<PgClient> => {
      const client = new PgClient(backup.pg);
      await client.sends(startup({ user: "u" }), READY);
      for (const text of texts) await client.sends(text, READY);
      return client;
    };
    const copy = query("COPY place FROM STDIN");
    const parse = (text: string): Uint8Array => extended(text);
    const idle = await start(query("SELECT 1"), parse("SELECT 2"));
    const block = await start(query("BEGIN; INSERT INTO place VALUES ('lost')"));
    const failed = await start(query("BEGIN"), parse("SELECT 1 / 0"));
    const running = await start();
    running.socket.write(query("SELECT pg_sleep(100)"));
    const committing = await start(query("BEGIN"));
    committing.socket.write(parse("SELECT pg_sleep(100)").subarray(0, -5));
    const loading = await start();
    await loading.sends(copy, /G\0\0\0/);
    const loaded = await start();
    await loaded.sends(copy, /G\0\0\0/);
    await loaded.sends(concat(message("d", Buffer.from("x\n")), message("c")), READY);
    const half = await start();
    half.socket.write(Buffer.from([0x51, 0, 0]));
    const long = await start();
    // More than sockets and windows hold, so that it is still under way when the primary is lost.
    long.socket.write(query("SELECT repeat('x', 1000000), pg_sleep(0) FROM generate_series(1, 60)"));
    await until(() => long.text !== "", "the beginning of a long answer");
    long.socket.pause();
    await until(() => primary.sessions() === 9, "all sessions");
    await new Promise((resolve) => setTimeout(resolve, 200));
    backup.target = null;
    backup.relay.targetChanged();
    const told = async (client: PgClient): Promise<string> => {
      client.socket.resume();
      await until(() => client.isOver, "the end");
      return /^E\0\0..SFATAL\0.*\0C(\w{5})\0.*\0\0$/s.exec(client.text)?.[1] ?? "";
    };
    deepStrictEqual(
      await Promise.all([idle, block, failed, running, committing, loading, loaded].map(told)),
      ["57P01", "40001", "40001", "40003", "40003", "40003", "57P01"],
    );
    // Half of a request was no request; half of an answer is not followed by anything.
    strictEqual(await told(half), "57P01");
    strictEqual(await told(long), "");
    ok(!/SFATAL|SELECT 60/.test(long.text), "an error in the middle of a row, or its end");
  });
});

Deno.test("Relay: a WebSocket is closed with a reason when the primary is lost", async () => {
  await withMembers(async ([primary, backup]) => {
    const socket = new WebSocket(`ws://127.0.0.1:${backup.http}/v1/ws`, "db-op-v1");
    const closed = new Promise<[number, string]>((resolve) =>
      socket.once("close", (code: number, reason: Uint8Array) => resolve([code, String(reason)]))
    );
    await new Promise((resolve) => socket.once("open", resolve));
    ok(backup.relay.connections > 0 && primary.relay.connections === 0, "it is passed on");
    backup.target = null;
    backup.relay.targetChanged();
    const [code, reason] = await closed;
    strictEqual(code, 1012);
    match(reason, /^40003: it is unknown/);
  });
});

Deno.test("Relay.targetChanged() ends what goes to the former primary", async () => {
  await withMembers(async ([primary, backup]) => {
    const client = new PgClient(backup.pg);
    await client.sends(startup({ user: "u" }), READY);
    backup.target = { index: 1 };
    backup.relay.targetChanged();
    await until(() => client.isOver && primary.sessions() === 0, "the end of the session");
  });
});

Deno.test("Relay.open() leaves no stream behind that is there too late, goes to a former primary, or breaks at once", async () => {
  using _ = quickTimers();
  for (const trouble of ["late", "silent", "former", "broken"] as const) {
    const connected = Promise.withResolvers<NetworkConnection>();
    const ended = Promise.withResolvers<null>();
    let target: RelayTarget = { index: 0 };
    let closes = 0, attempts = 0;
    const relay = new Relay({
      index: 1,
      token: null,
      peers: {
        hello: () => ({ process: new Uint8Array(16), version: 2 }),
        address: () => LOOPBACK,
        process: new Uint8Array(16),
        versions: { oldest: 1, newest: 2 },
        oldestVersion: 1,
      },
      target: () => target,
      log: () => {},
      endOfTurn: () => Promise.resolve(),
      network: {
        connect: () => {
          attempts++;
          return connected.promise;
        },
      },
    });
    const stream: RelayedStream = { protocol: "pg", encryption: null, endPoint: null };
    let takes = trouble === "former";
    const opening = relay.open(stream);
    if (trouble === "late") await rejects(opening, { code: "57P03" });
    if (trouble === "former") target = { index: 2 };
    connected.resolve({
      remote: LOOPBACK,
      read: (bytes) => {
        if (!takes) return ended.promise;
        takes = false;
        // The first stream is opened.
        bytes.set([5, 0, 0, 0, 1, 0, 0, 0, 2]);
        return Promise.resolve(9);
      },
      write: () => trouble === "broken" ? Promise.reject(new Error("reset")) : Promise.resolve(),
      close: () => {
        ended.resolve(null);
        // As a connection of Deno does, which would end the process where nobody waits.
        if (closes++ > 0) throw new Deno.errors.BadResource("Bad resource ID");
      },
    });
    if (trouble !== "late") await rejects(opening, { code: "57P03" });
    await new Promise((resolve) => setTimeout(resolve));
    strictEqual(relay.connections, 0, trouble);
    strictEqual(attempts, 1);
    target = null;
    relay.targetChanged();
    relay.close();
    await new Promise((resolve) => setTimeout(resolve));
    strictEqual(closes, 1, trouble);
  }
});

Deno.test("MemberDoor lets clients in however many connections say nothing", async () => {
  await withMembers(async ([primary]) => {
    const port = Number(primary.binary.split(":")[1]);
    const silent = Array.from(
      { length: 300 },
      () => connect({ host: "127.0.0.1", port }).on("error", () => {}),
    );
    let ended = 0;
    for (const socket of silent) socket.on("close", () => ended++).resume();
    await until(() => ended >= 44, "the oldest to go");
    const client = await OperationClient.connect({ address: primary.binary });
    deepStrictEqual(await client.query("SELECT name FROM place"), [{ name: "member 0" }]);
    await client.close();
    for (const socket of silent) socket.destroy();
  });
});

Deno.test("decodeRelayHello() takes what a member with the token says to this process, and nothing else", () => {
  const ends = { from: 1, to: 0, process: new Uint8Array(16).fill(9), token: "secret" };
  const versions = { oldest: 2, newest: 3 };
  const frame = encodeRelayHello(ends, 2);
  const rest = new Uint8Array([1, 2, 3]);
  deepStrictEqual(decodeRelayHello(concat(frame, rest), ends, versions), { from: 1, rest });
  for (let length = 0; length <= frame.length + 3; length++) {
    const state = relayHelloState(concat(frame, rest).subarray(0, length));
    strictEqual(state, length < frame.length ? "partial" : "whole");
  }
  for (let at = 4; at < frame.length; at++) {
    const changed = frame.slice();
    changed[at] = (changed[at] ?? 0) ^ 1;
    throws(() => decodeRelayHello(changed, ends, versions), DatabaseError, `byte ${at}`);
  }
  throws(
    () => decodeRelayHello(frame, { ...ends, process: new Uint8Array(16) }, versions),
    /no member of this cluster/,
  );
  throws(() => decodeRelayHello(frame, { ...ends, token: "other" }, versions), /no member of this cluster/);
  throws(
    () => decodeRelayHello(frame, { ...ends, to: 2 }, versions),
    /to member 0, and this is member 2: check the order/,
  );
  throws(() => decodeRelayHello(frame, { ...ends, token: null }, versions), DatabaseError);
  const open = { ...ends, token: null };
  deepStrictEqual(decodeRelayHello(encodeRelayHello(open, 3), open, versions), {
    from: 1,
    rest: new Uint8Array(0),
  });
  for (const version of [1, 4]) {
    throws(
      () => decodeRelayHello(encodeRelayHello(ends, version), ends, versions),
      new RegExp(`a relayed client: version ${version}`),
    );
  }
  strictEqual(relayHelloState(new TextEncoder().encode("GET / HTTP/1.1")), "none");
  strictEqual(relayHelloState(startup({ user: "u" })), "none");
});

Deno.test("decodeRelayedStream() reads what a client is like, and refuses what it does not know", () => {
  const encryption = { version: "TLSv1.3", cipher: "TLS_AES_256_GCM_SHA384", bits: 256 };
  const streams: readonly RelayedStream[] = [
    { protocol: "pg", encryption, endPoint: new Uint8Array(32).fill(5) },
    { protocol: "binary", encryption, endPoint: null },
    { protocol: "http", encryption: null, endPoint: null },
  ];
  for (const stream of streams) {
    const bytes = encodeRelayedStream(stream);
    deepStrictEqual(decodeRelayedStream(bytes), stream);
    for (const protocol of [0, 4, 255]) {
      throws(() => decodeRelayedStream(concat(new Uint8Array([protocol]), bytes.subarray(1))), /unknown/);
    }
    for (let length = 0; length < bytes.length; length++) {
      throws(() => decodeRelayedStream(bytes.subarray(0, length)), DatabaseError);
    }
    throws(() => decodeRelayedStream(concat(bytes, new Uint8Array(1))), DatabaseError);
  }
});
