/** Whole members with gateways and clients under faults; many more seeds in `deno task soak:whole-cluster`. */
import { match, ok, strictEqual } from "node:assert/strict";
import { brokenSource, catchBroken } from "../broken_builds.ts";
import { BROKEN_MEMBERS } from "./broken_members.ts";
import { simulateCluster } from "./cluster_world.ts";
import { WHOLE_PROGRAM } from "./whole_main.ts";

const SEEDS = 10;
/** The last of those with shards. */
const SHARD_SEEDS = 5;
/** A change elsewhere may make another one of the next seeds notice. */
const SEEDS_FOR_BROKEN = 12;

Deno.test("members keep what they told clients of three protocols, and end with equal states", async () => {
  let [faults, acknowledged, checkpoints, views] = [0, 0, 0, 0];
  for (let seed = 1; seed <= SEEDS; seed++) {
    const result = await simulateCluster(seed);
    faults += result.faults;
    acknowledged += result.acknowledged;
    checkpoints += result.checkpoints;
    views += result.views;
    // One with loads.
    if (seed === 4) {
      strictEqual((await simulateCluster(seed)).trace, result.trace, `seed ${seed}: two runs differ`);
    }
  }
  const figures = `${faults} ${acknowledged} ${checkpoints} ${views}`;
  ok(faults > SEEDS * 10 && acknowledged > SEEDS * 100 && checkpoints > SEEDS && views > SEEDS * 2, figures);
});

Deno.test("members of two shards keep what they told clients, and end with equal digests in each shard", async () => {
  let [acknowledged, checkpoints, views] = [0, 0, 0];
  for (let seed = 3; seed <= SHARD_SEEDS; seed++) {
    const result = await simulateCluster(seed, { shardCount: 2 });
    acknowledged += result.acknowledged;
    checkpoints += result.checkpoints;
    views += result.views;
    if (seed === 5) strictEqual((await simulateCluster(seed, { shardCount: 2 })).trace, result.trace);
  }
  const count = SHARD_SEEDS - 2;
  ok(
    acknowledged > count * 50 && checkpoints > count && views > count * 2,
    `${acknowledged} ${checkpoints} ${views}`,
  );
});

for (
  const [role, choice, least] of [
    ["primary", 0, 300],
    ["backup", 1, 300],
  ] as const
) {
  Deno.test(`a ${role} whose disk hangs ends after 30 s, and the others go on`, async () => {
    const fault = { kind: "hanging disk", at: 3_000_000, member: 2, duration: 60_000_000, choice } as const;
    const { ends, acknowledged } = await simulateCluster(8, { faults: [fault], microseconds: 46_000_000 });
    const [end] = ends;
    ok(ends.length === 1 && end !== undefined, JSON.stringify(ends));
    match(
      end.why,
      /^a sync of the (log|superblock) has not ended in 30 s: the disk hangs, and this member ends$/,
    );
    ok(
      end.acknowledged > least && acknowledged > end.acknowledged + 50,
      `${end.acknowledged} ${acknowledged}`,
    );
  });
}

for (
  const [seed, what] of [
    [159, "a member whose log cannot be synced ends, and another one serves"],
    [181, "a primary whose log is damaged where a backup joins the view repairs it first"],
    [687, "what a new primary applies and is not committed may be gone with it"],
    [762, "a member with entries that were never committed takes the checkpoint that the others begin at"],
    [1167, "a commit that waits for others waits for them, though a checkpoint found the disk full"],
    [457, "an entry that comes in pieces is given up when a checkpoint has taken its place"],
    [483, "a log that ends at the checkpoint of another member, with another entry, goes"],
    [530, "a damaged end of the log makes place for what was committed instead"],
    [206, "a full disk does not make the repair of a file try again without end"],
  ] as const
) {
  Deno.test(`seed ${seed} of whole members: ${what}`, async () => {
    ok((await simulateCluster(seed)).acknowledged > 0);
  });
}

Deno.test("every broken build of the soak can still be made", async () => {
  for (const build of BROKEN_MEMBERS) ok((await brokenSource(build)).length > 0);
});

// Each is a process that loads the engine anew: every other one; the soak has them all.
for (const build of BROKEN_MEMBERS.filter((_, index) => index % 2 === 0)) {
  Deno.test(`simulation of whole members notices when ${build.name}`, async () => {
    const { seed, message } = await catchBroken(build, SEEDS_FOR_BROKEN, WHOLE_PROGRAM, build.seed);
    ok(seed !== null, `seed ${build.seed} has not noticed; deno task soak:whole-cluster finds another`);
    ok(message.startsWith(`seed ${seed}: `), message);
  });
}
