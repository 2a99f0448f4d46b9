/** The example of docs/external-sources.md does what the page says. */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { answer } from "./testing/fault_server.ts";
import { SourceFixture } from "./testing/source_fixture.ts";

Deno.test("docs/external-sources.md: the example runs, with the rows that the page shows", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/external-sources.md", import.meta.url));
  const [, sql = ""] = /^```sql\n([\s\S]*?)^```$/m.exec(page) ?? [];
  const [, shown = ""] = /^```text\n(name {3}[\s\S]*?)^```$/m.exec(page) ?? [];
  await using fixture = await SourceFixture.open();
  const { server } = fixture;
  const repository = (id: number, name: string, login: string, stars: number) => ({
    id,
    name,
    owner: { login },
    topics: ["one", "two"],
    stargazers_count: stars,
    pushed_at: "2026-01-31T12:00:00Z",
    license: { key: "mit" },
  });
  server.on(
    "/repositories",
    answer(JSON.stringify([repository(1, "alpha", "ada", 3000), repository(2, "beta", "bob", 10)]), {
      headers: { link: '</repositories?page=2>; rel="next"' },
    }),
  );
  server.on("/repositories?page=2", answer(JSON.stringify([repository(3, "gamma", "grace", 200)])));
  const statements = sql.replace("https://api.example.org", server.url("")).split(/;\n/).filter((each) =>
    each.trim()
  );
  const ran = [];
  for (const statement of statements) ran.push(await fixture.run(statement));
  deepStrictEqual(ran.map(({ tag }) => tag), ["CREATE EXTERNAL SOURCE", "REFRESH 3", "SELECT 3"]);
  const expected = shown.trim().split("\n").slice(2).map((line) => line.trim().split(/\s+/));
  deepStrictEqual(ran[2]?.rows, expected);
  const rest = await fixture.run("SELECT topic, pushed, license->>'key' FROM repository WHERE id = 3");
  deepStrictEqual(rest.rows, [["one", "2026-01-31 12:00:00+00", "mit"]]);
  strictEqual(server.connections, 1);
});
