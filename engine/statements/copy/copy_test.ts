/** COPY through a real session: formats, options, errors, rules of tables, and bulk loads. */
import assert from "node:assert/strict";
import { RowBuffer } from "../row_buffer.ts";
import { BINARY_SIGNATURE } from "./binary_reader.ts";
import { TestClient } from "./client_for_test.ts";

async function withClient(action: (client: TestClient) => Promise<void>): Promise<void> {
  const client = await TestClient.open();
  try {
    await action(client);
  } finally {
    await client.close();
  }
}

const EVERY_TYPE =
  "CREATE TABLE e (id int PRIMARY KEY, i i64, f float8, g float4, n numeric(12,2), d numeric, b bool, " +
  "t text, v varchar(5), c char(6), y bytea, da date, ts timestamp, tz timestamptz, ti time, iv interval, u uuid, " +
  "j json, k jsonb, a int[])";
const ROWS = [
  '1\t9223372036854775807\t1.5\t0.1\t-12.30\t1.500\tt\ttab\\there\\nnew\\\\slash\tabcde\tabc\t\\\\x00ff\t2024-02-29\t2024-02-29 12:34:56.789\t2024-02-29 12:34:56+00\t01:02:03\t1 day 02:00:00\t00000000-0000-0000-0000-000000000001\t{"a": 1}\t{"a": 1}\t{1,2,NULL}',
  "2\t-5\tInfinity\tNaN\t0.00\tNaN\tf\tüñí€😀\tü\t\t\\\\x\t0001-01-01\tinfinity\t-infinity\t23:59:59.999999\t-1 mons\tffffffff-ffff-ffff-ffff-ffffffffffff\tnull\t[1, 2]\t{}",
  `3${"\t\\N".repeat(19)}`,
];

Deno.test("COPY moves every type out and in again, in every format, split anywhere", () =>
  withClient(async (client) => {
    await client.run(EVERY_TYPE, EVERY_TYPE.replace("TABLE e", "TABLE e2"));
    const data = ROWS.map((row) => row + "\n").join("");
    assert.equal(await client.copyIn("COPY e FROM STDIN", data), "COPY 3");
    const text = await client.copyText("COPY e TO STDOUT");
    // CHAR(6) is shown with its padding.
    assert.equal(text.replaceAll("abc   \t", "abc\t").replaceAll("\t      \t", "\t\t"), data);
    for (
      const options of [
        "",
        "(FORMAT csv)",
        "(FORMAT csv, HEADER, DELIMITER ';', NULL 'nil', QUOTE '''', ESCAPE '\\', FORCE_QUOTE *)",
        "(FORMAT binary)",
      ]
    ) {
      const bytes = await client.copyOut(`COPY e TO STDOUT ${options}`);
      const back = options.replace(", FORCE_QUOTE *", "");
      for (const size of [1, 7, 1 << 16]) {
        await client.run("TRUNCATE e2");
        assert.equal(
          await client.copyIn(`COPY e2 FROM STDIN ${back}`, bytes, size),
          "COPY 3",
          `${options} ${size}`,
        );
        assert.equal(await client.copyText("COPY e2 TO STDOUT"), text, `${options} ${size}`);
      }
    }
  }));

Deno.test("COPY reads CSV as RFC 4180 has it, with PostgreSQL's options", () =>
  withClient(async (client) => {
    await client.run("CREATE TABLE t (a text, b text)");
    const load = async (data: string, options = ""): Promise<string[]> => {
      await client.run("TRUNCATE t");
      await client.copyIn(`COPY t FROM STDIN (FORMAT csv${options})`, data, 3);
      return await client.rows("SELECT coalesce(a, '~'), coalesce(b, '~') FROM t");
    };
    assert.deepEqual(await load('x,"y ""z"""\r\n"a,b","l1\nl2"\r\n'), ['x|y "z"', "a,b|l1\nl2"]);
    assert.deepEqual(await load(',""\n'), ["~|"]);
    assert.deepEqual(await load("h1,h2\n1,2\n", ", HEADER"), ["1|2"]);
    assert.deepEqual(await load("a,b\n1,2", ", HEADER MATCH"), ["1|2"]);
    assert.deepEqual(await load(',""\n', ", FORCE_NOT_NULL (a), FORCE_NULL (b)"), ["|~"]);
    assert.deepEqual(await load('ab"c,d"e,f\n'), ["abc,de|f"]);
    assert.deepEqual(await load("1,2\n\\.\n3,4\n"), ["1|2"]);
    assert.match(
      await client.failure(load("a,x\n1,2\n", ", HEADER MATCH")),
      /^22P04 column name mismatch in header line field 2: got "x", expected "b"/,
    );
    assert.match(await client.failure(load('1,"2\n')), /^22P04 unterminated CSV quoted field/);
  }));

