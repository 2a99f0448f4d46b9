/**
 * A server of two shards, and the primary of three such members, are killed at steps of a commit over both shards; all
 * steps are in `deno task soak:kill-points`.
 */
import { deepStrictEqual, ok } from "node:assert/strict";
import { killAtPoints } from "../sharding/kill_points/kill_rounds.ts";

const ALONE = [
  "shard 1: after agree",
  "router: has all votes",
  "router: has written its log",
  "shard 0: apply",
];
const PRIMARY = ["router: has appended", "shard 0: after keep", "router: has told"];

Deno.test("a server of shards that is killed in the midst of commits has each once, and whole", async () => {
  const report = await killAtPoints({ shards: 2, members: 1, clients: 4, seed: 16, points: ALONE });
  console.log(report);
  deepStrictEqual(report.missed, []);
  ok(report.repeated > 0, JSON.stringify(report));
});

Deno.test("a primary of shards that is killed in the midst of commits has each once, and whole", async () => {
  const report = await killAtPoints({ shards: 2, members: 3, clients: 4, seed: 16, points: PRIMARY });
  console.log(report);
  deepStrictEqual(report.missed, []);
});
