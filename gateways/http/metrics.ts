/**
 * `/v1/metrics`: the text exposition format, version 0.0.4. Every family has HELP and TYPE; names begin with `db_`.
 */
import type { TurnTimes } from "../../engine/host/turn_watch.ts";
import type { QueryMemoryStatistics } from "../../engine/execution/runtime/query_memory.ts";
import type { Engine } from "../../engine/session/engine.ts";
import { writeClusterMetrics } from "./cluster_metrics.ts";
import { MetricsWriter } from "./metrics_writer.ts";
import { writeShardMetrics } from "./shard_metrics.ts";

/** Content type of the format. */
export const METRICS_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Upper bounds of the histogram of durations, in seconds. */
const BUCKETS: readonly number[] = [
  0.0005,
  0.001,
  0.0025,
  0.005,
  0.01,
  0.025,
  0.05,
  0.1,
  0.25,
  0.5,
  1,
  2.5,
  5,
  10,
];

/** Counts requests; one for each listener. */
export class RequestCounters {
  readonly #byStatus = new Map<string, number>();
  readonly #buckets = new Float64Array(BUCKETS.length);
  #durationSum = 0;
  #durationCount = 0;

  /** One request was answered. */
  count(route: string, status: number, seconds: number): void {
    const key = `path="${route}",status="${status}"`;
    this.#byStatus.set(key, (this.#byStatus.get(key) ?? 0) + 1);
    this.#durationSum += seconds;
    this.#durationCount++;
    for (let index = BUCKETS.length - 1; index >= 0 && seconds <= (BUCKETS[index] as number); index--) {
      this.#buckets[index] = (this.#buckets[index] as number) + 1;
    }
  }

