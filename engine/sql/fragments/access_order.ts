/** The order in which a read of a table gives its rows. */
import { assertDefined } from "../../base/assert.ts";
import { columnReference } from "../plan/build.ts";
import type { ColumnRef } from "../plan/expression.ts";
import type { Plan, SortKey } from "../plan/plan.ts";
import type { Access } from "./plan_facts.ts";

/** An access with the columns that its order is of, though nobody else may read them. */
export function accessInOrder(
  plan: Access,
  newColumn: () => ColumnRef,
): { readonly plan: Plan; readonly order: readonly SortKey[] } {
  switch (plan.kind) {
    case "table_scan":
    case "row_lookup":
      return { plan, order: [] };
    case "row_range": {
      const rowId = plan.rowId ?? newColumn();
      const expression = columnReference(rowId, { kind: "i64" }, false);
      const order = [{ expression, descending: plan.backward, nullsFirst: plan.backward }];
      return { plan: { ...plan, rowId }, order };
    }
    case "index_scan": {
      const columns = [...plan.columns];
      const order = plan.index.columns.slice(plan.prefix.length).map((key): SortKey => {
        let column = columns.find(({ columnId }) => columnId === key.columnId);
        if (column === undefined) {
          const definition = plan.table.columns.find(({ id }) => id === key.columnId);
          const { type } = assertDefined(definition, `column ${key.columnId}`);
          column = { columnId: key.columnId, output: newColumn(), type, nullable: true };
          columns.push(column);
        }
        return {
          expression: columnReference(column.output, column.type, column.nullable),
          descending: key.descending !== plan.backward,
          nullsFirst: key.nullsFirst !== plan.backward,
        };
      });
      return { plan: { ...plan, columns }, order };
    }
  }
}
