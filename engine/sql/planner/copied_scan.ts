/**
 * A second scan of a table beside the one that a statement has.
 */
import { columnReference } from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";
import { substitute } from "../plan/rewrite.ts";

type Scan = Plan & { readonly kind: "table_scan" };

/** The same scan with columns of its own. */
export function copiedScan(
  scan: Scan,
  newColumn: () => ColumnRef,
): { readonly scan: Scan; readonly columns: ReadonlyMap<ColumnRef, Expression> } {
  const columns = new Map<ColumnRef, Expression>();
  const copies = scan.columns.map((column) => {
    const output = newColumn();
    columns.set(column.output, columnReference(output, column.type, column.nullable));
    return { ...column, output };
  });
  let rowId = scan.rowId;
  if (rowId !== null) {
    const output = newColumn();
    columns.set(rowId, columnReference(output, { kind: "i64" }, false));
    rowId = output;
  }
  const filter = scan.filter === null ? null : substitute(scan.filter, columns);
  return { scan: { ...scan, columns: copies, rowId, filter }, columns };
}
