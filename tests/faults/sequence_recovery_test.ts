/** Sequences after a recovery: never a value that was handed out to somebody who has committed. */
import { strictEqual } from "node:assert/strict";
import { SimulatedHost } from "../../engine/host/simulated_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import { RowBuffer } from "../../engine/statements/row_buffer.ts";
import type { Session } from "../../engine/session/session.ts";

Deno.test("Sequences do not go back when an earlier value is committed after a later one", async () => {
  for (const isCheckpointed of [false, true]) {
    const host = new SimulatedHost(1);
    const open = () => host.settle(Engine.open({ host, directory: "db" }));
    const run = async (session: Session, sql: string) => {
      const sink = new RowBuffer();
      await host.settle(Promise.resolve(session.simple(sql, sink, () => {})));
      return sink.rows;
    };
    const engine = await open();
    const early = engine.openSession(), late = engine.openSession();
    await run(early, "CREATE TABLE t (id serial PRIMARY KEY, who text)");
    await run(early, "BEGIN");
    await run(early, "INSERT INTO t (who) VALUES ('early')");
    await run(late, "INSERT INTO t (who) VALUES ('late'), ('late'), ('late')");
    await run(early, "COMMIT");
    if (isCheckpointed) await run(late, "CHECKPOINT");
    await host.settle(engine.whenDurable(engine.lastOp));
    host.crash();
    const again = await open();
    const [row] = await run(again.openSession(), "INSERT INTO t (who) VALUES ('again') RETURNING id");
    strictEqual(row?.[0], 5);
    await host.settle(again.close());
  }
});
