/** Sections 4 and 5 of the document: PostgreSQL's protocol and the binary one. */
import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import pg from "pg";
import { connect } from "../../../gateways/binary/client.ts";
import { outputOf, runProgram } from "../../support/programs.ts";
import type { DocumentRow, DocumentServer } from "./row.ts";

async function withPg(server: DocumentServer, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({
    host: "127.0.0.1",
    port: server.pgPort,
    user: "anybody",
    database: "anything",
    password: server.token,
  });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

function pgRow(name: string, work: (client: pg.Client) => Promise<void>): DocumentRow {
  return { name, check: (server) => withPg(server, work) };
}

/**
 * Types whose binary form the document asks for, with a value as text and as node-postgres reads it. It takes the bytes
 * for UTF-8 before it decodes them, so none of these has a byte above 127.
 */
const BINARY_TYPES: readonly (readonly [type: string, text: string, value: unknown])[] = [
  ["int2", "2", 2],
  ["int4", "3", 3],
  ["int8", "4", "4"],
  ["float4", "0.5", 0.5],
  ["float8", "2", 2],
  ["bool", "t", true],
  ["text", "t", "t"],
  ["varchar", "v", "v"],
];

/** PostgreSQL's protocol. */
export const PG_ROWS: readonly DocumentRow[] = [
  pgRow("Simple Query", async (client) => {
    deepStrictEqual((await client.query("SELECT 1 AS a")).rows, [{ a: 1 }]);
  }),
  pgRow("Extended Query", async (client) => {
    deepStrictEqual((await client.query("SELECT $1::int + 1 AS a", [1])).rows, [{ a: 2 }]);
  }),
  pgRow("named statements", async (client) => {
    const query = { name: "doc", text: "SELECT $1::text AS a" };
    deepStrictEqual((await client.query({ ...query, values: ["x"] })).rows, [{ a: "x" }]);
    deepStrictEqual((await client.query({ ...query, values: ["y"] })).rows, [{ a: "y" }]);
  }),
  ...BINARY_TYPES.map(([type, text, value]) =>
    pgRow(`binary result of ${type}`, async (client) => {
      const query: pg.QueryConfig & { binary: true } = {
        text: `SELECT $1::${type} AS a`,
        values: [text],
        binary: true,
      };
      const found: unknown = (await client.query(query)).rows[0]?.a;
      deepStrictEqual(typeof found === "bigint" ? String(found) : found, value);
    })
  ),
  pgRow("binary parameter of bytea", async (client) => {
    const { rows } = await client.query("SELECT $1::bytea AS a", [Uint8Array.of(0, 255)]);
    deepStrictEqual([...rows[0].a], [0, 255]);
  }),
  pgRow("binary parameter of timestamptz", async (client) => {
    const { rows } = await client.query("SELECT $1::timestamptz AS a", [new Date(1e12)]);
    strictEqual(rows[0].a.getTime(), 1e12);
  }),
  {
    name: "SCRAM-SHA-256: the token is the password",
    check: async ({ pgPort }) => {
      const client = new pg.Client({
        host: "127.0.0.1",
        port: pgPort,
        user: "x",
        database: "x",
        password: "wrong",
      });
      await rejects(client.connect(), (error: { code?: string }) => error.code === "28P01");
    },
  },
  pgRow("catalogs of pg_catalog and information_schema", async (client) => {
    const { rows } = await client.query(
      "SELECT c.relname FROM pg_catalog.pg_class c JOIN information_schema.tables t ON t.table_name = c.relname " +
        "WHERE c.relname = 'doc'",
    );
    deepStrictEqual(rows, [{ relname: "doc" }]);
  }),
  pgRow("a RowDescription for probes", async (client) => {
    const { fields } = await client.query("SELECT 1::int8, version()");
    deepStrictEqual(fields.map(({ name }) => name), ["int8", "version"]);
  }),
  ...(["text", "csv", "binary"] as const).map((format): DocumentRow => ({
    name: `COPY TO STDOUT and FROM STDIN, ${format}`,
    needs: "psql",
    check: async (server) => {
      const environment = { PGPASSWORD: server.token, PGCONNECT_TIMEOUT: "10" };
      const parameters = ["-X", "-q", "-h", "127.0.0.1", "-p", String(server.pgPort), "-U", "x", "-d", "x"];
      const folder = await Deno.makeTempDir();
      try {
        const table = `doc_copy_${format}`;
        const script = [
          `CREATE TABLE ${table} (a int, b text);`,
          `INSERT INTO ${table} VALUES (1, E'x,"y"\\n'), (2, NULL);`,
          `\\copy ${table} TO '${folder}/data' (FORMAT ${format})`,
          `\\copy ${table} FROM '${folder}/data' (FORMAT ${format})`,
          `SELECT count(*), count(b), max(b) = E'x,"y"\\n' FROM ${table};`,
        ].join("\n");
        const output = await outputOf("psql", [...parameters, "-A", "-t", "-v", "ON_ERROR_STOP=1"], {
          input: script,
          environment,
        });
        strictEqual(output.trim(), "4|2|t");
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    },
  })),
  pgRow("RETURNING", async (client) => {
    await client.query("CREATE TABLE doc_ret (id serial PRIMARY KEY, v text)");
    deepStrictEqual((await client.query("INSERT INTO doc_ret (v) VALUES ('a') RETURNING id")).rows, [{
      id: 1,
    }]);
  }),
  pgRow("CancelRequest", async (client) => {
    const sleeping = client.query("SELECT pg_sleep(30)");
    const { processID, secretKey } = client as unknown as { processID: number; secretKey: number };
    const stopped = rejects(sleeping, (error: { code?: string }) => error.code === "57014");
    const message = new DataView(new ArrayBuffer(16));
    message.setInt32(0, 16);
    message.setInt32(4, 80877102);
    message.setInt32(8, processID);
    message.setInt32(12, secretKey);
    using connection = await Deno.connect({ hostname: "127.0.0.1", port: client.port });
    await connection.write(new Uint8Array(message.buffer));
    await stopped;
  }),
  pgRow("settings", async (client) => {
    await client.query("SET application_name = 'doc'");
    deepStrictEqual((await client.query("SHOW application_name")).rows, [{ application_name: "doc" }]);
  }),
];

/** The binary protocol. */
export const BINARY_ROWS: readonly DocumentRow[] = [
  {
    name: "the token is proved by challenge and response",
    check: async ({ address, token }) => {
      await using client = await connect({ address, token });
      deepStrictEqual(await client.query("SELECT 1 AS a"), [{ a: 1 }]);
      await rejects(async () => {
        await using other = await connect({ address, token: "wrong" });
        await other.query("SELECT 1");
      });
    },
  },
  {
    name: "requests are pipelined",
    check: async ({ address, token }) => {
      await using client = await connect({ address, token });
      const results = await Promise.all([1, 2, 3].map((n) => client.query(`SELECT ${n} AS a`)));
      deepStrictEqual(results.map(([row]) => row?.a), [1, 2, 3]);
    },
  },
  {
    name: "a foreign key that has no parent: 23503",
    check: async ({ address, token }) => {
      await using client = await connect({ address, token });
      await rejects(
        () => client.query("INSERT INTO doc_c VALUES (99)"),
        (error: { code?: string }) => error.code === "23503",
      );
    },
  },
];

function dbcli(server: DocumentServer, parameters: readonly string[], input?: string) {
  return runProgram(server.dbcli, ["--addr", server.address, "--token", server.token, ...parameters], {
    ...(input === undefined ? {} : { input }),
  });
}

/** The command-line client. */
export const CLIENT_ROWS: readonly DocumentRow[] = [
  {
    name: "one-shot: an aligned table and a row count line",
    check: async (server) => {
      const { code, stdout } = await dbcli(server, ["SELECT k, v FROM doc_l WHERE k < 3 ORDER BY k"]);
      strictEqual(code, 0);
      match(stdout, /k +.*v[\s\S]*1[\s\S]*a[\s\S]*2 rows/);
    },
  },
  {
    name: "aggregates print = value",
    check: async (server) =>
      strictEqual((await dbcli(server, ["SELECT count(*) FROM doc_p"])).stdout, "= 3\n"),
  },
  {
    name: "DESCRIBE prints name, columns, types and NULL flags",
    check: async (server) =>
      match(
        (await dbcli(server, ["DESCRIBE doc_l"])).stdout,
        /doc_l[\s\S]*k +bigint +YES[\s\S]*v +text +YES/,
      ),
  },
  {
    name: "pipe: statements, comments with # and --, blank lines",
    check: async (server) => {
      const { code, stdout } = await dbcli(
        server,
        [],
        "# a comment\n\n-- another\nSELECT count(*) FROM doc_p;\n",
      );
      deepStrictEqual({ code, stdout }, { code: 0, stdout: "= 3\n" });
    },
  },
  {
    name: "--json",
    check: async (server) => {
      const { stdout } = await dbcli(server, ["--json", "SELECT 1 AS a"]);
      deepStrictEqual(JSON.parse(stdout), { status: "ok", rows: [{ a: 1 }] });
    },
  },
  {
    name: "--addrs",
    check: async (server) => {
      const list = `127.0.0.1:1,${server.address}`;
      const { code, stdout } = await runProgram(server.dbcli, [
        "--addrs",
        list,
        "--token",
        server.token,
        "SELECT 1 AS a",
      ]);
      strictEqual(code, 0, stdout);
    },
  },
  {
    name: "exit code 1: a statement that fails",
    check: async (server) => {
      const { code, stderr } = await dbcli(server, ["SELECT * FROM docc"]);
      strictEqual(code, 1);
      ok(/docc/.test(stderr) && !/\bat .*\.ts/.test(stderr), stderr);
    },
  },
  {
    name: "exit code 1: no connection",
    check: async ({ dbcli: program }) =>
      strictEqual((await runProgram(program, ["--addr", "127.0.0.1:1", "SELECT 1"])).code, 1),
  },
  {
    name: "exit code 2: bad usage",
    check: async (server) => strictEqual((await dbcli(server, ["--nonsense"])).code, 2),
  },
];
