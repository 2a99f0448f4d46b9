/**
 * DDL over tables that have rows: validations, rewrites, TRUNCATE, CREATE TABLE AS; errors as PostgreSQL words them.
 */
import assert from "node:assert/strict";
import { parseStatement } from "../../sql/parser/statements.ts";
import { RowBuffer } from "../row_buffer.ts";
import { runDefinition } from "./run_ddl.ts";
import { selectInto } from "../../sql/definition/select_into.ts";
import { TestClient } from "../copy/client_for_test.ts";
import { open } from "../../../mod.ts";
import { engineOf } from "../../session/database.ts";

async function withClient(action: (client: TestClient) => Promise<void>): Promise<void> {
  const client = await TestClient.open();
  try {
    await action(client);
  } finally {
    await client.close();
  }
}

Deno.test("ALTER TABLE checks the rows that are there", () =>
  withClient(async (client) => {
    await client.run("CREATE TABLE p (id int PRIMARY KEY)", "INSERT INTO p VALUES (1)");
    await client.run("CREATE TABLE t (a int, b int)", "INSERT INTO t VALUES (1, NULL), (2, 5), (2, 6)");
    const cases: readonly (readonly [string, string])[] = [
      ["ALTER TABLE t ALTER COLUMN b SET NOT NULL", '23502 column "b" of relation "t" contains null values'],
      [
        "ALTER TABLE t ADD CHECK (b > 5)",
        '23514 check constraint "t_b_check" of relation "t" is violated by some row',
      ],
      [
        "CREATE UNIQUE INDEX i ON t (a)",
        '23505 could not create unique index "i" / Key (a)=(2) is duplicated.',
      ],
      [
        "ALTER TABLE t ADD UNIQUE (a)",
        '23505 could not create unique index "t_a_key" / Key (a)=(2) is duplicated.',
      ],
      [
        "ALTER TABLE t ADD PRIMARY KEY (a)",
        '23505 could not create unique index "t_pkey" / Key (a)=(2) is duplicated.',
      ],
      ["ALTER TABLE t ADD PRIMARY KEY (b)", '23502 column "b" of relation "t" contains null values'],
      [
        "ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES p",
        '23503 insert or update on table "t" violates foreign key constraint "t_a_fkey" / Key (a)=(2) is not present in table "p".',
      ],
    ];
    for (const [text, message] of cases) assert.equal(await client.failure(text), message, text);
    assert.equal(
      await client.run("ALTER TABLE t ADD CHECK (a > 0), ADD FOREIGN KEY (b) REFERENCES p NOT VALID"),
      "ALTER TABLE",
    );
    assert.match(await client.failure("INSERT INTO t VALUES (0, NULL)"), /^23514/);
    assert.match(await client.failure("INSERT INTO t VALUES (3, 3)"), /^23503/);
    await client.run("CREATE UNIQUE INDEX ON t (b)");
    assert.match(await client.failure("UPDATE t SET b = 6 WHERE b = 5"), /^23505/);
  }));

Deno.test("ALTER TABLE rewrites rows: types, defaults that change by the row, new primary keys", () =>
  withClient(async (client) => {
    await client.run(
      "CREATE TABLE t (a text, k int)",
      "INSERT INTO t SELECT i::text, 10000 - i FROM generate_series(1, 9000) AS g(i)",
    );
    await client.run(
      "CREATE INDEX ON t (a)",
      "ALTER TABLE t ALTER COLUMN a TYPE numeric(10,1) USING a::numeric / 2",
    );
    assert.deepEqual(await client.rows("SELECT a, k FROM t WHERE a = 4.5"), ["4.5|9991"]);
    await client.run("CREATE SEQUENCE s", "ALTER TABLE t ADD COLUMN n int DEFAULT nextval('s')");
    assert.deepEqual(await client.rows("SELECT count(DISTINCT n), min(n), max(n) FROM t"), ["9000|1|9000"]);
    await client.run("ALTER TABLE t ADD COLUMN z text DEFAULT 'zed' NOT NULL");
    await client.run("ALTER TABLE t ADD PRIMARY KEY (k)");
    assert.deepEqual(await client.rows("SELECT rowid, a, k, z FROM t WHERE k = 9991"), ["9991|4.5|9991|zed"]);
    assert.deepEqual(await client.rows("SELECT rowid FROM t ORDER BY rowid LIMIT 1"), ["1000"]);
    assert.match(await client.failure("INSERT INTO t (k) VALUES (9991)"), /^23505/);
    await client.run("ALTER TABLE t DROP COLUMN a", "ALTER TABLE t RENAME COLUMN z TO y");
    assert.deepEqual(await client.rows("SELECT * FROM t WHERE k = 9991"), ["9991|9|zed"]);
  }));

