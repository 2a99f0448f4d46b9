/**
 * The shards of a database as its engine sees them. The engine runs statements as always; rows that it has not fetched
 * stop a statement until they have come, and what a transaction has written goes to the shards when it commits.
 *
 * *Cuts.* A transaction begins at all shards in one turn, so what it reads is one state of all of them: messages keep
 * their order, and what was acknowledged before was sent before. One that needs a single shard begins at that alone.
 *
 * *Commits* are entries of the engine's log, with a part for each shard concerned: see `shard_commits.ts`.
 */
import { assert, assertDefined } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import type { Host } from "../host/host.ts";
import { movesRows } from "../catalog/placement.ts";
import type { Effect, OpNumber, RowId, Slice, StoredValue } from "../operations/effect.ts";
import { encodeEffects } from "../operations/entry_codec.ts";
import type { Shards } from "../session/commit_turns.ts";
import type { RoutedEngine } from "../session/engine_parts.ts";
import type { Settings } from "../settings/settings.ts";
import type { AheadRow, AloneRows, GatherContext, GatheredStream } from "../statements/statement_host.ts";
import type { ShardStatus } from "../system_catalog/shard_status.ts";
import type { ColumnStatistics } from "../storage/access/readable_table.ts";
import type { KeptKey } from "../transactions/remote_tables.ts";
import type { ReadPredicate } from "../transactions/read_set.ts";
import { isRetrySignal, RemoteWait, StaleSnapshot } from "../transactions/signals.ts";
import { changedMeanwhile } from "../transactions/conflicts.ts";
import type { Transaction } from "../transactions/transaction.ts";
import { keyColumns, keyText } from "../transactions/stored_key.ts";
import { effectList } from "../transactions/transaction_effects.ts";
import type { BatchSource, GatherExplanation } from "../execution/runtime/execution.ts";
import type { Fragment, FragmentPoint, PlannedStatement } from "../sql/plan/plan.ts";
import type { Room } from "../sql/fragments/join_places.ts";
import type { SqlValue } from "../types/value.ts";
import { Asking } from "./asking.ts";
import { Branch, type GivenRow } from "./branch.ts";
import { CertainReads, type TransactionReads } from "./certain_reads.ts";
import { CommittedChanges } from "./committed_changes.ts";
import { Fragments } from "./fragments.ts";
import { Gathers } from "./gathers.ts";
import { Inquiries } from "./inquiries.ts";
import { FetchedTable, type MissingRows } from "./fetched_table.ts";
import { Fetches, type FetchingRouter } from "./fetches.ts";
import { MissedPoints } from "./missed_points.ts";
import { ShardCommits } from "./shard_commits.ts";
import { ShardFigures } from "./shard_figures.ts";
import type { ShardGroup } from "./shard_group.ts";
import { RowCollection, RowMoves } from "./row_moves.ts";
import { RowPlaces } from "./row_places.ts";
import { Routes } from "./routes.ts";
import { RowsAhead } from "./rows_ahead.ts";
import type { BranchCommit, FetchedRows } from "./shard_messages.ts";
import type { ShardPort } from "./shard_port.ts";
import type { StopFlags } from "./stop_flags.ts";
import { divide, type Divided, isAtShards } from "./slices.ts";

/** What a transaction has done, divided. */
interface Parted extends Divided {
  readonly before: Catalog;
  readonly after: Catalog;
  readonly effects: readonly Effect[];
  readonly slices: readonly Slice[];
}

/** What a block keeps, roughly, of what its statements have fetched. */
const KEPT_BYTES = 32 << 20;
/** How long a shard is not woken for what nobody waits for. */
const LATER_MICROSECONDS = 10_000;

/** See the file's head. */
export class Router implements Shards {
  readonly ports: readonly ShardPort[];
  readonly commits: ShardCommits;
  readonly #engine: RoutedEngine;
  readonly #branches = new WeakMap<Transaction, Branch>();
  readonly #asking: Asking;
  readonly #gathers: Gathers;
  readonly #fetches: Fetches;
  readonly #ahead: RowsAhead;
  readonly #certain: CertainReads;
  readonly #figures: ShardFigures;
  readonly #routes: Routes;
  #nextBranch = 1;
  readonly #changes = new CommittedChanges();
  /** Commits on their way that write more than single rows. */
  #openBulks = 0;
  /** Tables whose rows are going to move. */
  readonly #collecting = new Set<RowCollection>();
  /** The shards do not know yet of definitions that the engine knows; resolve when they do. */
  readonly #defining = new Set<Promise<void>>();

