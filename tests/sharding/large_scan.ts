/**
 * `deno task soak:large-scan [rows] [shards]`: a client that takes its time reads ten million rows of four shards, by a
 * cursor, by SELECT and by COPY TO, and the process has a bounded part of them in memory. Another process loads them.
 */
import { denoHost } from "../../engine/host/deno_host.ts";
import { openSharded } from "../../engine/sharding/open_sharded.ts";
import { TestClient } from "../../engine/statements/copy/client_for_test.ts";
import type { ResultSink } from "../../engine/statements/outcome.ts";
import { loadLarge, residentBytes } from "./large_join.ts";

/** What the process may have resident, block caches and the heaps of five threads included. */
const MAX_RESIDENT_BYTES = 1 << 30;
/** Rows of one FETCH. */
const FETCH_ROWS = 5000;
/** Rows that the client takes before it has to breathe. */
const ROWS_AT_ONCE = 2000;

/** Counts what comes; full whenever it has taken some rows or data, for a turn. */
class BreathingSink implements ResultSink {
  rows = 0;
  bytes = 0;
  #taken = 0;

  get full(): boolean {
    return this.#taken >= ROWS_AT_ONCE;
  }

  async drained(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 1));
    this.#taken = 0;
  }

  endRow(): void {
    this.rows++;
    this.#taken++;
  }

  copyOutData(bytes: Uint8Array): void {
    this.bytes += bytes.length;
    this.#taken += ROWS_AT_ONCE / 2;
  }

  begin(): void {}
  beginRow(): void {}
  writeNull(): void {}
  writeInteger(): void {}
  writeText(): void {}
  writeUtf8(): void {}
  writeValue(): void {}
  copyOutBegin(): void {}
  retract(): void {
    throw new Error("rows that may have been sent are not taken back");
  }
  copyIn(): Promise<void> {
    return Promise.reject(new Error("nothing is copied"));
  }
}

/** The rows that come by each way. */
export async function scanLarge(
  directory: string,
  shardCount: number,
): Promise<
  { readonly cursor: number; readonly select: number; readonly merged: number; readonly copied: string }
> {
  const client = TestClient.over(await openSharded({ host: denoHost(), directory, shardCount }));
  await client.run("BEGIN", "DECLARE c CURSOR FOR SELECT * FROM large_a");
  let cursor = 0;
  for (;;) {
    const sink = new BreathingSink();
    await client.session.simple(`FETCH ${FETCH_ROWS} FROM c`, sink, () => {});
    cursor += sink.rows;
    if (sink.rows < FETCH_ROWS) break;
  }
  await client.run("COMMIT");
  const rowsOf = async (sql: string): Promise<number> => {
    const sink = new BreathingSink();
    await client.session.simple(sql, sink, () => {});
    return sink.rows;
  };
  const select = await rowsOf("SELECT * FROM large_a");
  const merged = await rowsOf("SELECT id, v FROM large_a ORDER BY id");
  const sink = new BreathingSink();
  let tag = "";
  await client.session.simple("COPY large_a TO STDOUT", sink, (outcome) => tag = outcome.tag);
  await client.close();
  return { cursor, select, merged, copied: tag };
}

async function main([rowText = "10000000", shardText = "4", given]: readonly string[]): Promise<number> {
  const [rows, shardCount] = [Number(rowText), Number(shardText)];
  if (!Number.isSafeInteger(rows) || rows < 1000 || rows % 1000 !== 0) {
    console.error("Usage: deno task soak:large-scan [rows, in thousands] [shards]");
    return 2;
  }
  if (given !== undefined) {
    const start = performance.now();
    const found = JSON.stringify(await scanLarge(given, shardCount));
    const seconds = Math.round((performance.now() - start) / 1000);
    const resident = residentBytes();
    console.log(`${found} in ${seconds} s, at most ${Math.round(resident / 1_048_576)} MiB resident`);
    const expected = JSON.stringify({ cursor: rows, select: rows, merged: rows, copied: `COPY ${rows}` });
    if (found === expected && resident <= MAX_RESIDENT_BYTES) return 0;
    console.log(`expected ${expected}, at most ${MAX_RESIDENT_BYTES / 1_048_576} MiB`);
    return 1;
  }
  const directory = await Deno.makeTempDir({ prefix: "large-scan-" });
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
