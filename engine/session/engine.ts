/**
 * The engine: storage, state machine, transactions and sessions put together over a host's ports. The library, the
 * server and the tests all open one of these.
 *
 * As the state of a member of a replication group it outlives its state: {@link Engine.abandon} gives storage and all
 * that follows from it up, {@link Engine.reopen} opens them again, and whoever holds the engine goes on with it.
 */
import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogChange } from "../catalog/catalog_change.ts";
import {
  CLUSTER_VERSION_SETTING,
  requireSpoken,
  SPOKEN_VERSIONS,
  type VersionRange,
} from "../catalog/cluster_version.ts";
import { dropSchemaChanges, isTemporarySchema } from "../catalog/temporary_schema.ts";
import { isRetrySignal } from "../transactions/signals.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { assert } from "../base/assert.ts";
import { LIMITS } from "../base/limits.ts";
import { prepareCallable } from "../functions/user_function.ts";
import { QueryMemory } from "../execution/runtime/query_memory.ts";
import type { Host } from "../host/host.ts";
import { SliceTurns } from "../host/slice_turns.ts";
import { StateMachine } from "../state_machine/state_machine.ts";
import type { Effect, OpNumber } from "../operations/effect.ts";
import type { MemberSeat, SeatedEngine } from "../replication/member_seat.ts";
import type { SharedTables } from "../sql/fragments/join_places.ts";
import type { StatementWorkers } from "../statements/statement_host.ts";
import type { ParsedStatement } from "../sql/parser/ast.ts";
import { isCheckpointEntry, isStagedEntry } from "../operations/entry_codec.ts";
import { parseStatements } from "../sql/parser/statements.ts";
import type { ClusterStatus } from "../system_catalog/cluster_status.ts";
import { memberFormatOf } from "../storage/log_file.ts";
import { AdvisoryLocks } from "../transactions/advisory_locks.ts";
import type { SpillFile } from "../host/spill_file.ts";
import { isDiskFull } from "../host/disk.ts";
import type { EntryWeight } from "../storage/checkpoint_pace.ts";
import { StorageEngine } from "../storage/storage_engine.ts";
import type { SpaceOwner } from "../storage/temporary_space.ts";
import type { StoredPayload } from "../storage/stored_payload.ts";
import { TransactionManager } from "../transactions/transaction_manager.ts";
import { ClientGate } from "./client_gate.ts";
import { CommitTurns, type Shards } from "./commit_turns.ts";
import { type Interruption, notPrimary, outcomeUnknown } from "./interruption.ts";
import { APPLY_SLICE_MICROSECONDS, type EngineOptions, type EngineState, openState } from "./engine_state.ts";
import { Notifications } from "./notifications.ts";
import type { ExternalSources } from "../statements/refresh/external_port.ts";
import type { RunningRefresh } from "../statements/refresh/refresh_host.ts";
import { LongTexts } from "./long_texts.ts";
import { type DeclaredTypes, Planning, type PlanningSession } from "./planning.ts";
import { Session } from "./session.ts";
import { StateWaits } from "./state_need.ts";
import type { SessionOptions } from "./session_options.ts";
import { Analyzer } from "./analyzer.ts";
import type { ClosableSession, EngineStatistics, SessionEngine } from "./session_engine.ts";

export type { EngineOptions } from "./engine_state.ts";

/** Why nothing can be asked of an engine. */
type Absence = "closing" | "abandoned";

