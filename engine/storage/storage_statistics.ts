/** Figures of storage for people. */

/** What a storage engine has done since its start, and what it holds. */
export interface StorageStatistics {
  /** How often the log was made durable. */
  readonly syncs: number;
  readonly checkpoints: number;
  /** Log that a start would replay. */
  readonly logBytes: number;
  /** Files of all tables. */
  readonly tableBytes: number;
  /** Rows that are in memory until the next checkpoint. */
  readonly memoryBytes: number;
  readonly cacheBytes: number;
  readonly cacheLimitBytes: number;
  /** Decoded blocks and indexes that were asked for and had to be read. */
  readonly cacheLoads: number;
  /** Those that were in the cache. */
  readonly cacheHits: number;
}
