/**
 * Sixteen sessions at once over four shards whose messages take different times: blocks with row locks of all modes,
 * savepoints that are taken back, parents that go with their children and come again (with checks at once, or left to
 * the commit), COPY of ids among those of others, errors in the midst. What each block that was committed has done is
 * there once, and nothing else. At READ COMMITTED nobody loses.
 */
import { deepStrictEqual, ok } from "node:assert/strict";
import { DatabaseError } from "../../engine/base/errors.ts";
import { SeededRandom } from "../../engine/base/random.ts";
import type { Engine } from "../../engine/session/engine.ts";
import { TestClient } from "../../engine/statements/copy/client_for_test.ts";
import { lateShards, openShardedEngine } from "./sharded_database.ts";

const RIVALS = 16;
const ACCOUNTS = 12;
const PARENTS = 8;
/** A third of the ids that are loaded. */
const LOADED = 400;
const MODES = ["UPDATE", "NO KEY UPDATE", "SHARE", "KEY SHARE"] as const;
const WAITS = ["", "", " NOWAIT", " SKIP LOCKED"] as const;
const LEVELS = ["SERIALIZABLE", "REPEATABLE READ", "READ COMMITTED"] as const;
/** Lost races, locks that are taken, parents that are gone, keys that are there already. */
const EXPECTED = /^(40001|40P01|55P03|23503|23505|22012|57014)$/;

/** One session, and what it has committed. */
class Rival {
  readonly added = new Map<number, number>();
  readonly loaded: number[] = [];
  readonly codes = new Map<string, number>();
  committed = 0;
  readonly #client: TestClient;
  readonly #random: SeededRandom;

  constructor(engine: Engine, seed: number) {
    this.#client = TestClient.over(engine);
    this.#random = new SeededRandom(seed);
  }

  async run(blocks: number): Promise<void> {
    if (this.#random.chance(0.3)) await this.#client.run("SET lock_timeout = '40ms'");
    for (let block = 0; block < blocks; block++) {
      const level = LEVELS[this.#random.below(LEVELS.length)] ?? LEVELS[0];
      try {
        const { added, loaded } = await this.#block(level);
        this.committed++;
        this.loaded.push(...loaded);
        for (const [id, amount] of added) this.added.set(id, (this.added.get(id) ?? 0) + amount);
      } catch (error) {
        if (!(error instanceof DatabaseError)) throw error;
        const isExpected = EXPECTED.test(error.code) &&
          !(error.code === "40001" && level === "READ COMMITTED");
        ok(isExpected, `${level}: ${error.code} ${error.message}`);
        this.codes.set(error.code, (this.codes.get(error.code) ?? 0) + 1);
        await this.#client.run("ROLLBACK");
      }
    }
  }

  async #block(level: string): Promise<{ added: Map<number, number>; loaded: number[] }> {
    const random = this.#random;
    const run = (sql: string): Promise<string> => this.#client.run(sql);
    const loaded: number[] = [];
    let added = new Map<number, number>();
    await run(`BEGIN ISOLATION LEVEL ${level}`);
    for (let step = 1 + random.below(4); step > 0; step--) {
      const id = 1 + random.below(ACCOUNTS), parent = 1 + random.below(PARENTS);
      switch (random.below(8)) {
        case 0: {
          const lock = `FOR ${MODES[random.below(MODES.length)]}${WAITS[random.below(WAITS.length)]}`;
          await run(
            `SELECT * FROM account WHERE id IN (${id}, ${1 + random.below(ACCOUNTS)}) ORDER BY id ${lock}`,
          );
          break;
        }
        case 1: {
          // Taken back, whatever of it.
          await run("SAVEPOINT s");
          const before = new Map(added);
          await this.#add(added, id, 1000);
          if (random.chance(0.5)) {
            await run(`DELETE FROM parent WHERE id = ${parent}`);
            await run("SELECT count(*) FROM child");
          }
          await run("ROLLBACK TO s");
          added = before;
          break;
        }
        case 2:
          await run(`INSERT INTO child (parent) VALUES (${parent}), (${1 + random.below(PARENTS)})`);
          break;
        case 3:
          await run(`DELETE FROM parent WHERE id = ${parent}`);
          if (random.chance(0.7)) await run(`INSERT INTO parent VALUES (${parent})`);
          break;
        case 4:
          await run(
            `UPDATE account SET v = v + 0 WHERE id = (SELECT min(id) FROM account WHERE v >= 0) + ${id - 1}`,
          );
          break;
        case 5:
          await run("SELECT sum(v), count(*) FROM account");
          if (random.chance(0.05)) await run(`SELECT 1 / (id - ${id}) FROM account`);
          break;
        case 6: {
          const ids = Array.from({ length: 3 }, (_, at) => 1 + at + 3 * random.below(LOADED));
          await this.#client.copyIn("COPY loaded FROM STDIN", ids.map((each) => `${each}\n`).join(""));
          loaded.push(...ids);
          break;
        }
        default:
          await this.#add(added, id, 1 + random.below(5));
      }
    }
    await run("COMMIT");
    return { added, loaded };
  }

  async #add(added: Map<number, number>, id: number, amount: number): Promise<void> {
    await this.#client.run(`UPDATE account SET v = v + ${amount} WHERE id = ${id}`);
    added.set(id, (added.get(id) ?? 0) + amount);
  }
}

