/** Statements of each kind for the script that has to answer the same with any number of shards. */
import type { SeededRandom } from "../../engine/base/random.ts";
import { statementFile } from "../catalog/catalog_database.ts";
import type { Step } from "./equal_script.ts";

function statements(text: string): Step[] {
  return text.trim().split("\n").map((line) => line.trim()).filter((line) => line !== "").map((sql) => ({
    sql,
  }));
}

/** NOT NULL, CHECK, UNIQUE, foreign keys with all actions, put off to the commit or not. */
export function constraintSteps(): Step[] {
  return statements(`
    CREATE TABLE con_root (id INT PRIMARY KEY, code TEXT UNIQUE, kind INT NOT NULL DEFAULT 3 CHECK (kind BETWEEN 0 AND 9))
    CREATE TABLE con_set (id SERIAL PRIMARY KEY, root INT DEFAULT 1 REFERENCES con_root ON DELETE SET DEFAULT ON UPDATE CASCADE, v INT)
    CREATE TABLE con_null (id SERIAL PRIMARY KEY, code TEXT REFERENCES con_root (code) ON DELETE SET NULL ON UPDATE SET NULL)
    CREATE TABLE con_late (id INT PRIMARY KEY, root INT REFERENCES con_root DEFERRABLE INITIALLY DEFERRED, twin INT REFERENCES con_late)
    CREATE TABLE con_many (a INT, b TEXT, c NUMERIC, UNIQUE NULLS NOT DISTINCT (a, b), CHECK (c > 0 OR b IS NULL))
    CREATE UNIQUE INDEX con_many_part ON con_many (c) WHERE a > 5
    CREATE UNIQUE INDEX con_many_lower ON con_many (lower(b), a)
    INSERT INTO con_root SELECT n, 'r' || n, n % 10 FROM generate_series(1, 40) n
    INSERT INTO con_root VALUES (3, 'x', 1)
    INSERT INTO con_root VALUES (41, 'r7', 1)
    INSERT INTO con_root VALUES (41, 'x', 11)
    INSERT INTO con_root VALUES (41, 'x', NULL)
    INSERT INTO con_root (id) VALUES (42), (43), (44) RETURNING id, code, kind
    INSERT INTO con_set (root, v) SELECT n, n FROM generate_series(1, 40) n
    INSERT INTO con_set (root) VALUES (77)
    INSERT INTO con_null (code) SELECT 'r' || n FROM generate_series(1, 30) n
    INSERT INTO con_null (code) VALUES ('nobody')
    DELETE FROM con_root WHERE id IN (5, 6, 7)
    SELECT root, count(*) FROM con_set GROUP BY root ORDER BY root LIMIT 9
    SELECT id, code FROM con_null WHERE id < 10 ORDER BY id
    UPDATE con_root SET id = id + 100 WHERE id BETWEEN 10 AND 20
    SELECT sum(root), count(*) FROM con_set
    UPDATE con_root SET code = 'n' || code WHERE id > 105
    SELECT count(code), count(*) FROM con_null
    DELETE FROM con_root WHERE id = 1
    UPDATE con_root SET id = 2 WHERE id = 3
    UPDATE con_root SET id = id + 1
    UPDATE con_root SET id = -id
    SELECT min(id), max(id), count(*) FROM con_root
    UPDATE con_root SET id = -id
    BEGIN; INSERT INTO con_late VALUES (1, 500, NULL), (2, 501, 1); INSERT INTO con_root VALUES (500, 'a500'), (501, 'a501'); COMMIT
    BEGIN; INSERT INTO con_late VALUES (3, 999, 2); COMMIT
    BEGIN; SET CONSTRAINTS ALL IMMEDIATE; INSERT INTO con_late VALUES (3, 999, 2)
    ROLLBACK
    DELETE FROM con_root WHERE id = 500
    DELETE FROM con_late WHERE id = 1
    DELETE FROM con_late
    SELECT count(*) FROM con_late
    INSERT INTO con_many VALUES (1, 'A', 1), (2, NULL, NULL), (NULL, 'b', 2), (NULL, NULL, NULL)
    INSERT INTO con_many VALUES (NULL, NULL, 5)
    INSERT INTO con_many VALUES (1, 'a', 9)
    INSERT INTO con_many VALUES (6, 'c', 1.0), (7, 'c', 1.00)
    INSERT INTO con_many VALUES (6, 'c', 1.5), (7, 'c', 2.5)
    INSERT INTO con_many VALUES (8, 'd', -1)
    INSERT INTO con_many VALUES (6, 'c', 3) ON CONFLICT (a, b) DO UPDATE SET c = con_many.c + excluded.c RETURNING *
    INSERT INTO con_many VALUES (9, 'z', 2.50) ON CONFLICT DO NOTHING
    SELECT * FROM con_many ORDER BY a, b, c
    ALTER TABLE con_many ADD CHECK (a < 7)
    ALTER TABLE con_many ADD CONSTRAINT con_a CHECK (a < 70)
    ALTER TABLE con_many ADD UNIQUE (c)
    ALTER TABLE con_many ALTER COLUMN b SET NOT NULL
    ALTER TABLE con_many DROP CONSTRAINT con_a
    ALTER TABLE con_set ADD CONSTRAINT con_v CHECK (v > 0) NOT VALID
    ALTER TABLE con_set DROP CONSTRAINT con_set_root_fkey
    INSERT INTO con_set (root) VALUES (4711) RETURNING id, root
    ALTER TABLE con_set ADD FOREIGN KEY (root) REFERENCES con_root
    TRUNCATE con_root
    TRUNCATE con_root CASCADE
    SELECT count(*) FROM con_null
    DROP TABLE con_root
    DROP TABLE con_root CASCADE
    INSERT INTO con_late VALUES (1, 12345, NULL)
    DROP TABLE con_set, con_null, con_late, con_many
  `);
}

