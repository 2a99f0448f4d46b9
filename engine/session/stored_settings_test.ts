/** Settings and comments that the catalog keeps: what new sessions begin with, and what is there after a restart. */
import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { open } from "../../mod.ts";
import { engineOf } from "./database.ts";
import { RowBuffer } from "../statements/row_buffer.ts";
import type { Session } from "./session.ts";

async function rows(session: Session, sql: string): Promise<unknown[][]> {
  const sink = new RowBuffer();
  await session.simple(sql, sink, () => {});
  return sink.rows.map((row) => [...row]);
}

async function value(session: Session, sql: string): Promise<unknown> {
  return (await rows(session, sql))[0]?.[0];
}

Deno.test("ALTER DATABASE and ALTER ROLE … SET give new sessions their settings, also after a restart", async () => {
  const directory = await Deno.makeTempDir();
  try {
    const first = await open(directory);
    const session = engineOf(first).openSession({ user: "anna", database: "app" });
    await rows(session, "alter database app set timezone to 'europe/berlin'");
    await rows(session, "alter database app set work_mem = 8192");
    await rows(session, "alter role anna set work_mem = '16MB'");
    await rows(session, 'alter role anna in database app set search_path = a, "B c"');
    strictEqual(await value(session, "show timezone"), "UTC");
    for (
      const [sql, code] of [
        ["alter database other set work_mem = '8MB'", "3D000"],
        ["alter role bert set work_mem = '8MB'", "42704"],
        ["alter role all set nosuch = '8MB'", "42704"],
        ["alter role anna set work_mem = '3'", "22023"],
        ["alter role anna set server_version = '3'", "55P02"],
        ["alter database app set tablespace x", "0A000"],
        ["drop database app", "55006"],
        ["create database other", "0A000"],
      ] as const
    ) await rejects(rows(session, sql), { code });
    await first.close();

    await using second = await open(directory);
    const anna = engineOf(second).openSession({ user: "anna", database: "app" });
    strictEqual(await value(anna, "show timezone"), "Europe/Berlin");
    strictEqual(await value(anna, "show work_mem"), "16MB");
    strictEqual(await value(anna, "show search_path"), 'a, "B c"');
    deepStrictEqual(await rows(anna, "select setting, source from pg_settings where name = 'work_mem'"), [[
      "16384",
      "user",
    ]]);
    await rows(anna, "set work_mem = '1MB'; reset work_mem");
    strictEqual(await value(anna, "show work_mem"), "16MB");
    const bert = engineOf(second).openSession({ user: "bert", database: "app" });
    strictEqual(await value(bert, "show work_mem"), "8MB");
    const given = engineOf(second).openSession({
      user: "anna",
      database: "app",
      settings: { work_mem: "2MB" },
    });
    strictEqual(await value(given, "show work_mem"), "2MB");
    strictEqual(
      await value(given, "select setconfig[1] from pg_db_role_setting where setrole = 10"),
      "work_mem=16MB",
    );
    await rows(given, "alter role anna reset work_mem; alter database app reset all");
    const last = engineOf(second).openSession({ user: "anna", database: "app" });
    deepStrictEqual(
      [
        await value(last, "show work_mem"),
        await value(last, "show timezone"),
        await value(last, "show search_path"),
      ],
      ["4MB", "UTC", 'a, "B c"'],
    );
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("COMMENT ON survives a checkpoint and a restart", async () => {
  const directory = await Deno.makeTempDir();
  try {
    const first = await open(directory);
    const session = engineOf(first).openSession({ user: "anna", database: "app" });
    await rows(session, "create table t (a int constraint positive check (a > 0)); create sequence s");
    await rows(session, "comment on table t is 'a table'; comment on constraint positive on t is 'a check'");
    await rows(
      session,
      "checkpoint; comment on sequence s is 'a sequence'; comment on database app is 'all of it'",
    );
    await first.close();
    await using second = await open(directory);
    const anna = engineOf(second).openSession({ user: "anna", database: "app" });
    deepStrictEqual(
      await rows(anna, "select description from pg_description where objoid > 16383 order by 1"),
      [["a check"], ["a sequence"], ["a table"]],
    );
    strictEqual(
      await value(anna, "select shobj_description(oid, 'pg_database') from pg_database"),
      "all of it",
    );
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
