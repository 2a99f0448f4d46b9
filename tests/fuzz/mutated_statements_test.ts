/**
 * Statements of the logic tests with words dropped, doubled and swapped: each ends in an answer or in an error for its
 * author, never in a bug's, and the session goes on.
 */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { SeededRandom } from "../../engine/base/random.ts";
import { engineOf } from "../../engine/session/database.ts";
import { RowBuffer } from "../../engine/session/row_buffer.ts";
import { DatabaseError, open } from "../../mod.ts";
import { parseLogicTests } from "../slt/logic_test_file.ts";

const STATEMENTS = 10_000;

Deno.test("Session.simple() answers 10 000 mutated statements without a bug", async () => {
  const texts = await statements();
  const random = new SeededRandom(42);
  const words = (): string[] => (texts[random.between(0, texts.length)] ?? "").split(/(\s+|[(),])/);
  const database = await open(":memory:");
  const session = engineOf(database).openSession();
  const run = async (sql: string): Promise<void> => await session.simple(sql, new RowBuffer(), () => {});
  await run("SET statement_timeout = '200ms'");
  const bugs: string[] = [];
  for (let count = 0; count < STATEMENTS; count++) {
    const text = words();
    for (let changes = random.between(1, 4); changes > 0; changes--) {
      const at = random.between(0, text.length + 1);
      const other = words();
      const word = other[random.between(0, other.length)] ?? "";
      text.splice(at, random.between(0, 2), ...random.between(0, 3) === 0 ? [] : [word]);
    }
    const sql = text.join("");
    try {
      await run(sql);
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.code === "XX000") bugs.push(`${sql}\n${error}`);
    }
    if (session.status === "failed") await run("ROLLBACK");
  }
  deepStrictEqual(bugs, []);
  await run("RESET statement_timeout");
  strictEqual((await database.query("SELECT 6 * 7 AS answer"))[0]?.answer, 42);
  await database.close();
});

async function statements(): Promise<string[]> {
  const folder = new URL("../slt/cases/", import.meta.url);
  const texts: string[] = [];
  const files: string[] = [];
  for await (const file of Deno.readDir(folder)) if (file.name.endsWith(".slt")) files.push(file.name);
  for (const name of files.sort()) {
    for (const record of parseLogicTests(await Deno.readTextFile(new URL(name, folder)), "db")) {
      texts.push(record.sql);
    }
  }
  return texts;
}
