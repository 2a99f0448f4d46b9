/** The HTTP listener over loopback, on a database in memory: every row of the specification's table of statuses. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { connect } from "node:net";
import { SPOKEN_VERSIONS } from "../../engine/catalog/cluster_version.ts";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { TurnTimes } from "../../engine/host/turn_watch.ts";
import { Engine } from "../../engine/session/engine.ts";
import { until, untilRunning } from "../../tests/support/until.ts";
import { type HttpServer, type HttpServerOptions, startHttpServer } from "./server.ts";

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // deno-lint-ignore no-explicit-any
  readonly json: any;
}

interface Fixture {
  readonly engine: Engine;
  readonly server: HttpServer;
  readonly port: number;
  request(path: string, options?: RequestInit): Promise<Answer>;
  sql(text: string, headers?: Record<string, string>): Promise<Answer>;
}

async function withServer(
  work: (fixture: Fixture) => Promise<void>,
  options: Partial<HttpServerOptions> = {},
): Promise<void> {
  const engine = await Engine.open({ host: memoryHost(), directory: ":memory:" });
  const bugs: unknown[] = [];
  const server = await startHttpServer({
    engine,
    address: { hostname: "127.0.0.1", port: 0 },
    token: null,
    version: "1.2.3",
    onInternalError: (error) => bugs.push(error),
    ...options,
  });
  const { port } = server.address;
  const client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
  const request = async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { ...init, client });
    const text = await response.text();
    const isJson = response.headers.get("content-type") === "application/json" && text !== "";
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: isJson ? JSON.parse(text) : undefined,
    };
  };
  const sql = (text: string, headers: Record<string, string> = {}) =>
    request("/v1/sql", { method: "POST", headers: { "Content-Type": "text/plain", ...headers }, body: text });
  try {
    await work({ engine, server, port, request, sql });
  } finally {
    client.close();
    await server.close(0);
    await engine.close();
  }
  deepStrictEqual(bugs, []);
}

/** Sends bytes and answers what comes back until the server closes or the time is over. */
function raw(port: number, bytes: string | Uint8Array, milliseconds = 1000): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect({ host: "127.0.0.1", port }, () => socket.write(bytes));
    // A busy machine may take its time for the first bytes.
    let timer = setTimeout(() => socket.destroy(), 10_000);
    socket.on("data", (data: Uint8Array) => {
      text += new TextDecoder().decode(data);
      clearTimeout(timer);
      timer = setTimeout(() => socket.destroy(), milliseconds);
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(text);
    });
  });
}

Deno.test("X-Db-Isolation chooses the level of a request, and names the levels when it names none", () =>
  withServer(async ({ sql }) => {
    const at = async (level?: string) => {
      const answer = await sql("SHOW transaction_isolation", level ? { "X-Db-Isolation": level } : {});
      return [answer.status, JSON.stringify(answer.json)];
    };
    const [plain, weak, bad] = [await at(), await at("Read-Committed"), await at("chaos")];
    deepStrictEqual([plain[0], weak[0], bad[0]], [200, 200, 400]);
    match(String(plain[1]), /"serializable"/);
    match(String(weak[1]), /"read committed"/);
    match(String(bad[1]), /read-committed, repeatable-read or serializable/);
  }));

Deno.test("POST /v1/sql answers each kind of statement in its shape", () =>
  withServer(async ({ sql }) => {
    const check = async (text: string, expected: unknown) => {
      const answer = await sql(text);
      deepStrictEqual([answer.status, answer.json], [200, expected], text);
      strictEqual(answer.headers.get("content-type"), "application/json");
    };
    await check("CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT NOT NULL, n INT DEFAULT 7)", {
      status: "ok",
    });
    await check("CREATE TABLE c (x INT)", { status: "ok" });
    await check("INSERT INTO t ID 1 (name) VALUES ('a')", { status: "ok", affected: 1, id: 1 });
    await check("INSERT INTO t VALUES (2, 'b', 1), (3, 'c', NULL)", { status: "ok", affected: 2 });
    await check("SELECT * FROM t ORDER BY id", {
      status: "ok",
      rows: [{ id: 1, name: "a", n: 7 }, { id: 2, name: "b", n: 1 }, { id: 3, name: "c", n: null }],
    });
    await check("SELECT * FROM t ID 2", { status: "ok", rows: [{ id: 2, name: "b", n: 1 }] });
    await check("SELECT * FROM t WHERE id = 99", { status: "ok", rows: [] });
    await check("SELECT count(*) FROM t", { status: "ok", value: 3 });
    await check("SELECT sum(n) FROM t WHERE id > 99", { status: "ok", value: null });
    await check("SELECT count(*), max(n) FROM t", { status: "ok", rows: [{ count: 3, max: 7 }] });
    await check("UPDATE t SET n = 0 WHERE id > 1", { status: "ok", affected: 2 });
    await check("DELETE FROM t ID 3", { status: "ok", affected: 1 });
    await check("INSERT INTO t VALUES (4, 'd', 4) RETURNING id, n", {
      status: "ok",
      rows: [{ id: 4, n: 4 }],
    });
    await check("DESCRIBE t", {
      status: "ok",
      table: "t",
      columns: [
        { name: "id", type: "bigint", nullable: false, primary_key: true },
        { name: "name", type: "text", nullable: false },
        { name: "n", type: "integer", nullable: true, default: "7" },
      ],
    });
    const plan = await sql("EXPLAIN SELECT * FROM t");
    strictEqual(plan.json.status, "ok");
    ok(Array.isArray(plan.json.plan) && plan.json.plan.every((line: unknown) => typeof line === "string"));
    await check("", { status: "ok" });
  }));

