/** What becomes of temporary tables when their transaction ends. */
import { dropTableChanges, ON_COMMIT, tablesOnCommit } from "../catalog/temporary_schema.ts";
import type { Transaction } from "../transactions/transaction.ts";

/** ON COMMIT DELETE ROWS and ON COMMIT DROP of the tables in a session's temporary schema. */
export function endTemporaryTables(transaction: Transaction, schema: string): void {
  if (transaction.neverWrites && !transaction.hasEffects) return;
  for (const table of tablesOnCommit(transaction.catalog, schema)) {
    if (table.options[ON_COMMIT] === "drop") {
      for (const change of dropTableChanges(transaction.catalog, table)) transaction.change(change, schema);
    } else if (transaction.table(table.id).estimatedRows > 0) transaction.truncate(table.id);
  }
}
