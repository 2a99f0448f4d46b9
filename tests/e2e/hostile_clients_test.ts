/**
 * Hostile clients against the real program, one after the other on one server: each is answered as documented, costs
 * bounded memory, leaves no file descriptor behind, and a well-behaved client beside it is served all the time. `deno
 * task soak:hostile` does the same at full size.
 */
import { ok } from "node:assert/strict";
import { ATTACKS } from "../hostile/attacks.ts";
import { descriptorsGivenBack, observe, startTarget } from "../hostile/target.ts";

Deno.test("dbd bears hostile clients, and others are served on", async (test) => {
  await using target = await startTarget();
  const descriptors = target.descriptors();
  for (const { name, small, grownMebibytes, run } of ATTACKS) {
    await test.step(name, async () => {
      const seen = await observe(target, () => run(target, small));
      await descriptorsGivenBack(target, descriptors);
      ok(seen.grownMebibytes <= grownMebibytes, `${seen.grownMebibytes} MiB more than before`);
      ok(seen.answers > 0);
    });
  }
});
