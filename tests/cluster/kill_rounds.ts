/**
 * Members of a cluster are killed with SIGKILL at random moments under load, many times, and started again.
 *
 * The load is that of the single server's kills (`tests/e2e/kill_workload.ts`); workers connect to any member, and to
 * another when their connection ends. Not every kill takes the primary, and now and then a second member is killed
 * while the first is away, so that the group waits. At the end all members have the same op number, and after a clean
 * stop the same state.
 */
import { assert } from "../../engine/base/assert.ts";
import {
  type Account,
  codeOf,
  createTables,
  figuresOf,
  isLostConnection,
  type KillFigures,
  newAccount,
  verify,
  work,
} from "../e2e/kill_workload.ts";
import { connectPg, connectPostgres, type SqlClient } from "../support/clients.ts";
import { type SeededRandom, seededRandom } from "../support/random.ts";
import { ClusterProcesses, type MemberProcess } from "./cluster_processes.ts";

/** How often and under which load to kill. */
export interface ClusterKillOptions {
  readonly dbd: string;
  readonly memberCount: number;
  readonly rounds: number;
  readonly workers: number;
  readonly seed: number;
  readonly onRound?: (round: number) => void;
}

/** What was kept, and how long the cluster was without a primary after each kill of one. */
export interface ClusterKillFigures extends KillFigures {
  readonly primaryKills: number;
  /** Milliseconds from the kill to the first acknowledged write, in order of size. */
  readonly failovers: readonly number[];
}

/** What a client meets when the primary goes: PostgreSQL's codes for it, and the end of the connection. */
const FAILOVER_CODES = ["40001", "40003", "57P01", "57P03", "08006", "CONNECT_TIMEOUT"];

function isFailover(error: unknown): boolean {
  return isLostConnection(error) || FAILOVER_CODES.includes(codeOf(error));
}

/** Connects to any member that lets it; null when the load is over before. */
async function connectToAny(
  members: readonly MemberProcess[],
  random: SeededRandom,
  isOver: () => boolean,
): Promise<SqlClient | null> {
  while (!isOver()) {
    const member = members[random.below(members.length)];
    assert(member !== undefined, "a cluster has members");
    try {
      return await (random.below(2) === 0 ? connectPg(member) : connectPostgres(member));
    } catch (error) {
      if (!isFailover(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  return null;
}

/** Kills members so many times; rejects when anything is not as it was promised. */
export async function killMembers(options: ClusterKillOptions): Promise<ClusterKillFigures> {
  const { dbd, memberCount, rounds, workers, seed, onRound } = options;
  const random = seededRandom(seed);
  await using cluster = await ClusterProcesses.start({
    dbd,
    memberCount,
    flags: ["--checkpoint-log", "1MiB"],
  });
  const { members } = cluster;
  const all = Array.from({ length: workers }, (_, worker) => newAccount(worker));
  const failovers: number[] = [];
  let isOver = false;
  const first = await connectPg(await cluster.primary());
  await createTables(first, workers);
  await first.close();
  const load = Promise.all(all.map((account) =>
    workOn(members, account, {
      random: seededRandom(seed + account.worker),
      isOver: () => isOver,
    })
  ));
  try {
    for (let round = 1; round <= rounds; round++) {
      await pause(150 + random.below(700));
      const primary = await cluster.primary();
      const victim = random.below(2) === 0 ? primary : members[random.below(memberCount)];
      assert(victim !== undefined, "a cluster has members");
      await victim.stop("SIGKILL");
      if (victim === primary) failovers.push(await timeToWrite(cluster, all));
      const second = members[(victim.index + 1) % memberCount];
      if (second !== undefined && random.below(6) === 0) {
        await second.stop("SIGKILL");
        await pause(random.below(500));
        second.start();
      }
      await pause(random.below(600));
      victim.start();
      onRound?.(round);
    }
    await cluster.primary();
  } finally {
    isOver = true;
    await load;
  }
  const last = await connectPg(await cluster.primary());
  await verify(last, all, rounds);
  await last.close();
  await cluster.level();
  return {
    ...figuresOf(all),
    primaryKills: failovers.length,
    failovers: failovers.sort((a, b) => a - b),
  };
}

/** Works on whichever member lets it, until the load is over. */
async function workOn(
  members: readonly MemberProcess[],
  account: Account,
  { random, isOver }: { random: SeededRandom; isOver: () => boolean },
): Promise<void> {
  for (;;) {
    const client = await connectToAny(members, random, isOver);
    if (client === null) return;
    const stop = setInterval(() => {
      if (isOver()) void client.close();
    }, 50);
    try {
      await work(client, account, random, isFailover);
    } finally {
      clearInterval(stop);
    }
  }
}

/** Milliseconds until a worker's write is acknowledged again. */
async function timeToWrite(cluster: ClusterProcesses, all: readonly Account[]): Promise<number> {
  const start = performance.now();
  const writes = () =>
    all.reduce((sum, { acknowledged, increments }) => sum + acknowledged.size + increments, 0);
  // Answers that were on their way count for nothing.
  await pause(50);
  const before = writes();
  while (writes() <= before) {
    if (performance.now() - start > 30_000) throw new Error(`no write for 30 s:\n${cluster.logs()}`);
    await pause(5);
  }
  return performance.now() - start;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
