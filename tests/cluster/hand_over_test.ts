/** A primary that is stopped with SIGTERM lets another member go on at once, without the silence that a kill takes. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { connect } from "../../mod.ts";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { connectPg } from "../support/clients.ts";
import { ClusterProcesses, type MemberProcess } from "./cluster_processes.ts";

const ROUNDS = 3;

/** Milliseconds until one of the members is the primary. */
async function untilPrimary(members: readonly MemberProcess[]): Promise<number> {
  const started = performance.now();
  while (performance.now() - started < 60_000) {
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
  // A kill takes 500 ms of silence alone, and what a busy machine adds to both.
  const primary = await cluster.primary();
  const ended = primary.stop("SIGKILL");
  const killed = await untilPrimary(cluster.members.filter((member) => member !== primary));
  await ended;
  console.log(
    `the next primary after a stop in order: ${times.map(Math.round).join(", ")} ms, a kill ${
      Math.round(killed)
    } ms`,
  );
  ok(Math.min(...times) < killed, `${times}, and ${killed} after a kill`);
});

Deno.test("all members are restarted one by one under load: no write is lost or made twice, and nobody waits for an open transaction", async () => {
  const { dbd } = await compiledPrograms();
  await using cluster = await ClusterProcesses.start({
    dbd,
    memberCount: 3,
    flags: ["--drain-timeout", "60"],
  });
  const addresses = cluster.members.map(({ host, binaryPort }) => `${host}:${binaryPort}`);
  const clients = await Promise.all(
    addresses.map((_, first) =>
      connect({ addresses: [...addresses.slice(first), ...addresses.slice(0, first)] })
    ),
  );
  await clients[0]?.execute("CREATE TABLE counter (client int PRIMARY KEY, value int NOT NULL)");
  await clients[0]?.execute("INSERT INTO counter SELECT n, 0 FROM generate_series(0, 2) AS n");
  let isOver = false;
  const pauses = [0];
  const load = clients.map(async (client, index) => {
    for (let value = 1, answeredAt = performance.now(); !isOver; value++) {
      const [row] = await client.query(
        `UPDATE counter SET value = value + 1 WHERE client = ${index} RETURNING value`,
      );
      strictEqual(row?.value, value);
      const now = performance.now();
      pauses.push(Math.max(pauses.pop() ?? 0, now - answeredAt));
      answeredAt = now;
    }
  });
  try {
    const first = await cluster.primary();
    const inOrder = [...cluster.members.filter((member) => member !== first), first];
    for (const member of inOrder) {
      pauses.push(0);
      const isPrimary = await cluster.primary() === member;
      const block = await connectPg(await cluster.primary());
      await block.query("BEGIN");
      await block.query("UPDATE counter SET value = -1 WHERE client = -1");
      strictEqual(await member.stop("SIGTERM"), 0, member.log);
      await pause(300);
      member.start();
      await cluster.caughtUp(member);
      // It is lost with its primary, and nothing else is.
      strictEqual(
        await block.query("COMMIT").then(() => "committed", () => "lost"),
        isPrimary ? "lost" : "committed",
      );
      await block.close();
    }
  } finally {
    isOver = true;
    await Promise.all(load);
    await Promise.all(clients.map((client) => client.close()));
  }
  console.log(
    `longest pauses of three clients, the primary last: ${pauses.slice(1).map(Math.round).join(", ")} ms`,
  );
  // The open transaction alone would take a minute.
  ok((pauses.at(-1) ?? Infinity) < 40_000, `${pauses}`);
  deepStrictEqual(cluster.bugs(), []);
});

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
