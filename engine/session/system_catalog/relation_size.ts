/**
 * Sizes and row counts of relations, as far as storage knows them. Rows in memory count with what they take there; an index
 * is part of its table's files, so that the bytes of a table are shared out by its number of columns.
 */
import type { TableDefinition } from "../../catalog/definitions.ts";
import type { Session } from "../session.ts";
import { indexById, indexesOf } from "./table_objects.ts";

/** PostgreSQL's page size, in which relpages counts. */
const BLOCK_BYTES = 8192;

/** Rows of a table, without a scan; 0 for a table that is not committed yet. */
export function rowEstimate(session: Session, tableId: number): number {
  const { machine } = session.engine;
  return machine.catalog.table(tableId) === undefined ? 0 : machine.store(tableId).rowCount;
}

/** Bytes that a table's rows take, in files and in memory. */
function storedBytes(session: Session, tableId: number): number {
  const { machine } = session.engine;
  if (machine.catalog.table(tableId) === undefined) return 0;
  const store = machine.store(tableId);
  return store.layout().fileBytes + store.memoryBytes;
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
export function tableBytes(session: Session, table: TableDefinition): number {
  return Math.round(storedBytes(session, table.id) * (1 - indexShare(table)));
}

/** Bytes of all indexes of a table. */
export function indexesBytes(session: Session, table: TableDefinition): number {
  return storedBytes(session, table.id) - tableBytes(session, table);
}

/** Bytes of a table, an index or a sequence; undefined when there is no such relation, 0 for views. */
export function relationBytes(session: Session, id: number): number | undefined {
  const table = session.catalog.table(id);
  if (table !== undefined) return tableBytes(session, table);
  if (session.catalog.sequence(id) !== undefined) return BLOCK_BYTES;
  const index = indexById(session.catalog, id);
  if (index !== undefined) {
    if (index.stored === null) return 0;
    const others = indexesOf(index.table).filter((each) => each.stored !== null).length;
    return Math.round(indexesBytes(session, index.table) / others);
  }
  return session.catalog.views.some((view) => view.id === id) ? 0 : undefined;
}

/** The same in PostgreSQL's pages, for relpages. */
export function sizeInBlocks(session: Session, id: number): number {
  return Math.ceil((relationBytes(session, id) ?? 0) / BLOCK_BYTES);
}

/** Bytes of the whole database: its tables. */
export function databaseBytes(session: Session): number {
  let total = 0;
  for (const table of session.engine.machine.catalog.tables) total += storedBytes(session, table.id);
  return total;
}
