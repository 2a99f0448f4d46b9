/** The state of an engine, and how it is opened: from its last checkpoint and the log. */
import { SPOKEN_VERSIONS, type VersionRange } from "../catalog/cluster_version.ts";
import type { Host } from "../host/host.ts";
import type { OpNumber } from "../operations/effect.ts";
import type { MemberSeat } from "../replication/member_seat.ts";
import { StateMachine } from "../state_machine/state_machine.ts";
import type { StatementWorkers } from "../statements/statement_host.ts";
import type { ExternalSources } from "../statements/refresh/external_port.ts";
import type { CommitHorizon } from "../storage/commit_horizon.ts";
import type { LogOptions } from "../storage/log_options.ts";
import { LIMITS } from "../base/limits.ts";
import { SpillFile } from "../host/spill_file.ts";
import { type SpaceOwner, TemporarySpace } from "../storage/temporary_space.ts";
import { MEMORY, StorageEngine } from "../storage/storage_engine.ts";
import { requireParts } from "../storage/storage_parts.ts";
import type { IsolationLevel } from "../transactions/isolation_level.ts";
import { BatchStore } from "../transactions/stored_batches.ts";
import { TransactionManager } from "../transactions/transaction_manager.ts";
import type { EngineParts } from "./engine_parts.ts";
import { Planning } from "./planning.ts";

/** Files of transactions count among all there are; `temp_file_limit` is for those of statements. */
const TRANSACTIONS: SpaceOwner = { settings: { bytes: () => -1 } };

/** How to open an engine. */
export interface EngineOptions {
  readonly host: Host;
  /** Data directory, or `:memory:` for a database that ends with the process. */
  readonly directory: string;
  readonly blockCacheBytes?: number;
  /** A checkpoint begins after so many bytes of log. */
  readonly checkpointLogBytes?: number;
  /** What all statements together may take for sorts, hash tables and materialized rows. */
  readonly queryMemoryBytes?: number;
  /** What the temporary files of all statements together may take. */
  readonly temporaryFileBytes?: number;
  /** The isolation level of sessions that ask for none; SERIALIZABLE unless given. */
  readonly defaultIsolation?: IsolationLevel;
  /** Sizes of the log's files and buffers. */
  readonly log?: LogOptions;
  /** What reads external sources; absent: they cannot be made. */
  readonly external?: ExternalSources;
  /** The engine is the state of a member of a replication group, and serves from `Engine.startServing` on. */
  readonly member?: MemberSeat;
  /** Threads for parts of statements, which end with the engine; absent: none. */
  readonly workers?: StatementWorkers;
  /** What of the state is elsewhere, for each opening of it. */
  readonly parts?: () => EngineParts;
}

/** The state and what follows from it, until it is given up. */
export interface EngineState {
  readonly storage: StorageEngine;
  readonly machine: StateMachine;
  readonly manager: TransactionManager;
  readonly plans: Planning;
  /** Up to which op answers may leave. */
  readonly horizon: CommitHorizon;
  readonly parts: EngineParts | null;
  /** A new file for rows of a statement; null: the database is in memory. */
  readonly openSpillFile: ((owner: SpaceOwner) => SpillFile) | null;
  /** What such files take. */
  readonly temporarySpace: TemporarySpace;
}

/** How long a state is worked at before others get their turn. */
export const APPLY_SLICE_MICROSECONDS = 2_000;

/** Opens or creates the state of a directory. */
export async function openState(options: EngineOptions): Promise<EngineState> {
  const { host, directory, member } = options;
  const parts = options.parts?.() ?? null;
  const snapshots = { oldestSnapshot: () => 0 as OpNumber, hasReaders: () => true };
  const storage = await StorageEngine.open({
    host,
    directory,
    horizon: {
      oldestSnapshot: () => snapshots.oldestSnapshot(),
      hasReaders: () => snapshots.hasReaders(),
    },
    ...(options.blockCacheBytes === undefined ? {} : { blockCacheBytes: options.blockCacheBytes }),
    ...(options.checkpointLogBytes === undefined ? {} : { checkpointLogBytes: options.checkpointLogBytes }),
    ...(options.log === undefined ? {} : { log: options.log }),
    ...(member === undefined ? {} : { member }),
    ...(parts === null ? {} : { parts }),
  });
  const horizon = member?.horizon ?? storage.log;
  let machine: StateMachine;
  try {
    if (parts === null) requireParts(storage.manifest, directory, 1);
    else await parts.open(storage.manifest, horizon);
    machine = member === undefined && parts === null
      ? StateMachine.recover(storage)
      : await recoverSlowly(storage, host, member?.versions ?? SPOKEN_VERSIONS);
  } catch (error) {
    // A member opens it again when it has fetched what cannot be read.
    await parts?.close().catch(() => {});
    await storage.close().catch(() => {});
    throw error;
  }
  const manager = new TransactionManager(machine, () => host.clock.now());
  snapshots.oldestSnapshot = () => manager.oldestSnapshot();
  snapshots.hasReaders = () => manager.hasReaders();
  const temporarySpace = new TemporarySpace(options.temporaryFileBytes ?? LIMITS.temporaryFileBytes);
  const openSpillFile = directory === MEMORY
    ? null
    : (owner: SpaceOwner) => new SpillFile(host.disk, directory, { space: temporarySpace.of(owner) });
  if (openSpillFile !== null && parts === null) {
    manager.batchStore = new BatchStore(() => openSpillFile(TRANSACTIONS));
  }
  const plans = new Planning(machine);
  return { storage, machine, manager, plans, horizon, parts, openSpillFile, temporarySpace };
}

/** A member goes on with its messages meanwhile. */
async function recoverSlowly(
  storage: StorageEngine,
  { clock, timers }: Host,
  versions: VersionRange,
): Promise<StateMachine> {
  const steps = StateMachine.recoverInSteps(storage, versions);
  for (let end = clock.monotonic() + APPLY_SLICE_MICROSECONDS;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (storage.stepWait !== null) await storage.stepWait;
    if (clock.monotonic() < end) continue;
    await timers.yieldToLoop();
    end = clock.monotonic() + APPLY_SLICE_MICROSECONDS;
  }
}
