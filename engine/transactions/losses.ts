/**
 * What SERIALIZABLE transactions of each client have lost by (40001 and 40P01), so that the next one does not lose by
 * it again: before its first statement it locks those rows, against all who would change them, and where it had lost
 * by rows that came, the range that it had read, against all who write into it (see `loss_locks.ts`). It is forgotten
 * when one of the client's transactions has ended without a loss.
 *
 * They are in one order, so that those who have lost by the same rows wait for each other and meet no deadlock.
 */
import type { TableDefinition } from "../catalog/definitions.ts";
import type { RowId } from "../operations/effect.ts";
import { rangeOf, type RangePredicate } from "./locked_range.ts";
import { readKey } from "./read_key.ts";
import type { Conflict } from "./read_set.ts";
import type { WaitingClient } from "./wait_cycles.ts";

/** Rows and ranges of one table that are locked one by one; beyond them it is the table. */
const MAX_ROWS = 64;

/** A row that was changed, what was read where rows came into it (`into`), or else the table. */
export interface Loss {
  readonly tableId: number;
  readonly id: RowId | null;
  readonly into: RangePredicate | null;
}

/** A loss with a text that tells it from others of its table; rows have none. */
interface KeptLoss extends Loss {
  readonly key: string;
}

/** A transaction, as far as losses go. */
interface Loser {
  readonly client: WaitingClient | undefined;
  readonly notesReads: boolean;
  readonly isAlone: boolean;
  readonly isCommitted: boolean;
  readonly statements: number;
}

const NO_LOSSES: readonly KeptLoss[] = [];

/** See the file's head. */
export class Losses {
  /** False where rows are elsewhere, and in tests whose clients never wait for each other. */
  remembers = true;
  readonly #byClient = new WeakMap<WaitingClient, readonly KeptLoss[]>();
  /** Of transactions that have not ended. */
  readonly #open = new Map<Loser, Loss>();
  /** Nobody has ever lost: what every statement asks. */
  #isNone = true;

  /** The transaction loses by this. */
  note(transaction: Loser, loss: Loss): void {
    if (!this.remembers || !transaction.notesReads || transaction.isAlone) return;
    this.#isNone = false;
    this.#open.set(transaction, loss);
  }

  /** It loses by what it has read of a table. Answers what was given. */
  noted(transaction: Loser, conflict: Conflict, table: TableDefinition | undefined): Conflict {
    const { tableId, id, read, cameNew } = conflict;
    this.note(transaction, { tableId, id: cameNew ? null : id, into: cameNew ? rangeOf(table, read) : null });
    return conflict;
  }

  /** The transaction has ended. */
  ended(transaction: Loser): void {
    const { client } = transaction;
    if (this.#isNone || client === undefined || transaction.isAlone || !transaction.notesReads) return;
    const loss = this.#open.get(transaction);
    if (!this.#open.delete(transaction) || loss === undefined || transaction.isCommitted) {
      this.#byClient.delete(client);
      return;
    }
    const { tableId } = loss;
    const known = this.#byClient.get(client) ?? NO_LOSSES;
    const apart = known.filter((each) => each.tableId !== tableId);
    const isMany = known.length - apart.length >= MAX_ROWS;
    const newest = { ...loss, key: loss.into === null ? "" : readKey(loss.into) };
    const kept = isMany || isWhole(loss)
      ? apart
      : known.filter((each) =>
        each.tableId !== tableId || !isWhole(each) && (each.id !== loss.id || each.key !== newest.key)
      );
    this.#byClient.set(
      client,
      [...kept, isMany ? { tableId, id: null, into: null, key: "" } : newest].sort(inOrder),
    );
  }

  /** What a transaction has to lock before its first statement. */
  before({ client, statements, notesReads, isAlone }: Loser): readonly Loss[] {
    if (this.#isNone || client === undefined || statements > 1 || !notesReads || isAlone) return NO_LOSSES;
    return this.#byClient.get(client) ?? NO_LOSSES;
  }
}

/** Whether it is a table. */
function isWhole({ id, into }: Loss): boolean {
  return id === null && into === null;
}

/** By table, tables before ranges, and those before rows. */
function inOrder(left: KeptLoss, right: KeptLoss): number {
  if (left.tableId !== right.tableId) return left.tableId - right.tableId;
  if (left.id === null && right.id === null) return left.key < right.key ? -1 : left.key > right.key ? 1 : 0;
  if (left.id === null || right.id === null) return left.id === null ? -1 : 1;
  return left.id < right.id ? -1 : left.id > right.id ? 1 : 0;
}