Deno.test("POST /v1/sql takes several statements as one transaction, answered by the last", () =>
  withServer(async ({ sql }) => {
    await sql("CREATE TABLE t (id BIGINT PRIMARY KEY)");
    const two = await sql("INSERT INTO t VALUES (1); INSERT INTO t VALUES (2); SELECT count(*) FROM t");
    deepStrictEqual(two.json, { status: "ok", value: 2 });
    const failed = await sql("INSERT INTO t VALUES (3); INSERT INTO t VALUES (1)");
    strictEqual(failed.status, 409);
    strictEqual(failed.json.code, "23505");
    deepStrictEqual((await sql("SELECT 1 AS a; INSERT INTO t VALUES (9)")).json, {
      status: "ok",
      affected: 1,
      id: 9,
    });
    deepStrictEqual((await sql("SELECT id FROM t ORDER BY id")).json.rows, [{ id: 1 }, { id: 2 }, { id: 9 }]);
    for (const [accept, status] of [["application/json", 400], ["application/x-ndjson", 400]] as const) {
      const open = await sql("BEGIN; INSERT INTO t VALUES (5)", { Accept: accept });
      deepStrictEqual([open.status, open.json?.code], [status, "25000"]);
    }
    const alone = await sql("BEGIN");
    deepStrictEqual([alone.status, alone.json.code], [400, "25000"]);
    strictEqual((await sql("BEGIN; INSERT INTO t VALUES (6); ROLLBACK")).status, 200);
    deepStrictEqual((await sql("SELECT count(*) FROM t")).json, { status: "ok", value: 3 });
    strictEqual((await sql("BEGIN; INSERT INTO t VALUES (7); COMMIT")).status, 200);
    deepStrictEqual((await sql("SELECT count(*) FROM t")).json, { status: "ok", value: 4 });
  }));

Deno.test("POST /v1/sql writes values so that JSON carries them exactly", () =>
  withServer(async ({ sql }) => {
    const value = async (expression: string): Promise<string> => {
      const { text, status } = await sql(`SELECT ${expression} AS v`);
      strictEqual(status, 200, `${expression}: ${text}`);
      return /^\{"status":"ok","rows":\[\{"v":(.*)\}\]\}\n$/s.exec(text)?.[1] ?? text;
    };
    const cases: [string, string][] = [
      ["9007199254740991::bigint", "9007199254740991"],
      ["9007199254740993::bigint", '"9007199254740993"'],
      ["12.50::numeric(10,2)", "12.50"],
      ["0.10::numeric", "0.10"],
      ["-0.001::numeric", "-0.001"],
      ["123456789012345678.9::numeric", '"123456789012345678.9"'],
      ["'NaN'::float8", '"NaN"'],
      ["'-Infinity'::float8", '"-Infinity"'],
      ["0.1::float8", "0.1"],
      ["0.1::float4", "0.1"],
      ["1e300::float8", "1e300"],
      ["true", "true"],
      ["NULL::int", "null"],
      ["'\\x00ff'::bytea", '"\\\\x00ff"'],
      ["'2024-02-29 12:00:00.5+02'::timestamptz", '"2024-02-29T10:00:00.5Z"'],
      ["'2024-02-29 12:00:00'::timestamp", '"2024-02-29T12:00:00"'],
      ["'2024-02-29'::date", '"2024-02-29"'],
      ["'12:34:56'::time", '"12:34:56"'],
      ["'1 day 2 hours'::interval", '"P1DT2H"'],
      ["'{\"a\": [1, 12345678901234567890]}'::jsonb", '{"a": [1, 12345678901234567890]}'],
      ["ARRAY[1,2,NULL]", "[1,2,null]"],
      ["ARRAY[ARRAY['x'],ARRAY['y']]", '[["x"],["y"]]'],
      ["'a\"b\\c' || chr(10) || chr(1) || 'é😀'", '"a\\"b\\\\c\\n\\u0001é😀"'],
      ["'x'::char(3)", '"x  "'],
      ["'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::uuid", '"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"'],
    ];
    for (const [expression, expected] of cases) strictEqual(await value(expression), expected, expression);
  }));

