/** The commits of one session: in turn, and whether its client may still wait for one of them. */
import type { ClientRequest, OpNumber } from "../operations/effect.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import type { StatementWorkers } from "../statements/statement_host.ts";
import type { MaybePromise } from "../statements/outcome.ts";
import type { Settings } from "../settings/settings.ts";
import type { Transaction } from "../transactions/transaction.ts";
import { sessionEnded } from "./commit_turns.ts";
import type { SessionEngine } from "./session_engine.ts";

type CommitEngine = Pick<SessionEngine, "turns" | "durableOp" | "shards" | "workers" | "manager">;

/** See the file's head. */
export class SessionCommits {
  readonly #engine: CommitEngine;
  readonly #settings: Settings;
  /** An entry of the session is on its way into the log. */
  #isUnderWay = false;
  /** The session's newest entry. */
  #newestOp = 0;

  constructor(engine: CommitEngine, settings: Settings) {
    this.#engine = engine;
    this.#settings = settings;
  }

  /** Commits a transaction of the session; answers the op of its entry, or 0. */
  commit(
    transaction: Transaction,
    client: ((op: OpNumber) => ClientRequest) | null = null,
  ): MaybePromise<OpNumber> {
    this.#engine.shards?.heed(transaction, this.#settings);
    const { workers } = this.#engine;
    const indexed = workers !== null && transaction.hasDdl ? transaction.indexedTables : [];
    const op = workers === null || indexed.length === 0
      ? this.#engine.turns.commit(transaction, client)
      : this.#withIndexes(transaction, client, { workers, indexed });
    if (op instanceof Promise) return this.#whenCommitted(op);
    if (op !== 0) this.#newestOp = op;
    return op;
  }

  /** Commits a transaction when workers have made the index files that they can make for it. */
  async #withIndexes(
    transaction: Transaction,
    client: ((op: OpNumber) => ClientRequest) | null,
    { workers, indexed }: {
      readonly workers: StatementWorkers;
      readonly indexed: readonly TableDefinition[];
    },
  ): Promise<OpNumber> {
    const { manager, turns } = this.#engine;
    const files = indexed.flatMap((table) => manager.store(table.id).indexFilesAhead(table));
    await workers.buildIndexes(files, this.#settings);
    try {
      if (!transaction.isOpen) throw sessionEnded();
      return await turns.commit(transaction, client);
    } catch (error) {
      for (const { id } of indexed) {
        if (manager.catalog.table(id) !== undefined) manager.store(id).forgetIndexesAhead();
      }
      throw error;
    }
  }

  async #whenCommitted(committing: Promise<OpNumber>): Promise<OpNumber> {
    this.#isUnderWay = true;
    try {
      const op = await committing;
      if (op !== 0) this.#newestOp = op;
      return op;
    } finally {
      this.#isUnderWay = false;
    }
  }

  /** Whether a commit was asked for that may not be answered yet. */
  get isUnanswered(): boolean {
    return this.#isUnderWay || this.#newestOp > this.#engine.durableOp;
  }
}
