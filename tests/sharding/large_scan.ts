/**
 * `deno task soak:large-scan [rows] [shards]`: a client that takes its time reads ten million rows of four shards, by a
 * cursor, by SELECT and by COPY TO, and the process has a bounded part of them in memory. Another process loads them.
 */
import { RowCounter } from "../../engine/statements/row_buffer.ts";
import { openLarge, soakLarge } from "./large_tables.ts";

/** Rows of one FETCH. */
const FETCH_ROWS = 5000;
/** Rows that the client takes before it has to breathe. */
const ROWS_AT_ONCE = 2000;

/** Full whenever it has taken some rows or data, for a turn. */
class BreathingSink extends RowCounter {
  #taken = 0;

  override get full(): boolean {
    return this.#taken >= ROWS_AT_ONCE;
  }

  override async drained(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 1));
    this.#taken = 0;
  }

  override endRow(): void {
    super.endRow();
    this.#taken++;
  }

  override copyOutBegin(): void {}

  override copyOutData(): void {
    this.#taken += ROWS_AT_ONCE / 2;
  }

  override retract(): void {
    throw new Error("rows that may have been sent are not taken back");
  }
}

/** The rows that come by each way. */
export async function scanLarge(
  directory: string,
  shardCount: number,
): Promise<
  { readonly cursor: number; readonly select: number; readonly merged: number; readonly copied: string }
> {
  const client = await openLarge(directory, shardCount);
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

async function run(
  directory: string,
  shardCount: number,
  rows: number,
): Promise<{ readonly answer: string; readonly expected: string }> {
  const expected = { cursor: rows, select: rows, merged: rows, copied: `COPY ${rows}` };
  return {
    answer: JSON.stringify(await scanLarge(directory, shardCount)),
    expected: JSON.stringify(expected),
  };
}

if (import.meta.main) {
  Deno.exit(await soakLarge({ name: "large-scan", file: import.meta.filename, run }, Deno.args));
}
