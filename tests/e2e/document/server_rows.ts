/** Sections 2, 4, 7 and 8 of the document: external sources, the server program, limits. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import pg from "pg";
import { runProgram } from "../../support/programs.ts";
import { answers, ask, type DocumentRow, type DocumentServer, refuses } from "./row.ts";

/** Answers each path with one of these bodies, until it is disposed. */
function serve(bodies: Readonly<Record<string, string>>) {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => undefined }, (request) => {
    const body = bodies[new URL(request.url).pathname];
    return new Response(body ?? "", { status: body === undefined ? 404 : 200 });
  });
  return { port: server.addr.port, [Symbol.asyncDispose]: () => server.shutdown() };
}

function refreshes(format: string, body: string): DocumentRow {
  return {
    name: `FORMAT ${format} over http`,
    check: async (server) => {
      await using source = serve({ "/data": body });
      const name = `doc_src_${format.toLowerCase()}`;
      const rows = format === "JSON" ? " ROWS 'items'" : "";
      const create = await ask(
        server,
        `CREATE EXTERNAL SOURCE ${name} (id I64 NOT NULL, v TEXT) FROM 'http://127.0.0.1:${source.port}/data' ` +
          `FORMAT ${format} KEY id${rows}`,
      );
      strictEqual(create.status, 200, JSON.stringify(create.body));
      const refresh = await ask(server, `REFRESH ${name}`);
      strictEqual(refresh.status, 200, JSON.stringify(refresh.body));
      deepStrictEqual((await ask(server, `SELECT id, v FROM ${name} ORDER BY id`)).body.rows, [
        { id: 1, v: "a" },
        { id: 2, v: null },
      ]);
    },
  };
}

/** External sources. */
export const EXTERNAL_ROWS: readonly DocumentRow[] = [
  refreshes("JSON", '{"items":[{"id":1,"v":"a"},{"id":2,"v":null}]}'),
  refreshes("NDJSON", '{"id":1,"v":"a"}\n{"id":2}\n'),
  refreshes("CSV", "id,v\r\n1,a\r\n2,\r\n"),
  refuses(
    "an unknown format has a hint",
    "CREATE EXTERNAL SOURCE s (id I64) FROM 'https://example.org/x' FORMAT CVS KEY id",
    { code: "42601", hint: /CSV/ },
  ),
  refuses(
    "an unknown scheme",
    "CREATE EXTERNAL SOURCE s (id I64) FROM 'ftp://example.org/x' FORMAT CSV KEY id",
    { code: "22023", message: /ftp/ },
  ),
  answers(
    "s3:// with FORMAT PARQUET",
    "CREATE EXTERNAL SOURCE doc_s3 (id I64) FROM 's3://bucket/key.parquet' FORMAT PARQUET KEY id " +
      "AUTH S3 KEYID ENV 'DOC_KEY' SECRET ENV 'DOC_SECRET' REGION 'eu-central-1'",
    { status: "ok" },
  ),
  answers(
    "az:// with FORMAT PARQUET",
    "CREATE EXTERNAL SOURCE doc_az (id I64) FROM 'az://container/blob.parquet' FORMAT PARQUET KEY id " +
      "AUTH AZURE ACCOUNT 'a' KEY ENV 'DOC_KEY'",
    { status: "ok" },
  ),
  {
    name: "an AUTH variable that is not set fails REFRESH by name",
    check: async (server) => {
      const { status, body } = await ask(server, "REFRESH doc_s3");
      strictEqual(status >= 400, true);
      match(String(body.message), /DOC_KEY/);
    },
  },
  answers("DROP EXTERNAL SOURCE", "DROP EXTERNAL SOURCE doc_s3", { status: "ok" }),
];

