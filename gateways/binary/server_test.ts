/** The binary server and its client together, over loopback, on a database in memory. */
import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { DatabaseError } from "../../engine/base/errors.ts";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import { untilRunning } from "../../tests/support/until.ts";
import { OperationClient } from "./client.ts";
import type { ClientOptions } from "./client_api.ts";
import { type BinaryServer, type BinaryServerOptions, startBinaryServer } from "./server.ts";
import { StatementResult } from "./client_result.ts";

interface Fixture {
  readonly engine: Engine;
  readonly server: BinaryServer;
  connect(options?: ClientOptions): Promise<OperationClient>;
}

async function withServer(
  work: (fixture: Fixture) => Promise<void>,
  options: Partial<BinaryServerOptions> = {},
): Promise<void> {
  const engine = await Engine.open({ host: memoryHost(), directory: ":memory:" });
  const bugs: unknown[] = [];
  const server = await startBinaryServer({
    engine,
    address: { hostname: "127.0.0.1", port: 0 },
    token: null,
    version: "0.0.0",
    onInternalError: (error) => bugs.push(error),
    ...options,
  });
  const clients: OperationClient[] = [];
  try {
    await work({
      engine,
      server,
      async connect(clientOptions = {}) {
        const client = await OperationClient.connect({
          address: `127.0.0.1:${server.address.port}`,
          ...clientOptions,
        });
        clients.push(client);
        return client;
      },
    });
  } finally {
    await Promise.all(clients.map((client) => client.close()));
    await server.close(0);
    await engine.close();
  }
  deepStrictEqual(bugs, []);
}

function code(expected: string): (error: unknown) => boolean {
  return (error) => {
    ok(error instanceof DatabaseError, String(error));
    strictEqual(error.code, expected, error.message);
    return true;
  };
}

Deno.test("Client.query() answers rows as objects, parameters included", () =>
  withServer(async ({ connect }) => {
    const client = await connect();
    deepStrictEqual(await client.query("SELECT 1 AS a, 'x' AS b, NULL AS c"), [{ a: 1, b: "x", c: null }]);
    await client.execute(
      "CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT, price NUMERIC(10,2), good BOOL, at TIMESTAMPTZ, doc JSONB, tags TEXT[], raw BYTEA, f DOUBLE PRECISION)",
    );
    const inserted = await client.execute("INSERT INTO t VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9)", [
      9007199254740993n,
      "Ünïcode ✓",
      "12.50",
      true,
      new Date("2024-02-29T12:00:00Z"),
      { a: [1, 2] },
      ["x", "y z", null],
      new Uint8Array([0, 255]),
      0.1,
    ]);
    strictEqual(inserted.command, "INSERT 0 1");
    strictEqual(inserted.rowCount, 1);
    deepStrictEqual(await client.query("SELECT * FROM t"), [{
      id: 9007199254740993n,
      name: "Ünïcode ✓",
      price: "12.50",
      good: true,
      at: "2024-02-29 12:00:00+00",
      doc: { a: [1, 2] },
      tags: ["x", "y z", null],
      raw: new Uint8Array([0, 255]),
      f: 0.1,
    }]);
  }));

Deno.test("Client.execute() tells errors with all their fields and goes on", () =>
  withServer(async ({ connect }) => {
    const client = await connect();
    await client.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, n INT CHECK (n > 0))");
    await client.execute("INSERT INTO t VALUES (1, 1)");
    await rejects(client.execute("INSERT INTO t VALUES (1, 1)"), (error) => {
      code("23505")(error);
      strictEqual((error as DatabaseError).detail, "Key (id)=(1) already exists.");
      strictEqual((error as DatabaseError).table, "t");
      strictEqual((error as DatabaseError).constraint, "t_pkey");
      return true;
    });
    await rejects(client.execute("SELECT nam FROM t"), (error) => {
      code("42703")(error);
      strictEqual((error as DatabaseError).position, 8);
      return true;
    });
    await rejects(client.execute("SELECT $1::int", ["x"]), code("22P02"));
    strictEqual(client.status, "idle");
    deepStrictEqual(await client.query("SELECT count(*) AS n FROM t"), [{ n: 1 }]);
  }));

Deno.test("Client.pipeline() answers in order, errors in their places", () =>
  withServer(async ({ connect }) => {
    const client = await connect();
    await client.execute("CREATE TABLE t (id BIGINT PRIMARY KEY)");
    const results = await client.pipeline([
      { sql: "INSERT INTO t VALUES ($1)", parameters: [1] },
      { sql: "INSERT INTO t VALUES ($1)", parameters: [1] },
      { sql: "SELECT * FROM t" },
    ]);
    strictEqual(results.length, 3);
    ok(results[0] instanceof StatementResult && results[0].command === "INSERT 0 1");
    code("23505")(results[1]);
    ok(results[2] instanceof StatementResult);
    deepStrictEqual(results[2].rows(), [{ id: 1 }]);
    const many = await Promise.all(
      Array.from({ length: 500 }, (_, index) => client.query("SELECT $1::int AS n", [index])),
    );
    deepStrictEqual(many.map(([row]) => row?.n), Array.from({ length: 500 }, (_, index) => index));
  }));

