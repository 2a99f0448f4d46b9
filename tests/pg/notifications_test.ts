/** LISTEN and NOTIFY between real connections: when a notification is told, to whom, and when not. */
import { deepStrictEqual as same, rejects } from "node:assert/strict";
import pg from "pg";
import { LIMITS } from "../../engine/base/limits.ts";
import { openPgDatabase } from "./support/pg_database.ts";

/** A client that notes what it is told. */
class Listener implements AsyncDisposable {
  readonly told: string[] = [];
  readonly client: pg.Client;
  #wake: (() => void) | null = null;

  constructor(port: number) {
    this.client = new pg.Client({ host: "127.0.0.1", port, user: "test", database: "test" });
    this.client.on("notification", ({ channel, payload }) => {
      this.told.push(`${channel}:${payload ?? ""}`);
      this.#wake?.();
    });
  }

  static async start(port: number): Promise<Listener> {
    const listener = new Listener(port);
    await listener.client.connect();
    return listener;
  }

  /** Waits until it has been told so many. */
  async until(count: number): Promise<string[]> {
    while (this.told.length < count) await new Promise<void>((resolve) => this.#wake = resolve);
    return this.told.splice(0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.end();
  }
}

Deno.test("NOTIFY tells idle listeners at once, after the commit, each equal message once", async () => {
  await using database = await openPgDatabase();
  await using one = await Listener.start(database.port);
  await using two = await Listener.start(database.port);
  await using sender = await Listener.start(database.port);
  await one.client.query("LISTEN news");
  await two.client.query("LISTEN news; LISTEN other");
  await sender.client.query("BEGIN; NOTIFY news, 'a'; NOTIFY news, 'a'; NOTIFY news, 'b'");
  await sender.client.query("SAVEPOINT s");
  await sender.client.query("NOTIFY news, 'taken back'");
  await sender.client.query("ROLLBACK TO s");
  same([one.told, two.told], [[], []], "nothing before the commit");
  await sender.client.query("COMMIT");
  same(await one.until(2), ["news:a", "news:b"]);
  same(await two.until(2), ["news:a", "news:b"]);
  await sender.client.query("BEGIN; NOTIFY news, 'rolled back'; ROLLBACK");
  await sender.client.query("SELECT pg_notify('other', 'last')");
  same(await two.until(1), ["other:last"]);
  await one.client.query("SELECT 1");
  same([one.told, sender.told], [[], []]);
});

Deno.test("NOTIFY reaches a client in a transaction when that has ended, and none that has said UNLISTEN or gone", async () => {
  await using database = await openPgDatabase();
  await using busy = await Listener.start(database.port);
  await using sender = await Listener.start(database.port);
  await busy.client.query("LISTEN jobs");
  await busy.client.query("BEGIN");
  await sender.client.query("NOTIFY jobs, '1'");
  await busy.client.query("SELECT 1");
  same(busy.told, []);
  await busy.client.query("COMMIT");
  same(busy.told, ["jobs:1"]);
  await busy.client.query("BEGIN; UNLISTEN jobs; ROLLBACK");
  await sender.client.query("NOTIFY jobs, '2'");
  same(await busy.until(2), ["jobs:1", "jobs:2"]);
  await busy.client.query("UNLISTEN *");
  await sender.client.query("NOTIFY jobs, '3'");
  await busy.client.query("SELECT 1");
  same(busy.told, []);
  {
    await using leaving = await Listener.start(database.port);
    await leaving.client.query("LISTEN jobs");
  }
  await sender.client.query("NOTIFY jobs, '4'");
});

Deno.test("NOTIFY fails when a listener does not take its notifications", async () => {
  await using database = await openPgDatabase();
  await using busy = await Listener.start(database.port);
  await using sender = await Listener.start(database.port);
  await busy.client.query("LISTEN flood");
  await busy.client.query("BEGIN");
  const most = LIMITS.maximumPendingNotifications;
  await sender.client.query(`SELECT pg_notify('flood', g::text) FROM generate_series(1, ${most}) g`);
  await rejects(sender.client.query("NOTIFY flood, 'one too many'"), /too many notifications/);
  await busy.client.query("COMMIT");
  same(busy.told.length, most);
  busy.told.length = 0;
  await sender.client.query("NOTIFY flood, 'again'");
  same(await busy.until(1), ["flood:again"]);
});

Deno.test("NOTIFY of a statement that runs again is said once", async () => {
  await using database = await openPgDatabase();
  await using first = await Listener.start(database.port);
  await using second = await Listener.start(database.port);
  await using listener = await Listener.start(database.port);
  await first.client.query("CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0)");
  await listener.client.query("LISTEN done");
  await first.client.query("BEGIN");
  await first.client.query("UPDATE t SET n = n + 1");
  // Waits for the other's lock, and is run again at a newer snapshot.
  const waiting = second.client.query("UPDATE t SET n = n + 1 RETURNING pg_notify('done', n::text)");
  await first.client.query("SELECT pg_sleep(0.05)");
  await first.client.query("COMMIT");
  await waiting;
  await second.client.query("NOTIFY done, 'end'");
  same(await listener.until(2), ["done:2", "done:end"]);
});
