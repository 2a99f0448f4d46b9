/**
 * One shard: a part of the rows of every table, with its own log, files and snapshots. It knows no SQL. The router asks
 * for rows and hands over effects.
 *
 * Requests that commit are worked through one after the other, in the order in which they came. One that is prepared
 * has shown that it can be carried out, and nothing else is committed here until it is decided; so a transaction over
 * several shards has the same place in the order of each of them: that in which the router has asked. Reading goes on
 * meanwhile, at snapshots before it.
 */
import { assert, assertDefined, unreachable } from "../base/assert.ts";
import { decodeUtf8 } from "../base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import type { Host } from "../host/host.ts";
import type { ClientRequest, Effect, OpNumber, RowId, StoredRow, StoredValue } from "../operations/effect.ts";
import { decodeEffects } from "../operations/entry_codec.ts";
import { StateMachine } from "../state_machine/state_machine.ts";
import { BATCH_ROWS, BatchBuilder } from "../statements/copy/batch_builder.ts";
import { NO_ROW } from "../storage/access/block.ts";
import type { LocationCursor, ReadableTable, ZonePredicate } from "../storage/access/readable_table.ts";
import { StorageEngine } from "../storage/storage_engine.ts";
import { batchRow } from "../transactions/batch_values.ts";
import type { Transaction } from "../transactions/transaction.ts";
import { TransactionManager } from "../transactions/transaction_manager.ts";
import { storageClassOf } from "../types/physical_type.ts";
import { appendRows, compact, rowAt, wantedRows } from "./row_parts.ts";
import {
  type BranchCommit,
  type FetchedRows,
  type ShardFailure,
  type ShardReply,
  type ShardReport,
  type ShardRequest,
  toRemote,
} from "./shard_messages.ts";

/** How to open a shard. */
export interface ShardOptions {
  readonly host: Host;
  readonly directory: string;
  readonly blockCacheBytes: number;
  readonly checkpointLogBytes: number;
  /** Takes answers, several at a time, in order. */
  send(replies: readonly (ShardReply | ShardFailure)[]): void;
}

type Request<Kind extends ShardRequest["kind"]> = Extract<ShardRequest, { kind: Kind }>;
type Committing = Request<"commit"> | Request<"prepare"> | Request<"redo">;

/** What waits for its decision. */
interface Prepared {
  readonly call: number;
  readonly transaction: Transaction;
  readonly effects: readonly Effect[];
}

