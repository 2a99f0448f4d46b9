/** The listener over an engine that counts turns; `tests/pg/listener_test.ts` has the rest. */
import { ok, strictEqual as equal } from "node:assert/strict";
import { PG_LIMITS } from "./limits.ts";
import { startPgServer } from "./server.ts";
import { ScriptedEngine } from "./testing/scripted_engine.ts";

/** Counts how often others get a turn. */
class CountingEngine extends ScriptedEngine {
  turns = 0;

  override yieldToLoop(): Promise<void> {
    this.turns++;
    return super.yieldToLoop();
  }
}

Deno.test("The listener lets others have a turn between connections that only come and go", async () => {
  const engine = new CountingEngine();
  const server = await startPgServer({ engine, address: { hostname: "127.0.0.1", port: 0 }, token: null });
  const rounds = 5;
  try {
    for (let round = 0; round < rounds; round++) {
      const clients = await Promise.all(
        Array.from({ length: PG_LIMITS.acceptsPerTurn }, () => Deno.connect(server.address)),
      );
      for (const client of clients) {
        await client.closeWrite();
        // The server has accepted it and closes as well.
        equal(await client.read(new Uint8Array(1)), null);
        client.close();
      }
    }
    ok(engine.turns >= rounds, `${engine.turns} turns`);
  } finally {
    await server.close();
  }
});