for (
  const [seed, way, checks] of [
    [1, "", ""],
    [2, "SHARD BY ALL", "DEFERRABLE INITIALLY DEFERRED"],
    [3, "SHARD BY (v)", "DEFERRABLE INITIALLY DEFERRED"],
  ] as const
) {
  Deno.test(`what ${RIVALS} rivals have committed over shards is there once, and nothing else: ${way || "by row"}`, async () => {
    const engine = await openShardedEngine(4, lateShards(seed));
    const first = TestClient.over(engine);
    await first.run(
      `CREATE TABLE account (id INT PRIMARY KEY, v INT NOT NULL) ${way}`,
      "CREATE TABLE parent (id INT PRIMARY KEY)",
      `CREATE TABLE child (id SERIAL PRIMARY KEY, parent INT NOT NULL REFERENCES parent ON DELETE CASCADE ${checks})`,
      "CREATE TABLE loaded (id INT PRIMARY KEY)",
      `INSERT INTO account SELECT n, 0 FROM generate_series(1, ${ACCOUNTS}) AS n`,
      `INSERT INTO parent SELECT n FROM generate_series(1, ${PARENTS}) AS n`,
    );
    const rivals = Array.from({ length: RIVALS }, (_, index) => new Rival(engine, seed * 100 + index));
    await Promise.all(rivals.map((rival) => rival.run(12)));
    const wanted = Array.from({ length: ACCOUNTS }, (_, index) => {
      const sum = rivals.reduce((total, { added }) => total + (added.get(index + 1) ?? 0), 0);
      return `${index + 1}|${sum}`;
    });
    deepStrictEqual(await first.rows("SELECT id, v FROM account ORDER BY id"), wanted);
    const loaded = rivals.flatMap((rival) => rival.loaded).toSorted((a, b) => a - b);
    deepStrictEqual(await first.rows("SELECT id FROM loaded ORDER BY id"), loaded.map(String));
    const orphans =
      "SELECT count(*) FROM child LEFT JOIN parent ON parent.id = child.parent WHERE parent.id IS NULL";
    deepStrictEqual(await first.rows(orphans), ["0"]);
    const committed = rivals.reduce((total, rival) => total + rival.committed, 0);
    ok(committed > RIVALS * 2, `${committed} blocks were committed`);
    ok(rivals.some(({ codes }) => codes.has("40001")));
    // Nobody holds a lock any more.
    await first.run("UPDATE account SET v = 0", "DELETE FROM parent");
    await engine.close();
  });
}

/** What two did at the same time, the second some turns of the event loop later than the first. */
async function atOnce(
  turns: number,
  first: () => Promise<unknown>,
  second: () => Promise<unknown>,
): Promise<string[]> {
  const codes: string[] = [];
  const note = async (index: number, work: () => Promise<unknown>): Promise<void> => {
    codes[index] = await work().then(() => "done", (error) => error.code);
  };
  const running = note(0, first);
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
  await Promise.all([running, note(1, second)]);
  return codes;
}

Deno.test("at READ COMMITTED what others do between a look and the commit is no lost race", async () => {
  const engine = await openShardedEngine(4, lateShards(4));
  const [a, b] = [TestClient.over(engine), TestClient.over(engine)];
  await a.run(
    "CREATE TABLE parent (id INT PRIMARY KEY)",
    "CREATE TABLE child (id INT PRIMARY KEY, parent INT REFERENCES parent DEFERRABLE INITIALLY DEFERRED)",
    "CREATE TABLE loaded (id INT PRIMARY KEY); INSERT INTO loaded VALUES (1000)",
  );
  const checks: string[] = [], loads: string[] = [];
  for (let round = 1; round <= 40; round++) {
    const begin = "BEGIN ISOLATION LEVEL READ COMMITTED";
    await a.run(begin, `INSERT INTO child VALUES (${round}, ${round})`);
    await b.run(`INSERT INTO parent VALUES (${round})`, begin, `DELETE FROM parent WHERE id = ${round}`);
    checks.push((await atOnce(round % 12, () => b.run("COMMIT"), () => a.run("COMMIT"))).join());
    let isLoaded = false;
    const load = async (): Promise<void> => {
      await a.run(begin);
      await a.copyIn("COPY loaded FROM STDIN", `${round}\n`);
      isLoaded = true;
      await a.run("COMMIT");
    };
    const insert = (): Promise<string> => b.run(`INSERT INTO loaded VALUES (${round})`);
    loads.push(`${await atOnce(round % 12, load, insert)} ${isLoaded}`);
    await a.run("ROLLBACK");
  }
  const orphans = "SELECT count(*) FROM child WHERE parent NOT IN (SELECT id FROM parent)";
  deepStrictEqual(await a.rows(orphans), ["0"]);
  deepStrictEqual([...checks, ...loads].filter((each) => each.includes("40001")), []);
  ok(checks.includes("done,23503") && loads.includes("23505,done true"), `${checks} ${loads}`);
  await engine.close();
});
