/** The `pg` package (node-postgres) against the real listener: queries, types, names, errors, pools, transactions. */
import { deepStrictEqual as same, ok, rejects, strictEqual as equal } from "node:assert/strict";
import pg from "pg";
import { openPgDatabase } from "./support/pg_database.ts";

async function withClient(
  test: (client: pg.Client, port: number) => Promise<void>,
  options: { readonly token?: string; readonly password?: string } = {},
): Promise<void> {
  await using database = await openPgDatabase({ token: options.token ?? null });
  const client = new pg.Client({
    host: "127.0.0.1",
    port: database.port,
    user: "ann",
    database: "shop",
    ...(options.password === undefined ? {} : { password: options.password }),
  });
  await client.connect();
  try {
    await test(client, database.port);
  } finally {
    await client.end();
  }
  same(database.internalErrors, []);
}

Deno.test("pg logs in with SCRAM and is refused with a wrong password", async () => {
  await withClient(async (client, port) => {
    same((await client.query("SELECT current_user AS name")).rows, [{ name: "ann" }]);
    const other = new pg.Client({ host: "127.0.0.1", port, user: "eve", password: "guess" });
    await rejects(other.connect(), {
      code: "28P01",
      message: 'password authentication failed for user "eve"',
    });
  }, { token: "tōken", password: "tōken" });
});

Deno.test("pg writes and reads every common type", async () => {
  await withClient(async (client) => {
    await client.query(`CREATE TABLE kinds (
      id INT PRIMARY KEY, s SMALLINT, b BIGINT, f REAL, d DOUBLE PRECISION, t BOOL, x TEXT, v VARCHAR(10),
      bytes BYTEA, at TIMESTAMPTZ, price NUMERIC(10, 2), doc JSONB, u UUID)`);
    const at = new Date("2024-02-29T12:34:56.789Z");
    const inserted = await client.query(
      "INSERT INTO kinds VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13) RETURNING *",
      [
        ...[1, -2, "9223372036854775807", 1.5, -0.1, true, "naïve 😀", "short", Buffer.from([0, 255, 10])],
        ...[at, "12.5", { a: [1, null] }, "00112233-4455-6677-8899-aabbccddeeff"],
      ],
    );
    equal(inserted.rowCount, 1);
    same(inserted.rows[0], {
      id: 1,
      s: -2,
      b: "9223372036854775807",
      f: 1.5,
      d: -0.1,
      t: true,
      x: "naïve 😀",
      v: "short",
      bytes: Buffer.from([0, 255, 10]),
      at,
      price: "12.50",
      doc: { a: [1, null] },
      u: "00112233-4455-6677-8899-aabbccddeeff",
    });
    await client.query("INSERT INTO kinds (id) VALUES ($1)", [2]);
    const empty = await client.query("SELECT x, at, t FROM kinds WHERE id = $1", [2]);
    same(empty.rows, [{ x: null, at: null, t: null }]);
    same(empty.fields.map(({ name, dataTypeID }) => [name, dataTypeID]), [["x", 25], ["at", 1184], [
      "t",
      16,
    ]]);
  });
});

Deno.test("pg prepares by name once and runs many times", async () => {
  await withClient(async (client) => {
    await client.query("CREATE TABLE n (id INT PRIMARY KEY, sq INT)");
    for (let id = 1; id <= 50; id++) {
      await client.query({ name: "put", text: "INSERT INTO n VALUES ($1, $2)", values: [id, id * id] });
    }
    for (let id = 1; id <= 50; id++) {
      const { rows } = await client.query({
        name: "get",
        text: "SELECT sq FROM n WHERE id = $1",
        values: [id],
      });
      same(rows, [{ sq: id * id }]);
    }
    same((await client.query("SELECT count(*)::int AS c, sum(sq)::int AS s FROM n")).rows, [{
      c: 50,
      s: 42_925,
    }]);
  });
});

