/** `/v1/op`: every operation in its JSON form and encoded, answered as JSON. */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import { encodeRequest } from "../shared/operation/operation_codec.ts";
import { startHttpServer } from "./server.ts";

async function withOp(
  work: (
    post: (body: unknown, headers?: Record<string, string>) => Promise<[number, unknown]>,
  ) => Promise<void>,
): Promise<void> {
  const engine = await Engine.open({ host: memoryHost(), directory: ":memory:" });
  const bugs: unknown[] = [];
  const server = await startHttpServer({
    engine,
    address: { hostname: "127.0.0.1", port: 0 },
    token: null,
    version: "0.0.0",
    onInternalError: (error) => bugs.push(error),
  });
  try {
    await work(async (body, headers = {}) => {
      const isBytes = body instanceof Uint8Array;
      const response = await fetch(`http://127.0.0.1:${server.address.port}/v1/op`, {
        method: "POST",
        headers: { "Content-Type": isBytes ? "application/octet-stream" : "application/json", ...headers },
        body: isBytes
          ? body as Uint8Array<ArrayBuffer>
          : typeof body === "string"
          ? body
          : JSON.stringify(body),
      });
      return [response.status, await response.json()];
    });
  } finally {
    await server.close(0);
    await engine.close();
  }
  deepStrictEqual(bugs, []);
}

Deno.test("POST /v1/op carries out every operation in JSON", () =>
  withOp(async (post) => {
    const check = async (body: unknown, expected: unknown) => {
      deepStrictEqual(await post(body), [200, { status: "ok", ...expected as object }], JSON.stringify(body));
    };
    await check({ op: "ddl", sql: "CREATE TABLE ball (id BIGINT PRIMARY KEY, color TEXT, size INT)" }, {});
    await check({ op: "create", table: "ball", id: 1, values: { color: "red", size: 10 } }, {
      affected: 1,
      id: 1,
    });
    await check({
      op: "create",
      table: "ball",
      schema: "public",
      values: { id: 2, color: "blue", size: 20 },
    }, {
      affected: 1,
      id: 2,
    });
    await check({ op: "update", table: "ball", id: 2, values: { color: "green" } }, { affected: 1 });
    await check({ op: "get", table: "ball", id: 2 }, { rows: [{ id: 2, color: "green", size: 20 }] });
    await check({ op: "get", table: "ball", id: "9223372036854775807" }, { rows: [] });
    await check({ op: "find", table: "ball", where: { color: "red" }, columns: ["id"] }, {
      rows: [{ id: 1 }],
    });
    await check({ op: "find_range", table: "ball", column: "size", from: 10, below: 20, columns: ["id"] }, {
      rows: [{ id: 1 }],
    });
    await check({ op: "scan", table: "ball", after: 1, limit: 5, columns: ["id"] }, { rows: [{ id: 2 }] });
    await check({
      op: "select",
      table: "ball",
      columns: ["id"],
      where: [{ column: "size", operator: ">", value: 5 }],
      order: [{ column: "size", descending: true }],
      limit: 1,
    }, { rows: [{ id: 2 }] });
    await check({ op: "aggregate", table: "ball", aggregates: [{ function: "sum", column: "size" }] }, {
      value: 30,
    });
    await check(
      { op: "aggregate", table: "ball", aggregates: [{ function: "count" }], group_by: ["color"] },
      { rows: [{ color: "green", count: 1 }, { color: "red", count: 1 }] },
    );
    await check({
      op: "txn",
      ops: [{ op: "create", table: "ball", id: 3, values: { size: 1 } }, {
        op: "delete",
        table: "ball",
        id: 1,
      }],
    }, { affected: 2 });
    await check({ op: "list_tables" }, {
      rows: [{ schema: "public", name: "ball", kind: "table", rows: 2 }],
    });
    await check({ op: "sql", sql: "SELECT $1::int + 1 AS n", params: [41] }, { rows: [{ n: 42 }] });
    await check({ op: "ping" }, {});
    const [status, described] = await post({ op: "describe", table: "ball" });
    strictEqual(status, 200);
    strictEqual((described as { table: string }).table, "ball");
    strictEqual((await post({ op: "stats" }))[0], 200);
  }));

Deno.test("POST /v1/op takes an encoded operation", () =>
  withOp(async (post) => {
    const encoded = encodeRequest({
      number: 7n,
      client: null,
      operation: { kind: "sql", text: "SELECT 1 AS a", parameters: null },
    });
    deepStrictEqual(await post(encoded), [200, { status: "ok", rows: [{ a: 1 }] }]);
    const once = encodeRequest({
      number: 7n,
      client: { clientId: "00112233445566778899aabbccddeeff", sequence: 1n },
      operation: { kind: "ddl", text: "CREATE TABLE t (id BIGINT)" },
    });
    deepStrictEqual(await post(once), [200, { status: "ok" }]);
    deepStrictEqual(await post(once), [200, { status: "ok" }]);
  }));

Deno.test("POST /v1/op refuses what is no operation with 400, and violations with 409", () =>
  withOp(async (post) => {
    const code = async (body: unknown): Promise<[number, string]> => {
      const [status, answer] = await post(body);
      return [status, (answer as { code: string }).code];
    };
    for (
      const body of [
        {},
        { op: "fly" },
        { op: "get", table: "t" },
        { op: "get", table: "t", id: "x" },
        {
          op: "get",
          table: "t",
          id: 1.5,
        },
        { op: "select", table: "t", where: [{ column: "a", operator: "~" }] },
        { op: "txn", ops: [{ op: "get" }] },
        "[",
        [],
        {
          op: "update",
          table: "t",
          id: 1,
          values: {},
        },
      ]
    ) deepStrictEqual(await code(body), [400, "08P01"], JSON.stringify(body));
    deepStrictEqual(await code(new Uint8Array([1, 2, 3])), [400, "08P01"]);
    deepStrictEqual(
      await code(encodeRequest({ number: 1n, client: null, operation: { kind: "copy_done" } })),
      [
        400,
        "08P01",
      ],
    );
    await post({ op: "ddl", sql: "CREATE TABLE t (id BIGINT PRIMARY KEY)" });
    await post({ op: "create", table: "t", id: 1, values: {} });
    deepStrictEqual(await code({ op: "create", table: "t", id: 1, values: {} }), [409, "23505"]);
    deepStrictEqual(await code({ op: "get", table: "nowhere", id: 1 }), [400, "42P01"]);
    deepStrictEqual(
      await code({
        op: "txn",
        ops: [{ op: "create", table: "t", id: 2, values: {} }, {
          op: "create",
          table: "t",
          id: 1,
          values: {},
        }],
      }),
      [409, "23505"],
    );
    deepStrictEqual(await post({ op: "aggregate", table: "t", aggregates: [{ function: "count" }] }), [200, {
      status: "ok",
      value: 1,
    }]);
  }));
