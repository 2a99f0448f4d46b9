/** What is measured: a cluster of three members of this database, and one that runs alone. */
import { assert } from "../../../engine/base/assert.ts";
import { ClusterProcesses, type MemberProcess } from "../../cluster/cluster_processes.ts";
import { connectPg } from "../../support/clients.ts";
import type { PeerAddress } from "../benchmark.ts";

/** What the cluster is called. */
export const NAME = "dbd ×3";

/** How many members a cluster has here. */
export const MEMBERS = 3;

/** How to start the server: the compiled one, or from the sources. */
export function serverProgram(binary: string | null): {
  readonly dbd: string;
  readonly programArguments: readonly string[];
} {
  if (binary !== null) return { dbd: binary, programArguments: [] };
  const root = new URL("../../..", import.meta.url).pathname;
  const programArguments = ["run", "-A", "--config", `${root}deno.json`, `${root}cli/dbd.ts`];
  return { dbd: Deno.execPath(), programArguments };
}

/** Starts a cluster whose primary is the first member. */
export async function startCluster(
  binary: string | null,
  options: Pick<Parameters<typeof ClusterProcesses.start>[0], "flags" | "peersOf"> = {},
): Promise<ClusterProcesses> {
  return await ClusterProcesses.start({ ...serverProgram(binary), memberCount: MEMBERS, ...options });
}

/** Where clients of a member connect. */
export function addressOf(member: MemberProcess, name: string): PeerAddress {
  return { name, host: member.host, port: member.port, user: "postgres", database: "postgres" };
}

/** The members that are not the primary. */
export function backupsOf(cluster: ClusterProcesses, primary: MemberProcess): readonly MemberProcess[] {
  const backups = cluster.members.filter((member) => member !== primary && member.isRunning);
  assert(backups.length > 0, "a cluster has backups");
  return backups;
}

/** Milliseconds from now to the first write that a member acknowledges; all that run are tried at a time. */
export async function timeToWrite(cluster: ClusterProcesses, statement: string): Promise<number> {
  const start = performance.now();
  let isOver = false;
  const attempts = cluster.members.filter(({ isRunning }) => isRunning).map(async (member) => {
    while (!isOver && performance.now() - start < 30_000) {
      try {
        const client = await connectPg(member);
        try {
          await client.query(statement);
          return performance.now() - start;
        } finally {
          await client.close();
        }
      } catch {
        // Not yet, or not here.
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
    throw new Error(`no write at member ${member.index}:\n${cluster.logs()}`);
  });
  const first = await Promise.any(attempts);
  isOver = true;
  await Promise.allSettled(attempts);
  return first;
}
