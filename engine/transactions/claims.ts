/** How a transaction reserves what it defines anew: the catalog, and tables to which nobody else has written. */
import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogChange } from "../catalog/catalog_change.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import { tableTexts } from "../catalog/table_texts.ts";
import { StaleSnapshot, TableWait } from "./signals.ts";
import type { Transaction } from "./transaction.ts";
import type { TransactionManager } from "./transaction_manager.ts";

/**
 * One transaction at a time changes the catalog, but for temporary tables of its own session that need nothing which
 * others may change: `temporarySchema` is that session's schema.
 */
export function claimCatalog(
  manager: TransactionManager,
  transaction: Transaction,
  change: CatalogChange,
  temporarySchema: string | null,
): void {
  transaction.becomeInterruptible();
  if (temporarySchema !== null && isOfSession(change, temporarySchema, transaction.catalog)) return;
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

/** Whether a change is of a session's own temporary tables only, whatever others do to the catalog. */
function isOfSession(change: CatalogChange, schema: string, catalog: Catalog): boolean {
  switch (change.kind) {
    case "put_schema":
      return change.schema.name === schema;
    case "put_table":
      return change.table.schema === schema && needsNothing(change.table, schema, catalog);
    case "drop_table":
      return catalog.table(change.tableId)?.schema === schema;
    case "put_sequence":
      return change.sequence.schema === schema && change.sequence.ownedBy !== null;
    case "drop_sequence": {
      const sequence = catalog.sequence(change.sequenceId);
      return sequence?.schema === schema && sequence.ownedBy !== null;
    }
    default:
      return false;
  }
}

/** Whether a table's definition names only what is built in or in the schema of temporary tables. */
function needsNothing(table: TableDefinition, schema: string, catalog: Catalog): boolean {
  return table.columns.every(({ type }) => (type.kind === "array" ? type.element : type).kind !== "enum") &&
    table.constraints.every((each) =>
      each.kind !== "foreign_key" || each.referencedTableId === table.id ||
      catalog.table(each.referencedTableId)?.schema === schema
    ) &&
    // Texts of definitions have the schemas of what is neither built in nor temporary.
    !tableTexts(table).some((text) => text.replaceAll(`${schema}.`, "").includes("."));
}
