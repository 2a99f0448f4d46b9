/**
 * What a fragment's rows have in common: values of columns that its conditions name. Where rows are placed by such a
 * column one shard has all of them.
 */
import type { TableDefinition } from "../../catalog/definitions.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { conjuncts, sameType, withoutIdentityCasts } from "../plan/build.ts";
import type { Expression } from "../plan/expression.ts";
import type { FragmentPoint, Plan } from "../plan/plan.ts";
import { inKeyForm } from "../planner/key_form.ts";
import { convertExactly } from "../planner/simplify.ts";

type Access = Plan & { readonly kind: "table_scan" | "row_lookup" | "row_range" | "index_scan" };

/** What all rows that a fragment looks at have in common. */
export function pointsOf(plan: Plan): FragmentPoint[] {
  switch (plan.kind) {
    case "row_lookup": {
      const [value, ...more] = plan.ids;
      const isOne = value !== undefined && more.length === 0;
      return [...(isOne ? pointOf(plan.table, null, value) : []), ...filterPoints(plan)];
    }
    case "table_scan":
      return [
        ...plan.prune.flatMap(({ columnId, operator, value }) =>
          operator === "=" ? pointOf(plan.table, columnId, value) : []
        ),
        ...filterPoints(plan),
      ];
    case "index_scan":
      return [
        ...plan.prefix.flatMap((value, part) => {
          const key = plan.index.columns[part];
          return key === undefined ? [] : pointOf(plan.table, key.columnId, value);
        }),
        ...filterPoints(plan),
      ];
    case "row_range":
      return filterPoints(plan);
    case "filter":
    case "project":
    case "limit":
    case "sort":
    case "distinct":
    case "aggregate":
      return pointsOf(plan.input);
    case "nested_loop_join":
      return plan.join === "right" || plan.join === "full" ? [] : pointsOf(plan.left);
    case "hash_join":
      return [
        ...(plan.join === "right" || plan.join === "full" ? [] : pointsOf(plan.left)),
        ...(plan.join === "inner" || plan.join === "right" ? pointsOf(plan.right) : []),
      ];
    default:
      return [];
  }
}

/** The row that a statement changes or locks, where its id says which; null: it does not, or there are several. */
export function lockedPoint(plan: Plan): FragmentPoint | null {
  switch (plan.kind) {
    case "update":
    case "delete":
      return soleRow(plan.source, plan.table.id);
    case "lock_rows":
      return plan.tables.length === 1 ? soleRow(plan.input, plan.tables[0]?.table.id) : null;
    case "project":
    case "limit":
      return lockedPoint(plan.input);
    default:
      return null;
  }
}

function soleRow(plan: Plan, tableId: number | undefined): FragmentPoint | null {
  switch (plan.kind) {
    case "row_lookup": {
      const [value, ...more] = plan.ids;
      if (value === undefined || more.length > 0 || plan.table.id !== tableId) return null;
      return pointOf(plan.table, null, value)[0] ?? null;
    }
    case "project":
    case "filter":
    case "limit":
      return soleRow(plan.input, tableId);
    default:
      return null;
  }
}

/** Columns that conditions compare with a value of their own type. */
function filterPoints({ table, columns, filter }: Access): FragmentPoint[] {
  return conjuncts(filter).flatMap((condition) => {
    if (condition.kind !== "call" || condition.function.name !== "=") return [];
    const [left, right] = condition.args;
    if (left === undefined || right === undefined) return [];
    return [[left, right], [right, left]].flatMap(([side, value]) => {
      const own = side === undefined ? undefined : withoutIdentityCasts(side);
      if (own?.kind !== "column" || value === undefined) return [];
      const column = columns.find(({ output }) => output === own.column);
      const wanted = inFormOf(own.type, value);
      return column === undefined || wanted === undefined ? [] : pointOf(table, column.columnId, wanted);
    });
  });
}

/** A value as a column of the type has it; undefined: it is another one there. */
function inFormOf(type: SqlType, value: Expression): Expression | undefined {
  if (sameType(type, value.type)) return value;
  const isWide = type.kind === "numeric" && type.scale === undefined && value.type.kind === "numeric";
  return isWide ? convertExactly(value, { kind: "numeric" }) : inKeyForm(value, type);
}

function pointOf(
  { id: tableId, columns }: TableDefinition,
  columnId: number | null,
  value: Expression,
): FragmentPoint[] {
  if (value.kind !== "parameter" && value.kind !== "constant") return [];
  const type = columnId === null ? value.type : columns.find(({ id }) => id === columnId)?.type;
  return type === undefined ? [] : [{ tableId, columnId, type, value }];
}
