/** Which index scans look at no column of a row. */
import { isInKeys } from "../../storage/table/index_key.ts";
import type { Plan } from "./plan.ts";

type IndexScan = Plan & { readonly kind: "index_scan" };

/** The position of a column that is the row's id. */
export const ROW_ID_POSITION = -1;

/**
 * The positions in an index's key of the columns that a scan reads, {@link ROW_ID_POSITION} for the row's id; null:
 * they are not all known without the row.
 */
export function keyPositions(plan: IndexScan): readonly number[] | null {
  const positions: number[] = [];
  for (const { columnId, type } of plan.columns) {
    const isId = columnId === plan.table.rowIdColumn;
    const position = plan.index.columns.findIndex((key) => key.columnId === columnId);
    if (!isId && (position < 0 || !isInKeys(type))) return null;
    positions.push(isId ? ROW_ID_POSITION : position);
  }
  return positions;
}
