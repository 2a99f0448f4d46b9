/** Clients that are not written in JavaScript, where they are installed: psycopg, pgbench, sysbench, pg_dump. */
import { deepStrictEqual as same, match, strictEqual as equal } from "node:assert/strict";
import { isInstalled, reportNotRun } from "../../../tools/not_run.ts";
import { openPgDatabase, type PgDatabase } from "../support/pg_database.ts";

interface Result {
  readonly code: number;
  readonly out: string;
  readonly errors: string;
}

async function run(database: PgDatabase, program: string, parameters: readonly string[]): Promise<Result> {
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args: [...parameters],
    env: {
      PGHOST: "127.0.0.1",
      PGPORT: String(database.port),
      PGUSER: "carl",
      PGDATABASE: "shop",
      LC_ALL: "C",
    },
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  return { code, out: decoder.decode(stdout), errors: decoder.decode(stderr) };
}

const PSYCOPG = `
import datetime, decimal, uuid, psycopg
from psycopg.types.json import Jsonb
c = psycopg.connect(autocommit=True)
c.execute("create table t (id serial primary key, a int8, b numeric, c text, d bytea, e timestamptz, f uuid, g jsonb, h int[], i bool)")
row = (2**60, decimal.Decimal("1.50"), "x\\t\\u00e9", b"\\x00\\xff", datetime.datetime(2024, 1, 2, tzinfo=datetime.timezone.utc),
       uuid.UUID(int=7), Jsonb({"a": [1, None]}), [1, None, 3], True)
plain = row[:6] + ({"a": [1, None]},) + row[7:]
for kind in ("%s", "%b", "%t"):
    c.execute("insert into t (a, b, c, d, e, f, g, h, i) values (" + ", ".join([kind] * 9) + ")", row)
for binary in (False, True):
    rows = c.cursor(binary=binary).execute("select a, b, c, d, e, f, g, h, i from t").fetchall()
    assert rows == [plain] * 3, rows
with c.transaction(), c.cursor("named") as cursor:
    cursor.itersize = 10
    cursor.execute("select g from generate_series(1, %s) g", (95,))
    assert [n for n, in cursor] == list(range(1, 96))
with c.pipeline():
    cursors = [c.execute("insert into t (a) values (%s) returning id", (n,)) for n in range(50)]
assert [cursor.fetchone()[0] for cursor in cursors] == list(range(4, 54))
for options in ("", "(format binary)"):
    c.execute("create table u (a int4, b text)")
    with c.cursor().copy("copy u from stdin " + options) as copy:
        copy.set_types(["int4", "text"])
        for n in range(100): copy.write_row((n, "x\\ty"))
    with c.cursor().copy("copy (select * from u order by a) to stdout " + options) as copy:
        copy.set_types(["int4", "text"])
        assert list(copy.rows()) == [(n, "x\\ty") for n in range(100)]
    c.execute("drop table u")
try:
    c.execute("insert into t (id) values (1)")
except psycopg.errors.UniqueViolation as error:
    assert error.diag.constraint_name == "t_pkey"
print("good")
`;

Deno.test("psycopg round-trips values, cursors, pipelines and COPY", async () => {
  const python = "/usr/bin/python3";
  await using database = await openPgDatabase();
  const probe = await run(database, python, ["-c", "import psycopg"]).catch(() => null);
  if (probe?.code !== 0) return reportNotRun("psycopg", "python3-psycopg is not installed");
  const { out, errors } = await run(database, python, ["-c", PSYCOPG]);
  equal(errors, "");
  equal(out, "good\n");
  same(database.internalErrors, []);
});

Deno.test("pgbench fills its tables and runs its scripts in all query modes", async () => {
  if (!await isInstalled("pgbench")) return reportNotRun("pgbench", "pgbench is not installed");
  await using database = await openPgDatabase();
  const filled = await run(database, "pgbench", ["-i", "-s", "1", "-q", "--foreign-keys"]);
  equal(filled.code, 0, filled.errors);
  for (const mode of ["simple", "extended", "prepared"]) {
    const { out, code, errors } = await run(database, "pgbench", ["-n", "-M", mode, "-c", "2", "-t", "10"]);
    equal(code, 0, errors);
    match(out, /actually processed: 20\/20/);
  }
});

Deno.test("sysbench runs its read-write load", async () => {
  if (!await isInstalled("sysbench")) return reportNotRun("sysbench", "sysbench is not installed");
  await using database = await openPgDatabase();
  const common = [
    "--db-driver=pgsql",
    "--pgsql-host=127.0.0.1",
    `--pgsql-port=${database.port}`,
    "--pgsql-user=carl",
    "--pgsql-db=shop",
    "--table-size=500",
    "--events=20",
    "oltp_read_write",
  ];
  for (const step of ["prepare", "run", "cleanup"]) {
    const { code, out, errors } = await run(database, "sysbench", [...common, step]);
    equal(code, 0, out + errors);
  }
});

Deno.test("pg_dump writes what psql restores to an equal database", async () => {
  if (!await isInstalled("pg_dump") || !await isInstalled("psql")) {
    return reportNotRun("pg_dump", "pg_dump or psql is not installed");
  }
  await using first = await openPgDatabase();
  await using second = await openPgDatabase();
  const made = await run(first, "psql", ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", SCHEMA]);
  equal(made.code, 0, made.errors);
  const file = await Deno.makeTempFile({ suffix: ".sql" });
  try {
    const dump = async (database: PgDatabase): Promise<string> => {
      const { code, out, errors } = await run(database, "pg_dump", []);
      equal(code, 0, errors);
      return out.replaceAll(/^\\(?:un)?restrict .*$/gm, "");
    };
    const dumped = await dump(first);
    await Deno.writeTextFile(file, dumped);
    const restored = await run(second, "psql", ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", file]);
    equal(restored.errors, "");
    equal(await dump(second), dumped);
  } finally {
    await Deno.remove(file);
  }
});

const SCHEMA = `
CREATE TABLE parent (id INT PRIMARY KEY);
INSERT INTO parent VALUES (1);
CREATE VIEW above AS WITH p AS (SELECT id FROM parent) SELECT a.id, p.id AS x FROM parent a JOIN p ON a.id = p.id;
CREATE TABLE child (id INT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, a NUMERIC(10, 2) DEFAULT 1.5 CHECK (a > 0),
  b TEXT UNIQUE, d INT REFERENCES parent (id) ON DELETE CASCADE, e INT[], f JSONB,
  g INT GENERATED ALWAYS AS (id * 2) STORED, h SERIAL, "Odd ""N" CHAR(3));
INSERT INTO child (b, d, e, f) VALUES ('x', 1, '{1,2}', '{"a": 1}'), (E'tab\\there\\\\', NULL, NULL, NULL);
CREATE INDEX child_lower ON child (lower(b)) WHERE a > 1;
CREATE SEQUENCE counter START 5 INCREMENT 2;
COMMENT ON COLUMN child.a IS 'it''s';
CREATE SCHEMA other;
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TABLE other.moods (m mood);
INSERT INTO other.moods VALUES ('ok');
`;
