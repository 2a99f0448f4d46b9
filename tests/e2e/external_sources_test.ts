/**
 * External sources on the real server: through each protocol, stopped from outside, while others are served, and
 * killed in the middle. Twenty kills are in `deno task soak:refresh`.
 */
import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import pg from "pg";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { run } from "../../tools/project.ts";
import { startDbd } from "../bench/peers/dbd.ts";
import { connectPg } from "../support/clients.ts";
import { until } from "../support/until.ts";
import { killDuringRefresh } from "./refresh_kills.ts";

const rows = 100_000;

/** A source with a sound page, one that never ends, and how many wait for it. */
function startSource() {
  let waiting = 0;
  const list = Array.from({ length: rows }, (_, id) => `{"id":${id},"body":"row ${id}"}`);
  const body = `[${list.join(",")}]`;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => undefined }, (request) => {
    if (new URL(request.url).pathname === "/rows") return new Response(body);
    waiting++;
    const stream = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode("[")),
      cancel: () => void waiting--,
    });
    return new Response(stream);
  });
  return { server, address: `127.0.0.1:${server.addr.port}`, waiting: () => waiting };
}

Deno.test("REFRESH is served by all protocols, stopped from outside, and holds nobody up", async () => {
  const { dbd: binary, dbcli } = await compiledPrograms();
  const source = startSource();
  const { address } = source;
  const dbd = await startDbd({ binary, flags: ["--external-allow", address] });
  const other = await connectPg(dbd);
  try {
    await other.query(
      `CREATE EXTERNAL SOURCE p (id BIGINT, body TEXT) FROM 'http://${address}/rows' FORMAT JSON KEY id`,
    );
    await other.query(
      `CREATE EXTERNAL SOURCE slow (id BIGINT) FROM 'http://${address}/slow' FORMAT JSON KEY id`,
    );
    await other.query(
      "CREATE EXTERNAL SOURCE refused (id BIGINT) FROM 'http://localhost:1/' FORMAT JSON KEY id",
    );
    // Others are served meanwhile.
    const waits: number[] = [];
    let ended = false;
    const looking = (async () => {
      while (!ended) {
        const from = performance.now();
        await other.query("SELECT 1");
        waits.push(performance.now() - from);
      }
    })();
    const sql = (text: string) =>
      fetch(`http://127.0.0.1:${dbd.httpPort}/v1/sql`, {
        method: "POST",
        headers: { "content-type": "text/plain" },
        body: text,
      });
    const answered = await sql("REFRESH p");
    ended = true;
    await looking;
    deepStrictEqual([answered.status, await answered.json()], [200, { status: "ok", affected: rows }]);
    waits.sort((left, right) => left - right);
    ok(waits.length > 10, `${waits.length} queries meanwhile`);
    // Generous, for the machine may be busy; most of them come at once.
    ok((waits.at(-1) ?? 0) < 10_000 && (waits[waits.length >> 1] ?? 0) < 1000, `${waits} ms`);
    deepStrictEqual(await other.query("SELECT count(*)::int AS n, max(body) AS m FROM p"), [{
      n: rows,
      m: "row 99999",
    }]);
    // Refusals and failures, with their statuses.
    const refused = await sql("REFRESH refused");
    const failure = await refused.json();
    deepStrictEqual([refused.status, failure.code], [400, "42501"]);
    match(failure.message, /may not be read from "localhost:1": .* is this machine/);
    // One shot of dbcli, with its tag.
    const shot = await run(dbcli, ["--addr", `127.0.0.1:${dbd.binaryPort}`, "REFRESH p"]);
    deepStrictEqual([shot.code, shot.stdout.trim(), shot.stderr], [0, `REFRESH ${rows}`, ""]);
    // Canceled by another connection, by a time limit, and by a client that goes away.
    const client = new pg.Client({ host: dbd.host, port: dbd.port, user: "t", database: "t" });
    client.on("error", () => undefined);
    await client.connect();
    const canceled = rejects(client.query("REFRESH slow"), { code: "57014" });
    await until(() => source.waiting() === 1);
    const [progress] = await other.query(
      "SELECT pid, relname, bytes::int AS bytes FROM pg_stat_progress_refresh",
    );
    deepStrictEqual([progress?.relname, progress?.bytes], ["slow", 0]);
    await other.query("SELECT pg_cancel_backend($1)", [Number(progress?.pid)]);
    await canceled;
    await until(() => source.waiting() === 0);
    await client.query("SET statement_timeout = '100ms'");
    await rejects(client.query("REFRESH slow"), { code: "57014" });
    await until(() => source.waiting() === 0);
    await client.query("RESET statement_timeout");
    client.query("REFRESH slow").catch(() => undefined);
    await until(() => source.waiting() === 1);
    (client as unknown as { readonly connection: { readonly stream: { destroy(): void } } }).connection.stream
      .destroy();
    await until(() => source.waiting() === 0);
    for (
      const [command, parameters] of [
        ["curl", [
          "-s",
          "-H",
          "content-type: text/plain",
          "-d",
          "REFRESH slow",
          `http://127.0.0.1:${dbd.httpPort}/v1/sql`,
        ]],
        [dbcli, ["--addr", `127.0.0.1:${dbd.binaryPort}`, "REFRESH slow"]],
      ] as const
    ) {
      const running = new Deno.Command(command, { args: [...parameters], stdout: "null", stderr: "null" })
        .spawn();
      await until(() => source.waiting() === 1);
      running.kill("SIGINT");
      await running.status;
      await until(() => source.waiting() === 0);
    }
    strictEqual((await other.query("SELECT 1 FROM pg_stat_progress_refresh")).length, 0);
  } finally {
    await other.close();
    await dbd.stop();
    await source.server.shutdown();
  }
});

Deno.test("a REFRESH that SIGKILL cuts off is there as a whole or not at all", async () => {
  const { dbd } = await compiledPrograms();
  const figures = await killDuringRefresh({ dbd, kills: 3, rows: 20_000, seed: 20_26 });
  strictEqual(figures.kills, 3);
});
