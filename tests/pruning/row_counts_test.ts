/**
 * `count(*)` of a whole table, which storage knows without a scan unless the reader's snapshot is older than the last
 * change.
 */
import assert from "node:assert/strict";
import { open } from "../../mod.ts";
import { logicDatabase } from "../slt/library_database.ts";

Deno.test("count(*) in an older snapshot counts the rows that were there, in memory and in segments", async () => {
  await using database = await open(":memory:");
  const writer = logicDatabase(database);
  await writer.run("CREATE TABLE t AS SELECT g AS id FROM generate_series(1, 9000) g");
  for (const state of ["in memory", "in segments"]) {
    if (state === "in segments") await writer.run("CHECKPOINT");
    const reader = logicDatabase(database);
    await reader.run("BEGIN ISOLATION LEVEL REPEATABLE READ");
    const before = await reader.run("SELECT count(*) FROM t");
    await writer.run("DELETE FROM t WHERE id % 3 = 0");
    await writer.run("INSERT INTO t VALUES (-1), (-2)");
    assert.deepEqual(await reader.run("SELECT count(*) FROM t"), before, state);
    await reader.run("DELETE FROM t WHERE id = 1");
    assert.deepEqual(await reader.run("SELECT count(*) FROM t"), [[`${Number(before[0]?.[0]) - 1}`]], state);
    await reader.run("ROLLBACK");
    assert.deepEqual(
      await reader.run("SELECT count(*) FROM t"),
      await reader.run("SELECT count(id + 0) FROM t"),
      state,
    );
  }
});
