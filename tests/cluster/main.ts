/**
 * `deno task soak:cluster [--rounds N] [--members 3|5] [--clients N] [--seed N] [--only FAULT]`: faults of the members
 * of a cluster under load, 100 of them unless another number is given, and how long nobody was served after each. Half
 * of them are kills; the others come in turn.
 */
import { parseArgs } from "node:util";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { seededRandom } from "../support/random.ts";
import { runFaults } from "./fault_rounds.ts";
import { type FaultName, FAULTS } from "./member_faults.ts";

const { values } = parseArgs({
  args: Deno.args,
  options: {
    rounds: { type: "string", default: "100" },
    members: { type: "string", default: "3" },
    clients: { type: "string", default: "15" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    only: { type: "string" },
  },
});
const [rounds = NaN, memberCount = NaN, clients = NaN, seed = NaN] = [
  values.rounds,
  values.members,
  values.clients,
  values.seed,
].map(Number);
const all = Object.keys(FAULTS).filter((name) => name.includes(values.only ?? "")) as FaultName[];
if ([rounds, memberCount, clients, seed].some(Number.isNaN) || all.length === 0) {
  console.error(`Faults: ${Object.keys(FAULTS).join("; ")}`);
  Deno.exit(2);
}
const random = seededRandom(seed);
const kills = all.filter((name) => name.includes("kill"));
const faults = Array.from({ length: rounds }, (_, round) => {
  if (kills.length > 0 && round % 2 === 0) return random.pick(kills);
  return all[(round >> 1) % all.length] ?? random.pick(all);
});
const { dbd } = await compiledPrograms();
console.log(`${rounds} faults of ${memberCount} members with seed ${seed}`);
const start = performance.now();
let count = 0;
const { kept, pauses, mebibytes } = await runFaults({
  dbd,
  memberCount,
  clients,
  seed,
  faults,
  share: 1,
  onFault: (fault, milliseconds) => {
    const seconds = Math.round((performance.now() - start) / 1000);
    console.log(`${++count}. ${fault}: served ${Math.round(milliseconds)} ms after it (${seconds} s)`);
  },
});
const at = (share: number) => Math.round(pauses[Math.floor((pauses.length - 1) * share)] ?? 0);
const seconds = Math.round((performance.now() - start) / 1000);
console.log(`${rounds} faults in ${seconds} s, nothing lost; kept:`, kept);
console.log(`next change after a fault: p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, p99 ${at(0.99)} ms`);
console.log(`resident memory at most: ${mebibytes.join(", ")} MiB`);
