/** Sessions that are stopped from outside: idle timeouts and pg_terminate_backend, as reported to their owner. */
import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { ManualTimers } from "../../tests/support/manual_timers.ts";
import type { DatabaseError } from "../base/errors.ts";
import { memoryHost } from "../host/memory_host.ts";
import { Engine } from "./engine.ts";
import { RowBuffer } from "../statements/row_buffer.ts";
import type { Session } from "./session.ts";

interface Fixture {
  readonly engine: Engine;
  readonly session: Session;
  readonly timers: ManualTimers;
  /** Codes that were reported to the owner of the session. */
  readonly told: string[];
  readonly run: (sql: string) => Promise<RowBuffer>;
}

async function withSession(action: (fixture: Fixture) => Promise<void>): Promise<void> {
  const host = memoryHost();
  const timers = new ManualTimers(host.timers);
  const engine = await Engine.open({ host: { ...host, timers }, directory: ":memory:" });
  const session = engine.openSession();
  const told: string[] = [];
  session.onTerminated((error: DatabaseError) => {
    told.push(error.code);
    session.close();
  });
  const run = async (sql: string): Promise<RowBuffer> => {
    const rows = new RowBuffer();
    await session.simple(sql, rows, () => {});
    return rows;
  };
  try {
    await action({ engine, session, timers, told, run });
  } finally {
    await engine.close();
  }
}

Deno.test("idle_in_transaction_session_timeout runs within a transaction only, and frees its locks", () =>
  withSession(async ({ engine, timers, told, run }) => {
    await run("CREATE TABLE t (id int PRIMARY KEY)");
    deepStrictEqual(timers.running, []);
    await run("SET idle_in_transaction_session_timeout = '5s'");
    deepStrictEqual(timers.running, []);
    await run("BEGIN");
    deepStrictEqual(timers.running, [5000]);
    await run("INSERT INTO t VALUES (1)");
    deepStrictEqual(timers.running, [5000]);
    await run("COMMIT");
    deepStrictEqual(timers.running, []);
    await run("BEGIN");
    await rejects(run("INSERT INTO t VALUES (1)"), { code: "23505" });
    deepStrictEqual(timers.running, [5000]);
    await run("ROLLBACK");
    await run("BEGIN; INSERT INTO t VALUES (2)");
    const active = engine.manager.activeCount;
    strictEqual(active, 1);
    timers.fire();
    deepStrictEqual(told, ["25P03"]);
    strictEqual(engine.manager.activeCount, 0);
    deepStrictEqual(timers.running, []);
  }));

Deno.test("idle_session_timeout runs outside of transactions only, and not while a statement runs", () =>
  withSession(async ({ timers, told, run }) => {
    await run("SET idle_session_timeout = '7s'; SET statement_timeout = '3s'");
    deepStrictEqual(timers.running, [7000]);
    const sleeping = run("SELECT pg_sleep(0.01)");
    strictEqual(timers.running.includes(7000), false);
    strictEqual(timers.running.includes(3000), true);
    timers.fire();
    await rejects(sleeping, { code: "57014" });
    deepStrictEqual(timers.running, [7000]);
    await run("BEGIN");
    deepStrictEqual(timers.running, []);
    await run("COMMIT");
    timers.fire();
    deepStrictEqual(told, ["57P05"]);
  }));

Deno.test("pg_terminate_backend tells the session's owner", () =>
  withSession(async ({ engine, session, told }) => {
    const other = engine.openSession();
    const rows = new RowBuffer();
    await other.simple(`SELECT pg_terminate_backend(${session.processId})`, rows, () => {});
    deepStrictEqual(rows.rows, [[true]]);
    deepStrictEqual(told, ["57P01"]);
    strictEqual(engine.sessionById(session.processId), undefined);
    await rejects(
      Promise.resolve().then(() =>
        other.simple(`SELECT pg_terminate_backend(pg_backend_pid())`, rows, () => {})
      ),
      { code: "57P01" },
    );
  }));
