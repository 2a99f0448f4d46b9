/**
 * Texts that begin and end blocks are parsed once; what is kept of them is bounded and does not change their meaning.
 */
import { deepStrictEqual, notStrictEqual, ok, strictEqual } from "node:assert/strict";
import { LIMITS } from "../base/limits.ts";
import { open } from "../../mod.ts";
import { TestClient } from "../statements/copy/client_for_test.ts";
import { engineOf } from "./database.ts";

Deno.test("Engine.parse() keeps the trees of BEGIN, COMMIT and ROLLBACK, and of nothing else", async () => {
  await using database = await open(":memory:");
  const engine = engineOf(database);
  for (const text of ["BEGIN;", "begin", "END;", "COMMIT AND CHAIN", "ROLLBACK"]) {
    strictEqual(engine.parse(text), engine.parse(text), text);
  }
  for (const text of ["SELECT 1", "BEGIN; COMMIT", "SAVEPOINT a", `BEGIN${" ".repeat(100)}`, ""]) {
    notStrictEqual(engine.parse(text), engine.parse(text), text);
  }
  const first = engine.parse("BEGIN;");
  for (let count = 0; count < LIMITS.keptBlockTexts; count++) engine.parse(`BEGIN${" ".repeat(count)};;`);
  notStrictEqual(engine.parse("BEGIN;"), first);
  ok(engine.parse("BEGIN;")[0]?.statement.kind === "begin");
});

Deno.test("a statement that waits for a lock, and runs again, takes back no rows of the one before in its text", async () => {
  const holder = await TestClient.open();
  const waiting = TestClient.over(holder.engine);
  await holder.run("CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 0)");
  await holder.run("BEGIN", "UPDATE t SET v = 1 WHERE id = 1");
  const rows = waiting.rows(
    "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT 'before'; UPDATE t SET v = v + 1; COMMIT",
  );
  await new Promise((resolve) => setTimeout(resolve, 5));
  await holder.run("COMMIT");
  deepStrictEqual(await rows, ["before"]);
  deepStrictEqual(await holder.rows("SELECT v FROM t"), ["2"]);
  await holder.close();
});
