/**
 * `deno task soak:cluster [--rounds N] [--members 3|5] [--clients N] [--seed N] [--only FAULT] [--share N]`: faults of
 * the members of a cluster under load, 100 of them unless another number is given, and how long nobody was served. Half
 * of them are kills; the others come in turn. `--only kill` has kills alone, `--only "kill of the primary"` measures
 * failovers; with `--share 12` members stand still for a minute, not for 5 s. What takes longer
 * than `--slow` milliseconds is taken apart.
 */
import { parseArgs } from "node:util";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { seededRandom } from "../support/random.ts";
import { type FaultReport, runFaults } from "./fault_rounds.ts";
import { type FaultName, FAULTS } from "./member_faults.ts";

const { values } = parseArgs({
  args: Deno.args,
  options: {
    rounds: { type: "string", default: "100" },
    members: { type: "string", default: "3" },
    clients: { type: "string", default: "15" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    only: { type: "string" },
    share: { type: "string", default: "1" },
    slow: { type: "string", default: "8000" },
  },
});
const [rounds = NaN, memberCount = NaN, clients = NaN, seed = NaN, share = NaN, slow = NaN] = [
  values.rounds,
  values.members,
  values.clients,
  values.seed,
  values.share,
  values.slow,
].map(Number);
const all = Object.keys(FAULTS).filter((name) => name.includes(values.only ?? "")) as FaultName[];
if ([rounds, memberCount, clients, seed, share, slow].some(Number.isNaN) || all.length === 0) {
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
const { kept, reports, mebibytes, growth } = await runFaults({
  dbd,
  memberCount,
  clients,
  seed,
  faults,
  share,
  onFault: ({ fault, pause, silence, timeline }) => {
    const seconds = Math.round((performance.now() - start) / 1000);
    const [after, silent] = [pause, silence].map(Math.round);
    console.log(`${++count}. ${fault}: served ${after} ms after it, ${silent} ms without (${seconds} s)`);
    if (silence > slow) console.log(timeline.map((line) => `     ${line}`).join("\n"));
  },
});
const seconds = Math.round((performance.now() - start) / 1000);
console.log(`${rounds} faults in ${seconds} s, nothing lost; kept:`, kept);
for (const name of [...new Set(faults)].sort()) {
  console.log(`${name}: without service ${figuresOf(reports.filter(({ fault }) => fault === name))}`);
}
console.log(`from the end of a fault to the next change: ${figuresOf(reports, "pause")}`);
console.log(
  `resident memory at most: ${mebibytes.join(", ")} MiB; growth in long lives: ${growth.join(", ")} MiB`,
);

/** Percentiles of a time. */
function figuresOf(chosen: readonly FaultReport[], of: "pause" | "silence" = "silence"): string {
  const sorted = chosen.map((report) => report[of]).sort((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? 0);
  return `p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms (${sorted.length})`;
}
