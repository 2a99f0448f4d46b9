/** CREATE and DROP EXTERNAL SOURCE, REFRESH among other sessions, and what is left of it after a restart. */
import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { until } from "../../tests/support/until.ts";
import { DatabaseError } from "../base/errors.ts";
import { memoryHost } from "../host/memory_host.ts";
import { Engine } from "../session/engine.ts";
import { RowBuffer } from "../statements/row_buffer.ts";
import { answer } from "./testing/fault_server.ts";
import { SourceFixture } from "./testing/source_fixture.ts";

/** A statement, what its error says (code, message, hint), and the text at whose beginning its position is. */
type Refusal = readonly [statement: string, error: RegExp, at?: string];

const U = "'http://h/x'";
const REFUSALS: readonly Refusal[] = [
  [`(id INT) FROM ${U} FORMAT XLM KEY id`, /^42601 .*"XLM" One of JSON, NDJSON, CSV, PARQUET/, "XLM"],
  [`(id INT) FROM ${U} FORMAT JOSN KEY id`, /^42601 .* Did you mean "JSON"\?/, "JOSN"],
  [`(id INT) FROM ${U} FROMAT JSON KEY id`, /^42601 .* Did you mean "FORMAT"\?/, "FROMAT"],
  [`(id INT) FORMAT JSON FROM ${U} KEY id`, /^42601 .* The order is: name \(columns\) FROM/, "FORMAT"],
  [`(id INT) FROM ${U} KEY id FORMAT JSON`, /^42601 .* The order is/, "KEY"],
  [`(id INT) FROM ${U} FORMAT JSON KEY id ROW 'a'`, /^42601 .* Did you mean "ROWS"\?/, "ROW '"],
  [
    `(id INT) FROM ${U} FORMAT JSON KEY id ROWS 'a' ROWS 'b'`,
    /^42601 conflicting or redundant options/,
    "ROWS 'b'",
  ],
  [`(id INT) FROM ${U} FORMAT JSON KEY id PAGE NXT LINK`, /^42601 .* Did you mean "NEXT"\?/, "NXT"],
  [`(id INT) FROM ${U} FORMAT JSON KEY id PAGE NEXT LINKS`, /^42601 .* Did you mean "LINK"\?/, "LINKS"],
  [`(id INT) FROM ${U} FORMAT JSON KEY id AUTH BEARR ENV 'A'`, /^42601 .* Did you mean "BEARER"\?/, "BEARR"],
  [
    `(id INT) FROM ${U} FORMAT JSON KEY id AUTH BEARER 'tok'`,
    /^42601 .* ENV 'NAME' is expected here/,
    "'tok'",
  ],
  [`(id INT FORM 'x') FROM ${U} FORMAT JSON KEY id`, /^42601 .* Did you mean "FROM"\?/, "FORM"],
  [`(id INT PRIMARY KEY) FROM ${U} FORMAT JSON KEY id`, /^42601 .* A column is: name TYPE/, "PRIMARY"],
  [
    `(id INT, name TEXT) FROM ${U} FORMAT JSON KEY nme`,
    /^42703 column "nme" .* Did you mean "name"\?/,
    "nme",
  ],
  [`(id INT, id TEXT) FROM ${U} FORMAT JSON KEY id`, /^42701 /, "id TEXT"],
  [`(id INTT) FROM ${U} FORMAT JSON KEY id`, /^42704 .*intt/, "INTT"],
  [
    `(id INT FROM 'a..b') FROM ${U} FORMAT JSON KEY id`,
    /^22023 invalid path "a\.\.b" in FROM of column "id": .* character 3/,
    ".b'",
  ],
  [`(id INT) FROM ${U} FORMAT JSON KEY id ROWS 'a[x]'`, /^22023 invalid path .* in ROWS/, "x]'"],
  [`(id INT) FROM ${U} FORMAT JSON KEY id PAGE NEXT JSON ''`, /^22023 .* in PAGE/, "'"],
  [
    `(id INT) FROM 'htps://h/x' FORMAT JSON KEY id`,
    /^22023 unknown scheme "htps" .* Did you mean "https"\?/,
    "'htps",
  ],
  [`(id INT) FROM 'file:///etc/passwd' FORMAT JSON KEY id`, /^22023 unknown scheme "file"/, "'file"],
  [`(id INT) FROM 'rows.json' FORMAT JSON KEY id`, /^22023 .* absolute address/, "'rows"],
  [`(id INT) FROM 'http://' FORMAT JSON KEY id`, /^22023 .* not a valid address/, "'http"],
  [`(id INT) FROM 'http:x' FORMAT JSON KEY id`, /^22023 .* not a valid address/, "'http"],
  [
    `(id INT) FROM 'http://u:p@h/x' FORMAT JSON KEY id`,
    /^22023 .* must not hold a user name or password Use AUTH/,
    "'http",
  ],
  [`(id INT) FROM ${U} FORMAT CSV KEY id ROWS 'a'`, /^22023 ROWS goes with FORMAT JSON only/, "'a'"],
  [
    `(id INT) FROM ${U} FORMAT CSV KEY id PAGE NEXT JSON 'a'`,
    /^22023 PAGE by a JSON path .* PAGE NEXT LINK/,
    "PAGE",
  ],
  [`(id INT) FROM ${U} FORMAT PARQUET KEY id`, /^0A000 FORMAT PARQUET is served for s3/, "'http"],
  [`(id INT) FROM ${U} FORMAT JSON KEY id REGION 'r'`, /^22023 REGION goes with s3/, "REGION"],
  [`(id INT) FROM ${U} FORMAT JSON KEY id ENDPOINT 'https://e'`, /^22023 ENDPOINT goes with/, "ENDPOINT"],
  [
    `(id INT) FROM ${U} FORMAT JSON KEY id AUTH S3 KEYID ENV 'A' SECRET ENV 'B'`,
    /^22023 AUTH S3 goes with s3/,
    "S3",
  ],
  [
    `(id INT) FROM ${U} FORMAT JSON KEY id AUTH BEARER ENV 'sk-secret.value'`,
    /^22023 ENV takes the name of an environment variable The value stays/,
    "BEARER",
  ],
  [
    `(id INT) FROM ${U} FORMAT JSON KEY id AUTH HEADER 'a b' ENV 'A'`,
    /^22023 "a b" is not the name of a header/,
    "HEADER",
  ],
  [
    `(id INT) FROM ${U} FORMAT JSON KEY id AUTH HEADER 'Host' ENV 'A'`,
    /^22023 the header "Host" cannot be set/,
    "HEADER",
  ],
  [
    `(id INT) FROM 's3://b/k' FORMAT CSV KEY id`,
    /^0A000 .* need the build feature "external-sources-objstore"/,
    "'s3",
  ],
  [`url ${U} FORMAT JSON KEY id`, /^42601 .*"url" The order is: name \(columns\)/, "url"],
  [`(id INT) url ${U} FORMAT JSON KEY id`, /^42601 .* The order is/, "url"],
  [`(id INT) FROM http://h/x FORMAT JSON KEY id`, /^42601 .* A text in single quotes is expected/, "http"],
  [`(id INT) FROM "http://h/x" FORMAT JSON KEY id`, /^42601 .* A text in single quotes/, '"http'],
  [`(id INT) FROM ${U} FORMAT JSON KEY (id)`, /^42601 .* The name of one column is expected/, "(id)"],
  [`(id INT) FROM ${U} FORMAT JSON KEY id, name`, /^42601 .* The order is/, ","],
  [`(id INT) FROM ${U} FORMAT JSON KEY id WITH (a = 1)`, /^42601 .* The order is/, "WITH"],
  [`(id INT) FROM ${U} FORMAT JSON KEY id ROWS a`, /^42601 .* A text in single quotes/, "a"],
  [`(id INT) FROM ${U} FORMAT JSON KEY id PAGE CURSOR JSON 'c'`, /^42601 .* PARAM is expected here/, ""],
  [`(id INT) FROM ${U} FORMAT JSON KEY id AUTH BEARER ENV TOKEN`, /^42601 .* A text in single/, "TOKEN"],
  [`(id INT) FROM ${U} FORMAT JSON KEY id AUTH HEADER ENV 'T'`, /^42601 .* A text in single/, "ENV"],
  [`(id INT) FROM 's3://b/k' FORMAT JSON KEY id AUTH S3 KEY ENV 'A'`, /^42601 .* mean "KEYID"/, "KEY ENV"],
  [`(id INT) FROM 's3://b/k' FORMAT JSON KEY id REGION eu`, /^42601 .* A text in single quotes/, "eu"],
  [`(id INT NOT NUL) FROM ${U} FORMAT JSON KEY id`, /^42601 .* Did you mean "NULL"\?/, "NUL)"],
  [`(id) FROM ${U} FORMAT JSON KEY id`, /^42601 .* A column is: name TYPE/, ")"],
  [`(id INT,) FROM ${U} FORMAT JSON KEY id`, /^42601 .* A column is: name TYPE/, ")"],
  [`() FROM ${U} FORMAT JSON KEY id`, /^42601 .* A column is: name TYPE/, ")"],
  [`FROM ${U} FORMAT JSON KEY id`, /^42601 .* The order is/, "FROM"],
];

