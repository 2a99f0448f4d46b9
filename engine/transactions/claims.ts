/** How a transaction reserves what it defines anew: the catalog, and tables to which nobody else has written. */
import { StaleSnapshot, TableWait } from "./signals.ts";
import type { Transaction } from "./transaction.ts";
import type { TransactionManager } from "./transaction_manager.ts";

/** One transaction at a time changes the catalog. */
export function claimCatalog(manager: TransactionManager, transaction: Transaction): void {
  transaction.becomeInterruptible();
  const rival = manager.catalogOwner(transaction);
  if (rival !== undefined) throw new TableWait(rival, "the catalog");
}

/** Waits until no other open transaction has uncommitted rows in the table, and keeps new ones out. */
export function claimTable(
  manager: TransactionManager,
  transaction: Transaction,
  tableId: number,
  name: string,
): void {
  transaction.becomeInterruptible();
  const rival = manager.claimTable(tableId, transaction);
  if (rival !== undefined) throw new TableWait(rival, `relation "${name}"`);
  const { remote } = manager;
  // What it validates of the rows is not compared with what others have written.
  if (transaction.level !== "serializable" && remote?.isWrittenSince(transaction, tableId) === true) {
    throw new StaleSnapshot(tableId, null);
  }
}