/** Definitions of all kinds, some taken back. */
export function definitionSteps(): Step[] {
  return statements(`
    CREATE SCHEMA ddl
    CREATE TABLE ddl.a (id INT PRIMARY KEY, t TEXT, n NUMERIC(8, 2) DEFAULT 1.5)
    INSERT INTO ddl.a SELECT n, 't' || n % 5 FROM generate_series(1, 60) n
    CREATE TABLE ddl.b AS SELECT id, t, n * 2 AS m FROM ddl.a WHERE id % 2 = 0
    SELECT count(*), sum(m) FROM ddl.b
    ALTER TABLE ddl.a ADD COLUMN d DATE DEFAULT DATE '2024-02-29'
    ALTER TABLE ddl.a ADD COLUMN g INT GENERATED ALWAYS AS (id * 2) STORED
    ALTER TABLE ddl.a ALTER COLUMN n TYPE DOUBLE PRECISION
    ALTER TABLE ddl.a ALTER COLUMN t TYPE INT
    ALTER TABLE ddl.a ALTER COLUMN t TYPE INT USING substr(t, 2)::int
    ALTER TABLE ddl.a RENAME COLUMN t TO five
    SELECT five, count(*), min(d), max(g), sum(n) FROM ddl.a GROUP BY five ORDER BY five
    ALTER TABLE ddl.a DROP COLUMN g
    SELECT * FROM ddl.a WHERE id < 4 ORDER BY id
    CREATE INDEX ON ddl.a (five, id DESC)
    CREATE INDEX part ON ddl.a (id) WHERE five = 3
    SELECT id FROM ddl.a WHERE five = 3 ORDER BY id DESC LIMIT 3
    CREATE UNIQUE INDEX ON ddl.a (five)
    ALTER INDEX ddl.part RENAME TO piece
    CREATE VIEW ddl.v AS SELECT five, count(*) AS c FROM ddl.a GROUP BY five
    SELECT * FROM ddl.v ORDER BY five
    DROP TABLE ddl.a
    ALTER TABLE ddl.a RENAME TO z
    SELECT * FROM ddl.v ORDER BY five DESC
    BEGIN; CREATE TABLE ddl.gone (x INT PRIMARY KEY); INSERT INTO ddl.gone SELECT generate_series(1, 30); SELECT sum(x) FROM ddl.gone; ROLLBACK
    SELECT * FROM ddl.gone
    BEGIN; ALTER TABLE ddl.z ADD COLUMN late INT DEFAULT 9; UPDATE ddl.z SET late = id WHERE id < 5; SELECT sum(late) FROM ddl.z; COMMIT
    SELECT sum(late) FROM ddl.z
    BEGIN; DROP TABLE ddl.b; CREATE TABLE ddl.b (other TEXT); INSERT INTO ddl.b VALUES ('o'); SELECT * FROM ddl.b; ROLLBACK
    SELECT count(*) FROM ddl.b
    BEGIN; TRUNCATE ddl.b; INSERT INTO ddl.b VALUES (1, 'x', 1); SELECT * FROM ddl.b; COMMIT
    COMMENT ON TABLE ddl.b IS 'what is left'
    SELECT obj_description('ddl.b'::regclass)
    CREATE FUNCTION ddl.f(a INT) RETURNS INT LANGUAGE SQL AS 'SELECT a + 1'
    ALTER TABLE ddl.z ADD PRIMARY KEY (id)
    ALTER TABLE ddl.z DROP CONSTRAINT a_pkey
    ALTER TABLE ddl.z ADD PRIMARY KEY (id)
    SELECT count(*) FROM ddl.z WHERE id = 17
    CREATE TABLE ddl.like_z (LIKE ddl.z INCLUDING ALL)
    INSERT INTO ddl.like_z SELECT * FROM ddl.z ORDER BY id LIMIT 7
    SELECT count(*), max(id) FROM ddl.like_z
    SELECT count(*) FROM ddl.z
    ANALYZE ddl.z
    VACUUM
    DROP SCHEMA ddl
    DROP SCHEMA ddl CASCADE
    SELECT count(*) FROM ddl.z
  `);
}

