/** Which of a transaction's reads need no vote of the shards: the router knows that nothing has come in the way. */
import type { Catalog } from "../catalog/catalog.ts";
import { forbidsDuplicates } from "../catalog/index_keys.ts";
import type { RowId } from "../operations/effect.ts";
import type { ReadPredicate } from "../transactions/read_set.ts";
import type { Transaction } from "../transactions/transaction.ts";
import type { Branch } from "./branch.ts";
import type { CommittedChanges } from "./committed_changes.ts";

/** What a transaction has read at shards. */
export interface TransactionReads {
  readonly transaction: Transaction;
  readonly branch: Branch | undefined;
  readonly reads: readonly ReadPredicate[];
}

/** What the router knows. */
export interface KnownOfCommits {
  readonly changes: CommittedChanges;
  catalog(): Catalog;
  /** Commits that write more than single rows are on their way. */
  hasOpenBulks(): boolean;
  isAboveAll(tableId: number, id: RowId): boolean;
  changedSince(transaction: Transaction, tableId: number, id: RowId): boolean;
}

/** See the file's head. */
export class CertainReads {
  readonly #known: KnownOfCommits;

  constructor(known: KnownOfCommits) {
    this.#known = known;
  }

  /** What a transaction has read, and others may have changed. */
  uncertain(read: TransactionReads): readonly ReadPredicate[] {
    const { transaction, reads } = read;
    if (reads.length === 0) return reads;
    if (this.#known.hasOpenBulks() || transaction.hasDdl || transaction.hasBatches) return reads;
    const newOnly = new Set(
      [...transaction.writtenTables].filter((tableId) =>
        transaction.writtenTo(tableId)?.rows.every(({ existed }) => !existed) === true
      ),
    );
    return reads.filter((each) => !this.#isCertain(read, each, newOnly));
  }

  /**
   * Whether others cannot have changed what was read: a single row that the transaction writes itself, so that it
   * has its lock, and that nobody has changed between its cut and its lock; or that a key was free, which it gives to a
   * new row. `newOnly`: tables of which it has written new rows only.
   */
  #isCertain({ transaction, branch }: TransactionReads, read: ReadPredicate, newOnly: Set<number>): boolean {
    const { changes } = this.#known;
    if (read.kind === "id") {
      if (transaction.writtenTo(read.tableId)?.byId.get(read.id) === undefined) return false;
      if (this.#known.isAboveAll(read.tableId, read.id)) return true;
    } else if (read.kind !== "index") return false;
    if (branch === undefined || branch.begun.size === 0 || !changes.remembers(branch.cut)) return false;
    if (changes.hasBulk(read.tableId, branch.cut)) return false;
    return read.kind === "id"
      ? !this.#known.changedSince(transaction, read.tableId, read.id)
      : newOnly.has(read.tableId) && this.#isNewKey(transaction, read, branch.cut);
  }

  #isNewKey(
    transaction: Transaction,
    { tableId, columnIds, bounds }: Extract<ReadPredicate, { readonly kind: "index" }>,
    cut: number,
  ): boolean {
    const table = this.#known.catalog().table(tableId), writeSet = transaction.writtenTo(tableId);
    if (table === undefined || writeSet === undefined) return false;
    const key = bounds.prefix;
    for (const index of table.indexes) {
      const isWhole = index.unique && index.columns.length === key.length &&
        columnIds.length === key.length && index.columns.every(({ columnId }, at) =>
          columnId === columnIds[at]
        );
      if (!isWhole || !forbidsDuplicates(index, key)) continue;
      return [...writeSet.lookup(index, key)].length > 0 &&
        !this.#known.changes.isGiven(table, index, key, cut);
    }
    return false;
  }
}