Deno.test("COPY reports PostgreSQL's errors with the place in the data", () =>
  withClient(async (client) => {
    await client.run("CREATE TABLE t (id int PRIMARY KEY, x i16, s varchar(3))");
    const bad = (data: string): Promise<string> => client.failure(client.copyIn("COPY t FROM STDIN", data));
    assert.equal(
      await bad("1\t2\tab\n2\tx\tcd\n"),
      '22P02 invalid input syntax for type smallint: "x" / COPY t, line 2, column x: "x"',
    );
    assert.equal(await bad("1\t2\n"), '22P04 missing data for column "s" / COPY t, line 1: "1\t2"');
    assert.match(await bad("1\t2\tab\t4\n"), /^22P04 extra data after last expected column/);
    assert.match(await bad("1\t70000\tab\n"), /^22003 .*COPY t, line 1, column x: "70000"$/);
    assert.match(await bad("1\t1\tabcd\n"), /^22001 value too long for type character varying\(3\)/);
    assert.match(await bad("\\N\t1\tabc\n"), /^23502 null value in column "id".*\n?.*COPY t, line 1/s);
    assert.match(
      await bad("1\t1\ta\n2\t1\ta\n1\t1\ta\n"),
      /^23505 .*Key \(id\)=\(1\) already exists.*line 3/s,
    );
    assert.match(
      await bad("-1\t1\ta\n-1\t1\ta\n"),
      /^23505 .*Key \(id\)=\(-1\) already exists.*line 2/s,
    );
    assert.deepEqual(await client.rows("SELECT * FROM t"), []);
    assert.match(
      await client.failure("COPY t (id, nope) FROM STDIN"),
      /^42703 column "nope" of relation "t"/,
    );
    assert.match(
      await client.failure("COPY t FROM STDIN (FORMAT x)"),
      /^22023 COPY format "x" not recognized/,
    );
    assert.match(
      await client.failure("COPY t FROM STDIN (QUOTE 'q')"),
      /^0A000 COPY quote available only in CSV/,
    );
    assert.match(await client.failure("COPY t TO 'rows.txt'"), /^0A000 COPY to a file of the server/);
    assert.match(
      await client.failure(client.copyIn("COPY t FROM STDIN (FORMAT binary)", "no signature")),
      /^22P04 COPY file signature not recognized/,
    );
  }));

Deno.test("COPY keeps a table's rules: defaults, generated columns, CHECK, UNIQUE, foreign keys, WHERE", () =>
  withClient(async (client) => {
    await client.run(
      "CREATE TABLE p (id int PRIMARY KEY)",
      "INSERT INTO p VALUES (1), (2)",
      "CREATE TABLE c (id serial PRIMARY KEY, p int REFERENCES p, u text UNIQUE, n int DEFAULT 7 CHECK (n > 0), d int GENERATED ALWAYS AS (n * 2) STORED)",
      "CREATE TABLE plain (a int, s text DEFAULT 'dflt')",
    );
    assert.equal(await client.copyIn("COPY c (p, u) FROM STDIN", "1\ta\n2\tb\n\\N\t\\N\n"), "COPY 3");
    assert.deepEqual(await client.rows("SELECT id, p, u, n, d FROM c ORDER BY id"), [
      "1|1|a|7|14",
      "2|2|b|7|14",
      "3|||7|14",
    ]);
    const fail = (columns: string, data: string): Promise<string> =>
      client.failure(client.copyIn(`COPY c (${columns}) FROM STDIN`, data));
    assert.match(await fail("p", "9\n"), /^23503 .*Key \(p\)=\(9\) is not present in table "p"/s);
    assert.match(await fail("u", "x\nx\n"), /^23505 .*COPY c, line 2/s);
    assert.match(await fail("n", "0\n"), /^23514 .*COPY c, line 1/s);
    assert.match(await fail("d", "0\n"), /^42P10 column "d" is a generated column/);
    assert.equal((await client.rows("SELECT count(*) FROM c"))[0], "3");
    assert.equal(await client.copyIn("COPY plain (a) FROM STDIN WHERE a > 1", "1\n2\n3\n"), "COPY 2");
    assert.equal(await client.copyIn("COPY plain (a) FROM STDIN", "4\n"), "COPY 1");
    assert.deepEqual(await client.rows("SELECT rowid, a, s FROM plain"), [
      "1|2|dflt",
      "2|3|dflt",
      "3|4|dflt",
    ]);
  }));

