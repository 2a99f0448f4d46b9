/** The plan cache is bounded in bytes, and statements whose plans it has dropped run all the same. */
import assert from "node:assert/strict";
import { LIMITS } from "../base/limits.ts";
import { open } from "../../mod.ts";
import { engineOf } from "../session/database.ts";
import type { PreparedStatement } from "./outcome.ts";
import { Prepared } from "./prepared.ts";
import { RowBuffer } from "./row_buffer.ts";

/** Ranges of `width` numbers each; the plan takes about 2 KB for a range. */
function rangesOf(terms: number, width: number): string {
  const ranges = Array.from({ length: terms }, (_, term) => `a > ${term * 20} AND a <= ${term * 20 + width}`);
  return `SELECT count(*) FROM number WHERE ${ranges.join(" OR ")}`;
}

Deno.test("PlanCache keeps large plans within its bytes; prepared statements do not hold what it has dropped", async () => {
  await using database = await open(":memory:");
  await database.execute("CREATE TABLE number (a INT)");
  await database.execute("INSERT INTO number SELECT a FROM generate_series(0, 1999) AS a");
  const engine = engineOf(database);
  const session = engine.openSession();
  const { cache } = engine.plans;
  const count = async (prepared: PreparedStatement) => {
    const sink = new RowBuffer();
    await session.execute(prepared, [], sink);
    return sink.rows[0]?.[0];
  };
  const isDropped = (prepared: PreparedStatement) => prepared instanceof Prepared && prepared.plan?.isDropped;

  const small = session.prepare("SELECT count(*) FROM number WHERE a = 1", []);
  const before = cache.size;
  // Each takes some megabytes, all of them more than there is room for.
  const first = session.prepare(rangesOf(4000, 1), []);
  for (let width = 2; width < 8; width++) session.prepare(rangesOf(4000, width), []);
  const last = session.prepare(rangesOf(4000, 8), []);
  assert.ok(cache.bytes <= LIMITS.cachedPlanBytes * 1.1, `${cache.bytes} bytes of plans are kept`);
  assert.ok(cache.size < before + 8, `${cache.size} plans are kept`);
  assert.deepEqual([isDropped(small), isDropped(first), isDropped(last)], [false, true, false]);

  assert.equal(await count(small), 1);
  assert.equal(await count(last), 800);
  assert.equal(await count(first), 100);
  assert.equal(isDropped(first), false);
  session.close();
});

Deno.test("PlanCache gives up the plans of a catalog that has changed, small and large ones", async () => {
  await using database = await open(":memory:");
  await database.execute("CREATE TABLE number (a INT)");
  const engine = engineOf(database);
  const session = engine.openSession();
  const { cache } = engine.plans;
  const reader = engine.openSession();
  const run = (text: string) => reader.simple(text, new RowBuffer(), () => undefined);
  for (let column = 0; column < 20; column++) session.prepare(`SELECT a AS c${column} FROM number`, []);
  const large = session.prepare(rangesOf(4000, 1), []);
  await run("SELECT a FROM number WHERE a = 1");
  assert.ok(cache.size >= 22, `${cache.size} plans are kept`);

  await database.execute("CREATE TABLE other (a INT)");
  await run("SELECT a FROM number WHERE a = 2");
  assert.equal(cache.size, 1);
  await run("SELECT a FROM number WHERE a = 3");
  assert.equal(cache.size, 1);
  assert.equal(large instanceof Prepared && large.plan?.isDropped, true);
  const sink = new RowBuffer();
  await session.execute(large, [], sink);
  assert.equal(sink.rows[0]?.[0], 0);
  assert.equal(cache.size, 2);
  reader.close();
  session.close();
});