Deno.test("POST /v1/sql shows CHAR(n) as PostgreSQL does, computed or found in a stored row", () =>
  withServer(async ({ sql }) => {
    await sql("CREATE TABLE c (id INT PRIMARY KEY, a CHAR(4), j JSON); INSERT INTO c VALUES (1, 'é', '[1]')");
    const row = { a: "é   ", j: [1] };
    deepStrictEqual((await sql("SELECT a, j FROM c WHERE id = 1")).json.rows, [row]);
    deepStrictEqual((await sql("SELECT a, j FROM c WHERE id BETWEEN 1 AND 2")).json.rows, [row]);
    deepStrictEqual((await sql("SELECT a, j FROM c")).json.rows, [row]);
    deepStrictEqual((await sql("SELECT 'é'::CHAR(4) AS a, '[1]'::JSON AS j")).json.rows, [row]);
  }));

Deno.test("POST /v1/sql takes JSON with parameters", () =>
  withServer(async ({ request, sql }) => {
    const post = (body: string) =>
      request("/v1/sql", {
        method: "POST",
        headers: { "Content-Type": "application/json; charset=utf-8" },
        body,
      });
    await sql("CREATE TABLE t (id BIGINT PRIMARY KEY, price NUMERIC, doc JSONB, tags TEXT[], ok BOOL)");
    const insert = await post(
      `{"sql":"INSERT INTO t VALUES ($1,$2,$3,$4,$5)","params":[9007199254740993,123456789012345678.90,{"a":1e400},["x"],true]}`,
    );
    deepStrictEqual(insert.json, { status: "ok", affected: 1, id: "9007199254740993" });
    const { text } = await sql("SELECT id, price, tags, ok FROM t");
    strictEqual(
      text,
      '{"status":"ok","rows":[{"id":"9007199254740993","price":"123456789012345678.90","tags":["x"],"ok":true}]}\n',
    );
    deepStrictEqual((await post('{"sql":"SELECT 1 AS a"}')).json.rows, [{ a: 1 }]);
    for (
      const bad of ["", "[1]", '{"sql":1}', '{"sql":"SELECT 1","params":{}}', '{"sql":"SELECT 1","x":1}', "{"]
    ) {
      const answer = await post(bad);
      strictEqual(answer.status, 400, bad);
      strictEqual(answer.json.code, "08P01", bad);
    }
    strictEqual((await post('{"sql":"SELECT $1::int","params":[]}')).status, 400);
  }));

Deno.test("POST /v1/sql streams NDJSON", () =>
  withServer(async ({ sql }) => {
    const lines = async (text: string) => {
      const answer = await sql(text, { Accept: "application/x-ndjson" });
      strictEqual(answer.status, 200);
      return {
        type: answer.headers.get("content-type"),
        lines: answer.text.trimEnd().split("\n").map((line) => JSON.parse(line)),
      };
    };
    deepStrictEqual(await lines("SELECT g AS n, 'x' AS s FROM generate_series(1, 2) AS g"), {
      type: "application/x-ndjson",
      lines: [
        { status: "ok", columns: [{ name: "n", type: "integer" }, { name: "s", type: "text" }] },
        { n: 1, s: "x" },
        { n: 2, s: "x" },
        { status: "ok", count: 2 },
      ],
    });
    const many = await lines("SELECT g AS n FROM generate_series(1, 20000) AS g");
    strictEqual(many.lines.length, 20002);
    deepStrictEqual(many.lines.at(-1), { status: "ok", count: 20000 });
    const failing = await lines("SELECT 1 / (20000 - g) AS n FROM generate_series(1, 20000) AS g");
    deepStrictEqual(failing.lines.at(-1), { status: "error", message: "division by zero", code: "22012" });
    ok(failing.lines.length > 2);
    const early = await sql("SELECT 1/0", { Accept: "application/x-ndjson" });
    strictEqual(early.status, 400);
    strictEqual(early.json.code, "22012");
    await sql("CREATE TABLE t (id BIGINT PRIMARY KEY)");
    deepStrictEqual((await sql("INSERT INTO t VALUES (1)", { Accept: "application/x-ndjson" })).json, {
      status: "ok",
      affected: 1,
      id: 1,
    });
    deepStrictEqual((await lines("SELECT 1 AS a; SELECT 2 AS b")).lines.slice(1), [{ b: 2 }, {
      status: "ok",
      count: 1,
    }]);
  }));

