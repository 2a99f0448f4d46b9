/**
 * A lock that a statement at READ COMMITTED has waited for. When the statement ends without having taken it, for what
 * it waited for is there no longer, or another row has come in its place, it is given up. A row that is there and that
 * the condition no longer holds for stays locked, as in PostgreSQL.
 */
import { type Lock, type LockKey, type LockOwner, type LockTable, placeOf } from "./lock_table.ts";
import type { IsolationLevel } from "./isolation_level.ts";
import type { OpNumber, RowId } from "../operations/effect.ts";

/** The transaction that has waited. */
interface Waiting extends LockOwner {
  readonly level: IsolationLevel;
  readonly snapshot: OpNumber;
  /** What it has waited for last; null: nothing, or it has taken it since. */
  awaited: AwaitedLock | null;
}

/** What is asked of the state. */
interface Committed {
  readonly locks: LockTable;
  isThere(tableId: number, id: RowId, transaction: Waiting, snapshot?: OpNumber): boolean;
}

/** See the head of the file. */
export class AwaitedLock {
  readonly space: number;
  readonly key: LockKey;
  /** The row was there when it was waited for. */
  readonly #wasThere: boolean;

  private constructor(space: number, key: LockKey, wasThere: boolean) {
    this.space = space;
    this.key = key;
    this.#wasThere = wasThere;
  }

  /** Notes a lock that the transaction has just been given, at the snapshot that it waited with. */
  static note(manager: Committed, transaction: Waiting, { space, key }: Lock, heldBefore: number): void {
    transaction.awaited = null;
    if (transaction.level !== "read committed") return;
    if (placeOf(transaction, space, key) < heldBefore) return;
    const wasThere = typeof key !== "string" &&
      manager.isThere(space, key, transaction, transaction.snapshot);
    transaction.awaited = new AwaitedLock(space, key, wasThere);
  }

  /** The statement has ended. */
  static settle(manager: Committed, transaction: Waiting): void {
    const { awaited } = transaction;
    if (awaited === null) return;
    transaction.awaited = null;
    const { space, key } = awaited;
    if (awaited.#wasThere && typeof key !== "string" && manager.isThere(space, key, transaction)) return;
    manager.locks.giveUp(space, key, transaction);
  }
}
