/**
 * `deno task soak:shard-lives [lives] [seed] [statements]`: long lives of tables, with checkpoints and restarts, and
 * random statements over edges of all types, alone and over 2 or 4 shards in turn: 50 lives of 1 000 statements each,
 * unless told otherwise. A difference is printed as a short script, with the seed that it came from.
 */
import { runEdgeRound } from "../fuzz/edge_oracle.ts";
import { live, scriptOf, shorten } from "../fuzz/old_tables/lives.ts";
import { ShardsPeer } from "./shards_peer.ts";

const [lives = 50, firstSeed = Date.now() % 1_000_000, statements = 1000] = Deno.args.map(Number);
let failures = 0, parted = 0;
// Timers of a database do not keep a program alive.
const alive = setInterval(() => {}, 1000);
for (let seed = firstSeed; seed < firstSeed + lives; seed++) {
  const shards = seed % 2 === 0 ? 2 : 4;
  await using peer = await ShardsPeer.open(shards, seed);
  const { difference, partedAfter } = await live(seed, statements, peer);
  if (partedAfter !== null) {
    parted++;
    console.log(`seed ${seed}, ${shards} shards: not followed after ${partedAfter.slice(0, 500)}`);
  }
  if (difference !== null) {
    failures++;
    console.log(`seed ${seed}, ${shards} shards, statement ${difference.steps.length}:`);
    console.log(`${scriptOf(await shorten(difference, peer))}\n`);
  }
  await using edges = await ShardsPeer.open(shards, seed);
  const report = await runEdgeRound({ seed, statements: statements >> 1, peer: edges });
  failures += report.failures.length;
  for (const failure of report.failures) console.log(`${shards} shards, ${failure}\n`);
  console.log(`lives to ${seed}: ${failures} differ`);
}
clearInterval(alive);
console.log(
  `${lives} lives of ${statements} statements from seed ${firstSeed}: ${failures} differ, ${parted} were not followed to the end`,
);
if (failures > 0) Deno.exit(1);
