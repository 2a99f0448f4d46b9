/**
 * One shard: a part of the rows of every table, with its own files and snapshots. It knows no SQL, and has no log. The
 * router asks for rows, asks whether a transaction can be committed, and hands over what the entries of its log have
 * for the shard, in their order.
 *
 * What the shard has agreed to is pending until the router says that it is in the log, or given up: nothing that was
 * read of it is agreed to meanwhile. Reading goes on, at snapshots of what was applied. All of that is durable.
 */
import { assertDefined, unreachable } from "../base/assert.ts";
import { decodeUtf8 } from "../base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { crc32c } from "../base/checksum.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import type { GatheredBatch } from "../execution/runtime/execution.ts";
import { NumberMap } from "../base/number_map.ts";
import type { Host } from "../host/host.ts";
import {
  type Effect,
  type OpNumber,
  opNumber,
  type RowId,
  type StoredRow,
  type StoredValue,
} from "../operations/effect.ts";
import { decodeEffects } from "../operations/entry_codec.ts";
import { StateMachine } from "../state_machine/state_machine.ts";
import { BATCH_ROWS, BatchBuilder } from "../transactions/batch_builder.ts";
import { NO_ROW } from "../storage/access/block.ts";
import type { LocationCursor, ReadableTable, ZonePredicate } from "../storage/access/readable_table.ts";
import { Horizon } from "../storage/commit_horizon.ts";
import type { HashedFile } from "../storage/file_hashes.ts";
import type { Manifest } from "../storage/manifest.ts";
import { StorageEngine } from "../storage/storage_engine.ts";
import type { PartLog } from "../storage/storage_parts.ts";
import { batchRow } from "../transactions/batch_values.ts";
import { changedMeanwhile } from "../transactions/conflicts.ts";
import { duplicateId } from "../transactions/duplicates.ts";
import type { IsolationLevel } from "../transactions/isolation_level.ts";
import type { Transaction } from "../transactions/transaction.ts";
import { type PendingPart, TransactionManager } from "../transactions/transaction_manager.ts";
import { storageClassOf } from "../types/physical_type.ts";
import {
  ExchangeEnds,
  type PeerMessage,
  RunningExchanges,
  type SendToPeer,
  TO_ROUTER,
} from "./exchange_ends.ts";
import type { FragmentCode, FragmentTask } from "./fragment_runs.ts";
import { FragmentFiles } from "./fragment_files.ts";
import { ShardFragments } from "./shard_fragments.ts";
import { cursorOfPoints, type Points } from "./points.ts";
import { StopFlags } from "./stop_flags.ts";
import { appendRows, compact, rowAt, wantedRows } from "./row_parts.ts";
import {
  type BranchCommit,
  type ColumnReport,
  type FetchedRows,
  type FragmentRows,
  type FromShard,
  type ShardReply,
  type ShardReport,
  type ShardRequest,
  toRemote,
  type Wanted,
} from "./shard_messages.ts";
import { appendAll } from "../base/append_all.ts";

/** How to open a shard. */
export interface ShardOptions {
  readonly host: Host;
  readonly directory: string;
  readonly blockCacheBytes: number;
  /** Its part of the newest checkpoint; null: there is none. */
  readonly manifest: Manifest | null;
  /** The database is that of a member of a replication group. */
  readonly isMember: boolean;
  /** Opens ways to other shards, and takes what they send; absent: the router passes it on. */
  openPeers?(receive: (message: PeerMessage) => void): SendToPeer;
  /** The memory of the flags by which the router stops what it has asked for. */
  readonly stopFlags: SharedArrayBuffer;
  /** Takes answers, several at a time, in order. */
  send(replies: readonly FromShard[]): void;
  /** Resolves when what was sent is on its way, and no longer in this shard's memory; null, or not given: it is. */
  drained?(): Promise<void> | null;
}

type Request<Kind extends ShardRequest["kind"]> = Extract<ShardRequest, { kind: Kind }>;

/** What the shard has agreed to. */
interface Agreed {
  readonly part: PendingPart;
  readonly effects: readonly Effect[];
  readonly checksum: number;
  readonly created: CreatedIds;
}

