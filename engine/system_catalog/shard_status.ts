/** What a router knows of a shard: the source of the view `db_shards` and of the metrics `db_shard_…`. */

/** See the file's head. What the shard itself says is as of its last answer. */
export interface ShardStatus {
  readonly shard: number;
  /** What this server is: of a backup, it is that backup's own shard. */
  readonly role: "primary" | "backup";
  /** The newest entry of the log that it has applied. */
  readonly op: number;
  /** Entries that were sent to it, and that it has not applied. */
  readonly lagOperations: number;
  /** Since it has said so. */
  readonly lastContactSeconds: number;
  /** Rows of all tables. */
  readonly rows: number;
  /** What they take in memory and files. */
  readonly bytes: number;
  /** Requests to it, and messages that have carried them, since the start. */
  readonly requests: number;
  readonly messages: number;
  /** Requests to it in a second, lately. */
  readonly requestsPerSecond: number;
}
