/** A smoke size of `deno task soak:external`. */
import { ok } from "node:assert/strict";
import { readMutatedInputs } from "./mutated_inputs.ts";

Deno.test("damaged JSON, NDJSON and CSV end with rows or an error, however they are cut", async () => {
  const tally = await readMutatedInputs({ seed: 1, inputs: 1500 });
  ok(tally.read > 300, `${tally.read} were read`);
  ok([...tally.errors.values()].reduce((sum, count) => sum + count, 0) > 300, "too few errors");
});
