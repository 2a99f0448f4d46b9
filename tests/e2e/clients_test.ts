/**
 * psql, pg, postgres, curl and dbcli at the same time on one running server: each creates a table, fills it in single
 * rows and in bulk, queries it, alters it and works on a table that all of them share.
 *
 * Afterwards every client's table is read by another client, so that what one protocol wrote another one shows. psql
 * and curl are reported when they are not installed; the others always run.
 */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import postgres from "postgres";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { isInstalled, reportNotRun } from "../../tools/not_run.ts";
import { type DbdPeer, startDbd } from "../bench/peers/dbd.ts";
import { connectPg } from "../support/clients.ts";
import { outputOf, runProgram } from "../support/programs.ts";

const rowCount = 200;
const increments = 20;

/** A client that takes one statement as text and answers rows of text. */
interface TextClient {
  readonly name: string;
  run(sql: string): Promise<string[][]>;
  /** What the client answers to a statement that fails: its code, or a message that has it. */
  fail(sql: string): Promise<string>;
  close(): Promise<void>;
}

const nothingToClose = () => Promise.resolve();

/** Values as the text forms that all clients can be brought to. */
function text(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  if (value === true) return "true";
  if (value === false) return "false";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function psql(server: DbdPeer): TextClient {
  const parameters = [
    "-X",
    "-h",
    server.host,
    "-p",
    String(server.port),
    "-U",
    "test",
    "-v",
    "VERBOSITY=verbose",
  ];
  return {
    name: "psql",
    run: async (sql) => {
      const output = await outputOf("psql", [...parameters, "-q", "-At", "-P", "null=NULL", "-c", sql]);
      return output.split("\n").filter((line) => line !== "").map((line) =>
        line.split("|").map((field) => ({ t: "true", f: "false" })[field] ?? field)
      );
    },
    fail: async (sql) => (await runProgram("psql", [...parameters, "-c", sql])).stderr,
    close: nothingToClose,
  };
}

async function nodePostgres(server: DbdPeer): Promise<TextClient> {
  const client = await connectPg(server);
  return {
    name: "pg",
    run: async (sql) => (await client.query(sql)).map((row) => Object.values(row).map(text)),
    fail: (sql) => client.query(sql).then(() => "nothing", (error) => String(error.code)),
    close: () => client.close(),
  };
}

function postgresJs(server: DbdPeer): TextClient {
  // With its own question for the array types, which asks the system catalog.
  const sql = postgres({
    host: server.host,
    port: server.port,
    username: "test",
    database: "test",
    max: 3,
    onnotice: () => undefined,
  });
  return {
    name: "postgres",
    run: async (statement) => [...await sql.unsafe(statement)].map((row) => Object.values(row).map(text)),
    fail: (statement) => sql.unsafe(statement).then(() => "nothing", (error) => String(error.code)),
    close: () => sql.end(),
  };
}

interface HttpAnswer {
  readonly status: string;
  readonly rows?: readonly Readonly<Record<string, unknown>>[];
  readonly value?: unknown;
  readonly code?: string;
  readonly message?: string;
}

function curl(server: DbdPeer): TextClient {
  const send = async (sql: string): Promise<HttpAnswer> =>
    JSON.parse(
      await outputOf("curl", [
        "-sS",
        "-H",
        "Content-Type: text/plain",
        "--data-binary",
        "@-",
        `http://${server.host}:${server.httpPort}/v1/sql`,
      ], { input: sql }),
    ) as HttpAnswer;
  return {
    name: "curl",
    run: async (sql) => {
      const answer = await send(sql);
      ok(answer.status === "ok", `${sql}: ${answer.message}`);
      if ("value" in answer) return [[text(answer.value)]];
      return (answer.rows ?? []).map((row) => Object.values(row).map(text));
    },
    fail: async (sql) => (await send(sql)).code ?? "nothing",
    close: nothingToClose,
  };
}

function dbcli(server: DbdPeer, program: string): TextClient {
  const parameters = ["--addr", `${server.host}:${server.binaryPort}`, "--json"];
  const send = async (sql: string): Promise<HttpAnswer> => {
    const { stdout, stderr } = await runProgram(program, [...parameters, sql]);
    try {
      return JSON.parse(stdout) as HttpAnswer;
    } catch (error) {
      throw new Error(`dbcli answered ${JSON.stringify(stdout)} ${stderr}`, { cause: error });
    }
  };
  return {
    name: "dbcli",
    run: async (sql) => {
      const answer = await send(sql);
      ok(answer.status === "ok", `${sql}: ${answer.message}`);
      if ("value" in answer) return [[text(answer.value)]];
      return (answer.rows ?? []).map((row) => Object.values(row).map(text));
    },
    fail: async (sql) => (await send(sql)).code ?? "nothing",
    close: nothingToClose,
  };
}

async function useAll(client: TextClient): Promise<void> {
  const table = `of_${client.name}`;
  await client.run(
    `CREATE TABLE ${table} (id BIGINT PRIMARY KEY, name TEXT NOT NULL, price NUMERIC(10,2), made DATE)`,
  );
  for (let id = 1; id <= 5; id++) {
    await client.run(
      `INSERT INTO ${table} VALUES (${id}, 'row ${id} of ${client.name}', ${id}.25, '2024-02-${20 + id}')`,
    );
  }
  const values = Array.from(
    { length: rowCount - 5 },
    (_, index) => `(${index + 6}, 'row ${index + 6} of ${client.name}', ${index + 6}.25, NULL)`,
  );
  await client.run(`INSERT INTO ${table} VALUES ${values.join(", ")}`);
  deepStrictEqual(await client.run(`SELECT count(*) FROM ${table}`), [[String(rowCount)]]);
  deepStrictEqual(
    await client.run(
      `SELECT id, name, price > 3 AS dear FROM ${table} WHERE made IS NOT NULL ORDER BY id DESC LIMIT 2`,
    ),
    [["5", `row 5 of ${client.name}`, "true"], ["4", `row 4 of ${client.name}`, "true"]],
  );
  await client.run(`ALTER TABLE ${table} ADD COLUMN stock INT NOT NULL DEFAULT 3`);
  await client.run(`CREATE RANGE INDEX ${table}_by_price ON ${table} (price)`);
  await client.run(`ALTER TABLE ${table} RENAME COLUMN name TO label`);
  await client.run(`UPDATE ${table} SET stock = stock + 1 WHERE price BETWEEN 10 AND 20`);
  await client.run(`DELETE FROM ${table} WHERE id > 150`);
  deepStrictEqual(await client.run(`SELECT sum(stock) FROM ${table}`), [[String(150 * 3 + 10)]]);
  await client.run(`ALTER TABLE ${table} DROP COLUMN made`);
  match(await client.fail(`SELECT made FROM ${table}`), /42703/);
  match(await client.fail(`INSERT INTO ${table} VALUES (1, 'again', 1, 1)`), /23505/);
  for (let round = 0; round < increments; round++) {
    await client.run("UPDATE shared SET value = value + 1 WHERE id = 1");
  }
}

Deno.test("psql, pg, postgres, curl and dbcli use one server at the same time", async () => {
  const programs = await compiledPrograms();
  const server = await startDbd({ binary: programs.dbd });
  const clients: TextClient[] = [];
  try {
    clients.push(await nodePostgres(server), postgresJs(server), dbcli(server, programs.dbcli));
    if (await isInstalled("psql")) clients.push(psql(server));
    else reportNotRun("psql beside the other clients", "psql is not installed");
    if (await isInstalled("curl")) clients.push(curl(server));
    else reportNotRun("curl beside the other clients", "curl is not installed");
    const [first] = clients;
    ok(first);
    await first.run("CREATE TABLE shared (id INT PRIMARY KEY, value BIGINT NOT NULL)");
    await first.run("INSERT INTO shared VALUES (1, 0)");

    await Promise.all(clients.map(useAll));

    for (const [index, client] of clients.entries()) {
      const other = clients[(index + 1) % clients.length];
      ok(other);
      deepStrictEqual(
        await client.run(`SELECT id, label, stock FROM of_${other.name} WHERE price = 12.25`),
        [["12", `row 12 of ${other.name}`, "4"]],
        `${client.name} reads what ${other.name} wrote`,
      );
      deepStrictEqual(
        await client.run("SELECT value AS total FROM shared WHERE id = 1"),
        [[String(clients.length * increments)]],
        "no increment is lost",
      );
    }
    strictEqual((await first.run("SELECT 1 AS one"))[0]?.[0], "1");
  } finally {
    for (const client of clients) await client.close();
    await server.stop();
  }
});
