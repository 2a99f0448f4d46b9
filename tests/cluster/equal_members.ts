/** Whether all members of a cluster have the same: op numbers, checkpoints, rows, and files when they are stopped. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { createHash } from "node:crypto";
import { connectPg } from "../support/clients.ts";
import { runProgram } from "../support/programs.ts";
import { type ClusterProcesses, eventually, type MemberProcess } from "./cluster_processes.ts";
import { atPrimary } from "./mixed_load.ts";

const CHECKPOINT_METRIC = "db_cluster_checkpoint_op_number";

/**
 * Waits until all members have the same op number and a checkpoint of the same id, and compares all rows that they
 * have, each by itself.
 */
export async function expectEqual(cluster: ClusterProcesses): Promise<void> {
  await expectEqualCheckpoints(cluster);
  const [first, ...others] = await Promise.all(cluster.members.map(contents));
  for (const other of others) deepStrictEqual(other, first);
}

/** Waits until all members have the same op number and a checkpoint of the same id: the hash of all files of it. */
export async function expectEqualCheckpoints(
  cluster: ClusterProcesses,
  milliseconds = 60_000,
): Promise<void> {
  await atPrimary(cluster, (primary) => connectPg(primary), (client) => client.query("CHECKPOINT"));
  await cluster.level(milliseconds);
  let ids: string[] = [];
  await eventually(
    async () => {
      const all = await Promise.all(cluster.members.map((member) => member.metrics(CHECKPOINT_METRIC)));
      ids = all.map((metrics) => [...metrics?.entries() ?? []].map(([id, op]) => `op ${op} ${id}`).join());
      return ids[0] !== "" && new Set(ids).size === 1;
    },
    () => `checkpoints differ:\n${ids.join("\n")}\n${cluster.logs()}`,
    milliseconds,
  );
}

/** A digest of the rows of each table. */
async function contents(member: MemberProcess): Promise<Record<string, string>> {
  const client = await member.follower();
  try {
    const { rows: tables } = await client.query(
      "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1",
    );
    const digests: Record<string, string> = {};
    for (const { relname } of tables) {
      const { rows } = await client.query({ text: `SELECT * FROM "${relname}"`, rowMode: "array" });
      const texts = rows.map((row) => JSON.stringify(row)).sort();
      digests[relname] = `${rows.length} ${createHash("sha256").update(texts.join("\n")).digest("hex")}`;
    }
    return digests;
  } finally {
    await client.end();
  }
}

/** Compares the directories of members that are stopped, and reads every byte of them. */
export async function expectEqualDirectories(dbd: string, directories: readonly string[]): Promise<void> {
  const [first, ...others] = directories;
  ok(first !== undefined);
  for (const other of others) {
    const { code, stdout, stderr } = await runProgram(dbd, ["--verify-against", other, first]);
    strictEqual(code, 0, stdout + stderr);
    ok(/checkpoint of op \d+, id [0-9a-f]{64}/.test(stdout), stdout);
  }
}
