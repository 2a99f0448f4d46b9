/** What a member knows of its cluster, put together from its replica and its connections. Pure. */
import type { NetworkAddress } from "../host/network.ts";
import type { CheckpointProof } from "../storage/manifest.ts";
import type { ClusterMember, ClusterStatus, MemberState } from "../system_catalog/cluster_status.ts";
import type { TransferProgress } from "./files/checkpoint_transfer.ts";
import { type PeerStatistics, placeOf } from "./peers/peer_connections.ts";
import type { Replica } from "./protocol/replica.ts";

/** What a report asks of the connections to the other members. */
export interface ReportedPeers {
  statistics(): readonly PeerStatistics[];
  /** Where a member is dialed. */
  address(index: number): NetworkAddress;
}

/** What a report is made of. */
export interface ReportedMember {
  readonly index: number;
  readonly memberCount: number;
  readonly replica: Replica;
  readonly peers: ReportedPeers;
  readonly primaryIndex: number | null;
  readonly isRebuilding: boolean;
  readonly clusterVersion: number;
  /** The newest version that it speaks. */
  readonly spokenVersion: number;
  readonly usesReadLease: boolean;
  readonly appliedOp: number;
  readonly durableOp: number;
  readonly transfer: TransferProgress | null;
  readonly checkpoint: CheckpointProof | null;
  /** Monotonic microseconds. */
  readonly now: number;
}

/** The report of a member. */
export function reportCluster(member: ReportedMember): ClusterStatus {
  const { index, memberCount, replica, peers, primaryIndex, usesReadLease, transfer } = member;
  const statistics = new Map(peers.statistics().map((each) => [each.index, each]));
  const members = Array.from({ length: memberCount }, (_, each) => each).map((each) => ({
    index: each,
    address: placeOf(peers.address(each)),
    role: roleOf(each, member),
    ...(each === index ? ownReport(member) : peerReport(each, member, statistics.get(each))),
  }));
  return {
    index,
    state: stateOf(member),
    clusterVersion: member.clusterVersion,
    viewNumber: replica.view,
    commitNumber: replica.commit,
    appliedOp: member.appliedOp,
    primaryIndex,
    isAvailable: primaryIndex === index ||
      primaryIndex !== null && statistics.get(primaryIndex)?.isConnected === true,
    readLease: !usesReadLease ? "off" : replica.canRead ? "valid" : "none",
    transfer,
    checkpoint: member.checkpoint === null ? null : { op: member.checkpoint.op, id: member.checkpoint.id },
    members,
  };
}

function roleOf(each: number, { index, primaryIndex }: ReportedMember): ClusterMember["role"] {
  if (each === primaryIndex) return "primary";
  return each === index || primaryIndex !== null ? "backup" : null;
}

function stateOf({ replica, isRebuilding, transfer }: ReportedMember): MemberState {
  return transfer !== null ? "transferring" : isRebuilding ? "rebuilding" : replica.status;
}

type Report = Omit<ClusterMember, "index" | "address" | "role">;

function ownReport(
  { index, primaryIndex, replica, appliedOp, durableOp, spokenVersion }: ReportedMember,
): Report {
  const { staleness } = replica;
  return {
    spokenVersion,
    isSelf: true,
    isConnected: true,
    lastContactSeconds: 0,
    durableOp,
    lagOperations: primaryIndex === index ? 0 : Math.max(0, replica.commit - appliedOp),
    lagSeconds: primaryIndex === index ? 0 : Number.isFinite(staleness) ? staleness / 1000 : null,
    queuedBytes: 0,
    sentBytes: 0,
    receivedBytes: 0,
  };
}

function peerReport(each: number, member: ReportedMember, statistics: PeerStatistics | undefined): Report {
  const lastHeard = statistics?.lastHeard ?? null;
  const backup = member.replica.backupProgress(each);
  return {
    spokenVersion: statistics?.spokenVersion ?? null,
    isSelf: false,
    isConnected: statistics?.isConnected ?? false,
    lastContactSeconds: lastHeard === null ? null : (member.now - lastHeard) / 1_000_000,
    durableOp: backup?.durableOp ?? null,
    lagOperations: backup === null ? null : Math.max(0, member.replica.commit - backup.durableOp),
    lagSeconds: backup === null ? null : backup.lagMilliseconds / 1000,
    queuedBytes: statistics?.queuedBytes ?? 0,
    sentBytes: statistics?.sentBytes ?? 0,
    receivedBytes: statistics?.receivedBytes ?? 0,
  };
}