Deno.test("ALTER TABLE in a block is taken back by ROLLBACK, and sees its own rows", () =>
  withClient(async (client) => {
    await client.run("CREATE TABLE t (a int)", "INSERT INTO t VALUES (1)");
    await client.run(
      "BEGIN",
      "INSERT INTO t VALUES (2)",
      "ALTER TABLE t ADD COLUMN b int DEFAULT 7",
      "INSERT INTO t VALUES (3, 8)",
    );
    assert.deepEqual(await client.rows("SELECT * FROM t ORDER BY a"), ["1|7", "2|7", "3|8"]);
    await client.run("ALTER TABLE t ADD PRIMARY KEY (a)", "UPDATE t SET b = 0 WHERE a = 2");
    assert.deepEqual(await client.rows("SELECT * FROM t ORDER BY a"), ["1|7", "2|0", "3|8"]);
    await client.run("ROLLBACK");
    assert.deepEqual(await client.rows("SELECT * FROM t"), ["1"]);
  }));

Deno.test("TRUNCATE empties tables, follows references and restarts sequences", () =>
  withClient(async (client) => {
    await client.run(
      "CREATE TABLE p (id serial PRIMARY KEY)",
      "CREATE TABLE c (p int REFERENCES p)",
      "INSERT INTO p DEFAULT VALUES",
      "INSERT INTO p DEFAULT VALUES",
      "INSERT INTO c VALUES (1)",
    );
    assert.match(
      await client.failure("TRUNCATE p"),
      /^0A000 cannot truncate a table referenced in a foreign key constraint/,
    );
    await client.run("TRUNCATE p RESTART IDENTITY CASCADE");
    assert.deepEqual(await client.rows("SELECT count(*) FROM c"), ["0"]);
    assert.deepEqual(await client.rows("INSERT INTO p DEFAULT VALUES RETURNING id"), ["1"]);
  }));

Deno.test("CREATE TABLE AS and SELECT INTO fill a table from a query", () =>
  withClient(async (client) => {
    const query =
      "SELECT i AS id, 'row ' || i AS name, i % 2 = 0 AS even, i / 2.0 AS half, ARRAY[i] AS list, NULL::date AS none FROM generate_series(1, 20000) AS g(i)";
    assert.equal(await client.run(`CREATE TABLE t AS ${query}`), "SELECT 20000");
    assert.deepEqual(await client.rows("SELECT * FROM t WHERE id = 19999"), [
      "19999|row 19999|f|9999.5000000000000000|{19999}|",
    ]);
    assert.deepEqual(await client.rows("SELECT count(*), max(rowid) FROM t"), ["20000|20000"]);
    assert.equal(await client.run("CREATE TABLE e AS SELECT 1 AS one WITH NO DATA"), "CREATE TABLE AS");
    const into =
      parseStatement("SELECT id, name INTO i FROM t WHERE id < 4 UNION ALL SELECT 0, 'zero'").statement;
    const definition = selectInto(into);
    assert.ok(definition !== null && selectInto(parseStatement("SELECT 1").statement) === null);
    const run = runDefinition(client.session, "", definition, new RowBuffer());
    assert.equal((await run).tag, "SELECT 4");
    assert.deepEqual(await client.rows("SELECT * FROM i ORDER BY id DESC LIMIT 1"), ["3|row 3"]);
    await client.run("INSERT INTO t (id) VALUES (0)");
    assert.deepEqual(await client.rows("SELECT rowid FROM t WHERE id = 0"), ["20001"]);
  }));

Deno.test("ADD PRIMARY KEY gives every row of several batches its new id", () =>
  withClient(async (client) => {
    // More than two batches of 16384 rows, with ids in no order, NULL, texts beyond ASCII, and a column added later.
    await client.run(
      "CREATE TABLE t (k bigint, a text, n numeric(12,2), f float8, d date)",
      `INSERT INTO t SELECT (i * 7919) % 40009, CASE WHEN i % 5 = 0 THEN NULL ELSE 'é' || i END, i * 0.25,
        CASE WHEN i % 3 = 0 THEN NULL ELSE i / 8.0 END, date '2000-01-01' + i::int FROM generate_series(1, 40000) AS g(i)`,
      "ALTER TABLE t ADD COLUMN later text DEFAULT 'x'",
    );
    const all = "SELECT k, a, n, f, d, later FROM t ORDER BY k";
    const before = await client.rows(all);
    await client.run("ALTER TABLE t ADD PRIMARY KEY (k)");
    // As texts: the difference between two lists of this length takes minutes to work out.
    assert.ok((await client.rows(all)).join("\n") === before.join("\n"));
    assert.deepEqual(await client.rows("SELECT count(*) FROM t WHERE rowid <> k"), ["0"]);
    assert.match(await client.failure("INSERT INTO t (k) VALUES (7919)"), /^23505/);
    assert.equal(before.length, 40000);
  }));

