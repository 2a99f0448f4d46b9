/** A backup's state and files are those of its primary: see `cluster/engine_pair.ts`. */
import { ok } from "node:assert/strict";
import { EnginePair } from "./cluster/engine_pair.ts";

Deno.test("Two members have the same state and the same files at the same op", async () => {
  const counts = await EnginePair.run(13, 40);
  ok(counts.checkpoints >= 5 && counts.rebuilds >= 3 && counts.lost >= 1, JSON.stringify(counts));
});
