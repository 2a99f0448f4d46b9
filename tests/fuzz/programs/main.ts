/**
 * `deno task soak:programs [programs] [seed]`: generated programs on which compiled code and interpreter must agree,
 * 20 000 unless told otherwise.
 *
 * A disagreement prints the small program, what each evaluator says, and the seed.
 */
import { validated } from "../../../lang/wasm/validity.ts";
import { compareProgram } from "./program_oracle.ts";

const programs = Number(Deno.args[0] ?? "20000");
const firstSeed = Number(Deno.args[1] ?? Date.now() % 1_000_000);
if (!Number.isSafeInteger(programs) || programs < 1 || !Number.isSafeInteger(firstSeed)) {
  console.error("Usage: deno task soak:programs [programs] [seed]");
  Deno.exit(2);
}

console.log(`${programs} programs from seed ${firstSeed}`);
let failures = 0;
const start = performance.now();
for (let count = 1; count <= programs && failures < 10; count++) {
  const disagreement = await compareProgram(firstSeed + count - 1);
  if (disagreement !== null) {
    failures++;
    const { seed, text, interpreted, compiled } = disagreement;
    console.log(`\nseed ${seed}\n${text}\n--- interpreter\n${interpreted}\n--- compiled\n${compiled}`);
  }
  if (count % 1000 === 0) {
    console.log(
      `${Math.round((performance.now() - start) / 1000)} s: ${count} programs, ${failures} failures`,
    );
  }
}
console.log(
  `${failures === 0 ? "all agree" : `${failures} disagreements`}; ${validated()} modules were valid`,
);
if (failures > 0) Deno.exit(1);
