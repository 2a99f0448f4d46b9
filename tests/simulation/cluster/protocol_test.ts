/** The replication protocol under faults; many more seeds in `deno task soak:protocol`. */
import { ok, strictEqual } from "node:assert/strict";
import { brokenSource, catchBroken } from "../broken_builds.ts";
import { BROKEN_PROTOCOLS, NARROW_PROTOCOL } from "./broken_protocols.ts";
import { PROTOCOL_PROGRAM } from "./main.ts";
import {
  failoverMilliseconds,
  simulateProtocol,
  simulateProtocolTwice,
  starvedViews,
} from "./protocol_world.ts";

const SEEDS = 30;
/** A change elsewhere may make another one of the next seeds notice. */
const SEEDS_FOR_BROKEN = 300;

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

Deno.test("members of a starved machine become patient, and go on in few views", () => {
  const minutes = Array.from({ length: 20 }, (_, index) => starvedViews(index + 1));
  const sum = (numbers: readonly number[]) => numbers.reduce((before, each) => before + each, 0);
  const [views, commits] = [sum(minutes.map((each) => each.views)), sum(minutes.map((each) => each.commits))];
  // Without patience 97 views and 1 349 commits, and minutes with two.
  ok(views < 85 && commits > 2000, `${views} views, ${commits} commits`);
  for (const [index, minute] of minutes.entries()) {
    ok(minute.commits > 40, `seed ${index + 1}: ${minute.commits}`);
  }
});

Deno.test("the protocol with narrow windows and messages can still be made", async () => {
  ok((await brokenSource(NARROW_PROTOCOL)).length > 0);
});

for (const build of BROKEN_PROTOCOLS) {
  Deno.test(`protocol simulation notices when ${build.name}`, async () => {
    const { seed, message } = await catchBroken(build, SEEDS_FOR_BROKEN, PROTOCOL_PROGRAM, build.seed);
    ok(seed !== null, `seed ${build.seed} has not noticed; deno task soak:protocol finds another`);
    strictEqual(message.startsWith(`seed ${seed}: `), true, message);
  });
}
