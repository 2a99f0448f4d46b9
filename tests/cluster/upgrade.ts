/**
 * An upgrade of a cluster under load, member by member: backups first, the primary last, as `docs/cluster.md` says.
 * Clients notice nothing; at the end each change holds once, and all members say the same.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { connect } from "../../mod.ts";
import { ClusterProcesses, type MemberProcess, type ServerProgram } from "./cluster_processes.ts";

/** What an upgrade has shown. */
export interface UpgradeResult {
  readonly increments: number;
  readonly reads: number;
  /** The longest time between two acknowledged changes, in milliseconds. */
  readonly longestPause: number;
}

async function ownAnswer({ host, httpPort }: MemberProcess, body: string): Promise<string> {
  const headers = { "Content-Type": "text/plain", "X-Db-Read-From": "follower" };
  const response = await fetch(`http://${host}:${httpPort}/v1/sql`, { method: "POST", headers, body });
  return await response.text();
}

/** Runs members of the old program, puts the new one in its place under load, and checks what is there then. */
export async function upgradeUnderLoad(
  { before, after, flags = [] }: {
    readonly before: ServerProgram;
    readonly after: ServerProgram;
    readonly flags?: readonly string[];
  },
): Promise<UpgradeResult> {
  await using cluster = await ClusterProcesses.start({ ...before, memberCount: 3, flags });
  const addresses = cluster.members.map(({ host, binaryPort }) => `${host}:${binaryPort}`);
  const [writer, reader] = await Promise.all([connect({ addresses }), connect({ addresses })]);
  await writer.execute(`
    CREATE TABLE counter (name TEXT PRIMARY KEY, value BIGINT NOT NULL);
    INSERT INTO counter VALUES ('once', 0);
    CREATE TABLE mark (id BIGINT PRIMARY KEY, filler TEXT NOT NULL)`);
  let isOver = false, increments = 0, reads = 0, longestPause = 0;
  const count = async (): Promise<void> => {
    for (let last = performance.now(); !isOver; increments++) {
      const [row] = await writer.query("UPDATE counter SET value = value + 1 RETURNING value");
      strictEqual(Number(row?.value), increments + 1, "each change is applied once");
      await writer.execute("INSERT INTO mark VALUES ($1, repeat('x', 500))", [increments]);
      longestPause = Math.max(longestPause, performance.now() - last);
      last = performance.now();
    }
  };
  const read = async (): Promise<void> => {
    for (; !isOver; reads++) {
      const least = increments;
      const [row] = await reader.query("SELECT value FROM counter");
      ok(Number(row?.value) >= least, `${row?.value} after ${least} were acknowledged`);
    }
  };
  const goesOn = async (): Promise<void> => {
    const target = increments + 20;
    for (const end = performance.now() + 30_000; increments < target;) {
      ok(performance.now() < end, cluster.logs());
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const load = Promise.all([count(), read()]);
  try {
    await goesOn();
    const first = await cluster.primary();
    const backups = cluster.members.filter((member) => member !== first);
    for (const member of [...backups, first]) {
      strictEqual(await member.stop("SIGTERM"), 0, cluster.logs());
      member.program = after;
      member.start();
      await cluster.caughtUp(member);
      await goesOn();
    }
  } finally {
    isOver = true;
    await load;
  }
  await cluster.level();
  const sql = "SELECT (SELECT value FROM counter) AS value, count(*) AS marks, sum(id) AS ids FROM mark";
  const answers = await Promise.all(cluster.members.map((member) => ownAnswer(member, sql)));
  deepStrictEqual(new Set(answers).size, 1, `${answers}`);
  const ids = increments * (increments - 1) / 2;
  deepStrictEqual(JSON.parse(answers[0] ?? "").rows, [{ value: increments, marks: increments, ids }]);
  await Promise.all([writer.close(), reader.close()]);
  return { increments, reads, longestPause };
}
