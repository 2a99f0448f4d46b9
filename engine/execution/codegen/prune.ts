/**
 * Generated code of what storage is asked by value: zone predicates of scans, bounds and keys of lookups.
 */
import type { Expression } from "../../sql/plan/expression.ts";
import type { Plan, RangeBounds, ScanPrune } from "../../sql/plan/plan.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { Emitter, Value } from "./emitter.ts";
import { emitValue } from "./expression.ts";
import { isExecutionConstant } from "./plan_analysis.ts";
import { anyNull, formOf } from "./value_form.ts";

type TableScan = Extract<Plan, { kind: "table_scan" }>;

/** Emits a function body that answers a scan's zone predicates, or null when a bound is NULL and no row can match. */
export function emitZonePredicates(code: Emitter, plan: TableScan): void {
  const predicates: string[] = [];
  for (const prune of plan.prune) {
    const column = plan.table.columns.find(({ id }) => id === prune.columnId);
    if (column === undefined || !isUsable(prune, column.type)) continue;
    const value = emitValue(code, prune.value);
    if (value.isNull !== null) code.emit(`if (${value.isNull}) return null;`);
    predicates.push(
      `{ columnId: ${prune.columnId}, operator: "${prune.operator}", value: ${
        storedForm(column.type, value)
      } }`,
    );
  }
  code.emit(`return [${predicates.join(", ")}];`);
}

/** A text without the padding of the column's char(n) would mislead the zone maps; the filter is there anyway. */
function isUsable({ value }: ScanPrune, type: SqlType): boolean {
  return isExecutionConstant(value) && (type.kind !== "char" || value.type.kind === "char");
}

/**
 * The expression of a key's stored form. Keys are of types that are stored as they are, booleans apart (see
 * `isSameForm`).
 */
export function storedForm(type: SqlType, value: Value): string {
  return formOf(type) === "boolean" ? `(${value.code} ? 1 : 0)` : value.code;
}

/** Emits index bounds; `nullTest` says that a bound is NULL, so that nothing can match. */
export function emitBounds(
  code: Emitter,
  options: {
    readonly prefix: readonly Expression[];
    readonly bounds: RangeBounds;
    readonly backward: boolean;
  },
): { readonly bounds: string; readonly nullTest: string | null } {
  const tests: (string | null)[] = [];
  const stored = (expression: Expression): string => {
    const value = emitValue(code, expression);
    tests.push(value.isNull);
    return storedForm(expression.type, value);
  };
  const prefix = options.prefix.map(stored);
  const bound = (side: RangeBounds["low"]): string =>
    side === null ? "null" : `{ value: ${stored(side.value)}, inclusive: ${side.inclusive} }`;
  const low = bound(options.bounds.low);
  const high = bound(options.bounds.high);
  return {
    bounds: `{ prefix: [${prefix.join(", ")}], low: ${low}, high: ${high}, backward: ${options.backward} }`,
    nullTest: anyNull(tests),
  };
}
