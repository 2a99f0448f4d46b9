/**
 * `deno task soak:large-writes [rows] [MiB]`: UPDATE and DELETE of ten million rows, each by one statement, while
 * others read single rows, and with a SIGKILL in the middle of each; the server's resident memory stays below the bound
 * (2048 MiB unless said otherwise).
 *
 * Exit codes: 0 all is right, 1 not.
 */
import { setTimeout as delay } from "node:timers/promises";
import { connectPg, type SqlClient } from "../support/clients.ts";
import { ServerProcess } from "../support/server_process.ts";

/** How much to do. */
export interface LargeWrites {
  readonly rows: number;
  /** How many statements are cut short by a SIGKILL. */
  readonly kills: number;
  /** Hears what was done. */
  readonly say: (line: string) => void;
}

/** What has come of it. */
export interface LargeWritesReport {
  /** What was not as it has to be. */
  readonly wrong: readonly string[];
  /** The most that the server had resident, in bytes. */
  readonly residentBytes: number;
  /** The longest wait of a read of one row beside the writes. */
  readonly longestReadMilliseconds: number;
  readonly reads: number;
}

const COPY_ROWS = 200_000;

/** A server and a connection to it. */
interface Running {
  readonly server: ServerProcess;
  readonly client: SqlClient;
}

async function start(directory: string, rows: number): Promise<Running> {
  const parameters = ["run", "-A", "cli/dbd.ts", "--pg-addr", "127.0.0.1:0"];
  // What takes 64 MiB of many rows takes 1 of few: an entry of more is in segments before it is complete.
  if (rows < 1_000_000) parameters.push("--checkpoint-log", "1m");
  parameters.push("127.0.0.1:0", directory);
  const server = await ServerProcess.start(Deno.execPath(), parameters);
  return { server, client: await connect(server) };
}

function connect(server: ServerProcess): Promise<SqlClient> {
  return connectPg({ host: "127.0.0.1", port: server.portOf("PostgreSQL protocol") });
}

function residentBytes({ child: { pid } }: ServerProcess): number {
  return 1024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(Deno.readTextFileSync(`/proc/${pid}/status`))?.[1]);
}

/** Count, sum of `a`, and what an index says of it. */
async function picture(client: SqlClient): Promise<string> {
  const [all] = await client.query("SELECT count(*) AS n, sum(a) AS a, sum(length(b)) AS b FROM t");
  const [some] = await client.query("SELECT count(*) AS n FROM t WHERE a >= 500 AND a < 600");
  return [all?.n, all?.a, all?.b, some?.n].join(" ");
}

/** Loads the rows; deletes and changes all of them, whole or killed, and looks at what is left. */
export async function writeLarge({ rows, kills, say }: LargeWrites): Promise<LargeWritesReport> {
  const directory = await Deno.makeTempDir({ prefix: "large-writes-" });
  const wrong: string[] = [];
  let highest = 0, longest = 0, reads = 0;
  let running = await start(directory, rows);
  /** Runs one statement while rows are read one by one; `kill`: in the middle of it the server is killed. */
  const run = async (sql: string, expected: string, kill: number | null): Promise<void> => {
    const before = await picture(running.client);
    const reader = await connect(running.server);
    const began = performance.now();
    let isDone = false;
    const work = running.client.query(sql).then(() => true, () => false).finally(() => isDone = true);
    const reading = (async () => {
      while (!isDone) {
        const asked = performance.now();
        try {
          await reader.query("SELECT a FROM t WHERE id = $1", [1 + (reads * 7919) % rows]);
        } catch (error) {
          if (kill === null) throw error;
          return;
        }
        longest = Math.max(longest, performance.now() - asked);
        reads++;
        await delay(2);
      }
    })();
    if (kill !== null) {
      await delay(kill);
      highest = Math.max(highest, residentBytes(running.server));
      await running.server.end("SIGKILL");
    }
    const isAcknowledged = await work;
    await reading;
    const milliseconds = Math.round(performance.now() - began);
    await reader.close();
    if (kill !== null) {
      await running.client.close();
      running = await start(directory, rows);
    }
    highest = Math.max(highest, residentBytes(running.server));
    const after = await picture(running.client);
    say(`${sql}: ${milliseconds} ms${kill === null ? "" : ", killed"}; ${Math.round(highest / 2 ** 20)} MiB`);
    if (after !== expected && (isAcknowledged || after !== before)) {
      wrong.push(`${sql}${kill === null ? "" : `, killed after ${kill} ms`}: ${after}, not ${expected}`);
    }
  };
  try {
    const { client } = running;
    await client.query("CREATE TABLE t (id int PRIMARY KEY, a int, b text)");
    await client.query("CREATE INDEX t_a ON t (a)");
    for (let first = 0; first < rows; first += COPY_ROWS) {
      let text = "";
      for (let id = first + 1; id <= Math.min(rows, first + COPY_ROWS); id++) {
        text += `${id}\t${id % 1000}\ta text that is as long as many of them\n`;
      }
      await client.copyIn?.("COPY t FROM STDIN", text);
    }
    const [count, sum, length, some] = (await picture(client)).split(" ").map(Number) as [
      ...[number, number, number, number],
    ];
    say(`${rows} rows; ${Math.round(residentBytes(running.server) / 2 ** 20)} MiB`);
    const changed = (by: number): string => [count, sum + by * count, length, some].join(" ");
    await run("UPDATE t SET a = a + 1000", [count, sum + 1000 * count, length, 0].join(" "), null);
    await run("UPDATE t SET a = a - 1000", changed(0), null);
    for (let round = 1; round <= kills; round++) {
      const wait = Math.round(round / (kills + 1) * rows / 100);
      await run("UPDATE t SET a = a - 1000", [count, sum - 1000 * count, length, 0].join(" "), wait);
      await run(
        "UPDATE t SET a = a + 1000 WHERE a < 0",
        changed(0),
        null,
      );
    }
    const [odd] = await running.client.query(
      "SELECT count(*) AS n, sum(a) AS a, sum(length(b)) AS b, count(CASE WHEN a >= 500 AND a < 600 THEN 1 END) AS s " +
        "FROM t WHERE id % 2 = 1",
    );
    const half = [odd?.n, odd?.a, odd?.b, odd?.s].join(" ");
    if (kills > 0) await run("DELETE FROM t WHERE id % 2 = 0", half, Math.round(rows / 1000));
    await run("DELETE FROM t WHERE id % 2 = 0", half, null);
    await run("DELETE FROM t", "0   0", null);
  } finally {
    await running.client.close();
    await running.server.end("SIGTERM");
    await Deno.remove(directory, { recursive: true });
  }
  return { wrong, residentBytes: highest, longestReadMilliseconds: Math.round(longest), reads };
}

if (import.meta.main) {
  const [rows = 10_000_000, mebibytes = 2048] = Deno.args.map(Number);
  const report = await writeLarge({ rows, kills: 3, say: (line) => console.log(line) });
  const resident = Math.round(report.residentBytes / 2 ** 20);
  for (const line of report.wrong) console.log(`WRONG: ${line}`);
  console.log(
    `${resident} MiB resident at most (${mebibytes} allowed); ` +
      `the longest of ${report.reads} reads took ${report.longestReadMilliseconds} ms`,
  );
  Deno.exit(report.wrong.length > 0 || resident > mebibytes ? 1 : 0);
}
