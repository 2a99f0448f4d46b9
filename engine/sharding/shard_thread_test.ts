// Shards in threads of their own: how they start, fail and end, and what is larger than a ring.
import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { startThread } from "../host/deno_threads.ts";
import { denoHost } from "../host/deno_host.ts";
import { RowBuffer } from "../statements/row_buffer.ts";
import { openSharded } from "./open_sharded.ts";
import { StopFlags } from "./stop_flags.ts";
import { shardThreads, startShardThread } from "./shard_thread.ts";

const OPTIONS = {
  directory: ":memory:",
  blockCacheBytes: 1 << 20,
  manifest: null,
  isMember: false,
  stopFlags: new StopFlags().memory,
};

Deno.test("startShardThread() starts a shard that answers, and ends with its close()", async () => {
  const port = await startShardThread(OPTIONS, 0);
  deepStrictEqual((await port.report()).tables, []);
  await port.close();
});

Deno.test("startShardThread() rejects with the reason why a shard cannot be opened", async () => {
  const file = await Deno.makeTempFile();
  await rejects(startShardThread({ ...OPTIONS, directory: `${file}/shard` }, 0));
  await Deno.remove(file);
});

Deno.test("a shard's error that nobody expects ends its port, and all that wait for it", async () => {
  const port = await startShardThread(OPTIONS, 3);
  const waits = port.call({ kind: "built", op: 1 }).done;
  port.tell({ kind: "apply", op: 1, timestamp: 0, agreed: 99, effects: null });
  const [failed] = await Promise.all([port.failed, rejects(waits, /what was agreed to/)]);
  match(failed.message, /a shard failed/);
  await rejects(port.report(), /a shard failed/);
});

Deno.test("startThread() hears of an error that nobody has caught in the thread", async () => {
  for (
    const code of ["throw new Error('at once')", "self.onmessage = () => Promise.reject(new Error('later'))"]
  ) {
    const thread = startThread(`data:text/javascript,${encodeURIComponent(code)}`, "broken", 1);
    const message = await new Promise<string>((resolve) => thread.onError = resolve);
    match(message, /at once|later/);
    thread.stop();
  }
});

Deno.test("rows and effects that are larger than a ring pass between router and shards", async () => {
  const engine = await openSharded({ host: denoHost(), directory: ":memory:", shardCount: 2 });
  const session = engine.openSession();
  const run = async (text: string): Promise<RowBuffer> => {
    const rows = new RowBuffer();
    await session.simple(text, rows, () => {});
    return rows;
  };
  await run("CREATE TABLE t (id int PRIMARY KEY, v text)");
  await run("INSERT INTO t SELECT n, repeat(n::text, 100000) FROM generate_series(1, 60) AS g(n)");
  await run(`INSERT INTO t VALUES (61, repeat('z', 5000000))`);
  const { rows } = await run("SELECT id, v FROM t ORDER BY id");
  strictEqual(rows.length, 61);
  rows.forEach(([id, v], index) => {
    strictEqual(id, index + 1);
    ok(v === (index < 60 ? String(index + 1).repeat(100_000) : "z".repeat(5_000_000)));
  });
  // The same through a fetch: the block sees what it has written itself.
  await run("BEGIN; UPDATE t SET v = v || '!' WHERE id <= 61");
  const changed = await run("SELECT sum(length(v)) FROM t; ROLLBACK");
  strictEqual(String(changed.rows[0]?.[0]), String(51 * 200_000 + 9 * 100_000 + 5_000_000 + 61));
  session.close();
  await engine.close();
});

Deno.test("rows of a join go from thread to thread, and not through the router", async () => {
  const start = shardThreads(4);
  let passed = 0;
  const engine = await openSharded({
    host: denoHost(),
    directory: ":memory:",
    shardCount: 4,
    startShard: async (options, index) => {
      const port = await start(options, index);
      // The group sets what passes messages on.
      Object.defineProperty(port, "onPeer", { set: () => {}, get: () => () => passed++ });
      return port;
    },
  });
  const session = engine.openSession();
  const rows = async (text: string): Promise<unknown[][]> => {
    const buffer = new RowBuffer();
    await session.simple(text, buffer, () => {});
    return buffer.rows;
  };
  await rows("CREATE TABLE t (id INT PRIMARY KEY, k INT, f TEXT)");
  await rows("INSERT INTO t SELECT n, n % 997, 'text ' || n FROM generate_series(1, 20000) n");
  for (const limit of ["0", "'32MB'"]) {
    await rows(`SET broadcast_limit = ${limit}`);
    deepStrictEqual(await rows("SELECT count(*), count(DISTINCT b.f) FROM t a JOIN t b ON a.id = b.k"), [[
      19980,
      19980,
    ]]);
  }
  strictEqual(passed, 0);
  await engine.close();
});
