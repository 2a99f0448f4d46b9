/**
 * Generated code of what storage is asked by value: zone predicates of scans, bounds and keys of lookups.
 */
import type { Expression } from "../../sql/plan/expression.ts";
import type { Plan, RangeBounds, ScanPrune } from "../../sql/plan/plan.ts";
import { toStored } from "../../types/stored_value.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
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
        storedForm(code, column.type, value)
      } }`,
    );
  }
  code.emit(`return [${predicates.join(", ")}];`);
}

/** A bound of another representation than the column's would mislead the zone maps; the filter is there anyway. */
function isUsable(prune: ScanPrune, type: SqlType): boolean {
  if (!isExecutionConstant(prune.value)) return false;
  const given = prune.value.type;
  if (given.kind === "numeric" || type.kind === "numeric") {
    return given.kind === "numeric" && type.kind === "numeric" && given.scale !== undefined &&
      given.scale === type.scale;
  }
  if (given.kind === type.kind) return true;
  const forms = [formOf(given), formOf(type)];
  const integers = (kind: SqlType["kind"]) => /^[iu]\d+$/.test(kind);
  return integers(given.kind) && integers(type.kind) || forms.every((form) => form === "string") &&
      given.kind !== "char" && type.kind !== "char";
}

/** The expression of a value's stored form. */
export function storedForm(code: Emitter, type: SqlType, value: Value): string {
  if (value.isNull === "true") return "null";
  const form = formOf(type);
  if (form === "boolean") return `(${value.code} ? 1 : 0)`;
  if (form !== "object" || type.kind === "bytea" || type.kind === "bytes") return value.code;
  const convert = code.use("toStored", (stored: SqlValue) => toStored(type, stored));
  return `${convert}(${value.code})`;
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
    return storedForm(code, expression.type, value);
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
