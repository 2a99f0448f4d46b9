/**
 * The shards of a database as its engine sees them. The engine runs statements as always; rows that it has not fetched
 * stop a statement until they have come, and what a transaction has written goes to the shards when it commits.
 *
 * *Cuts*, the states at which transactions read, are in `cuts.ts`.
 *
 * *Commits* are entries of the engine's log, with a part for each shard concerned: see `shard_commits.ts`.
 */
import { assertDefined } from "../base/assert.ts";
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
import type { KeptKey, LookedAt } from "../transactions/remote_tables.ts";
import type { ReadPredicate } from "../transactions/read_set.ts";
import { isRetrySignal, RemoteWait } from "../transactions/signals.ts";
import { changedMeanwhile } from "../transactions/conflicts.ts";
import type { Transaction } from "../transactions/transaction.ts";
import { keyColumns, keyText } from "../transactions/stored_key.ts";
import { effectList } from "../transactions/transaction_effects.ts";
import type { BatchSource, GatherExplanation } from "../execution/runtime/execution.ts";
import type { Fragment, FragmentPoint, PlannedStatement } from "../sql/plan/plan.ts";
import type { Room } from "../sql/fragments/join_places.ts";
import type { SqlValue } from "../types/value.ts";
import { Asking } from "./asking.ts";
import type { Branch, GivenRow } from "./branch.ts";
import { CertainReads, type TransactionReads } from "./certain_reads.ts";
import { CommittedChanges } from "./committed_changes.ts";
import { Cuts } from "./cuts.ts";
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
  readonly #asking: Asking;
  readonly #cuts: Cuts;
  readonly #gathers: Gathers;
  readonly #fetches: Fetches;
  readonly #ahead: RowsAhead;
  readonly #certain: CertainReads;
  readonly #figures: ShardFigures;
  readonly #routes: Routes;
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
    this.#cuts = new Cuts({
      ports: this.ports,
      changes: this.#changes,
      asking: this.#asking,
      catalog: () => this.#catalog,
      defined,
      readsAt: (transaction, branch, shards) => {
        const read = { transaction, branch, reads: this.#remoteReads(transaction) };
        return new Map(shards.map((shard) => [shard, this.#readsAt(read, shard)]));
      },
      isNewest: (given) => this.#ahead.isNewest(given),
    });
    const reach: FetchingRouter["reach"] = (...args) => this.#cuts.reach(...args);
    this.#fetches = new Fetches({
      routes: this.#routes,
      asking: this.#asking,
      defined,
      reach,
      isMoved: (branch, tableId) => this.#cuts.isMoved(branch, tableId),
    });
    const monotonic = (): number => host.clock.monotonic();
    const commits = (): number => this.#changes.count;
    this.#gathers = new Gathers({
      count: this.count,
      routes: this.#routes,
      fragments: new Fragments({ asking: this.#asking, inquiries }, this.ports, monotonic),
      commits,
      monotonic,
      branchOf: (transaction) => this.#cuts.of(transaction),
      defined,
      requireFilled: (branch, tableId) => this.#cuts.requireFilled(branch, tableId),
      isPlannedFor: (branch, fragment) => this.#cuts.isPlannedFor(branch, fragment),
      mayRunAnew: (transaction, error) => {
        const mayGoOn = transaction.seesAnew && isLost(error);
        if (mayGoOn) this.#cuts.leave(transaction, this.#cuts.of(transaction));
        return mayGoOn;
      },
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
      branchOf: (transaction) => this.#cuts.of(transaction),
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
    this.#cuts.of(transaction).milliseconds = settings.milliseconds("scatter_timeout");
  }

  concern(planned: PlannedStatement): boolean {
    return planned.tableIds.some((id) => this.has(id)) || this.#figures.areIn(planned);
  }

  statuses(transaction: Transaction | null): readonly ShardStatus[] {
    if (transaction === null) {
      // The next one to look sees what they are now. A shard that fails ends the engine by itself.
      this.learn().catch(() => {});
    } else {
      const branch = this.#cuts.of(transaction);
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
    const branch = this.#cuts.known(transaction);
    if (branch === undefined) return false;
    this.#noteHome(branch, tableId, id);
    return this.#cuts.changedSince(transaction, branch, tableId, id);
  }

  hasFetched(transaction: Transaction, tableId: number, id: RowId): boolean {
    return this.#cuts.known(transaction)?.fetched(tableId)?.has(id) === true;
  }

  knownValue(
    transaction: Transaction,
    tableId: number,
    id: RowId,
    columnId: number,
  ): StoredValue | undefined {
    return this.#cuts.known(transaction)?.fetched(tableId)?.knownValue(id, columnId);
  }

  keepsKey(transaction: Transaction, { table, index, key, id }: KeptKey): boolean {
    if (this.#cuts.known(transaction)?.fetched(table.id)?.definition !== table) return false;
    const columns = keyColumns(table, index);
    const held = columns.map((column) => this.knownValue(transaction, table.id, id, column.id));
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
    const branch = this.#cuts.of(transaction);
    // Others may come in between from now on, and the row was read at no snapshot.
    if (branch.given !== null && transaction.interruptible) branch.forgetAll();
    return this.#tableAt(transaction, branch, tableId);
  }

  newestTable(transaction: Transaction, tableId: number): FetchedTable {
    return this.#tableAt(transaction, this.#cuts.newestOf(transaction), tableId);
  }

  requireNewest(transaction: Transaction, table: TableDefinition, looked: LookedAt | null): void {
    this.#cuts.requireNewest(transaction, table, looked);
  }

  isWrittenSince(transaction: Transaction, tableId: number): boolean {
    return this.#cuts.isWrittenSince(transaction, tableId);
  }

  beginStatement(transaction: Transaction): void {
    this.#cuts.beginStatement(transaction);
  }

  takeCut(transaction: Transaction): void {
    this.#cuts.take(transaction);
  }

  #tableAt(transaction: Transaction, known: Branch, tableId: number): FetchedTable {
    const main = this.#cuts.of(transaction);
    const definition = assertDefined(this.#catalog.table(tableId), `table ${tableId}`);
    this.#cuts.requireFilled(known, tableId);
    return known.table(definition, () => {
      const fetch: MissingRows["fetch"] = (table, wanted) => {
        // The statement runs anew: what it gathers is kept from now on.
        main.keepsIn = transaction.statements;
        throw new RemoteWait((abort, done, failed) => {
          this.#fetches.bulk({ transaction, branch: known, abort }, table, wanted).then(done, failed);
        });
      };
      const miss: MissingRows["miss"] = (table, point, key) => {
        main.keepsIn = transaction.statements;
        const missed = known.missed ??= new MissedPoints(transaction.locks.length);
        if (!missed.note(table, point, key) || !known.isGuessing) throw this.missed(transaction);
      };
      return new FetchedTable(definition, this.rowCount(tableId), { fetch, miss });
    });
  }

  beginAttempt(transaction: Transaction): void {
    const branch = this.#cuts.of(transaction);
    if (branch.fetchesIn !== transaction.statements) {
      branch.fetchesIn = transaction.statements;
      // A block of many statements is to be no larger than one: what it needs again it fetches again, at its cut.
      if (branch.bytes > KEPT_BYTES && branch.streams.size === 0) {
        branch.forgetAll();
        transaction.views.clear();
      }
    }
    for (const each of branch.all) {
      each.isGuessing = true;
      each.missed = null;
    }
  }

  missedCount(transaction: Transaction): number {
    const branch = this.#cuts.known(transaction);
    return (branch?.missed?.count ?? 0) + (branch?.newest?.missed?.count ?? 0);
  }

  missed(transaction: Transaction): RemoteWait | null {
    const branch = this.#cuts.known(transaction);
    if (branch === undefined) return null;
    const fetching: ((abort: AbortSignal) => Promise<void>)[] = [];
    for (const each of branch.all) {
      const { missed } = each;
      each.isGuessing = false;
      each.missed = null;
      if (missed === null) continue;
      fetching.push(async (abort) => {
        const isFound = await this.#fetches.missed({ transaction, branch: each, abort }, missed);
        // What was locked because something was taken to be missing may have been locked in vain.
        if (!isFound || !transaction.isOpen) return;
        this.#engine.manager.locks.releaseAfter(transaction, missed.locksBefore);
      });
    }
    if (fetching.length === 0) return null;
    return new RemoteWait((abort, done, failed) => {
      Promise.all(fetching.map((fetch) => fetch(abort))).then(() => done(), failed);
    });
  }

  gather(transaction: Transaction, fragment: Fragment, context: GatherContext): BatchSource {
    return this.#gathers.gather(transaction, fragment, context);
  }

  room(transaction: Transaction): Room {
    return this.#cuts.of(transaction).roomIn(transaction.statements);
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
    if (transaction !== null) {
      this.heed(transaction, settings);
      this.#cuts.beginStatement(transaction, transaction.statements + 1);
    }
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

  advance(transaction: Transaction): Promise<boolean> {
    return this.#cuts.advance(transaction);
  }

  async #defined(): Promise<void> {
    while (this.#defining.size > 0) await Promise.all(this.#defining);
  }

  ended(transaction: Transaction): void {
    for (const collection of this.#cuts.known(transaction)?.collections.values() ?? []) {
      this.#collecting.delete(collection);
    }
    this.#cuts.ended(transaction);
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
    if (transaction.hasDdl || (this.#cuts.known(transaction)?.begun.size ?? 0) > 0) return true;
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
      for (;;) {
        await this.#runChecks(transaction);
        try {
          return await this.#commitChecked(transaction, commitHere);
        } catch (error) {
          // READ COMMITTED relies on nothing but what its checks have read, and they may read it again.
          if (!transaction.seesAnew || !isLost(error)) throw error;
          requireOpen(transaction);
          transaction.keepReads(0);
          transaction.deferred.repeat();
        }
      }
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
    const branch = this.#cuts.known(transaction);
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
      if (branch !== undefined) this.#cuts.end(branch);
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
    if (transaction.level !== "serializable" && !transaction.deferred.isEmpty) {
      await this.#cuts.renewForChecks(transaction);
      transaction.notesChecks = true;
    }
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
    const branch = this.#cuts.known(transaction);
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
      level: transaction.level,
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
        isCertain: reads.length === 0 && !transaction.hasDdl && !transaction.hasBatches &&
          (this.#openBulks === 0 || transaction.level !== "serializable"),
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
    const branch = this.#cuts.known(transaction);
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
    const branch = this.#cuts.of(transaction);
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
    const number = this.#cuts.newNumber();
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
      const branch = this.#cuts.of(transaction);
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
    const isUnknown = (effect: Effect): boolean => !this.#knowsHome(this.#cuts.known(transaction), effect);
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

function isLost(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === SQLSTATE.serializationFailure;
}

function requireOpen(transaction: Transaction): void {
  if (transaction.isOpen) return;
  throw new DatabaseError(SQLSTATE.adminShutdown, "the session ended before its transaction was committed");
}
