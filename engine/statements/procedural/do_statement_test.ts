/** Tests of DO: what blocks do to data, variables and transactions, and what they say. */
import { strict as assert } from "node:assert";
import { open } from "../../../mod.ts";
import { DatabaseError } from "../../base/errors.ts";
import { engineOf } from "../../session/database.ts";
import { RowBuffer } from "../row_buffer.ts";
import type { Session } from "../../session/session.ts";

/** A block's notices, then its error as `code message`; with rows of a last query. */
async function run(session: Session, sql: string): Promise<string[]> {
  const sink = new RowBuffer(), said: string[] = [];
  try {
    await session.simple(sql, sink, (outcome) => said.push(...outcome.notices.map(({ message }) => message)));
  } catch (thrown) {
    assert.ok(thrown instanceof DatabaseError, String(thrown));
    said.push(...session.takeNotices().map(({ message }) => message), `${thrown.code} ${thrown.message}`);
  }
  return [...said, ...sink.rows.map((row) => row.join("|"))];
}

/** Runs each text in a session of its own on one database, and compares what it says. */
async function check(cases: readonly (readonly [string, readonly string[]])[]): Promise<void> {
  await using database = await open(":memory:");
  const session = engineOf(database).openSession();
  for (const [sql, expected] of cases) assert.deepEqual(await run(session, sql), expected, sql);
  session.close();
}

const TABLE =
  "CREATE TABLE t (a int PRIMARY KEY, b text); INSERT INTO t SELECT g, 'x' || g FROM generate_series(1, 5) g";

Deno.test("DO assigns as SQL assigns to columns", () =>
  check([
    [
      `DO $$ DECLARE i int := 1.6; b bool := 'yes'; n numeric(4,1) := 1.25; d date := '2024-02-29'; BEGIN
         i := i + 1; RAISE NOTICE '% % % % %%', i, b, n, d; END $$`,
      ["3 t 1.3 2024-02-29 %"],
    ],
    ["DO $$ DECLARE v varchar(2); BEGIN v := 'abc'; END $$", [
      "22001 value too long for type character varying(2)",
    ]],
    ["DO $$ DECLARE v int; BEGIN v := 'x'; END $$", ['22P02 invalid input syntax for type integer: "x"']],
    ["DO $$ DECLARE v int2; BEGIN v := 40000; END $$", ["22003 smallint out of range"]],
    ["DO $$ DECLARE c CONSTANT int := 3; BEGIN c := 4; END $$", ['22005 variable "c" is declared CONSTANT']],
    [
      "DO $$ DECLARE c int NOT NULL := 3; BEGIN c := NULL; END $$",
      ['22004 null value cannot be assigned to variable "c" declared NOT NULL'],
    ],
    ["DO $$ BEGIN x := 1; END $$", ['42601 "x" is not a known variable']],
    [
      `DO $$ DECLARE x int[] := '{1,2}'; BEGIN x[2] := 20; x[4] := 4; RAISE NOTICE '% %', x, x[2]; END $$`,
      ["{1,20,NULL,4} 20"],
    ],
  ]));

Deno.test("DO reads rows into variables and records", () =>
  check([
    [TABLE, []],
    [
      `DO $$ DECLARE n int; r record; z t%ROWTYPE; w t.b%TYPE; BEGIN
         SELECT count(*), max(b) INTO n, w FROM t; RAISE NOTICE '% % %', n, w, found;
         SELECT * INTO z FROM t WHERE a = 2; z.b := z.b || '!'; RAISE NOTICE '%', z;
         SELECT * INTO r FROM t WHERE a = 99; RAISE NOTICE '% %', r.b, found;
         FOR r IN SELECT * FROM t WHERE a > 3 ORDER BY a DESC LOOP RAISE NOTICE '%:%', r.a, r.b; END LOOP;
         INSERT INTO t VALUES (6, 'six') RETURNING a, b INTO n, w; RAISE NOTICE '% %', n, w;
         EXECUTE 'SELECT b FROM t WHERE a = $1' INTO w USING 1; RAISE NOTICE '%', w;
       END $$`,
      ["5 x5 t", "(2,x2!)", "<NULL> f", "5:x5", "4:x4", "6 six", "x1"],
    ],
    ["DO $$ DECLARE r record; BEGIN RAISE NOTICE '%', r.x; END $$", ['55000 record "r" is not assigned yet']],
    ["DO $$ DECLARE r record; BEGIN SELECT * INTO STRICT r FROM t; END $$", [
      "P0003 query returned more than one row",
    ]],
    ["DO $$ DECLARE a int; BEGIN PERFORM a FROM t; END $$", ['42702 column reference "a" is ambiguous']],
    ["DO $$ BEGIN SELECT 1; END $$", ["42601 query has no destination for result data"]],
  ]));

