/**
 * Faults of the members, one after the other, under the load of `mixed_load.ts`. At the end all members have the same
 * op number, answer the same by themselves, and have files of which each byte is as it was written; none has ended by
 * itself or told of a bug meanwhile.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { runProgram } from "../support/programs.ts";
import { seededRandom } from "../support/random.ts";
import { ClusterProcesses } from "./cluster_processes.ts";
import { expectEqual } from "./equal_members.ts";
import { FaultNetwork } from "./fault_network.ts";
import { type FaultName, FAULTS } from "./member_faults.ts";
import { MemberWatch } from "./member_watch.ts";
import { type LoadFigures, MixedLoad } from "./mixed_load.ts";

/** What happens under which load. */
export interface FaultOptions {
  readonly dbd: string;
  readonly memberCount: number;
  readonly clients: number;
  readonly seed: number;
  /** One after the other. */
  readonly faults: readonly FaultName[];
  /** What servers are given besides. */
  readonly flags?: readonly string[];
  /** How long what lasts lasts: 1 is the full size. */
  readonly share: number;
  readonly onFault?: (report: FaultReport) => void;
}

/** What a fault has led to. */
export interface FaultReport {
  readonly fault: FaultName;
  /** From its end to the next acknowledged change. */
  readonly pause: number;
  /** The longest time without an acknowledged change of a register or counter, from its beginning on. */
  readonly silence: number;
  /** What members have said of themselves meanwhile, line by line. */
  readonly timeline: readonly string[];
}

/** What was kept, and for how long nobody was served. */
export interface FaultFigures {
  readonly kept: LoadFigures;
  readonly reports: readonly FaultReport[];
  /** The largest resident memory of each member, in MiB. */
  readonly mebibytes: readonly number[];
  /** See {@link MemberWatch.growth}. */
  readonly growth: readonly number[];
}

/** What a member may take, whatever happens: 128 MiB for blocks of tables, and what the program itself takes. */
const MAX_MEBIBYTES = 512;
/** What each shard's thread may take besides: they have been seen to take 375 to 475 MiB with four of them, and 545. */
const MAX_SHARD_MEBIBYTES = 64;
/** What one that has run for five minutes or more may take more than before. */
const MAX_GROWTH_MEBIBYTES = 96;

/** Lets all of it happen; rejects when anything is not as it was promised. */
export async function runFaults(options: FaultOptions): Promise<FaultFigures> {
  const { dbd, memberCount, clients, seed, faults, share, onFault } = options;
  const random = seededRandom(seed);
  using network = new FaultNetwork();
  await using cluster = await ClusterProcesses.start({
    dbd,
    memberCount,
    flags: ["--checkpoint-log", "1MiB", ...options.flags ?? []],
    peersOf: network.peersOf,
  });
  const load = await MixedLoad.start(cluster, clients, seed);
  const reports: FaultReport[] = [];
  let kept: LoadFigures;
  await using watch = MemberWatch.start(cluster);
  try {
    for (const fault of faults) {
      await pause(150 + random.below(600));
      watch.mark();
      load.takeSilence();
      await FAULTS[fault]({ cluster, network, random, share });
      watch.note("the fault is over");
      const milliseconds = await timeToWrite(load);
      watch.note("clients are served");
      const report = { fault, pause: milliseconds, silence: load.takeSilence(), timeline: watch.timeline };
      reports.push(report);
      onFault?.(report);
    }
    await load.untilUseful();
    kept = await load.finish();
    await expectEqual(cluster);
  } catch (error) {
    await load.finish().catch(() => undefined);
    const states = await Promise.all(cluster.members.map((member) => member.health()));
    const lines = [`seed ${seed}: ${JSON.stringify(states)}`, ...watch.timeline, cluster.logs()];
    throw new Error(lines.join("\n"), { cause: error });
  }
  const mebibytes = cluster.members.map((member) => member.peakMebibytes());
  const growth = watch.growth();
  deepStrictEqual(cluster.bugs(), []);
  const { flags = [] } = options;
  const shards = flags.includes("--shards") ? Number(flags[flags.indexOf("--shards") + 1]) : 0;
  const most = MAX_MEBIBYTES + shards * MAX_SHARD_MEBIBYTES;
  ok(Math.max(...mebibytes) < most, `resident memory: ${mebibytes.join(", ")} MiB`);
  ok(Math.max(0, ...growth) < MAX_GROWTH_MEBIBYTES, `memory that grows: ${growth.join(", ")} MiB`);
  await Promise.all(cluster.members.map((member) => member.stop("SIGKILL")));
  for (const { directory } of cluster.members) {
    const { code, stderr } = await runProgram(dbd, ["verify", directory]);
    strictEqual(code, 0, stderr);
  }
  return { kept, reports, mebibytes, growth };
}

/** Milliseconds until a change is acknowledged again. */
async function timeToWrite(load: MixedLoad): Promise<number> {
  const start = performance.now();
  const before = load.acknowledged;
  // Answers may still be on their way.
  while (load.acknowledged < before + 3) {
    if (load.failure !== null) throw load.failure;
    ok(performance.now() - start < 120_000, "no change for 120 s");
    await pause(5);
  }
  return performance.now() - start;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