Deno.test("Client.transaction() commits, and rolls back when its work fails", () =>
  withServer(async ({ connect }) => {
    const client = await connect();
    await client.execute("CREATE TABLE t (id BIGINT PRIMARY KEY)");
    await client.transaction(async (transaction) => {
      await transaction.execute("INSERT INTO t VALUES (1)");
      strictEqual(transaction.status, "block");
    });
    await rejects(
      client.transaction(async (transaction) => {
        await transaction.execute("INSERT INTO t VALUES (2)");
        await transaction.execute("INSERT INTO t VALUES (1)");
      }),
      code("23505"),
    );
    strictEqual(client.status, "idle");
    deepStrictEqual(await client.query("SELECT id FROM t"), [{ id: 1 }]);
  }));

Deno.test("Client.request() carries out every operation on rows", () =>
  withServer(async ({ connect }) => {
    const client = await connect();
    const table = { schema: null, name: "Ball" };
    const value = (item: string | number) => ({ form: "untyped", value: item }) as const;
    await client.request({
      kind: "ddl",
      text: 'CREATE TABLE "Ball" (id BIGINT PRIMARY KEY, color TEXT, size INT)',
    });
    await rejects(client.request({ kind: "ddl", text: "SELECT 1" }), code("42601"));
    for (let id = 1; id <= 5; id++) {
      await client.request({
        kind: "create",
        table,
        id,
        columns: ["color", "size"],
        values: [value(id % 2 === 0 ? "red" : "blue"), value(id * 10)],
      });
    }
    await rejects(
      client.request({ kind: "create", table, id: 5, columns: ["size"], values: [value(1)] }),
      code("23505"),
    );
    await client.request({ kind: "update", table, id: 2, columns: ["color"], values: [value("green")] });
    await client.request({ kind: "delete", table, id: 5 });
    const rows = async (...parameters: Parameters<OperationClient["request"]>) =>
      (await client.request(...parameters)).at(-1)?.values();
    deepStrictEqual(await rows({ kind: "get", table, id: 2, columns: [] }), [[2, "green", 20]]);
    deepStrictEqual(
      await rows({ kind: "find", table, columns: ["id"], keys: ["color"], values: [value("blue")] }),
      [[1], [3]],
    );
    deepStrictEqual(
      await rows({
        kind: "find_range",
        table,
        columns: ["id"],
        key: "size",
        low: { value: value(20), inclusive: true },
        high: { value: value(40), inclusive: false },
        limit: 0,
      }),
      [[2], [3]],
    );
    deepStrictEqual(await rows({ kind: "scan", table, columns: ["id"], after: 1, limit: 2 }), [[2], [3]]);
    deepStrictEqual(
      await rows({
        kind: "select",
        table,
        columns: ["id"],
        conditions: [{ column: "size", operator: "between", values: [value(10), value(30)] }, {
          column: "color",
          operator: "in",
          values: [value("blue"), value("green")],
        }],
        order: [{ column: "size", descending: true }],
        limit: 2,
        offset: 1,
      }),
      [[2], [1]],
    );
    deepStrictEqual(
      await rows({
        kind: "aggregate",
        table,
        aggregates: [{ function: "count", column: null }, { function: "sum", column: "size" }],
        groupBy: ["color"],
        conditions: [],
      }),
      [["blue", 2, 40], ["green", 1, 20], ["red", 1, 40]],
    );
    deepStrictEqual((await rows({ kind: "describe", table }))?.map((row) => row[0]), [
      "id",
      "color",
      "size",
    ]);
    deepStrictEqual(await rows({ kind: "list_tables" }), [["public", "Ball", "table", 4]]);
    ok((await rows({ kind: "stats" }))?.some(([name, count]) => name === "tables" && count === 1));
    deepStrictEqual(await client.request({ kind: "ping" }), []);
  }));

Deno.test("Client.request() runs a txn whole or not at all", () =>
  withServer(async ({ connect }) => {
    const client = await connect();
    await client.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, n INT)");
    const table = { schema: null, name: "t" };
    const create = (id: number) =>
      ({ kind: "create", table, id, columns: ["n"], values: [{ form: "untyped", value: id }] }) as const;
    await client.request({
      kind: "txn",
      operations: [create(1), create(2), { kind: "delete", table, id: 1 }],
    });
    await rejects(client.request({ kind: "txn", operations: [create(3), create(2)] }), code("23505"));
    deepStrictEqual(await client.query("SELECT id FROM t"), [{ id: 2 }]);
  }));

