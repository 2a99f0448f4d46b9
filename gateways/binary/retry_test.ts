/** What the client does when connections are lost: a proxy between it and the server cuts them at chosen moments. */
import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { connect as connectSocket, createServer, type Server, type Socket } from "node:net";
import { ByteWriter } from "../../engine/base/bytes.ts";
import { DatabaseError } from "../../engine/base/errors.ts";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import { until, untilRunning } from "../../tests/support/until.ts";
import { OperationClient } from "./client.ts";
import type { ClientOptions } from "./client_api.ts";
import { isRead } from "./retry_rule.ts";
import { writeFramed } from "../shared/operation/operation_connection.ts";
import { failureOf, writeReply } from "../shared/operation/reply_codec.ts";
import { noPrimary } from "../shared/relay_port.ts";
import { refuseClient, startBinaryServer } from "./server.ts";

/** Passes bytes on; answers of the server can be swallowed together with the connection. */
class Proxy {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  /** The next answer is lost, and the connection with it. */
  cutNextAnswer = false;
  /** What the next connection's first request is answered with in the place of the server's answer. */
  answerAfterwards: Uint8Array | null = null;
  isRefusing = false;
  /** So many connections are answered as by a member of a cluster without a primary. */
  electionsLeft = 0;
  connections = 0;