Deno.test("CREATE EXTERNAL SOURCE refuses what cannot be right, with its place and a hint", async () => {
  await using fixture = await SourceFixture.open();
  for (const [tail, error, at] of REFUSALS) {
    const statement = `CREATE EXTERNAL SOURCE p ${tail}`;
    const failure = await fixture.failure(statement);
    match(`${failure.code} ${failure.message}${failure.hint === undefined ? "" : ` ${failure.hint}`}`, error);
    if (at !== undefined) {
      strictEqual(
        statement.slice((failure.position ?? 0) - 1, (failure.position ?? 0) - 1 + at.length),
        at,
        tail,
      );
    }
    strictEqual(failure.message.includes("sk-secret"), false);
  }
  for (
    const [statement, error] of [
      ["CREATE EXTERNAL SUORCE p (id INT)", /^42601 .*"SUORCE" Did you mean "SOURCE"\?/],
      ["CREATE EXTERNAL TABLE p (id INT)", /^42601 .*"TABLE" SOURCE is expected here/],
      ["CREATE EXTERNAL", /^42601 .* SOURCE is expected here/],
      ["CREATE EXTERNAL SOURCE", /^42601 .* The order is/],
      ["CREATE OR REPLACE EXTERNAL SOURCE p (id INT)", /^0A000 .* Drop the source/],
      ["DROP EXTERNAL SUORCE p", /^42601 .*"SUORCE" Did you mean "SOURCE"\?/],
      ["REFRESH EXTERNAL SUORCE p", /^42601 .*"SUORCE" Did you mean "SOURCE"\?/],
    ] as const
  ) {
    const { code, message, hint } = await fixture.failure(statement);
    match(`${code} ${message} ${hint}`, error, statement);
  }
  // Behind another statement of the same text.
  const second = await fixture.failure(
    `SELECT 1; CREATE EXTERNAL SOURCE p (id INT) FROM 'htp://h' FORMAT JSON KEY id`,
  );
  strictEqual(second.position, 50);
});

