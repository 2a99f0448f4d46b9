/**
 * Texts that begin and end blocks are parsed once; what is kept of them is bounded and does not change their meaning.
 */
import { notStrictEqual, ok, strictEqual } from "node:assert/strict";
import { LIMITS } from "../base/limits.ts";
import { open } from "../../mod.ts";
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