Deno.test("a token is asked for, and proves both sides", () =>
  withServer(async ({ connect }) => {
    const client = await connect({ token: "secret" });
    deepStrictEqual(await client.query("SELECT 1 AS a"), [{ a: 1 }]);
    await rejects(connect({ token: "wrong" }), code("28P01"));
    await rejects(connect(), code("28000"));
  }, { token: "secret" }));

Deno.test("a connection beyond the cap gets 53300", () =>
  withServer(async ({ connect }) => {
    const first = await connect();
    await rejects(connect(), code("53300"));
    deepStrictEqual(await first.query("SELECT 1 AS a"), [{ a: 1 }]);
  }, { maximumConnections: 1 }));

Deno.test("an exactly-once request that is repeated is answered with its first reply", () =>
  withServer(async ({ server, engine }) => {
    const { ClientConnection } = await import("./client_connection.ts");
    const open = async () => {
      const connection = await ClientConnection.open({
        hostname: "127.0.0.1",
        port: server.address.port,
        tls: null,
        token: null,
        name: "test",
        readFrom: "primary",
        timeoutMilliseconds: 2000,
      });
      const waiting: ((reply: unknown) => void)[] = [];
      connection.listen({
        onReply: (reply) => {
          if (reply.kind === "end" || reply.kind === "error") waiting.shift()?.(reply);
        },
        onClose: () => {},
      });
      let number = 0n;
      const ask = (sequence: bigint, text: string) =>
        new Promise<{ kind: string; failure?: { code: string } }>((resolve) => {
          waiting.push(resolve as (reply: unknown) => void);
          connection.send({
            number: ++number,
            client: { clientId: "00112233445566778899aabbccddeeff", sequence },
            operation: { kind: "sql", text, parameters: null },
          });
        });
      return { connection, ask };
    };
    const one = await open();
    strictEqual((await one.ask(1n, "CREATE TABLE t (id BIGINT PRIMARY KEY)")).kind, "end");
    strictEqual((await one.ask(2n, "INSERT INTO t VALUES (1)")).kind, "end");
    const two = await open();
    const before = engine.lastOp;
    strictEqual((await two.ask(2n, "INSERT INTO t VALUES (1)")).kind, "end");
    strictEqual(engine.lastOp, before);
    strictEqual((await two.ask(2n, "INSERT INTO t VALUES (2)")).failure?.code, "08P01");
    strictEqual((await two.ask(1n, "CREATE TABLE t (id BIGINT PRIMARY KEY)")).failure?.code, "55000");
    strictEqual((await two.ask(3n, "INSERT INTO t VALUES (1)")).failure?.code, "23505");
    strictEqual((await one.ask(3n, "INSERT INTO t VALUES (1)")).failure?.code, "23505");
    await one.connection.close();
    await two.connection.close();
  }));

Deno.test("Client.cancel() breaks a running statement off", () =>
  withServer(async ({ connect, engine }) => {
    const client = await connect();
    const long = rejects(
      client.query("SELECT count(*) FROM generate_series(1, 1000000000) AS g"),
      code("57014"),
    );
    await untilRunning(engine);
    client.cancel();
    await long;
    deepStrictEqual(await client.query("SELECT 1 AS a"), [{ a: 1 }]);
  }));

Deno.test("BinaryServer.close() lets a running statement finish and says goodbye", () =>
  withServer(async ({ connect, engine, server }) => {
    const client = await connect({ reconnectTimeoutMilliseconds: 0 });
    const running = client.query("SELECT 1 AS a, pg_sleep(0.1) IS NULL AS b");
    await untilRunning(engine);
    await server.close(60_000);
    deepStrictEqual(await running, [{ a: 1, b: false }]);
    await rejects(client.query("SELECT 1"), (error) => {
      ok(error instanceof DatabaseError);
      match(error.code, /^(08000|57P01)$/);
      return true;
    });
  }));

Deno.test("BinaryServer.close() ends clients that send one change after the other between two of them", () =>
  withServer(async ({ server, connect }) => {
    const client = await connect();
    await client.execute("CREATE TABLE t (id BIGINT PRIMARY KEY)");
    let acknowledged = 0;
    const loads = [1, 2, 3].map(async (load) => {
      const writer = await connect();
      for (let id = load; id < 100_000; id += 3, acknowledged++) {
        try {
          await writer.execute("INSERT INTO t VALUES ($1)", [id]);
        } catch (error) {
          return ok(error instanceof DatabaseError && ["08000", "40003"].includes(error.code), String(error));
        }
      }
    });
    while (acknowledged < 30) await client.query("SELECT 1");
    const start = performance.now();
    await server.close(30_000);
    await Promise.all(loads);
    ok(performance.now() - start < 20_000, "the server waits for no more than what was sent before");
  }));
