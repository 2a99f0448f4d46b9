/**
 * The server program as a process: how it starts, what it says when it cannot, how it stops.
 */
import { deepStrictEqual, match, rejects, strictEqual } from "node:assert/strict";
import { connect } from "../../gateways/binary/client.ts";
import { version } from "../../cli/shared/version.ts";
import { untilActive } from "../support/until.ts";
import { projectRoot } from "../../tools/project.ts";

interface Running extends AsyncDisposable {
  readonly address: string;
  readonly http: string | null;
  /** Everything on standard error so far. */
  log(): string;
  stop(signal?: Deno.Signal): Promise<number>;
}

function command(
  parameters: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Deno.Command {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", `${projectRoot}/cli/dbd.ts`, ...parameters],
    env: { NO_COLOR: "1", ...environment },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
}

/** Runs dbd to an end that should come by itself. */
async function run(parameters: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const { code, stdout, stderr } = await command(parameters, environment).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

/** Starts dbd and waits until it is ready. */
async function start(
  parameters: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Running> {
  const child = command(parameters, environment).spawn();
  const stdout = child.stdout.cancel();
  let log = "";
  const ready = Promise.withResolvers<void>();
  const reading = (async () => {
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
      log += text;
      if (/^dbd: ready$/m.test(log)) ready.resolve();
    }
    ready.reject(new Error(`dbd has ended: ${log}`));
  })();
  await ready.promise;
  const address = /^dbd: binary protocol on (\S+)$/m.exec(log)?.[1] ?? "";
  const http = /^dbd: HTTP on (\S+)$/m.exec(log)?.[1] ?? null;
  let hasEnded = false;
  const stop = async (signal: Deno.Signal = "SIGTERM"): Promise<number> => {
    if (!hasEnded) child.kill(signal);
    const { code } = await child.status;
    hasEnded = true;
    await Promise.all([reading, stdout]);
    return code;
  };
  return {
    address,
    http,
    log: () => log,
    stop,
    [Symbol.asyncDispose]: async () => {
      if (!hasEnded) await stop("SIGKILL");
    },
  };
}

async function withDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "dbd-" });
  try {
    await work(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test("dbd --help and --version answer on standard output and end with 0", async () => {
  const [help, shown] = await Promise.all([run(["--help"]), run(["--version"])]);
  deepStrictEqual([help.code, help.stderr], [0, ""]);
  match(help.stdout, /^dbd .*\n\nUsage: dbd \[LISTEN_ADDR\] \[DATA_DIR\]/);
  match(help.stdout, /pg-gateway http-gateway/);
  deepStrictEqual([shown.code, shown.stdout], [0, `dbd ${version}\n`]);
});

Deno.test("dbd ends with 2 and one line when it is called wrongly", () =>
  withDirectory(async (directory) => {
    for (const parameters of [["--htp-addr", "x"], ["0.0.0.0:0", directory], ["nonsense:", directory]]) {
      const { code, stdout, stderr } = await run(parameters);
      deepStrictEqual([code, stdout], [2, ""], parameters.join(" "));
      match(stderr, /^dbd: [^\n]+\n$/);
    }
    deepStrictEqual([...Deno.readDirSync(directory)], []);
  }));

Deno.test("dbd keeps data over a stop by SIGTERM, which ends with 0", () =>
  withDirectory(async (directory) => {
    {
      await using server = await start(["127.0.0.1:0", `${directory}/data`, "--http-addr", "127.0.0.1:0"]);
      await using client = await connect({ address: server.address });
      await client.execute("CREATE TABLE t (id BIGINT PRIMARY KEY); INSERT INTO t VALUES (1), (2)");
      const answer = await fetch(`${server.http}/v1/sql`, {
        method: "POST",
        headers: { "Content-Type": "text/plain" },
        body: "INSERT INTO t VALUES (3)",
      });
      deepStrictEqual(await answer.json(), { status: "ok", affected: 1, id: 3 });
      strictEqual(await server.stop(), 0);
      match(server.log(), /^dbd: SIGTERM: stopping\ndbd: stopped$/m);
    }
    await using server = await start(["127.0.0.1:0", `${directory}/data`]);
    await using client = await connect({ address: server.address });
    deepStrictEqual(await client.query("SELECT id FROM t ORDER BY id"), [{ id: 1 }, { id: 2 }, { id: 3 }]);
    strictEqual(await server.stop("SIGINT"), 0);
  }));

Deno.test("dbd lets a running statement finish when it is stopped", () =>
  withDirectory(async (directory) => {
    await using server = await start(["127.0.0.1:0", directory]);
    await using client = await connect({ address: server.address });
    await using holder = await connect({ address: server.address, reconnectTimeoutMilliseconds: 0 });
    await holder.query("SELECT pg_advisory_lock(7)");
    const running = client.query(
      "SELECT pg_advisory_lock(7), count(*) AS n FROM generate_series(1, 2000000)",
    );
    await untilActive(holder, "generate_series");
    // The stop ends the holder, and what has waited for it goes on.
    strictEqual(await server.stop(), 0);
    strictEqual((await running)[0]?.n, 2_000_000);
  }));

Deno.test("dbd breaks off a statement that takes longer than it has for stopping", () =>
  withDirectory(async (directory) => {
    await using server = await start(["127.0.0.1:0", directory, "--drain-timeout", "0.2"]);
    await using client = await connect({ address: server.address, reconnectTimeoutMilliseconds: 0 });
    const running = client.query("SELECT count(*) FROM generate_series(1, 100000000000)").catch((error) =>
      error
    );
    await using watch = await connect({ address: server.address, reconnectTimeoutMilliseconds: 0 });
    await untilActive(watch, "generate_series");
    strictEqual(await server.stop(), 0);
    match(String((await running as { code: string }).code), /^(57P01|57014|08000)$/);
  }));

Deno.test("dbd refuses a directory that another server uses, and an address that is in use", () =>
  withDirectory(async (directory) => {
    await using server = await start(["127.0.0.1:0", `${directory}/a`]);
    const locked = await run(["127.0.0.1:0", `${directory}/a`]);
    deepStrictEqual([locked.code, locked.stdout], [1, ""]);
    match(locked.stderr, /^dbd: [^\n]*\/a"[^\n]*another server[^\n]*\n$/);
    const taken = await run([server.address, `${directory}/b`]);
    strictEqual(taken.code, 1);
    match(taken.stderr, /^dbd: Cannot listen on 127\.0\.0\.1:\d+ [^\n]*in use[^\n]*\n$/);
    const at = (...flags: string[]) => run([...flags, "127.0.0.1:0", `${directory}/b`]);
    const { port } = new URL(`http://${server.address}`);
    const peers = `127.0.0.1:${port},127.0.0.1:1,127.0.0.1:2`;
    const certificate = `${directory}/certificate`;
    await Deno.writeTextFile(certificate, "none");
    for (
      const failed of [
        await at("--pg-addr", server.address),
        await at("--http-addr", server.address),
        await at("--replica", "0", "--peers", peers, "--pg-addr", server.address),
        await at("--tls-cert", certificate, "--tls-key", certificate),
      ]
    ) {
      strictEqual(failed.code, 1);
      match(failed.stderr, /^dbd: Cannot (listen on 127|use the TLS certificate)[^\n]+\n$/);
    }
    // None of them has left a directory behind.
    await rejects(Deno.stat(`${directory}/b`), Deno.errors.NotFound);
    const damaged = `${directory}/c`;
    await Deno.writeTextFile(damaged, "no directory");
    const refused = await run(["127.0.0.1:0", damaged]);
    strictEqual(refused.code, 1);
    match(refused.stderr, /^dbd: [^\n]+\n$/);
  }));

Deno.test("dbd takes its settings from the environment, and a token from a file", () =>
  withDirectory(async (directory) => {
    await Deno.writeTextFile(`${directory}/token`, "secret\n");
    await using server = await start([
      "127.0.0.1:0",
      `${directory}/data`,
      "--token-file",
      `${directory}/token`,
    ], {
      DB_HTTP_ADDR: "127.0.0.1:0",
    });
    const sql = (headers: Record<string, string>) =>
      fetch(`${server.http}/v1/sql`, {
        method: "POST",
        headers: { "Content-Type": "text/plain", ...headers },
        body: "SELECT 1 AS a",
      });
    const refused = await sql({});
    strictEqual(refused.status, 401);
    await refused.body?.cancel();
    deepStrictEqual(await (await sql({ Authorization: "Bearer secret" })).json(), {
      status: "ok",
      rows: [{ a: 1 }],
    });
    await using client = await connect({ address: server.address, token: "secret" });
    deepStrictEqual(await client.query("SELECT 1 AS a"), [{ a: 1 }]);
    strictEqual(await server.stop(), 0);
  }));
