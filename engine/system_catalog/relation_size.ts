/**
 * Sizes and row counts of relations, as far as storage knows them. Rows in memory count with what they take there; an
 * index is part of its table's files, so that the bytes of a table are shared out by its number of columns.
 */
import type { TableDefinition } from "../catalog/definitions.ts";
import type { CatalogContext } from "./catalog_context.ts";
import { indexById, indexesOf } from "./table_objects.ts";

/** PostgreSQL's page size, in which relpages counts. */
const BLOCK_BYTES = 8192;

/** Rows of a table, without a scan; 0 for a table that is not committed yet. */
export function rowEstimate(context: CatalogContext, tableId: number): number {
  return context.machine.rowCount(tableId);
}

/** Bytes that a table's rows take, in files and in memory. */
function storedBytes(context: CatalogContext, tableId: number): number {
  const { machine } = context;
  return machine.catalog.table(tableId) === undefined ? 0 : machine.storedBytes(tableId);
}

/** The share of a table's bytes that its indexes have. */
function indexShare(table: TableDefinition): number {
  const keys = indexesOf(table).reduce(
    (sum, index) => sum + (index.stored === null ? 0 : index.columns.length),
    0,
  );
  return keys / (keys + table.columns.length + 1);
}

/** Bytes of a table without its indexes. */
export function tableBytes(context: CatalogContext, table: TableDefinition): number {
  return Math.round(storedBytes(context, table.id) * (1 - indexShare(table)));
}

/** Bytes of all indexes of a table. */
export function indexesBytes(context: CatalogContext, table: TableDefinition): number {
  return storedBytes(context, table.id) - tableBytes(context, table);
}

/** Bytes of a table, an index or a sequence; undefined when there is no such relation, 0 for views. */
export function relationBytes(context: CatalogContext, id: number): number | undefined {
  const table = context.catalog.table(id);
  if (table !== undefined) return tableBytes(context, table);
  if (context.catalog.sequence(id) !== undefined) return BLOCK_BYTES;
  const index = indexById(context.catalog, id);
  if (index !== undefined) {
    if (index.stored === null) return 0;
    const others = indexesOf(index.table).filter((each) => each.stored !== null).length;
    return Math.round(indexesBytes(context, index.table) / others);
  }
  return context.catalog.views.some((view) => view.id === id) ? 0 : undefined;
}

/** The same in PostgreSQL's pages, for relpages. */
export function sizeInBlocks(context: CatalogContext, id: number): number {
  return Math.ceil((relationBytes(context, id) ?? 0) / BLOCK_BYTES);
}

/** Bytes of the whole database: its tables. */
export function databaseBytes(context: CatalogContext): number {
  let total = 0;
  for (const table of context.machine.catalog.tables) total += storedBytes(context, table.id);
  return total;
}
