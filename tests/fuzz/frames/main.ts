/**
 * `deno task soak:frames [--protocol NAME] [--seed N] [--frames N | --conversations N]`: damaged frames on the real
 * engine through each protocol, a quarter of a million each unless it is said otherwise. Ends with 1 at the first
 * failure, which is printed small with the command that replays it.
 */
import { parseArgs } from "node:util";
import { type CampaignReport, runCampaign } from "./campaign.ts";
import { type ProtocolName, PROTOCOLS } from "./fuzzed_server.ts";

const FRAMES_PER_PROTOCOL = 250_000;

const { values } = parseArgs({
  options: {
    protocol: { type: "string" },
    seed: { type: "string", default: "1" },
    frames: { type: "string", default: String(FRAMES_PER_PROTOCOL) },
    conversations: { type: "string" },
  },
});

const chosen = PROTOCOLS.filter((name) => values.protocol === undefined || values.protocol === name);
if (chosen.length === 0) {
  console.error(
    `Cannot run the campaign: there is no protocol ${values.protocol}; there are ${PROTOCOLS.join(", ")}`,
  );
  Deno.exit(2);
}
for (const protocol of chosen) {
  const startedAt = performance.now();
  const report = await runCampaign({
    protocol,
    seed: Number(values.seed),
    frames: Number(values.frames),
    ...(values.conversations === undefined ? {} : { conversations: Number(values.conversations) }),
  });
  console.log(summary(protocol, report, performance.now() - startedAt));
  if (report.failure !== null) {
    console.error(report.failure);
    Deno.exit(1);
  }
}

function summary(protocol: ProtocolName, report: CampaignReport, milliseconds: number): string {
  const outcomes = [...report.outcomes].sort(([, a], [, b]) => b - a).map(([name, count]) =>
    `${name} ${count}`
  );
  return `${protocol}: ${report.frames} damaged frames in ${report.conversations} conversations, ` +
    `${Math.round(milliseconds / 1000)} s\n  ${outcomes.join(", ")}`;
}
