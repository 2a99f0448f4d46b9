/**
 * Shards of real programs: dbcli where a shard does not answer, and a server one of whose threads has an error that
 * nobody catches.
 */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { startBinaryServer } from "../../gateways/binary/server.ts";
import { TestClient } from "../../engine/statements/copy/client_for_test.ts";
import { projectRoot } from "../../tools/project.ts";
import { DeafShards } from "../sharding/deaf_shards.ts";
import { brokenThreads } from "../support/broken_threads.ts";
import { connectPg } from "../support/clients.ts";
import { type ProgramResult, runProgram } from "../support/programs.ts";

Deno.test("dbcli is told which shard is late, or shows the others' rows and a warning", async () => {
  const shards = new DeafShards();
  const engine = await shards.open();
  await TestClient.over(engine).run(
    "CREATE TABLE t (id INT PRIMARY KEY)",
    "INSERT INTO t SELECT generate_series(1, 400)",
  );
  const server = await startBinaryServer({
    engine,
    address: { hostname: "127.0.0.1", port: 0 },
    token: null,
    version: "0.0.0",
  });
  const address = `127.0.0.1:${server.address.port}`;
  const dbcli = (input: string, ...parameters: readonly string[]): Promise<ProgramResult> =>
    runProgram(Deno.execPath(), [
      "run",
      "-A",
      `${projectRoot}/cli/dbcli.ts`,
      "--addr",
      address,
      ...parameters,
    ], {
      input,
    });
  try {
    shards.deaf.add(2);
    const late = await dbcli("SET scatter_timeout = 1000;\nSELECT count(*) FROM t;\n");
    match(late.stderr, /shard 2 did not answer within 1000 ms/);
    ok(late.code !== 0);
    const fetching = await dbcli("SET scatter_timeout = 1000;\nDELETE FROM t;\n");
    match(fetching.stderr, /shard 2 did not answer within 1000 ms/);
    const partial = await dbcli(
      "SET scatter_timeout = 1000;\nSET partial_on_timeout = on;\nSELECT count(*) FROM t;\n",
    );
    strictEqual(partial.code, 0, partial.stderr);
    match(partial.stderr, /WARNING.*lacks the rows of shard 2\b/i);
    const count = Number(/(\d+)\s*$/.exec(partial.stdout)?.[1]);
    ok(count > 200 && count < 400, partial.stdout);
  } finally {
    shards.wake();
    await server.close(0);
    await engine.close();
  }
});

/** A server from the sources. */
class Server {
  readonly child: Deno.ChildProcess;
  log = "";
  readonly #logged: Promise<void>;

  constructor(directory: string, runtime: readonly string[] = []) {
    this.child = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        ...runtime,
        `${projectRoot}/cli/dbd.ts`,
        "--pg-addr",
        "127.0.0.1:0",
        "--shards",
        "4",
        "127.0.0.1:0",
        `${directory}/data`,
      ],
      stdin: "null",
      stdout: "null",
      stderr: "piped",
      env: { NO_COLOR: "1" },
    }).spawn();
    this.#logged = this.#readLog(this.child.stderr);
  }

  async #readLog(stderr: Deno.ChildProcess["stderr"]): Promise<void> {
    for await (const text of stderr.pipeThrough(new TextDecoderStream())) this.log += text;
  }

  async port(): Promise<number> {
    while (!this.log.includes("dbd: ready")) {
      ok(await Promise.race([this.child.status.then(() => false), pause().then(() => true)]), this.log);
    }
    return Number(/PostgreSQL protocol on \S+:(\d+)/.exec(this.log)?.[1]);
  }

  /** Waits for its end; answers its code. */
  async end(): Promise<number> {
    const { code } = await this.child.status;
    await this.#logged;
    return code;
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10));
}

Deno.test("an error that nobody catches in a shard's thread ends the server with one line, and a restart has everything", async () => {
  const directory = await Deno.makeTempDir({ prefix: "shards-" });
  await Deno.writeTextFile(`${directory}/preload.ts`, brokenThreads(directory));
  let server = new Server(directory, ["--preload", `${directory}/preload.ts`]);
  try {
    const client = await connectPg({ host: "127.0.0.1", port: await server.port() });
    await client.query("CREATE TABLE t (id INT PRIMARY KEY, v INT NOT NULL)");
    await client.query("INSERT INTO t SELECT n, 10 FROM generate_series(1, 40) n");
    let acknowledged = 0;
    const writing = (async () => {
      // Each moves something between rows of several shards.
      for (;;) {
        try {
          await client.query(
            "UPDATE t SET v = CASE WHEN id <= 20 THEN v - 1 ELSE v + 1 END WHERE id IN (1, 2, 3, 4, 21, 22, 23, 24)",
          );
        } catch {
          return;
        }
        if (++acknowledged === 5) await Deno.writeTextFile(`${directory}/shard-2`, "");
      }
    })();
    const code = await server.end();
    await writing;
    await client.close();
    strictEqual(code, 1);
    const said = server.log.split("\n").slice(server.log.split("\n").indexOf("dbd: ready") + 1).filter((
      line,
    ) => line !== "");
    deepStrictEqual(said.length, 1, server.log);
    match(said[0] ?? "", /^dbd: .*shard 2 has ended: .*planted in a thread/);
    server = new Server(directory);
    const again = await connectPg({ host: "127.0.0.1", port: await server.port() });
    const [row] = await again.query(
      "SELECT sum(v)::int AS sum, 10 - min(v) AS moved, count(*)::int AS count FROM t",
    );
    deepStrictEqual([row?.sum, row?.count], [400, 40]);
    ok(acknowledged >= 5);
    const moved = Number(row?.moved);
    ok(moved === acknowledged || moved === acknowledged + 1, `${moved} of ${acknowledged}`);
    await again.query("UPDATE t SET v = 0");
    await again.close();
  } finally {
    try {
      server.child.kill("SIGTERM");
    } catch {
      // It has ended.
    }
    await server.end();
    await Deno.remove(directory, { recursive: true });
  }
});