/** COPY in and out in all forms. */
export function copySteps(): Step[] {
  const rows = Array.from({ length: 300 }, (_, n) => `${n}\t${n % 7 === 0 ? "\\N" : `v${n}`}\t${n / 4}\n`)
    .join("");
  const csv = Array.from({ length: 120 }, (_, n) => `${n + 1000},"a ""b"" ${n}",${n}.5\r\n`).join("");
  return [
    { sql: "CREATE TABLE cop (id INT PRIMARY KEY, v TEXT, n NUMERIC)" },
    { sql: "COPY cop FROM STDIN", data: rows },
    { sql: "SELECT count(*), count(v), sum(n) FROM cop" },
    { sql: "COPY cop FROM STDIN (FORMAT csv, HEADER)", data: `id,v,n\r\n${csv}` },
    { sql: "COPY cop (id, n) FROM STDIN (FORMAT csv, NULL 'none')", data: "2000,none\n2001,7\n" },
    { sql: "COPY cop FROM STDIN (FORMAT csv)", data: "5,x,1\n" },
    { sql: "COPY cop FROM STDIN", data: "9000\tx\tnot a number\n" },
    { sql: "COPY cop FROM STDIN", data: "9000\tx\n" },
    { sql: "COPY cop FROM STDIN (DELIMITER '|')", data: "9001|a\\|b|1\n9002|\\\\|2\n" },
    { sql: "COPY (SELECT * FROM cop WHERE id < 30 ORDER BY id) TO STDOUT", out: true },
    { sql: "COPY (SELECT * FROM cop WHERE id > 1100 ORDER BY id) TO STDOUT (FORMAT csv, HEADER)", out: true },
    {
      sql: "COPY (SELECT v, n FROM cop ORDER BY id DESC LIMIT 9) TO STDOUT (FORMAT csv, FORCE_QUOTE *)",
      out: true,
    },
    {
      sql: "COPY (SELECT id, v FROM cop ORDER BY n DESC NULLS LAST, id LIMIT 5) TO STDOUT (FORMAT binary)",
      out: true,
    },
    { sql: "COPY (INSERT INTO cop VALUES (9100, 'r', 1) RETURNING *) TO STDOUT", out: true },
    { sql: "BEGIN" },
    { sql: "COPY cop FROM STDIN", data: "9200\tq\t1\n9201\tq\t1\n" },
    { sql: "SELECT count(*) FROM cop WHERE v = 'q'" },
    { sql: "ROLLBACK" },
    { sql: "SELECT count(*), sum(id) FROM cop" },
    { sql: "CREATE TABLE cop_auto (id SERIAL PRIMARY KEY, v TEXT UNIQUE)" },
    { sql: "COPY cop_auto (v) FROM STDIN", data: Array.from({ length: 90 }, (_, n) => `w${n}\n`).join("") },
    { sql: "COPY cop_auto (v) FROM STDIN", data: "new\nw5\n" },
    { sql: "INSERT INTO cop_auto (v) VALUES ('after') RETURNING id" },
    { sql: "SELECT min(id), max(id), count(*) FROM cop_auto" },
  ];
}

