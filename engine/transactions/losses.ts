/**
 * What SERIALIZABLE transactions of each client have lost by (40001 and 40P01), so that the next one does not lose by
 * it again: before its first statement it locks those rows, against all who would change them, and where it had lost
 * by rows that came, their tables against all who write. It is forgotten when one of the client's transactions has
 * ended without a loss.
 *
 * They are in one order, so that those who have lost by the same rows wait for each other and meet no deadlock.
 */
import type { RowId } from "../operations/effect.ts";
import type { Conflict } from "./read_set.ts";
import type { WaitingClient } from "./wait_cycles.ts";

/** Rows of one table that are locked one by one; beyond them it is the table. */
const MAX_ROWS = 64;

/** A row that was changed, or a table: rows came to it, or it is not known which were changed. */
export interface Loss {
  readonly tableId: number;
  readonly id: RowId | null;
}

/** A transaction, as far as losses go. */
interface Loser {
  readonly client: WaitingClient | undefined;
  readonly notesReads: boolean;
  readonly isAlone: boolean;
  readonly isCommitted: boolean;
  readonly statements: number;
}

const NO_LOSSES: readonly Loss[] = [];

/** See the file's head. */
export class Losses {
  /** False where rows are elsewhere, and in tests whose clients never wait for each other. */
  remembers = true;
  readonly #byClient = new WeakMap<WaitingClient, readonly Loss[]>();
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

  /** It loses by what it has read. Answers what was given. */
  noted(transaction: Loser, conflict: Conflict): Conflict {
    const { tableId, id, cameNew } = conflict;
    this.note(transaction, { tableId, id: cameNew ? null : id });
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
    const { tableId, id } = loss;
    const others = (this.#byClient.get(client) ?? NO_LOSSES).filter((each) =>
      each.tableId !== tableId || each.id !== id && each.id !== null && id !== null
    );
    const isMany = others.filter((each) => each.tableId === tableId).length >= MAX_ROWS;
    const kept = isMany ? others.filter((each) => each.tableId !== tableId) : others;
    this.#byClient.set(client, [...kept, isMany ? { tableId, id: null } : loss].sort(inOrder));
  }

  /** What a transaction has to lock before its first statement. */
  before({ client, statements, notesReads, isAlone }: Loser): readonly Loss[] {
    if (this.#isNone || client === undefined || statements > 1 || !notesReads || isAlone) return NO_LOSSES;
    return this.#byClient.get(client) ?? NO_LOSSES;
  }
}

/** By table, tables before rows. */
function inOrder(left: Loss, right: Loss): number {
  if (left.tableId !== right.tableId) return left.tableId - right.tableId;
  if (left.id === null || right.id === null) return left.id === right.id ? 0 : left.id === null ? -1 : 1;
  return left.id < right.id ? -1 : left.id > right.id ? 1 : 0;
}