/** The router's name in a shard's table of clients: its sequence is the newest epoch. */
const ROUTER = "00000000000000000000000000000001";
const NO_BYTES = new Uint8Array(0);
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
  readonly #storage: StorageEngine;
  readonly #machine: StateMachine;
  readonly manager: TransactionManager;
  readonly #branches = new Map<number, Transaction>();
  readonly #stopped = new Set<number>();
  readonly #waiting: Committing[] = [];
  #prepared: Prepared | null = null;
  #replies: (ShardReply | ShardFailure)[] = [];
  #working: Promise<void> | null = null;
  #hasFailed = false;

  private constructor(
    options: ShardOptions,
    storage: StorageEngine,
    machine: StateMachine,
    manager: TransactionManager,
  ) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    this.#announceClosed = resolve;
    this.#options = options;
    this.#storage = storage;
    this.#machine = machine;
    this.manager = manager;
    storage.log.failed.then((error) => this.#fail(error));
  }

  /** Opens or creates a shard's part of the database. */
  static async open(options: ShardOptions): Promise<Shard> {
    const { host, directory, blockCacheBytes, checkpointLogBytes } = options;
    const snapshots = { oldestSnapshot: () => 0 as number, hasReaders: () => true };
    const storage = await StorageEngine.open({
      host,
      directory,
      blockCacheBytes,
      checkpointLogBytes,
      horizon: {
        oldestSnapshot: () => snapshots.oldestSnapshot(),
        hasReaders: () => snapshots.hasReaders(),
      },
    });
    const machine = StateMachine.recover(storage);
    const manager = new TransactionManager(machine, () => host.clock.now());
    snapshots.oldestSnapshot = () => manager.oldestSnapshot();
    snapshots.hasReaders = () => manager.activeCount > 0;
    const shard = new Shard(options, storage, machine, manager);
    shard.#startWork();
    return shard;
  }

  /** Takes messages of the router, in order. */
  receive(requests: readonly ShardRequest[]): void {
    for (const request of requests) {
      try {
        this.#take(request);
      } catch (error) {
        if (!(error instanceof DatabaseError)) this.#fail(error);
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
        void this.#fetch(request);
        return;
      case "stop":
        this.#stopped.add(request.call);
        return;
      case "advance": {
        const transaction = this.#branch(request.branch);
        transaction.reads.splice(0, Infinity, ...request.reads);
        this.#answer(request.call, this.manager.advanceSnapshot(transaction));
        return;
      }
      case "commit":
      case "prepare":
      case "redo":
        this.#waiting.push(request);
        this.#commitNext();
        return;
      case "decide":
        this.#decide(request);
        this.#commitNext();
        return;
      case "report":
        this.#answer(request.call, this.#report());
        return;
      case "checkpoint":
        void this.#answerAfter(request.call, this.#checkpoint());
        return;
      case "close":
        void this.#answerAfter(request.call, this.#close()).then(() => queueMicrotask(this.#announceClosed));
        return;
      default:
        unreachable(request);
    }
  }

  // ---------------------------------------------------------------- commits

  #commitNext(): void {
    while (this.#prepared === null) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      try {
        if (next.kind === "redo") this.#redo(next);
        else if (next.kind === "commit") this.#commit(next);
        else this.#prepare(next);
      } catch (error) {
        // What has gone wrong behind the log's back ends the shard by the log.
        if (!(error instanceof DatabaseError)) this.#fail(error);
        this.#answer(next.call, null, error);
      }
    }
  }

  #commit({ call, commit }: Request<"commit">): void {
    const { transaction, effects } = this.#checked(commit);
    this.#answerWhenDurable(call, this.#carryOut(transaction, null, effects));
  }

  #prepare({ call, commit }: Request<"prepare">): void {
    const { transaction, effects } = this.#checked(commit);
    this.#prepared = { call, transaction, effects };
    this.#answer(call, true);
  }

  /** What is to be committed, once it is certain that it can be. Raises 40001. */
  #checked(commit: BranchCommit): Omit<Prepared, "call"> {
    const { branch, timestamp, reads } = commit;
    const transaction = branch === null
      ? this.manager.begin({ interruptible: true, timestamp })
      : this.#branch(branch);
    if (branch !== null) this.#branches.delete(branch);
    try {
      transaction.reads.splice(0, Infinity, ...reads);
      this.manager.validate(transaction);
      const effects = commit.effects === null ? [] : decodeEffects(commit.effects);
      this.#requireNewIds(effects);
      return { transaction, effects };
    } catch (error) {
      this.manager.end(transaction);
      throw error;
    }
  }

  /** Ids that a transaction gives to new rows may have been taken since it looked. */
  #requireNewIds(effects: readonly Effect[]): void {
    const emptied = new Set<number>();
    for (const effect of effects) {
      if (effect.kind === "truncate") emptied.add(effect.tableId);
      else if ("tableId" in effect && emptied.has(effect.tableId)) continue;
      else if (effect.kind === "create") this.#requireNewId(effect.tableId, effect.id);
      else if (effect.kind === "create_batch") {
        const { tableId, batch } = effect;
        for (let row = 0; row < batch.rowCount; row++) this.#requireNewId(tableId, batch.ids[row] as number);
      }
    }
  }

  #requireNewId(tableId: number, id: RowId): void {
    const { catalog, rowCounters, lastOp } = this.#machine;
    if (id > (rowCounters.get(tableId) ?? 0) && id > 0 || catalog.table(tableId) === undefined) return;
    if (this.#machine.store(tableId).find(id, lastOp) === NO_ROW) return;
    throw new DatabaseError(
      SQLSTATE.serializationFailure,
      "could not serialize access due to concurrent update",
      { hint: "Run the transaction again." },
    );
  }

  #decide({ call, prepared, epoch }: Request<"decide">): void {
    const pending = assertDefined(this.#prepared, "what is prepared");
    assert(pending.call === prepared, "what is decided is what was prepared");
    this.#prepared = null;
    const { transaction, effects } = pending;
    if (epoch === 0 || effects.length === 0) {
      this.manager.end(transaction);
      this.#answer(call, true);
      return;
    }
    try {
      this.#answerWhenDurable(call, this.#carryOut(transaction, epoch, effects));
    } catch (error) {
      // It is decided and in the router's log: whoever cannot follow must start again.
      this.#fail(error);
      throw error;
    }
  }

  #redo({ call, epoch, timestamp, effects }: Request<"redo">): void {
    if (epoch <= this.#epoch) {
      this.#answer(call, true);
      return;
    }
    const transaction = this.manager.begin({ interruptible: true, timestamp });
    this.#answerWhenDurable(call, this.#carryOut(transaction, epoch, decodeEffects(effects)));
  }

  #carryOut(transaction: Transaction, epoch: number | null, effects: readonly Effect[]): OpNumber {
    try {
      return this.manager.commit(transaction, epoch === null ? null : recordOf(epoch), effects);
    } finally {
      this.manager.end(transaction);
    }
  }

  get #epoch(): number {
    const record = this.#machine.clients.contents.find((each) => each.clientId === ROUTER);
    return Number(record?.sequence ?? 0);
  }

  #answerWhenDurable(call: number, op: OpNumber): void {
    this.#startWork();
    void this.#answerAfter(call, this.#storage.log.whenDurable(op), op);
  }

  // ---------------------------------------------------------------- reads

  #branch(branch: number): Transaction {
    return assertDefined(this.#branches.get(branch), `branch ${branch}`);
  }

  #end(branch: number): void {
    const transaction = this.#branches.get(branch);
    this.#branches.delete(branch);
    if (transaction !== undefined) this.manager.end(transaction);
  }

  async #fetch({ call, branch, tableId, wanted }: Request<"fetch">): Promise<void> {
    try {
      const { snapshot } = this.#branch(branch);
      const table = this.#machine.catalog.table(tableId);
      if (table !== undefined) {
        const reader = this.#machine.store(tableId).at(snapshot);
        switch (wanted.kind) {
          case "id": {
            const location = reader.find(wanted.id);
            if (location !== NO_ROW) this.#rows(call, [wanted.id], [rowAt(reader, table, location)]);
            break;
          }
          case "id_range":
            await this.#cursor(call, table, reader, reader.findRange(wanted.bounds));
            break;
          case "lookup":
            await this.#cursor(call, table, reader, reader.lookup(wanted.indexId, wanted.key));
            break;
          case "range":
            await this.#cursor(call, table, reader, reader.range(wanted.indexId, wanted.bounds));
            break;
          case "count":
            this.#part(call, { kind: "count", count: await this.#count(call, table, reader) });
            break;
          case "scan":
            await this.#scan(call, table, reader, wanted.prune);
            break;
        }
      }
      // What a crash may take back is not shown.
      await this.#storage.log.whenDurable(snapshot);
      this.#answer(call, null);
    } catch (error) {
      this.#answer(call, null, error);
    } finally {
      this.#stopped.delete(call);
    }
  }

  async #cursor(
    call: number,
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
      this.#rows(call, ids, rows);
      ids = [];
      rows = [];
      end = await this.#turn(call, end);
    }
    if (rows.length > 0) this.#rows(call, ids, rows);
  }

  async #count(call: number, table: TableDefinition, reader: ReadableTable): Promise<number> {
    const known = reader.exactRowCount();
    if (known !== undefined) return known;
    let count = 0, end = this.#sliceEnd();
    const cursor = reader.scan([], { ids: false, prune: [] });
    for (let block = cursor.next(); block !== null; block = cursor.next()) {
      count += wantedRows(table, block, [], []).length;
      end = await this.#turn(call, end);
    }
    return count;
  }

  async #scan(
    call: number,
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
      if (ids.every((id) => typeof id === "number")) this.#part(call, { kind: "batch", batch });
      else this.#rows(call, ids, Array.from(ids, (_, row) => batchRow(batch, row)));
      ids = [];
    };
    const columnIds = table.columns.map((column) => column.id);
    const cursor = reader.scan(columnIds, { ids: true, prune });
    let end = this.#sliceEnd();
    for (let block = cursor.next(); block !== null; block = cursor.next()) {
      const rows = wantedRows(table, block, prune, decoders);
      if (builder.isFull || builder.rowCount + rows.length > BATCH_ROWS) flush();
      appendRows(builder, ids, block, rows);
      end = await this.#turn(call, end);
    }
    flush();
  }

  #sliceEnd(): number {
    return this.#options.host.clock.monotonic() + SLICE_MICROSECONDS;
  }

  /** Lets others have their turn when it is time. Raises 57014 when nobody waits for the fetch any more. */
  async #turn(call: number, end: number): Promise<number> {
    const { clock, timers } = this.#options.host;
    if (clock.monotonic() < end) return end;
    await timers.yieldToLoop();
    if (this.#stopped.has(call)) {
      throw new DatabaseError(SQLSTATE.queryCanceled, "canceling statement due to user request");
    }
    return this.#sliceEnd();
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

  #reply(reply: ShardReply | ShardFailure): void {
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

  #report(): ShardReport {
    const { catalog } = this.#machine;
    let bytes = 0;
    const rows: [number, number][] = [];
    for (const { id } of catalog.tables) {
      const store = this.#machine.store(id);
      bytes += store.bytes;
      rows.push([id, store.rowCount]);
    }
    return {
      epoch: this.#epoch,
      op: this.#machine.lastOp,
      bytes,
      rows,
      rowIds: [...this.#machine.rowCounters],
    };
  }

  async #checkpoint(): Promise<void> {
    await this.#working;
    this.#storage.beginCheckpoint(this.#machine.lastOp, () => this.#machine.encodeState());
    this.#startWork();
    await this.#working;
  }

  async #close(): Promise<void> {
    for (const branch of [...this.#branches.keys()]) this.#end(branch);
    await this.#working;
    await this.#storage.settle(() => this.#machine.encodeState());
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

function recordOf(epoch: number): () => ClientRequest {
  return () => ({
    clientId: ROUTER,
    sequence: BigInt(epoch),
    requestDigest: NO_BYTES,
    reply: NO_BYTES,
  });
}
