/**
 * The engine: storage, state machine, transactions and sessions put together over a host's ports. The library, the
 * server and the tests all open one of these.
 */
import { dropSchemaChanges, isTemporarySchema } from "../catalog/temporary_schema.ts";
import { isRetrySignal } from "../transactions/signals.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { assert } from "../base/assert.ts";
import { LIMITS } from "../base/limits.ts";
import type { Host } from "../host/host.ts";
import { StateMachine } from "../state_machine/state_machine.ts";
import type { OpNumber } from "../operations/effect.ts";
import type { ParsedStatement } from "../sql/parser/ast.ts";
import { parseStatements } from "../sql/parser/statements.ts";
import type { LogOptions } from "../storage/log.ts";
import { AdvisoryLocks } from "../transactions/advisory_locks.ts";
import { StorageEngine } from "../storage/storage_engine.ts";
import { TransactionManager } from "../transactions/transaction_manager.ts";
import { ClientGate } from "./client_gate.ts";
import { CommitTurns } from "./commit_turns.ts";
import { Notifications } from "./notifications.ts";
import type { ExternalSources } from "../statements/refresh/external_port.ts";
import type { RunningRefresh } from "../statements/refresh/refresh_host.ts";
import { Planning } from "./planning.ts";
import { Session } from "./session.ts";
import type { SessionOptions } from "./session_options.ts";
import type { ClosableSession, EngineStatistics, SessionEngine } from "./session_engine.ts";

/** How to open an engine. */
export interface EngineOptions {
  readonly host: Host;
  /** Data directory, or `:memory:` for a database that ends with the process. */
  readonly directory: string;
  readonly blockCacheBytes?: number;
  /** A checkpoint begins after so many bytes of log. */
  readonly checkpointLogBytes?: number;
  /** Sizes of the log's files and buffers. */
  readonly log?: LogOptions;
  /** What reads external sources; absent: they cannot be made. */
  readonly external?: ExternalSources;
}

/** See the file's head. */
export class Engine implements SessionEngine {
  readonly host: Host;
  readonly storage: StorageEngine;
  readonly machine: StateMachine;
  readonly manager: TransactionManager;
  readonly plans: Planning;
  readonly clientGate = new ClientGate();
  readonly turns: CommitTurns;
  /** Microseconds since 2000-01-01 UTC. */
  readonly startedAt: number;
  readonly role = "single";
  readonly viewNumber = 0;
  isFailed = false;
  /** Prepared statements of all sessions. */
  preparedCount = 0;
  readonly advisoryLocks = new AdvisoryLocks(this);
  /** LISTEN and NOTIFY. */
  readonly notifications = new Notifications();
  readonly external: ExternalSources | null;
  readonly refreshes = new Map<number, RunningRefresh>();
  readonly #sessions = new Map<number, Session>();
  /** What begins and ends blocks, parsed: clients say it in one or two ways, and for each transaction. */
  readonly #blockTexts = new Map<string, readonly ParsedStatement[]>();
  #nextProcessId = 1;
  #commits = 0;
  #working: Promise<void> | null = null;
  #isClosing = false;

  private constructor(
    host: Host,
    storage: StorageEngine,
    machine: StateMachine,
    manager: TransactionManager,
    external: ExternalSources | null,
  ) {
    this.external = external;
    this.host = host;
    this.storage = storage;
    this.machine = machine;
    this.manager = manager;
    this.plans = new Planning(machine);
    this.turns = new CommitTurns(this);
    this.startedAt = host.clock.now();
    storage.log.failed.then(() => {
      this.isFailed = true;
    });
  }

