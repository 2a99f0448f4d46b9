/** What a server that stops leaves behind: little enough that its next start is quick. */
import { strictEqual } from "node:assert/strict";
import { memoryHost } from "../host/memory_host.ts";
import { Engine } from "./engine.ts";
import { RowBuffer } from "../statements/row_buffer.ts";

async function run(engine: Engine, ...statements: readonly string[]): Promise<RowBuffer> {
  const session = engine.openSession();
  let rows = new RowBuffer();
  for (const statement of statements) {
    rows = new RowBuffer();
    await session.simple(statement, rows, () => undefined);
  }
  session.close();
  return rows;
}

Deno.test("Engine.close() makes a checkpoint when much log would have to be read again, and only then", async () => {
  const options = { host: memoryHost(), directory: "data" };
  let engine = await Engine.open(options);
  await run(
    engine,
    "CREATE TABLE t (id int PRIMARY KEY, a int, b text)",
    "INSERT INTO t SELECT g, g % 1000, repeat('x', 100) FROM generate_series(1, 20000) AS g",
  );
  strictEqual(engine.storage.checkpointOp, 0);
  await engine.close();
  engine = await Engine.open(options);
  const loaded = engine.machine.lastOp;
  strictEqual(engine.storage.checkpointOp, loaded, "20 000 rows were written to a segment");
  strictEqual(engine.storage.log.appendedBytes, 0);
  await run(engine, "UPDATE t SET a = -1 WHERE id = 7");
  await engine.close();
  engine = await Engine.open(options);
  strictEqual(engine.storage.checkpointOp, loaded, "one row is read from the log again");
  await run(engine, "CREATE INDEX t_a ON t (a)");
  await run(engine, "SELECT id FROM t WHERE a = 5");
  await engine.close();
  engine = await Engine.open(options);
  strictEqual(engine.storage.checkpointOp, engine.machine.lastOp, "the index need not be built again");
  strictEqual(engine.storage.hasWork, false);
  const rows = await run(engine, "SELECT count(*), min(a) FROM t");
  strictEqual(JSON.stringify(rows.rows.map((row) => row.map(Number))), "[[20000,-1]]");
  await engine.close();
});
