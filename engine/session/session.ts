/**
 * A session: one client's transaction, settings, prepared statements and cursors. It takes each statement through its
 * life: parse, plan (or find the plan), run in a transaction, commit, answer.
 *
 * Invariant: a session runs one statement at a time; the caller waits for the answer, which carries the op number
 * that must be durable before it may be sent.
 */
import { storedSettings } from "../sql/definition/stored_settings.ts";
import { temporarySchemaOf } from "../catalog/temporary_schema.ts";
import { assert } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { Catalog, Relation } from "../catalog/catalog.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import type { CompiledStatement, StatementExecution } from "../execution/runtime/execution.ts";
import type { OpNumber } from "../operations/effect.ts";
import type { ObjectName, ParsedStatement, Statement } from "../sql/parser/ast.ts";
import type { PlanEnvironment } from "../sql/planner/plan_statement.ts";
import type { SessionEncryption } from "../system_catalog/catalog_context.ts";
import type { SessionOptions } from "./session_options.ts";
import type { SqlValue } from "../types/value.ts";
import type { Transaction } from "../transactions/transaction.ts";
import { isPlannedAhead } from "./long_texts.ts";
import type { DeclaredTypes } from "./planning.ts";
import type { SessionEngine } from "./session_engine.ts";
import { type IsolationLevel, levelOf } from "../transactions/isolation_level.ts";
import { Cancellation } from "./cancellation.ts";
import { type Interruption, type TerminationListener, whatIsKnown } from "./interruption.ts";
import { prepareStatement } from "./prepare_statement.ts";
import { LONG_WRITE, type RunOptions } from "./run_options.ts";
import { SessionCommits } from "./session_commits.ts";
import { SessionEvaluation } from "./evaluation.ts";
import {
  type MaybePromise,
  type Notice,
  type PreparedStatement,
  type ResultSink,
  type StatementOutcome,
  type TransactionStatus,
  whenDone,
} from "../statements/outcome.ts";
import type { CachedPlan, PlanVariables } from "../statements/plan_cache.ts";
import type { Portal } from "../statements/portal.ts";
import { openPortal } from "./open_portal.ts";
import { Prepared } from "../statements/prepared.ts";
import { Cursors } from "../statements/cursors.ts";
import type { AheadRow, SessionHost } from "../statements/statement_host.ts";
import { PreparedNames } from "./prepared_names.ts";
import { type OnceReply, type OnceRequest, runOnce } from "./exactly_once.ts";
import { writesTemporaryRows, writingCommand } from "../statements/read_only.ts";
import { blockDurableAt, readsDurableAt, tellableAt } from "./read_durability.ts";
import { findNamedRelation, findNamedTable } from "./relation_names.ts";
import { Settings } from "../settings/settings.ts";
import {
  endsBlock,
  isPlannable,
  needsState,
  returnsRows,
  standsAlone,
  tagOf,
} from "../statements/statement_kind.ts";
import { RowCounter } from "../statements/row_buffer.ts";
import { SingleReads } from "./single_reads.ts";
import { runSeveral } from "./run_several.ts";
import { SessionTimeouts } from "./session_timeouts.ts";
import { StateNeed } from "./state_need.ts";
import { asDatabaseError } from "../statements/statement_errors.ts";
import { withRowAhead } from "./fetch_ahead.ts";
import { readElsewhere } from "./read_elsewhere.ts";
import { makerFor, StatementContext } from "./statement_context.ts";
import type { WaitingContext } from "./stream_arrivals.ts";
import { endTemporaryTables } from "./temporary_tables.ts";
import { runAutocommit, runInTransaction, type RunnerEnvironment } from "./statement_runner.ts";
import { TransactionBlock } from "../statements/transaction_block.ts";
import { runUtility } from "../statements/utility/utility.ts";

/** Where statements write that have no rows. */
const NO_ROWS = new RowCounter();

