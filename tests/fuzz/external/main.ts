/** `deno task soak:external [INPUTS] [SEED]`: reads 100 000 damaged inputs of JSON, NDJSON and CSV. */
import { readMutatedInputs, type Tally } from "./mutated_inputs.ts";

const inputs = Number(Deno.args[0] ?? 100_000);
const seed = Number(Deno.args[1] ?? 1);
const shown = ({ inputs, read, rows, errors, longestMilliseconds }: Tally): string =>
  `${inputs} inputs, ${read} read with ${rows} rows, ${
    [...errors].sort(([left], [right]) => left < right ? -1 : 1).map(([code, count]) => `${code}: ${count}`)
      .join(", ")
  }; longest ${longestMilliseconds.toFixed(0)} ms, ${Math.round(Deno.memoryUsage().rss / 1_048_576)} MiB`;
const tally = await readMutatedInputs({
  seed,
  inputs,
  tell: (tally) => {
    if (tally.inputs % 10_000 === 0) console.log(shown(tally));
  },
});
console.log(shown(tally));
if (tally.longestMilliseconds > 2000) {
  console.error("a damaged input took too much time");
  Deno.exit(1);
}