Deno.test("failures have their status, code, hint and position", () =>
  withServer(async ({ sql }) => {
    await sql("CREATE TABLE person (id BIGINT PRIMARY KEY, age INT CHECK (age > 0))");
    await sql("CREATE TABLE pet (id BIGINT PRIMARY KEY, owner BIGINT REFERENCES person)");
    await sql("INSERT INTO person VALUES (1, 1)");
    const cases: [string, number, string][] = [
      ["SELEC 1", 400, "42601"],
      ["SELECT * FROM persn", 400, "42P01"],
      ["SELECT ag FROM person", 400, "42703"],
      ["SELECT 1/0", 400, "22012"],
      ["INSERT INTO person VALUES (1, 1)", 409, "23505"],
      ["INSERT INTO person VALUES (2, 0)", 409, "23514"],
      ["INSERT INTO pet VALUES (1, 99)", 409, "23503"],
      ["COPY person FROM STDIN", 400, "0A000"],
    ];
    for (const [text, status, code] of cases) {
      const answer = await sql(text);
      deepStrictEqual([answer.status, answer.json.status, answer.json.code], [status, "error", code], text);
      ok(answer.json.message.length > 0);
    }
    const unknown = await sql("SELECT * FROM persn");
    strictEqual(unknown.json.hint, 'Did you mean "person"?');
    strictEqual(unknown.json.position, 15);
  }));

Deno.test("with a token, 401 comes before any other answer, on every path but health", () =>
  withServer(async ({ request, port }) => {
    const bearer = { Authorization: "Bearer secret" };
    for (
      const [path, method] of [["/v1/sql", "POST"], ["/v1/sql", "GET"], ["/v1/metrics", "GET"], [
        "/nowhere",
        "GET",
      ]]
    ) {
      const answer = await request(path as string, { method: method as string });
      strictEqual(answer.status, 401);
      strictEqual(answer.headers.get("www-authenticate"), "Bearer");
      strictEqual(answer.json.code, "28000");
      strictEqual(
        (await request(path as string, {
          method: method as string,
          headers: { Authorization: "Bearer wrong" },
        })).status,
        401,
      );
    }
    strictEqual((await request("/v1/health")).status, 200);
    const metrics = await request("/v1/metrics", { headers: bearer });
    strictEqual(metrics.status, 200);
    match(metrics.text, /path="\/v1\/sql",status="401"\} 4$/m);
    match(metrics.text, /path="other",status="401"\} 2$/m);
    strictEqual((await request("/nowhere", { headers: bearer })).status, 404);
    const answer = await request("/v1/sql", {
      method: "POST",
      headers: { ...bearer, "Content-Type": "text/plain" },
      body: "SELECT 1 AS a",
    });
    deepStrictEqual(answer.json, { status: "ok", rows: [{ a: 1 }] });
    match(
      await raw(port, "GET /v1/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"),
      /^HTTP\/1.1 401 .*\r\nWWW-Authenticate: Bearer\r\n/s,
    );
  }, { token: "secret" }));

Deno.test("paths, methods, content types and bodies that are not taken are refused by their status", () =>
  withServer(async ({ request, port }) => {
    const check = async (path: string, init: RequestInit, status: number, code: string) => {
      const answer = await request(path, init);
      deepStrictEqual([answer.status, answer.json?.status, answer.json?.code], [status, "error", code], path);
      return answer;
    };
    await check("/", {}, 404, "08P01");
    await check("/v1/sql/", { method: "POST" }, 404, "08P01");
    strictEqual((await check("/v1/sql", {}, 405, "08P01")).headers.get("allow"), "POST");
    match((await check("/v1/health", { method: "POST" }, 405, "08P01")).headers.get("allow") ?? "", /^GET/);
    const post = (type: string, body: BodyInit) => ({
      method: "POST",
      headers: { "Content-Type": type },
      body,
    });
    await check("/v1/sql", post("application/x-www-form-urlencoded", "SELECT 1"), 415, "08P01");
    await check("/v1/sql", post("text/plain; charset=iso-8859-1", "SELECT 1"), 415, "08P01");
    await check("/v1/op", post("text/plain", "{}"), 415, "08P01");
    await check("/v1/sql", post("text/plain", new Uint8Array([0xff, 0xfe])), 400, "22021");
    await check("/v1/sql", post("text/plain", "x".repeat(2000)), 413, "54000");
    await check(
      "/v1/sql",
      {
        method: "POST",
        headers: { "Content-Type": "text/plain" },
        body: new ReadableStream({
          pull(controller) {
            controller.enqueue(new Uint8Array(700).fill(0x20));
          },
        }),
      },
      413,
      "54000",
    ).catch((error: unknown) => {
      // A client that is still sending may see the connection end before it has read the answer.
      ok(error instanceof TypeError, String(error));
    });
    match(await raw(port, "nonsense\r\n\r\n"), /^HTTP\/1.1 400 .*"code":"08P01"/s);
    match(
      await raw(port, `GET /v1/health HTTP/1.1\r\nHost: x\r\nX: ${"y".repeat(20000)}\r\n\r\n`),
      /^HTTP\/1.1 431 /,
    );
  }, { maximumBodyBytes: 1000 }));

