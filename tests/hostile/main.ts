/**
 * `deno task soak:hostile [--only TEXT] [--small | --share 0.1]`: every attack at its full size, or a share of it,
 * against the real server, each on a server of its own, with what it cost. Ends with 1 when one of them got more than
 * it may or harmed the witness.
 */
import { parseArgs } from "node:util";
import { ATTACKS } from "./attacks.ts";
import { descriptorsGivenBack, observe, startTarget } from "./target.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    small: { type: "boolean", default: false },
    share: { type: "string", default: "1" },
  },
});
let failed = 0;
for (const { name, small, large, grownMebibytes, run } of ATTACKS) {
  const size = values.small ? small : Math.max(small, Math.round(large * Number(values.share)));
  if (!name.includes(values.only)) continue;
  await using target = await startTarget();
  const descriptors = target.descriptors();
  try {
    const seen = await observe(target, () => run(target, size));
    await descriptorsGivenBack(target, descriptors);
    const isTooMuch = seen.grownMebibytes > grownMebibytes;
    if (isTooMuch) failed++;
    console.log(
      `${
        isTooMuch ? "TOO MUCH" : "ok"
      } ${name} (${size}): ${seen.grownMebibytes} of ${grownMebibytes} MiB, ` +
        `${seen.seconds} s, witness ${seen.answers} answers, slowest ${seen.slowestMilliseconds} ms`,
    );
  } catch (error) {
    failed++;
    console.log(`FAILED ${name} (${size}): ${error instanceof Error ? error.message : error}`);
  }
}
Deno.exit(failed === 0 ? 0 : 1);
