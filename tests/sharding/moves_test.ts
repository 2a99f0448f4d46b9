/** ALTER TABLE ... SHARD BY while others read and write. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { SeededRandom } from "../../engine/base/random.ts";
import { Database } from "../../engine/session/database.ts";
import type { StartShard } from "../../engine/sharding/open_sharded.ts";
import type { ShardRequest } from "../../engine/sharding/shard_messages.ts";
import { lateShards, openShardedEngine, watchedShards } from "./sharded_database.ts";

const WAYS = ["SHARD BY (k)", "SHARD BY ALL", "SHARD BY (v)", "RESET (shard_by)", "SHARD BY (note)"];

Deno.test("tables move between shards while others read and write them", async () => {
  for (const seed of [1, 2]) {
    const engine = await openShardedEngine(seed === 2 ? 4 : 2, lateShards(seed));
    await using database = Database.over(engine, () => engine.close());
    const query = async (sql: string, parameters: number[] = []): Promise<Record<string, unknown>[]> =>
      await database.query(sql, parameters);
    await query("CREATE TABLE t (id INT PRIMARY KEY, k INT, v NUMERIC, note TEXT)");
    await query("INSERT INTO t SELECT n, n % 5, n, 'n' || n % 3 FROM generate_series(1, 40) AS n");
    const model = new Map<number, number>(Array.from({ length: 40 }, (_, at) => [at + 1, at + 1]));
    let isOver = false, writes = 0, reads = 0;
    const write = async (writer: number): Promise<void> => {
      const random = new SeededRandom(seed * 10 + writer);
      for (let round = 0; !isOver; round++) {
        // Each writer has rows of its own, so that it knows what is there.
        const id = 1 + writer + 3 * random.below(14);
        if (id > 40) continue;
        const value = model.get(id);
        if (value === undefined) {
          await query("INSERT INTO t VALUES ($1, $2, $2, 'new')", [id, round]);
          model.set(id, round);
        } else if (random.below(4) === 0) {
          strictEqual((await query("DELETE FROM t WHERE id = $1 RETURNING id", [id])).length, 1);
          model.delete(id);
        } else {
          const changed = await query(
            "UPDATE t SET v = v + 1, k = k + 1, note = note || 'x' WHERE id = $1 RETURNING id",
            [id],
          );
          strictEqual(changed.length, 1, `row ${id}`);
          model.set(id, value + 1);
        }
        writes++;
      }
    };
    const read = async (): Promise<void> => {
      while (!isOver) {
        const [row] = await query(
          "SELECT count(*)::int AS all, count(DISTINCT id)::int AS ids, count(DISTINCT v)::int AS v FROM t",
        );
        strictEqual(row?.all, row?.ids, "each row is seen once");
        ok(Number(row?.all) > 5);
        reads++;
      }
    };
    const work = [write(0), write(1), write(2), read()];
    for (let moves = 0; moves < 6 || writes < 8 && moves < 200; moves++) {
      await query(`ALTER TABLE t ${WAYS[moves % WAYS.length]}`);
    }
    isOver = true;
    await Promise.all(work);
    ok(writes >= 8 && reads > 3, `${writes} writes, ${reads} reads`);
    const rows = await query("SELECT id, v::int AS v FROM t ORDER BY id");
    deepStrictEqual(rows.map(({ id, v }) => [id, v]), [...model].sort(([a], [b]) => a - b));
    for (const [id, v] of model) {
      strictEqual((await query("SELECT FROM t WHERE id = $1", [id])).length, 1);
      ok((await query("SELECT FROM t WHERE v = $1", [v])).length > 0);
    }
  }
});

/** Shards whose scans of a table for ALTER wait until they are let go. */
function heldScans(): { readonly start: StartShard; readonly asked: Promise<void>; letGo(): void } {
  const asked = Promise.withResolvers<void>();
  let isHeld = true;
  const held: (() => void)[] = [];
  const start = watchedShards(() => ({
    asked: (requests, pass) => {
      const isLater = (request: ShardRequest): boolean =>
        isHeld && request.kind === "fetch" && request.wanted.kind === "scan";
      const later = requests.filter(isLater);
      pass(requests.filter((request) => !isLater(request)));
      if (later.length === 0) return;
      asked.resolve();
      held.push(() => pass(later));
    },
  }));
  return {
    start,
    asked: asked.promise,
    letGo: () => {
      isHeld = false;
      for (const go of held.splice(0)) go();
    },
  };
}

Deno.test("who writes goes on while the rows of a table are read for its move, and what it writes moves, too", async () => {
  const { start, asked, letGo } = heldScans();
  const engine = await openShardedEngine(2, start);
  await using database = Database.over(engine, () => engine.close());
  await database.execute("CREATE TABLE t (id INT PRIMARY KEY, k INT)");
  await database.execute("INSERT INTO t SELECT n, n % 4 FROM generate_series(1, 20) AS n");
  let hasMoved = false;
  const moving = database.execute("ALTER TABLE t SHARD BY (k)").then(() => hasMoved = true);
  await asked;
  await database.execute("INSERT INTO t VALUES (21, 1)");
  await database.execute("INSERT INTO t VALUES (22, 1)");
  await database.execute("DELETE FROM t WHERE id = 22");
  await database.execute("UPDATE t SET k = 77 WHERE id = 3");
  await database.execute("DELETE FROM t WHERE id = 4");
  strictEqual((await database.query("SELECT count(*)::int AS n FROM t"))[0]?.n, 20);
  strictEqual(hasMoved, false);
  letGo();
  await moving;
  const ids = async (condition: string): Promise<unknown[]> =>
    (await database.query(`SELECT id FROM t WHERE ${condition} ORDER BY id`)).map(({ id }) => id);
  deepStrictEqual(await ids("k = 77"), [3]);
  deepStrictEqual(await ids("k = 1"), [1, 5, 9, 13, 17, 21]);
  deepStrictEqual(await ids("k = 0"), [8, 12, 16, 20]);
  strictEqual((await ids("true")).length, 20);
});
