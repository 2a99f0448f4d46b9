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
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import { turnWork } from "../host/turn_work.ts";
import type { ClientRequest, Effect, OpNumber } from "../operations/effect.ts";
import type { StorageEngine } from "../storage/storage_engine.ts";
import type { RemoteTables } from "../transactions/remote_tables.ts";
import type { Transaction } from "../transactions/transaction.ts";
import type { TransactionManager } from "../transactions/transaction_manager.ts";
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

/** See the file's head. */
export class CommitTurns {
  readonly #engine: CommittingEngine;
  /** Settles when the commit that is on its way, or is waiting for the checkpoint, is through. */
  #current: Promise<void> | null = null;
  /** The commit in steps that is under way. */
  #steps: Generator<void, OpNumber> | null = null;
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
   * completed at once when its entry is in the log already.
   */
  interrupt(reason: DatabaseError): void {
    this.#interruption ??= reason;
    const steps = this.#steps;
    if (steps === null) return;
    this.#steps = null;
    const { manager, storage } = this.#engine;
    if (storage.log.lastOp === manager.lastOp) steps.return(0 as OpNumber);
    else while (steps.next().done !== true);
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

  /** Goes on with work until it is done, and lets others have their turns. */
  async #inSlices<T>(work: Generator<void, T>): Promise<T> {
    const engine = this.#engine;
    let end = engine.monotonic() + SLICE_MICROSECONDS;
    for (let step = work.next();; step = work.next()) {
      if (step.done === true) return step.value;
      if (engine.monotonic() < end) continue;
      await engine.yieldToLoop();
      this.#requireUninterrupted();
      end = engine.monotonic() + SLICE_MICROSECONDS;
    }
  }

  async #inTurn(
    transaction: Transaction,
    client: ClientRecord,
    effects: readonly Effect[] | null = null,
  ): Promise<OpNumber> {
    const { storage } = this.#engine;
    const { weight } = transaction;
    for (;;) {
      if (this.#current !== null) await this.#current;
      // What is not committed in steps waits here for the checkpoint.
      else if (effects !== null && storage.mustFinishFirst(weight)) {
        await storage.finishFirst(SLICE_MICROSECONDS);
      } else break;
    }
    if (!transaction.isOpen) throw sessionEnded();
    this.#requireUninterrupted();
    return await this.#commit(transaction, client, effects);
  }

  #commit(
    transaction: Transaction,
    client: ClientRecord,
    effects: readonly Effect[] | null = null,
  ): MaybePromise<OpNumber> {
    const { storage } = this.#engine;
    turnWork.began("commit");
    if (effects === null && (transaction.isLarge || storage.mustFinishFirst(transaction.weight))) {
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

  async #commitInSteps(transaction: Transaction, client: ClientRecord): Promise<OpNumber> {
    const engine = this.#engine;
    const { storage } = engine;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#current = promise;
    // Begun before anybody else comes in between, so that the transaction's locks are taken.
    const steps = this.#steps = engine.manager.commitInSteps(transaction, client);
    try {
      steps.next();
      while (storage.mustFinishFirst(transaction.weight)) {
        await storage.finishFirst(SLICE_MICROSECONDS);
        this.#requireUninterrupted();
      }
      // A new file of the log is begun without a sync that blocks.
      if (transaction.isLarge) await storage.log.whenDurable(storage.log.lastOp);
      this.#requireUninterrupted();
      const op = await this.#inSlices(steps);
      if (op !== 0) engine.afterCommit(op);
      return op;
    } finally {
      // Does nothing after the last step; otherwise the transaction is rolled back.
      steps.return(0 as OpNumber);
      this.#steps = null;
      this.#current = null;
      resolve();
    }
  }
}

/** What a transaction is not committed for any more. */
export function sessionEnded(): DatabaseError {
  return new DatabaseError(SQLSTATE.adminShutdown, "the session ended before its transaction was committed");
}
