/**
 * Relations that show the cluster: `db_cluster`, as the member sees it that the session is at, and PostgreSQL's
 * `pg_stat_replication`, both empty on a single server; and `db_shards`, empty where all rows are in one place.
 */
import type { CatalogContext } from "./catalog_context.ts";
import type { ClusterMember, ClusterStatus } from "./cluster_status.ts";
import { liveRows, type RelationProviders } from "./relation_provider.ts";
import type { RowValues } from "./relation_shape.ts";

function memberRow(member: ClusterMember, cluster: ClusterStatus): RowValues {
  const { transfer, checkpoint } = cluster;
  return {
    member: member.index,
    address: member.address,
    role: member.role,
    is_self: member.isSelf,
    connected: member.isConnected,
    last_contact_seconds: member.lastContactSeconds,
    op: member.durableOp,
    lag_operations: member.lagOperations,
    lag_seconds: member.lagSeconds,
    spoken_version: member.spokenVersion,
    ...(member.isSelf
      ? {
        state: cluster.state,
        view: cluster.viewNumber,
        commit_op: cluster.commitNumber,
        applied_op: cluster.appliedOp,
        read_lease: cluster.readLease,
        transfer_op: transfer?.op ?? null,
        transfer_bytes: transfer?.bytes ?? null,
        transfer_total_bytes: transfer?.totalBytes ?? null,
        checkpoint_op: checkpoint?.op ?? null,
        checkpoint_id: checkpoint?.id ?? null,
        cluster_version: cluster.clusterVersion,
      }
      : {}),
  };
}

function* clusterRows({ server: { cluster } }: CatalogContext): Iterable<RowValues> {
  for (const member of cluster?.members ?? []) if (cluster !== null) yield memberRow(member, cluster);
}

/** The backups of a primary; op numbers take the place of positions in a log. */
function* replicationRows({ server: { cluster } }: CatalogContext): Iterable<RowValues> {
  if (cluster?.primaryIndex !== cluster?.index) return;
  for (const { index, isSelf, isConnected, durableOp, lagOperations } of cluster?.members ?? []) {
    if (isSelf || !isConnected) continue;
    const position = durableOp === null ? null : logPosition(durableOp);
    yield {
      application_name: `member ${index}`,
      state: lagOperations === null ? "startup" : lagOperations === 0 ? "streaming" : "catchup",
      write_lsn: position,
      flush_lsn: position,
      sync_priority: 1,
      sync_state: "quorum",
    };
  }
}

/** An op number as PostgreSQL writes positions. */
function logPosition(op: number): string {
  const hexadecimal = (word: number) => word.toString(16).toUpperCase();
  return `${hexadecimal(Math.floor(op / 2 ** 32))}/${hexadecimal(op % 2 ** 32)}`;
}

function* shardRows({ server: { shards }, session }: CatalogContext): Iterable<RowValues> {
  for (const status of shards?.statuses(session.currentTransaction) ?? []) {
    const { shard, role, op, rows, bytes, requests, messages } = status;
    yield {
      shard,
      role,
      op,
      lag_operations: status.lagOperations,
      last_contact_seconds: status.lastContactSeconds,
      rows,
      bytes,
      requests,
      messages,
      requests_per_second: Math.round(status.requestsPerSecond * 10) / 10,
    };
  }
}

/** Providers of these relations. */
export const CLUSTER_RELATIONS: RelationProviders = {
  db_cluster: liveRows(clusterRows),
  db_shards: liveRows(shardRows),
  pg_stat_replication: liveRows(replicationRows),
};
