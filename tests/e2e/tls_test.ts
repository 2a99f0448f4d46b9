/**
 * TLS of the compiled server with real clients: every `sslmode` of psql, libpq by psycopg, JDBC, `pg`, `postgres`,
 * curl, a WebSocket, dbcli, lang deploy and the library; and a certificate that is replaced while the server runs.
 */
import { deepStrictEqual as same, match, rejects, strictEqual as equal } from "node:assert/strict";
import pg from "pg";
import postgres from "postgres";
import { WebSocket } from "ws";
import { ensureDevelopmentCertificate } from "../../gateways/tls/development_certificate.ts";
import { connect } from "../../mod.ts";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { isInstalled, reportNotRun } from "../../tools/not_run.ts";
import { type DbdPeer, startDbd } from "../bench/peers/dbd.ts";
import { outputOf, type ProgramResult, runProgram } from "../support/programs.ts";

const TOKEN = "secret";
const QUESTION = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
const JDBC = "/usr/share/java/postgresql.jar";

/** Where the authority of a server with `--dev-tls` is. */
const authorityOf = (server: DbdPeer): string => `${server.directory}/tls/ca.pem`;

function psql(server: DbdPeer, connection: string): Promise<ProgramResult> {
  return runProgram("psql", [
    "-X",
    "-Atc",
    QUESTION,
    `host=localhost port=${server.port} user=test password=${TOKEN} ${connection}`,
  ]);
}

/** `t` encrypted, `f` in clear text, `-` refused. */
async function modesOf(server: DbdPeer, rootCertificate: string): Promise<string> {
  const modes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];
  const answers = await Promise.all(
    modes.map((mode) =>
      psql(server, `sslmode=${mode}${mode.startsWith("verify") ? ` sslrootcert=${rootCertificate}` : ""}`)
    ),
  );
  return answers.map(({ code, stdout }) => code === 0 ? stdout.trim() : "-").join(" ");
}

