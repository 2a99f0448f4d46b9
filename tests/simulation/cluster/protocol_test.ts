/** The replication protocol under faults; many more seeds, and all broken protocols, in `deno task soak:protocol`. */
import { ok, strictEqual } from "node:assert/strict";
import { brokenSource, catchBroken } from "../broken_builds.ts";
import { BROKEN_PROTOCOLS } from "./broken_protocols.ts";
import { PROTOCOL_PROGRAM } from "./main.ts";
import { simulateProtocol, simulateProtocolTwice } from "./protocol_world.ts";

const SEEDS = 30;
/** What the first seeds catch. */
const BROKEN = ["f members commit", "a primary answers before its suffix is committed"];

Deno.test("Replica keeps what is committed, and goes on when the faults end", () => {
  let [faults, commits, views] = [0, 0, 0];
  for (let seed = 1; seed <= SEEDS; seed++) {
    const result = (seed % 10 === 0 ? simulateProtocolTwice : simulateProtocol)(seed);
    faults += result.faults;
    commits += result.commits;
    views += result.views;
  }
  ok(faults > SEEDS * 50 && commits > SEEDS * 100 && views > SEEDS * 2, `${faults} ${commits} ${views}`);
});

/** Seeds that have found something, and what it was. */
const FOUND: readonly (readonly [seed: number, what: string])[] = [
  [37, "repairs come in another order"],
  [104, "a member is alone in a later view"],
  [1290, "nobody can name a committed entry but the one that follows it"],
  [1755, "an entry that a view goes without is unreadable"],
  [3087, "a new primary's own log differs below the commit number"],
  [3619, "a primary of before has applied what a later view committed otherwise"],
  [6471, "nobody can name an entry, and none of those in its place may be committed"],
];

for (const [seed, what] of FOUND) {
  Deno.test(`Replica is right when ${what}`, () => {
    ok(simulateProtocol(seed).commits > 0);
  });
}

Deno.test("every broken protocol of the soak can still be made", async () => {
  for (const build of BROKEN_PROTOCOLS) ok((await brokenSource(build)).length > 0);
});

for (const build of BROKEN_PROTOCOLS.filter(({ name }) => BROKEN.includes(name))) {
  Deno.test(`protocol simulation notices when ${build.name}`, async () => {
    const { seed, message } = await catchBroken(build, 20, PROTOCOL_PROGRAM);
    ok(seed !== null, "no seed has noticed");
    strictEqual(message.startsWith(`seed ${seed}: `), true, message);
  });
}