/** See the file's head. */
export class Session implements SessionHost {
  readonly engine: SessionEngine;
  /** Names the session in CancelRequest and pg_stat_activity; positive, 31 bits. */
  readonly processId: number;
  readonly encryption: SessionEncryption | null;
  /** It reads at the op that a member of a replication group has applied, and never writes. */
  readonly isFollower: boolean;
  /** The schema of its temporary tables, whether it exists or not. */
  readonly temporarySchema: string;
  /** Must accompany a CancelRequest. */
  readonly secretKey: number;
  readonly settings: Settings;
  readonly evaluation: SessionEvaluation;
  /** What the state must have for reads. */
  readonly need: StateNeed;
  /** Statements of SQL PREPARE, by name. */
  readonly preparedByName: PreparedNames;
  /** Cursors of DECLARE, by name. */
  readonly cursors = new Cursors();
  readonly startedAt: number;
  /** Text of the running or last statement, for pg_stat_activity. */
  currentText = "";
  isRunning = false;
  #block: TransactionBlock | null = null;
  /** The transaction of the autocommit statement that is running. */
  #statementTransaction: Transaction | null = null;
  #notices: Notice[] = [];
  readonly #cancellation = new Cancellation();
  /** It has ended, by its client or from outside. */
  isClosed = false;
  #terminated: TerminationListener | null = null;
  /** What its client is answered because this member stopped ordering entries. */
  #interruption: DatabaseError | null = null;
  readonly #commits: SessionCommits;
  #derivedAt = -1;
  #isReadOnly = false;
  #level: IsolationLevel = "serializable";
  readonly #reads: SingleReads;
  readonly #timeouts: SessionTimeouts;
  /** What the runner needs; for COPY, which runs statements piece by piece. */
  readonly environment: RunnerEnvironment;