Deno.test("COPY loads many rows in batches, with ids ascending, scattered, or from the counter", () =>
  withClient(async (client) => {
    await client.run("CREATE TABLE k (id int PRIMARY KEY, v text)", "CREATE TABLE c (v int)");
    const count = 40_000;
    const lines = Array.from({ length: count }, (_, row) => `${row + 1}\tv${row}\n`);
    assert.equal(await client.copyIn("COPY k FROM STDIN", lines.join("")), `COPY ${count}`);
    assert.deepEqual(await client.rows("SELECT count(*), min(id), max(id) FROM k"), [`${count}|1|${count}`]);
    assert.deepEqual(await client.rows("SELECT v FROM k WHERE id = 39999"), ["v39998"]);
    assert.match(
      await client.failure(client.copyIn("COPY k FROM STDIN", `${count + 1}\ta\n${count}\tb\n`)),
      /^23505 .*Key \(id\)=\(40000\) already exists/s,
    );
    assert.equal(await client.copyIn("COPY k FROM STDIN", `${count + 9}\ta\n${count + 3}\tb\n`), "COPY 2");
    const numbers = Array.from({ length: count }, (_, row) => `${row}\n`).join("");
    assert.equal(await client.copyIn("COPY c FROM STDIN", numbers), `COPY ${count}`);
    assert.deepEqual(await client.rows("SELECT count(*), sum(v), max(rowid) FROM c"), [
      `${count}|799980000|${count}`,
    ]);
    assert.equal(
      await client.copyText("COPY (SELECT id, v FROM k WHERE id < 3 ORDER BY id) TO STDOUT"),
      "1\tv0\n2\tv1\n",
    );
    assert.equal(await client.copyText("COPY (DELETE FROM k WHERE id = 1 RETURNING v) TO STDOUT"), "v0\n");
  }));

Deno.test("COPY within a block leaves rows that later statements can change", () =>
  withClient(async (client) => {
    await client.run("CREATE TABLE k (id int PRIMARY KEY, v text)", "BEGIN");
    await client.copyIn("COPY k FROM STDIN", "1\ta\n2\tb\n3\tc\n");
    await client.run("UPDATE k SET v = 'new' WHERE id = 2", "DELETE FROM k WHERE id = 3");
    await client.run(
      "ALTER TABLE k ADD COLUMN z int DEFAULT 5",
      "ALTER TABLE k ALTER COLUMN v TYPE varchar(9) USING v || '!'",
    );
    await client.run("CREATE TABLE m AS SELECT * FROM k", "UPDATE m SET z = 6");
    assert.deepEqual(await client.rows("SELECT * FROM k ORDER BY id"), ["1|a!|5", "2|new!|5"]);
    await client.run("COMMIT");
    assert.deepEqual(await client.rows("SELECT * FROM k ORDER BY id"), ["1|a!|5", "2|new!|5"]);
    assert.deepEqual(await client.rows("SELECT * FROM m ORDER BY id"), ["1|a!|6", "2|new!|6"]);
    assert.match(await client.failure(client.copyIn("COPY k FROM STDIN", "2\tb\t1\n")), /^23505/);
  }));

Deno.test("COPY waits for a transaction that has taken one of its ids", () =>
  withClient(async (client) => {
    await client.run("CREATE TABLE k (id int PRIMARY KEY, v text)");
    const other = client.engine.openSession();
    for (const end of ["COMMIT", "ROLLBACK"]) {
      await other.simple("BEGIN; INSERT INTO k VALUES (5, 'other')", new RowBuffer(), () => {});
      const copy = client.failure(client.copyIn("COPY k FROM STDIN", "4\ta\n5\tb\n"));
      await new Promise((resolve) => setTimeout(resolve, 5));
      await other.simple(end, new RowBuffer(), () => {});
      assert.match(await copy, end === "COMMIT" ? /^23505 .*Key \(id\)=\(5\) already exists/s : /^no error/);
      await client.run("DELETE FROM k WHERE v = 'other'");
    }
    assert.deepEqual(await client.rows("SELECT * FROM k ORDER BY id"), ["4|a", "5|b"]);
  }));

