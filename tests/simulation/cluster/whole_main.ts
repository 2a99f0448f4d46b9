/**
 * `deno task soak:whole-cluster [--seeds N] [--first N] [--once]`: runs seeds of the simulation of whole members, each
 * twice; ends with exit code 1 at the first that fails.
 */
import { parseArgs } from "node:util";
import { simulateCluster } from "./cluster_world.ts";

const { values } = parseArgs({
  args: Deno.args,
  options: {
    seeds: { type: "string", default: "2000" },
    first: { type: "string", default: "1" },
    once: { type: "boolean", default: false },
  },
});
const [first, count] = [Number(values.first), Number(values.seeds)];
let [faults, acknowledged] = [0, 0];
for (let seed = first; seed < first + count; seed++) {
  try {
    const result = await simulateCluster(seed);
    faults += result.faults;
    acknowledged += result.acknowledged;
    if (!values.once && (await simulateCluster(seed)).trace !== result.trace) {
      throw new Error("two runs differ");
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    console.error(`run it again: deno task soak:whole-cluster --first ${seed} --seeds 1`);
    Deno.exit(1);
  }
  if ((seed - first + 1) % 100 === 0) console.log(`${seed - first + 1} seeds`);
}
console.log(`${count} seeds: ${faults} faults, ${acknowledged} acknowledged changes`);
