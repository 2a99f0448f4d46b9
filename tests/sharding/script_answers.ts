/** The answers of a script, of an engine alone and of one with shards. */
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import { shardInThisThread } from "../../engine/sharding/open_sharded.ts";
import { TestClient } from "../../engine/statements/copy/client_for_test.ts";
import { DatabaseError } from "../../mod.ts";
import type { Step } from "./equal_script.ts";
import { openShardedEngine } from "./sharded_database.ts";

/** What each step answers, with its text; `shardCount` 1: an engine alone. */
export async function scriptAnswers(shardCount: number, steps: readonly Step[]): Promise<string[]> {
  const engine = shardCount === 1
    ? await Engine.open({ host: memoryHost(), directory: ":memory:" })
    : await openShardedEngine(
      shardCount,
      (options, index) => shardInThisThread(memoryHost())(options, index),
    );
  return await answers(engine, steps);
}

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