Deno.test("ADD PRIMARY KEY takes ids beyond the safe integers, beside unique indexes too, and refuses what is there twice", () =>
  withClient(async (client) => {
    const rows = (extra: string) => [
      "DROP TABLE IF EXISTS t",
      "CREATE TABLE t (k bigint, u text)",
      `INSERT INTO t VALUES (3, 'c'), (9007199254740993, 'big'), (1, 'a'), ${extra}`,
    ];
    const all = "SELECT rowid, k, u FROM t ORDER BY k";
    const found = ["1|1|a", "2|2|b", "3|3|c", "9007199254740993|9007199254740993|big"];
    await client.run(...rows("(2, 'b')"), "ALTER TABLE t ADD PRIMARY KEY (k)");
    assert.deepEqual(await client.rows(all), found);
    await client.run(
      ...rows("(2, 'b')"),
      "ALTER TABLE t ADD UNIQUE (u)",
      "ALTER TABLE t ADD PRIMARY KEY (k)",
    );
    assert.deepEqual(await client.rows(all), found);
    assert.match(await client.failure("INSERT INTO t VALUES (4, 'big')"), /^23505/);
    for (const twice of ["3", "9007199254740993"]) {
      await client.run(...rows(`(${twice}, 'again')`));
      assert.equal(
        await client.failure("ALTER TABLE t ADD PRIMARY KEY (k)"),
        `23505 could not create unique index "t_pkey" / Key (k)=(${twice}) is duplicated.`,
      );
      assert.equal((await client.rows(all)).length, 4);
    }
  }));

Deno.test("TRUNCATE and rewrites give up the rows that were there, once nobody reads them, without a later commit", async () => {
  await using database = await open(":memory:");
  const engine = engineOf(database);
  const rows = () => [...engine.storage.tables].map((table) => table.rowsInMemory);
  const turns = async () => {
    for (let turn = 0; turn < 10; turn++) await engine.yieldToLoop();
  };
  await database.execute("CREATE TABLE t (a int NOT NULL)");
  await database.execute("INSERT INTO t SELECT 1001 - i FROM generate_series(1, 1000) i");
  await database.execute("ALTER TABLE t ADD PRIMARY KEY (a)");
  await turns();
  assert.deepEqual(rows(), [1000]);
  await database.transaction(async (reader) => {
    assert.equal((await reader.query("SELECT count(*) AS n FROM t"))[0]?.n, 1000);
    await database.execute("TRUNCATE t");
    await turns();
    assert.deepEqual(rows(), [1000], "for the reader");
    assert.equal((await reader.query("SELECT count(*) AS n FROM t"))[0]?.n, 1000);
  });
  await database.execute("INSERT INTO t VALUES (1)");
  await turns();
  assert.deepEqual(rows(), [1]);
});

Deno.test("NULL in rows that are gone, and in columns that rows lack, forbids NOT NULL as it should", () =>
  withClient(async (client) => {
    await client.run(
      "CREATE TABLE t (a int, k int)",
      "INSERT INTO t VALUES (1, 1), (2, NULL), (3, 3), (NULL, 4)",
    );
    const notNull = (column: string) => client.failure(`ALTER TABLE t ALTER ${column} SET NOT NULL`);
    assert.match(await notNull("k"), /^23502/);
    await client.run("DELETE FROM t WHERE a = 2 OR a IS NULL");
    assert.equal(await notNull("k"), "no error");
    await client.run("ALTER TABLE t ADD COLUMN z int", "ALTER TABLE t ADD PRIMARY KEY (a)");
    assert.deepEqual(await client.rows("SELECT rowid, a FROM t ORDER BY a"), ["1|1", "3|3"]);
    assert.match(await notNull("z"), /^23502/);
    await client.run("DELETE FROM t");
    assert.equal(await notNull("z"), "no error");
  }));
