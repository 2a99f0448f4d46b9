/**
 * A transaction that spans several statements: an explicit block (BEGIN … COMMIT) or the implicit one around a
 * multi-statement query or a pipeline.
 *
 * After an error the block has failed: its writes are taken back at once (to the newest savepoint, or all of them,
 * which also gives up its locks), and only ROLLBACK or ROLLBACK TO is accepted.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { OpNumber } from "../operations/effect.ts";
import type { Mark } from "../transactions/journal.ts";
import type { Transaction } from "../transactions/transaction.ts";
import type { TransactionManager } from "../transactions/transaction_manager.ts";
import type { Portal } from "./portal.ts";
import type { Settings } from "../settings/settings.ts";

/** A named place to return to. */
interface SavepointRecord {
  readonly name: string;
  readonly mark: Mark;
  readonly constraintModes: Transaction["deferred"]["modes"];
  /** Cursors that were declared later go when it is rolled back to. */
  readonly cursorsDeclared: number;
  readonly readOnly: boolean;
}

/** See the file's head. */
export class TransactionBlock {
  readonly transaction: Transaction;
  /** false: ends with the query or pipeline it was made for. */
  explicit: boolean;
  failed = false;
  /** Whether a statement has run that reads or writes. */
  hasQueried = false;
  /** true: who began it commits it; BEGIN and COMMIT within it say nothing. */
  controlled = false;
  /** Queries that were opened in it and may have rows left. */
  readonly portals = new Set<Portal>();
  /** Since it began this server was known to be the group's only primary: what it reads is not stale. */
  isCurrent = false;
  /** The newest op that counts depend on which its client has got before that op was durable. */
  seenOp = 0 as OpNumber;
  readonly #manager: TransactionManager;
  readonly #settings: Settings;
  readonly #savepoints: SavepointRecord[] = [];

  constructor(options: {
    readonly transaction: Transaction;
    readonly manager: TransactionManager;
    readonly settings: Settings;
    readonly explicit: boolean;
  }) {
    this.transaction = options.transaction;
    this.explicit = options.explicit;
    this.#manager = options.manager;
    this.#settings = options.settings;
    this.#settings.beginScope();
  }

  /** Before the first change since: see {@link Portal.readAhead}. */
  async readAhead(): Promise<void> {
    for (const portal of this.portals) await portal.readAhead();
    this.portals.clear();
  }

  /** The same before anything is read at another state than they are; null: nothing has to be read. */
  readBefore(): Promise<void> | null {
    return this.portals.size > 0 && this.transaction.seesAnew ? this.readAhead() : null;
  }

  /** SAVEPOINT. `cursorsDeclared`: how many cursors the session has declared so far. */
  savepoint(name: string, cursorsDeclared: number): void {
    this.#settings.beginScope();
    const { deferred, readOnly } = this.transaction;
    this.#savepoints.push({
      name,
      mark: this.transaction.mark(),
      constraintModes: deferred.modes,
      cursorsDeclared,
      readOnly,
    });
  }

  /** RELEASE SAVEPOINT: forgets it and those after it. */
  release(name: string): void {
    const index = this.#find(name);
    const record = this.#savepoints[index];
    while (this.#savepoints.length > index) {
      this.#savepoints.pop();
      this.#settings.endScope(false);
    }
    if (record !== undefined) this.#setReadOnly(record.readOnly);
  }

  /**
   * ROLLBACK TO SAVEPOINT: takes back what came after; the savepoint stays. Answers how many cursors had been declared
   * by then.
   */
  rollbackTo(name: string): number {
    const index = this.#find(name);
    while (this.#savepoints.length > index + 1) {
      this.#savepoints.pop();
      this.#settings.endScope(true);
    }
    const record = this.#savepoints[index];
    if (record === undefined) return 0;
    this.#settings.endScope(true);
    this.#settings.beginScope();
    this.transaction.rollbackTo(record.mark, { keepLocks: false, forgetReads: false });
    this.transaction.deferred.modes = record.constraintModes;
    this.#setReadOnly(record.readOnly);
    this.failed = false;
    return record.cursorsDeclared;
  }

  /** An error: see the file's head. */
  fail(): void {
    if (this.failed) return;
    this.failed = true;
    const newest = this.#savepoints.at(-1);
    if (newest === undefined) this.#manager.end(this.transaction);
    else this.transaction.rollbackTo(newest.mark, { keepLocks: false, forgetReads: false });
  }

  /** The block is over. */
  close(rolledBack: boolean): void {
    while (this.#savepoints.pop() !== undefined) this.#settings.endScope(rolledBack);
    this.#settings.endScope(rolledBack);
  }

  /** Whether a savepoint is open. */
  get isNested(): boolean {
    return this.#savepoints.length > 0;
  }

  /** READ ONLY that was said after a savepoint is over with it, be it released or returned to. */
  #setReadOnly(readOnly: boolean): void {
    if (this.transaction.readOnly === readOnly) return;
    this.transaction.readOnly = readOnly;
    this.#settings.set("transaction_read_only", readOnly ? "on" : "off", { local: true });
  }

  #find(name: string): number {
    const index = this.#savepoints.findLastIndex((each) => each.name === name);
    if (index < 0) {
      throw new DatabaseError(SQLSTATE.savepointException, `savepoint "${name}" does not exist`);
    }
    return index;
  }
}
