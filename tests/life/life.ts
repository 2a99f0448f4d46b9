/**
 * A day of a server's life, compressed: clients do all kinds of work at the same time, while somebody notes what the
 * server holds. What it holds at the end is compared with what it held before.
 */
import type { DbdPeer } from "../bench/peers/dbd.ts";
import { longTurns, readMetric } from "../bench/peers/dbd.ts";
import { seededRandom } from "../support/random.ts";
import { connect, type LifeClient, prepareLife, type Work, WORKS } from "./work.ts";

/** What is looked at; each one's name is also its line's in the picture. */
export const HELD = {
  "memory, MB": (server: DbdPeer) =>
    readMetric(server, "db_resident_memory_bytes").then((bytes) => bytes / 1e6),
  "heap, MB": (server: DbdPeer) => readMetric(server, "db_heap_bytes").then((bytes) => bytes / 1e6),
  "descriptors": (server: DbdPeer) => Promise.resolve(descriptors(server)),
  "plans": (server: DbdPeer) => readMetric(server, "db_plan_cache_entries"),
  "sessions": (server: DbdPeer) => readMetric(server, "db_sessions"),
  "transactions": (server: DbdPeer) => readMetric(server, "db_active_transactions"),
  "tables": (server: DbdPeer) => readMetric(server, "db_tables"),
  "disk, MB": (server: DbdPeer) => Promise.resolve(diskBytes(server.directory) / 1e6),
} as const;

/** One of them. */
export type HeldName = keyof typeof HELD;

/** The server at one time. */
export interface Look {
  readonly seconds: number;
  readonly held: Readonly<Record<HeldName, number>>;
}

/** A piece of work. */
export interface Done {
  readonly name: string;
  /** Since the beginning, when it ended. */
  readonly seconds: number;
  readonly milliseconds: number;
}

/** What a life came to. */
export interface Life {
  readonly seconds: number;
  readonly looks: readonly Look[];
  readonly done: readonly Done[];
  /** Before the first client came, and after the last one had left. */
  readonly before: Look["held"];
  readonly after: Look["held"];
  readonly longestTurnMilliseconds: number;
  readonly longTurns: number;
  /** The longest ones by their work, in words. */
  readonly turnsByWork: readonly string[];
}

/** Lets clients work for so many seconds, and each kind of work be done once at least. Rejects at a wrong answer. */
export async function live(
  server: DbdPeer,
  options: { readonly seconds: number; readonly clients: number; readonly seed: number },
): Promise<Life> {
  await prepareLife(server);
  const before = await look(server);
  const start = performance.now();
  const since = (): number => (performance.now() - start) / 1000;
  const looks: Look[] = [], done: Done[] = [];
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      looks.push({ seconds: since(), held: await look(server) });
      await new Promise((resolve) => setTimeout(resolve, Math.min(1000, options.seconds * 20)));
    }
  })();
  const bag = WORKS.flatMap((work) => Array.from({ length: work.weight }, () => work));
  try {
    await Promise.all(Array.from({ length: options.clients }, async (_, number) => {
      const random = seededRandom(options.seed + number);
      const client: LifeClient = { server, connection: await connect(server), number, random };
      const run = async (work: Work): Promise<void> => {
        const begun = performance.now();
        await work.run(client).catch((error) => {
          throw new Error(`${work.name}: ${error instanceof Error ? error.message : error}`, {
            cause: error,
          });
        });
        done.push({ name: work.name, seconds: since(), milliseconds: performance.now() - begun });
      };
      for (const [index, work] of WORKS.entries()) if (index % options.clients === number) await run(work);
      while (since() < options.seconds) await run(random.pick(bag));
      await client.connection.end();
    }));
  } finally {
    isOver = true;
    await watching;
  }
  const seconds = since();
  return {
    seconds,
    looks,
    done,
    before,
    after: await lookWhenAlone(server),
    longestTurnMilliseconds: 1000 * await readMetric(server, "db_event_loop_longest_turn_seconds"),
    longTurns: await readMetric(server, "db_event_loop_long_turns_total"),
    turnsByWork: await longTurns(server),
  };
}

/** What a look that was the last has to find again. */
const MUST_RETURN = ["sessions", "transactions", "tables"] as const;
/** HTTP connections may be kept, and so may files of tables. */
const KEPT_DESCRIPTORS = 16;

/** What is there at the end and was not at the beginning; empty when nothing leaks. */
export function leaks({ before, after }: Pick<Life, "before" | "after">): string[] {
  const found = MUST_RETURN.filter((name) => after[name] !== before[name])
    .map((name) => `${name}: ${before[name]} before, ${after[name]} at the end`);
  if (after.descriptors > before.descriptors + KEPT_DESCRIPTORS) {
    found.push(`descriptors: ${before.descriptors} before, ${after.descriptors} at the end`);
  }
  return found;
}

/** The part of a life between two shares of it. */
export function within<T extends { readonly seconds: number }>(
  { seconds }: Pick<Life, "seconds">,
  events: readonly T[],
  from: number,
  to: number,
): T[] {
  return events.filter((event) => event.seconds >= from * seconds && event.seconds < to * seconds);
}

/** How long so large a share of the work took at most; NaN when none was done. */
export function percentile(done: readonly Pick<Done, "milliseconds">[], share: number): number {
  const sorted = done.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

async function look(server: DbdPeer): Promise<Look["held"]> {
  const entries = await Promise.all(
    Object.entries(HELD).map(async ([name, read]) => [name, await read(server)] as const),
  );
  return Object.fromEntries(entries) as Look["held"];
}

/** Sessions end a little later than their clients hear of it. */
async function lookWhenAlone(server: DbdPeer): Promise<Look["held"]> {
  for (let tries = 0;; tries++) {
    const held = await look(server);
    if (held.sessions === 0 || tries === 100) return held;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function descriptors({ processId }: DbdPeer): number {
  return Deno.build.os === "linux" ? [...Deno.readDirSync(`/proc/${processId}/fd`)].length : 0;
}

function diskBytes(directory: string): number {
  let bytes = 0;
  for (const entry of Deno.readDirSync(directory)) {
    const path = `${directory}/${entry.name}`;
    try {
      bytes += entry.isDirectory ? diskBytes(path) : Deno.statSync(path).size;
    } catch (error) {
      // The server removes files at any time.
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return bytes;
}