/** Cursors, savepoints, sequences. */
export function sessionSteps(): Step[] {
  return statements(`
    CREATE TABLE ses (id INT PRIMARY KEY, v INT)
    INSERT INTO ses SELECT n, n * n % 31 FROM generate_series(1, 100) n
    BEGIN
    DECLARE c SCROLL CURSOR FOR SELECT id, v FROM ses ORDER BY v, id
    FETCH 3 FROM c
    FETCH BACKWARD 2 FROM c
    FETCH ABSOLUTE 50 FROM c
    FETCH RELATIVE -10 FROM c
    MOVE FORWARD 5 IN c
    FETCH LAST FROM c
    FETCH NEXT FROM c
    FETCH PRIOR FROM c
    UPDATE ses SET v = 0 WHERE id = 1
    FETCH FIRST FROM c
    DECLARE h CURSOR WITH HOLD FOR SELECT id FROM ses WHERE v > 20 ORDER BY id
    FETCH 2 FROM h
    COMMIT
    FETCH 2 FROM h
    FETCH c
    CLOSE h
    BEGIN
    DECLARE d NO SCROLL CURSOR FOR SELECT sum(v) OVER (ORDER BY id) FROM ses
    FETCH 4 FROM d
    FETCH BACKWARD 1 FROM d
    ROLLBACK
    BEGIN
    DECLARE e CURSOR FOR SELECT 10 / (v - 5) FROM ses ORDER BY id
    FETCH 1 FROM e
    FETCH ALL FROM e
    ROLLBACK
    BEGIN
    SAVEPOINT a
    INSERT INTO ses VALUES (200, 1), (201, 1)
    SAVEPOINT b
    DELETE FROM ses WHERE id > 50
    SELECT count(*) FROM ses
    ROLLBACK TO b
    SELECT count(*) FROM ses
    INSERT INTO ses VALUES (200, 5)
    SELECT 1
    ROLLBACK TO a
    SELECT count(*), max(id) FROM ses
    SAVEPOINT a
    UPDATE ses SET v = v + 100 WHERE id <= 10
    RELEASE SAVEPOINT a
    SELECT sum(v) FROM ses
    ROLLBACK TO SAVEPOINT a
    SELECT sum(v) FROM ses
    COMMIT
    SELECT sum(v), count(*) FROM ses
    CREATE SEQUENCE seq MINVALUE -2 MAXVALUE 7 START 3 INCREMENT 2 CYCLE
    SELECT nextval('seq'), nextval('seq'), currval('seq'), lastval()
    SELECT nextval('seq'), nextval('seq')
    SELECT setval('seq', 1, false)
    SELECT nextval('seq')
    ALTER SEQUENCE seq NO CYCLE
    SELECT nextval('seq') FROM generate_series(1, 9)
    SELECT setval('seq', 99)
    ALTER SEQUENCE seq RESTART WITH 0
    BEGIN; SELECT nextval('seq'); ROLLBACK
    SELECT nextval('seq')
    CREATE TABLE ident (id BIGINT GENERATED ALWAYS AS IDENTITY (START 100 INCREMENT 5) PRIMARY KEY, v TEXT)
    INSERT INTO ident (v) SELECT 'x' || n FROM generate_series(1, 5) n RETURNING id
    INSERT INTO ident VALUES (7, 'no')
    INSERT INTO ident OVERRIDING SYSTEM VALUE VALUES (7, 'yes') RETURNING *
    ALTER TABLE ident ALTER COLUMN id RESTART WITH 500
    INSERT INTO ident (v) VALUES ('r') RETURNING id
    CREATE TABLE plain (v TEXT)
    INSERT INTO plain VALUES ('a'), ('b'), ('c') RETURNING rowid
    DELETE FROM plain WHERE v = 'c'
    INSERT INTO plain VALUES ('d') RETURNING rowid
    SELECT rowid, v FROM plain ORDER BY rowid
    TRUNCATE plain
    INSERT INTO plain VALUES ('e') RETURNING rowid
    PREPARE p (INT) AS SELECT count(*), sum(v) FROM ses WHERE v > $1
    EXECUTE p (10)
    EXECUTE p (NULL)
    DEALLOCATE p
    SET statement_timeout = '1h'
    SHOW statement_timeout
    RESET ALL
  `);
}