Deno.test("pg gets all results of a multi-statement text, which is one transaction", async () => {
  await withClient(async (client) => {
    // The package answers an array for several statements; its types do not say so.
    const results = await client.query("CREATE TABLE m (a INT); INSERT INTO m VALUES (1); SELECT a FROM m");
    ok(Array.isArray(results));
    same(results.map((result: pg.QueryResult) => [result.command, result.rows]), [
      ["CREATE", []],
      ["INSERT", []],
      ["SELECT", [{ a: 1 }]],
    ]);
    await rejects(client.query("INSERT INTO m VALUES (2); SELECT 1 / 0"), { code: "22012" });
    same((await client.query("SELECT a FROM m")).rows, [{ a: 1 }]);
  });
});

Deno.test("pg sees the fields of errors, and the connection goes on", async () => {
  await withClient(async (client) => {
    await client.query(
      "CREATE TABLE parent (id INT PRIMARY KEY); CREATE TABLE child (p INT REFERENCES parent)",
    );
    await rejects(client.query("SELECT prise FROM parent"), { code: "42703", position: "8" });
    await rejects(client.query("INSERT INTO child VALUES ($1)", [7]), { code: "23503", table: "child" });
    await client.query("INSERT INTO parent VALUES (1)");
    await rejects(client.query("INSERT INTO parent VALUES ($1)", [1]), {
      code: "23505",
      constraint: "parent_pkey",
      detail: "Key (id)=(1) already exists.",
    });
    await rejects(client.query("SELECT $1::int", ["no number"]), { code: "22P02" });
    same((await client.query("SELECT 1 AS one")).rows, [{ one: 1 }]);
  });
});

Deno.test("pg runs transactions, and a failed one answers 25P02 until ROLLBACK", async () => {
  await withClient(async (client) => {
    await client.query("CREATE TABLE account (id INT PRIMARY KEY, amount INT)");
    await client.query("BEGIN");
    await client.query("INSERT INTO account VALUES ($1, $2)", [1, 10]);
    await rejects(client.query("SELECT 1 / $1::int", [0]), { code: "22012" });
    await rejects(client.query("SELECT 1"), { code: "25P02" });
    await client.query("ROLLBACK");
    same((await client.query("SELECT * FROM account")).rows, []);
    await client.query("BEGIN");
    await client.query("INSERT INTO account VALUES ($1, $2)", [1, 10]);
    await client.query("COMMIT");
    same((await client.query("SELECT * FROM account")).rows, [{ id: 1, amount: 10 }]);
  });
});

Deno.test("pg pools share the database, and concurrent updates of one row all count", async () => {
  await withClient(async (client, port) => {
    await client.query("CREATE TABLE counter (id INT PRIMARY KEY, n INT); INSERT INTO counter VALUES (1, 0)");
    const pool = new pg.Pool({ host: "127.0.0.1", port, user: "ann", database: "shop", max: 8 });
    await Promise.all(
      Array.from({ length: 100 }, () => pool.query("UPDATE counter SET n = n + 1 WHERE id = 1")),
    );
    await Promise.all(Array.from({ length: 8 }, async () => {
      const one = await pool.connect();
      try {
        for (;;) {
          try {
            await one.query("BEGIN");
            await one.query("UPDATE counter SET n = n + $1 WHERE id = 1", [1]);
            await one.query("COMMIT");
            return;
          } catch (error) {
            await one.query("ROLLBACK");
            if ((error as { code?: string }).code !== "40001") throw error;
          }
        }
      } finally {
        one.release();
      }
    }));
    same((await client.query("SELECT n FROM counter")).rows, [{ n: 108 }]);
    await pool.end();
  });
});

Deno.test("pg receives notices and large results", async () => {
  await withClient(async (client) => {
    const notices: string[] = [];
    client.on("notice", (notice) => notices.push(notice.message ?? ""));
    await client.query("CREATE TABLE twice (a INT)");
    await client.query("CREATE TABLE IF NOT EXISTS twice (a INT)");
    same(notices, ['relation "twice" already exists, skipping']);
    const { rows } = await client.query("SELECT g, 'row ' || g AS label FROM generate_series(1, 100000) g");
    equal(rows.length, 100_000);
    same(rows[99_999], { g: 100_000, label: "row 100000" });
  });
});