Deno.test("a source is a table that REFRESH alone changes", async () => {
  await using fixture = await SourceFixture.open();
  const { server } = fixture;
  server.on("/p", answer('[{"id":1,"Name":"a"},{"id":2,"Name":"b"}]'));
  const create = `CREATE EXTERNAL SOURCE IF NOT EXISTS p (id BIGINT, name TEXT FROM 'Name') FROM '${
    server.url("/p")
  }' FORMAT JSON KEY id`;
  strictEqual((await fixture.run(create)).tag, "CREATE EXTERNAL SOURCE");
  deepStrictEqual((await fixture.run(create)).notices, ['relation "p" already exists, skipping']);
  await fixture.run("REFRESH p");
  await fixture.run("CREATE TABLE child (p BIGINT REFERENCES p, n INT)");
  await fixture.run("INSERT INTO child VALUES (1, 10), (2, 20)");
  await fixture.run("CREATE INDEX ON p (name)");
  await fixture.run("CREATE VIEW v AS SELECT name FROM p");
  deepStrictEqual(
    (await fixture.run("SELECT name, n FROM p JOIN child ON p.id = child.p WHERE name = 'b'")).rows,
    [["b", "20"]],
  );
  const refused: readonly [string, RegExp][] = [
    ["INSERT INTO p VALUES (3)", /^42809 cannot insert into external source "p" Use REFRESH p/],
    ["UPDATE p SET name = ''", /^42809 cannot update external source/],
    ["UPDATE p ID 1 SET name = ''", /^42809 cannot update external source/],
    ["DELETE FROM p", /^42809 cannot delete from external source/],
    [
      "MERGE INTO p USING child ON p.id = child.p WHEN MATCHED THEN DELETE",
      /^42809 cannot update external source/,
    ],
    ["WITH d AS (DELETE FROM p RETURNING 1) SELECT * FROM d", /^42809 /],
    ["COPY p FROM STDIN", /^42809 cannot copy to external source/],
    ["TRUNCATE p", /^42809 cannot truncate external source/],
    ["ALTER TABLE p ADD COLUMN x INT", /^42809 cannot alter external source/],
    ["ALTER TABLE p DROP COLUMN name", /^42809 cannot alter external source/],
    ["ALTER TABLE p ALTER COLUMN name SET NOT NULL", /^42809 cannot alter external source/],
    ["ALTER TABLE p ADD CHECK (id > 0)", /^42809 cannot alter external source/],
    ["CREATE TRIGGER t BEFORE INSERT ON p FOR EACH ROW SET name = 'x'", /^42809 /],
    ["DROP TABLE p", /^42809 "p" is not a table Use DROP EXTERNAL SOURCE/],
    ["DROP EXTERNAL SOURCE child", /^42809 "child" is not an external source Use DROP TABLE/],
    ["DROP EXTERNAL SOURCE p", /^2BP01 cannot drop external source p because other objects depend on it/],
    [
      "DROP EXTERNAL SOURCE q",
      /^42P01 external source "q" does not exist Did you mean "p"\?|^42P01 external source "q" does not exist$/,
    ],
    ["REFRESH child", /^42809 "child" is not an external source/],
    ["REFRESH v", /^42809 "v" is not an external source/],
    ["REFRESH q", /^42P01 relation "q" does not exist/],
    ["BEGIN; REFRESH p", /^25001 REFRESH cannot run inside a transaction block/],
    ["SELECT 1; REFRESH p", /^25001 /],
  ];
  for (const [statement, error] of refused) {
    const failure = await fixture.failure(statement);
    match(
      `${failure.code} ${failure.message}${failure.hint === undefined ? "" : ` ${failure.hint}`}`,
      error,
      statement,
    );
    if (fixture.session.status !== "idle") await fixture.run("ROLLBACK");
  }
  await fixture.run("SET default_transaction_read_only = on");
  match((await fixture.failure("REFRESH p")).message, /cannot execute REFRESH in a read-only transaction/);
  await fixture.run("RESET default_transaction_read_only");
  // Renamed, it is still filled from the same fields. Rows that are gone from the source stay.
  await fixture.run("ALTER TABLE p RENAME TO people");
  await fixture.run("ALTER TABLE people RENAME COLUMN name TO called");
  server.on("/p", answer('[{"id":2,"Name":"B"},{"id":3,"Name":"c"}]'));
  strictEqual((await fixture.run("REFRESH people")).tag, "REFRESH 2");
  deepStrictEqual((await fixture.run("SELECT * FROM people ORDER BY id")).rows, [["1", "a"], ["2", "B"], [
    "3",
    "c",
  ]]);
  // A unique index holds, and says which row; nothing of the others is there.
  await fixture.run("CREATE UNIQUE INDEX ON people (called)");
  server.on("/p", answer('[{"id":4,"Name":"d"},{"id":5,"Name":"c"}]'));
  const duplicate = await fixture.failure("REFRESH people");
  match(`${duplicate.code} ${duplicate.where}`, /^23505 REFRESH people, row 2 of all/);
  strictEqual((await fixture.run("SELECT count(*) FROM people")).rows[0]?.[0], "3");
  await fixture.run("DROP EXTERNAL SOURCE people CASCADE");
  strictEqual(
    (await fixture.run("SELECT count(*) FROM pg_class WHERE relname LIKE 'people%'")).rows[0]?.[0],
    "0",
  );
});

