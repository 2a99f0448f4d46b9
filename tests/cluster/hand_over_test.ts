/** A primary that is stopped with SIGTERM lets another member go on at once, without the silence that a kill takes. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { connectPg } from "../support/clients.ts";
import { ClusterProcesses, type MemberProcess } from "./cluster_processes.ts";

const ROUNDS = 3;

/** Milliseconds until one of the members is the primary. */
async function untilPrimary(members: readonly MemberProcess[]): Promise<number> {
  const started = performance.now();
  while (performance.now() - started < 10_000) {
    const healths = await Promise.all(members.map((member) => member.health()));
    if (healths.some((health) => health?.role === "primary")) break;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return performance.now() - started;
}

Deno.test("a primary that is stopped in order is followed at once, and no row is lost", async () => {
  const { dbd } = await compiledPrograms();
  await using cluster = await ClusterProcesses.start({ dbd, memberCount: 3 });
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const primary = await cluster.primary();
    const client = await connectPg(primary);
    await client.query("CREATE TABLE IF NOT EXISTS rounds (round integer)");
    await client.query(`INSERT INTO rounds VALUES (${round})`);
    await client.close();
    const others = cluster.members.filter((member) => member !== primary);
    const stopped = primary.stop("SIGTERM");
    times.push(await untilPrimary(others));
    strictEqual(await stopped, 0, cluster.logs());
    primary.start();
    await cluster.level();
  }
  const client = await connectPg(await cluster.primary());
  const rows = await client.query("SELECT round FROM rounds ORDER BY round");
  await client.close();
  deepStrictEqual(rows.map(({ round }) => round), Array.from({ length: ROUNDS }, (_, round) => round));
  console.log(`the next primary after a stop in order: ${times.map(Math.round).join(", ")} ms`);
  // A kill takes 500 ms of silence alone.
  ok(Math.min(...times) < 500, `${times}`);
});