Deno.test("DO branches and loops", () =>
  check([
    [
      `DO $$ <<o>> DECLARE x int := 1; BEGIN
         <<l>> LOOP DECLARE x int := 9; BEGIN o.x := o.x + x; EXIT l WHEN o.x > 50; END; END LOOP;
         RAISE NOTICE '%', x;
         FOR i IN REVERSE 5..1 BY 2 LOOP CONTINUE WHEN i = 3; RAISE NOTICE 'i %', i; END LOOP;
         FOR i IN 1..0 LOOP NULL; END LOOP; RAISE NOTICE '%', found;
         CASE x WHEN 1, 2 THEN NULL; ELSE RAISE NOTICE 'else'; END CASE;
         WHILE true LOOP x := x + 1; IF x > 60 THEN EXIT; ELSIF x > 59 THEN RAISE NOTICE 'x %', x; END IF; END LOOP;
         RETURN; RAISE NOTICE 'never';
       END $$`,
      ["55", "i 5", "i 1", "f", "else", "x 60"],
    ],
    ["DO $$ BEGIN CASE WHEN false THEN NULL; END CASE; END $$", ["20000 case not found"]],
    ["DO $$ BEGIN EXIT; END $$", ["42601 EXIT cannot be used outside a loop, unless it has a label"]],
    ["DO $$ BEGIN FOR i IN 1..NULL LOOP NULL; END LOOP; END $$", [
      "22004 upper bound of FOR loop cannot be null",
    ]],
  ]));

Deno.test("DO takes back what a handled error came from, and no more", () =>
  check([
    [TABLE, []],
    [
      `DO $$ DECLARE c text; BEGIN
         INSERT INTO t VALUES (10, 'kept');
         BEGIN INSERT INTO t VALUES (11, 'gone'); INSERT INTO t VALUES (1, 'twice');
         EXCEPTION WHEN foreign_key_violation THEN NULL; WHEN unique_violation OR check_violation THEN
           GET STACKED DIAGNOSTICS c = CONSTRAINT_NAME; RAISE NOTICE '% % %', SQLSTATE, SQLERRM, c; END;
         INSERT INTO t VALUES (12, 'kept');
       END $$`,
      ['23505 duplicate key value violates unique constraint "t_pkey" t_pkey'],
    ],
    ["SELECT a FROM t WHERE a >= 10 ORDER BY a", ["10", "12"]],
    [
      "DO $$ BEGIN INSERT INTO t VALUES (20, ''); RAISE EXCEPTION 'no % way', 1.50 USING ERRCODE = '22012'; END $$",
      [
        "22012 no 1.50 way",
      ],
    ],
    ["SELECT count(*) FROM t WHERE a = 20", ["0"]],
    [
      "DO $$ BEGIN RAISE division_by_zero; EXCEPTION WHEN OTHERS THEN RAISE NOTICE '%', SQLERRM; RAISE; END $$",
      [
        "division_by_zero",
        "22012 division_by_zero",
      ],
    ],
    ["DO $$ BEGIN ASSERT 1 = 2, 'never'; EXCEPTION WHEN OTHERS THEN NULL; END $$", ["P0004 never"]],
    [
      "BEGIN; DO $$ BEGIN INSERT INTO t VALUES (30, ''); END $$; ROLLBACK; SELECT count(*) FROM t WHERE a = 30",
      ["0"],
    ],
  ]));

Deno.test("DO runs DDL, as migrations do", () =>
  check([
    ["DO 'BEGIN CREATE TYPE c AS ENUM (''a''); EXCEPTION WHEN duplicate_object THEN null; END'", []],
    ["DO 'BEGIN CREATE TYPE c AS ENUM (''a''); EXCEPTION WHEN duplicate_object THEN null; END'", []],
    ["CREATE TABLE p (x c); CREATE TABLE q (y int)", []],
    [
      `DO $$ DECLARE r record; BEGIN
         FOR r IN SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' LOOP
           EXECUTE 'DROP TABLE ' || quote_ident(r.table_name); END LOOP; END $$`,
      [],
    ],
    ["SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'", ["0"]],
    ["DO LANGUAGE plperl 'x'", ['42704 language "plperl" does not exist']],
  ]));

Deno.test("DO says in which line an error came up", async () => {
  await using database = await open(":memory:");
  const session = engineOf(database).openSession();
  const failure = Promise.resolve().then(() =>
    session.simple("DO $$ BEGIN\n  NULL;\n  PERFORM 1/0;\nEND $$", new RowBuffer(), () => {})
  );
  await assert.rejects(failure, {
    code: "22012",
    where: 'SQL statement "SELECT 1/0"\nPL/pgSQL function inline_code_block line 3 at PERFORM',
  });
  session.close();
});

Deno.test("DO in an endless loop can be canceled", async () => {
  await using database = await open(":memory:");
  const engine = engineOf(database);
  const session = engine.openSession(), other = engine.openSession();
  const running = Promise.resolve(
    session.simple("DO $$ BEGIN LOOP END LOOP; END $$", new RowBuffer(), () => {}),
  );
  const ended = assert.rejects(running, { code: "57014" });
  assert.deepEqual(await run(other, "SELECT 1"), ["1"]);
  session.cancel();
  await ended;
  session.close();
  other.close();
});

Deno.test("DO in its own transaction is not its client's serialization conflict", async () => {
  await using database = await open(":memory:");
  const engine = engineOf(database);
  const sessions = Array.from({ length: 4 }, () => engine.openSession());
  await run(
    sessions[0] ?? assert.fail(),
    "CREATE TABLE n (id int PRIMARY KEY, v int); INSERT INTO n VALUES (1, 0)",
  );
  const block = `DO $$ DECLARE x int; BEGIN FOR i IN 1..5 LOOP
    SELECT v INTO x FROM n WHERE id = 1; PERFORM count(*) FROM generate_series(1, 2000);
    UPDATE n SET v = x + 1 WHERE id = 1; END LOOP; END $$`;
  assert.deepEqual(await Promise.all(sessions.map((session) => run(session, block))), [[], [], [], []]);
  assert.deepEqual(await run(sessions[0] ?? assert.fail(), "SELECT v FROM n"), ["20"]);
  for (const session of sessions) session.close();
});
