/** External sources whose rows are at four shards answer as those of an engine alone. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { answer } from "../../engine/external/testing/fault_server.ts";
import { SourceFixture } from "../../engine/external/testing/source_fixture.ts";

function body(rows: readonly (readonly [id: string, name: string | null, n: number])[]): string {
  return JSON.stringify(rows.map(([id, name, n]) => ({ id, name, n })));
}

/** Rows of which some change, some go and some come with each round. */
function round(number: number): string {
  return body(Array.from({ length: 500 }, (_, index): [string, string | null, number] => {
    const id = index + number * 50;
    return [`k${id}`, id % 7 === 0 ? null : `name ${id % 9}`, id % 5 === 0 ? number : id];
  }));
}

async function answers(shardCount: number): Promise<string[]> {
  await using fixture = await SourceFixture.open({ shardCount });
  const { server } = fixture;
  const list: string[] = [];
  const ask = async (sql: string): Promise<void> => {
    const ran = await fixture.run(sql).catch((error: unknown) => ({ tag: String(error), rows: [] }));
    list.push(`${ran.tag} ${JSON.stringify(ran.rows)}`);
  };
  await ask(
    `CREATE EXTERNAL SOURCE s (id TEXT, name VARCHAR(20), n INT) FROM '${
      server.url("/s")
    }' FORMAT JSON KEY id`,
  );
  await ask("CREATE UNIQUE INDEX s_n ON s (n) WHERE n > 100000");
  await ask("CREATE INDEX s_name ON s (upper(name))");
  for (const number of [0, 1, 2]) {
    server.on("/s", answer(round(number)));
    await ask("REFRESH s");
    await ask("SELECT count(*), count(name), sum(n), min(id), max(id) FROM s");
    await ask("SELECT name, count(*), sum(n) FROM s GROUP BY name ORDER BY name");
    await ask("SELECT count(*), min(id) FROM s WHERE upper(name) = 'NAME 3'");
    await ask("SELECT id, name, n FROM s WHERE id IN ('k0', 'k55', 'k549', 'k600') ORDER BY id");
  }
  // What cannot be put into the table leaves all as it was.
  server.on("/s", answer(body([["k1", "changed", 1], ["new 1", "x", 200_000], ["new 2", "y", 200_000]])));
  await ask("REFRESH s");
  server.on("/s", answer(body([["k1", "far too long a name for the column", 1]])));
  await ask("REFRESH s");
  await ask("SELECT count(*), sum(n) FROM s");
  await ask("SELECT name FROM s WHERE id = 'k1'");
  server.on("/s", answer("[]"));
  await ask("REFRESH s");
  await ask("SELECT last_rows, last_pages FROM pg_external_sources");
  return list;
}

Deno.test("REFRESH puts the rows of a source at four shards as it does without", async () => {
  const alone = await answers(1);
  deepStrictEqual(await answers(4), alone);
  strictEqual(alone.filter((each) => each.startsWith("REFRESH")).length, 4);
  match(alone.join("\n"), /duplicate key value/);
  ok(!alone.includes('SELECT 1 [["0",null]]'), "an index over an expression finds rows of a source");
  ok(alone.some((each) => /^SELECT 1 \[\["600"/.test(each)), alone.join("\n"));
});
