/** Tables that are altered or dropped while a statement runs that will write to them. */
import { match, strictEqual } from "node:assert/strict";
import { type DatabaseError, open } from "../../mod.ts";

Deno.test("a statement whose table is altered before it writes is compiled anew", async () => {
  await using database = await open(":memory:");
  await database.execute(
    "CREATE TABLE source (n INT); INSERT INTO source SELECT generate_series(1, 1000000)",
  );
  const insert = "INSERT INTO t (a, b) SELECT n, n FROM source WHERE n % 7 = 0 ORDER BY n DESC";
  for (
    const [change, expected] of [
      ["ALTER TABLE t DROP COLUMN b", /^42703 column "b"/],
      ["ALTER TABLE t ADD COLUMN c INT NOT NULL DEFAULT 5", /^ok 142857$/],
      ["ALTER TABLE t ALTER COLUMN b TYPE text", /^(ok 142857|42804 .*)$/],
      ["DROP TABLE t", /^42P01 relation "t" does not exist/],
      ["TRUNCATE t", /^ok 142857$/],
    ] as const
  ) {
    await database.execute("DROP TABLE IF EXISTS t; CREATE TABLE t (a INT, b INT)");
    const writing = database.execute(insert).then(
      ({ rowCount }) => `ok ${rowCount}`,
      (error: DatabaseError) => `${error.code} ${error.message}`,
    );
    await database.execute(change);
    match(await writing, expected, change);
  }
  strictEqual((await database.query("SELECT 1 AS one"))[0]?.one, 1);
});
