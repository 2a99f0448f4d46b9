/**
 * Commits, one after the other. Most are through at once. A large transaction commits in steps, and who wants to
 * commit meanwhile waits for its turn, in the order of asking; reading goes on, and so do statements that write, up
 * to their commit.
 *
 * Indexes that a transaction adds to tables are built before its turn comes: the table is locked against writes by
 * then, all others are not.
 *
 * A commit also waits, in steps, where the next checkpoint would be due while the last one is still being written:
 * otherwise the state machine would have to finish that one in a single piece. At the primary of a replication group it
 * waits as well while the log is too far ahead of what is committed.
 *
 * There the rows of a transaction that is too large for one entry are *staged*: entries bring them before its own, in
 * turn with the commits of others, and change nothing that anybody sees. Where the transaction's rows could change
 * meanwhile (by DDL of its own, or columns that others add) it keeps its turn all the time.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import { turnWork } from "../host/turn_work.ts";
import type { ClientRequest, Effect, OpNumber } from "../operations/effect.ts";
import type { EntryWeight } from "../storage/checkpoint_pace.ts";
import type { StorageEngine } from "../storage/storage_engine.ts";
import type { RemoteTables } from "../transactions/remote_tables.ts";
import type { Transaction } from "../transactions/transaction.ts";
import type { TransactionManager } from "../transactions/transaction_manager.ts";
import { rowEffects } from "../transactions/transaction_effects.ts";
import { encodeEachInSteps } from "../operations/entry_codec.ts";
import { StageParts } from "../operations/stage_parts.ts";
import type { ColumnStatistics } from "../storage/access/readable_table.ts";
import type { ShardStatus } from "../system_catalog/shard_status.ts";
import type { Notifications } from "./notifications.ts";
import type { StatementShards } from "../statements/statement_host.ts";
import { type MaybePromise, whenDone } from "../statements/outcome.ts";

/** How long a commit in steps goes on before others get their turn. */
const SLICE_MICROSECONDS = 2_000;

/** What commits need of the engine. */
export interface CommittingEngine {
  readonly manager: TransactionManager;
  readonly storage: StorageEngine;
  readonly notifications: Notifications;
  /** null: all rows are here. */
  readonly shards: Shards | null;
  monotonic(): number;
  yieldToLoop(): Promise<void>;
  /** Whether a transaction of the weight is staged. */
  mustStage(weight: EntryWeight): boolean;
  /** Appends an entry by itself and applies it; in turn. */
  commitEffects(effects: readonly Effect[]): OpNumber;
  /** Empties the stage, if the disk has space to say so: else the next that is staged takes its place. In turn. */
  dropStage(): void;
  /** Called after each commit. */
  afterCommit(op: OpNumber): void;
}

/** What is kept with a commit for exactly-once; null: nothing. */
export type ClientRecord = ((op: OpNumber) => ClientRequest) | null;

/** The shards of a database, as the engine of its router knows them. */
export interface Shards extends RemoteTables<Transaction>, StatementShards {
  /**
   * Commits a transaction whose rows are at shards. `commitHere` commits the effects that it is given in this engine,
   * in turn. Raises 40001 when something that the transaction has read has changed.
   */
  commit(
    transaction: Transaction,
    commitHere: (effects: readonly Effect[]) => Promise<OpNumber>,
  ): Promise<OpNumber>;
  /**
   * The same in one piece, where nothing has to be asked: null, and nothing has happened, where something has to be.
   * `commitHere` answers at once.
   */
  commitAtOnce(
    transaction: Transaction,
    commitHere: (effects: readonly Effect[]) => OpNumber,
  ): OpNumber | null;
  /**
   * Moves what the transaction sees of them to the newest state; false: something that it has read has changed since.
   */
  advance(transaction: Transaction): Promise<boolean>;
  /** Of each, what is known or, for a transaction, what it says now. */
  statuses(transaction: Transaction | null): readonly ShardStatus[];
  /** Asks the shards what they have, for plans. */
  learn(): Promise<void>;
  /** What is known of a column at shards. */
  columnStatistics(tableId: number, columnId: number): ColumnStatistics | undefined;
  /** Tells apart what plans over a table at shards were made with. */
  statisticsVersion(tableId: number): number;
}

/** Of what waits for no checkpoint. */
const NO_WEIGHT: EntryWeight = { bytes: 0, held: 0 };

/** See the file's head. */
export class CommitTurns {
  readonly #engine: CommittingEngine;
  /** Settles when the commit that is on its way, or is waiting for the checkpoint, is through. */
  #current: Promise<void> | null = null;
  /** The commit in steps that is under way; `isStaged`: its entry takes long to apply, however short it is. */
  #steps: { readonly work: Generator<void, OpNumber>; readonly isStaged: boolean } | null = null;
  /** Settles when the transaction that is in the stage, or on its way there, is through. */
  #staging: Promise<void> | null = null;
  /** Why nothing is committed any more. */
  #interruption: DatabaseError | null = null;

  constructor(engine: CommittingEngine) {
    this.#engine = engine;
  }