  write(writer: MetricsWriter): void {
    writer.family("db_http_requests_total", "counter", "HTTP requests answered, by path and status.");
    for (const [labels, count] of [...this.#byStatus].sort(([left], [right]) => left < right ? -1 : 1)) {
      writer.sample("db_http_requests_total", count, labels);
    }
    const name = "db_http_request_duration_seconds";
    writer.family(name, "histogram", "Time from the head of an HTTP request to its answer.");
    for (const [index, bound] of BUCKETS.entries()) {
      writer.sample(`${name}_bucket`, this.#buckets[index] as number, `le="${bound}"`);
    }
    writer.sample(`${name}_bucket`, this.#durationCount, 'le="+Inf"');
    writer.sample(`${name}_sum`, this.#durationSum);
    writer.sample(`${name}_count`, this.#durationCount);
  }
}

/** What the listener knows besides the engine. */
export interface ListenerNumbers {
  readonly version: string;
  readonly connections: number;
  readonly webSockets: number;
  readonly requestsInFlight: number;
  readonly uptimeSeconds: number;
  readonly residentBytes: number;
  readonly heapBytes: number;
  /** null: nobody watches. */
  readonly turns: TurnTimes | null;
  /** Further gauges, and counters that end with `_total`, by name without `db_`. */
  readonly others: Readonly<Record<string, number>>;
}

/** The whole answer. */
export function metricsText(engine: Engine, counters: RequestCounters, numbers: ListenerNumbers): string {
  const writer = new MetricsWriter();
  const statistics = engine.statistics();
  const version = numbers.version.replace(/["\\\n]/g, "");
  writer.single("db_info", "gauge", "The version of the server program.", 1, `version="${version}"`);
  writer.single(
    "db_uptime_seconds",
    "gauge",
    "Seconds since the listener was started.",
    numbers.uptimeSeconds,
  );
  writer.single("db_last_op_number", "gauge", "The newest entry of the log.", statistics.lastOp);
  writer.single(
    "db_durable_op_number",
    "gauge",
    "The newest durable entry of the log.",
    statistics.durableOp,
  );
  writer.single("db_commits_total", "counter", "Transactions that changed something.", statistics.commits);
  writer.single("db_sessions", "gauge", "Open sessions of all protocols.", statistics.sessions);
  writer.single(
    "db_active_transactions",
    "gauge",
    "Transactions in progress.",
    statistics.activeTransactions,
  );
  writer.single("db_tables", "gauge", "Tables in the catalog.", statistics.tables);
  writer.single("db_plan_cache_entries", "gauge", "Plans kept by shape.", statistics.plansCached);
  writer.single(
    "db_plan_cache_hits_total",
    "counter",
    "Statements that found their plan.",
    statistics.planHits,
  );
  writer.single(
    "db_plan_cache_misses_total",
    "counter",
    "Statements that had to be planned.",
    statistics.planMisses,
  );
  const { storage } = statistics;
  writer.single(
    "db_rollbacks_total",
    "counter",
    "Transactions whose changes were undone.",
    statistics.rollbacks,
  );
  writer.single("db_log_syncs_total", "counter", "Times the log was made durable.", storage.syncs);
  writer.single("db_log_bytes", "gauge", "Log that a start would replay.", storage.logBytes);
  writer.single("db_checkpoints_total", "counter", "Checkpoints installed.", storage.checkpoints);
  writer.single("db_table_bytes", "gauge", "Files of all tables.", storage.tableBytes);
  writer.single("db_memory_rows_bytes", "gauge", "Rows in memory until a checkpoint.", storage.memoryBytes);
  writer.single("db_block_cache_bytes", "gauge", "Decoded blocks in the cache.", storage.cacheBytes);
  writer.single("db_block_cache_limit_bytes", "gauge", "Most bytes of the cache.", storage.cacheLimitBytes);
  writer.single("db_block_cache_loads_total", "counter", "Blocks that were not in it.", storage.cacheLoads);
  writer.single("db_block_cache_hits_total", "counter", "Blocks that were in it.", storage.cacheHits);
  writeQueryMemory(writer, statistics.queryMemory);
  const { limitBytes, usedBytes, peakBytes } = statistics.temporarySpace;
  const files = "temporary files of statements.";
  writer.single("db_temp_file_limit_bytes", "gauge", `Most bytes of ${files}`, limitBytes);
  writer.single("db_temp_file_bytes", "gauge", `Bytes of ${files}`, usedBytes);
  writer.single("db_temp_file_peak_bytes", "gauge", `The most bytes that there were of ${files}`, peakBytes);
  writer.single("db_http_connections", "gauge", "Open HTTP connections.", numbers.connections);
  writer.single("db_websocket_connections", "gauge", "Open WebSockets.", numbers.webSockets);
  writer.single(
    "db_http_requests_in_flight",
    "gauge",
    "HTTP requests being answered.",
    numbers.requestsInFlight,
  );
  for (const [name, value] of Object.entries(numbers.others)) {
    const words = name.replaceAll("_", " ");
    if (name.endsWith("_total")) {
      writer.single(`db_${name}`, "counter", `Number of ${words.slice(0, -" total".length)}.`, value);
    } else writer.single(`db_${name}`, "gauge", `Current ${words}.`, value);
  }
  writer.single("db_resident_memory_bytes", "gauge", "Memory of the process.", numbers.residentBytes);
  writer.single("db_heap_bytes", "gauge", "JavaScript heap in use.", numbers.heapBytes);
  if (numbers.turns !== null) writeTurnTimes(writer, numbers.turns);
  if (engine.cluster !== null) writeClusterMetrics(writer, engine.cluster);
  if (engine.shards !== null) writeShardMetrics(writer, engine.shards.statuses(null));
  counters.write(writer);
  return writer.finish();
}

/** What statements take of the memory for all of them. */
function writeQueryMemory(writer: MetricsWriter, memory: QueryMemoryStatistics): void {
  const single = (name: string, type: "gauge" | "counter", help: string, value: number) =>
    writer.single(`db_query_memory_${name}`, type, help, value);
  single("limit_bytes", "gauge", "Memory of all statements together.", memory.totalBytes);
  single("reserved_bytes", "gauge", "What statements have of it.", memory.reservedBytes);
  single("peak_bytes", "gauge", "The most that statements have had of it.", memory.peakBytes);
  single("waiting", "gauge", "Statements that wait for some.", memory.waiting);
  single("waits_total", "counter", "Statements that have waited for some.", memory.waits);
  single("timeouts_total", "counter", "Statements that have waited in vain.", memory.timeouts);
}

/** How long single pieces of work have held the server. */
function writeTurnTimes(writer: MetricsWriter, turns: TurnTimes): void {
  writer.single(
    "db_event_loop_longest_turn_seconds",
    "gauge",
    "The longest turn of the event loop since the start.",
    turns.longestMilliseconds / 1000,
  );
  writer.single(
    "db_event_loop_longest_work_seconds",
    "gauge",
    "The longest time since the start that the event loop's thread has used a processor in one turn.",
    turns.longestWorkMilliseconds / 1000,
  );
  writer.single(
    "db_event_loop_recent_longest_turn_seconds",
    "gauge",
    "The longest turn of the event loop in the last half to whole minute.",
    turns.recentMilliseconds / 1000,
  );
  writer.single(
    "db_event_loop_long_turns_total",
    "counter",
    "Turns of the event loop that took longer than 50 ms.",
    turns.longCount,
  );
  const name = "db_event_loop_long_turn_seconds";
  writer.family(
    name,
    "gauge",
    "The longest turn of the event loop that took longer than 50 ms, by its work; waiting: for a processor or a disk.",
  );
  for (const [work, milliseconds] of turns.longestOf) {
    writer.sample(name, milliseconds / 1000, `work="${work}"`);
  }
}