/** See the file's head. */
export class Engine implements SessionEngine, SeatedEngine {
  readonly host: Host;
  readonly clientGate = new ClientGate();
  /** Microseconds since 2000-01-01 UTC. */
  readonly startedAt: number;
  isFailed = false;
  /** Settings that sessions begin with, unless the database, the role or the client has others. */
  readonly defaults: Readonly<Record<string, string>>;
  /** Prepared statements of all sessions. */
  preparedCount = 0;
  readonly advisoryLocks = new AdvisoryLocks(this);
  /** The memory of all statements together. */
  readonly queryMemory: QueryMemory;
  /** LISTEN and NOTIFY. */
  readonly notifications = new Notifications();
  readonly external: ExternalSources | null;
  readonly refreshes = new Map<number, RunningRefresh>();
  /** Resolves, with the reason, when the node can no longer promise durability and must stop. */
  readonly failed: Promise<DatabaseError>;
  readonly #announceFailure: (error: DatabaseError) => void;
  readonly #options: EngineOptions;
  readonly #seat: MemberSeat | null;
  /** See {@link StatementEngine.stored}. */
  readonly stored: SharedTables = {
    rows: (tableId) => this.machine.store(tableId).rowCount,
    isInOrderOf: (tableId, columnId) =>
      this.machine.store(tableId).isInOrderOf(columnId, this.machine.lastOp),
  };
  #shards: Shards | null = null;
  #state: EngineState;
  #turns: CommitTurns;
  /** Sessions may write. */
  #isServing = false;
  #absence: Absence | null = null;
  /** The large entry that is being applied. */
  #applying: Promise<void> | null = null;
  /** The state is being given up, or opened again. */
  #changing: Promise<void> | null = null;
  #isAnnouncing = false;
  /** The entry that makes another version the active one, until it is committed. */
  #raised: { readonly op: number; readonly before: number } | null = null;
  /** Ends the calls of the state's log and horizon. */
  #unsubscribe: () => void = () => {};
  readonly #sessions = new Map<number, Session>();
  readonly #stateWaits: StateWaits;
  /** What begins and ends blocks, parsed: clients say it in one or two ways, and for each transaction. */
  readonly #blockTexts = new Map<string, readonly ParsedStatement[]>();
  readonly #longTexts = new LongTexts(this);
  readonly slices = new SliceTurns(this);
  #nextProcessId = 1;
  #commits = 0;
  #working: Promise<void> | null = null;
  /** Null until the state is open. */
  #analyzer: Analyzer | null = null;
  /** Modules of functions that other members have created; nobody waits for them. */
  #preparing: Promise<void> = Promise.resolve();

