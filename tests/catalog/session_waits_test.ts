/** Locks of the application, sleeping and canceling, as several sessions see them. */
import { deepStrictEqual as equal, ok, rejects } from "node:assert/strict";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import type { Session } from "../../engine/session/session.ts";
import { ManualTimers } from "../support/manual_timers.ts";
import { rowsOf } from "./catalog_database.ts";

async function withSessions(
  count: number,
  work: (...sessions: Session[]) => Promise<void>,
  timers?: ManualTimers,
): Promise<void> {
  const host = memoryHost();
  const engine = await Engine.open({
    host: { ...host, timers: timers ?? host.timers },
    directory: ":memory:",
  });
  const sessions = Array.from({ length: count }, () => engine.openSession());
  await work(...sessions);
  for (const session of sessions) session.close();
  await engine.close();
}

function must(session: Session | undefined): Session {
  ok(session !== undefined);
  return session;
}

/** Whether a promise is settled after others had their turn. */
async function isPending(promise: Promise<unknown>): Promise<boolean> {
  const mark = {};
  const late = new Promise((resolve) => setTimeout(resolve, 20, mark));
  return await Promise.race([promise.catch(() => null), late]) === mark;
}

Deno.test("pg_advisory_lock() waits until the other session unlocks", () =>
  withSessions(2, async (first, second) => {
    const [a, b] = [must(first), must(second)];
    await rowsOf(a, "SELECT pg_advisory_lock(72707369)");
    equal(await rowsOf(b, "SELECT pg_try_advisory_lock(72707369)"), ["f"]);
    const waiting = rowsOf(b, "SELECT pg_advisory_lock(72707369)");
    ok(await isPending(waiting));
    const locks = "SELECT granted FROM pg_locks WHERE locktype = 'advisory' ORDER BY granted";
    equal(await rowsOf(a, locks), ["f", "t"]);
    equal(await rowsOf(a, "SELECT pg_advisory_unlock(72707369)"), ["t"]);
    equal(await waiting, [""]);
    equal(await rowsOf(a, "SELECT pg_try_advisory_lock(72707369)"), ["f"]);
    equal(await rowsOf(b, "SELECT pg_advisory_unlock(72707369)"), ["t"]);
    equal(await rowsOf(b, "SELECT pg_advisory_unlock(72707369)"), ["f"]);
  }));

Deno.test("pg_advisory_lock() counts, and a waiting statement takes a lock once", () =>
  withSessions(2, async (first, second) => {
    const [a, b] = [must(first), must(second)];
    await rowsOf(a, "SELECT pg_advisory_lock(1)");
    const waiting = rowsOf(b, "SELECT pg_advisory_lock(2), pg_advisory_lock(1)");
    ok(await isPending(waiting));
    await rowsOf(a, "SELECT pg_advisory_unlock(1)");
    await waiting;
    equal(await rowsOf(b, "SELECT pg_advisory_unlock(2), pg_advisory_unlock(1)"), ["t|t"]);
    equal(await rowsOf(b, "SELECT pg_advisory_unlock(2), pg_advisory_unlock(1)"), ["f|f"]);
    await rowsOf(a, "SELECT pg_advisory_lock(7), pg_advisory_lock(7)");
    equal(await rowsOf(a, "SELECT pg_advisory_unlock(7)"), ["t"]);
    equal(await rowsOf(b, "SELECT pg_try_advisory_lock(7)"), ["f"]);
    equal(await rowsOf(a, "SELECT pg_advisory_unlock(7)"), ["t"]);
    equal(await rowsOf(b, "SELECT pg_try_advisory_lock(7)"), ["t"]);
  }));

Deno.test("shared advisory locks go together, 64-bit and 32-bit keys are apart", () =>
  withSessions(2, async (first, second) => {
    const [a, b] = [must(first), must(second)];
    await rowsOf(a, "SELECT pg_advisory_lock_shared(5)");
    equal(await rowsOf(b, "SELECT pg_try_advisory_lock_shared(5)"), ["t"]);
    equal(await rowsOf(b, "SELECT pg_try_advisory_lock(5)"), ["f"]);
    equal(await rowsOf(b, "SELECT pg_try_advisory_lock(0, 5)"), ["t"]);
  }));

Deno.test("pg_advisory_xact_lock() is released by the end of the transaction, session locks by that of the session", () =>
  withSessions(2, async (first, second) => {
    const [a, b] = [must(first), must(second)];
    await rowsOf(a, "BEGIN");
    await rowsOf(a, "SELECT pg_advisory_xact_lock(9)");
    equal(await rowsOf(b, "SELECT pg_try_advisory_lock(9)"), ["f"]);
    await rowsOf(a, "COMMIT");
    equal(await rowsOf(b, "SELECT pg_try_advisory_lock(9)"), ["t"]);
    equal(await rowsOf(a, "SELECT pg_try_advisory_xact_lock(10)"), ["t"]);
    equal(await rowsOf(b, "SELECT pg_try_advisory_lock(10)"), ["t"]);
    b.close();
    equal(await rowsOf(a, "SELECT pg_try_advisory_lock(9)"), ["t"]);
  }));