/** What was asked for by this call, and may be stopped. */
type Asked = Pick<Request<"run" | "fetch">, "call" | "stop">;

/** How long a fetch reads before others get their turn. */
const SLICE_MICROSECONDS = 2_000;
/** Rows found one by one that travel together. */
const ROWS_IN_A_PART = 1024;

/** See the file's head. */
export class Shard {
  /** Resolves when it has been closed, and has said so. */
  readonly closed: Promise<void>;
  readonly #announceClosed: () => void;
  readonly #options: ShardOptions;
  readonly #storage: StorageEngine<PartLog>;
  readonly #machine: StateMachine;
  readonly manager: TransactionManager;
  readonly #branches = new NumberMap<Transaction>();
  /** What is fetched or run now, by the call that asked. */
  readonly #running = new NumberMap<Asked>();
  /** Of that, what has been stopped. */
  readonly #stopped = new Set<number>();
  readonly #stops: StopFlags;
  readonly #fragments = new ShardFragments();
  readonly #files: FragmentFiles;
  readonly #exchanges = new RunningExchanges();
  #sendToPeer: SendToPeer | null = null;
  /** By the call that runs a fragment with exchanges, or waits for credits of the router. */
  readonly #ends = new Map<number, ExchangeEnds>();
  /** By the call that asked. */
  readonly #agreed = new NumberMap<Agreed>();
  /** Up to which op checkpoints exist. */
  readonly #installed: Horizon;
  /** What has become of the newest checkpoint, until the router asks. */
  #built: Manifest | DatabaseError | null = null;
  /** The call that asks. */
  #builtCall: number | null = null;
  #replies: FromShard[] = [];
  #working: Promise<void> | null = null;
  #hasFailed = false;
  /** Entries of the log that it has applied since it was opened. */
  #entries = 0;

  private constructor(
    options: ShardOptions,
    { storage, machine, manager, installed }: {
      readonly storage: StorageEngine<PartLog>;
      readonly machine: StateMachine;
      readonly manager: TransactionManager;
      readonly installed: Horizon;
    },
  ) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    this.#announceClosed = resolve;
    this.#options = options;
    this.#files = new FragmentFiles(options.host.disk, options.directory);
    this.#stops = new StopFlags(options.stopFlags);
    this.#storage = storage;
    this.#machine = machine;
    this.manager = manager;
    this.#installed = installed;
    storage.log.failed.then((error) => this.#fail(error));
  }

