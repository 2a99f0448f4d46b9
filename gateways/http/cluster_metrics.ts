/** What `/v1/metrics` shows of a cluster, as the member that is asked sees it. What it cannot know has no sample. */
import type { ClusterMember, ClusterStatus } from "../../engine/system_catalog/cluster_status.ts";
import type { Family, MetricsWriter } from "./metrics_writer.ts";

/** Families with a sample for each other member. */
const OF_OTHERS: readonly Family<ClusterMember>[] = [
  ["connected", "gauge", "Whether the member is connected.", ({ isConnected }) => Number(isConnected)],
  [
    "last_contact_seconds",
    "gauge",
    "Seconds since the member was heard.",
    ({ lastContactSeconds }) => lastContactSeconds,
  ],
  [
    "lag_operations",
    "gauge",
    "Committed entries that a backup does not have; known to the primary.",
    ({ lagOperations }) => lagOperations,
  ],
  [
    "lag_seconds",
    "gauge",
    "How old what a backup has is; known to the primary.",
    ({ lagSeconds }) => lagSeconds,
  ],
  [
    "spoken_version",
    "gauge",
    "The newest version that it speaks, while it is connected.",
    ({ spokenVersion }) => spokenVersion,
  ],
  ["queued_bytes", "gauge", "Bytes that wait to be sent to it.", ({ queuedBytes }) => queuedBytes],
  ["sent_bytes_total", "counter", "Bytes sent to it.", ({ sentBytes }) => sentBytes],
  ["received_bytes_total", "counter", "Bytes that came from it.", ({ receivedBytes }) => receivedBytes],
];

/** Writes all of them. */
export function writeClusterMetrics(writer: MetricsWriter, cluster: ClusterStatus): void {
  const { index, primaryIndex, transfer, checkpoint, members } = cluster;
  const self = members.find(({ isSelf }) => isSelf);
  const gauge = (name: string, help: string, value: number): void =>
    writer.single(`db_cluster_${name}`, "gauge", help, value);
  gauge("member", "Index of this member.", index);
  gauge("members", "Members of the cluster.", members.length);
  gauge("is_primary", "Whether this member serves clients.", Number(primaryIndex === index));
  gauge("is_available", "Whether clients of this member reach the primary.", Number(cluster.isAvailable));
  gauge(
    "is_normal",
    "Whether this member takes part in a view, with its state whole.",
    Number(cluster.state === "normal"),
  );
  gauge("version", "The active version of the cluster's protocol.", cluster.clusterVersion);
  if (self !== undefined && self.spokenVersion !== null) {
    gauge("spoken_version", "The newest version that this member speaks.", self.spokenVersion);
  }
  gauge("view", "The view that this member is in.", cluster.viewNumber);
  gauge("commit_number", "The newest entry that a quorum has durable.", cluster.commitNumber);
  gauge("applied_op_number", "The newest entry that is in this member's state.", cluster.appliedOp);
  gauge(
    "read_lease_valid",
    "Whether reads need no round of messages.",
    Number(cluster.readLease === "valid"),
  );
  if (self !== undefined && self.lagSeconds !== null) {
    gauge("staleness_seconds", "How old the state of this member is.", self.lagSeconds);
  }
  gauge("transfer_bytes", "Bytes that have come of a checkpoint of another member.", transfer?.bytes ?? 0);
  gauge("transfer_total_bytes", "Bytes of that checkpoint.", transfer?.totalBytes ?? 0);
  if (checkpoint !== null) {
    writer.family("db_cluster_checkpoint_op_number", "gauge", "The newest checkpoint of this member.");
    writer.sample("db_cluster_checkpoint_op_number", checkpoint.op, `id="${checkpoint.id}"`);
  }
  const others = members.filter(({ isSelf }) => !isSelf);
  writer.each("db_cluster_peer_", OF_OTHERS, others, (member) => `member="${member.index}"`);
}
