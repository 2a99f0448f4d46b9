/** The commits of one session: in turn, and whether its client may still wait for one of them. */
import type { ClientRequest, OpNumber } from "../operations/effect.ts";
import type { MaybePromise } from "../statements/outcome.ts";
import type { Settings } from "../settings/settings.ts";
import type { Transaction } from "../transactions/transaction.ts";
import type { SessionEngine } from "./session_engine.ts";

/** See the file's head. */
export class SessionCommits {
  readonly #engine: Pick<SessionEngine, "turns" | "durableOp" | "shards">;
  readonly #settings: Settings;
  /** An entry of the session is on its way into the log. */
  #isUnderWay = false;
  /** The session's newest entry. */
  #newestOp = 0;

  constructor(engine: Pick<SessionEngine, "turns" | "durableOp" | "shards">, settings: Settings) {
    this.#engine = engine;
    this.#settings = settings;
  }

  /** Commits a transaction of the session; answers the op of its entry, or 0. */
  commit(
    transaction: Transaction,
    client: ((op: OpNumber) => ClientRequest) | null = null,
  ): MaybePromise<OpNumber> {
    this.#engine.shards?.heed(transaction, this.#settings);
    const op = this.#engine.turns.commit(transaction, client);
    if (op instanceof Promise) return this.#whenCommitted(op);
    if (op !== 0) this.#newestOp = op;
    return op;
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
