/** What a statement says when the disk cannot be read, and that the next one goes on. */
import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { DatabaseError } from "../../engine/base/errors.ts";
import { SimulatedHost } from "../../engine/host/simulated_host.ts";
import { Database } from "../../engine/session/database.ts";

const rowCount = 20_000;

Deno.test("Engine fails a statement whose read fails with 58030, and serves the next one", async () => {
  const host = new SimulatedHost(7);
  const open = () => host.settle(Database.open({ host, directory: "db" }));
  const first = await open();
  await host.settle(first.execute("CREATE TABLE wide (id BIGINT PRIMARY KEY, body TEXT NOT NULL)"));
  await host.settle(
    first.execute(`INSERT INTO wide SELECT n, md5(n::text) FROM generate_series(1, ${rowCount}) AS n`),
  );
  await host.settle(first.execute("CHECKPOINT"));
  await host.settle(first.close());

  // Nothing that is read is kept.
  const database = await host.settle(Database.open({ host, directory: "db", blockCacheBytes: 0 }));
  const sum = () => host.settle(database.query("SELECT sum(length(body)) AS total FROM wide"));
  host.disk.failNext("read", "db/tables");
  await rejects(sum(), (error) => {
    ok(error instanceof DatabaseError, String(error));
    strictEqual(error.code, "58030");
    return true;
  });
  deepStrictEqual(await sum(), [{ total: rowCount * 32 }]);
  await host.settle(database.execute("INSERT INTO wide VALUES (0, 'still writable')"));
  deepStrictEqual(await host.settle(database.query("SELECT count(*) AS n FROM wide")), [{ n: rowCount + 1 }]);
  await host.settle(database.close());
});
