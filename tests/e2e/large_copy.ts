/**
 * `deno task soak:large-copy [MiB] [kills]`: COPY of so much text (10 GiB unless said otherwise) by one transaction on
 * a server that is alone, while others read single rows, and with SIGKILLs: some in the middle, and one right behind
 * the answer. The server's resident memory stays below 2 GiB.
 *
 * Exit codes: 0 all is right, 1 not.
 */
import { setTimeout as delay } from "node:timers/promises";
import { connectPg } from "../support/clients.ts";
import { ServerProcess } from "../support/server_process.ts";

/** What has come of it. */
export interface LargeCopyReport {
  /** What was not as it has to be. */
  readonly wrong: readonly string[];
  /** The most that the server had resident, in bytes, and that a start after a kill had. */
  readonly residentBytes: number;
  readonly longestReadMilliseconds: number;
  readonly longestTurnMilliseconds: number;
}

const ALLOWED_BYTES = 2 ** 31;
const ROWS_AT_ONCE = 8192;

/** Text of rows: id, a number, and 100 to 115 letters that compress badly. */
function rowsFrom(first: number, count: number): string {
  let text = "";
  for (let id = first; id < first + count; id++) {
    text += `${id}\t${id % 1000}\t${LETTERS.substring(id * 131 % 60_000).substring(0, 100 + id % 16)}\n`;
  }
  return text;
}

const LETTERS = Array.from({ length: 61_000 }, (_, at) => String.fromCharCode(97 + at * at * 7919 % 997 % 26))
  .join("");

