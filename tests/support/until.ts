/** Waiting for what a test cannot be told of: a fixed pause is too short on a busy machine. */
import type { Engine } from "../../engine/session/engine.ts";

/** Far longer than anything takes that comes at all: a test that waits in vain says for what, and the others go on. */
const LIMIT_MILLISECONDS = 60_000;

/** Waits until the condition holds, a moment at a time; fails when it does not within a minute. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string | (() => string) = condition.toString(),
): Promise<void> {
  for (const end = performance.now() + LIMIT_MILLISECONDS; !(await condition());) {
    if (performance.now() > end) {
      throw new Error(`waited in vain for ${typeof what === "string" ? what : what()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Waits until so many sessions of a server run a statement whose text has the words, as one of its clients sees it. */
export async function untilActive(
  client: { query(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> },
  words: string,
  wanted = 1,
): Promise<void> {
  const sql = `SELECT count(*)::int AS n FROM pg_stat_activity
    WHERE query LIKE '%${words}%' AND state = 'active' AND pid <> pg_backend_pid()`;
  await until(
    async () => (await client.query(sql))[0]?.["n"] === wanted,
    `${wanted} sessions that run ${words}`,
  );
}

/** Waits until a session runs a statement; it must be one that takes long. */
export function untilRunning(engine: Engine): Promise<void> {
  return until(() => [...engine.sessions].some((session) => session.isRunning), "a statement that runs");
}