  /** Opens or creates a shard's part of the database. */
  static async open(options: ShardOptions): Promise<Shard> {
    const { host, directory, blockCacheBytes, manifest, isMember } = options;
    const snapshots = { oldestSnapshot: () => 0 as number, hasReaders: () => true };
    const installed = new Horizon(manifest?.op ?? 0);
    // Storage has something to say before the shard is made only if that fails.
    const of = (act: (shard: Shard) => void): void => opened === null ? undefined : act(opened);
    let opened: Shard | null = null;
    const horizon = {
      oldestSnapshot: () => snapshots.oldestSnapshot(),
      hasReaders: () => snapshots.hasReaders(),
    };
    const member = {
      horizon: installed,
      replayTo: installed.durableOp,
      onDamage: (file: HashedFile) => of((shard) => shard.#reply({ damage: file })),
    };
    const storage = await StorageEngine.openPart(
      { host, directory, blockCacheBytes, horizon, ...(isMember ? { member } : {}) },
      {
        manifest,
        installed,
        onBuilt: (built) => of((shard) => shard.#onBuilt(built)),
        onUnbuilt: (error) => of((shard) => shard.#onBuilt(error)),
      },
    );
    const machine = StateMachine.recover(storage);
    const manager = new TransactionManager(machine, () => host.clock.now());
    manager.notesColumns = false;
    snapshots.oldestSnapshot = () => manager.oldestSnapshot();
    snapshots.hasReaders = () => manager.hasReaders();
    const shard = new Shard(options, { storage, machine, manager, installed });
    opened = shard;
    shard.#startWork();
    return shard;
  }

  /** Takes messages of the router, in order. */
  receive(requests: readonly ShardRequest[]): void {
    for (const request of requests) {
      try {
        this.#take(request);
      } catch (error) {
        if (!(error instanceof DatabaseError) || !("call" in request)) this.#fail(error);
        if ("call" in request) this.#answer(request.call, null, error);
      }
    }
  }

  #take(request: ShardRequest): void {
    switch (request.kind) {
      case "begin": {
        const { branch, timestamp } = request;
        this.#branches.set(branch, this.manager.begin({ interruptible: true, timestamp }));
        return;
      }
      case "end":
        this.#end(request.branch);
        return;
      case "fetch":
        if (isOneRow(request.wanted)) this.#fetchRow(request, request.wanted.ids[0] as RowId);
        else void this.#fetch(request);
        return;
      case "run":
        this.#run(request);
        return;
      case "peer":
        this.#exchanges.receive(request.message);
        return;
      case "credit": {
        const ends = this.#ends.get(request.call);
        ends?.receive({ run: 0, edge: TO_ROUTER, from: ends.routerPlace, batch: null, isLast: false });
        return;
      }
      case "stop":
        // What has ended meanwhile would never be forgotten.
        if (this.#running.get(request.call) !== undefined) this.#stopped.add(request.call);
        this.#ends.get(request.call)?.wake();
        return;
      case "advance": {
        const transaction = this.#branch(request.branch);
        transaction.keepReads(0);
        transaction.reads.push(...request.reads);
        this.#answer(request.call, this.manager.advanceSnapshot(transaction));
        return;
      }
      case "agree":
        this.#agree(request.call, request.commit, true);
        this.#answer(request.call, true);
        return;
      case "keep":
        this.#agree(request.number, request.commit, false);
        return;
      case "give_up": {
        const known = this.#agreed.get(request.agreed);
        // The router did not wait for the answer, which was no.
        if (known === undefined) return;
        this.#agreed.delete(request.agreed);
        this.manager.giveUp(known.part);
        return;
      }
      case "apply":
        this.#apply(request);
        return;
      case "columns":
        this.#answer(request.call, this.#columns(request.tableId));
        return;
      case "report":
        this.#answer(request.call, this.#report());
        return;
      case "checkpoint":
        this.#beginCheckpoint(request.op);
        return;
      case "built":
        this.#builtCall = request.call;
        if (this.#built instanceof DatabaseError) {
          this.#built = null;
          this.#storage.retryCheckpoint();
          this.#startWork();
        } else if (this.#built !== null) this.#onBuilt(this.#built);
        return;
      case "installed":
        this.#installed.advance(request.op);
        this.#startWork();
        return;
      case "repaired":
        this.#storage.repaired();
        this.#startWork();
        return;
      case "close":
        void this.#answerAfter(request.call, this.#close()).then(() => queueMicrotask(this.#announceClosed));
        return;
      default:
        unreachable(request);
    }
  }

  // ---------------------------------------------------------------- commits

  /** Raises 40001 when something has come in the way, if that is not certain not to be. */
  #agree(
    number: number,
    { branch, timestamp, level, reads, effects: bytes }: BranchCommit,
    looks: boolean,
  ): void {
    const transaction = branch === null
      ? this.manager.begin({ interruptible: true, timestamp })
      : this.#branch(branch);
    if (branch !== null) this.#branches.delete(branch);
    let isKept = false;
    try {
      transaction.keepReads(0);
      appendAll(transaction.reads, reads);
      if (looks) this.manager.validate(transaction);
      const effects = bytes === null ? [] : decodeEffects(bytes);
      if (looks) this.#requireNewIds(effects, level);
      if (bytes !== null) {
        const created = new CreatedIds(effects);
        for (const [, each] of looks ? this.#agreed.entries() : []) {
          if (each.created.mayMeet(created)) throw changedMeanwhile();
        }
        const part = this.manager.keep(transaction, effects);
        this.#agreed.set(number, { part, effects, checksum: crc32c(bytes), created });
        isKept = true;
      }
    } finally {
      if (!isKept) this.manager.end(transaction);
    }
  }

  /** Ids that a transaction gives to new rows may have been taken since it looked, and before it had locked them. */
  #requireNewIds(effects: readonly Effect[], level: IsolationLevel): void {
    const emptied = new Set<number>();
    for (const effect of effects) {
      if (effect.kind === "truncate") emptied.add(effect.tableId);
      else if ("tableId" in effect && emptied.has(effect.tableId)) continue;
      else if (effect.kind === "create") this.#requireNewId(effect.tableId, effect.id, level);
      else if (effect.kind === "create_batch") {
        const { tableId, batch } = effect;
        for (let row = 0; row < batch.rowCount; row++) {
          this.#requireNewId(tableId, batch.ids[row] as number, level);
        }
      }
    }
  }

  #requireNewId(tableId: number, id: RowId, level: IsolationLevel): void {
    const { catalog, rowCounters, lastOp } = this.#machine;
    const table = catalog.table(tableId);
    if (id > (rowCounters.get(tableId) ?? 0) && id > 0 || table === undefined) return;
    if (this.#machine.store(tableId).find(id, lastOp) === NO_ROW) return;
    throw level === "serializable" ? changedMeanwhile() : duplicateId(table, id);
  }

  #apply({ op, timestamp, agreed, effects }: Request<"apply">): void {
    const known = agreed === null ? null : assertDefined(this.#agreed.get(agreed), "what was agreed to");
    if (agreed !== null) this.#agreed.delete(agreed);
    const part = known ??
      (effects === null ? null : { effects: decodeEffects(effects), checksum: crc32c(effects) });
    this.manager.applyPart(opNumber(op), timestamp, part, known?.part ?? null);
    this.#storage.log.advance(op);
    this.#entries++;
    this.#startWork();
  }

  // ---------------------------------------------------------------- reads

  #branch(branch: number): Transaction {
    return assertDefined(this.#branches.get(branch), `branch ${branch}`);
  }

  /** null: the newest state. */
  #snapshotOf(branch: number | null): OpNumber {
    return branch === null ? this.#machine.lastOp : this.#branch(branch).snapshot;
  }

  #end(branch: number): void {
    const transaction = this.#branches.get(branch);
    this.#branches.delete(branch);
    if (transaction !== undefined) this.manager.end(transaction);
  }