Deno.test("REFRESH is stopped at once, one at a time, and finds the table as others have left it", async () => {
  await using fixture = await SourceFixture.open();
  const { server, engine, session } = fixture;
  const nobody = (): void => undefined;
  let release = nobody;
  const held = (body: string) => async (writer: { write(data: string): Promise<void> }) => {
    await writer.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, 5)}`);
    await new Promise<void>((resolve) => release = resolve);
    await writer.write(body.slice(5)).catch(() => undefined);
  };
  const body = '[{"id":1,"n":"x"}]';
  server.on("/p", held(body));
  await fixture.run(
    `CREATE EXTERNAL SOURCE p (id BIGINT, n TEXT) FROM '${server.url("/p")}' FORMAT JSON KEY id`,
  );
  const other = engine.openSession();
  const begin = () => {
    release = nobody;
    return fixture.run("REFRESH p").catch((error) => error as DatabaseError);
  };
  const isHeld = () => server.openConnections === 1 && release !== nobody;
  const ended = async (running: Promise<unknown>, code: string) => {
    const error = await running;
    strictEqual(error instanceof DatabaseError ? error.code : error, code);
    strictEqual(engine.refreshes.size, 0);
    await until(() => server.openConnections === 0 || (release(), false));
  };
  // Canceled while a byte is waited for: the connection is closed.
  let running = begin();
  await until(() => [...engine.refreshes.values()].some(({ progress }) => progress.bytes > 0));
  const busy = await fixture.failure("REFRESH p", other);
  match(`${busy.code} ${busy.message}`, /^55P03 external source "p" is being refreshed already/);
  deepStrictEqual((await fixture.run("SELECT count(*) FROM p", other)).rows, [["0"]]);
  deepStrictEqual(
    (await fixture.run("SELECT pid, relname, pages, rows, bytes > 0 FROM pg_stat_progress_refresh", other))
      .rows,
    [[String(session.processId), "p", "1", "0", "t"]],
  );
  session.cancel();
  await ended(running, "57014");
  // By the time that a statement may take.
  await fixture.run("SET statement_timeout = 60");
  await ended(begin(), "57014");
  await fixture.run("RESET statement_timeout");
  // Meanwhile the table gets an index, and the column another name.
  running = begin();
  await until(isHeld);
  await fixture.run("CREATE INDEX ON p (n)", other);
  await fixture.run("ALTER TABLE p RENAME COLUMN n TO m", other);
  release();
  deepStrictEqual(await running, { tag: "REFRESH 1", notices: [], rows: [] });
  deepStrictEqual((await fixture.run("SELECT id FROM p WHERE m = 'x'")).rows, [["1"]]);
  // Or goes away, by itself or for another one.
  for (const again of [false, true]) {
    running = begin();
    await until(isHeld);
    await fixture.run("DROP EXTERNAL SOURCE p", other);
    const create = `CREATE EXTERNAL SOURCE p (id BIGINT, n TEXT) FROM '${
      server.url("/p")
    }' FORMAT JSON KEY id`;
    if (again) await fixture.run(create, other);
    release();
    await ended(running, "55000");
    if (!again) await fixture.run(create, other);
  }
  // And so does the session.
  const third = engine.openSession();
  running = fixture.run("REFRESH p", third).catch((error) => error as DatabaseError);
  await until(() => server.openConnections === 1);
  third.close();
  await ended(running, "57P01");
});

