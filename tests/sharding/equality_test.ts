/** One script answers the same with any number of shards. */
import { deepStrictEqual, ok } from "node:assert/strict";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import { shardInThisThread } from "../../engine/sharding/open_sharded.ts";
import { DatabaseError } from "../../mod.ts";
import { TestClient } from "../../engine/statements/copy/client_for_test.ts";
import { equalScript, type Step } from "./equal_script.ts";
import { openShardedEngine } from "./sharded_database.ts";

async function answers(engine: Engine, steps: readonly Step[]): Promise<string[]> {
  const client = TestClient.over(engine);
  const list: string[] = [];
  for (const { sql, data } of steps) {
    try {
      if (data !== undefined) list.push(String(await client.copyIn(sql, data)));
      else list.push((await client.rows(sql)).join("\n"));
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      const { code, message, detail, constraint } = error;
      list.push(JSON.stringify([code, message, detail, constraint]));
    }
  }
  await client.close();
  return list.map((answer, index) => `${steps[index]?.sql}\n${answer}`);
}

for (const [shardCount, count] of [[2, 300], [4, 300], [8, 150], [16, 150]] as const) {
  Deno.test(`a script has the same answers with ${shardCount} shards and without`, async () => {
    const steps = equalScript(shardCount, count);
    const alone = await answers(await Engine.open({ host: memoryHost(), directory: ":memory:" }), steps);
    const sharded = await openShardedEngine(
      shardCount,
      (options, index) => shardInThisThread(memoryHost())(options, index),
    );
    deepStrictEqual(await answers(sharded, steps), alone);
    const failed = alone.filter((answer) => answer.includes('\n["')).length;
    ok(failed > 5 && failed < count / 2, `${failed} of ${steps.length} statements fail`);
  });
}