  /** Opens or creates a database: recovers from the last checkpoint and the log. */
  static async open(options: EngineOptions): Promise<Engine> {
    const horizon = { oldestSnapshot: () => 0 as OpNumber, hasReaders: () => true };
    const storage = await StorageEngine.open({
      host: options.host,
      directory: options.directory,
      horizon: {
        oldestSnapshot: () => horizon.oldestSnapshot(),
        hasReaders: () => horizon.hasReaders(),
      },
      ...(options.blockCacheBytes === undefined ? {} : { blockCacheBytes: options.blockCacheBytes }),
      ...(options.checkpointLogBytes === undefined ? {} : { checkpointLogBytes: options.checkpointLogBytes }),
      ...(options.log === undefined ? {} : { log: options.log }),
    });
    const machine = StateMachine.recover(storage);
    const manager = new TransactionManager(machine, () => options.host.clock.now());
    horizon.oldestSnapshot = () => manager.oldestSnapshot();
    horizon.hasReaders = () => manager.activeCount > 0;
    const engine = new Engine(options.host, storage, machine, manager, options.external ?? null);
    engine.dropTemporarySchemas();
    engine.#startWork();
    return engine;
  }

  /** A new session. */
  openSession(options: SessionOptions = {}): Session {
    if (this.#isClosing) {
      throw new DatabaseError(SQLSTATE.cannotConnectNow, "the database system is shutting down");
    }
    const processId = this.#nextProcessId;
    this.#nextProcessId = processId === 0x7fffffff ? 1 : processId + 1;
    const secret = this.randomBytes(4);
    const secretKey = new DataView(secret.buffer, secret.byteOffset).getInt32(0);
    const session = new Session(this, { ...options, processId, secretKey });
    this.#sessions.set(processId, session);
    return session;
  }

  sessionById(processId: number): Session | undefined {
    return this.#sessions.get(processId);
  }

  get sessions(): Iterable<Session> {
    return this.#sessions.values();
  }

  /** Called by a session that closes. */
  sessionClosed(session: ClosableSession): void {
    this.advisoryLocks.releaseAll(session, { transactional: true });
    this.notifications.forget(session.processId);
    this.#sessions.delete(session.processId);
  }

