/**
 * `deno task soak:large-join [rows] [shards]`: two tables of ten million rows are joined by repartition, and the
 * process that does so, with its threads, has less than 1 GiB resident. Another process loads them before.
 */
import { denoHost } from "../../engine/host/deno_host.ts";
import { openSharded } from "../../engine/sharding/open_sharded.ts";
import { TestClient } from "../../engine/statements/copy/client_for_test.ts";

/** Rows of one COPY. */
const COPY_ROWS = 250_000;
/** What the process may have resident. */
const MAX_RESIDENT_BYTES = 1 << 30;

const JOIN = "SELECT count(*), sum(a.v), sum(b.v), sum(a.id) FROM large_a a JOIN large_b b ON a.k = b.k";

async function open(directory: string, shardCount: number): Promise<TestClient> {
  return TestClient.over(await openSharded({ host: denoHost(), directory, shardCount }));
}

/** Makes both tables; keys are all numbers below `rows`, in two orders. `rows` is divisible by 1000. */
export async function loadLarge(directory: string, shardCount: number, rows: number): Promise<void> {
  const client = await open(directory, shardCount);
  for (const [table, factor] of [["large_a", 7919], ["large_b", 104_729]] as const) {
    await client.run(`CREATE TABLE ${table} (id BIGINT PRIMARY KEY, k BIGINT, v BIGINT)`);
    for (let first = 1; first <= rows; first += COPY_ROWS) {
      const count = Math.min(COPY_ROWS, rows - first + 1);
      const lines = Array.from({ length: count }, (_, index) => {
        const id = first + index;
        return `${id}\t${(id * factor) % rows}\t${id % 1000}\n`;
      });
      await client.copyIn(`COPY ${table} FROM STDIN`, lines.join(""));
    }
  }
  await client.run("CHECKPOINT");
  await client.close();
}

/** What the join answers, and what it has to. */
export async function joinLarge(
  directory: string,
  shardCount: number,
  rows: number,
): Promise<{ readonly answer: string; readonly expected: string; readonly plan: string }> {
  const client = await open(directory, shardCount);
  await client.run("SET scatter_timeout = 0", "SET broadcast_limit = 0");
  const plan = (await client.rows(`EXPLAIN ${JOIN}`)).join("\n");
  const [answer = ""] = await client.rows(JOIN);
  await client.close();
  const values = rows / 1000 * 499_500;
  return { answer, expected: [rows, values, values, rows * (rows + 1) / 2].join("|"), plan };
}

/** The most that this process has had resident. */
export function residentBytes(): number {
  const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(Deno.readTextFileSync("/proc/self/status")) ?? [];
  return Number(kilobytes) * 1024;
}

async function main([rowText = "10000000", shardText = "4", given]: readonly string[]): Promise<number> {
  const [rows, shardCount] = [Number(rowText), Number(shardText)];
  if (!Number.isSafeInteger(rows) || rows < 1000 || rows % 1000 !== 0) {
    console.error("Usage: deno task soak:large-join [rows, in thousands] [shards]");
    return 2;
  }
  if (given !== undefined) {
    const start = performance.now();
    const { answer, expected } = await joinLarge(given, shardCount, rows);
    const seconds = Math.round((performance.now() - start) / 1000);
    const resident = residentBytes();
    console.log(`${answer} in ${seconds} s, at most ${Math.round(resident / 1_048_576)} MiB resident`);
    if (answer === expected && resident <= MAX_RESIDENT_BYTES) return 0;
    console.log(`expected ${expected}, at most ${MAX_RESIDENT_BYTES / 1_048_576} MiB`);
    return 1;
  }
  const directory = await Deno.makeTempDir({ prefix: "large-join-" });
  try {
    await loadLarge(directory, shardCount, rows);
    const args = ["run", "-A", import.meta.filename ?? "", rowText, shardText, directory];
    const { code } = await new Deno.Command(Deno.execPath(), { args, stdout: "inherit", stderr: "inherit" })
      .output();
    return code;
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

if (import.meta.main) Deno.exit(await main(Deno.args));
