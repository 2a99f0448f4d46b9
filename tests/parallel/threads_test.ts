/** Workers as real threads: their answers, one that dies while it works, and the end of the engine. */
import { match, ok, strictEqual } from "node:assert/strict";
import * as os from "node:os";
import { denoHost } from "../../engine/host/deno_host.ts";
import { startWorkerThread } from "../../engine/parallel/worker_thread.ts";
import type { WorkerPort } from "../../engine/parallel/worker_port.ts";
import { Workers } from "../../engine/parallel/workers.ts";
import { Database } from "../../engine/session/database.ts";
import { Engine } from "../../engine/session/engine.ts";

/** How far each thread of this process stands back. */
function priorities(): number[] {
  return [...Deno.readDirSync("/proc/self/task")].map(({ name }) => {
    const fields = Deno.readTextFileSync(`/proc/self/task/${name}/stat`);
    return Number(fields.slice(fields.lastIndexOf(")") + 2).split(" ")[16]);
  });
}

Deno.test("workers in threads answer as the engine alone, and are started again when one dies", async () => {
  const directory = await Deno.makeTempDir({ prefix: "dbd-" });
  const ports: WorkerPort[] = [];
  const workers = new Workers({
    count: 2,
    morselBlocks: 2,
    start: async (start) => {
      const port = await startWorkerThread(start);
      ports.push(port);
      return port;
    },
  });
  const engine = await Engine.open({ host: denoHost(), directory: `${directory}/data`, workers });
  const database = Database.over(engine, () => engine.close());
  try {
    const ask = async (sql: string) => JSON.stringify(await database.query(sql));
    await database.execute("CREATE TABLE t (id INT PRIMARY KEY, k INT, n NUMERIC(10,2))");
    await database.execute("INSERT INTO t SELECT i, i % 7, i / 4.0 FROM generate_series(1, 300000) AS i");
    await engine.checkpoint();
    await database.execute("DELETE FROM t WHERE id % 1000 = 5");
    const sql = "SELECT k, count(*), sum(n), min(id) FROM t WHERE id > 100 GROUP BY k";
    const expected = await ask(sql);
    strictEqual(ports.length, 0, "a small table is no reason to start threads");
    await database.execute("SET min_parallel_table_scan_size = 0");
    // The first one has them started, and does not wait for them.
    strictEqual(await ask(sql), expected);
    await workers.started();
    strictEqual(ports.length, 2);
    if (Deno.build.os === "linux") {
      const own = os.getPriority(0);
      const behind = priorities().filter((each) => each > own).length;
      strictEqual(behind, own < 19 ? 2 : 0, "the workers give way to this thread, and no other one does");
    }
    strictEqual(await ask(sql), expected);
    match(await ask(`EXPLAIN ANALYZE ${sql}`), /Worker 1: morsels=\d/);
    // What it is told it cannot know, and so it ends.
    const [first] = ports;
    ok(first !== undefined);
    first.tell({
      kind: "run",
      run: 1 << 20,
      stop: 1,
      fragment: 12345,
      code: null,
      parameters: [],
      session: null,
      memoryLimitBytes: 1,
      credits: 1,
      kept: [],
      keptAt: 0,
      marksAt: 0,
      place: 0,
    });
    const running = ask("SELECT id, k FROM t WHERE k = 3").then(() => "", String);
    match(await running, /^$|worker [01] has ended/);
    while (first.failure === null) await new Promise((resolve) => setTimeout(resolve, 5));
    match(first.failure.message, /worker [01] has ended/);
    strictEqual(await ask(sql), expected);
    await workers.started();
    strictEqual(ports.length, 3);
    strictEqual(await ask(sql), expected);
    match(await ask(`EXPLAIN ${sql}`), /workers: 2/);
  } finally {
    await database.close();
    await Deno.remove(directory, { recursive: true });
  }
});