/** Two sessions: notifications, locks of the application, row locks without waiting, exactly-once. */
export function twoSessionSteps(): Step[] {
  const other = (text: string): Step[] => statements(text).map((step) => ({ ...step, by: "other" }));
  const list = [
    ...statements(`
    CREATE TABLE two (id INT PRIMARY KEY, v INT)
    INSERT INTO two SELECT n, 0 FROM generate_series(1, 40) n
    LISTEN news
    LISTEN "More News"
    NOTIFY news, 'own'`),
    ...other("NOTIFY news, 'from the other'"),
    ...statements("SELECT 1"),
    ...other(
      "BEGIN; UPDATE two SET v = 1 WHERE id < 20; NOTIFY news, 'in a block'; SELECT pg_notify('More News', v::text) FROM two WHERE id = 3",
    ),
    ...statements("SELECT sum(v) FROM two"),
    ...other("COMMIT"),
    ...statements("SELECT sum(v) FROM two"),
    ...other("BEGIN; UPDATE two SET v = 2; NOTIFY news, 'never'; ROLLBACK"),
    ...statements(`
    SELECT sum(v) FROM two
    UNLISTEN news
    SELECT pg_advisory_lock(7), pg_try_advisory_lock(7), pg_try_advisory_lock(1, 2)`),
    ...other("SELECT pg_try_advisory_lock(7), pg_try_advisory_lock(1, 2), pg_try_advisory_lock(8)"),
    ...other("SELECT pg_try_advisory_xact_lock_shared(7)"),
    ...statements(
      "SELECT pg_advisory_unlock(7), pg_advisory_unlock(7), pg_advisory_unlock(7), pg_try_advisory_lock(8)",
    ),
    ...other("SELECT pg_try_advisory_lock(7), pg_advisory_unlock_all()"),
    ...statements("BEGIN; SELECT v FROM two WHERE id IN (4, 5) ORDER BY id FOR UPDATE"),
    ...other(`
    SELECT v FROM two WHERE id = 4 FOR UPDATE NOWAIT
    SELECT id FROM two WHERE id < 8 ORDER BY id FOR UPDATE SKIP LOCKED
    SELECT id FROM two WHERE id = 6 FOR UPDATE NOWAIT
    SET lock_timeout = '20ms'
    UPDATE two SET v = 9 WHERE id = 5
    RESET lock_timeout`),
    ...statements(`
    COMMIT
    BEGIN; SELECT sum(v) FROM two`),
    ...other("UPDATE two SET v = v + 1 WHERE id = 9"),
    ...statements(`
    UPDATE two SET v = (SELECT sum(v) FROM two) WHERE id = 10; COMMIT
    ROLLBACK
    BEGIN; SELECT v FROM two WHERE id = 9`),
    ...other("UPDATE two SET v = v + 1 WHERE id = 9"),
    ...statements(`
    UPDATE two SET v = 0 WHERE id = 9
    ROLLBACK
    SELECT v FROM two WHERE id IN (9, 10) ORDER BY id`),
  ];
  const once = [1, 1, 2, 3, 2, 4, 4].map((sequence): Step => ({
    sql: sequence === 3 ? "INSERT INTO two VALUES (1, 1)" : "UPDATE two SET v = v + 1",
    once: sequence,
  }));
  return [...list, ...once, ...statements("SELECT sum(v), count(*) FROM two")];
}

/** What a catalog query asks of sizes: files of several shards have other ones. */
const SIZES = /c\.relpages|pg_catalog\.pg_size_pretty\(pg_catalog\.pg_\w+\(\w+\.oid\)\)/;

/** The queries by which psql, pg_dump and drivers look at the catalog. */
export function catalogSteps(): Step[] {
  const lines = statementFile("schema.sql").trim().split("\n").map((sql) => ({ sql }));
  const asked = ["psql.sql", "pg_dump.sql", "drivers.sql"].flatMap((file) =>
    statementFile(file).split(/^-- rows: .*\n/m).slice(1).map((sql) => ({
      sql: sql.trim().replace(/;$/, ""),
    }))
  );
  return [
    ...lines,
    ...asked.map(({ sql }): Step => ({ sql: sql.replace(SIZES, "0"), ordered: false })),
    { sql: "SET search_path = public" },
  ];
}

