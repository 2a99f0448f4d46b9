/**
 * `deno task soak:members [COUNT] [FIRST_SEED]`: runs pairs of engines (`engine_pair.ts`), one after the other, and
 * says what they have been through. Ends with exit code 1 at the first seed that fails.
 */
import { EnginePair } from "./engine_pair.ts";

const ROUNDS = 120;

const [count, first] = [Number(Deno.args[0] ?? 100), Number(Deno.args[1] ?? 1)];
const totals: Record<string, number> = {};
for (let seed = first; seed < first + count; seed++) {
  try {
    for (const [name, value] of Object.entries(await EnginePair.run(seed, ROUNDS))) {
      totals[name] = (totals[name] ?? 0) + value;
    }
  } catch (error) {
    console.error(`seed ${seed}:`, error);
    Deno.exit(1);
  }
}
console.log(`${count} seeds:`, JSON.stringify(totals));
