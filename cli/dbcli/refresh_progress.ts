/**
 * How far a REFRESH has come, on a line of the terminal while it runs. A second connection asks for it, because the
 * first one waits for the answer.
 */
import type { OperationClient } from "../../gateways/binary/client.ts";
import { formatBytes, Progress } from "./progress.ts";
import type { Terminal } from "./terminal.ts";

/** Shorter ones need no line. */
const FIRST_MILLISECONDS = 500;
const INTERVAL_MILLISECONDS = 250;

const QUESTION = "SELECT relname, pages, rows, bytes FROM pg_stat_progress_refresh ORDER BY pid DESC";

/** What is needed to ask. */
export interface RefreshWatch {
  readonly terminal: Terminal;
  /** Another connection to the same server. */
  connect(): Promise<OperationClient>;
}

/** Whether the text is a REFRESH. */
export function isRefresh(text: string): boolean {
  return /^\s*refresh\s/i.test(text);
}

/** Does the work of a REFRESH, and says meanwhile how far it is. */
export async function withRefreshProgress<T>(
  text: string,
  watch: RefreshWatch,
  work: () => Promise<T>,
): Promise<T> {
  const ended = Promise.withResolvers<void>();
  const watching = watchRefresh(text, watch, ended.promise);
  try {
    return await work();
  } finally {
    ended.resolve();
    await watching;
  }
}

async function watchRefresh(
  text: string,
  { terminal, connect }: RefreshWatch,
  ended: Promise<void>,
): Promise<void> {
  let shown = "";
  const progress = new Progress(terminal, () => shown);
  let client: OperationClient | null = null;
  try {
    if (await isEnded(ended, FIRST_MILLISECONDS)) return;
    client = await connect();
    do {
      const rows = (await client.execute(QUESTION)).rows();
      const row = rows.find(({ relname }) => text.includes(String(relname)));
      if (row === undefined) continue;
      shown = `${row.relname}: ${row.pages} page${row.pages === 1 ? "" : "s"}, ${row.rows} rows, ${
        formatBytes(Number(row.bytes))
      }`;
      progress.update(0);
    } while (!await isEnded(ended, INTERVAL_MILLISECONDS));
  } catch {
    // The line is an extra: what goes wrong with the statement itself is reported by whoever runs it.
  } finally {
    progress.end();
    await client?.close();
  }
}

/** Waits so long at most. */
async function isEnded(ended: Promise<void>, milliseconds: number): Promise<boolean> {
  const timer = Promise.withResolvers<boolean>();
  const id = setTimeout(() => timer.resolve(false), milliseconds);
  const result = await Promise.race([ended.then(() => true), timer.promise]);
  clearTimeout(id);
  return result;
}