/** Loads by COPY and looks at what is there; `say` hears what was done. */
export async function copyLarge(
  { bytes, kills, flags, say }: {
    readonly bytes: number;
    /** After how much of the text, or milliseconds behind its end, the server is killed. */
    readonly kills: readonly ({ readonly bytes: number } | { readonly afterEnd: number })[];
    readonly flags: readonly string[];
    readonly say: (line: string) => void;
  },
): Promise<LargeCopyReport> {
  const directory = await Deno.makeTempDir({ prefix: "large-copy-" });
  const wrong: string[] = [];
  let highest = 0, longest = 0, turn = 0;
  const any = "127.0.0.1:0";
  const start = () =>
    ServerProcess.start(Deno.execPath(), [
      "run",
      "-A",
      "cli/dbd.ts",
      ...["--pg-addr", any, "--http-addr", any, ...flags, any, `${directory}/data`],
    ]);
  let server = await start();
  const connect = () => connectPg({ host: "127.0.0.1", port: server.portOf("PostgreSQL protocol") });
  const look = async (): Promise<void> => {
    const status = Deno.readTextFileSync(`/proc/${server.child.pid}/status`);
    highest = Math.max(highest, 1024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0));
    const address = server.addressOf("HTTP").replace(/^http:\/\//, "");
    const metrics = await (await fetch(`http://${address}/v1/metrics`)).text();
    turn = Math.max(
      turn,
      1000 * Number(/^db_event_loop_longest_turn_seconds (\S+)$/m.exec(metrics)?.[1] ?? 0),
    );
  };
  const query = async (sql: string): Promise<string> => {
    const client = await connect();
    try {
      return (await client.query(sql)).map((row) => Object.values(row).join(" ")).join(", ");
    } finally {
      await client.close();
    }
  };
  let reads = 0, isOver = false;
  /** Reads single rows of another table until all is over, across kills. */
  const reading = async (): Promise<void> => {
    while (!isOver) {
      try {
        const client = await connect();
        for (; !isOver; reads++) {
          const asked = performance.now();
          const [row] = await client.query("SELECT n FROM small WHERE id = $1", [reads % 1000]);
          longest = Math.max(longest, performance.now() - asked);
          if (row?.n !== reads % 1000 * 7) wrong.push(`a read beside it: ${JSON.stringify(row)}`);
          await delay(5);
        }
        await client.close();
      } catch {
        // It was killed.
        await delay(50);
      }
    }
  };
  let rows = 0, sum = 0;
  /** Whether the COPY was acknowledged. */
  const copy = async (kill: (typeof kills)[number] | null): Promise<boolean> => {
    const psql = new Deno.Command("psql", {
      args: ["-X", "-q", "-h", "127.0.0.1", "-p", String(server.portOf("PostgreSQL protocol")), "-U", "x"]
        .concat(
          ["-v", "ON_ERROR_STOP=1", "-c", "COPY t FROM STDIN", "db"],
        ),
      stdin: "piped",
      stdout: "null",
      stderr: "null",
    }).spawn();
    const writer = psql.stdin.getWriter(), encoder = new TextEncoder();
    rows = sum = 0;
    const killing = kill !== null && "afterEnd" in kill ? kill.afterEnd : null;
    try {
      for (let sent = 0; sent < bytes; rows += ROWS_AT_ONCE) {
        const text = encoder.encode(rowsFrom(rows, ROWS_AT_ONCE));
        if (kill !== null && "bytes" in kill && sent >= kill.bytes) await server.end("SIGKILL");
        await writer.write(text);
        sent += text.length;
      }
      await writer.close();
    } catch {
      // It was killed.
    }
    for (let row = 0; row < rows; row++) sum += row % 1000;
    if (killing !== null) {
      await delay(killing);
      await server.end("SIGKILL");
    }
    return (await psql.status).success;
  };
  try {
    await query("CREATE TABLE t (id int PRIMARY KEY, a int, b text)");
    await query("CREATE TABLE small (id int PRIMARY KEY, n int)");
    await query("INSERT INTO small SELECT g, g * 7 FROM generate_series(0, 999) AS g");
    const beside = reading();
    const watch = setInterval(() => void look().catch(() => {}), 250);
    const picture = () => query("SELECT count(*), sum(a) FROM t");
    for (const kill of [...kills, null]) {
      const began = performance.now();
      let isThere = await copy(kill);
      const took = Math.round((performance.now() - began) / 1000);
      if (kill === null) {
        await look();
        say(`${rows} rows, ${took} s, ${Math.round(highest / 2 ** 20)} MiB`);
        await server.end("SIGKILL");
      }
      const again = performance.now();
      server = await start();
      await look();
      const found = await picture();
      say(
        `${kill === null ? "" : `killed at ${JSON.stringify(kill)}: `}${
          isThere ? "" : "not "
        }acknowledged, ` +
          `start after ${Math.round((performance.now() - again) / 100) / 10} s, rows and sum ${found}; ` +
          `${Math.round(highest / 2 ** 20)} MiB`,
      );
      if (found === `${rows} ${sum}`) isThere = true;
      else if (isThere || found !== "0 ") wrong.push(`${JSON.stringify(kill)}: ${found}, not ${rows} ${sum}`);
      if (isThere && kill !== null) await query("TRUNCATE t");
    }
    isOver = true;
    await beside;
    clearInterval(watch);
    await server.end("SIGTERM");
    const { success, stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "cli/dbd.ts", "verify", `${directory}/data`],
    }).output();
    say(new TextDecoder().decode(stdout).trim());
    if (!success) wrong.push("dbd verify finds damage");
  } finally {
    isOver = true;
    await server.end("SIGKILL");
    await Deno.remove(directory, { recursive: true });
  }
  return { wrong, residentBytes: highest, longestReadMilliseconds: longest, longestTurnMilliseconds: turn };
}

if (import.meta.main) {
  const [mebibytes = 10_240, kills = 2] = Deno.args.map(Number);
  const bytes = mebibytes * 2 ** 20;
  const report = await copyLarge({
    bytes,
    kills: [{ bytes: bytes / 2 }, { afterEnd: mebibytes * 4 }, { afterEnd: mebibytes * 12 }].slice(0, kills),
    flags: [],
    say: (line) => console.log(line),
  });
  for (const line of report.wrong) console.log(`WRONG: ${line}`);
  console.log(
    `${Math.round(report.residentBytes / 2 ** 20)} MiB resident at most; ` +
      `the longest read took ${Math.round(report.longestReadMilliseconds)} ms, ` +
      `the longest turn ${Math.round(report.longestTurnMilliseconds)}`,
  );
  Deno.exit(report.wrong.length > 0 || report.residentBytes > ALLOWED_BYTES ? 1 : 0);
}
