/** The client program as a process, against a server in this one: its modes, output forms and exit codes. */
import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import { startBinaryServer } from "../../gateways/binary/server.ts";
import { version } from "../../cli/shared/version.ts";
import { projectRoot } from "../../tools/project.ts";
import { runProgram } from "../support/programs.ts";

interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

type Run = (parameters: readonly string[], input?: string) => Promise<Result>;

function dbcli(
  parameters: readonly string[],
  options: Parameters<typeof runProgram>[2] = {},
): Promise<Result> {
  return runProgram(Deno.execPath(), ["run", "-A", `${projectRoot}/cli/dbcli.ts`, ...parameters], options);
}

async function withServer(
  work: (run: Run, directory: string, address: string) => Promise<void>,
  token: string | null = null,
): Promise<void> {
  const engine = await Engine.open({ host: memoryHost(), directory: ":memory:" });
  const server = await startBinaryServer({
    engine,
    address: { hostname: "127.0.0.1", port: 0 },
    token,
    version: "0.0.0",
  });
  const directory = await Deno.makeTempDir({ prefix: "dbcli-" });
  const address = `127.0.0.1:${server.address.port}`;
  try {
    await work(
      (parameters, input) =>
        dbcli(parameters, {
          environment: { DB_ADDR: address },
          directory,
          ...(input === undefined ? {} : { input }),
        }),
      directory,
      address,
    );
  } finally {
    await server.close(0);
    await engine.close();
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test("dbcli runs the statement of its command line and prints the answer's form", () =>
  withServer(async (run) => {
    const check = async (parameters: string[], expected: Partial<Result>) => {
      const result = await run(parameters);
      deepStrictEqual(result, { code: 0, stdout: "", stderr: "", ...expected }, parameters.join(" "));
    };
    await check(["CREATE TABLE ball (id BIGINT PRIMARY KEY, color TEXT)"], { stdout: "CREATE TABLE\n" });
    await check(["INSERT INTO ball ID 1 (color) VALUES ('red')"], { stdout: "INSERT 0 1\n" });
    await check(["SELECT * FROM ball ID 1"], {
      stdout: " id | color \n----+-------\n  1 | red\n(1 row)\n",
    });
    await check(["SELECT count(*) FROM ball"], { stdout: "= 1\n" });
    await check(["DESCRIBE ball"], {
      stdout: "ball\n  column  type    null\n  id      bigint  NO\n  color   text    YES\n",
    });
    await check(["--json", "SELECT * FROM ball"], {
      stdout: '{"status":"ok","rows":[{"id":1,"color":"red"}]}\n',
    });
    await check(["SELECT * FROM bal"], {
      code: 1,
      stderr: 'ERROR:  relation "bal" does not exist\nLINE 1: SELECT * FROM bal\n                      ^\n' +
        'HINT:  Did you mean "ball"?\n',
    });
    await check(["--json", "SELECT * FROM bal"], {
      code: 1,
      stdout: '{"status":"error","message":"relation \\"bal\\" does not exist","code":"42P01",' +
        '"hint":"Did you mean \\"ball\\"?","position":15}\n',
    });
    await check(["DROP TABLE IF EXISTS nothing"], {
      stdout: "DROP TABLE\n",
      stderr: 'NOTICE:  table "nothing" does not exist, skipping\n',
    });
  }));

Deno.test("dbcli reads statements from a pipe, one a line or ordinary SQL, and stops at the first error", () =>
  withServer(async (run) => {
    const script = [
      "# one statement a line",
      "CREATE TABLE t (id BIGINT PRIMARY KEY, n INT)",
      "INSERT INTO t VALUES (1, 10)",
      "",
      "-- and ordinary SQL",
      "INSERT INTO t",
      "VALUES (2, 20),",
      "       (3, 30);",
      "UPDATE t",
      "SET n = n + 1; SELECT sum(n) FROM t",
      "",
    ].join("\n");
    deepStrictEqual(await run([], script), {
      code: 0,
      stdout: "CREATE TABLE\nINSERT 0 1\nINSERT 0 2\nUPDATE 3\n= 63\n",
      stderr: "",
    });
    const failing = "SELECT 1/0\nSELECT count(*) FROM t\n";
    const stopped = await run([], failing);
    deepStrictEqual([stopped.code, stopped.stdout], [1, ""]);
    match(stopped.stderr, /^ERROR: {2}division by zero\n/);
    const kept = await run(["--keep-going"], failing);
    deepStrictEqual([kept.code, kept.stdout], [1, "= 3\n"]);
    const quit = await run([], "SELECT count(*) FROM t\nquit\nSELECT 1/0\n");
    deepStrictEqual([quit.code, quit.stdout], [0, "= 3\n"]);
  }));

Deno.test("dbcli keeps a transaction over the statements of a pipe", () =>
  withServer(async (run) => {
    const result = await run(
      [],
      "CREATE TABLE t (id BIGINT PRIMARY KEY)\nBEGIN\nINSERT INTO t VALUES (1)\nROLLBACK\nSELECT count(*) FROM t\n",
    );
    strictEqual(result.stdout, "CREATE TABLE\nBEGIN\nINSERT 0 1\nROLLBACK\n= 0\n");
  }));

Deno.test("dbcli loads and writes files", () =>
  withServer(async (run, directory) => {
    await Deno.writeTextFile(`${directory}/t.csv`, 'id,name\n1,"a, b"\n2,c\n');
    await Deno.writeTextFile(
      `${directory}/t.json`,
      '[{"ID": 3, "The Name": "d\\te"}, {"id": 4}, {"id": 9007199254740993, "the_name": "big"}]',
    );
    await Deno.writeTextFile(`${directory}/t.ndjson`, '{"id": 5, "name": "f"}\n\n{"id": 6, "name": null}\n');
    const result = await run(
      [],
      [
        "CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT)",
        "\\copy t FROM 't.csv' CSV HEADER",
        "ALTER TABLE t RENAME COLUMN name TO the_name",
        "\\load t FROM 't.json'",
        "ALTER TABLE t RENAME COLUMN the_name TO name",
        "\\load t FROM 't.ndjson'",
        "COPY t FROM STDIN;",
        "7\tg",
        "\\.",
        "\\copy (SELECT id, name FROM t ORDER BY id) TO 'out.csv' CSV HEADER",
        "",
      ].join("\n"),
    );
    deepStrictEqual(result, {
      code: 0,
      stdout: "CREATE TABLE\nCOPY 2\nALTER TABLE\nCOPY 3\nALTER TABLE\nCOPY 2\nCOPY 1\nCOPY 8\n",
      stderr: "",
    });
    strictEqual(
      await Deno.readTextFile(`${directory}/out.csv`),
      'id,name\n1,"a, b"\n2,c\n3,d\te\n4,\n5,f\n6,\n7,g\n9007199254740993,big\n',
    );
    const unknown = await run(["\\load t FROM 'missing.json'"]);
    strictEqual(unknown.code, 1);
    match(unknown.stderr, /^ERROR: {2}Cannot open "missing\.json": there is no such file\n/);
    await Deno.writeTextFile(`${directory}/bad.json`, '[{"id": 10, "nam": "x"}]');
    const misnamed = await run(["\\load t FROM 'bad.json'"]);
    match(misnamed.stderr, /member "nam".*\nHINT: {2}Did you mean "name"\?\n/);
    const piped = await run(["COPY t FROM STDIN CSV"], "20,x\n21,y\n");
    deepStrictEqual([piped.code, piped.stdout], [0, "COPY 2\n"]);
    strictEqual((await run(["COPY (SELECT 1, 'a') TO STDOUT CSV"])).stdout, "1,a\n");
  }));

Deno.test("dbcli has the commands of the shell in a pipe, too", () =>
  withServer(async (run, directory) => {
    await Deno.writeTextFile(`${directory}/more.sql`, "INSERT INTO t VALUES (1);\nSELECT count(*) FROM t;\n");
    const result = await run(
      [],
      "CREATE TABLE t (id BIGINT)\n\\i more.sql\n\\dt\n\\d t\n\\timing off\n\\q\nSELECT 1/0\n",
    );
    deepStrictEqual(result, {
      code: 0,
      stdout: "CREATE TABLE\nINSERT 0 1\n= 1\n" +
        " schema | name | kind  | rows \n--------+------+-------+------\n public | t    | table |    1\n(1 row)\n" +
        "t\n  column  type    null\n  id      bigint  YES\nTiming is off.\n",
      stderr: "",
    });
    match((await run(["\\help"])).stdout, /\\timing/);
    const unknown = await run(["\\tming"]);
    strictEqual(unknown.code, 1);
    match(unknown.stderr, /unknown command \\tming\nHINT: {2}Did you mean \\timing\?/);
  }));

Deno.test("dbcli asks for the token that a server wants", () =>
  withServer(async (run) => {
    const without = await run(["SELECT 1"]);
    strictEqual(without.code, 1);
    match(without.stderr, /asks for a token\nHINT: {2}Give it with --token or in DB_TOKEN\.\n/);
    const wrong = await run(["--token", "x", "SELECT 1"]);
    strictEqual(wrong.code, 1);
    match(wrong.stderr, /the token is wrong/);
    strictEqual((await run(["--token", "secret", "SELECT 1 AS a"])).code, 0);
  }, "secret"));

Deno.test("dbcli ends with 1 without a server and with 2 when it is called wrongly", async () => {
  const lost = await dbcli(["--addr", "127.0.0.1:1", "SELECT 1"]);
  deepStrictEqual([lost.code, lost.stdout], [1, ""]);
  match(lost.stderr, /^ERROR: {2}Cannot connect to 127\.0\.0\.1:1: connection refused\n/);
  const asJson = await dbcli(["--addr", "127.0.0.1:1", "--json", "SELECT 1"]);
  deepStrictEqual([asJson.code, JSON.parse(asJson.stdout).code], [1, "08000"]);
  for (const parameters of [["--adr", "x"], ["a", "b"], ["--addr", "no address", "x"]]) {
    const { code, stderr } = await dbcli(parameters);
    strictEqual(code, 2, `${parameters.join(" ")}: ${stderr}`);
  }
  strictEqual((await dbcli(["--version"])).stdout, `dbcli ${version}\n`);
  match((await dbcli(["--help"])).stdout, /^dbcli .*\n\nUsage: dbcli /);
});

Deno.test("dbcli goes on to the next of several addresses", () =>
  withServer(async (run, _directory, address) => {
    const found = await run(["--addrs", `127.0.0.1:1,${address}`, "CREATE TABLE t (id BIGINT)"]);
    deepStrictEqual([found.code, found.stdout], [0, "CREATE TABLE\n"]);
    strictEqual((await run(["--addrs", "127.0.0.1:1,127.0.0.1:2", "SELECT 1"])).code, 1);
  }));
