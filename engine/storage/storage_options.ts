/** What storage is opened with. */
import type { Host } from "../host/host.ts";
import type { CommitHorizon } from "./commit_horizon.ts";
import type { HashedFile } from "./file_hashes.ts";
import type { LogOptions } from "./log_options.ts";
import type { StorageParts } from "./storage_parts.ts";
import type { SnapshotHorizon } from "./table/table_store.ts";

/** How to open storage. */
export interface StorageOptions {
  readonly host: Host;
  /** Data directory, or `:memory:` for storage that ends with the process. */
  readonly directory: string;
  readonly horizon: SnapshotHorizon;
  /** Default: `LIMITS.blockCacheBytes`. */
  readonly blockCacheBytes?: number;
  /** A checkpoint begins after so many bytes of log. Default: `LIMITS.checkpointLogBytes`. */
  readonly checkpointLogBytes?: number;
  /** Sizes of the log's files and buffers. */
  readonly log?: LogOptions;
  /** The directory is that of a member of a replication group. */
  readonly member?: MemberStorage;
  /** What is elsewhere of the state. */
  readonly parts?: StorageParts;
}

/** What storage must know of the replication group that its log belongs to. */
export interface MemberStorage {
  /** The commit number. */
  readonly horizon: CommitHorizon;
  /**
   * Entries above this op stay in the log and are not replayed; nor are those above one that cannot be read. All up
   * to it are committed.
   */
  readonly replayTo: number;
  /** Hears of damage in a file of the checkpoint, which it has fetched; see {@link StorageEngine.repaired}. */
  onDamage?(file: HashedFile): void;
}
