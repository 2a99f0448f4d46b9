/** What `/v1/metrics` shows of the shards of a database, as this server's router knows them. */
import type { ShardStatus } from "../../engine/system_catalog/shard_status.ts";
import type { Family, MetricsWriter } from "./metrics_writer.ts";

const FAMILIES: readonly Family<ShardStatus>[] = [
  ["rows", "gauge", "Rows of all tables at the shard.", ({ rows }) => rows],
  ["bytes", "gauge", "What they take in memory and files.", ({ bytes }) => bytes],
  ["op_number", "gauge", "The newest entry of the log that the shard has applied.", ({ op }) => op],
  [
    "lag_operations",
    "gauge",
    "Entries that were sent to the shard, and that it has not applied.",
    ({ lagOperations }) => lagOperations,
  ],
  [
    "last_contact_seconds",
    "gauge",
    "Seconds since the shard has said how it is.",
    ({ lastContactSeconds }) => lastContactSeconds,
  ],
  ["requests_total", "counter", "Requests to the shard.", ({ requests }) => requests],
  ["messages_total", "counter", "Messages that have carried them.", ({ messages }) => messages],
];

/** Writes all of them. */
export function writeShardMetrics(writer: MetricsWriter, shards: readonly ShardStatus[]): void {
  writer.each("db_shard_", FAMILIES, shards, ({ shard }) => `shard="${shard}"`);
}
