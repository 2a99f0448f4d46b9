/**
 * The `postgres` package (postgres.js) against the real listener: it pipelines, prepares everything and uses binary
 * arrays.
 */
import { deepStrictEqual as same, rejects, strictEqual as equal } from "node:assert/strict";
import postgres from "postgres";
import type { Engine } from "../../engine/session/engine.ts";
import { untilRunning } from "../support/until.ts";
import { openPgDatabase } from "./support/pg_database.ts";

async function withSql(
  test: (sql: postgres.Sql, engine: Engine) => Promise<void>,
  options: postgres.Options<Record<string, never>> = {},
): Promise<void> {
  await using database = await openPgDatabase({ token: "secret" });
  const sql = postgres({
    host: "127.0.0.1",
    port: database.port,
    user: "bob",
    password: "secret",
    database: "shop",
    max: 3,
    onnotice: () => {},
    ...options,
  });
  try {
    await test(sql, database.engine);
  } finally {
    await sql.end();
  }
  same(database.internalErrors, []);
}

Deno.test("postgres creates, fills and queries", async () => {
  await withSql(async (sql) => {
    await sql`CREATE TABLE film (id INT PRIMARY KEY, title TEXT NOT NULL, rating REAL, at TIMESTAMPTZ)`;
    const films = [
      { id: 1, title: "Alien", rating: 8.5, at: new Date(0) },
      { id: 2, title: "Brazil", rating: null, at: null },
    ];
    await sql`INSERT INTO film ${sql(films)}`;
    same([...await sql`SELECT * FROM film WHERE title LIKE ${"A%"}`], [films[0]]);
    same([...await sql`SELECT count(*)::int AS n FROM film WHERE id IN ${sql([1, 2, 3])}`], [{ n: 2 }]);
    const updated = await sql`UPDATE film SET rating = ${7.5} WHERE id = ${2} RETURNING id, rating`;
    same([...updated], [{ id: 2, rating: 7.5 }]);
    equal(updated.command, "UPDATE");
    same([...await sql`SELECT ${[1, 2, 3]}::int[] AS list, ${sql.json({ a: 1 })}::jsonb AS doc`], [
      { list: [1, 2, 3], doc: { a: 1 } },
    ]);
  });
});

Deno.test("postgres pipelines queries and keeps their order", async () => {
  await withSql(async (sql) => {
    const results = await Promise.all(Array.from({ length: 200 }, (_, n) => sql`SELECT ${n}::int AS n`));
    same(results.map(([row]) => row?.["n"]), Array.from({ length: 200 }, (_, n) => n));
  });
});

Deno.test("postgres runs transactions with savepoints", async () => {
  await withSql(async (sql) => {
    await sql`CREATE TABLE t (a INT PRIMARY KEY)`;
    await sql.begin(async (transaction) => {
      await transaction`INSERT INTO t VALUES (1)`;
      await rejects(transaction.savepoint((inner) => inner`INSERT INTO t VALUES (1)`), { code: "23505" });
      await transaction`INSERT INTO t VALUES (2)`;
    });
    await rejects(
      sql.begin(async (transaction) => {
        await transaction`INSERT INTO t VALUES (3)`;
        throw new Error("no");
      }),
      /no/,
    );
    same([...await sql`SELECT a FROM t ORDER BY a`], [{ a: 1 }, { a: 2 }]);
  });
});

Deno.test("postgres reads through a cursor, piece by piece", async () => {
  await withSql(async (sql) => {
    const sizes: number[] = [];
    for await (const rows of sql`SELECT g FROM generate_series(1, 25) g`.cursor(10)) sizes.push(rows.length);
    same(sizes, [10, 10, 5]);
    const first: number[] = [];
    for await (const [row] of sql`SELECT g FROM generate_series(1, 1000) g`.cursor()) {
      first.push(Number(row?.["g"]));
      if (first.length === 3) break;
    }
    same(first, [1, 2, 3]);
    same([...await sql`SELECT 1 AS one`], [{ one: 1 }]);
  });
});

Deno.test("postgres streams COPY in both directions", async () => {
  await withSql(async (sql) => {
    await sql`CREATE TABLE c (a INT, b TEXT)`;
    const into = await sql`COPY c FROM STDIN`.writable();
    await new Promise<void>((resolve, reject) => {
      into.on("error", reject);
      into.on("finish", () => resolve());
      for (let n = 1; n <= 5000; n++) into.write(`${n}\trow ${n}\n`);
      into.end();
    });
    same([...await sql`SELECT count(*)::int AS n, sum(a)::int AS s FROM c`], [{ n: 5000, s: 12_502_500 }]);
    const out = await sql`COPY (SELECT a, b FROM c WHERE a <= 2 ORDER BY a) TO STDOUT`.readable();
    let text = "";
    for await (const piece of out) text += new TextDecoder().decode(piece);
    equal(text, "1\trow 1\n2\trow 2\n");
  });
});

Deno.test("postgres reports errors and cancels", async () => {
  await withSql(async (sql, engine) => {
    await rejects(sql`SELECT * FROM nowhere`, { code: "42P01", message: /"nowhere" does not exist/ });
    const long = sql`SELECT count(*) FROM generate_series(1, 300000000) g`.execute();
    await untilRunning(engine);
    long.cancel();
    await rejects(long, { code: "57014" });
  });
});

Deno.test("postgres runs unprepared and simple queries", async () => {
  await withSql(async (sql) => {
    same([...await sql`SELECT ${"x"} AS x`], [{ x: "x" }]);
    const results = await sql`SELECT 1 AS a; SELECT 2 AS b`.simple();
    same(JSON.parse(JSON.stringify(results)), [[{ a: 1 }], [{ b: 2 }]]);
  }, { prepare: false });
});
