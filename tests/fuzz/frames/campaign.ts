/**
 * A campaign: cases of consecutive seeds against one server, some at a time, followed by a question of the client
 * that was there before. What goes wrong is made small: first the cases that are needed, then their frames; the
 * message has the command that replays it.
 */
import { openFuzzedBinary } from "./fuzzed_binary.ts";
import { openFuzzedHttp } from "./fuzzed_http.ts";
import { openFuzzedPg } from "./fuzzed_pg.ts";
import { converse, type FuzzedServer, joined, type ProtocolName } from "./fuzzed_server.ts";
import { openFuzzedWebSocket } from "./fuzzed_websocket.ts";
import { type Case, makeCase, piecesOf } from "./mutation.ts";

const OPENERS: Readonly<Record<ProtocolName, () => Promise<FuzzedServer>>> = {
  pg: openFuzzedPg,
  binary: openFuzzedBinary,
  http: openFuzzedHttp,
  websocket: openFuzzedWebSocket,
};
/** Attempts to make a failure smaller. */
const SHRINK_ATTEMPTS = 200;
/** Conversations that are held at the same time, so that those that wait for nothing cost no time. */
const CONVERSATIONS_AT_A_TIME = 16;
/** A server is replaced after so many damaged frames, so that a failure can be replayed from there. */
const FRAMES_PER_SERVER = 20_000;

/** Opens a server of the protocol. */
export function openFuzzedServer(protocol: ProtocolName): Promise<FuzzedServer> {
  return OPENERS[protocol]();
}

/** How a campaign is run. */
export interface CampaignOptions {
  readonly protocol: ProtocolName;
  /** The first seed. */
  readonly seed: number;
  /** Damaged frames to send. */
  readonly frames: number;
  /** Connections to make at most. */
  readonly conversations?: number;
}

/** What a campaign has seen. */
export interface CampaignReport {
  readonly conversations: number;
  readonly frames: number;
  /** How often each SQLSTATE, status and close was seen. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** The first failure, made small, with the command that replays it; null: there was none. */
  readonly failure: string | null;
}

/**
 * A campaign: cases of consecutive seeds against one server, some at a time, followed by a question of the client
 * that was there before.
 */
export async function runCampaign(options: CampaignOptions): Promise<CampaignReport> {
  const outcomes = new Map<string, number>();
  const most = options.conversations ?? Infinity;
  let seed = options.seed, frames = 0, conversations = 0;
  while (frames < options.frames && conversations < most) {
    await using server = await openFuzzedServer(options.protocol);
    const first = seed, last = Math.min(options.frames, frames + FRAMES_PER_SERVER);
    while (frames < last && conversations < most) {
      const width = Math.min(CONVERSATIONS_AT_A_TIME, most - conversations);
      const cases = Array.from({ length: width }, (_, index) => makeCase(server.conversations, seed + index));
      const found = await trial(server, cases, (outcome) => {
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      });
      seed += width;
      frames += cases.reduce((sum, { damaged }) => sum + damaged, 0);
      conversations += width;
      if (found === null) continue;
      const failure = await describeFailure({ protocol: options.protocol, first, ...found });
      return { conversations, frames, outcomes, failure };
    }
  }
  return { conversations, frames, outcomes, failure: null };
}

interface Found {
  readonly seed: number;
  readonly problem: string;
}

/** Runs cases at the same time, and the question behind them; answers what went wrong. */
async function trial(
  server: FuzzedServer,
  cases: readonly Case[],
  onOutcome: (outcome: string) => void = () => {},
): Promise<Found | null> {
  const found = await Promise.all(cases.map(async ({ seed, frames, cutSeed }): Promise<Found | null> => {
    const received = await converse(server, piecesOf(joined(frames), cutSeed));
    if (received === null) return { seed, problem: "the server neither answers nor closes" };
    const { problem, outcomes } = server.judge(received.bytes, received.isCut);
    for (const outcome of outcomes) onOutcome(outcome);
    return problem === null ? null : { seed, problem };
  }));
  const { seed } = cases.at(-1) ?? { seed: 0 };
  const [bug] = server.internalErrors;
  if (bug !== undefined) return { seed, problem: `a bug: ${bug instanceof Error ? bug.stack : bug}` };
  const first = found.find((each) => each !== null);
  if (first !== undefined) return first;
  try {
    await server.ping();
  } catch (error) {
    return { seed, problem: `others are not served any longer: ${error}` };
  }
  return null;
}

/** The message about a failure. */
async function describeFailure(found: {
  readonly protocol: ProtocolName;
  readonly first: number;
  readonly seed: number;
  readonly problem: string;
}): Promise<string> {
  const { protocol, first, seed, problem } = found;
  const failsWith = async (cases: readonly Case[]): Promise<boolean> => {
    await using server = await openFuzzedServer(protocol);
    for (const each of cases) if (await trial(server, [each]) !== null) return true;
    return false;
  };
  await using server = await openFuzzedServer(protocol);
  const all = Array.from(
    { length: seed - first + 1 },
    (_, index) => makeCase(server.conversations, first + index),
  );
  const alone = all.slice(-1);
  const last = all.slice(-CONVERSATIONS_AT_A_TIME);
  const isAlone = await failsWith(alone);
  const needed = isAlone ? alone : await failsWith(last) ? last : all;
  const from = needed[0]?.seed ?? first;
  const lines = [
    `protocol ${protocol}, seed ${seed}: ${problem}`,
    `replay: deno task soak:frames --protocol ${protocol} --seed ${from} --conversations ${seed - from + 1}`,
  ];
  const cases = isAlone ? alone : await smallest(needed, failsWith);
  for (const each of cases) {
    const frames = await smallest(each.frames, async (kept) => {
      const changed = cases.map((other) => other === each ? { ...each, frames: kept } : other);
      return await failsWith(changed);
    });
    lines.push(`frames of seed ${each.seed}:`, ...frames.map((frame) => `  ${shown(frame)}`));
  }
  return lines.join("\n");
}

/** The list without the parts that the failure does not need, greedily, by halves and then smaller. */
async function smallest<T>(
  items: readonly T[],
  fails: (items: readonly T[]) => Promise<boolean>,
): Promise<readonly T[]> {
  let kept = items;
  let attempts = 0;
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < kept.length && attempts < SHRINK_ATTEMPTS;) {
      const shorter = [...kept.slice(0, at), ...kept.slice(at + size)];
      attempts++;
      if (shorter.length > 0 && await fails(shorter)) kept = shorter;
      else at += size;
    }
  }
  return kept;
}

function shown(frame: Uint8Array): string {
  return `${frame.toHex()}  ${JSON.stringify(new TextDecoder("latin1").decode(frame))}`;
}