Deno.test("Integer primary keys of any sign and size are row ids", () =>
  withClient(async (client) => {
    const smallest = "-9223372036854775808", largest = "9223372036854775807";
    await client.run("CREATE TABLE t (id bigint PRIMARY KEY, a int)");
    await client.copyIn("COPY t FROM STDIN", "-2\t1\n-1\t2\n0\t3\n1\t4\n");
    await client.copyIn("COPY t FROM STDIN", `${largest}\t5\n${smallest}\t6\n-7\t7\n`);
    await client.run(
      `INSERT INTO t VALUES (${smallest} + 1, 8)`,
      "UPDATE t SET id = id + 1 WHERE a = 8 OR id = 1",
    );
    const sorted = [`${smallest}|6`, "-7|7", "-2|1"];
    assert.deepEqual(
      await client.failure("INSERT INTO t VALUES (-7, 0)"),
      '23505 duplicate key value violates unique constraint "t_pkey" / Key (id)=(-7) already exists.',
    );
    await client.run("DELETE FROM t WHERE a = 8", "DELETE FROM t WHERE id = -1");
    assert.deepEqual(await client.rows("SELECT * FROM t ORDER BY id"), [
      ...sorted,
      "0|3",
      "2|4",
      `${largest}|5`,
    ]);
    assert.deepEqual(await client.rows("SELECT * FROM t WHERE id < -1 ORDER BY id"), sorted);
    assert.deepEqual(await client.rows(`SELECT a FROM t WHERE id = ${smallest}`), ["6"]);
    await client.run("CREATE TABLE k (a int, id i8)", "INSERT INTO k VALUES (1, -128), (2, 127), (3, 0)");
    await client.run("ALTER TABLE k ADD PRIMARY KEY (id)");
    assert.deepEqual(await client.rows("SELECT a FROM k WHERE id = -128"), ["1"]);
    assert.deepEqual(await client.rows("SELECT rowid FROM k ORDER BY id"), ["-128", "0", "127"]);
  }));

Deno.test("COPY puts a long row together from small pieces, in every format", () =>
  withClient(async (client) => {
    await client.run("CREATE TABLE l (a text, b text)", "CREATE TABLE l2 (a text, b text)");
    const long = 'x\\\\\n,"'.repeat(60_000);
    await client.copyIn(
      "COPY l FROM STDIN",
      `a\tb\n${long.replaceAll("\n", "\\n")}\tc\nd\t${long.replaceAll("\n", "\\n")}`,
    );
    for (const format of ["text", "csv", "binary"]) {
      const bytes = await client.copyOut(`COPY l TO STDOUT (FORMAT ${format})`);
      await client.run("TRUNCATE l2");
      assert.equal(await client.copyIn(`COPY l2 FROM STDIN (FORMAT ${format})`, bytes, 1009), "COPY 3");
      assert.deepEqual(await client.rows("SELECT count(*) FROM l JOIN l2 USING (a, b)"), ["3"], format);
    }
  }));

Deno.test("COPY in binary format refuses a field that is too long before it has arrived", () =>
  withClient(async (client) => {
    await client.run("CREATE TABLE l (a bytea)");
    const bytes = new Uint8Array(25);
    bytes.set(BINARY_SIGNATURE);
    bytes.set([0, 1, 0x7f, 0xff, 0xff, 0xff], 19);
    assert.equal(
      await client.failure(client.copyIn("COPY l FROM STDIN (FORMAT binary)", bytes)),
      "54000 a row of the COPY data is too long / COPY l, line 1, column a",
    );
  }));

Deno.test("COPY TO pads CHAR(n), whatever the delimiter is", async () => {
  const client = await TestClient.open();
  try {
    await client.run("CREATE TABLE c (a char(4), b int)");
    await client.run(
      "INSERT INTO c VALUES ('x', 1), ('', 2), ('full', 3), (NULL, 4), (E'\\\\', 5), ('é', 6)",
    );
    assert.equal(
      await client.copyText("COPY c TO STDOUT"),
      "x   \t1\n    \t2\nfull\t3\n\\N\t4\n\\\\   \t5\né   \t6\n",
    );
    assert.equal(
      await client.copyText("COPY (SELECT * FROM c WHERE b = 1) TO STDOUT (DELIMITER ' ')"),
      "x\\ \\ \\  1\n",
    );
    assert.equal(
      await client.copyText("COPY (SELECT * FROM c WHERE b = 1) TO STDOUT (FORMAT csv)"),
      "x   ,1\n",
    );
  } finally {
    await client.close();
  }
});
