/**
 * Between an engine and the member of a replication group that it is the state of: what each of them asks of the other.
 */
import type { VersionRange } from "../catalog/cluster_version.ts";
import type { Horizon } from "../storage/commit_horizon.ts";
import type { StoredPayload } from "../storage/stored_payload.ts";
import type { HashedFile } from "../storage/file_hashes.ts";
import type { ClusterStatus } from "../system_catalog/cluster_status.ts";

/** What an engine asks of its member. */
export interface MemberSeat {
  /** The commit number: answers wait for it, and checkpoints. The member moves it. */
  readonly horizon: Horizon;
  /** Entries up to this op are committed and applied when the engine is opened; those above it stay in the log. */
  readonly replayTo: number;
  /** The versions of a cluster that the release speaks; those of the sources unless given. */
  readonly versions?: VersionRange;
  /** The view that the member is in. */
  readonly viewNumber: number;
  /** Whether what a primary reads now may be answered: no other member can be the primary of a later view. */
  readonly canRead: boolean;
  /** How old the applied state may be, in milliseconds; Infinity when that is not known. */
  readonly staleness: number;
  /** What the member knows of itself and of the others, now. */
  status(): ClusterStatus;
  /** A reader has found damage in a file of the checkpoint; `SeatedEngine.filesRepaired` follows. */
  onDamage?(file: HashedFile): void;
  /** The engine has appended entries and applied them; called at most once in each turn. */
  appended(): void;
}

/** What a member asks of its engine. */
export interface SeatedEngine {
  /** The last op applied. */
  readonly appliedOp: number;
  /** The digest of the log at `appliedOp`. */
  readonly appliedDigest: bigint;
  /** Whether an entry after `appliedOp` is applied in part: the state is to be opened again before it goes on. */
  readonly isTorn: boolean;
  /** The active version of the cluster, as of what is applied and committed. */
  readonly clusterVersion: number;
  /** The version that is in the state, whether its entry is committed or not. */
  readonly writtenVersion: number;
  /**
   * At a primary: writes the entry that makes a later version the active one. Nothing happens while another entry is on
   * its way.
   */
  raiseClusterVersion(version: number): void;
  /** This member has become the primary, its state is that of its whole log: sessions may begin. */
  startServing(): void;
  /**
   * It is the primary no more: its sessions end, each with what is known of what it asked for. When this returns no
   * commit is under way, and nobody waits for an op above the commit number.
   */
  stopServing(): void;
  /**
   * Applies the entry of `appliedOp + 1`, which is in the log. null: it is applied; otherwise that is so when the
   * promise resolves, and nothing else may be applied until then.
   */
  applyEntry(op: number, payload: Uint8Array | StoredPayload): Promise<void> | null;
  /** What was damaged in the files of the checkpoint is whole again: what waited for it goes on. */
  filesRepaired(): void;
  /**
   * Gives the state up, without a checkpoint: all sessions end, at once; the promise resolves when the log is durable
   * and all files are closed.
   */
  abandon(): Promise<void>;
  /** After {@link abandon}: opens the directory again, from its checkpoint up to `replayTo`. */
  reopen(): Promise<void>;
}
