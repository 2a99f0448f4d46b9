/** What sessions may keep: prepared statements and advisory locks. */
import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { LIMITS } from "../base/limits.ts";
import { memoryHost } from "../host/memory_host.ts";
import { Engine } from "./engine.ts";
import { PreparedNames } from "./prepared_names.ts";
import { RowBuffer } from "../statements/row_buffer.ts";
import type { Session } from "./session.ts";

async function run(session: Session, sql: string): Promise<RowBuffer> {
  const rows = new RowBuffer();
  await session.simple(sql, rows, () => {});
  return rows;
}

async function withEngine(action: (engine: Engine) => Promise<void>): Promise<void> {
  const engine = await Engine.open({ host: memoryHost(), directory: ":memory:" });
  try {
    await action(engine);
  } finally {
    await engine.close();
  }
}

Deno.test("PreparedNames.set() refuses what is beyond the budget of all sessions, and gives back what is dropped", () =>
  withEngine(async (engine) => {
    const one = engine.openSession(), two = engine.openSession();
    await run(one, "PREPARE a AS SELECT 1; PREPARE b AS SELECT 2");
    two.preparedByName.set("p", two.prepareParsed("", null, []));
    const count = (): number => engine.preparedCount;
    strictEqual(count(), 3);
    await run(one, "DEALLOCATE a");
    strictEqual(count(), 2);
    engine.preparedCount += LIMITS.preparedStatements - 2;
    await rejects(run(two, "PREPARE c AS SELECT 3"), { code: "53200" });
    // A name that is there already takes no more room.
    two.preparedByName.set("p", two.prepareParsed("", null, []));
    engine.preparedCount -= LIMITS.preparedStatements - 2;
    await run(two, "PREPARE c AS SELECT 3");
    two.close();
    strictEqual(count(), 1);
    await run(one, "DEALLOCATE ALL");
    strictEqual(count(), 0);
    ok(one.preparedByName instanceof PreparedNames);
  }));

Deno.test("Advisory locks of one session are bounded, and counted exactly", () =>
  withEngine(async (engine) => {
    const session = engine.openSession();
    const limit = LIMITS.maximumAdvisoryLocks;
    const take = (from: number, to: number, name = "pg_advisory_lock"): Promise<RowBuffer> =>
      run(session, `SELECT count(${name}(i)) FROM generate_series(${from}, ${to}) i`);
    await take(1, limit - 1);
    await take(limit, limit, "pg_try_advisory_lock_shared");
    await rejects(take(limit + 1, limit + 1), { code: "53200" });
    await run(session, "SELECT pg_advisory_unlock(1), pg_advisory_unlock_shared(" + limit + ")");
    await run(
      session,
      `BEGIN; SELECT pg_advisory_xact_lock(${limit + 1}), pg_advisory_xact_lock(${limit + 2})`,
    );
    await rejects(run(session, `SELECT pg_try_advisory_lock(${limit + 3})`), { code: "53200" });
    await run(session, "ROLLBACK");
    await take(limit + 1, limit + 2);
    // Others are not concerned, and get what is given free.
    const other = engine.openSession();
    deepStrictEqual((await run(other, "SELECT pg_try_advisory_lock(2), pg_try_advisory_lock(1)")).rows, [[
      false,
      true,
    ]]);
    await run(session, "SELECT pg_advisory_unlock_all()");
    await take(1_000_000, 1_000_000 + limit - 1);
  }));
