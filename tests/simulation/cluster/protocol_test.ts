/** The replication protocol under faults; many more seeds, and all broken protocols, in `deno task soak:protocol`. */
import { ok, strictEqual } from "node:assert/strict";
import { brokenSource, catchBroken } from "../broken_builds.ts";
import { BROKEN_PROTOCOLS, NARROW_PROTOCOL } from "./broken_protocols.ts";
import { PROTOCOL_PROGRAM } from "./main.ts";
import { failoverMilliseconds, simulateProtocol, simulateProtocolTwice } from "./protocol_world.ts";

const SEEDS = 30;
/** What the first seeds catch. */
const BROKEN = ["f members commit", "a primary answers before its suffix is committed"];

Deno.test("Replica keeps what is committed, and goes on when the faults end", () => {
  let [faults, commits, views, reads, transfers, disks] = [0, 0, 0, 0, 0, 0];
  for (let seed = 1; seed <= SEEDS; seed++) {
    const result = (seed % 10 === 0 ? simulateProtocolTwice : simulateProtocol)(seed);
    faults += result.faults;
    commits += result.commits;
    views += result.views;
    reads += result.reads;
    transfers += result.transfers;
    disks += result.replacedDisks;
  }
  ok(faults > SEEDS * 50 && commits > SEEDS * 100 && views > SEEDS * 2, `${faults} ${commits} ${views}`);
  ok(reads > SEEDS * 100 && transfers > 0 && disks > 0, `${reads} ${transfers} ${disks}`);
});

Deno.test("a primary that stops in order is followed within 0.5 s, a killed one within 1.8 s", () => {
  for (let seed = 1; seed <= 40; seed++) {
    // Some next primaries apply a large entry first, which takes up to 300 ms.
    const handedOver = failoverMilliseconds(seed, true);
    ok(handedOver <= 500, `seed ${seed}: ${handedOver} ms in order`);
    const killed = failoverMilliseconds(seed, false);
    ok(killed <= 1800, `seed ${seed}: ${killed} ms after a kill`);
  }
});

Deno.test("every broken protocol of the soak can still be made", async () => {
  for (const build of [...BROKEN_PROTOCOLS, NARROW_PROTOCOL]) ok((await brokenSource(build)).length > 0);
});

for (const build of BROKEN_PROTOCOLS.filter(({ name }) => BROKEN.includes(name))) {
  Deno.test(`protocol simulation notices when ${build.name}`, async () => {
    const { seed, message } = await catchBroken(build, 20, PROTOCOL_PROGRAM);
    ok(seed !== null, "no seed has noticed");
    strictEqual(message.startsWith(`seed ${seed}: `), true, message);
  });
}