Deno.test("psql gets what it asks for with every sslmode, and channel binding", async () => {
  if (!await isInstalled("psql")) return reportNotRun("psql over TLS", "psql is not installed");
  const { dbd } = await compiledPrograms();
  const flags = ["--token", TOKEN];
  const servers = await Promise.all([
    startDbd({ binary: dbd, tls: true, flags }),
    startDbd({ binary: dbd, flags }),
    startDbd({ binary: dbd, tls: true, flags: [...flags, "--tls-required"] }),
  ]);
  try {
    const [both, plain, required] = servers;
    same(
      [
        await modesOf(both, authorityOf(both)),
        await modesOf(plain, authorityOf(both)),
        await modesOf(required, authorityOf(required)),
      ],
      ["f f t t t t", "f f f - - -", "- t t t t t"],
    );
    const wrong = await psql(both, `sslmode=verify-full sslrootcert=${authorityOf(required)}`);
    match(wrong.stderr, /certificate verify failed/);
    const root = `sslrootcert=${authorityOf(both)}`;
    equal((await psql(both, `sslmode=verify-full ${root} channel_binding=require`)).stdout, "t\n");
    equal((await psql(both, `sslmode=disable channel_binding=require`)).code, 2);
    match(
      (await psql(both, "sslmode=require ssl_max_protocol_version=TLSv1.1 ssl_min_protocol_version=TLSv1.1"))
        .stderr,
      /alert|unsupported protocol|no protocols available/,
    );
    match(
      (await psql(required, "sslmode=disable")).stderr,
      /no encryption: the server refuses user "test" in clear text/,
    );

    // A pair that is replaced is used for the connections after SIGHUP; half of one never.
    const other = ensureDevelopmentCertificate(`${both.directory}/other`, new Date());
    const own = `${both.directory}/tls`;
    Deno.copyFileSync(other.certificatePath, `${own}/server.pem`);
    Deno.kill(both.processId, "SIGHUP");
    equal((await psql(both, `sslmode=verify-full ${root}`)).stdout, "t\n");
    Deno.copyFileSync(other.keyPath, `${own}/server.key`);
    Deno.kill(both.processId, "SIGHUP");
    const renewed = `sslmode=verify-full sslrootcert=${other.authorityPath}`;
    for (let tries = 0; (await psql(both, renewed)).code !== 0 && tries < 50; tries++);
    equal((await psql(both, renewed)).stdout, "t\n");
    match((await psql(both, `sslmode=verify-full ${root}`)).stderr, /certificate verify failed/);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
});

const PSYCOPG = `
import sys, psycopg
c = psycopg.connect(sys.argv[1])
print(c.execute(sys.argv[2]).fetchone()[0], c.pgconn.ssl_in_use)
`;
const JAVA = `
import java.sql.*;
public class Main {
  public static void main(String[] a) throws Exception {
    try (Connection c = DriverManager.getConnection(a[0]); ResultSet r = c.createStatement().executeQuery(a[1])) {
      r.next(); System.out.println(r.getBoolean(1));
    }
  }
}
`;

/** Runs the JDBC driver with its full check. */
async function askByJdbc(server: DbdPeer, sslrootcert: string): Promise<ProgramResult> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/Main.java`, JAVA);
    return await runProgram("java", [
      "-cp",
      JDBC,
      `${folder}/Main.java`,
      `jdbc:postgresql://localhost:${server.port}/test?user=test&password=${TOKEN}&sslmode=verify-full&sslrootcert=${sslrootcert}`,
      QUESTION,
    ]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("JDBC, psycopg, pg, postgres, curl, a WebSocket, dbcli, lang deploy and connect() check the server and are encrypted", async () => {
  const programs = await compiledPrograms();
  const server = await startDbd({
    binary: programs.dbd,
    tls: true,
    flags: ["--token", TOKEN, "--http-tls-addr", "127.0.0.1:0"],
  });
  try {
    const path = authorityOf(server);
    const ca = await Deno.readTextFile(path);
    const { port, httpsPort, binaryPort } = server;
    const others: Promise<void>[] = [];
    if (await isInstalled("javac") && await Deno.stat(JDBC).then(() => true, () => false)) {
      others.push(askByJdbc(server, path).then(({ stdout, stderr }) => equal(stdout + stderr, "true\n")));
    } else reportNotRun("JDBC over TLS", "a JDK or libpostgresql-jdbc-java is not installed");
    const python = "/usr/bin/python3";
    if ((await runProgram(python, ["-c", "import psycopg"]).catch(() => null))?.code === 0) {
      const connection =
        `host=localhost port=${port} user=test password=${TOKEN} sslmode=verify-full sslrootcert=${path} channel_binding=require`;
      others.push(
        outputOf(python, ["-c", PSYCOPG, connection, QUESTION]).then((text) => equal(text, "True True\n")),
      );
    } else reportNotRun("psycopg over TLS", "python3-psycopg is not installed");
    if (await isInstalled("curl")) {
      const url = `https://localhost:${httpsPort}/v1/health`;
      match(await outputOf("curl", ["-sS", "--cacert", path, url]), /"status":"ok"/);
      match((await runProgram("curl", ["-sS", url])).stderr, /certificate/);
    } else reportNotRun("curl over TLS", "curl is not installed");

    const node = new pg.Client({
      host: "localhost",
      port,
      user: "test",
      password: TOKEN,
      database: "test",
      ssl: { ca, servername: "localhost" },
      enableChannelBinding: true,
    });
    await node.connect();
    same((await node.query(QUESTION)).rows, [{ ssl: true }]);
    await node.end();
    const stranger = new pg.Client({ host: "localhost", port, user: "test", password: TOKEN, ssl: true });
    await rejects(stranger.connect(), /certificate/);
    const sql = postgres({
      host: "localhost",
      port,
      username: "test",
      password: TOKEN,
      database: "test",
      max: 1,
      fetch_types: false,
      ssl: { ca, servername: "localhost" },
    });
    same([...await sql.unsafe(QUESTION)].map((row) => row.ssl), [true]);
    await sql.end();

    const webSocket = new WebSocket(`wss://localhost:${httpsPort}/v1/ws`, "db-op-v1", {
      ca,
      headers: { Authorization: `Bearer ${TOKEN}` },
    });
    await new Promise((resolve, reject) => webSocket.once("open", resolve).once("error", reject));
    await new Promise((resolve) => webSocket.once("close", resolve).close());

    const client = await connect({ address: `localhost:${binaryPort}`, token: TOKEN, tls: { ca } });
    same(await client.query(QUESTION), [{ ssl: true }]);
    await client.close();
    const dbcli = (address: string, ...parameters: readonly string[]): Promise<ProgramResult> =>
      runProgram(programs.dbcli, [...parameters, "--token", TOKEN, "--addr", address, "--json", QUESTION]);
    const [trusting, distrusting, clear, misnamed] = await Promise.all([
      dbcli(`localhost:${binaryPort}`, "--tls-ca", path),
      dbcli(`localhost:${binaryPort}`, "--tls"),
      dbcli(`localhost:${server.httpPort}`, "--tls"),
      dbcli(`localhost:${binaryPort}`, "--tls-ca", path, "--tls-server-name", "db.example"),
    ]);
    match(trusting.stdout, /"ssl":true/);
    same([distrusting.code, clear.code, misnamed.code], [1, 1, 1]);
    match(distrusting.stdout, /not signed by an authority that is trusted here/);
    match(clear.stdout, /does not speak TLS there/);
    match(misnamed.stdout, /its certificate is for DNS:localhost, .*, not for db\.example/);
    await Promise.all(others);

    const folder = await Deno.makeTempDir({ prefix: "tls-deploy-" });
    try {
      await outputOf(programs.lang, ["new", "--template", "db-function", `${folder}/pack`]);
      const deploy = (...parameters: readonly string[]): Promise<ProgramResult> =>
        runProgram(programs.lang, [
          "deploy",
          `${folder}/pack`,
          "--db",
          `localhost:${binaryPort}`,
          "--token",
          TOKEN,
          ...parameters,
        ]);
      const [trusted, unknown, absent] = await Promise.all([
        deploy("--tls-ca", path),
        deploy("--tls"),
        deploy("--tls-ca", `${folder}/none.pem`),
      ]);
      match(trusted.stdout, /^deployed \d+ functions? to localhost:\d+/m);
      match(
        unknown.stderr,
        /Cannot deploy to localhost:\d+: .*not signed by an authority that is trusted here/,
      );
      match(absent.stderr, /Cannot use TLS: cannot read ".*none\.pem" of --tls-ca/);
      same([trusted.code, unknown.code, absent.code], [0, 1, 2]);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }

    const bad = await runProgram(programs.dbd, [
      "127.0.0.1:0",
      ":memory:",
      "--tls-cert",
      path,
      "--tls-key",
      path,
    ]);
    same([bad.code, bad.stdout], [1, ""]);
    match(
      bad.stderr,
      /^dbd: Cannot use the TLS certificate .*: the key file holds no private key in PEM form\n$/,
    );
  } finally {
    await server.stop();
  }
});