  constructor(target: number) {
    this.#server = createServer((client) => {
      this.connections++;
      if (this.isRefusing) {
        client.destroy();
        return;
      }
      if (this.electionsLeft > 0) {
        this.electionsLeft--;
        refuseClient(client, noPrimary());
        return;
      }
      const upstream = connectSocket({ host: "127.0.0.1", port: target });
      const pair = [client, upstream] as const;
      this.#pairs.add(pair);
      let isGreeted = false;
      client.on("data", (data: Uint8Array) => {
        const answer = isGreeted && !this.cutNextAnswer ? this.answerAfterwards : null;
        if (answer === null) return void upstream.write(data);
        this.answerAfterwards = null;
        client.write(answer);
      });
      upstream.on("data", (data: Uint8Array) => {
        isGreeted = true;
        if (!this.cutNextAnswer) client.write(data);
        else {
          this.cutNextAnswer = false;
          this.cut();
        }
      });
      for (const socket of pair) {
        socket.on("error", () => {});
        socket.on("close", () => {
          client.destroy();
          upstream.destroy();
          this.#pairs.delete(pair);
        });
      }
    });
  }

  get address(): string {
    const address = this.#server.address();
    return `127.0.0.1:${address !== null && typeof address === "object" ? address.port : 0}`;
  }

  listen(): Promise<number> {
    return new Promise((resolve) =>
      this.#server.listen(0, "127.0.0.1", () => {
        const address = this.#server.address();
        resolve(address !== null && typeof address === "object" ? address.port : 0);
      })
    );
  }

  cut(): void {
    for (const [client, upstream] of this.#pairs) {
      client.destroy();
      upstream.destroy();
    }
  }

  close(): Promise<void> {
    this.cut();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

async function withProxy(
  options: ClientOptions,
  work: (client: OperationClient, proxy: Proxy, engine: Engine) => Promise<void>,
): Promise<void> {
  const engine = await Engine.open({ host: memoryHost(), directory: ":memory:" });
  const server = await startBinaryServer({
    engine,
    address: { hostname: "127.0.0.1", port: 0 },
    token: null,
    version: "0.0.0",
  });
  const proxy = new Proxy(server.address.port);
  const client = await OperationClient.connect({ address: `127.0.0.1:${await proxy.listen()}`, ...options });
  try {
    await client.execute("CREATE TABLE t (id BIGINT PRIMARY KEY)");
    await work(client, proxy, engine);
  } finally {
    await client.close();
    await proxy.close();
    await server.close(0);
    await engine.close();
  }
}

/** Where nothing listens. */
function unusedAddress(): string {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return `127.0.0.1:${port}`;
}

function code(expected: string): (error: unknown) => boolean {
  return (error) => {
    ok(error instanceof DatabaseError, String(error));
    strictEqual(error.code, expected, error.message);
    return true;
  };
}

Deno.test("a client connects again and repeats a read whose answer was lost", () =>
  withProxy({}, async (client, proxy) => {
    proxy.cutNextAnswer = true;
    deepStrictEqual(await client.query("SELECT 1 AS a"), [{ a: 1 }]);
    strictEqual(proxy.connections, 2);
  }));

Deno.test("a change whose answer was lost is reported as unknown, never as failed", () =>
  withProxy({}, async (client, proxy) => {
    proxy.cutNextAnswer = true;
    await rejects(client.execute("INSERT INTO t VALUES (1)"), code("40003"));
    deepStrictEqual(await client.query("SELECT count(*) AS n FROM t"), [{ n: 1 }]);
  }));

Deno.test("with exactlyOnce, a change whose answer was lost is repeated and applied once", () =>
  withProxy({ exactlyOnce: true }, async (client, proxy) => {
    for (let id = 1; id <= 20; id++) {
      proxy.cutNextAnswer = id % 3 === 0;
      strictEqual((await client.execute("INSERT INTO t VALUES ($1)", [id])).command, "INSERT 0 1");
    }
    deepStrictEqual(await client.query("SELECT count(*) AS n FROM t"), [{ n: 20 }]);
    ok(proxy.connections > 5);
    // A reply that was stored is a failure's, too.
    proxy.cutNextAnswer = true;
    await rejects(client.execute("INSERT INTO t VALUES (1)"), code("23505"));
  }));

Deno.test("a repeated change that a server has no time for is unknown: the first one may have been carried out", () =>
  withProxy({ exactlyOnce: true }, async (client, proxy) => {
    const writer = new ByteWriter();
    const failure = failureOf(noPrimary());
    writeFramed(writer, (each) => writeReply(each, { kind: "error", number: 2n, status: "idle", failure }));
    proxy.answerAfterwards = writer.finish();
    proxy.cutNextAnswer = true;
    await rejects(client.execute("INSERT INTO t VALUES (1)"), code("40003"));
    strictEqual(proxy.answerAfterwards, null);
    deepStrictEqual(await client.query("SELECT count(*) AS n FROM t"), [{ n: 1 }]);
  }));

Deno.test("a transaction that loses its connection raises 08000 before COMMIT and 40003 at it", () =>
  withProxy({ exactlyOnce: true }, async (client, proxy) => {
    await client.execute("BEGIN");
    proxy.cutNextAnswer = true;
    await rejects(client.execute("INSERT INTO t VALUES (1)"), code("08000"));
    deepStrictEqual(await client.query("SELECT count(*) AS n FROM t"), [{ n: 0 }]);
    await client.execute("BEGIN");
    await client.execute("INSERT INTO t VALUES (2)");
    proxy.cutNextAnswer = true;
    await rejects(client.execute("COMMIT"), code("40003"));
  }));

Deno.test("a transaction that loses its connection between two statements does not go on outside of it", () =>
  withProxy({ exactlyOnce: true }, async (client, proxy) => {
    const lose = async (): Promise<void> => {
      await client.execute("INSERT INTO t VALUES (1)");
      proxy.cut();
      await until(() => client.status === "idle", "the end of the connection");
    };
    await rejects(
      client.transaction(async () => {
        await lose();
        await client.execute("INSERT INTO t VALUES (2)");
      }),
      (error) => error instanceof DatabaseError && error.code === "08000",
    );
    await client.execute("BEGIN");
    await lose();
    await rejects(client.execute("COMMIT"), { code: "08000" });
    await client.execute("BEGIN");
    await lose();
    strictEqual((await client.execute("ROLLBACK")).command, "ROLLBACK");
    deepStrictEqual(await client.query("SELECT id FROM t"), []);
  }));

Deno.test("a client gives up when no server can be reached for long enough", () =>
  withProxy({ reconnectTimeoutMilliseconds: 100, connectTimeoutMilliseconds: 500 }, async (client, proxy) => {
    proxy.isRefusing = true;
    proxy.cut();
    await new Promise((resolve) => setTimeout(resolve, 20));
    await rejects(client.query("SELECT 1"), code("08000"));
  }));

Deno.test("a client of several servers waits for a primary, also at first; where nobody answers it does not", () =>
  withProxy({}, async (_, proxy, engine) => {
    const [gone, ...addresses] = [unusedAddress(), unusedAddress(), proxy.address];
    proxy.electionsLeft = 3;
    const client = await OperationClient.connect({ addresses });
    strictEqual(proxy.electionsLeft, 0);
    for (let id = 1; id <= 6; id++) {
      proxy.cutNextAnswer = true;
      proxy.electionsLeft = id % 2 * 4;
      strictEqual((await client.execute("INSERT INTO t VALUES ($1)", [id])).command, "INSERT 0 1");
    }
    deepStrictEqual(await client.query("SELECT count(*) AS n FROM t"), [{ n: 6 }]);
    // A session that is ended, as at a view change: the client goes on elsewhere.
    const reading = client.query("SELECT count(*) AS n, pg_sleep(0.2) IS NULL AS slept FROM t");
    await untilRunning(engine);
    proxy.electionsLeft = 2;
    for (const session of engine.sessions) session.interrupt("view_change");
    strictEqual((await reading)[0]?.n, 6);
    strictEqual(proxy.electionsLeft, 0);
    await client.close();
    // It would wait for half a minute.
    const start = performance.now();
    await rejects(OperationClient.connect({ addresses: [gone, gone] }), code("08000"));
    proxy.electionsLeft = Infinity;
    const limited = { addresses, reconnectTimeoutMilliseconds: 60 };
    await rejects(OperationClient.connect(limited), code("57P03"));
    ok(performance.now() - start < 20_000);
  }));

Deno.test("a client says that another protocol is spoken where it connects to", async () => {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => new Response("?"));
  try {
    await rejects(OperationClient.connect({ address: `127.0.0.1:${server.addr.port}` }), {
      code: "08000",
      message: `Cannot connect to 127.0.0.1:${server.addr.port}: it speaks another protocol`,
    });
  } finally {
    await server.shutdown();
  }
});

Deno.test("isRead() takes only what certainly changes nothing", () => {
  const check = (text: string, expected: boolean) =>
    strictEqual(isRead({ kind: "sql", text, parameters: null }), expected, text);
  check("SELECT 1", true);
  check("  select * from t;", true);
  check("EXPLAIN SELECT 1", true);
  check("EXPLAIN ANALYZE DELETE FROM t", false);
  check("EXPLAIN (ANALYZE) DELETE FROM t", false);
  check("SELECT nextval('s')", false);
  check("SELECT * FROM t FOR UPDATE", false);
  check("SELECT 1; DELETE FROM t", false);
  check("WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x", false);
  check("INSERT INTO t VALUES (1)", false);
});