  private constructor(options: EngineOptions, state: EngineState) {
    this.#options = options;
    this.#seat = options.member ?? null;
    const { defaultIsolation, workers } = options;
    this.defaults = {
      ...((defaultIsolation ?? "serializable") === "serializable"
        ? {}
        : { default_transaction_isolation: defaultIsolation as string }),
      ...(workers === undefined ? {} : { max_parallel_workers: String(workers.count) }),
      // More is needed where nothing can be put into files: in memory, and at shards.
      ...(state.openSpillFile !== null && state.parts === null ? {} : { statement_memory: "256MB" }),
    };
    this.external = options.external ?? null;
    this.host = options.host;
    this.queryMemory = new QueryMemory(
      options.queryMemoryBytes ?? LIMITS.queryMemoryBytes,
      options.host.timers,
    );
    this.startedAt = options.host.clock.now();
    this.#stateWaits = new StateWaits(options.host.timers);
    const { promise, resolve } = Promise.withResolvers<DatabaseError>();
    this.failed = promise;
    this.#announceFailure = resolve;
    this.#state = state;
    this.#turns = new CommitTurns(this);
    if (this.#seat === null) this.#isServing = true;
    else this.#turns.interrupt(notPrimary());
  }

  /** Opens or creates a database: recovers from the last checkpoint and the log. */
  static async open(options: EngineOptions): Promise<Engine> {
    const engine = new Engine(options, await openState(options));
    try {
      await engine.#stateOpened();
      if (engine.#isServing) engine.dropStage();
      engine.dropTemporarySchemas();
      await engine.#prepareFunctions();
      return engine;
    } catch (error) {
      await engine.#closeState().catch(() => {});
      throw error;
    }
  }

  /** Large modules of functions are prepared before anybody calls them, for they would hold up all others. */
  async #prepareFunctions(): Promise<void> {
    for (const definition of this.machine.catalog.functions) {
      if (this.#absence !== null) return;
      await prepareCallable(definition, this);
    }
  }

  async #stateOpened(): Promise<void> {
    const { storage, horizon, parts, manager, machine } = this.#state;
    storage.log.failed.then((error) => {
      this.isFailed = true;
      this.#seat?.horizon.fail(error);
      this.#announceFailure(error);
    });
    // Without a lease what is read has to be proven anyway.
    manager.writesLists = () => this.clusterVersion >= 3 && manager.remote === null;
    manager.tellableOp = () => !this.#isServing || this.lacksLease ? machine.lastOp : horizon.durableOp;
    this.#followVersion();
    if (this.#seat !== null) {
      // A checkpoint may have waited for its entry.
      const unsubscribe = [storage.log, horizon].map((each) =>
        each.onDurable(() => {
          this.#startWork();
          if (this.#raised !== null) this.#followVersion();
        })
      );
      this.#unsubscribe = () => unsubscribe.forEach((end) => end());
    }
    this.#shards = manager.remote = parts?.route(this) ?? null;
    manager.losses.remembers = manager.notesColumns = manager.remote === null;
    const shards = this.#shards;
    if (shards !== null) {
      machine.remoteRowCount = (tableId) => shards.has(tableId) ? shards.rowCount(tableId) : undefined;
      machine.remoteBytes = (tableId) => shards.has(tableId) ? shards.bytes(tableId) : undefined;
      machine.remoteStatistics = (tableId, columnId) => shards.columnStatistics(tableId, columnId);
      machine.remoteVersion = (tableId) => shards.statisticsVersion(tableId);
      await shards.analyze();
    }
    this.#analyzer = new Analyzer(this);
    this.#analyzer.wake();
    this.#startWork();
  }

  get storage(): StorageEngine {
    return this.#state.storage;
  }

  /** See {@link StatementEngine.workers}. */
  get workers(): StatementWorkers | null {
    return this.#options.workers ?? null;
  }

  /** See {@link StatementEngine.openSpillFile}. */
  get openSpillFile(): ((owner: SpaceOwner) => SpillFile) | null {
    return this.#state.openSpillFile;
  }

  get machine(): StateMachine {
    return this.#state.machine;
  }

  get manager(): TransactionManager {
    return this.#state.manager;
  }

  get plans(): Planning {
    return this.#state.plans;
  }

  /** See {@link ServerEngine.analyze}. */
  async analyze(
    tableIds: readonly number[] | null,
    target: number,
    columns: ReadonlySet<number> | null = null,
  ): Promise<void> {
    const shards = this.#shards;
    const tables = tableIds ?? this.machine.catalog.tables.map(({ id }) => id);
    if (shards !== null && tableIds === null) await shards.analyze();
    for (const id of tables) {
      if (shards === null || !shards.has(id)) await this.#analyzer?.analyze(id, target, columns);
      else if (tableIds !== null) await shards.analyze(id);
    }
  }

  get turns(): CommitTurns {
    return this.#turns;
  }

  /** The shards that have the rows; null: they are here. */
  get shards(): Shards | null {
    return this.#shards;
  }

  /** The node can no longer promise durability and must stop. */
  fail(error: DatabaseError): void {
    this.isFailed = true;
    this.#announceFailure(error);
  }

  /** Alone, or what a member of a replication group is. */
  get role(): "single" | "primary" | "backup" {
    if (this.#seat === null) return "single";
    return this.#isServing ? "primary" : "backup";
  }

  /** The view of a replication group; 0 alone. */
  get viewNumber(): number {
    return this.#seat?.viewNumber ?? 0;
  }

  /** What this member knows of its cluster, now; null alone. */
  get cluster(): ClusterStatus | null {
    return this.#seat?.status() ?? null;
  }

  // ---------------------------------------------------------------- as the state of a member

  get appliedOp(): OpNumber {
    return this.machine.lastOp;
  }

  get isTorn(): boolean {
    return this.machine.isTorn;
  }

  get appliedDigest(): bigint {
    return this.machine.digestValue;
  }

  get clusterVersion(): number {
    const { versions } = this;
    if (this.#seat === null) return versions.newest;
    const { machine, horizon } = this.#state;
    const raised = this.#raised;
    const active = raised !== null && raised.op > horizon.durableOp
      ? raised.before
      : machine.catalog.clusterVersion;
    // A release that does not speak 1 begins with its oldest.
    return Math.max(versions.oldest, active);
  }

  get writtenVersion(): number {
    return this.machine.catalog.clusterVersion;
  }

  /** The versions of a cluster that the release speaks. */
  get versions(): VersionRange {
    return this.#seat?.versions ?? SPOKEN_VERSIONS;
  }

  raiseClusterVersion(version: number): void {
    const { newest } = this.versions;
    assert(version <= newest, `version ${version} of ${newest}`);
    const before = this.writtenVersion;
    assert(version > before, `version ${version} after ${before}`);
    if (this.manager.isCommitting || !this.#isServing || this.isFailed) return;
    this.#commitChanges([{ kind: "set_setting", name: CLUSTER_VERSION_SETTING, value: String(version) }]);
    if (this.writtenVersion === version) this.#raised = { op: this.machine.lastOp, before };
  }

  /** What is written from now on is as the active version has it. */
  #followVersion(): void {
    if (this.#seat === null) return;
    requireSpoken(this.versions, this.machine.catalog.clusterVersion);
    if (this.#raised !== null && this.#raised.op <= this.durableOp) this.#raised = null;
    this.storage.log.memberFormat = memberFormatOf(this.clusterVersion);
  }

  filesRepaired(): void {
    if (this.#absence !== null) return;
    this.storage.repaired();
    this.#startWork();
  }

  startServing(): void {
    const seat = this.#seat;
    assert(seat !== null && !this.#isServing && this.#absence === null, "a member begins to serve once");
    const { storage, machine } = this.#state;
    storage.log.view = seat.viewNumber;
    storage.log.sendAppended = () => this.#sendAppended(seat);
    assert(machine.lastOp === storage.log.lastOp, "the state of a primary is that of its whole log");
    // The primary before may have sent answers that depend on entries that are not known to be committed here.
    this.#state.manager.forgetBefore(machine.lastOp);
    this.#turns = new CommitTurns(this);
    this.#isServing = true;
    // A shard that fails ends the engine by itself.
    this.#shards?.learn().catch(() => {});
    // The transaction that has filled it ended with its primary.
    this.dropStage();
    this.dropTemporarySchemas();
  }

  stopServing(reason: Interruption = "view_change"): void {
    const seat = this.#seat;
    assert(seat !== null, "an engine alone serves until it is closed");
    if (!this.#isServing) return;
    this.#isServing = false;
    const unknown = outcomeUnknown(reason);
    this.#turns.interrupt(unknown);
    for (const session of [...this.#sessions.values()]) if (!session.isFollower) session.interrupt(reason);
    seat.horizon.interrupt(unknown);
    this.machine.followLog();
    this.storage.log.sendAppended = null;
  }

  applyEntry(op: number, payload: Uint8Array | StoredPayload): Promise<void> | null {
    assert(this.#seat !== null && !this.#isServing && this.#absence === null, "a primary makes its entries");
    assert(this.#applying === null, "entries are applied one after the other");
    assert(op === this.machine.lastOp + 1, `op ${op} does not follow ${this.machine.lastOp}`);
    if (
      payload instanceof Uint8Array && payload.length < APPLIED_AT_ONCE_BYTES &&
      !this.#mustFinishFirst(payload) && !this.#isStaged(payload)
    ) {
      const { catalog } = this.machine;
      this.machine.apply(payload);
      this.#applied(catalog);
      return null;
    }
    return this.#applying = this.#applyInSteps(payload).finally(() => {
      this.#applying = null;
    });
  }

  /** Whether a checkpoint would have to be finished in one piece when the entry is applied. */
  #mustFinishFirst(payload: Uint8Array | StoredPayload): boolean {
    const { storage } = this;
    return storage.mustFinishFirst({ bytes: payload.length, held: 0 }) ||
      storage.isCheckpointing && payload instanceof Uint8Array && isCheckpointEntry(payload);
  }

  /** Whether an entry may make what is in the stage its own: that takes steps, without a checkpoint under way. */
  #isStaged(payload: Uint8Array | StoredPayload): boolean {
    return this.machine.stage.exists && !(payload instanceof Uint8Array && !isStagedEntry(payload));
  }

  async #applyInSteps(payload: Uint8Array | StoredPayload): Promise<void> {
    const { machine, storage } = this;
    while (this.#isStaged(payload) && await storage.finishAny(APPLY_SLICE_MICROSECONDS)) {
      if (this.#absence !== null) return;
    }
    while (this.#mustFinishFirst(payload)) {
      await storage.finishFirst(APPLY_SLICE_MICROSECONDS);
      if (this.#absence !== null) return;
    }
    const { catalog } = machine;
    const steps = machine.applyInSteps(payload);
    let end = this.monotonic() + APPLY_SLICE_MICROSECONDS;
    while (steps.next().done !== true) {
      if (storage.stepWait === null && this.monotonic() < end) continue;
      await (storage.stepWait ?? this.yieldToLoop());
      // The steps are left where they are: nobody reads this state any more.
      if (this.#absence !== null) return;
      end = this.monotonic() + APPLY_SLICE_MICROSECONDS;
    }
    this.#applied(catalog);
  }

  #applied(catalogBefore: Catalog): void {
    const { catalog } = this.machine;
    if (catalog !== catalogBefore) {
      this.manager.catalogChanged(null, catalogBefore);
      this.#followVersion();
      if (catalog.functions !== catalogBefore.functions) {
        this.#preparing = this.#preparing.then(() => this.#prepareFunctions());
      }
    }
    this.#stateWaits.look();
    this.#analyzer?.wake();
    this.#startWork();
  }

  abandon(): Promise<void> {
    assert(this.#seat !== null && this.#absence === null, "a member gives its state up once");
    this.stopServing();
    this.#absence = "abandoned";
    for (const session of [...this.#sessions.values()]) session.interrupt("view_change");
    this.#unsubscribe();
    return this.#changing = this.#closeState();
  }

  async #closeState(): Promise<void> {
    await this.#analyzer?.close();
    await this.#applying;
    await this.#preparing;
    await this.#working;
    await this.#state.parts?.close();
    await this.storage.close();
  }

  async reopen(): Promise<void> {
    assert(this.#absence === "abandoned", "a state is opened when the one before was given up");
    // An attempt before this one may have failed.
    await Promise.allSettled([this.#changing]);
    await (this.#changing = this.#openState());
  }

  async #openState(): Promise<void> {
    this.#state = await openState(this.#options);
    this.#raised = null;
    this.#absence = null;
    await this.#stateOpened();
    await this.#prepareFunctions();
  }

  // ---------------------------------------------------------------- sessions

  /** A new session. Raises 57P03 where none can be served. */
  openSession(options: SessionOptions = {}): Session {
    if (this.#absence === "closing") {
      throw new DatabaseError(SQLSTATE.cannotConnectNow, "the database system is shutting down");
    }
    if (this.#absence !== null || !this.#isServing && options.readFrom === undefined) throw notPrimary();
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
  dropTemporarySchemas(): void {
    if (!this.#isServing || this.isFailed || this.manager.isCommitting) return;
    const live = new Set<string>();
    for (const session of this.#sessions.values()) if (!session.isFollower) live.add(session.temporarySchema);
    const schemas = this.machine.catalog.schemas.map((schema) => schema.name)
      .filter((name) => isTemporarySchema(name) && !live.has(name));
    if (schemas.length === 0) return;
    this.#commitChanges(dropSchemaChanges(this.machine.catalog, schemas));
  }

  dropStage(): void {
    try {
      if (this.machine.stage.exists) this.commitEffects([{ kind: "unstage" }]);
    } catch (error) {
      if (!isDiskFull(error)) throw error;
    }
  }

  commitEffects(effects: readonly Effect[]): OpNumber {
    const op = this.machine.commit({ timestamp: this.now(), client: null, effects });
    this.afterCommit(op);
    return op;
  }

  mustStage({ bytes, held }: EntryWeight): boolean {
    if (this.#seat === null || Math.max(bytes, held) < this.storage.leastStagedBytes) return false;
    return this.#shards === null && this.clusterVersion >= 4;
  }

  /** Changes the catalog by itself, if nothing is in the way. */
  #commitChanges(changes: readonly CatalogChange[]): void {
    const transaction = this.manager.begin({ interruptible: false });
    try {
      for (const change of changes) transaction.change(change);
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
    return this.#state.horizon.durableOp;
  }

  /** Calls back after each advance of {@link durableOp}; answers how to stop that. */
  onDurable(listener: (durableOp: OpNumber) => void): () => void {
    return this.#state.horizon.onDurable(listener);
  }

  /** Resolves when the entry is durable; rejects when the log has failed, or this member stops being the primary. */
  whenDurable(op: OpNumber): Promise<void> {
    return this.#state.horizon.whenDurable(op);
  }

  get staleness(): number {
    return this.#seat?.staleness ?? 0;
  }

  whenState(holds: () => boolean, abort: AbortSignal): Promise<void> {
    return this.#stateWaits.until(holds, abort);
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
      const modified = this.manager.lastModifiedOp(tableId);
      if (modified > newest) newest = modified;
    }
    return (newest > durable ? newest : 0) as OpNumber;
  }

  /** Whether what is read now may be stale: this primary cannot know whether there is another. */
  get lacksLease(): boolean {
    return this.#isServing && this.#seat?.canRead === false;
  }

  /**
   * The op whose commit proves that what was read just now is not stale: an entry without effects. It is for a primary
   * that has no lease.
   */
  readBarrier(): OpNumber {
    const { machine, manager } = this.#state;
    // The entry that is on its way is appended after the read.
    if (manager.isCommitting) return (machine.lastOp + 1) as OpNumber;
    return this.commitEffects([]);
  }

  planAhead(session: PlanningSession, text: string, declared?: DeclaredTypes): Promise<void> {
    return this.#longTexts.parse(
      text,
      () => session.checkCanceled(),
      (statements) => this.plans.planAhead(session, { text, declared, statements }, this),
    );
  }

  /** Parses a text of statements; raises 42601 and the like. */
  parse(text: string): readonly ParsedStatement[] {
    const known = this.#blockTexts.get(text) ?? this.#longTexts.take(text);
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
    this.#analyzer?.wake();
    this.#startWork();
    if (this.#seat !== null) this.#announceAppended(this.#seat);
  }

  #announceAppended(seat: MemberSeat): void {
    if (this.#isAnnouncing) return;
    this.#isAnnouncing = true;
    // What many write in one turn leaves together; one alone does not wait.
    const { hasManyWriters } = this.storage.log;
    const turn = hasManyWriters ? this.host.timers.endOfTurn() : Promise.resolve();
    void turn.then(() => this.#sendAppended(seat));
  }

  #sendAppended(seat: MemberSeat): void {
    if (!this.#isAnnouncing) return;
    this.#isAnnouncing = false;
    if (this.#isServing) seat.appended();
  }

  /** Copies a consistent state to a directory while writes go on. Answers its op. */
  async snapshotTo(directory: string): Promise<OpNumber> {
    return await this.storage.snapshotTo(directory, () => this.#makeCheckpoint());
  }

  /**
   * Makes a checkpoint of the newest state. In a replication group an entry asks for it, so that all members make the
   * same.
   */
  #makeCheckpoint(): Promise<void> {
    const { storage, machine } = this;
    const begin = (): void => {
      if (this.#seat === null) storage.beginCheckpoint(machine.lastOp, () => machine.encodeState());
      else {
        if (!this.#isServing) throw notPrimary();
        this.commitEffects([{ kind: "checkpoint" }]);
      }
    };
    return storage.makeCheckpoint(begin, () => this.turns.whenIdle());
  }

  /** Writes all memory-resident rows to segments, so that the next start replays nothing. */
  async checkpoint(): Promise<void> {
    if (this.#seat !== null) return await this.#makeCheckpoint();
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
      queryMemory: this.queryMemory.statistics(),
      temporarySpace: this.#state.temporarySpace,
    };
  }

  /** Ends all sessions, makes everything durable and closes the files. */
  async close(): Promise<void> {
    assert(this.#absence !== "closing", "an engine is closed once");
    // A failure is raised where it was asked for.
    await this.#changing?.catch(() => {});
    const wasAbandoned = this.#absence === "abandoned";
    if (this.#seat !== null) this.stopServing("shutdown");
    this.#absence = "closing";
    for (const session of [...this.#sessions.values()]) session.close();
    await this.turns.whenIdle();
    if (this.#seat === null && !this.isFailed) this.#logLostNumbers();
    this.#unsubscribe();
    await this.#analyzer?.close();
    await this.#applying;
    await this.#preparing;
    await this.#working;
    if (!wasAbandoned) {
      await this.storage.settle(() => this.machine.encodeState());
      await this.#closeParts();
      await this.storage.close();
    }
    await this.workers?.close();
    await this.host.timers.close();
  }

  async #closeParts(): Promise<void> {
    try {
      await this.#state.parts?.close();
    } catch (error) {
      // What has failed already was said.
      if (!this.isFailed) throw error;
    }
  }

  #logLostNumbers(): void {
    try {
      this.manager.logLostNumbers();
    } catch (thrown) {
      // On a full disk numbers of rolled-back transactions are given again: nothing that is kept has them.
      if (!(thrown instanceof DatabaseError)) throw thrown;
    }
  }

  /** Runs flush and compaction in slices between other work, until none is left. */
  #startWork(): void {
    if (this.#working !== null || !this.storage.hasWork || this.#absence === "abandoned") return;
    this.#working = this.#work().finally(() => {
      this.#working = null;
    });
  }

  async #work(): Promise<void> {
    while (this.storage.hasWork && !this.isFailed && this.#absence !== "abandoned") {
      await this.storage.work(1_000);
      await this.yieldToLoop();
    }
    this.workers?.sweep();
  }
}

/** A smaller entry of another member is applied in one piece. */
const APPLIED_AT_ONCE_BYTES = 64 * 1024;
/** A longer text is not worth a place among those that begin and end blocks. */
const MAX_BLOCK_TEXT_LENGTH = 64;

/** Whether a text only begins or ends a block. */
function isBlockText(statements: readonly ParsedStatement[]): boolean {
  const kind = statements[0]?.statement.kind;
  return statements.length === 1 && (kind === "begin" || kind === "commit" || kind === "rollback");
}
