/** `deno task soak:joins [seeds] [first seed]`: random joins answer the same alone and with 2, 4, 8 and 16 shards. */
import { joinAnswers } from "./random_joins.ts";

const count = Number(Deno.args[0] ?? "100");
const first = Number(Deno.args[1] ?? "1");
if (!Number.isSafeInteger(count) || count < 1 || !Number.isSafeInteger(first)) {
  console.error("Usage: deno task soak:joins [seeds] [first seed]");
  Deno.exit(2);
}
let differing = 0;
for (let seed = first; seed < first + count; seed++) {
  const shards = 2 << (seed % 4);
  const { different, failed } = await joinAnswers(shards, seed, 60);
  for (const answer of [...different, ...failed].slice(0, 3)) {
    console.log(`seed ${seed}, ${shards} shards: ${answer}\n`);
  }
  if (different.length + failed.length > 0) differing++;
  if ((seed - first + 1) % 10 === 0) console.log(`seeds to ${seed}: ${differing} differ`);
}
console.log(`${count} seeds from ${first}: ${differing} differ`);
if (differing > 0) Deno.exit(1);
