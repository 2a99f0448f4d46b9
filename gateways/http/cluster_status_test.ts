/** What a member says of its cluster: `/v1/health`, `/v1/metrics`, `db_cluster`, `pg_stat_replication`. */
import { deepStrictEqual, doesNotMatch, match, strictEqual } from "node:assert/strict";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import { RowBuffer } from "../../engine/statements/row_buffer.ts";
import { Horizon } from "../../engine/storage/commit_horizon.ts";
import type { ClusterMember, ClusterStatus } from "../../engine/system_catalog/cluster_status.ts";
import { testSeat } from "../../tests/support/lone_member.ts";
import { startHttpServer } from "./server.ts";

const SELF = {
  spokenVersion: 3,
  isSelf: true,
  isConnected: true,
  lastContactSeconds: 0,
  durableOp: 9,
  lagOperations: 0,
  lagSeconds: 0,
  queuedBytes: 0,
  sentBytes: 0,
  receivedBytes: 0,
} as const;

const BEHIND: ClusterMember = {
  ...SELF,
  index: 0,
  address: "a:7878",
  role: "backup",
  isSelf: false,
  lastContactSeconds: 0.25,
  durableOp: 2 ** 32 + 6,
  lagOperations: 2,
  lagSeconds: 1.5,
  sentBytes: 77,
};

const PRIMARY: ClusterStatus = {
  index: 1,
  state: "normal",
  clusterVersion: 2,
  viewNumber: 4,
  commitNumber: 8,
  appliedOp: 9,
  primaryIndex: 1,
  isAvailable: true,
  readLease: "valid",
  transfer: null,
  checkpoint: null,
  members: [BEHIND, { ...SELF, index: 1, address: "b:7878", role: "primary" }],
};

const LONELY: ClusterStatus = {
  ...PRIMARY,
  state: "transferring",
  primaryIndex: null,
  isAvailable: false,
  readLease: "none",
  transfer: { op: 7, bytes: 512, totalBytes: 1024 },
  checkpoint: { op: 5, id: "ab".repeat(32) },
  members: [
    { ...BEHIND, role: null, isConnected: false, durableOp: null, lagOperations: null, lagSeconds: null },
    { ...SELF, index: 1, address: "b:7878", role: "backup", lagOperations: 3, lagSeconds: null },
  ],
};

Deno.test("a member shows its cluster in /v1/health, /v1/metrics and system views, and 503 without a primary", async () => {
  let cluster = PRIMARY;
  const seat = testSeat(new Horizon(0), {
    versions: { oldest: 1, newest: 3 },
    viewNumber: 4,
    status: () => cluster,
  });
  const engine = await Engine.open({ host: memoryHost(), directory: "data", member: seat });
  const server = await startHttpServer({
    engine,
    address: { hostname: "127.0.0.1", port: 0 },
    token: null,
    version: "1.2.3",
  });
  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${server.address.port}${path}`);
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  const session = engine.openSession({ readFrom: "follower" });
  const rows = async (sql: string): Promise<readonly (readonly unknown[])[]> => {
    const sink = new RowBuffer();
    await session.simple(sql, sink, () => {});
    return sink.rows.map((row) => [...row]);
  };
  try {
    const health = await ask("/v1/health");
    strictEqual(health.status, 200);
    deepStrictEqual(JSON.parse(health.text), {
      status: "ok",
      role: "backup",
      view: 4,
      op_number: 8,
      version: "1.2.3",
      cluster_version: 2,
      spoken_version: 3,
      member: 1,
      primary: { member: 1, address: "b:7878" },
    });
    const { text } = await ask("/v1/metrics");
    for (
      const line of [
        "db_cluster_is_primary 1",
        "db_cluster_version 2",
        "db_cluster_spoken_version 3",
        'db_cluster_peer_spoken_version{member="0"} 3',
        "db_cluster_commit_number 8",
        'db_cluster_peer_lag_operations{member="0"} 2',
        'db_cluster_peer_lag_seconds{member="0"} 1.5',
        'db_cluster_peer_sent_bytes_total{member="0"} 77',
      ]
    ) match(text, new RegExp(`^${RegExp.escape(line)}$`, "m"));
    doesNotMatch(text, /member="1"/);
    const columns =
      "member, address, role, is_self, op, commit_op, lag_operations, lag_seconds, transfer_bytes";
    deepStrictEqual(await rows(`SELECT ${columns} FROM db_cluster ORDER BY member`), [
      [0, "a:7878", "backup", false, 2 ** 32 + 6, null, 2, 1.5, null],
      [1, "b:7878", "primary", true, 9, 8, 0, 0, null],
    ]);
    deepStrictEqual(
      await rows("SELECT application_name, state, flush_lsn, sync_state FROM pg_stat_replication"),
      [
        ["member 0", "catchup", "1/6", "quorum"],
      ],
    );

    cluster = LONELY;
    const refused = await ask("/v1/health");
    deepStrictEqual([refused.status, refused.headers.get("retry-after")], [503, "1"]);
    strictEqual(JSON.parse(refused.text).code, "57P03");
    const metrics = (await ask("/v1/metrics")).text;
    match(metrics, /^db_cluster_is_available 0$/m);
    match(metrics, /^db_cluster_transfer_bytes 512$/m);
    match(metrics, /^db_cluster_checkpoint_op_number\{id="(ab){32}"\} 5$/m);
    deepStrictEqual(await rows("SELECT checkpoint_op, checkpoint_id FROM db_cluster WHERE is_self"), [
      [5, "ab".repeat(32)],
    ]);
    match(metrics, /^db_cluster_peer_connected\{member="0"\} 0$/m);
    doesNotMatch(metrics, /^db_cluster_(peer_lag_seconds\{|staleness)/m);
    deepStrictEqual(await rows(`SELECT state, ${columns} FROM db_cluster WHERE is_self`), [
      ["transferring", 1, "b:7878", "backup", true, 9, 8, 3, null, 512],
    ]);
    deepStrictEqual(await rows("SELECT 1 FROM pg_stat_replication"), []);
  } finally {
    session.close();
    await server.close(0);
    await engine.close();
  }
});
