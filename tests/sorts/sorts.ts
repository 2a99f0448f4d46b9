/** Many sorts at a time of more rows than all of them may hold, with point reads beside them. */
import postgres from "postgres";
import { SQLSTATE } from "../../engine/base/errors.ts";
import { median } from "../bench/benchmark.ts";
import { connect, execute } from "../bench/cases/client.ts";
import { type DbdPeer, readMetric, startDbd } from "../bench/peers/dbd.ts";
import { percentile } from "../life/life.ts";

/** How much of it. */
export interface SortsOptions {
  readonly rows: number;
  readonly sorts: number;
  /** As `--query-memory` takes it. */
  readonly queryMemory: string;
  readonly statementMemory: string;
  readonly timeoutSeconds: number;
  readonly workers: number;
  readonly shards: number;
}

/** What came of it. */
export interface SortsResult {
  readonly seconds: number;
  readonly answered: number;
  /** Ended with 53200 after the time-out. */
  readonly refused: number;
  /** Anything else; each is a fault. */
  readonly wrong: readonly string[];
  /** Of point reads beside them. */
  readonly reads: number;
  readonly medianMilliseconds: number;
  readonly p99Milliseconds: number;
  readonly longestMilliseconds: number;
  readonly residentBytes: number;
  readonly peakReservedBytes: number;
  readonly peakFileBytes: number;
  readonly waits: number;
  /** What is reserved, waits and is in files at the end. */
  readonly left: number;
}

/** Runs them in a server of its own. */
export async function runSorts(options: SortsOptions): Promise<SortsResult> {
  const { queryMemory, workers, shards } = options;
  const spread = ["--max-parallel-workers", `${workers}`, "--shards", `${shards}`];
  const server = await startDbd({ flags: ["--query-memory", queryMemory, ...spread] });
  try {
    return await sortTogether(server, options);
  } finally {
    await server.stop();
  }
}

async function sortTogether(
  server: DbdPeer,
  { rows, sorts, statementMemory, timeoutSeconds }: SortsOptions,
): Promise<SortsResult> {
  await execute(server, [
    "CREATE TABLE sorted (a INT PRIMARY KEY, b INT NOT NULL, c INT NOT NULL)",
    `INSERT INTO sorted SELECT n, n * 7919::bigint % 1000003, n % 10 FROM generate_series(1, ${rows}) AS n`,
  ]);
  const reader = connect(server);
  const query = `SELECT b, a FROM sorted ORDER BY b, a, c LIMIT 5 OFFSET ${rows - 5}`;
  try {
    const expected = JSON.stringify(await reader.unsafe(query).values());
    let answered = 0, refused = 0;
    const wrong: string[] = [];
    const start = performance.now();
    const sortOnce = async (): Promise<void> => {
      const own = connect(server);
      try {
        await own.unsafe(
          `SET statement_memory = '${statementMemory}'; SET query_memory_timeout = '${timeoutSeconds}s'`,
        );
        const text = JSON.stringify(await own.unsafe(query).values());
        if (text === expected) answered++;
        else wrong.push(text);
      } catch (error) {
        if (error instanceof postgres.PostgresError && error.code === SQLSTATE.outOfMemory) refused++;
        else wrong.push(String(error));
      } finally {
        await own.end();
      }
    };
    let isDone = false;
    const sorting = Promise.all(Array.from({ length: sorts }, sortOnce)).finally(() => {
      isDone = true;
    });
    const milliseconds: number[] = [];
    for (let read = 1; !isDone; read++) {
      const begin = performance.now();
      const id = read * 7919 % rows + 1;
      const [row] = await reader`SELECT b FROM sorted WHERE a = ${id}`;
      milliseconds.push(performance.now() - begin);
      if (row?.b !== id * 7919 % 1000003) wrong.push(`row ${id} has ${row?.b}`);
    }
    await sorting;
    const seconds = (performance.now() - start) / 1000;
    const metric = (name: string) => readMetric(server, name);
    const status = await Deno.readTextFile(`/proc/${server.processId}/status`);
    return {
      seconds,
      answered,
      refused,
      wrong,
      reads: milliseconds.length,
      medianMilliseconds: median(milliseconds),
      p99Milliseconds: percentile(milliseconds.map((each) => ({ milliseconds: each })), 0.99),
      longestMilliseconds: Math.max(...milliseconds),
      residentBytes: 1024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]),
      peakReservedBytes: await metric("db_query_memory_peak_bytes"),
      peakFileBytes: await metric("db_temp_file_peak_bytes"),
      waits: await metric("db_query_memory_waits_total"),
      left: await metric("db_query_memory_reserved_bytes") + await metric("db_query_memory_waiting") +
        await metric("db_temp_file_bytes"),
    };
  } finally {
    await reader.end();
  }
}