  #fetchRow({ call, branch, tableId }: Request<"fetch">, id: RowId): void {
    const table = this.#machine.catalog.table(tableId);
    const reader = table === undefined ? null : this.#machine.store(tableId).at(this.#snapshotOf(branch));
    const location = reader?.find(id) ?? NO_ROW;
    const rows: FetchedRows | null = table === undefined || reader === null || location === NO_ROW
      ? null
      : { kind: "rows", ids: [id], rows: [rowAt(reader, table, location)] };
    this.#answer(call, rows);
  }

  async #fetch(request: Request<"fetch">): Promise<void> {
    const { call, branch, tableId, wanted } = request;
    this.#running.set(call, request);
    try {
      const snapshot = this.#snapshotOf(branch);
      const table = this.#machine.catalog.table(tableId);
      if (table !== undefined) {
        const reader = this.#machine.store(tableId).at(snapshot);
        switch (wanted.kind) {
          case "points":
            await this.#cursor(request, table, reader, cursorOfPoints(reader, wanted));
            break;
          case "id_range":
            await this.#cursor(request, table, reader, reader.findRange(wanted.bounds));
            break;
          case "range":
            await this.#cursor(request, table, reader, reader.range(wanted.indexId, wanted.bounds));
            break;
          case "count":
            this.#part(call, { kind: "count", count: await this.#count(request, table, reader) });
            break;
          case "scan":
            await this.#scan(request, table, reader, wanted.prune);
            break;
        }
      }
      this.#answer(call, null);
    } catch (error) {
      this.#answer(call, null, error);
    } finally {
      this.#ended(call);
    }
  }

  #run(request: Request<"run">): void {
    const { call, exchange } = request;
    if (exchange !== null) this.#exchanges.begin(exchange.run, this.#openEnds(request));
    const snapshot = this.#snapshotOf(request.branch);
    const code = this.#fragments.code(request, this.#machine.catalog);
    this.#running.set(call, request);
    if (!(code instanceof Promise)) void this.#runCode(code, request, snapshot);
    else {
      // Nobody else keeps the rows of the snapshot until the code is there.
      const keeper = request.branch === null ? this.manager.begin({ interruptible: true }) : null;
      code.then(
        (loaded) => this.#runCode(loaded, request, snapshot),
        (error: unknown) => {
          this.#closeEnds(request);
          this.#ended(call);
          this.#answer(call, null, error);
        },
      ).finally(() => keeper === null || this.manager.end(keeper));
    }
  }

  /** The ways on which the rows of a run leave. */
  #openEnds({ call, exchange, credits }: Request<"run">): ExchangeEnds {
    const { run, count, place } = exchange ?? { run: 0, count: 0, place: -1 };
    const toRouter = (batch: GatheredBatch): void =>
      this.#reply({ call, isLast: false, value: batch as FragmentRows, error: null });
    const peers = exchange === null
      ? null
      : this.#sendToPeer ??= this.#options.openPeers?.((message) => this.#exchanges.receive(message)) ??
        ((to, message) => this.#reply({ to, message }));
    const send: SendToPeer = (to, message) => {
      if (to === count) toRouter(assertDefined(message.batch ?? undefined, "rows for the router"));
      else peers?.(to, message);
    };
    const ends = new ExchangeEnds({ run, count, place }, send, credits ?? Infinity);
    this.#ends.set(call, ends);
    return ends;
  }

  /** What is short is answered in the same turn. */
  async #runCode(code: FragmentCode, request: Request<"run">, snapshot: OpNumber): Promise<void> {
    const { call, branch, parameters, session, notesReads, memoryLimitBytes } = request;
    // What ends in the same turn needs no one to keep its snapshot.
    let keeper: Transaction | null = null;
    let ends = this.#ends.get(call) ?? null;
    const passes = request.exchange?.passes ?? 1;
    const files = this.#files.forRun();
    try {
      const execution = code.start({
        parameters,
        session,
        notesReads,
        memoryLimitBytes,
        ...files.given,
        catalog: this.#machine.catalog,
        table: (tableId) => this.#machine.store(tableId).at(snapshot),
        monotonic: () => this.#options.host.clock.monotonic(),
        send: (batch) => {
          ends ??= this.#openEnds(request);
          if (!ends.mayStillSend(TO_ROUTER, ends.routerPlace)) return false;
          const rows: FragmentRows = { ...batch, reads: execution.takeReads() };
          return ends.send(TO_ROUTER, ends.routerPlace, rows, false);
        },
        ends,
        passes,
        checkWanted: () => this.#requireWanted(request),
      });
      for (let pass = 0; pass < passes; pass++) {
        const open = execution.tasks(pass).filter((task) => !task.step());
        if (open.length === 0) continue;
        if (branch === null) keeper ??= this.manager.begin({ interruptible: true });
        await this.#finish(request, open, () => ends);
      }
      this.#answer(call, { ...execution.rest(), reads: execution.takeReads() });
    } catch (error) {
      this.#answer(call, null, error);
    } finally {
      files.close();
      this.#closeEnds(request);
      this.#ended(call);
      if (keeper !== null) this.manager.end(keeper);
    }
  }

  #closeEnds({ call, exchange }: Request<"run">): void {
    this.#ends.delete(call);
    if (exchange !== null) this.#exchanges.end(exchange.run);
  }

  /** Works through the tasks in turn until all are done; sleeps while each of them waits for others. */
  async #finish(asked: Asked, tasks: FragmentTask[], endsNow: () => ExchangeEnds | null): Promise<void> {
    let end = this.#sliceEnd();
    while (tasks.length > 0) {
      const changes = endsNow()?.changes ?? 0;
      const open = [];
      for (const task of tasks) {
        if (!task.step()) open.push(task);
        end = await this.#turn(asked, end);
      }
      tasks = open;
      const ends = endsNow();
      if (ends === null || open.length === 0 || !open.every(({ isWaiting }) => isWaiting)) continue;
      await ends.changed(changes);
      this.#requireWanted(asked);
      end = this.#sliceEnd();
    }
  }

  async #cursor(
    asked: Asked,
    table: TableDefinition,
    reader: ReadableTable,
    cursor: LocationCursor,
  ): Promise<void> {
    let ids: RowId[] = [], rows: StoredRow[] = [];
    let end = this.#sliceEnd();
    for (let location = cursor.next(); location !== NO_ROW; location = cursor.next()) {
      ids.push(reader.idAt(location));
      rows.push(rowAt(reader, table, location));
      if (rows.length < ROWS_IN_A_PART) continue;
      this.#rows(asked.call, ids, rows);
      ids = [];
      rows = [];
      end = await this.#turn(asked, end);
    }
    if (rows.length > 0) this.#rows(asked.call, ids, rows);
  }

  async #count(asked: Asked, table: TableDefinition, reader: ReadableTable): Promise<number> {
    const known = reader.exactRowCount();
    if (known !== undefined) return known;
    let count = 0, end = this.#sliceEnd();
    const cursor = reader.scan([], { ids: false, prune: [] });
    for (let block = cursor.next(); block !== null; block = cursor.next()) {
      count += wantedRows(table, block, [], []).length;
      end = await this.#turn(asked, end);
    }
    return count;
  }

  async #scan(
    asked: Asked,
    table: TableDefinition,
    reader: ReadableTable,
    prune: readonly ZonePredicate[],
  ): Promise<void> {
    const decoders = table.columns.map(({ type }) =>
      storageClassOf(type) === "text"
        ? (bytes: Uint8Array): StoredValue => decodeUtf8(bytes)
        : (bytes: Uint8Array): StoredValue => bytes
    );
    const builder = new BatchBuilder(table);
    let ids: RowId[] = [];
    const flush = (): void => {
      if (ids.length === 0) return;
      const batch = compact(builder.take(Float64Array.from(ids, Number)));
      if (ids.every((id) => typeof id === "number")) this.#part(asked.call, { kind: "batch", batch });
      else this.#rows(asked.call, ids, Array.from(ids, (_, row) => batchRow(batch, row)));
      ids = [];
    };
    const columnIds = table.columns.map((column) => column.id);
    const cursor = reader.scan(columnIds, { ids: true, prune });
    let end = this.#sliceEnd();
    for (let block = cursor.next(); block !== null; block = cursor.next()) {
      const rows = wantedRows(table, block, prune, decoders);
      if (builder.isFull || builder.rowCount + rows.length > BATCH_ROWS) flush();
      appendRows(builder, ids, block, rows);
      end = await this.#turn(asked, end);
    }
    flush();
  }

  #sliceEnd(): number {
    return this.#options.host.clock.monotonic() + SLICE_MICROSECONDS;
  }

  /** Lets others have their turn when it is time. Raises 57014 when nobody waits for the fetch any more. */
  async #turn(asked: Asked, end: number): Promise<number> {
    // Others' turn may take long: rows come, and a collection ends there.
    this.#requireWanted(asked);
    const { clock, timers } = this.#options.host;
    const full = this.#options.drained?.() ?? null;
    if (full !== null) await full;
    else if (clock.monotonic() < end) return end;
    else await timers.yieldToLoop();
    this.#requireWanted(asked);
    return this.#sliceEnd();
  }

  #ended(call: number): void {
    this.#running.delete(call);
    this.#stopped.delete(call);
  }

  #requireWanted({ call, stop }: Asked): void {
    if (!this.#stops.isStopped(stop) && !this.#stopped.has(call)) return;
    throw new DatabaseError(SQLSTATE.queryCanceled, "canceling statement due to user request");
  }

  #rows(call: number, ids: readonly RowId[], rows: readonly StoredRow[]): void {
    this.#part(call, { kind: "rows", ids, rows });
  }

  #part(call: number, value: FetchedRows): void {
    this.#reply({ call, isLast: false, value, error: null });
  }

  // ---------------------------------------------------------------- answers

  #answer(call: number, value: ShardReply["value"], error: unknown = null): void {
    this.#reply({ call, isLast: true, value, error: error === null ? null : toRemote(error) });
  }

  async #answerAfter(call: number, done: Promise<void>, value: ShardReply["value"] = true): Promise<void> {
    try {
      await done;
      this.#answer(call, value);
    } catch (error) {
      this.#answer(call, null, error);
    }
  }

  #reply(reply: FromShard): void {
    if (this.#replies.push(reply) > 1) return;
    queueMicrotask(() => {
      const replies = this.#replies;
      this.#replies = [];
      this.#options.send(replies);
    });
  }

  #fail(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#reply({ failure: toRemote(error) });
  }

  // ---------------------------------------------------------------- upkeep

  #columns(tableId: number): ColumnReport[] {
    const { catalog } = this.#machine;
    const table = catalog.table(tableId);
    if (table === undefined) return [];
    const store = this.#machine.store(tableId);
    return table.columns.flatMap(({ id: columnId }) => {
      const statistics = store.statistics(columnId);
      if (statistics === undefined) return [];
      const registers = store.sketch(columnId)?.registers ?? null;
      return [{ columnId, rows: store.rowCount, ...statistics, registers }];
    });
  }

  #report(): ShardReport {
    const { catalog, lastOp } = this.#machine;
    const tables = catalog.tables.map(({ id }) => {
      const { rowCount: rows, bytes } = this.#machine.store(id);
      return { id, rows, bytes };
    });
    return { op: lastOp, entries: this.#entries, digest: this.#machine.digest(), tables };
  }

  #beginCheckpoint(op: number): void {
    this.manager.applyPart(opNumber(op), 0, null, null);
    this.#storage.log.advance(op);
    this.#built = null;
    this.#storage.beginCheckpoint(opNumber(op), () => this.#machine.encodeState());
    this.#startWork();
  }

  #onBuilt(built: Manifest | DatabaseError): void {
    this.#built = built;
    const call = this.#builtCall;
    if (call === null) return;
    this.#builtCall = null;
    if (built instanceof DatabaseError) this.#answer(call, null, built);
    else this.#answer(call, built);
  }

  async #close(): Promise<void> {
    for (const [branch] of this.#branches.entries()) this.#end(branch);
    await this.#working;
    await this.#storage.close();
  }

  /** Runs flush and compaction in slices between other work, until none is left. */
  #startWork(): void {
    if (this.#working !== null || !this.#storage.hasWork) return;
    this.#working = this.#work().finally(() => {
      this.#working = null;
    });
  }

  async #work(): Promise<void> {
    while (this.#storage.hasWork && !this.#hasFailed) {
      await this.#storage.work(1_000);
      await this.#options.host.timers.yieldToLoop();
    }
  }
}