  constructor(
    engine: SessionEngine,
    options: SessionOptions & { readonly processId: number; readonly secretKey: number },
  ) {
    this.engine = engine;
    this.preparedByName = new PreparedNames(engine);
    this.processId = options.processId;
    this.encryption = options.encryption ?? null;
    this.isFollower = options.readFrom === "follower";
    this.temporarySchema = temporarySchemaOf(options.processId, this);
    this.secretKey = options.secretKey;
    const user = options.user ?? "db";
    const { catalog } = engine.machine;
    const always = this.isFollower ? { default_transaction_read_only: "on" } : {};
    this.settings = new Settings({ session_authorization: user, ...options.settings, ...always }, {
      server: engine.defaults,
      database: storedSettings(catalog, null),
      role: storedSettings(catalog, user),
    });
    this.#commits = new SessionCommits(engine, this.settings);
    this.need = new StateNeed(engine, this.settings, this.isFollower);
    this.evaluation = new SessionEvaluation(this, { user, database: options.database ?? "db" });
    this.startedAt = engine.now();
    this.#timeouts = new SessionTimeouts(engine.host, this.settings, this);
    this.#timeouts.idleBegins(false);
    const cancellation = this.#cancellation;
    this.environment = {
      manager: engine.manager,
      shards: engine.shards,
      monotonic: () => engine.monotonic(),
      nextSlice: (took) => engine.slices.next(took),
      whenIdle: () => engine.turns.whenIdle(),
      timeouts: this.#timeouts,
      get abort() {
        return cancellation.signal;
      },
      checkCanceled: () => this.checkCanceled(),
    };
    this.#reads = new SingleReads({
      engine,
      environment: this.environment,
      evaluation: this.evaluation,
      need: this.need,
      begin: () => this.#begin(false, true),
      contextFor: (transaction, parameters) => this.#context(transaction, parameters),
      runsIn: (transaction) => {
        this.#statementTransaction = transaction;
      },
    });
  }

  get status(): TransactionStatus {
    if (this.#block === null || !this.#block.explicit) {
      return this.#block?.failed === true ? "failed" : "idle";
    }
    return this.#block.failed ? "failed" : "block";
  }

  get catalog(): Catalog {
    return this.currentTransaction?.catalog ?? this.engine.machine.catalog;
  }

  /** The transaction that a statement running now belongs to. */
  get currentTransaction(): Transaction | null {
    return this.#block?.transaction ?? this.#statementTransaction;
  }

  get block(): TransactionBlock | null {
    return this.#block;
  }

  /** Adds a notice to the outcome of the running statement. */
  notice(notice: Notice): void {
    this.#notices.push(notice);
  }

  /** Runs what needs the statements of the text, behind {@link SessionEngine.planAhead} of a long one. */
  whenParsed<T>(text: string, run: () => MaybePromise<T>, declared?: DeclaredTypes): MaybePromise<T> {
    if (!isPlannedAhead(text, this.engine.machine.catalog)) return run();
    return whenDone(this.#guarded(() => this.engine.planAhead(this, text, declared)), run);
  }

  /** Runs all statements of a text; several are one transaction. `onOutcome` is called after each, in order. */
  simple(text: string, sink: ResultSink, onOutcome: (outcome: StatementOutcome) => void): MaybePromise<void> {
    this.#requireOpen();
    this.currentText = text;
    const lifted = this.engine.plans.find(this, text);
    if (lifted !== null) {
      return this.#guarded(() =>
        this.#whenHere(() =>
          whenDone(this.#runPlan(lifted.plan, lifted.parameters, sink), (outcome) => onOutcome(outcome))
        )
      );
    }
    return this.#guarded(() => {
      const statements = this.engine.parse(text);
      if (statements.length === 0) return onOutcome(this.outcome("", null, "empty"));
      const run = (): MaybePromise<void> => {
        if (statements.length > 1) {
          return runSeveral(this, statements, (parsed, index) => {
            if (index > 0) this.#timeouts.statementBegins();
            return this.#runParsed(text, parsed, sink);
          }, onOutcome);
        }
        return whenDone(this.#runParsed(text, statements[0] as ParsedStatement, sink), onOutcome);
      };
      return statements.some(({ statement }) => needsState(statement)) ? this.#whenHere(run) : run();
    });
  }

  /** Parses and plans one statement. Raises 42601 when the text holds several. */
  prepare(text: string, parameterTypes: DeclaredTypes): PreparedStatement {
    this.#requireOpen();
    this.currentText = text;
    const [parsed = null, second] = this.engine.parse(text);
    if (second !== undefined) {
      throw new DatabaseError(
        SQLSTATE.syntaxError,
        "cannot insert multiple commands into a prepared statement",
      );
    }
    if (parsed !== null) this.#requireUsable(parsed.statement);
    return this.prepareParsed(text, parsed, parameterTypes);
  }

  /** The same for a statement that has been parsed already; null: an empty text. */
  prepareParsed(text: string, parsed: ParsedStatement | null, parameterTypes: DeclaredTypes): Prepared {
    return prepareStatement(this, this.engine.plans, text, parsed, parameterTypes);
  }

  /** Runs a prepared statement to its end. `inPipeline`: further messages follow before {@link sync}. */
  execute(
    prepared: PreparedStatement,
    parameters: readonly SqlValue[],
    sink: ResultSink,
    options: { readonly inPipeline?: boolean } = {},
  ): MaybePromise<StatementOutcome> {
    this.#requireOpen();
    assert(prepared instanceof Prepared, "a prepared statement comes from prepare()");
    this.currentText = prepared.text;
    const execute = () =>
      this.#guarded(() => {
        const { tree } = prepared;
        if (tree === null) return this.outcome("", null, "empty");
        this.#requireUsable(tree);
        const run = (): MaybePromise<StatementOutcome> => {
          if (options.inPipeline === true) this.#enterPipeline(tree);
          return this.executePrepared(prepared, parameters, sink);
        };
        return needsState(tree) ? this.#whenHere(run) : run();
      });
    // The tree of a long text was not kept, and what EXPLAIN shows is planned anew.
    const isStale = this.engine.plans.isStale(this, prepared);
    return this.whenParsed(isStale ? prepared.text : "", execute, prepared.parameterTypes);
  }

  /** What is to be waited for before {@link openPortal}: a state that is new enough. null: nothing. */
  whenStateIsHere(): Promise<void> | null {
    const here = this.#guarded(() => this.#whenHere(() => this.#block?.readBefore() ?? undefined));
    return here instanceof Promise ? here : null;
  }

  /** The same without the guards, for EXECUTE. */
  executePrepared(
    prepared: Prepared,
    parameters: readonly SqlValue[],
    sink: ResultSink,
  ): MaybePromise<StatementOutcome> {
    if (prepared.tree === null) return this.outcome("", null, "empty");
    if (prepared.plan === null) {
      const { text, parameterTypes: types } = prepared;
      const { statement } = prepared.tree.get((long) => this.engine.parse(long));
      return runUtility(this, text, statement, sink, { types, values: parameters });
    }
    return this.#runPlan(this.refreshPlan(prepared), parameters, sink);
  }

  /** Opens a portal, from which rows are fetched piece by piece. */
  openPortal(
    prepared: PreparedStatement,
    parameters: readonly SqlValue[],
    options: { readonly inPipeline?: boolean; readonly keepAtMost?: number } = {},
  ): Portal {
    this.#requireOpen();
    assert(prepared instanceof Prepared && prepared.plan !== null, "only planned statements have portals");
    if (prepared.tree !== null) {
      this.#requireUsable(prepared.tree);
      if (options.inPipeline === true) this.#enterPipeline(prepared.tree);
    }
    const plan = this.refreshPlan(prepared);
    const block = this.#block;
    return openPortal({
      engine: this.engine,
      environment: this.environment,
      need: this.need,
      transaction: block?.transaction ?? this.#begin(true),
      block,
      keepAtMost: options.keepAtMost ?? 0,
      contextFor: (transaction) => this.#context(transaction, parameters),
      asStatement: (run) => {
        this.currentText = prepared.text;
        if (prepared.tree !== null) this.#requireUsable(prepared.tree);
        return this.#guarded(run);
      },
      outcome: (tag, rowCount, kind) => this.outcome(tag, rowCount, kind),
    }, plan);
  }

  /** The end of a pipeline: commits its implicit transaction, if there is one. */
  sync(): MaybePromise<StatementOutcome | null> {
    const block = this.#block;
    if (block === null || block.explicit) return null;
    try {
      if (block.failed) {
        this.endBlock(true);
        return null;
      }
      return this.commitBlock("");
    } finally {
      // The session is idle in another way now.
      this.#timeouts.idleBegins(false);
    }
  }

  /** An error happened outside of a statement's run, such as a bad parameter: the transaction fails with it. */
  fail(): void {
    const block = this.#block;
    if (block === null) return;
    block.fail();
    if (!block.explicit) this.endBlock(true);
  }

  /** Exactly-once: see {@link runOnce}. */
  once(
    request: OnceRequest,
    work: () => MaybePromise<Uint8Array>,
    failureReply: (error: DatabaseError) => Uint8Array,
  ): Promise<OnceReply> {
    this.#requireOpen();
    const run = () => runOnce(this, request, work, failureReply);
    return this.whenStateIsHere()?.then(run) ?? run();
  }

  /** BEGIN, or the implicit block of a query with several statements. */
  beginBlock(explicit: boolean): TransactionBlock {
    const open = this.#block;
    if (open !== null) {
      open.explicit ||= explicit && !open.controlled;
      return open;
    }
    const transaction = this.#begin(true);
    const block = new TransactionBlock({
      transaction,
      manager: this.engine.manager,
      settings: this.settings,
      explicit,
    });
    this.#block = block;
    transaction.readOnly = transaction.neverWrites = this.#isReadOnly;
    // Fixed now: now() is when the block began, not when it is first called.
    void transaction.timestamp;
    return block;
  }

  /** COMMIT. A failed block is rolled back and answers so. */
  commitBlock(tag: string): MaybePromise<StatementOutcome> {
    this.#requireOpen();
    const block = this.#block;
    if (block === null || block.controlled) return this.outcome(tag, null, "done");
    if (block.failed) {
      this.endBlock(true);
      return this.outcome("ROLLBACK", null, "done");
    }
    const committed = (op: OpNumber): StatementOutcome => {
      this.endBlock(false);
      const durableOp = this.need.saw(op || blockDurableAt(this.engine, block));
      return { ...this.outcome(tag, null, "done"), durableOp };
    };
    const failed = (thrown: unknown): never => {
      this.endBlock(true);
      throw thrown;
    };
    try {
      endTemporaryTables(block.transaction, this.temporarySchema);
      const op = this.commit(block.transaction);
      return op instanceof Promise ? op.then(committed, failed) : committed(op);
    } catch (thrown) {
      return failed(thrown);
    }
  }

  /** Commits a transaction of this session in its turn; answers the op of its entry, or 0. */
  commit(
    transaction: Transaction,
    client: Parameters<SessionCommits["commit"]>[1] = null,
  ): MaybePromise<OpNumber> {
    return whenDone(this.#commits.commit(transaction, client), (op) => this.need.saw(op));
  }

  /** Resolves when an answer that depends on the op may be given; rejects with what is to be answered instead. */
  async whenDurable(op: number): Promise<void> {
    await this.engine.whenDurable(op as OpNumber).catch((error) => {
      throw this.#interruption ?? error;
    });
  }

  /** ROLLBACK. */
  rollbackBlock(tag: string): StatementOutcome {
    if (this.#block !== null) {
      if (this.#block.controlled) {
        throw new DatabaseError(
          SQLSTATE.featureNotSupported,
          "ROLLBACK is not available in an exactly-once request",
        );
      }
      this.endBlock(true);
    }
    return this.outcome(tag, null, "done");
  }

  /** What the planner asks about a statement of this text, whose parameters have these types. */
  planEnvironment(text: string, types: DeclaredTypes): PlanEnvironment {
    return this.engine.plans.environment(this, text, types, []);
  }

  /** The statement's plan, made anew when the catalog or the tables' sizes have changed. */
  refreshPlan(prepared: Prepared): CachedPlan {
    return this.engine.plans.refresh(this, prepared);
  }

  /** Plans a statement that can name the variables of a PL/pgSQL block. */
  planWithVariables(text: string, parsed: ParsedStatement, variables: PlanVariables): CachedPlan {
    return this.engine.plans.planWithVariables(this, text, parsed, variables);
  }

  /** The relation that a statement names. Raises 42P01 with a hint. */
  resolveRelation(name: ObjectName): Relation {
    return findNamedRelation(this.catalog, this.evaluation.searchPath, name, this.currentText);
  }

  /** The same, for statements that want a table. Raises 42809 for others. */
  resolveTable(name: ObjectName): TableDefinition {
    return findNamedTable(this.catalog, this.evaluation.searchPath, name, this.currentText);
  }

  /** An outcome with the notices gathered so far. */
  outcome(tag: string, rowCount: number | null, kind: StatementOutcome["kind"]): StatementOutcome {
    return { tag, rowCount, kind, insertedId: null, durableOp: 0 as OpNumber, notices: this.takeNotices() };
  }

  /** The notices gathered since they were last taken; those of a failed statement are sent before its error. */
  takeNotices(): readonly Notice[] {
    return this.#notices.splice(0);
  }

  /**
   * Runs work that changes data or the catalog outside of a plan (DDL, COPY), within the block or in a transaction of
   * its own, with waits and retries like any statement.
   */
  runWork(
    compiled: CompiledStatement,
    sink: ResultSink,
    finish: (execution: StatementExecution) => StatementOutcome,
    parameters: readonly SqlValue[] = [],
  ): MaybePromise<StatementOutcome> {
    return this.#run(() => compiled, LONG_WRITE, parameters, sink, finish);
  }

  mayRunAnew(
    { planned, compiled }: Pick<CachedPlan, "planned" | "compiled">,
    parameters: readonly SqlValue[] = [],
    known: StatementContext | null = null,
  ): boolean {
    if (!planned.readOnly) return true;
    if (this.engine.shards?.concern(planned) !== true) return false;
    const transaction = this.#block?.transaction ?? this.#reads.transaction;
    return compiled.streams?.(known ?? new StatementContext(this, transaction, parameters)) !== true;
  }

  durableAfter(read: Pick<CachedPlan["planned"], "tableIds">): OpNumber {
    return this.need.saw(readsDurableAt(this.engine, { planned: read }, null));
  }

  /** Ends the running statement with 57014. */
  cancel(error = new DatabaseError(SQLSTATE.queryCanceled, "canceling statement due to user request")): void {
    if (this.isRunning) this.#cancellation.request(error);
  }

  /** Raises 57014 when the running statement has been canceled. */
  checkCanceled(): void {
    this.#timeouts.check();
    this.#cancellation.check();
  }

  /** Registers what is called when the session is ended from outside; it closes the session and its connection. */
  onTerminated(listener: TerminationListener): void {
    this.#terminated = listener;
  }

  /** Ends the session from outside, with the error that its client is sent. */
  terminate(error: DatabaseError): void {
    this.#terminate(error, { losesAnswers: false });
  }

  /** Ends the session because this member has stopped ordering entries. */
  interrupt(reason: Interruption): void {
    this.#interruption = whatIsKnown(reason, {
      isUnanswered: this.#commits.isUnanswered,
      isRunning: this.isRunning,
      block: this.#block,
      transaction: this.currentTransaction,
    });
    this.#terminate(this.#interruption, { losesAnswers: true });
  }

  #terminate(error: DatabaseError, options: { readonly losesAnswers: boolean }): void {
    if (this.isClosed) return;
    this.cancel(error);
    if (this.#terminated === null) this.close();
    else this.#terminated(error, options);
  }

  /** The connection has ended: whatever is open is rolled back. */
  close(): void {
    if (this.isClosed) return;
    this.#timeouts.stop();
    this.cancel(new DatabaseError(SQLSTATE.adminShutdown, "terminating connection"));
    this.isClosed = true;
    if (this.#block !== null) this.endBlock(true);
    if (this.#statementTransaction !== null) this.engine.manager.end(this.#statementTransaction);
    this.cursors.closeAll();
    this.preparedByName.clear();
    this.engine.sessionClosed(this);
    this.engine.dropTemporarySchemas();
  }

  /** Runs one parsed statement. */
  #runParsed(text: string, parsed: ParsedStatement, sink: ResultSink): MaybePromise<StatementOutcome> {
    this.#requireUsable(parsed.statement);
    if (!isPlannable(parsed.statement)) {
      return runUtility(this, text.slice(parsed.start, parsed.end), parsed.statement, sink);
    }
    if (parsed.parameterCount > 0) {
      throw new DatabaseError(SQLSTATE.undefinedParameter, "there is no parameter $1", {
        hint: "Use the extended protocol, or PREPARE and EXECUTE.",
      });
    }
    return this.#runPlan(this.engine.plans.plan(this, text, parsed, []), [], sink);
  }

  /** Runs a plan. The path that every point query takes: no promise unless something has to be waited for. */
  #runPlan(
    plan: CachedPlan,
    parameters: readonly SqlValue[],
    answer: ResultSink,
  ): MaybePromise<StatementOutcome> {
    const { planned, planned: { readOnly, tableIds } } = plan;
    // What runs again without rows of its own must not take back those of the statement before.
    const sink = returnsRows(planned) ? answer : NO_ROWS;
    const compiled = (): CompiledStatement => this.engine.plans.current(this, plan).compiled;
    if (!planned.readOnly && (this.isFollower || !writesTemporaryRows(planned))) {
      this.requireWritable(writingCommand(planned));
    }
    const isAloneReading = planned.readOnly && this.#block === null;
    const context = isAloneReading && this.engine.shards !== null
      ? new StatementContext(this, this.#reads.transaction, parameters)
      : null;
    if (sink === answer) sink.begin(planned.columns, this.mayRunAnew(plan, parameters, context));
    const finishAt = (execution: StatementExecution, durableOp: number): StatementOutcome => {
      const count = execution.rowCount;
      const isSelect = planned.command === "SELECT";
      const kind = isSelect && planned.singleAggregate
        ? "value"
        : isSelect || planned.columns.length > 0
        ? "rows"
        : "affected";
      return {
        ...this.outcome(tagOf(planned.command, count), count, kind),
        insertedId: execution.insertedId,
        durableOp: durableOp as OpNumber,
      };
    };
    if (isAloneReading && plan.isPoint && this.engine.manager.remote === null) {
      return this.#reads.atOnce({ plan, parameters, sink, finish: finishAt });
    }
    const readsBefore = this.#block?.transaction.reads.length ?? 0;
    const finish = (execution: StatementExecution, transaction?: Transaction): StatementOutcome => {
      if (!readOnly) this.need.raiseFloor();
      const read = { block: this.#block, transaction: transaction ?? null, before: readsBefore };
      return finishAt(execution, this.need.saw(tellableAt(this.engine, plan, read)));
    };
    const options = { readOnly, short: readOnly || plan.short, isBounded: plan.isBounded, tableIds };
    const run = (ahead: AheadRow | null = null) =>
      this.#run(compiled, { ...options, ahead }, parameters, sink, finish);
    if (!isAloneReading) return withRowAhead(this, plan, parameters, run);
    if (context === null) return run();
    this.#statementTransaction = context.transaction;
    return readElsewhere(this, { plan, context, sink, finish, run }) ?? run();
  }

  /** Raises 25006 when the transaction refuses writes. */
  requireWritable(command: string): void {
    this.#deriveSettings();
    const readOnly = this.#block === null ? this.#isReadOnly : this.#block.transaction.readOnly;
    if (readOnly || this.isFollower) {
      throw new DatabaseError(
        SQLSTATE.readOnlySqlTransaction,
        `cannot execute ${command} in a read-only transaction`,
      );
    }
  }

  /** Runs it when the state is new enough for what it is to read; a block's snapshot may stay what it is. */
  #whenHere<T>(run: () => MaybePromise<T>): MaybePromise<T> {
    const isFixed = this.#block !== null && this.#block.transaction.level !== "read committed";
    const wait = isFixed ? null : this.need.wait(this.#timeouts, this.#cancellation);
    return wait === null ? run() : wait.then(run);
  }

  #run(
    compiled: () => CompiledStatement,
    options: RunOptions,
    parameters: readonly SqlValue[],
    sink: ResultSink,
    finish: (execution: StatementExecution, transaction: Transaction) => StatementOutcome,
  ): MaybePromise<StatementOutcome> {
    this.evaluation.beginStatement();
    const floor = options.readOnly ? this.need.floor : null;
    const contextFor = (transaction: Transaction): WaitingContext => this.#context(transaction, parameters);
    const block = this.#block;
    if (block !== null) {
      block.hasQueried = true;
      const { transaction } = block;
      if (transaction.level !== "read committed") this.need.requireIn(transaction);
      const given = { compiled, sink, transaction, contextFor, isBounded: false, claims: [], floor };
      const run = () =>
        whenDone(runInTransaction(this.environment, given), (execution) => {
          this.engine.manager.requireWinnable(transaction);
          return finish(execution, transaction);
        });
      return options.readOnly || block.portals.size === 0 ? run() : block.readAhead().then(run);
    }
    return runAutocommit(this.environment, {
      ...options,
      begin: (interruptible) => {
        const transaction = this.#begin(interruptible, options.readOnly || this.#isReadOnly);
        transaction.isAlone = true;
        if (options.ahead !== null) this.engine.shards?.give(transaction, options.ahead);
        return this.#statementTransaction = transaction;
      },
      run: (transaction, isLast) =>
        runInTransaction(this.environment, {
          compiled,
          sink,
          transaction,
          contextFor,
          isBounded: options.isBounded,
          claims: isLast && !options.readOnly ? options.tableIds.toSorted((a, b) => a - b) : [],
          floor,
        }),
      commit: (transaction, execution) => {
        this.#statementTransaction = null;
        const outcome = finish(execution, transaction);
        endTemporaryTables(transaction, this.temporarySchema);
        const told = (op: OpNumber) => op === 0 ? outcome : { ...outcome, durableOp: op };
        return whenDone(this.commit(transaction), told);
      },
      retract: () => sink.retract(),
    });
  }

  #context(transaction: Transaction, parameters: readonly SqlValue[]): WaitingContext {
    return new StatementContext(this, transaction, parameters, { waits: true });
  }

  readonly #makerFor = makerFor(this);

  #begin(interruptible: boolean, readOnly = false): Transaction {
    this.#deriveSettings();
    const transaction = this.engine.manager.begin({
      interruptible,
      level: this.#level,
      ...(readOnly || this.#level === "read committed" ? { floor: this.need.floor } : {}),
      client: this,
      makerFor: this.#makerFor,
    });
    transaction.readOnly = transaction.neverWrites = readOnly;
    return transaction;
  }

  /** Every statement passes through here: failures end the transaction or make its block fail. */
  #guarded<T>(run: () => MaybePromise<T>): MaybePromise<T> {
    assert(!this.isRunning, "a session runs one statement at a time");
    this.isRunning = true;
    this.#notices = [];
    this.#timeouts.statementBegins();
    try {
      const result = run();
      if (!(result instanceof Promise)) {
        this.#finished(false);
        return result;
      }
      return result.then((value) => {
        this.#finished(false);
        return value;
      }, (thrown) => this.#failed(thrown));
    } catch (thrown) {
      return this.#failed(thrown);
    }
  }

  #finished(hasFailed: boolean): void {
    this.isRunning = false;
    this.#statementTransaction = null;
    this.evaluation.endStatement();
    if (this.#block === null) this.settings.endScope(hasFailed);
    if (this.isClosed) this.#timeouts.stop();
    else this.#timeouts.idleBegins(this.#block !== null);
    this.#cancellation.renew();
  }

  #failed(thrown: unknown): never {
    this.#finished(true);
    this.need.raiseFloor();
    this.fail();
    throw asDatabaseError(thrown);
  }

  /** Settings that every statement asks for, read again only after a change. */
  #deriveSettings(): void {
    if (this.#derivedAt === this.settings.generation) return;
    this.#derivedAt = this.settings.generation;
    this.#isReadOnly = this.settings.isOn("default_transaction_read_only");
    this.#level = levelOf(this.settings.get("default_transaction_isolation"));
  }

  /** The block is over: its cursors and settings go with it. */
  endBlock(rolledBack: boolean): void {
    const block = this.#block;
    if (block === null) return;
    this.#block = null;
    block.close(rolledBack);
    this.engine.manager.end(block.transaction);
    this.cursors.endTransaction(rolledBack);
  }

  #enterPipeline(statement: Pick<Statement, "kind">): void {
    if (this.#block === null && !endsBlock(statement) && !standsAlone(statement)) this.beginBlock(false);
  }

  #requireUsable(statement: Pick<Statement, "kind">): void {
    if (this.#block?.failed !== true) return;
    if (endsBlock(statement) || statement.kind === "rollback_to") return;
    throw new DatabaseError(
      SQLSTATE.inFailedSqlTransaction,
      "current transaction is aborted, commands ignored until end of transaction block",
    );
  }

  #requireOpen(): void {
    if (this.isClosed) throw new DatabaseError(SQLSTATE.adminShutdown, "the session is closed");
    if (this.engine.isFailed) {
      throw new DatabaseError(SQLSTATE.cannotConnectNow, "the node has stopped after a failed write", {
        hint: "See the server's log; restart it when the disk is sound.",
      });
    }
  }

  /** Bytes that one statement may hold in sorts and hash tables. */
  get memoryLimitBytes(): number {
    return this.settings.bytes("statement_memory");
  }
}