Deno.test("waits for advisory locks that close a cycle are refused", () =>
  withSessions(2, async (first, second) => {
    const [a, b] = [must(first), must(second)];
    await rowsOf(a, "SELECT pg_advisory_lock(1)");
    await rowsOf(b, "SELECT pg_advisory_lock(2)");
    const waiting = rowsOf(a, "SELECT pg_advisory_lock(2)");
    ok(await isPending(waiting));
    await rejects(rowsOf(b, "SELECT pg_advisory_lock(1)"), {
      code: "40P01",
      detail: `Process ${b.processId} waits for process ${a.processId}.\n` +
        `Process ${a.processId} waits for process ${b.processId}.\n` +
        `Process ${b.processId}: SELECT pg_advisory_lock(1)\nProcess ${a.processId}: SELECT pg_advisory_lock(2)`,
    });
    await rowsOf(b, "SELECT pg_advisory_unlock_all()");
    await waiting;
  }));

Deno.test("lock_timeout ends a wait for an advisory lock", () =>
  withSessions(2, async (first, second) => {
    const [a, b] = [must(first), must(second)];
    await rowsOf(a, "SELECT pg_advisory_lock(1)");
    await rowsOf(b, "SET lock_timeout = '15ms'");
    await rejects(rowsOf(b, "SELECT pg_advisory_lock(1)"), { code: "55P03" });
    await rowsOf(a, "SELECT pg_advisory_unlock(1)");
    equal(await rowsOf(b, "SELECT pg_try_advisory_lock(1)"), ["t"]);
  }));

Deno.test("waits for rows and tables are shown with who is in the way, and lock_timeout ends them", () => {
  const timers = new ManualTimers(memoryHost().timers);
  return withSessions(3, async (first, second, third) => {
    const [a, b, c] = [must(first), must(second), must(third)];
    for (
      const sql of [
        "CREATE TABLE w (id int PRIMARY KEY)",
        "INSERT INTO w VALUES (1)",
        "BEGIN",
        "DELETE FROM w",
      ]
    ) {
      await rowsOf(a, sql);
    }
    await rowsOf(b, "SET lock_timeout = '1s'");
    const pid = String(a.processId);
    for (const statement of ["DELETE FROM w WHERE id = 1", "ALTER TABLE w DROP COLUMN id"]) {
      const waiting = rowsOf(b, statement);
      ok(await isPending(waiting), statement);
      equal(await rowsOf(c, `SELECT pg_blocking_pids(${b.processId}), pg_blocking_pids(${pid})`), [
        `{${pid}}|{}`,
      ]);
      const held = "JOIN pg_locks h ON h.virtualxid = w.virtualxid AND h.granted WHERE NOT w.granted";
      equal(await rowsOf(c, `SELECT w.pid, h.pid FROM pg_locks w ${held}`), [`${b.processId}|${pid}`]);
      const waits = "SELECT wait_event_type FROM pg_stat_activity WHERE pid =";
      equal(await rowsOf(c, `${waits} ${b.processId}`), ["Lock"]);
      timers.fire();
      await rejects(waiting, { code: "55P03" });
      equal(await rowsOf(c, "SELECT count(*) FROM pg_locks WHERE NOT granted"), ["0"]);
    }
    await rowsOf(a, "ROLLBACK");
    equal(await rowsOf(b, "DELETE FROM w WHERE id = 1 RETURNING id"), ["1"]);
  }, timers);
});

Deno.test("pg_sleep() waits for each of its calls once", () =>
  withSessions(1, async (only) => {
    const session = must(only);
    const start = performance.now();
    await rowsOf(session, "SELECT pg_sleep(0.02), pg_sleep(0.03)");
    equal((await rowsOf(session, "SELECT pg_sleep(0.01) FROM generate_series(1, 3)")).length, 3);
    const elapsed = performance.now() - start;
    ok(elapsed >= 75, `${elapsed} ms`);
  }));

Deno.test("pg_cancel_backend() ends another session's statement", () =>
  withSessions(2, async (first, second) => {
    const [a, b] = [must(first), must(second)];
    const sleeping = rowsOf(a, "SELECT pg_sleep(60)");
    ok(await isPending(sleeping));
    const running =
      "SELECT pid = pg_backend_pid(), query FROM pg_stat_activity WHERE state = 'active' ORDER BY 1";
    equal((await rowsOf(b, running))[0], "f|SELECT pg_sleep(60)");
    equal(await rowsOf(b, `SELECT pg_cancel_backend(${a.processId})`), ["t"]);
    await rejects(sleeping, { code: "57014" });
    equal(await rowsOf(b, "SELECT pg_cancel_backend(99999)"), ["f"]);
  }));