  /** What to wait for before committing; null: nothing. There may be more to wait for afterwards. */
  whenIdle(): Promise<void> | null {
    return this.#current;
  }

  /**
   * Commits the transaction; answers the entry's op, or 0 when there was nothing to write. Raises what
   * `TransactionManager.commit` raises. Without a promise, unless another commit is under way or the transaction is
   * large.
   */
  commit(transaction: Transaction, client: ClientRecord = null): MaybePromise<OpNumber> {
    if (!transaction.isOpen) throw sessionEnded();
    if (transaction.hasEffects || client !== null) this.#requireUninterrupted();
    const { messages } = transaction;
    if (messages.length === 0) return this.#begin(transaction, client);
    return whenDone(this.#begin(transaction, client), (op) => {
      this.#engine.notifications.committed(messages, op);
      return op;
    });
  }

  /**
   * From now on nothing is committed: whoever wants to is refused with the reason. What is on its way is taken back, or
   * completed at once when its entry is in the log already; one that was staged is left in the middle, and its state
   * torn.
   */
  interrupt(reason: DatabaseError): void {
    this.#interruption ??= reason;
    const steps = this.#steps;
    if (steps === null) return;
    this.#steps = null;
    const { manager, storage } = this.#engine;
    const { work, isStaged } = steps;
    if (isStaged || storage.log.lastOp === manager.lastOp) work.return(0 as OpNumber);
    else while (work.next().done !== true);
  }

  #requireUninterrupted(): void {
    if (this.#interruption !== null) throw this.#interruption;
  }

  #begin(transaction: Transaction, client: ClientRecord): MaybePromise<OpNumber> {
    if (!transaction.hasEffects && client === null) return this.#engine.manager.commit(transaction);
    const { shards } = this.#engine;
    if (shards?.concerns(transaction) === true) {
      const op = this.#mayCommitAtOnce(transaction)
        ? shards.commitAtOnce(transaction, (effects) => this.#commitHere(transaction, client, effects))
        : null;
      if (op !== null) return op;
      return shards.commit(transaction, (effects) => this.#inTurn(transaction, client, effects));
    }
    const indexed = transaction.hasDdl ? transaction.indexedTables : [];
    if (indexed.length > 0) return this.#withIndexes(transaction, client, indexed);
    if (this.#current !== null) return this.#inTurn(transaction, client);
    return this.#commit(transaction, client);
  }

  async #withIndexes(
    transaction: Transaction,
    client: ClientRecord,
    tables: readonly TableDefinition[],
  ): Promise<OpNumber> {
    const { manager } = this.#engine;
    try {
      for (const table of tables) await this.#inSlices(manager.store(table.id).buildIndexesAhead(table));
      return await this.#inTurn(transaction, client);
    } catch (error) {
      for (const { id } of tables) {
        if (manager.catalog.table(id) !== undefined) manager.store(id).forgetIndexesAhead();
      }
      throw error;
    }
  }

  /** Goes on with work until it is done, or the transaction has ended, and lets others have their turns. */
  async #inSlices<T>(work: Generator<void, T>, transaction: Transaction | null = null): Promise<T> {
    const engine = this.#engine;
    let end = engine.monotonic() + SLICE_MICROSECONDS;
    for (let step = work.next();; step = work.next()) {
      if (step.done === true) return step.value;
      const { stepWait } = engine.storage;
      if (stepWait === null && engine.monotonic() < end) continue;
      await (stepWait ?? engine.yieldToLoop());
      if (transaction?.isOpen === false) throw sessionEnded();
      this.#requireUninterrupted();
      end = engine.monotonic() + SLICE_MICROSECONDS;
    }
  }

  async #inTurn(
    transaction: Transaction,
    client: ClientRecord,
    effects: readonly Effect[] | null = null,
  ): Promise<OpNumber> {
    // What is committed in steps waits for the checkpoint when its turn has come.
    const weight = effects === null ? NO_WEIGHT : transaction.weight;
    return await this.#whenFree(transaction, weight, () => this.#commit(transaction, client, effects));
  }

  /**
   * Waits for the turn of the transaction, unless it has it, and for the checkpoint that something of the weight has to
   * wait for; then acts at once, before others who wait for the same.
   */
  async #whenFree<T>(
    transaction: Transaction,
    weight: EntryWeight,
    act: () => T,
    hasTurn = false,
  ): Promise<Awaited<T>> {
    const { storage } = this.#engine;
    for (;;) {
      if (this.#current !== null && !hasTurn) await this.#current;
      else if (weight !== NO_WEIGHT && storage.mustFinishFirst(weight)) {
        await storage.finishFirst(SLICE_MICROSECONDS);
      } else break;
    }
    if (!transaction.isOpen) throw sessionEnded();
    this.#requireUninterrupted();
    return await act();
  }

  #commit(
    transaction: Transaction,
    client: ClientRecord,
    effects: readonly Effect[] | null = null,
  ): MaybePromise<OpNumber> {
    const engine = this.#engine, { weight } = transaction;
    turnWork.began("commit");
    // One that ran so quickly that nobody else came in between has not noted what it has read: nobody may come now.
    if (effects === null && transaction.interruptible && engine.mustStage(weight)) {
      return this.#commitStaged(transaction, client);
    }
    if (effects === null && (transaction.isLarge || engine.storage.mustFinishFirst(weight))) {
      return this.#commitInSteps(transaction, client);
    }
    return this.#commitHere(transaction, client, effects);
  }

  /** Neither the turn of another commit nor a checkpoint has to be waited for. */
  #mayCommitAtOnce(transaction: Transaction): boolean {
    return this.#current === null && !this.#engine.storage.mustFinishFirst(transaction.weight);
  }

  #commitHere(
    transaction: Transaction,
    client: ClientRecord,
    effects: readonly Effect[] | null,
  ): OpNumber {
    const op = this.#engine.manager.commit(transaction, client, effects);
    if (op !== 0) this.#engine.afterCommit(op);
    return op;
  }

  /** Takes the turn, which must be free; answers what gives it up. */
  #takeTurn(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#current = promise;
    return () => {
      this.#current = null;
      resolve();
    };
  }

  async #commitInSteps(transaction: Transaction, client: ClientRecord): Promise<OpNumber> {
    const endTurn = this.#takeTurn();
    try {
      return await this.#commitInTurn(transaction, client, null);
    } finally {
      endTurn();
    }
  }

  async #commitInTurn(
    transaction: Transaction,
    client: ClientRecord,
    stagedBytes: number | null,
  ): Promise<OpNumber> {
    const engine = this.#engine;
    const { storage } = engine;
    // Begun before anybody else comes in between, so that the transaction's locks are taken.
    const work = engine.manager.commitInSteps(transaction, client, stagedBytes);
    const isStaged = stagedBytes !== null;
    this.#steps = { work, isStaged };
    try {
      work.next();
      while (storage.mustFinishFirst(transaction.weight) || isStaged && storage.isCheckpointing) {
        await storage.finishFirst(SLICE_MICROSECONDS);
        this.#requireUninterrupted();
      }
      // A new file of the log is begun without a sync that blocks.
      if (transaction.isLarge) await storage.log.whenDurable(storage.log.lastOp);
      this.#requireUninterrupted();
      // The others finish theirs before they apply such an entry: its files follow from that.
      if (isStaged) storage.requireNoCheckpoint();
      const op = await this.#inSlices(work);
      if (op !== 0) engine.afterCommit(op);
      return op;
    } finally {
      // Does nothing after the last step; otherwise the transaction is rolled back.
      work.return(0 as OpNumber);
      this.#steps = null;
    }
  }

  /** Commits a transaction that is too large for one entry; see the head of the file. */
  async #commitStaged(transaction: Transaction, client: ClientRecord): Promise<OpNumber> {
    const { manager, storage } = this.#engine;
    let endTurn: (() => void) | null = null;
    try {
      while (this.#staging !== null) await this.#staging;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#staging = promise;
      try {
        const isFixed = !transaction.hasDdl && !transaction.needsNewest;
        let stagedBytes = isFixed ? await this.#stage(transaction, false) : null;
        endTurn = await this.#whenFree(transaction, NO_WEIGHT, () => this.#takeTurn());
        if (stagedBytes === null || transaction.needsNewest) {
          if (transaction.needsNewest) await this.#inSlices(manager.finishRows(transaction), transaction);
          stagedBytes = await this.#stage(transaction, true);
        }
        // What was written and taken back again weighs something, and leaves nothing.
        return await this.#commitInTurn(transaction, client, stagedBytes === 0 ? null : stagedBytes);
      } catch (error) {
        if (endTurn === null) { while (this.#current !== null) await this.#current; }
        // What was staged is not wanted. Where that cannot be said now, the next primary says it.
        if (this.#interruption === null && storage.log.error === null) this.#engine.dropStage();
        throw error;
      } finally {
        this.#staging = null;
        resolve();
      }
    } finally {
      endTurn?.();
      manager.end(transaction);
    }
  }

  /** Brings the rows of a transaction into the stage; answers how many bytes they are. */
  async #stage(transaction: Transaction, hasTurn: boolean): Promise<number> {
    const engine = this.#engine;
    const parts = new StageParts(engine.storage.stagePartBytes);
    const steps = encodeEachInSteps(rowEffects(transaction.writeSets), (piece) => parts.add(piece));
    for (let isDone = false, end = 0; !isDone;) {
      isDone = steps.next().done === true;
      for (let part = parts.take(isDone); part !== null; part = parts.take(isDone)) {
        const commit = () => engine.commitEffects([part]);
        await this.#whenFree(transaction, { bytes: part.bytes.length, held: 0 }, commit, hasTurn);
      }
      if (engine.monotonic() < end) continue;
      await engine.yieldToLoop();
      if (!transaction.isOpen) throw sessionEnded();
      this.#requireUninterrupted();
      end = engine.monotonic() + SLICE_MICROSECONDS;
    }
    return parts.takenBytes;
  }
}

/** What a transaction is not committed for any more. */
export function sessionEnded(): DatabaseError {
  return new DatabaseError(SQLSTATE.adminShutdown, "the session ended before its transaction was committed");
}