Deno.test("a client that sends its whole body before it reads gets the refusal, not a reset", () =>
  withServer(async ({ port }) => {
    const head = "POST /v1/sql HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n";
    const size = 8 << 20;
    const chunked = `${(size - 1000).toString(16)}\r\n${"x".repeat(size)}`;
    for (
      const [request, status] of [
        [`${head}Content-Length: ${size}\r\n\r\n${"x".repeat(size)}`, 413],
        [`${head}Transfer-Encoding: chunked\r\n\r\n${chunked}`, 413],
        [`${head}${"X: y\r\n".repeat(size / 6)}`, 431],
      ] as const
    ) {
      const connection = await Deno.connect({ hostname: "127.0.0.1", port });
      const bytes = new TextEncoder().encode(request);
      for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
      // Nothing that is behind a refused request is carried out.
      const text = await new Response(connection.readable).text();
      match(text, new RegExp(`^HTTP/1\\.1 ${status} [^]*"54000"`));
      strictEqual(text.match(/^HTTP/gm)?.length, 1);
    }
  }, { maximumBodyBytes: 1000 }));

Deno.test("GET /v1/health tells role, view, op number and version", () =>
  withServer(async ({ request, sql }) => {
    await sql("CREATE TABLE t (id BIGINT)");
    deepStrictEqual((await request("/v1/health")).json, {
      status: "ok",
      role: "single",
      view: 0,
      op_number: 1,
      version: "1.2.3",
      cluster_version: SPOKEN_VERSIONS.newest,
      spoken_version: SPOKEN_VERSIONS.newest,
    });
    const head = await request("/v1/health", { method: "HEAD" });
    deepStrictEqual([head.status, head.text], [200, ""]);
  }));

Deno.test("values of POST /v1/sql are numbers where a number is exact, and no column hides another", () =>
  withServer(async ({ sql }) => {
    await sql("CREATE TABLE t (n INT, price NUMERIC(20,4), wide NUMERIC)");
    await sql(
      "INSERT INTO t VALUES (180, 1.5, 9007199254740993), (182, 2.5, 0.1234567890123456789), (181, NULL, NULL)",
    );
    const cases: readonly (readonly [string, string])[] = [
      ["SELECT avg(n) FROM t", '"value":181'],
      ["SELECT avg(n) FROM t WHERE n < 182", '"value":180.5'],
      ["SELECT avg(price) FROM t", '"value":2'],
      ["SELECT -avg(price) / 4 AS a FROM t", '"rows":[{"a":-0.5}]'],
      ["SELECT 12.50 AS a, 0.000 AS b, 100.0 AS c", '"rows":[{"a":12.50,"b":0.000,"c":100.0}]'],
      ["SELECT 1 / 3.0 AS a", '"rows":[{"a":"0.33333333333333333333"}]'],
      ["SELECT avg(n) * 0 AS a FROM t", '"rows":[{"a":0.0000000000000000}]'],
      ["SELECT sum(n::BIGINT) FROM t", '"value":543'],
      ["SELECT wide FROM t ORDER BY n LIMIT 2", '"rows":[{"wide":"9007199254740993"},{"wide":null}]'],
      ["SELECT wide FROM t WHERE wide < 1", '"rows":[{"wide":"0.1234567890123456789"}]'],
      ["SELECT 'NaN'::NUMERIC AS a, '-Infinity'::NUMERIC AS b", '"rows":[{"a":"NaN","b":"-Infinity"}]'],
      ["SELECT 1 AS a, 2 AS a, 3 AS a", '"rows":[{"a":1,"a_2":2,"a_3":3}]'],
      ["SELECT 1 AS a, 2 AS a_2, 3 AS a, 4 AS a", '"rows":[{"a":1,"a_2":2,"a_3":3,"a_4":4}]'],
      [
        "SELECT x.n, y.n, x.n = y.n FROM t x JOIN t y USING (n) LIMIT 1",
        '"rows":[{"n":180,"n_2":180,"?column?":true}]',
      ],
    ];
    for (const [text, body] of cases) {
      strictEqual((await sql(text)).text, `{"status":"ok",${body}}\n`, text);
    }
    const lines = await sql("SELECT 1 AS a, 'x' AS a", { Accept: "application/x-ndjson" });
    strictEqual(
      lines.text,
      '{"status":"ok","columns":[{"name":"a","type":"integer"},{"name":"a_2","type":"text"}]}\n' +
        '{"a":1,"a_2":"x"}\n{"status":"ok","count":1}\n',
    );
  }));