/** Per type: how it is written, values from the smallest on, others that compare equal to one of them. */
const TYPES: readonly (readonly [type: string, values: readonly string[], extra?: string])[] = [
  ["SMALLINT", ["-32768", "-1", "0", "1", "32767"], "sum(v), avg(v), bit_and(v), stddev(v)"],
  ["INT", ["-2147483648", "-1", "0", "1", "2147483647"], "sum(v), avg(v), bit_or(v), variance(v)"],
  ["BIGINT", [
    "-9223372036854775808",
    "-9007199254740993",
    "-1",
    "0",
    "9007199254740993",
    "9223372036854775807",
  ], "sum(v), avg(v)"],
  ["REAL", ["'-Infinity'", "-3.4e38", "-0.0", "0.0", "1e-45", "3.4e38", "'Infinity'", "'NaN'"], "count(v)"],
  [
    "DOUBLE PRECISION",
    ["'-Infinity'", "-1.7e308", "-0.0", "0.0", "5e-324", "1.7e308", "'Infinity'", "'NaN'"],
    "count(v)",
  ],
  ["NUMERIC", [
    "'-Infinity'",
    "-1e40",
    "-0.10",
    "-0.1",
    "0",
    "0.000",
    "1e-30",
    "1.0",
    "1.00",
    "1e40",
    "'Infinity'",
    "'NaN'",
  ], "count(v)"],
  [
    "NUMERIC(20, 4)",
    ["-9999999999999999.9999", "0", "0.0001", "9999999999999999.9999"],
    "sum(v), avg(v), stddev_samp(v)",
  ],
  ["BOOLEAN", ["false", "true"], "bool_and(v), bool_or(v)"],
  [
    "TEXT",
    ["''", "' '", "'A'", "'B'", "'a'", "'ab'", "'ä'", "'z'", "'\u{10ffff}'", "repeat('x', 3000)"],
    "max(length(v))",
  ],
  ["CHAR(4)", ["''", "'a'", "'a  '", "'b'", "'abcd'"], "max(length(v))"],
  ["VARCHAR(5)", ["''", "'a'", "'a '", "'éé'"], "min(v || 'x')"],
  ["BYTEA", ["''", "'\\x00'", "'\\x0001'", "'\\xff'"], "max(length(v))"],
  [
    "DATE",
    ["'-infinity'", "'0001-01-01 BC'", "'1970-01-01'", "'2024-02-29'", "'9999-12-31'", "'infinity'"],
    "count(v)",
  ],
  ["TIME", ["'00:00'", "'12:34:56.789012'", "'24:00'"], "count(v)"],
  ["TIMESTAMP", [
    "'-infinity'",
    "'1900-01-01'",
    "'2024-02-29 12:34:56.789012'",
    "'294276-12-31 23:59:59.999999'",
    "'infinity'",
  ]],
  ["TIMESTAMPTZ", [
    "'-infinity'",
    "'1900-01-01+00'",
    "'2024-03-31 01:59:59+00'",
    "'2024-03-31 03:00:00+01'",
    "'infinity'",
  ]],
  ["INTERVAL", ["'-1 year'", "'1 mon'", "'30 days'", "'720:00:00'", "'1 year'"], "sum(v)"],
  ["UUID", [
    "'00000000-0000-0000-0000-000000000000'",
    "'7fffffff-ffff-ffff-ffff-ffffffffffff'",
    "'80000000-0000-0000-0000-000000000000'",
  ]],
  ["JSONB", ["'null'", "'{}'", "'[]'", "'{\"a\": 1.0}'", "'{\"a\": 1.00}'", "'\"x\"'"]],
  ["INT[]", ["'{}'", "'{NULL}'", "'{1,2}'", "'{1,2,3}'", "'{{1,2},{3,4}}'"]],
  ["TEXT[]", ["'{}'", "'{\"\"}'", "'{a,NULL}'", "'{ä}'"]],
];

/** Values of each type at their edges: stored, fresh, sorted, grouped, compared, joined, with empty shards. */
export function typeSteps(): Step[] {
  return TYPES.flatMap(([type, values, extra = "count(v)"], index) => {
    const table = `ty${index}`;
    const list = values.map((value, n) => `(${n * 3 + 1}, ${value}), (${n * 3 + 2}, ${value})`).join(", ");
    const [low = "NULL"] = values, middle = values[values.length >> 1] ?? "NULL";
    const cast = (value: string): string => `CAST(${value} AS ${type})`;
    return statements(`
      CREATE TABLE ${table} (id INT PRIMARY KEY, v ${type})
      SELECT count(*), min(id), ${extra} FROM ${table}
      INSERT INTO ${table} VALUES ${list}, (900, NULL), (901, NULL)
      CREATE INDEX ON ${table} (v)
      SELECT * FROM ${table} ORDER BY v, id
      SELECT id FROM ${table} ORDER BY v DESC NULLS LAST, id LIMIT 3 OFFSET 1
      SELECT id, v FROM ${table} WHERE v = ${cast(middle)} ORDER BY id
      SELECT id FROM ${table} WHERE v <> ${cast(middle)} ORDER BY id
      SELECT id FROM ${table} WHERE v > ${cast(low)} AND v <= ${cast(middle)} ORDER BY id
      SELECT id FROM ${table} WHERE v IN (${cast(low)}, ${cast(middle)}) ORDER BY id
      SELECT id FROM ${table} WHERE v IS DISTINCT FROM ${cast(middle)} ORDER BY id
      SELECT count(*), count(v), count(DISTINCT v) FROM ${table}
      SELECT ${extra} FROM ${table}
      SELECT count(*), min(id) FROM ${table} GROUP BY v ORDER BY 2
      SELECT count(*) FROM (SELECT DISTINCT v FROM ${table}) d
      SELECT a.id, b.id FROM ${table} a JOIN ${table} b ON a.v = b.v ORDER BY 1, 2
      SELECT a.id FROM ${table} a LEFT JOIN ${table} b ON a.v = b.v AND b.id > 5 WHERE b.id IS NULL ORDER BY 1
      SELECT id FROM ${table} WHERE v IN (SELECT v FROM ${table} WHERE id < 9) ORDER BY id
      SELECT id, rank() OVER (ORDER BY v), dense_rank() OVER (ORDER BY v DESC) FROM ${table} ORDER BY id
      BEGIN; UPDATE ${table} SET v = NULL WHERE id % 3 = 1; SELECT count(v), ${extra} FROM ${table}; SELECT id FROM ${table} ORDER BY v, id LIMIT 4; ROLLBACK
      INSERT INTO ${table} VALUES (1, ${cast(middle)}) ON CONFLICT (id) DO UPDATE SET v = excluded.v
      DELETE FROM ${table} WHERE v = ${cast(low)}
      SELECT count(*), count(v) FROM ${table}
      DROP TABLE ${table}
    `);
  });
}

