/** What a router knows of a shard: the source of the view `db_shards`. */

/** See the file's head. */
export interface ShardStatus {
  readonly shard: number;
  /** The newest entry of the log that has something for it. */
  readonly op: number;
  /** Rows of all tables. */
  readonly rows: number;
  /** What they take in memory and files, when the shard was last asked. */
  readonly bytes: number;
  /** Requests to it, and messages that have carried them, since the start. */
  readonly requests: number;
  readonly messages: number;
}