Deno.test("statistics views count rows written, rollbacks, syncs and checkpoints", () =>
  withServer(async ({ sql }) => {
    await sql("CREATE TABLE t (id INT PRIMARY KEY); CREATE TABLE other (n INT)");
    await sql("INSERT INTO t SELECT generate_series(1, 10)");
    await sql("UPDATE t SET id = -id WHERE id < 4");
    await sql("DELETE FROM t WHERE id > 8");
    await sql("BEGIN; INSERT INTO t VALUES (100); ROLLBACK");
    await sql("CHECKPOINT");
    const tables = await sql(
      "SELECT relname, n_tup_ins, n_tup_upd + n_tup_del AS changed, n_live_tup FROM pg_stat_user_tables ORDER BY relname",
    );
    deepStrictEqual(tables.json.rows, [
      { relname: "other", n_tup_ins: 0, changed: 0, n_live_tup: 0 },
      { relname: "t", n_tup_ins: 13, changed: 5, n_live_tup: 8 },
    ]);
    const database =
      "SELECT tup_inserted, tup_deleted, xact_rollback, xact_commit > 3 AS commits, numbackends > 0 AS backends " +
      "FROM pg_stat_database";
    deepStrictEqual((await sql(database)).json.rows, [
      { tup_inserted: 13, tup_deleted: 5, xact_rollback: 1, commits: true, backends: true },
    ]);
    const log =
      "SELECT wal_records > 3 AND wal_sync > 0 AS w, checkpoints_req AS c FROM pg_stat_wal, pg_stat_bgwriter";
    deepStrictEqual((await sql(log)).json.rows, [{ w: true, c: 1 }]);
    deepStrictEqual(
      (await sql("SELECT state FROM pg_stat_activity WHERE pid = pg_backend_pid()")).json.rows,
      [
        { state: "active" },
      ],
    );
  }));

Deno.test("positions count characters, refusals say what to write instead", () =>
  withServer(async ({ sql }) => {
    await sql("CREATE TABLE ball (id BIGINT PRIMARY KEY, n INT); CREATE TABLE heap (n INT)");
    const cases: readonly (readonly [string, string, number | undefined, RegExp])[] = [
      ["/* 😀 */ DESCRIBE bal", "42P01", 18, /"ball"/],
      ["/* 😀 */ COPY bal TO STDOUT", "42P01", 14, /"ball"/],
      ["SELECT '😀' FROM bal", "42P01", 17, /"ball"/],
      ["/* 😀 */ CREATE POLICY p ON ball", "0A000", 16, /view/],
      ["CREATE ROLE a", "0A000", 8, /token/],
      ["ALTER USER a PASSWORD 'x'", "0A000", 7, /token/],
      ["DROP ROLE a", "0A000", 6, /token/],
      ["GRANT SELECT ON ball TO a", "0A000", 1, /token/],
      ["CREATE OR REPLACE RULE r AS ON INSERT TO ball DO NOTHING", "0A000", 19, /trigger/],
      ["CREATE PUBLICATION p", "0A000", 8, /COPY/],
      ["CREATE MATERIALIZED VIEW v AS SELECT 1", "0A000", 8, /CREATE TABLE … AS/],
      ["CREATE FOREIGN TABLE f (a INT) SERVER s", "0A000", 8, /EXTERNAL SOURCE/],
      ["IMPORT FOREIGN SCHEMA a FROM SERVER b INTO c", "0A000", 8, /EXTERNAL SOURCE/],
      ["CLUSTER ball", "0A000", 1, /primary key/],
      ["LOAD 'x'", "0A000", 1, /WebAssembly/],
      ["REASSIGN OWNED BY a TO b", "0A000", 1, /token/],
      ["SECURITY LABEL ON TABLE ball IS 'x'", "0A000", 10, /token/],
      ["CREATE TABLESPACE x LOCATION 'y'", "0A000", 8, /data directory/],
      ["CREATE COLLATION c (locale = 'de')", "0A000", 8, /code point/],
      ["ALTER SYSTEM SET work_mem = 1", "0A000", 7, /dbd --help/],
      ["CALL p()", "0A000", 1, /WASM/],
      ["CREATE TABLE c () INHERITS (ball)", "0A000", 19, /view/],
      ["ALTER TABLE ball CLUSTER ON ball_pkey", "0A000", 18, /primary key/],
      ["INSERT INTO ball ID -5 (n) VALUES (1)", "22003", undefined, /as the value of "id"/],
      ["INSERT INTO heap ID -5 (n) VALUES (1)", "22003", undefined, /given with ID/],
    ];
    for (const [text, code, position, hint] of cases) {
      const { json } = await sql(text);
      deepStrictEqual([json.code, json.position], [code, position], text);
      match(json.hint ?? "", hint, text);
    }
    for (
      const text of [
        "INSERT INTO ball VALUES (-5, 1)",
        "UPDATE ball ID -5 SET n = 2",
        "DELETE FROM ball ID -5",
      ]
    ) {
      strictEqual((await sql(text)).json.affected, 1, text);
    }
  }));

