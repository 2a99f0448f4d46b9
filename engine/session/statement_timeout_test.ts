/** A statement's time limit holds within one long step, in which no timer has a turn. */
import assert from "node:assert/strict";
import { open } from "../../mod.ts";
import { engineOf } from "./database.ts";
import { RowBuffer } from "../statements/row_buffer.ts";

for (
  const [name, statement] of [
    [
      "endless recursion",
      "WITH RECURSIVE r AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM r) SELECT count(*) FROM r",
    ],
    [
      "planning of thousands of terms",
      `EXPLAIN SELECT count(*) FROM t WHERE ${
        Array.from({ length: 5000 }, (_, n) => `id + ${n} < ${n} AND id <> -${n}`).join(" OR ")
      }`,
    ],
    ["a join of all with all", "SELECT count(*) FROM t a, t b WHERE a.id + b.id = -1"],
  ] as const
) {
  Deno.test(`statement_timeout ends ${name}, and the session goes on`, async () => {
    await using database = await open(":memory:");
    const session = engineOf(database).openSession();
    const run = async (sql: string) => {
      const sink = new RowBuffer();
      await session.whenParsed(sql, () => session.simple(sql, sink, () => {}));
      return sink.rows;
    };
    await run(
      "CREATE TABLE t AS SELECT g AS id FROM generate_series(1, 100000) g; SET statement_timeout = 50",
    );
    await assert.rejects(run(statement), { code: "57014", message: /due to statement timeout/ });
    assert.deepEqual(await run("SELECT 1"), [[1]]);
    session.close();
  });
}
