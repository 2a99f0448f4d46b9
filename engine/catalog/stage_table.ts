/**
 * The stage: a table of storage, in no catalog, that keeps the rows of a transaction too large for one entry until the
 * entry comes that makes them its own.
 *
 * Its rows are the bytes of encoded effects, {@link STAGE_ROW_BYTES} in each but the last, numbered from 1. So they
 * go through log, checkpoints, repair and state transfer as the rows of any table.
 */
import { plainColumn, type TableDefinition } from "./definitions.ts";

/** Bytes of a row: a block of a segment, which is read as a whole, has 4 096 of them. */
export const STAGE_ROW_BYTES = 1024;

/** The column with the bytes. */
export const STAGE_COLUMN_ID = 1;

/** What storage knows of the stage. No object of a catalog has its id. */
export const STAGE_TABLE: TableDefinition = {
  id: 0xffff_ffff,
  schema: "",
  name: "stage of a large transaction",
  columns: [plainColumn(STAGE_COLUMN_ID, "bytes", { kind: "bytea" }, { notNull: true })],
  nextColumnId: STAGE_COLUMN_ID + 1,
  rowIdColumn: null,
  constraints: [],
  indexes: [],
  triggers: [],
  options: {},
  comment: null,
};