const OF_SETTINGS: readonly string[] = [
  "concat(m, id)",
  "m::text",
  "m < 'happy'",
  "greatest(m, 'ok')",
  "concat(o::regclass)",
  "o::regclass::text",
  "to_json(d)",
  "to_jsonb(ts)",
  "json_build_object('a', d, 'b', ts)",
  "jsonb_build_array(d, i, m)",
  "array_to_string(da, ',')",
  "array_to_json(da)",
  "row_to_json(ROW(d, ts))",
  "format('%s %L %I', d, ts, x)",
  "quote_literal(ts)",
  "to_timestamp(x, '\"x\"DD')",
  "make_timestamptz(2024, 1, 1, 1, id % 60, 1)",
  "to_char(ts, 'DD.MM HH24')",
  "d::text",
  "ts::text",
  "i::text",
  "da::text",
  "d::timestamptz",
  "ts::date",
  "ts::time",
  "'01/02/2024'::text::date + id",
  "date_bin('1 day', ts, TIMESTAMPTZ '2000-01-01')",
  "extract(hour FROM ts)",
  "concat_ws('-', d, i)",
  "current_setting('TimeZone')",
  "pg_typeof(m)::text",
];

/** Expressions that ask for something of the session or of the catalog, in conditions, results, orders and groups. */
export function settingSteps(): Step[] {
  const uses = OF_SETTINGS.map((expression) => `
    SELECT id, ${expression} FROM settings WHERE (${expression}) IS NOT NULL ORDER BY id
    SELECT count(*), min((${expression})::text) FROM settings WHERE id > 5
    SELECT (${expression})::text AS v, count(*) FROM settings GROUP BY v ORDER BY v LIMIT 4`);
  return statements(`
    CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')
    CREATE TABLE settings (id INT PRIMARY KEY, m mood, d DATE, ts TIMESTAMPTZ, i INTERVAL, o OID, da DATE[], x TEXT)
    INSERT INTO settings SELECT n, (CASE n % 3 WHEN 0 THEN 'sad' WHEN 1 THEN 'ok' ELSE 'happy' END)::mood, DATE '2024-01-01' + n, TIMESTAMPTZ '2024-03-31 00:00+00' + n * INTERVAL '1 hour', n * INTERVAL '1 day', CASE WHEN n < 9 THEN 'settings'::regclass::oid ELSE n END, ARRAY[DATE '2024-01-01' + n], 'x' || n FROM generate_series(1, 25) n
    INSERT INTO settings (id) VALUES (99)
    SET TimeZone = 'Europe/Paris'
    SET DateStyle = 'SQL, DMY'
    SET IntervalStyle = 'iso_8601'
    ${uses.join("\n")}
    ALTER TYPE mood RENAME VALUE 'ok' TO 'well'
    SELECT id, m, concat(m) FROM settings WHERE m::text = 'well' OR concat(m) = 'ok' ORDER BY id
    RESET ALL
    DROP TABLE settings
  `);
}

/** Transfers of TPC-B, by one client, with their sums. */
export function tpcbSteps(random: SeededRandom, count: number): Step[] {
  const steps = statements(`
    CREATE TABLE pgbench_branches (bid INT PRIMARY KEY, bbalance INT, filler CHAR(88))
    CREATE TABLE pgbench_tellers (tid INT PRIMARY KEY, bid INT, tbalance INT, filler CHAR(84))
    CREATE TABLE pgbench_accounts (aid INT PRIMARY KEY, bid INT, abalance INT, filler CHAR(84))
    CREATE TABLE pgbench_history (tid INT, bid INT, aid INT, delta INT, mtime TIMESTAMP, filler CHAR(22))
    INSERT INTO pgbench_branches SELECT n, 0 FROM generate_series(1, 3) n
    INSERT INTO pgbench_tellers SELECT n, 1 + n % 3, 0 FROM generate_series(1, 30) n
    INSERT INTO pgbench_accounts SELECT n, 1 + n % 3, 0, 'f' FROM generate_series(1, 2000) n
  `);
  for (let index = 0; index < count; index++) {
    const aid = 1 + random.below(2000), tid = 1 + random.below(30), bid = 1 + random.below(3);
    const delta = random.below(10_001) - 5000;
    steps.push(...statements(`
      BEGIN
      UPDATE pgbench_accounts SET abalance = abalance + ${delta} WHERE aid = ${aid}
      SELECT abalance FROM pgbench_accounts WHERE aid = ${aid}
      UPDATE pgbench_tellers SET tbalance = tbalance + ${delta} WHERE tid = ${tid}
      UPDATE pgbench_branches SET bbalance = bbalance + ${delta} WHERE bid = ${bid}
      INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (${tid}, ${bid}, ${aid}, ${delta}, '2024-01-01')
      ${index % 9 === 8 ? "ROLLBACK" : "COMMIT"}
    `));
  }
  return [
    ...steps,
    ...statements(`
    SELECT (SELECT sum(abalance) FROM pgbench_accounts), (SELECT sum(tbalance) FROM pgbench_tellers), sum(bbalance) FROM pgbench_branches
    SELECT bid, count(*), sum(delta) FROM pgbench_history GROUP BY bid ORDER BY bid
    SELECT aid, abalance FROM pgbench_accounts WHERE abalance <> 0 ORDER BY abalance DESC, aid LIMIT 20
  `),
  ];
}

