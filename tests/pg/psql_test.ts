/** psql against the real listener: scripts, \copy in three formats, errors, exit codes, cursors, cancellation. */
import { match, strictEqual as equal } from "node:assert/strict";
import { isInstalled, reportNotRun } from "../../tools/not_run.ts";
import { openPgDatabase, type PgDatabase } from "./support/pg_database.ts";

interface PsqlResult {
  readonly code: number;
  readonly out: string;
  readonly errors: string;
}

async function psql(
  database: PgDatabase,
  script: string,
  options: {
    readonly password?: string;
    readonly parameters?: readonly string[];
    readonly settings?: string;
  } = {},
): Promise<PsqlResult> {
  const child = new Deno.Command("psql", {
    args: ["-X", "-q", "-A", "-t", ...(options.parameters ?? []), "-f", "-"],
    env: {
      PGHOST: "127.0.0.1",
      PGPORT: String(database.port),
      PGUSER: "carl",
      PGDATABASE: "shop",
      PGPASSWORD: options.password ?? "",
      PGOPTIONS: options.settings ?? "",
      LC_ALL: "C",
    },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(script));
  await writer.close();
  const { code, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  return { code, out: decoder.decode(stdout), errors: decoder.decode(stderr) };
}

/** Runs a script, whose output is to be exactly this. */
async function check(script: string, expected: string): Promise<void> {
  if (!await isInstalled("psql")) {
    return reportNotRun("psql against the PostgreSQL listener", "psql is not installed");
  }
  await using database = await openPgDatabase();
  const { out, errors } = await psql(database, script);
  equal(errors, "");
  equal(out, expected);
}

Deno.test("psql runs a script of statements", async () => {
  await check(
    `CREATE TABLE t (id INT PRIMARY KEY, name TEXT, price NUMERIC(8, 2));
     INSERT INTO t VALUES (1, 'a', 1), (2, NULL, 2.5);
     SELECT * FROM t ORDER BY id;
     UPDATE t SET price = price * 2 RETURNING id, price;
     SELECT 1 \\; SELECT 2;
     SHOW server_version;`,
    "1|a|1.00\n2||2.50\n1|2.00\n2|5.00\n1\n2\n15.8\n",
  );
});

Deno.test("psql copies in and out as text, CSV and binary", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/in.csv`, 'id,name\n1,"a ""quoted"", one"\n2,\n');
    await check(
      `CREATE TABLE t (id INT PRIMARY KEY, name TEXT);
       \\copy t FROM '${folder}/in.csv' WITH (FORMAT csv, HEADER)
       \\copy t FROM stdin
3	tab\\there
\\.
       \\copy t TO '${folder}/out.bin' WITH (FORMAT binary)
       CREATE TABLE u (id INT PRIMARY KEY, name TEXT);
       \\copy u FROM '${folder}/out.bin' WITH (FORMAT binary)
       \\copy u TO stdout WITH (FORMAT csv, HEADER)
       COPY (SELECT name FROM u WHERE id = 3) TO STDOUT;`,
      'id,name\n1,"a ""quoted"", one"\n2,\n3,tab\there\ntab\\there\n',
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("psql breaks off a COPY at bad data, and nothing of it stays", async () => {
  if (!await isInstalled("psql")) return reportNotRun("psql COPY errors", "psql is not installed");
  await using database = await openPgDatabase();
  const { out, errors } = await psql(
    database,
    "CREATE TABLE t (id INT PRIMARY KEY);\n\\copy t FROM stdin\n1\nno number\n3\n\\.\nSELECT count(*) FROM t;\n",
  );
  match(errors, /invalid input syntax for type integer: "no number"/);
  equal(out, "0\n");
});

Deno.test("psql fetches from a cursor", async () => {
  await check(
    `BEGIN;
     DECLARE c CURSOR FOR SELECT g FROM generate_series(1, 7) g;
     FETCH 2 FROM c;
     FETCH ALL FROM c;
     CLOSE c;
     COMMIT;
     \\set FETCH_COUNT 3
     SELECT g FROM generate_series(1, 4) g;`,
    "1\n2\n3\n4\n5\n6\n7\n1\n2\n3\n4\n",
  );
});

Deno.test("psql shows where an error is, and stops with 3 on request", async () => {
  if (!await isInstalled("psql")) return reportNotRun("psql errors", "psql is not installed");
  await using database = await openPgDatabase();
  const { code, out, errors } = await psql(database, "SELECT 1;\nSELECT 1 +;\nSELECT 2;\n", {
    parameters: ["-v", "ON_ERROR_STOP=1"],
  });
  equal(code, 3);
  equal(out, "1\n");
  match(errors, /ERROR: {2}syntax error at or near ";"\nLINE 1: SELECT 1 \+;\n {18}\^/);
});

Deno.test("psql logs in with the token as password and passes settings", async () => {
  if (!await isInstalled("psql")) return reportNotRun("psql authentication", "psql is not installed");
  await using database = await openPgDatabase({ token: "right" });
  const good = await psql(database, "SHOW statement_timeout;", {
    password: "right",
    settings: "-c statement_timeout=7s",
  });
  equal(good.errors, "");
  equal(good.out, "7s\n");
  const bad = await psql(database, "SELECT 1;", { password: "wrong" });
  equal(bad.code, 2);
  match(bad.errors, /password authentication failed for user "carl"/);
});
