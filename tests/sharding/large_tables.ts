/** Two large tables of shards, and the soaks that read them in a process of their own. */
import { denoHost } from "../../engine/host/deno_host.ts";
import { openSharded } from "../../engine/sharding/open_sharded.ts";
import { TestClient } from "../../engine/statements/copy/client_for_test.ts";

/** Rows of one COPY. */
const COPY_ROWS = 250_000;
/** What the process may have resident, block caches and the heaps of five threads included. */
const MAX_RESIDENT_BYTES = 1 << 30;

/** What is read of them. */
export interface LargeSoak {
  /** `large-join`: the task is `soak:large-join`. */
  readonly name: string;
  readonly file: string | undefined;
  /** Reads them, and answers what came of it beside what has to. */
  run(
    directory: string,
    shardCount: number,
    rows: number,
  ): Promise<{ readonly answer: string; readonly expected: string }>;
}

/** Opens a database of shards in threads. */
export async function openLarge(directory: string, shardCount: number): Promise<TestClient> {
  return TestClient.over(await openSharded({ host: denoHost(), directory, shardCount }));
}

/** Makes both tables; keys are all numbers below `rows`, in two orders. `rows` is divisible by 1000. */
export async function loadLarge(directory: string, shardCount: number, rows: number): Promise<void> {
  const client = await openLarge(directory, shardCount);
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

/** The most that this process has had resident. */
function residentBytes(): number {
  const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(Deno.readTextFileSync("/proc/self/status")) ?? [];
  return Number(kilobytes) * 1024;
}

/** Runs a soak; answers its exit code. */
export async function soakLarge(
  { name, file, run }: LargeSoak,
  [rowText = "10000000", shardText = "4", given]: readonly string[],
): Promise<number> {
  const [rows, shardCount] = [Number(rowText), Number(shardText)];
  if (!Number.isSafeInteger(rows) || rows < 1000 || rows % 1000 !== 0) {
    console.error(`Usage: deno task soak:${name} [rows, in thousands] [shards]`);
    return 2;
  }
  if (given !== undefined) {
    const start = performance.now();
    const { answer, expected } = await run(given, shardCount, rows);
    const seconds = Math.round((performance.now() - start) / 1000);
    const resident = residentBytes();
    console.log(`${answer} in ${seconds} s, at most ${Math.round(resident / 1_048_576)} MiB resident`);
    if (answer === expected && resident <= MAX_RESIDENT_BYTES) return 0;
    console.log(`expected ${expected}, at most ${MAX_RESIDENT_BYTES / 1_048_576} MiB`);
    return 1;
  }
  const directory = await Deno.makeTempDir({ prefix: `${name}-` });
  try {
    await loadLarge(directory, shardCount, rows);
    const args = ["run", "-A", file ?? "", rowText, shardText, directory];
    const { code } = await new Deno.Command(Deno.execPath(), { args, stdout: "inherit", stderr: "inherit" })
      .output();
    return code;
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}
