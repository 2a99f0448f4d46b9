/**
 * `deno task soak:protocol [--seeds N] [--first N] [--seed N] [--once] [--sound]`: runs seeds of the protocol's
 * simulation, each twice, and then every protocol that is broken on purpose until a seed catches it.
 *
 * `--once` leaves out the second run, `--sound` the broken protocols; `--seed` runs that one seed and nothing else.
 * Ends with exit code 1 at the first seed that fails, or when a broken protocol is not caught.
 */
import { parseArgs } from "node:util";
import { catchBroken } from "../broken_builds.ts";
import { BROKEN_PROTOCOLS, NARROW_PROTOCOL } from "./broken_protocols.ts";
import { simulateProtocol, simulateProtocolTwice } from "./protocol_world.ts";

const SEEDS = 10_000;
/** A broken protocol that is not caught by so many seeds never is. */
const SEEDS_FOR_BROKEN_PROTOCOLS = 20_000;
const SEEDS_OF_NARROW_PROTOCOL = 2000;

/** The program whose seeds catch a broken protocol. */
export const PROTOCOL_PROGRAM = "tests/simulation/cluster/main.ts";

function runSeeds(first: number, count: number, isTwice: boolean): boolean {
  let [faults, commits, views, reads, transfers, disks] = [0, 0, 0, 0, 0, 0];
  for (let seed = first; seed < first + count; seed++) {
    try {
      const result = (isTwice ? simulateProtocolTwice : simulateProtocol)(seed);
      faults += result.faults;
      commits += result.commits;
      views += result.views;
      reads += result.reads;
      transfers += result.transfers;
      disks += result.replacedDisks;
    } catch (error) {
      console.error(error instanceof Error ? error.message : error);
      console.error(`run it again: deno task soak:protocol --seed ${seed}`);
      return false;
    }
    if ((seed - first + 1) % 1000 === 0) console.log(`${seed - first + 1} seeds`);
  }
  console.log(
    `${count} seeds: ${faults} faults, ${commits} committed entries, ${views} views, ${reads} reads, ` +
      `${transfers} checkpoints moved, ${disks} disks replaced`,
  );
  return true;
}

async function runBroken(): Promise<boolean> {
  const narrow = await catchBroken(NARROW_PROTOCOL, SEEDS_OF_NARROW_PROTOCOL, PROTOCOL_PROGRAM);
  console.log(`${NARROW_PROTOCOL.name}: ${narrow.message}`);
  if (narrow.seed !== null) return false;
  let caught = 0;
  for (const build of BROKEN_PROTOCOLS) {
    const { seed, message } = await catchBroken(build, SEEDS_FOR_BROKEN_PROTOCOLS, PROTOCOL_PROGRAM);
    if (seed !== null) caught++;
    console.log(`${build.name}: ${seed === null ? "NOT CAUGHT" : `caught by seed ${seed}: ${message}`}`);
  }
  console.log(`${caught} of ${BROKEN_PROTOCOLS.length} broken protocols caught`);
  return caught === BROKEN_PROTOCOLS.length;
}

if (import.meta.main) {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      seeds: { type: "string" },
      first: { type: "string" },
      seed: { type: "string" },
      once: { type: "boolean" },
      sound: { type: "boolean" },
    },
  });
  const isOne = values.seed !== undefined;
  const isSound = runSeeds(
    Number(values.seed ?? values.first ?? 1),
    isOne ? 1 : Number(values.seeds ?? SEEDS),
    !values.once,
  );
  Deno.exit(isSound && (isOne || values.sound === true || await runBroken()) ? 0 : 1);
}