  constructor(
    engine: RoutedEngine,
    group: ShardGroup,
    host: Pick<Host, "clock" | "timers"> & { readonly stops: StopFlags },
  ) {
    this.#engine = engine;
    this.ports = group.ports;
    for (const port of this.ports) port.later = (run) => host.timers.setTimer(LATER_MICROSECONDS, run);
    this.#figures = new ShardFigures(group.ports, host);
    this.#routes = new Routes(() => this.#catalog, this.count);
    this.#asking = new Asking(this.ports, host.stops, host);
    const inquiries = new Inquiries(this.ports, host.stops, host);
    this.commits = new ShardCommits(engine, group, this.#asking);
    const defined = (): Promise<void> | null => this.#defining.size > 0 ? this.#defined() : null;
    const reach: FetchingRouter["reach"] = (...args) => this.#reach(...args);
    this.#fetches = new Fetches({
      routes: this.#routes,
      asking: this.#asking,
      defined,
      reach,
      isMoved: (branch, tableId) => this.#isMoved(branch, tableId),
    });
    const monotonic = (): number => host.clock.monotonic();
    const commits = (): number => this.#changes.count;
    this.#gathers = new Gathers({
      count: this.count,
      routes: this.#routes,
      fragments: new Fragments({ asking: this.#asking, inquiries }, this.ports, monotonic),
      commits,
      monotonic,
      branchOf: (transaction) => this.#branchOf(transaction),
      defined,
      requireFilled: (branch, tableId) => this.#requireFilled(branch, tableId),
      isPlannedFor: (branch, fragment) => this.#isPlannedFor(branch, fragment),
      reach,
    });
    this.#certain = new CertainReads({
      changes: this.#changes,
      catalog: () => this.#catalog,
      hasOpenBulks: () => this.#openBulks > 0,
      isAboveAll: (tableId, id) => this.isAboveAll(tableId, id),
      changedSince: (transaction, tableId, id) => this.changedSince(transaction, tableId, id),
    });
    this.#ahead = new RowsAhead({
      inquiries,
      routes: this.#routes,
      changes: this.#changes,
      isQuiet: () => this.#isQuiet,
      mayBeQuiet: () => !group.waitsForCommits && this.#defining.size === 0,
      has: (tableId) => this.has(tableId),
      branchOf: (transaction) => this.#branchOf(transaction),
      table: (transaction, tableId) => this.table(transaction, tableId),
      fetches: this.#fetches,
    });
  }

  /** Whether an entry may be appended now that nobody has to be asked for: nothing that comes before it is open. */
  get #isQuiet(): boolean {
    return this.commits.isIdle && this.#openBulks === 0 && this.#defining.size === 0;
  }

  learn(): Promise<void> {
    return this.#figures.learn();
  }

  async analyze(tableId?: number): Promise<void> {
    await this.#figures.learn();
    await this.#figures.learnColumns(tableId);
  }

  columnStatistics(tableId: number, columnId: number): ColumnStatistics | undefined {
    return this.#figures.columns.of(tableId, columnId);
  }

  statisticsVersion(tableId: number): number {
    return this.has(tableId) ? this.#figures.columns.version(tableId) : 0;
  }

  get #catalog(): Catalog {
    return this.#engine.machine.catalog;
  }

  has(tableId: number): boolean {
    return isAtShards(this.#catalog, tableId);
  }

  rowCount(tableId: number): number {
    const rows = this.#figures.rowCount(tableId);
    return this.#routes.placesOf(tableId)?.isCopied === true ? Math.ceil(rows / this.count) : rows;
  }

  bytes(tableId: number): number {
    return this.#figures.bytes(tableId);
  }

  get count(): number {
    return this.ports.length;
  }

  heed(transaction: Transaction, settings: Settings): void {
    this.#branchOf(transaction).milliseconds = settings.milliseconds("scatter_timeout");
  }

  concern(planned: PlannedStatement): boolean {
    return planned.tableIds.some((id) => this.has(id)) || this.#figures.areIn(planned);
  }

  statuses(transaction: Transaction | null): readonly ShardStatus[] {
    if (transaction === null) {
      // The next one to look sees what they are now. A shard that fails ends the engine by itself.
      this.learn().catch(() => {});
    } else {
      const branch = this.#branchOf(transaction);
      if (branch.lookedAt !== transaction.statements) {
        branch.lookedAt = transaction.statements;
        throw new RemoteWait((_abort, done, failed) => this.#figures.look(done, failed));
      }
    }
    return this.#figures.statuses(this.#engine.role === "backup" ? "backup" : "primary");
  }

  lastModifiedOp(tableId: number): number {
    return this.#changes.lastOp(tableId);
  }

  isAboveAll(tableId: number, id: RowId): boolean {
    return id > 0 && id > (this.#engine.machine.rowCounters.get(tableId) ?? 0);
  }

  changedSince(transaction: Transaction, tableId: number, id: RowId): boolean {
    const branch = this.#branches.get(transaction);
    if (branch !== undefined) this.#noteHome(branch, tableId, id);
    return branch !== undefined && this.#changes.hasChanged(tableId, id, branch.cut);
  }

  keepsKey(transaction: Transaction, { table, index, key, id }: KeptKey): boolean {
    const fetched = this.#branches.get(transaction)?.fetched(table.id);
    if (fetched?.definition !== table) return false;
    const columns = keyColumns(table, index);
    const held = columns.map((column) => fetched.knownValue(id, column.id));
    return !held.includes(undefined) && keyText(columns, held as StoredValue[]) === keyText(columns, key);
  }

  /** Notes where a row is that is going to be changed: it has been fetched, and is locked. */
  #noteHome(branch: Branch, tableId: number, id: RowId): void {
    const places = this.#routes.placesOf(tableId);
    if (places?.placement.kind !== "column") return;
    const value = branch.fetched(tableId)?.knownValue(id, places.placement.columnId);
    if (value !== undefined) branch.noteHome(tableId, id, places.ofValue(value));
  }

  // ---------------------------------------------------------------- reading

  table(transaction: Transaction, tableId: number): FetchedTable {
    const known = this.#branchOf(transaction);
    // Others may come in between from now on, and the row was read at no snapshot.
    if (known.given !== null && transaction.interruptible) known.forgetAll();
    const definition = assertDefined(this.#catalog.table(tableId), `table ${tableId}`);
    this.#requireFilled(known, tableId);
    return known.table(definition, () => {
      const fetch: MissingRows["fetch"] = (table, wanted) => {
        // The statement runs anew: what it gathers is kept from now on.
        known.keepsIn = transaction.statements;
        throw new RemoteWait((abort, done, failed) => {
          this.#fetches.bulk({ transaction, branch: known, abort }, table, wanted).then(done, failed);
        });
      };
      const miss: MissingRows["miss"] = (table, point, key) => {
        known.keepsIn = transaction.statements;
        const missed = known.missed ??= new MissedPoints(transaction.locks.length);
        if (!missed.note(table, point, key) || !known.isGuessing) throw this.missed(transaction);
      };
      return new FetchedTable(definition, this.rowCount(tableId), { fetch, miss });
    });
  }

  beginAttempt(transaction: Transaction): void {
    const branch = this.#branchOf(transaction);
    if (branch.fetchesIn !== transaction.statements) {
      branch.fetchesIn = transaction.statements;
      // A block of many statements is to be no larger than one: what it needs again it fetches again, at its cut.
      if (branch.bytes > KEPT_BYTES && branch.streams.size === 0) {
        branch.forgetAll();
        transaction.views.clear();
      }
    }
    branch.isGuessing = true;
    branch.missed = null;
  }

  missedCount(transaction: Transaction): number {
    return this.#branches.get(transaction)?.missed?.count ?? 0;
  }

  missed(transaction: Transaction): RemoteWait | null {
    const branch = this.#branches.get(transaction);
    if (branch === undefined) return null;
    const { missed } = branch;
    branch.isGuessing = false;
    branch.missed = null;
    if (missed === null) return null;
    return new RemoteWait((abort, done, failed) => {
      this.#fetches.missed({ transaction, branch, abort }, missed).then((isFound) => {
        // What was locked because something was taken to be missing may have been locked in vain.
        if (isFound && transaction.isOpen) {
          this.#engine.manager.locks.releaseAfter(transaction, missed.locksBefore);
        }
        done();
      }, failed);
    });
  }

  #branchOf(transaction: Transaction): Branch {
    let branch = this.#branches.get(transaction);
    if (branch === undefined) this.#branches.set(transaction, branch = new Branch(this.#nextBranch++));
    return branch;
  }

  /**
   * Columns that were filled after its cut would be empty, and rows that have moved since would be looked for where
   * they were not: the statement has to run at a newer one.
   */
  #requireFilled(branch: Branch, tableId: number): void {
    if (
      branch.begun.size > 0 && this.#changes.isFilled(tableId, branch.cut) || this.#isMoved(branch, tableId)
    ) {
      throw new StaleSnapshot(tableId, null);
    }
  }

  /** Whether the rows of a table have moved to other shards since the cut. */
  #isMoved(branch: Branch, tableId: number): boolean {
    return branch.begun.size > 0 && this.#changes.isMoved(tableId, branch.cut);
  }

  /** Whether a fragment's plan goes by where rows are. */
  #isPlannedFor(branch: Branch, { tables }: Fragment): boolean {
    return tables.every((table) => {
      const now = this.#catalog.table(table.id);
      return !this.#isMoved(branch, table.id) &&
        (now === table || now !== undefined && !movesRows(table, now));
    });
  }

  gather(transaction: Transaction, fragment: Fragment, context: GatherContext): BatchSource {
    return this.#gathers.gather(transaction, fragment, context);
  }

  room(transaction: Transaction): Room {
    return this.#branchOf(transaction).roomIn(transaction.statements);
  }

  stream(transaction: Transaction, fragment: Fragment, context: GatherContext): GatheredStream | null {
    return this.#gathers.stream(transaction, fragment, context);
  }

  fetchAhead(
    point: FragmentPoint,
    { transaction, parameters, settings, abort }: {
      readonly transaction: Transaction | null;
      readonly parameters: readonly SqlValue[];
      readonly settings: Settings;
      readonly abort: AbortSignal;
    },
  ): Promise<AheadRow | null> | null {
    if (transaction !== null) this.heed(transaction, settings);
    const milliseconds = settings.milliseconds("scatter_timeout");
    return this.#ahead.fetch(point, { transaction, parameters, milliseconds, abort });
  }

  give(transaction: Transaction, row: AheadRow): void {
    this.#ahead.give(transaction, row as GivenRow);
  }

  explainGather(
    transaction: Transaction,
    fragment: Fragment,
    parameters: readonly SqlValue[],
  ): GatherExplanation {
    return this.#gathers.explain(transaction, fragment, parameters);
  }

  gatherAlone(
    fragment: Fragment,
    context: GatherContext,
    limits: { readonly abort: AbortSignal; readonly atMost: number },
  ): Promise<AloneRows | null> {
    return this.#gathers.gatherAlone(fragment, context, limits);
  }

  #port(shard: number): ShardPort {
    return assertDefined(this.ports[shard], `shard ${shard}`);
  }

  get #all(): number[] {
    return this.ports.map((_, shard) => shard);
  }

  /** Gives the transaction a snapshot at these shards. */
  async #reach(transaction: Transaction, branch: Branch, shards: readonly number[]): Promise<void> {
    if (shards.every((shard) => branch.begun.has(shard))) return;
    // A block is going to read more: its cut is taken at once. So is that of what one shard cannot answer.
    const isAlone = branch.begun.size === 0 && shards.length === 1 && transaction.isAlone;
    if (isAlone || branch.begun.size === 0) this.#begin(transaction, branch, isAlone ? shards : this.#all);
    else if (!await this.#renew(transaction, branch)) throw changedMeanwhile();
  }

  #begin(transaction: Transaction, branch: Branch, shards: readonly number[]): void {
    if (branch.isLoose) branch.gathered.forget();
    branch.isLoose = false;
    const { given } = branch;
    // What the row's statement is wanting is asked for in the turn in which it got the row.
    assert(given === null || this.#ahead.isNewest(given), "a row of the newest state");
    branch.given = null;
    branch.cut = this.#changes.count;
    for (const shard of shards) {
      if (branch.begun.has(shard)) continue;
      branch.begun.add(shard);
      const { timestamp } = transaction;
      this.#port(shard).tell({ kind: "begin", branch: branch.number, timestamp });
    }
  }

  async advance(transaction: Transaction): Promise<boolean> {
    const branch = this.#branches.get(transaction);
    if (branch === undefined || branch.begun.size === 0) return true;
    // One that only reads has noted nothing.
    if (transaction.neverWrites && transaction.statements > 1) return false;
    await this.#defined();
    return await this.#renew(transaction, branch);
  }

  async #defined(): Promise<void> {
    while (this.#defining.size > 0) await Promise.all(this.#defining);
  }

  /** Moves the transaction to a new cut of all shards, if what it has read is the same there. */
  async #renew(transaction: Transaction, branch: Branch): Promise<boolean> {
    // A portal goes on reading at the cut that it has.
    if (branch.streams.size > 0) return false;
    branch.forgetAll();
    const read = { transaction, branch, reads: this.#remoteReads(transaction) };
    const moved = [...branch.begun].map((shard) => {
      const request = { kind: "advance", branch: branch.number, reads: this.#readsAt(read, shard) } as const;
      return { shard, done: this.#port(shard).call(request).done };
    });
    this.#begin(transaction, branch, this.#all);
    const answers = await this.#asking.within(moved, branch.milliseconds);
    return answers.every((answer) => {
      if (answer.status === "rejected") throw answer.reason;
      return answer.value === true;
    });
  }

  ended(transaction: Transaction): void {
    const branch = this.#branches.get(transaction);
    if (branch === undefined) return;
    this.#branches.delete(transaction);
    for (const stream of branch.streams) stream.close();
    for (const collection of branch.collections.values()) this.#collecting.delete(collection);
    this.#leave(branch);
  }

  /** It reads at no shard any more. */
  #leave(branch: Branch): void {
    for (const shard of branch.begun) this.#port(shard).tellLater({ kind: "end", branch: branch.number });
    branch.begun.clear();
  }

  #remoteReads(transaction: Transaction): ReadPredicate[] {
    return transaction.reads.filter((read) => this.has(read.tableId));
  }

  /** What was read at a shard. */
  #readsAt(
    { transaction, branch, reads }: TransactionReads,
    shard: number,
  ): ReadPredicate[] {
    const isAboveAll = this.isAboveAll.bind(this);
    return reads.filter((read) => {
      // What it has read where the rows were before they moved is compared there.
      const isMoved = branch !== undefined && branch.begun.has(shard) &&
        this.#changes.hasBulk(read.tableId, branch.cut);
      const place = isMoved ? null : this.#routes.ofRead({ transaction, branch, isAboveAll }, read);
      return place === null || place === shard;
    });
  }

  // ---------------------------------------------------------------- commits

  concerns(transaction: Transaction): boolean {
    if (!transaction.hasEffects) return false;
    if (transaction.hasDdl || (this.#branches.get(transaction)?.begun.size ?? 0) > 0) return true;
    for (const tableId of transaction.writtenTables) {
      if (isAtShards(transaction.catalog, tableId)) return true;
    }
    return false;
  }

  async commit(
    transaction: Transaction,
    commitHere: (effects: readonly Effect[]) => Promise<OpNumber>,
  ): Promise<OpNumber> {
    // Others come in between from here on. A row that was fetched ahead is locked: whoever has effects writes it.
    transaction.becomeInterruptible();
    try {
      await this.#runChecks(transaction);
      return await this.#commitChecked(transaction, commitHere);
    } finally {
      this.#engine.manager.end(transaction);
    }
  }

  commitAtOnce(
    transaction: Transaction,
    commitHere: (effects: readonly Effect[]) => OpNumber,
  ): OpNumber | null {
    const { hasDdl, hasBatches, needsNewest, deferred } = transaction;
    if (!this.#isQuiet || hasDdl || hasBatches || needsNewest || !deferred.isEmpty) return null;
    const branch = this.#branches.get(transaction);
    const effects = effectList(transaction.done, false);
    if (effects.some((effect) => effect.kind === "truncate" || !this.#knowsHome(branch, effect))) return null;
    const reads = this.#remoteReads(transaction);
    if (this.#certain.uncertain({ transaction, branch, reads }).length > 0) return null;
    const parted = this.#part(transaction, effects, []);
    const { slices } = parted;
    if (slices.length === 0) return null;
    try {
      requireOpen(transaction);
      // Its own snapshots need not note what it writes.
      if (branch !== undefined) this.#leave(branch);
      return this.commits.commitAtOnce({
        slices,
        append: () => commitHere(this.#entryOf(parted)),
        onSent: (op) => this.#sent(parted, op),
      });
    } finally {
      this.#engine.manager.end(transaction);
    }
  }

  /** Checks that were put off to the commit may read what has not been fetched. */
  async #runChecks(transaction: Transaction): Promise<void> {
    for (;;) {
      this.beginAttempt(transaction);
      let wait: unknown = null;
      try {
        transaction.deferred.run();
      } catch (thrown) {
        wait = thrown;
      }
      wait = this.missed(transaction) ?? wait;
      if (wait === null) return;
      await waitFor(wait);
      requireOpen(transaction);
    }
  }

  async #commitChecked(
    transaction: Transaction,
    commitHere: (effects: readonly Effect[]) => Promise<OpNumber>,
  ): Promise<OpNumber> {
    const effects = effectList(transaction.done, false);
    const moves = await this.#moveRows(transaction);
    await this.#findHomes(transaction, effects);
    const branch = this.#branches.get(transaction);
    const parted = this.#part(transaction, effects, moves);
    const { here, byShard, slices, defines } = parted;
    const reads = this.#certain.uncertain({ transaction, branch, reads: this.#remoteReads(transaction) });
    const readAt = new Map(
      this.#all.map((shard) => [shard, this.#readsAt({ transaction, branch, reads }, shard)]),
    );
    const concerned = this.#all.filter((shard) => byShard.has(shard) || (readAt.get(shard) ?? []).length > 0);
    const first = concerned[0];
    if (first === undefined) return await commitHere(here);
    const parts = new Map(concerned.map((shard): [number, BranchCommit] => [shard, {
      branch: branch?.begun.has(shard) === true ? branch.number : null,
      timestamp: transaction.timestamp,
      reads: readAt.get(shard) ?? [],
      effects: slices.find((slice) => slice.shard === shard)?.effects ?? null,
    }]));
    const isBulk = effects.some(({ kind }) =>
      kind === "ddl" || kind === "truncate" || kind === "create_batch"
    );
    // A shard ends the branch itself.
    for (const shard of concerned) branch?.begun.delete(shard);
    const told = Promise.withResolvers<void>();
    const isTold = (): void => {
      this.#defining.delete(told.promise);
      told.resolve();
    };
    if (isBulk) this.#openBulks++;
    try {
      return await this.commits.commit({
        parts,
        isCertain: reads.length === 0 && this.#openBulks === 0 && !transaction.hasDdl &&
          !transaction.hasBatches,
        milliseconds: branch?.milliseconds ?? 0,
        slices,
        append: () => {
          requireOpen(transaction);
          if (defines) this.#defining.add(told.promise);
          return commitHere(this.#entryOf(parted));
        },
        onSent: (op) => {
          this.#sent(parted, op);
          isTold();
        },
      });
    } finally {
      if (isBulk) this.#openBulks--;
      isTold();
    }
  }

  /** Divides what a transaction has done, when it is known where the rows are. */
  #part(transaction: Transaction, effects: readonly Effect[], moves: readonly RowMoves[]): Parted {
    const catalogs = { before: this.#catalog, after: transaction.catalog };
    const branch = this.#branches.get(transaction);
    const { here, byShard: written, defines } = divide(effects, {
      ...catalogs,
      count: this.count,
      homeOf: (tableId, id) => assertDefined(branch?.homeOf(tableId, id), `the shard of row ${id}`),
    });
    const byShard = moves.length === 0 ? written : inFront(moves, written);
    const slices = Array.from(byShard, ([shard, list]) => ({ shard, effects: encodeEffects(list) }));
    return { ...catalogs, effects, here, byShard, slices, defines };
  }

  /** What is appended. */
  #entryOf({ here, effects, slices }: Parted): Effect[] {
    const own = [...here.map((effect) => this.#newest(effect)), ...this.#newCounters(effects)];
    return slices.length === 0 ? own : [...own, { kind: "slices", slices }];
  }

  /** The entry is on its way to the shards. */
  #sent({ byShard, effects, before, after }: Parted, op: number): void {
    this.#countChanges(byShard);
    this.#engine.machine.countElsewhere(effects);
    for (const collection of this.#collecting) collection.note(effects);
    this.#changes.note({ op, effects, before, after });
  }

  prepareMoves(transaction: Transaction, before: TableDefinition, after: TableDefinition): void {
    if (!movesRows(before, after) || transaction.writtenTo(before.id)?.truncated === true) return;
    const branch = this.#branchOf(transaction);
    const known = branch.collections.get(before.id);
    if (known?.isWhole === true && !known.isVoid && known.definition === before) return;
    throw new RemoteWait((abort, done, failed) => {
      this.#collect(branch, before, abort).then(() => done(), failed);
    });
  }

  /** Reads all rows of a table at a cut of their own. */
  async #collect(branch: Branch, definition: TableDefinition, abort: AbortSignal): Promise<RowCollection> {
    await this.#defined();
    abort.throwIfAborted();
    const collection = new RowCollection(definition);
    const former = branch.collections.get(definition.id);
    if (former !== undefined) this.#collecting.delete(former);
    branch.collections.set(definition.id, collection);
    // What is sent from now on is not seen at the cut.
    this.#collecting.add(collection);
    const isCopied = RowPlaces.of(definition, this.count).isCopied;
    const shards = isCopied ? [0] : this.#all;
    const number = this.#nextBranch++;
    const timestamp = 0;
    for (const shard of shards) this.#port(shard).tell({ kind: "begin", branch: number, timestamp });
    const wanted = { kind: "scan", prune: [] } as const;
    const request = { kind: "fetch", branch: number, tableId: definition.id, wanted } as const;
    try {
      await this.#asking.all(
        shards.map((shard) => ({ shard, request })),
        (rows, shard, isLast) => {
          if (!isLast) collection.parts.push({ from: isCopied ? null : shard, rows: rows as FetchedRows });
        },
        { abort, milliseconds: 0, leavesOut: false },
      );
      collection.isWhole = true;
    } finally {
      for (const shard of shards) this.#port(shard).tell({ kind: "end", branch: number });
    }
    return collection;
  }

  /** What moves the rows of tables whose placement the transaction changes; nobody else writes to them. */
  async #moveRows(transaction: Transaction): Promise<RowMoves[]> {
    if (!transaction.hasDdl) return [];
    const moved: RowMoves[] = [];
    for (const before of this.#catalog.tables) {
      const after = transaction.catalog.table(before.id);
      if (after === undefined || !this.has(before.id) || !movesRows(before, after)) continue;
      const writeSet = transaction.writtenTo(before.id);
      if (writeSet?.truncated === true) continue;
      const branch = this.#branchOf(transaction);
      let collection = branch.collections.get(before.id);
      if (collection === undefined || collection.isVoid || collection.definition !== before) {
        collection = await this.#collect(branch, before, new AbortController().signal);
        requireOpen(transaction);
      }
      const moves = new RowMoves({ before, after }, this.count, (id) => writeSet?.byId.get(id) !== undefined);
      moves.take(collection);
      moved.push(moves);
    }
    return moved;
  }

  /** Whether it is known where a committed row is that the transaction changes. */
  #knowsHome(branch: Branch | undefined, effect: Effect): boolean {
    if (effect.kind !== "update" && effect.kind !== "delete") return true;
    const { tableId, id } = effect;
    if (!this.has(tableId) || this.#routes.placesOf(tableId)?.placement.kind !== "column") return true;
    if (branch === undefined) return false;
    if (branch.homeOf(tableId, id) === undefined) this.#noteHome(branch, tableId, id);
    return branch.homeOf(tableId, id) !== undefined;
  }

  /** Finds out where committed rows are that the transaction changes, if it has not yet. */
  async #findHomes(transaction: Transaction, effects: readonly Effect[]): Promise<void> {
    const isUnknown = (effect: Effect): boolean => !this.#knowsHome(this.#branches.get(transaction), effect);
    const unknown = effects.filter(isUnknown) as Extract<Effect, { readonly kind: "update" | "delete" }>[];
    if (unknown.length === 0) return;
    this.beginAttempt(transaction);
    for (const { tableId, id } of unknown) this.table(transaction, tableId).find(id);
    const wait = this.missed(transaction);
    if (wait !== null) await waitFor(wait);
    requireOpen(transaction);
    if (unknown.some(isUnknown)) throw changedMeanwhile();
  }

  /** What others were given of a sequence since may be in the log already, which must not go back. */
  #newest(effect: Effect): Effect {
    if (effect.kind !== "sequence") return effect;
    return { ...effect, ...this.#engine.machine.newestSequenceValue(effect.sequenceId) };
  }

  /** What says how far the counters of tables are after the effects, whose rows are not in the engine's own tables. */
  #newCounters(effects: readonly Effect[]): Effect[] {
    const { rowCounters } = this.#engine.machine;
    const highest = new Map<number, RowId>();
    const note = (tableId: number, id: RowId): void => {
      if (id > (highest.get(tableId) ?? rowCounters.get(tableId) ?? 0)) highest.set(tableId, id);
    };
    for (const effect of effects) {
      if (effect.kind === "create") note(effect.tableId, effect.id);
      else if (effect.kind === "create_batch") {
        for (const id of effect.batch.ids) note(effect.tableId, id);
      }
    }
    return [...highest].map(([sequenceId, value]) => ({ kind: "sequence", sequenceId, value, called: true }));
  }

  /** Counts what a transaction has done, for plans. */
  #countChanges(byShard: Divided["byShard"]): void {
    for (const [shard, effects] of byShard) {
      for (const effect of effects) {
        switch (effect.kind) {
          case "create":
            this.#figures.count(shard, effect.tableId, 1);
            break;
          case "delete":
            this.#figures.count(shard, effect.tableId, -1);
            break;
          case "create_batch":
            this.#figures.count(shard, effect.tableId, effect.batch.rowCount);
            break;
          case "truncate":
            this.#figures.empty(shard, effect.tableId);
            break;
          case "ddl":
            if (effect.change.kind !== "drop_table") break;
            this.#figures.forget(shard, effect.change.tableId);
            break;
          default:
            break;
        }
      }
    }
  }
}

/** The effects of each shard, those of moves before the others. */
function inFront(moves: readonly RowMoves[], written: Divided["byShard"]): Divided["byShard"] {
  const result = new Map(written);
  for (const { effects } of moves) {
    for (const [shard, list] of effects) result.set(shard, [...list, ...result.get(shard) ?? []]);
  }
  return result;
}

/** Waits for what a check or look-up has to wait for. Raises what is no such signal. */
async function waitFor(thrown: unknown): Promise<void> {
  if (!isRetrySignal(thrown) || thrown.kind !== "outside_wait") throw thrown;
  const never = new AbortController().signal;
  await new Promise<void>((resolve, reject) => thrown.begin(never, resolve, reject));
}

function requireOpen(transaction: Transaction): void {
  if (transaction.isOpen) return;
  throw new DatabaseError(SQLSTATE.adminShutdown, "the session ended before its transaction was committed");
}