/** Whether one row is wanted by its id, and nothing else. */
function isOneRow(wanted: Wanted): wanted is Points {
  return wanted.kind === "points" && wanted.ids.length === 1 && wanted.lookups.length === 0 &&
    wanted.ranges.length === 0;
}

/** Ids of rows that a commit creates. */
class CreatedIds {
  /** By table. */
  readonly #ids = new Map<number, Set<RowId>>();
  readonly #ranges = new Map<number, { readonly low: number; readonly high: number }[]>();

  constructor(effects: readonly Effect[]) {
    for (const effect of effects) {
      if (effect.kind === "create") {
        const ids = this.#ids.get(effect.tableId);
        if (ids === undefined) this.#ids.set(effect.tableId, new Set([effect.id]));
        else ids.add(effect.id);
      } else if (effect.kind === "create_batch") {
        let low = Infinity, high = -Infinity;
        for (const id of effect.batch.ids) {
          low = Math.min(low, id);
          high = Math.max(high, id);
        }
        const ranges = this.#ranges.get(effect.tableId) ?? [];
        this.#ranges.set(effect.tableId, [...ranges, { low, high }]);
      }
    }
  }

  /** Whether both may create the same row; rows of bulk loads count as ranges. */
  mayMeet(other: CreatedIds): boolean {
    return this.#meets(other) || other.#ranges.size > 0 && other.#meets(this);
  }

  #meets(other: CreatedIds): boolean {
    const [ids, others] = [other.#ids, other.#ranges];
    for (const [tableId, own] of this.#ids) {
      for (const id of ids.get(tableId) ?? []) if (own.has(id)) return true;
    }
    for (const [tableId, ranges] of this.#ranges) {
      for (const { low, high } of ranges) {
        for (const id of ids.get(tableId) ?? []) if (id >= low && id <= high) return true;
        for (const range of others.get(tableId) ?? []) {
          if (range.low <= high && low <= range.high) return true;
        }
      }
    }
    return false;
  }
}