/** Joins of all kinds between three tables whose keys are missing, NULL, or there several times. */
export function joinSteps(random: SeededRandom, count: number): Step[] {
  const steps = statements(`
    CREATE TABLE ja (id INT PRIMARY KEY, k INT, t TEXT)
    CREATE TABLE jb (id INT PRIMARY KEY, k BIGINT, n NUMERIC)
    CREATE TABLE jc (k INT, d DATE)
    CREATE TABLE jempty (id INT PRIMARY KEY, k INT)
    INSERT INTO ja SELECT n, nullif(n % 13, 5), 't' || n % 4 FROM generate_series(1, 70) n
    INSERT INTO jb SELECT n, nullif(n % 17, 3), n % 6 * 1.5 FROM generate_series(1, 90) n
    INSERT INTO jc SELECT n % 8, DATE '2024-01-01' + n FROM generate_series(1, 12) n
    CREATE INDEX ON jb (k)
  `);
  const kinds = ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"];
  for (let index = 0; index < count; index++) {
    const pick = (list: readonly string[]): string => list[random.below(list.length)] as string;
    const kind = pick(kinds), limit = random.below(3) === 0 ? ` LIMIT ${1 + random.below(9)}` : "";
    const side = pick(["jb", "jb", "(SELECT * FROM jb WHERE n > 2)", "jempty"]);
    const on = pick([
      "a.k = b.k",
      "a.id = b.id",
      "a.k = b.k AND a.id < b.id",
      "a.k = b.k AND a.t <> 't1'",
      "a.id = b.k",
    ]);
    const where = pick([
      "",
      ` WHERE a.id > ${random.below(60)}`,
      " WHERE b.k IS NULL",
      ` WHERE coalesce(b.id, 0) < ${random.below(90)}`,
    ]);
    const from = `ja a ${kind} ${side} b ON ${on}`;
    const other = `(SELECT k FROM jb WHERE id > ${random.below(90)})`;
    steps.push({
      sql: pick([
        `SELECT a.id, b.id, a.t FROM ${from}${where} ORDER BY 1, 2${limit}`,
        `SELECT count(*), sum(a.id), max(b.id), min(a.t) FROM ${from}${where}`,
        `SELECT a.t, count(b.id), sum(b.id) FROM ${from}${where} GROUP BY a.t ORDER BY 1${limit}`,
        `SELECT a.id, b.id, c.d FROM ${from} LEFT JOIN jc c ON c.k = a.k${where} ORDER BY 1, 2, 3${limit}`,
        `SELECT id FROM ja a WHERE k IN ${other} ORDER BY id${limit}`,
        `SELECT id FROM ja a WHERE k NOT IN (SELECT k FROM jc WHERE d < '2024-01-07') ORDER BY id`,
        `SELECT count(*) FROM ja a WHERE NOT EXISTS (SELECT FROM jb b WHERE ${on})`,
        `SELECT a.id, x.m FROM ja a, LATERAL (SELECT max(b.id) AS m FROM jb b WHERE ${on}) x ORDER BY 1${limit}`,
        `SELECT DISTINCT a.k, b.n FROM ${from}${where} ORDER BY 1, 2${limit}`,
        `SELECT count(DISTINCT b.n), count(DISTINCT a.t) FROM ${from}${where}`,
        `SELECT sum(z) FROM (SELECT a.id AS z FROM ${from}${where} UNION ALL SELECT k FROM jc) u`,
        `SELECT a.id, a.k FROM ja a NATURAL JOIN jc ORDER BY 1, 2${limit}`,
      ]),
    });
  }
  return steps;
}
