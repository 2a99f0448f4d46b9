/**
 * What the system catalog asks of those that read it: definitions and stored state for its relations, and the
 * sessions of the server for pg_stat_activity, pg_locks and the functions that act on sessions.
 */
import type { QueryMemory } from "../execution/runtime/query_memory.ts";
import { assert } from "../base/assert.ts";
import type { DatabaseError } from "../base/errors.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Host } from "../host/host.ts";
import type { StateMachine } from "../state_machine/state_machine.ts";
import type { EvaluationContext } from "../sql/functions/definition.ts";
import type { AdvisoryLocks } from "../transactions/advisory_locks.ts";
import type { CommitMessage } from "../transactions/commit_message.ts";
import type { StateFloor } from "../transactions/isolation_level.ts";
import type { Transaction } from "../transactions/transaction.ts";
import type { SqlType } from "../types/sql_type.ts";
import type { SqlValue } from "../types/value.ts";
import type { Settings } from "../settings/settings.ts";
import type { ClusterStatus } from "./cluster_status.ts";
import type { ShardStatus } from "./shard_status.ts";

/** The context of an expression whose session shows the catalog. */
export interface CatalogContext extends EvaluationContext {
  /** As the running transaction sees it. */
  readonly catalog: Catalog;
  /** What is committed. */
  readonly machine: Pick<
    StateMachine,
    | "catalog"
    | "lastOp"
    | "sequences"
    | "store"
    | "rowCount"
    | "storedBytes"
    | "columnStatistics"
    | "remoteRowCount"
    | "changesOf"
    | "reads"
  >;
  /** The session that reads. */
  readonly session: VisibleSession;
  readonly server: VisibleServer;
}

/** The implementation of a catalog function; arguments are not null unless the function takes nulls. */
export type CatalogFunction = (context: CatalogContext, args: readonly SqlValue[]) => SqlValue;

/** The server, as functions and relations show it. */
export interface VisibleServer {
  readonly host: Pick<Host, "timers">;
  /** Microseconds since 2000-01-01 UTC. */
  readonly startedAt: number;
  readonly lastOp: number;
  /** null: the server is alone. */
  readonly cluster: ClusterStatus | null;
  /** null: all rows are at the server itself. */
  readonly shards: { statuses(transaction: Transaction | null): readonly ShardStatus[] } | null;
  readonly sessions: Iterable<VisibleSession>;
  sessionById(processId: number): VisibleSession | undefined;
  statistics(): {
    readonly sessions: number;
    readonly commits: number;
    readonly rollbacks: number;
    readonly storage: {
      readonly syncs: number;
      readonly checkpoints: number;
      readonly logBytes: number;
      readonly cacheLoads: number;
      readonly cacheHits: number;
    };
  };
  readonly advisoryLocks: AdvisoryLocks;
  /** The memory of all statements together. */
  readonly queryMemory: QueryMemory;
  /** By table id: external sources that are being read. */
  readonly refreshes: ReadonlyMap<number, {
    readonly processId: number;
    readonly progress: { readonly pages: number; readonly rows: number; readonly bytes: number };
  }>;
  readonly notifications: {
    add(message: CommitMessage, transaction: Transaction | null): void;
    channelsOf(processId: number): readonly string[];
  };
}

/** How a client's connection is encrypted. */
export interface SessionEncryption {
  /** `TLSv1.2` or `TLSv1.3`. */
  readonly version: string;
  /** The cipher suite, by OpenSSL's name. */
  readonly cipher: string;
  /** Bits of its key. */
  readonly bits: number;
}

/** A session, as it and the others see it. */
export interface VisibleSession {
  readonly processId: number;
  /** null: its client speaks clear text. */
  readonly encryption: SessionEncryption | null;
  /** Microseconds since 2000-01-01 UTC. */
  readonly startedAt: number;
  readonly isRunning: boolean;
  readonly currentText: string;
  readonly currentTransaction: Transaction | null;
  readonly block: { readonly failed: boolean } | null;
  readonly evaluation: EvaluationContext;
  readonly settings: Settings;
  readonly need: StateFloor;
  readonly preparedByName: Iterable<
    readonly [string, { readonly text: string; readonly parameterTypes: readonly SqlType[] }]
  >;
  readonly cursors: Iterable<readonly [string, { readonly text: string; readonly hold: boolean }]>;
  notice(notice: { readonly severity: "WARNING"; readonly code: string; readonly message: string }): void;
  cancel(): void;
  terminate(error: DatabaseError): void;
}

/** The catalog's context of an evaluation; every session gives one to its statements. */
export function catalogContextOf(context: EvaluationContext): CatalogContext {
  assert(isCatalogContext(context), "the system catalog is read by sessions");
  return context;
}

function isCatalogContext(context: EvaluationContext): context is CatalogContext {
  return "machine" in context && "catalog" in context;
}
