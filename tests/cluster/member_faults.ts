/** What can happen to the members of a real cluster, each by its name; afterwards all of them run and are connected. */
import { assert } from "../../engine/base/assert.ts";
import type { SeededRandom } from "../support/random.ts";
import type { ClusterProcesses, MemberProcess } from "./cluster_processes.ts";
import type { FaultNetwork } from "./fault_network.ts";

/** To whom it happens. */
export interface FaultTarget {
  readonly cluster: ClusterProcesses;
  readonly network: FaultNetwork;
  readonly random: SeededRandom;
  /** How long what lasts lasts: 1 is the full size. */
  readonly share: number;
}

const STOPPED_MILLISECONDS = 5000;
const CUT_MILLISECONDS = 4000;
const SLOW_MILLISECONDS = 4000;
const THROTTLED_BYTES_PER_SECOND = 1_000_000;

type Fault = (target: FaultTarget) => Promise<void>;

/** All of them. */
export const FAULTS = {
  "kill of a member": async ({ cluster, random }) => {
    const victim = random.pick(cluster.members);
    await victim.stop("SIGKILL");
    await pause(random.below(600));
    victim.start();
  },
  "kill of the primary": async ({ cluster, random }) => {
    const victim = await cluster.primary();
    await victim.stop("SIGKILL");
    await pause(random.below(600));
    victim.start();
  },
  "two kills of the primary in a row": async ({ cluster, random }) => {
    const first = await cluster.primary();
    await first.stop("SIGKILL");
    // Of three members one is left, which waits for another.
    await pause(random.below(1500));
    const second = random.pick(cluster.members.filter(({ isRunning }) => isRunning));
    await second.stop("SIGKILL");
    await pause(random.below(500));
    for (const member of [second, first]) member.start();
  },
  "kill of all members": async ({ cluster, random }) => {
    await Promise.all(cluster.members.map((member) => member.stop("SIGKILL")));
    for (const member of cluster.members) {
      await pause(random.below(200));
      member.start();
    }
  },
  "a kill while it starts": async ({ cluster, random }) => {
    const victim = random.pick(cluster.members);
    await victim.stop("SIGKILL");
    victim.start();
    await pause(random.below(400));
    await victim.stop("SIGKILL");
    victim.start();
  },
  "a primary that is stopped in order": async ({ cluster }) => await restart(await cluster.primary()),
  "a restart of one after the other": async ({ cluster }) => {
    const primary = await cluster.primary();
    for (const member of [...cluster.members.filter((each) => each !== primary), primary]) {
      await restart(member);
      await cluster.caughtUp(member);
    }
  },
  "a primary that stands still": async (target) => await stop(target, [await target.cluster.primary()]),
  "a backup that stands still": async (target) => {
    const primary = await target.cluster.primary();
    await stop(target, [target.random.pick(target.cluster.members.filter((member) => member !== primary))]);
  },
  // A minority of five, a majority of three.
  "two members that stand still": async (target) => {
    const { members } = target.cluster;
    const spared = target.random.below(members.length);
    const others = members.filter(({ index }) => index !== spared);
    await stop(target, others.slice(0, 2));
  },
  "a primary that hears nothing": async (target) => await cut(target, ["received"]),
  "a primary that is not heard": async (target) => await cut(target, ["sent"]),
  "a primary that is cut off": async (target) => await cut(target, ["received", "sent"]),
  "a member that is cut off": async (target) =>
    await cut(target, ["received", "sent"], target.random.pick(target.cluster.members)),
  "connections that break": async ({ cluster, network, random }) => {
    for (let count = 0; count < 5; count++) {
      network.break(random.pick(cluster.members).index);
      await pause(random.below(300));
    }
  },
  "delayed messages": async ({ cluster, network, random, share }) => {
    for (const { index } of cluster.members) network.delay(index, 5 + random.below(40));
    await pause(SLOW_MILLISECONDS * share);
    network.heal();
  },
  "a member behind a slow network": async ({ cluster, network, random, share }) => {
    network.throttle(random.pick(cluster.members).index, THROTTLED_BYTES_PER_SECOND);
    await pause(SLOW_MILLISECONDS * share);
    network.heal();
  },
  "a lost disk": async ({ cluster, random }) =>
    await withDisk(
      cluster,
      random,
      async ({ directory }) => await Deno.remove(directory, { recursive: true }),
    ),
  "rot in a log": async ({ cluster, random }) =>
    await withDisk(cluster, random, async ({ directory }) => {
      for await (const { name } of Deno.readDir(`${directory}/log`)) {
        await rot(`${directory}/log/${name}`, random);
      }
    }),
  "rot in a superblock": async ({ cluster, random }) =>
    await withDisk(cluster, random, async ({ directory }) => {
      await rot(`${directory}/SUPERBLOCK-${random.pick(["A", "B"])}`, random, { flips: 1, sealedBytes: 0 });
    }),
} as const satisfies Record<string, Fault>;

/** One of {@link FAULTS}. */
export type FaultName = keyof typeof FAULTS;

async function restart(member: MemberProcess): Promise<void> {
  const code = await member.stop("SIGTERM");
  assert(code === 0, `a member that is stopped in order ends with 0, not ${code}:\n${member.log}`);
  member.start();
}

async function stop({ share }: FaultTarget, members: readonly MemberProcess[]): Promise<void> {
  for (const member of members) member.signal("SIGSTOP");
  await pause(STOPPED_MILLISECONDS * share);
  for (const member of members) member.signal("SIGCONT");
}

async function cut(
  { cluster, network, share }: FaultTarget,
  what: readonly ("received" | "sent")[],
  member?: MemberProcess,
): Promise<void> {
  const { index } = member ?? await cluster.primary();
  for (const each of what) network.cut(index, each);
  await pause(CUT_MILLISECONDS * share);
  network.heal();
}

/** Damage to the disk of one member, from which it is whole again before another one may lose its own. */
async function withDisk(
  cluster: ClusterProcesses,
  random: SeededRandom,
  damage: (member: MemberProcess) => Promise<void>,
): Promise<void> {
  const victim = random.pick(cluster.members);
  await victim.stop("SIGKILL");
  await damage(victim);
  victim.start();
  await cluster.caughtUp(victim);
}

/** Flips bits in a file, but not behind the end of what is written, nor shortly before it: nothing vouches for that. */
async function rot(
  path: string,
  random: SeededRandom,
  { flips = 8, sealedBytes = 500 }: { readonly flips?: number; readonly sealedBytes?: number } = {},
): Promise<void> {
  const bytes = await Deno.readFile(path);
  const end = bytes.findLastIndex((byte) => byte !== 0) - sealedBytes;
  for (let count = 0; count < flips && end > 0; count++) {
    const at = random.below(end);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
  }
  await Deno.writeFile(path, bytes);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
