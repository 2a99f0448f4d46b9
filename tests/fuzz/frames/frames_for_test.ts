/** What the tests of the four protocols have in common. */
import { ok, strictEqual } from "node:assert/strict";
import { runCampaign } from "./campaign.ts";
import type { ProtocolName } from "./fuzzed_server.ts";

const FRAMES = 1_500;

/** A test that sends 1 500 damaged frames; `deno task soak:frames` sends a million. */
export function testFrames(protocol: ProtocolName): void {
  Deno.test(`The ${protocol} gateway answers ${FRAMES} damaged frames without a bug, and serves others on`, async () => {
    const { failure, frames, outcomes } = await runCampaign({ protocol, seed: 1, frames: FRAMES });
    strictEqual(failure, null, failure ?? "");
    ok(frames >= FRAMES);
    // Damage that never reached the protocol, or the engine behind it, would prove nothing.
    const told = [...outcomes.keys()];
    for (const kind of [/^08P01$/, /^22/, /^42/]) ok(told.some((outcome) => kind.test(outcome)), told.join());
  });
}