/** A row about how the program starts: exit code and what it says. */
function starts(
  name: string,
  parameters: readonly string[],
  expected: {
    readonly code: number;
    readonly says: RegExp;
    readonly environment?: Readonly<Record<string, string>>;
  },
): DocumentRow {
  return {
    name,
    check: async ({ dbd }) => {
      const folder = await Deno.makeTempDir();
      try {
        const { environment = {} } = expected;
        const { code, stdout, stderr } = await runProgram(dbd, parameters, {
          directory: folder,
          environment,
        });
        strictEqual(code, expected.code, stderr);
        match(stdout + stderr, expected.says);
        ok(!/\n {4}at /.test(stderr), "no stack trace");
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    },
  };
}

/** The server program. */
export const PROGRAM_ROWS: readonly DocumentRow[] = [
  starts("--version", ["--version"], { code: 0, says: /^dbd \d+\.\d+\.\d+/ }),
  starts("--help names the default address", ["--help"], { code: 0, says: /127\.0\.0\.1:7878/ }),
  starts("an unknown flag", ["--nonsense"], { code: 2, says: /--nonsense/ }),
  starts("an unknown DB_ variable", [], { code: 2, says: /DB_NONSENSE/, environment: { DB_NONSENSE: "1" } }),
  starts("no token on an address that others reach", ["0.0.0.0:0"], { code: 2, says: /token|--allow-open/ }),
  {
    name: "an address that is in use",
    check: async ({ dbd, address }) => {
      const folder = await Deno.makeTempDir();
      try {
        const { code, stderr } = await runProgram(dbd, [address, `${folder}/data`]);
        strictEqual(code, 1);
        match(stderr, /in use/);
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    },
  },
];

function psql({ pgPort, ca, token }: DocumentServer, mode: string) {
  const target =
    `host=localhost port=${pgPort} user=x dbname=x sslmode=${mode} sslrootcert=${ca} connect_timeout=10`;
  const sql = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
  return runProgram("psql", ["-X", "-A", "-t", target, "-c", sql], { environment: { PGPASSWORD: token } });
}

/** Transport encryption. */
export const TLS_ROWS: readonly DocumentRow[] = [
  {
    name: "HTTPS on http_tls_addr",
    needs: "curl",
    check: async ({ https, ca }) => {
      const { code, stdout } = await runProgram("curl", ["-sS", "--cacert", ca, `${https}/v1/health`]);
      strictEqual(code, 0);
      match(stdout, /"status":"ok"/);
    },
  },
  {
    name: "HTTPS without trust is refused by the client",
    needs: "curl",
    check: async ({ https }) =>
      strictEqual((await runProgram("curl", ["-sS", `${https}/v1/health`])).code, 60),
  },
  ...["disable", "prefer", "require", "verify-ca", "verify-full"].map((mode): DocumentRow => ({
    name: `PG with sslmode=${mode}`,
    needs: "psql",
    check: async (server) => {
      const { code, stdout, stderr } = await psql(server, mode);
      strictEqual(code, 0, stderr);
      strictEqual(stdout.trim(), mode === "disable" ? "f" : "t");
    },
  })),
  {
    name: "dbcli --tls-ca",
    check: async ({ dbcli, address, ca, token }) => {
      const local = address.replace("127.0.0.1", "localhost");
      const parameters = ["--addr", local, "--token", token, "--tls-ca", ca, "--json", "SELECT 1 AS a"];
      const { code, stdout, stderr } = await runProgram(dbcli, parameters);
      strictEqual(code, 0, stderr);
      deepStrictEqual(JSON.parse(stdout), { status: "ok", rows: [{ a: 1 }] });
    },
  },
];

/** Limits. */
export const LIMIT_ROWS: readonly DocumentRow[] = [
  {
    name: "PG connections over the cap: 53300",
    check: async ({ pgPort, token }: DocumentServer) => {
      const clients: pg.Client[] = [];
      let code: unknown = null;
      try {
        // The server of this test has a cap of 16.
        for (let count = 0; count < 17; count++) {
          const client = new pg.Client({
            host: "127.0.0.1",
            port: pgPort,
            user: "x",
            database: "x",
            password: token,
          });
          client.on("error", () => undefined);
          await client.connect();
          clients.push(client);
        }
      } catch (error) {
        code = (error as { code?: string }).code;
      } finally {
        await Promise.all(clients.map((client) => client.end()));
      }
      strictEqual(code, "53300");
    },
  },
  {
    name: "PG idle timeout: 57014",
    check: async ({ pgPort, token }: DocumentServer) => {
      // The server of this test ends idle sessions after 2 seconds.
      const client = new pg.Client({
        host: "127.0.0.1",
        port: pgPort,
        user: "x",
        database: "x",
        password: token,
      });
      const ended = Promise.withResolvers<unknown>();
      client.on("error", (error: Error & { code?: string }) => ended.resolve(error.code));
      await client.connect();
      strictEqual(await ended.promise, "57014");
    },
  },
];