Deno.test("what REFRESH wrote is there after a restart, in a program without external sources", async () => {
  const host = memoryHost();
  await using fixture = await SourceFixture.open({ host });
  const { server } = fixture;
  const rows = Array.from({ length: 3000 }, (_, id) => `{"id":"${id}","n":${id}}`);
  server.on("/p", answer(`[${rows.join(",")}]`));
  await fixture.run(
    `CREATE EXTERNAL SOURCE p (id TEXT, n INT) FROM '${server.url("/p")}' FORMAT JSON KEY id`,
  );
  await fixture.run("REFRESH p");
  await fixture.engine.checkpoint();
  rows.splice(0, 2000, '{"id":"7","n":-7}', '{"id":"new","n":1}');
  server.on("/p", answer(`[${rows.join(",")}]`));
  await fixture.run("REFRESH p");
  const question = "SELECT count(*), sum(n), min(n) FROM p";
  const before = (await fixture.run(question)).rows;
  deepStrictEqual(before, [["3001", String(2999 * 3000 / 2 - 14 + 1), "-7"]]);
  const requests = server.seen.length;
  await fixture.engine.close();
  const engine = await Engine.open({ host, directory: fixture.directory });
  const session = engine.openSession();
  const sink = new RowBuffer();
  await session.simple(question, sink, () => undefined);
  deepStrictEqual(sink.rows.map((row) => row.map(String)), before);
  strictEqual(engine.machine.catalog.lastRefresh(engine.machine.catalog.tables[0]?.id ?? 0)?.rows, 1002);
  await session.simple("REFRESH p", new RowBuffer(), () => undefined)?.then(
    () => strictEqual("an error", "an answer"),
    (error: DatabaseError) =>
      match(`${error.code} ${error.message}`, /^0A000 .* need the build feature "external-sources"$/),
  );
  strictEqual(server.seen.length, requests);
  const shown = new RowBuffer();
  await session.simple(
    "SELECT sourcename, format, key, paging, auth, last_rows, last_pages, last_refresh > '2020-01-01' FROM pg_external_sources",
    shown,
    () => undefined,
  );
  deepStrictEqual(shown.rows, [["p", "json", "id", null, null, 1002, 1, true]]);
  await engine.close();
});
