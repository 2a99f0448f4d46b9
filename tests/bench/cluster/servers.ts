/** The servers of one run, and what a measurement of them is. */
import type { ClusterProcesses } from "../../cluster/cluster_processes.ts";
import type { Scale, Worker } from "../benchmark.ts";
import type { DbdPeer } from "../peers/dbd.ts";
import type { EtcdPeer } from "./etcd.ts";
import type { PostgresqlStandbys } from "./postgresql_standbys.ts";

/** The servers of one run. */
export interface Servers {
  readonly cluster: ClusterProcesses;
  /** One server alone. */
  readonly single: DbdPeer;
  readonly postgresql: PostgresqlStandbys | null;
  readonly etcd: EtcdPeer | null;
  /** The compiled server; null: from the sources. */
  readonly binary: string | null;
}

/** One row of the report. */
export interface Measurement {
  readonly name: string;
  readonly unit: string;
  readonly bar: string;
  readonly usesPgbench: boolean;
  /** true: a smoke run goes without it, for it takes long, or differs only in the number of clients. */
  readonly isFullOnly?: boolean;
  /** Fewer rounds than asked for, for what takes long. */
  readonly maximumRounds?: number;
  /** Who is measured in turn, the cluster first. */
  workers(servers: Servers, scale: Scale): Promise<readonly Worker[]>;
  /** Removes what {@link workers} has made. */
  finish?(): Promise<void>;
}