Deno.test("GET /v1/metrics is in the text format, every family with HELP and TYPE", () =>
  withServer(async ({ request, sql }) => {
    await sql("SELECT 1");
    const answer = await request("/v1/metrics");
    strictEqual(answer.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    const families = new Set<string>();
    for (const line of answer.text.trimEnd().split("\n")) {
      const type = /^# TYPE (db_\w+) (counter|gauge|histogram)$/.exec(line);
      if (type !== null) families.add(type[1] ?? "");
      else if (!/^# HELP db_\w+ .+$/.test(line)) {
        const sample = /^(db_\w+)(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+-]+$/.exec(line);
        ok(sample !== null, line);
        ok(
          families.has((sample[1] ?? "").replace(/_(bucket|sum|count)$/, "")) ||
            families.has(sample[1] ?? ""),
          line,
        );
      }
    }
    match(answer.text, /^db_http_requests_total\{path="\/v1\/sql",status="200"\} 1$/m);
    match(answer.text, /^db_binary_connections 3$/m);
    match(answer.text, /^db_event_loop_longest_turn_seconds 0.07$/m);
    match(answer.text, /^db_event_loop_longest_work_seconds 0.03$/m);
    match(answer.text, /^db_event_loop_recent_longest_turn_seconds 0.07$/m);
    match(answer.text, /^db_event_loop_long_turns_total 1$/m);
    match(answer.text, /^db_event_loop_long_turn_seconds\{work="checkpoint"\} 0.07$/m);
    for (
      const name of ["log_syncs_total", "checkpoints_total", "block_cache_bytes", "log_bytes", "table_bytes"]
    ) {
      ok(families.has(`db_${name}`), name);
    }
  }, { otherMetrics: () => ({ binary_connections: 3 }), turns: turnsOf(70) }));

function turnsOf(milliseconds: number): TurnTimes {
  const turns = new TurnTimes(0);
  turns.note(milliseconds, 1, "checkpoint");
  turns.longestWorkMilliseconds = 30;
  return turns;
}

Deno.test("exactly-once headers repeat the reply of the same request and refuse others", () =>
  withServer(async ({ sql, engine }) => {
    const client = "00112233445566778899aabbccddeeff";
    const once = (sequence: string, text: string) =>
      sql(text, { "X-Db-Client-Id": client, "X-Db-Req-Seq": sequence });
    strictEqual((await once("1", "CREATE TABLE t (id BIGINT PRIMARY KEY)")).status, 200);
    const first = await once("2", "INSERT INTO t VALUES (1)");
    const before = engine.lastOp;
    const second = await once("2", "INSERT INTO t VALUES (1)");
    deepStrictEqual([second.status, second.text], [200, first.text]);
    strictEqual(engine.lastOp, before);
    strictEqual((await once("2", "INSERT INTO t VALUES (2)")).status, 400);
    strictEqual((await once("1", "CREATE TABLE t (id BIGINT PRIMARY KEY)")).status, 409);
    const failed = await once("3", "INSERT INTO t VALUES (1)");
    strictEqual(failed.status, 409);
    await sql("DELETE FROM t");
    const repeated = await once("3", "INSERT INTO t VALUES (1)");
    deepStrictEqual([repeated.status, repeated.text], [409, failed.text]);
    strictEqual((await once("18446744073709551615", "SELECT count(*) FROM t")).json.value, 0);
    for (
      const headers of [
        { "X-Db-Client-Id": client },
        { "X-Db-Req-Seq": "1" },
        {
          "X-Db-Client-Id": client.toUpperCase(),
          "X-Db-Req-Seq": "1",
        },
        { "X-Db-Client-Id": client, "X-Db-Req-Seq": "18446744073709551616" },
        {
          "X-Db-Client-Id": client,
          "X-Db-Req-Seq": "-1",
        },
      ]
    ) {
      strictEqual(
        (await sql("SELECT 1", headers as Record<string, string>)).status,
        400,
        JSON.stringify(headers),
      );
    }
  }));

Deno.test("beyond the cap, a connection is answered 503 and closed", () =>
  withServer(async ({ port, server }) => {
    const held = connect({ host: "127.0.0.1", port });
    await until(() => server.connections === 1);
    const refused = await raw(port, "GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n", 5000);
    match(refused, /^HTTP\/1.1 503 .*Retry-After: 1\r\n.*Connection: close\r\n.*"code":"53300"/s);
    held.destroy();
  }, { maximumConnections: 1 }));

Deno.test("beyond the cap of requests in flight, a request is answered 429", () =>
  withServer(async ({ sql, engine }) => {
    const long = sql("SELECT count(*) FROM generate_series(1, 1000000000)");
    await untilRunning(engine);
    const refused = await sql("SELECT 1");
    deepStrictEqual([refused.status, refused.headers.get("retry-after"), refused.json.code], [
      429,
      "1",
      "53000",
    ]);
    for (const session of engine.sessions) session.cancel();
    const canceled = await long;
    deepStrictEqual([canceled.status, canceled.json.code], [504, "57014"]);
    strictEqual((await sql("SELECT 1")).status, 200);
  }, { maximumRequestsInFlight: 1 }));

Deno.test("a connection is kept for further requests, pipelined ones included", () =>
  withServer(async ({ port }) => {
    const request = (body: string, more: boolean) =>
      `POST /v1/sql HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n` +
      `Connection: ${more ? "keep-alive" : "close"}\r\n\r\n${body}`;
    const text = await raw(
      port,
      request("SELECT 1 AS a", true) + request("SELECT 1/0", true) + request("SELECT 3 AS a", false),
      5000,
    );
    deepStrictEqual([...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status), [
      "200",
      "400",
      "200",
    ]);
    match(text, /"a":1[^]*22012[^]*"a":3/);
  }));

Deno.test("a client that goes away has its statement canceled", () =>
  withServer(async ({ port, engine }) => {
    const body = "SELECT count(*) FROM generate_series(1, 1000000000)";
    const client = connect({ host: "127.0.0.1", port });
    client.write(
      `POST /v1/sql HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await untilRunning(engine);
    client.destroy();
    await until(() => [...engine.sessions].length === 0, "the end of the session");
  }));

Deno.test("what node:http would refuse with an empty body is refused with a failure object", async () => {
  await withServer(async ({ port }) => {
    const head =
      "POST /v1/sql HTTP/1.1\r\nContent-Type: text/plain\r\nContent-Length: 8\r\nConnection: close\r\n";
    const cases = [[`${head}\r\nSELECT 1`, 400], [
      `${head}Host: x\r\nExpect: a miracle\r\n\r\nSELECT 1`,
      417,
    ]] as const;
    for (const [request, status] of cases) {
      const answer = await raw(port, request, 5000);
      match(answer, new RegExp(`^HTTP/1.1 ${status} `));
      strictEqual(JSON.parse(answer.slice(answer.indexOf("\r\n\r\n"))).code, "08P01");
    }
  });
});

Deno.test("100 Continue comes behind the answers to earlier requests of the connection", async () => {
  await withServer(async ({ port }) => {
    const request = (text: string, headers: string): string =>
      `POST /v1/sql HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: ${text.length}\r\n${headers}\r\n${text}`;
    const answer = await raw(
      port,
      request("SELECT 11", "") + request("SELECT 22", "Expect: 100-continue\r\nConnection: close\r\n"),
      5000,
    );
    const parts = answer.split(/(?=HTTP\/1\.1 )/).filter((part) => !part.startsWith("HTTP/1.1 100 "));
    deepStrictEqual(parts.map((part) => /\d+(?=\}\]\}\n$)/.exec(part)?.[0]), ["11", "22"], answer);
  });
});
