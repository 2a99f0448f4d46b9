/**
 * Histories of transactions over append-only lists: what each client sent, what it was told, and when.
 *
 * Every value is appended at most once per key, so that a list read tells which transactions came before it and in
 * which order. Moments are numbers of a counter that all clients share; only their order matters.
 */

/** How a transaction ended, as far as its client knows. */
export type Outcome = "committed" | "aborted" | "unknown";

/** One step of a transaction. */
export type Operation =
  | { readonly kind: "append"; readonly key: number; readonly value: number }
  | {
    readonly kind: "read";
    readonly key: number;
    readonly list: readonly number[];
    /** Whether the key was found by a condition, not by its name: what is missing then is a phantom. */
    readonly predicate: boolean;
  }
  /** The appends since an earlier step (by index) were taken back, as ROLLBACK TO SAVEPOINT does. */
  | { readonly kind: "undo"; readonly since: number };

/** What one client did between BEGIN and the answer to COMMIT. */
export interface RecordedTransaction {
  readonly id: number;
  readonly operations: readonly Operation[];
  readonly outcome: Outcome;
  /** The error that ended it, if one did. */
  readonly told?: string | null;
  /** Before the first statement was sent. */
  readonly start: number;
  /** After the last answer came; without one, infinity. */
  readonly end: number;
}

/** Collects transactions as clients finish them. */
export class History {
  readonly transactions: RecordedTransaction[] = [];
  #moment = 0;
  #id = 0;

  /** The next moment. */
  tick(): number {
    return this.#moment++;
  }

  /** Begins to record a transaction now. */
  begin(): TransactionRecorder {
    return new TransactionRecorder(this, this.#id++, this.tick());
  }
}

/** Records one transaction. */
export class TransactionRecorder {
  readonly operations: Operation[] = [];
  readonly #history: History;
  readonly #id: number;
  readonly #start: number;

  constructor(history: History, id: number, start: number) {
    this.#history = history;
    this.#id = id;
    this.#start = start;
  }

  append(key: number, value: number): void {
    this.operations.push({ kind: "append", key, value });
  }

  read(key: number, list: readonly number[], predicate = false): void {
    this.operations.push({ kind: "read", key, list, predicate });
  }

  undo(since: number): void {
    this.operations.push({ kind: "undo", since });
  }

  /** Adds the transaction to the history. */
  finish(outcome: Outcome, told: string | null = null): void {
    this.#history.transactions.push({
      id: this.#id,
      operations: this.operations,
      outcome,
      told,
      start: this.#start,
      end: outcome === "unknown" ? Infinity : this.#history.tick(),
    });
  }
}
