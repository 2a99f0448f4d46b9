/**
 * `deno task soak:kill-points [kills] [seed]`: kills a server of two shards at each step of a commit over both, in
 * turn, 200 times unless told otherwise, and the primary of three such members a quarter as often.
 */
import { seededRandom } from "../../support/random.ts";
import { killPoints } from "./kill_point.ts";
import { killAtPoints } from "./kill_rounds.ts";

const SHARDS = 2;
const [kills, seed] = [Number(Deno.args[0] ?? "200"), Number(Deno.args[1] ?? Date.now() % 1_000_000)];
if (!Number.isSafeInteger(kills) || kills < 4 || !Number.isSafeInteger(seed)) {
  console.error("Usage: deno task soak:kill-points [kills] [seed]");
  Deno.exit(2);
}
for (const [members, count] of [[1, kills], [3, Math.floor(kills / 4)]] as const) {
  const all = killPoints(SHARDS);
  // Few kills are of steps anywhere in the list.
  const first = count < all.length ? seededRandom(seed).below(all.length) : 0;
  const points = Array.from({ length: count }, (_, index) => all[(first + index * 7) % all.length] ?? "");
  const start = performance.now();
  let done = 0;
  const report = await killAtPoints({
    ...{ shards: SHARDS, members, clients: 6, seed, points },
    onKill: () => {
      if (++done % 20 === 0) console.log(`${done} of ${count} kills`);
    },
  });
  const missed = [...new Set(report.missed)];
  console.log(
    `${members} member${members === 1 ? "" : "s"}, seed ${seed}: ${report.kills} kills in ${
      Math.round((performance.now() - start) / 1000)
    } s; ${report.done} transfers done once, ${report.lost} lost a race, ${report.repeated} requests over HTTP made again; ` +
      `not come to: ${missed.join(", ") || "none"}`,
  );
}
