/** What a session asks of the engine that it belongs to. */
import type { QueryMemoryStatistics } from "../execution/runtime/query_memory.ts";
import type { TemporarySpace } from "../storage/temporary_space.ts";
import type { StorageStatistics } from "../storage/storage_statistics.ts";
import type { StateMachine } from "../state_machine/state_machine.ts";
import type { OpNumber } from "../operations/effect.ts";
import type { RefreshEngine } from "../statements/refresh/refresh_host.ts";
import type { ServerEngine } from "../statements/statement_host.ts";
import type { VisibleServer, VisibleSession } from "../system_catalog/catalog_context.ts";
import type { AdvisoryLocks } from "../transactions/advisory_locks.ts";
import type { TransactionManager } from "../transactions/transaction_manager.ts";
import type { Host } from "../host/host.ts";
import type { ClientGate } from "./client_gate.ts";
import type { CommitTurns, Shards } from "./commit_turns.ts";
import type { Notifications } from "./notifications.ts";
import type { DeclaredTypes, Planning, PlanningSession } from "./planning.ts";
import type { PreparedBudget } from "./prepared_names.ts";

/** Counters for metrics; all since the engine was opened. */
export interface EngineStatistics {
  readonly sessions: number;
  readonly activeTransactions: number;
  readonly lastOp: number;
  readonly durableOp: number;
  readonly plansCached: number;
  readonly planHits: number;
  readonly planMisses: number;
  readonly commits: number;
  readonly tables: number;
  /** Transactions whose changes were undone. */
  readonly rollbacks: number;
  readonly storage: StorageStatistics;
  readonly queryMemory: QueryMemoryStatistics;
  readonly temporarySpace: Pick<TemporarySpace, "limitBytes" | "usedBytes" | "peakBytes">;
}

/** See the file's head. */
export interface SessionEngine extends ServerEngine, RefreshEngine, VisibleServer, PreparedBudget {
  readonly host: Host;
  readonly refreshes: RefreshEngine["refreshes"];
  readonly machine: StateMachine;
  readonly manager: TransactionManager;
  readonly plans: Planning;
  readonly turns: CommitTurns;
  /** The shards that have the rows; null: they are here. */
  readonly shards: Shards | null;
  /** Settings that sessions begin with, unless the database, the role or the client has others. */
  readonly defaults: Readonly<Record<string, string>>;
  readonly clientGate: ClientGate;
  readonly advisoryLocks: AdvisoryLocks;
  readonly notifications: Notifications;
  /** It can no longer promise durability; statements are refused. */
  readonly isFailed: boolean;
  readonly lastOp: OpNumber;
  /** Answers that depend on entries up to this op may be sent. */
  readonly durableOp: OpNumber;
  /** How old the state may be, in milliseconds; 0 where it is the newest. */
  readonly staleness: number;
  /** Resolves when it holds, which is looked at again and again; rejects when the signal is aborted. */
  whenState(holds: () => boolean, abort: AbortSignal): Promise<void>;
  /** Whether what is read now may be stale: this primary cannot know whether there is another. */
  readonly lacksLease: boolean;
  /** The op whose commit proves that what was read just now is not stale. */
  readBarrier(): OpNumber;
  /** The newest op among the last writes to these tables, if it is not durable yet; else 0. */
  visibleAt(tableIds: readonly number[]): OpNumber;
  /** Resolves when the entry is durable; rejects when the log has failed. */
  whenDurable(op: OpNumber): Promise<void>;
  /** Resolves when a long text has been parsed and planned and others had turns; it is to be used at once. */
  planAhead(session: PlanningSession, text: string, declared?: DeclaredTypes): Promise<void>;
  /** Copies a consistent state to a directory while writes go on. Answers its op. */
  snapshotTo(directory: string): Promise<OpNumber>;
  statistics(): EngineStatistics;
  /** Microseconds since 2000-01-01 UTC. */
  now(): number;
  /** Uniform in [0, 1). */
  randomFraction(): number;
  randomBytes(count: number): Uint8Array;
  /** Called by a session that closes. */
  sessionClosed(session: ClosableSession): void;
  /** Drops the temporary tables of sessions that are gone. */
  dropTemporarySchemas(): void;
}

/** A session, as its engine knows it. */
export interface ClosableSession extends VisibleSession {
  /** It reads only, at the op that a member of a replication group has applied. */
  readonly isFollower: boolean;
  /** The schema of its temporary tables. */
  readonly temporarySchema: string;
}
