/** The answers of a script, of an engine alone and of one with shards. */
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import { shardInThisThread } from "../../engine/sharding/open_sharded.ts";
import { TestClient } from "../../engine/statements/copy/client_for_test.ts";
import { DatabaseError } from "../../mod.ts";
import type { Step } from "./equal_script.ts";
import { openShardedEngine } from "./sharded_database.ts";

/** What each step answers, with its text; `shardCount` null: an engine that was not asked for shards. */
export async function scriptAnswers(shardCount: number | null, steps: readonly Step[]): Promise<string[]> {
  const engine = shardCount === null
    ? await Engine.open({ host: memoryHost(), directory: ":memory:" })
    : await openShardedEngine(
      shardCount,
      (options, index) => shardInThisThread(memoryHost())(options, index),
    );
  // With shards nobody locks what it has lost by before, and who waits here is never let go.
  engine.manager.losses.remembers = false;
  const clients = [TestClient.over(engine), TestClient.over(engine)] as const;
  const notifications: string[] = [];
  for (const [index, { session }] of clients.entries()) {
    engine.notifications.attach(session.processId, {
      waiting: () => 0,
      receive: ({ channel, payload }) => notifications.push(`session ${index} hears ${channel}: ${payload}`),
    });
  }
  const list: string[] = [];
  for (const step of steps) {
    const answer = await answerOf(clients[step.by === undefined ? 0 : 1], step);
    list.push([step.sql, ...answer, ...notifications.splice(0)].join("\n"));
  }
  await engine.close();
  return list;
}

async function answerOf(client: TestClient, { sql, data, out, once, ordered }: Step): Promise<string[]> {
  try {
    if (data !== undefined) return [await client.copyIn(sql, data)];
    if (out === true) return [new TextDecoder("latin1").decode(await client.copyOut(sql))];
    if (once !== undefined) return [await onceAnswer(client, sql, once)];
    const rows = await client.rows(sql);
    return ordered === false ? rows.sort() : rows;
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    const { code, message, detail, constraint } = error;
    return [JSON.stringify([code, message, detail, constraint])];
  }
}

/** A request that is exactly once, whose reply is its rows. */
async function onceAnswer(client: TestClient, sql: string, sequence: number): Promise<string> {
  const request = {
    clientId: "00112233445566778899aabbccddeeff",
    sequence: BigInt(sequence),
    digest: new TextEncoder().encode(sql),
  };
  const { reply, repeated } = await client.session.once(
    request,
    async () => new TextEncoder().encode(await client.run(sql)),
    ({ code }) => new TextEncoder().encode(code),
  );
  return `${new TextDecoder().decode(reply)}${repeated ? " again" : ""}`;
}
