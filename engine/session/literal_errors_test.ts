/** Where an error of a literal points to, whether its statement's plan was known or not. */
import { rejects } from "node:assert/strict";
import { open } from "../../mod.ts";

Deno.test("A malformed literal's error has its position, the first time and when the plan is known", async () => {
  await using database = await open(":memory:");
  await database.query("CREATE TABLE t (id int PRIMARY KEY, a int)");
  const check = async (sql: string, code: string, position: number): Promise<void> => {
    for (let round = 0; round < 2; round++) await rejects(database.query(sql), { code, position }, sql);
  };
  await check("SELECT 'abc'::int", "22P02", 8);
  await check("SELECT 'é', 'zz'::uuid", "22P02", 13);
  await check("SELECT * FROM t WHERE a = 'x'", "22P02", 27);
  await check("INSERT INTO t VALUES (1, 'x')", "22P02", 26);
  await database.query("INSERT INTO t VALUES (2, '3')");
  await check("INSERT INTO t VALUES (3, 'y')", "22P02", 26);
  await check("SELECT ARRAY[1, 'a']", "22P02", 17);
});