  /** Drops the temporary tables of sessions that are gone. What cannot be dropped now goes with a later session. */
  dropTemporarySchemas(ended: ClosableSession | null = null): void {
    if (this.isFailed || this.manager.isCommitting) return;
    const live = new Set([...this.#sessions.values()].map((session) => session.temporarySchema));
    if (ended !== null) live.delete(ended.temporarySchema);
    const schemas = this.machine.catalog.schemas.map((schema) => schema.name)
      .filter((name) => isTemporarySchema(name) && !live.has(name));
    if (schemas.length === 0) return;
    const transaction = this.manager.begin({ interruptible: false });
    try {
      for (const change of dropSchemaChanges(transaction.catalog, schemas)) transaction.change(change);
      this.afterCommit(this.manager.commit(transaction));
    } catch (thrown) {
      this.manager.end(transaction);
      if (!isRetrySignal(thrown) && !(thrown instanceof DatabaseError)) throw thrown;
    }
  }

  get lastOp(): OpNumber {
    return this.machine.lastOp;
  }

  /** Answers that depend on entries up to this op may be sent. */
  get durableOp(): OpNumber {
    return this.storage.log.durableOp;
  }

  /** Calls back after each group commit; answers how to stop that. */
  onDurable(listener: (durableOp: OpNumber) => void): () => void {
    return this.storage.log.onDurable(listener);
  }

  /** Resolves when the entry is durable; rejects when the log has failed. */
  whenDurable(op: OpNumber): Promise<void> {
    return this.storage.log.whenDurable(op);
  }

  /** Resolves, with the reason, when the node can no longer promise durability and must stop. */
  get failed(): Promise<Error> {
    return this.storage.log.failed;
  }

  /** Digest of the history up to {@link lastOp}. */
  digest(): string {
    return this.machine.digest();
  }

  /** The newest op among the last writes to these tables, if it is not durable yet; else 0. */
  visibleAt(tableIds: readonly number[]): OpNumber {
    const durable = this.durableOp;
    if (this.machine.lastOp === durable) return 0 as OpNumber;
    let newest = 0;
    for (const tableId of tableIds) {
      if (this.machine.catalog.table(tableId) === undefined) continue;
      const modified = this.machine.store(tableId).lastModifiedOp;
      if (modified > newest) newest = modified;
    }
    return (newest > durable ? newest : 0) as OpNumber;
  }

  /** Parses a text of statements; raises 42601 and the like. */
  parse(text: string): readonly ParsedStatement[] {
    const known = this.#blockTexts.get(text);
    if (known !== undefined) return known;
    const statements = parseStatements(text);
    if (text.length <= MAX_BLOCK_TEXT_LENGTH && isBlockText(statements)) {
      if (this.#blockTexts.size === LIMITS.keptBlockTexts) this.#blockTexts.clear();
      this.#blockTexts.set(text, statements);
    }
    return statements;
  }

  /** Microseconds since 2000-01-01 UTC. */
  now(): number {
    return this.host.clock.now();
  }

  monotonic(): number {
    return this.host.clock.monotonic();
  }

  yieldToLoop(): Promise<void> {
    return this.host.timers.yieldToLoop();
  }

  /** Uniform in [0, 1), 53 bits. */
  randomFraction(): number {
    const view = new DataView(this.randomBytes(8).buffer);
    return (view.getUint32(0) * 0x200000 + (view.getUint32(4) >>> 11)) / 2 ** 53;
  }

  randomBytes(count: number): Uint8Array {
    const bytes = new Uint8Array(count);
    this.host.random.fill(bytes);
    return bytes;
  }

  /** Called after each commit: background work may have become due. */
  afterCommit(_op: OpNumber): void {
    this.#commits++;
    if (this.storage.hasWork) this.#startWork();
  }

  /** Copies a consistent state to a directory while writes go on. Answers its op. */
  snapshotTo(directory: string): Promise<OpNumber> {
    return this.storage.snapshotTo(
      directory,
      () => this.machine.encodeState(),
      this.machine.lastOp,
      () => this.turns.whenIdle(),
    );
  }

  /** Writes all memory-resident rows to segments, so that the next start replays nothing. */
  async checkpoint(): Promise<void> {
    await this.#working;
    for (let busy = this.turns.whenIdle(); busy !== null; busy = this.turns.whenIdle()) {
      await busy;
      await this.#working;
    }
    this.storage.beginCheckpoint(this.machine.lastOp, () => this.machine.encodeState());
    this.#startWork();
    await this.#working;
  }

  statistics(): EngineStatistics {
    return {
      sessions: this.#sessions.size,
      activeTransactions: this.manager.activeCount,
      lastOp: this.lastOp,
      durableOp: this.durableOp,
      plansCached: this.plans.cache.size,
      planHits: this.plans.cache.hits,
      planMisses: this.plans.cache.misses,
      commits: this.#commits,
      tables: this.machine.catalog.tables.length,
      rollbacks: this.manager.rollbacks,
      storage: this.storage.statistics(),
    };
  }

  /** Ends all sessions, makes everything durable and closes the files. */
  async close(): Promise<void> {
    assert(!this.#isClosing, "an engine is closed once");
    this.#isClosing = true;
    for (const session of [...this.#sessions.values()]) session.close();
    await this.turns.whenIdle();
    await this.#working;
    await this.storage.settle(() => this.machine.encodeState());
    await this.storage.close();
    await this.host.timers.close();
  }

  /** Runs flush and compaction in slices between other work, until none is left. */
  #startWork(): void {
    if (this.#working !== null || !this.storage.hasWork) return;
    this.#working = this.#work().finally(() => {
      this.#working = null;
    });
  }

  async #work(): Promise<void> {
    while (this.storage.hasWork && !this.isFailed) {
      await this.storage.work(1_000);
      await this.yieldToLoop();
    }
  }
}

/** A longer text is not worth a place among those that begin and end blocks. */
const MAX_BLOCK_TEXT_LENGTH = 64;

/** Whether a text only begins or ends a block. */
function isBlockText(statements: readonly ParsedStatement[]): boolean {
  const kind = statements[0]?.statement.kind;
  return statements.length === 1 && (kind === "begin" || kind === "commit" || kind === "rollback");
}
