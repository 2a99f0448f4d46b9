/**
 * What a member of a cluster knows of itself and of the others: the one source of `db_cluster`, `/v1/health`,
 * `/v1/metrics` and `dbcli status`. `engine/replication/cluster_report.ts` makes it.
 */

/** What a member is doing. `transferring`: it fetches a checkpoint of another member. */
export type MemberState = "normal" | "view_change" | "recovering" | "rebuilding" | "transferring";

/** A member, as one of them sees it. What that one cannot know is null. */
export interface ClusterMember {
  readonly index: number;
  /** Where the member that reports dials it. */
  readonly address: string;
  /** null: no primary is known, and this is another member. */
  readonly role: "primary" | "backup" | null;
  /** The newest version of the cluster's protocol that it speaks. */
  readonly spokenVersion: number | null;
  readonly isSelf: boolean;
  readonly isConnected: boolean;
  /** Since it was last heard; 0 for the member itself. */
  readonly lastContactSeconds: number | null;
  /** Up to here its log is durable without a gap. */
  readonly durableOp: number | null;
  /** Committed entries that it lacks: of others in its log, of the member itself in its state. */
  readonly lagOperations: number | null;
  /** How old what it has is. */
  readonly lagSeconds: number | null;
  /** What waits to be sent to it. */
  readonly queuedBytes: number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

/** See the head of the file. */
export interface ClusterStatus {
  /** Of the member that reports. */
  readonly index: number;
  readonly state: MemberState;
  /** The active version of the cluster, as of the member's state; 0 while it builds that again. */
  readonly clusterVersion: number;
  readonly viewNumber: number;
  /** Every entry up to here is durable at a quorum. */
  readonly commitNumber: number;
  readonly appliedOp: number;
  /** null: none is known now. */
  readonly primaryIndex: number | null;
  /** Whether clients that come here reach the primary. */
  readonly isAvailable: boolean;
  /** Whether reads need no round of messages; of a backup `none`. */
  readonly readLease: "off" | "none" | "valid";
  /** The checkpoint that is on its way to this member. */
  readonly transfer: { readonly op: number; readonly bytes: number; readonly totalBytes: number } | null;
  /** The newest checkpoint of this member: members with equal histories have equal ids. */
  readonly checkpoint: { readonly op: number; readonly id: string } | null;
  /** All members in order of index. */
  readonly members: readonly ClusterMember[];
}
