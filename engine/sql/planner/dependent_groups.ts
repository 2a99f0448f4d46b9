/**
 * Groups that others decide: with the key of a table all its columns are known, so that GROUP BY need not compare them.
 *
 * Columns decide others through unique keys without NULLs, and through equalities that hold in every row: those of
 * filters, inner joins and look-ups. Rows that an outer join extends have NULL in all of it, so that both hold above
 * one as well. Values that are equal but not the same (numeric 1.0 and 1.00, padded char) decide nothing.
 */
import {
  columnReference,
  conjuncts,
  hasSubquery,
  isExactType,
  sameType,
  volatilityOf,
  withoutIdentityCasts,
} from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";
import { mapInputs } from "../plan/rewrite.ts";
import { columnsOf } from "../plan/traverse.ts";
import type { SqlType } from "../../types/sql_type.ts";

type Aggregate = Plan & { readonly kind: "aggregate" };
type TableAccess = Extract<Plan, { kind: "table_scan" | "row_lookup" | "row_range" | "index_scan" }>;

/** All of `from` together decide all of `to`. */
interface Dependency {
  readonly from: readonly ColumnRef[];
  readonly to: readonly ColumnRef[];
}

/** Marks the dependent groups of all aggregations of a plan. */
export function markDependentGroups(plan: Plan): Plan {
  const next = mapInputs(plan, markDependentGroups);
  return next.kind === "aggregate" && next.groupingSets === null && next.groups.length > 1
    ? marked(next)
    : next;
}

function marked(plan: Aggregate): Plan {
  const dependencies: Dependency[] = [];
  collect(plan.input, dependencies);
  if (dependencies.length === 0) return plan;
  const keys = new Set(plan.groups.keys());
  const order = [...keys].sort((a, b) => costOf(plan, b) - costOf(plan, a));
  for (const index of order) {
    const group = plan.groups[index]?.expression;
    if (group === undefined || hasSubquery(group) || volatilityOf(group) === "volatile") continue;
    const others = [...keys].filter((each) => each !== index).flatMap((each) => {
      const key = plan.groups[each]?.expression;
      const plain = key === undefined ? undefined : withoutIdentityCasts(key);
      return plain?.kind === "column" ? [plain.column] : [];
    });
    const columns = [...columnsOf(group)];
    const decided = closure(others, dependencies);
    if (columns.length > 0 && columns.every((column) => decided.has(column))) keys.delete(index);
  }
  if (keys.size === plan.groups.length) return plan;
  return {
    ...plan,
    groups: plan.groups.map(({ output, expression }, index) =>
      keys.has(index) ? { output, expression } : { output, expression, isDependent: true }
    ),
  };
}

/** What a comparison of the group costs, roughly: the dearest are spared first. */
function costOf(plan: Aggregate, index: number): number {
  const group = plan.groups[index]?.expression;
  if (group === undefined) return 0;
  return isWhole(group.type) ? 0 : 1;
}

function closure(columns: readonly ColumnRef[], dependencies: readonly Dependency[]): ReadonlySet<ColumnRef> {
  const decided = new Set(columns);
  for (let size = -1; size !== decided.size;) {
    size = decided.size;
    for (const { from, to } of dependencies) {
      if (from.every((column) => decided.has(column))) { for (const column of to) decided.add(column); }
    }
  }
  return decided;
}

function collect(plan: Plan, into: Dependency[]): void {
  switch (plan.kind) {
    case "table_scan":
    case "row_lookup":
    case "row_range":
    case "index_scan":
      return collectTable(plan, into);
    case "filter":
      collectEqualities(plan.condition, into);
      return collect(plan.input, into);
    case "hash_join":
      if (plan.join === "inner") {
        plan.leftKeys.forEach((left, index) => addEquality(left, plan.rightKeys[index], into));
        collectEqualities(plan.residual, into);
      }
      collect(plan.left, into);
      return plan.join === "semi" || plan.join === "anti" ? undefined : collect(plan.right, into);
    case "nested_loop_join":
      if (plan.join === "inner") collectEqualities(plan.condition, into);
      collect(plan.left, into);
      // The equalities of a look-up are those of the join: they hold where the join does not extend rows.
      if (plan.join === "inner") collect(plan.right, into);
      return;
    case "project":
    case "sort":
    case "limit":
      return collect(plan.input, into);
    default:
      return;
  }
}

function collectTable(plan: TableAccess, into: Dependency[]): void {
  collectEqualities(plan.filter, into);
  const { table } = plan;
  const outputs = new Map(plan.columns.map(({ columnId, output }) => [columnId, output]));
  const to = [...outputs.values()];
  const typeOf = (columnId: number) => table.columns.find((column) => column.id === columnId);
  const addKey = (columnIds: readonly number[]) => {
    const from = columnIds.map((columnId) => outputs.get(columnId)).filter((column) => column !== undefined);
    const isExact = columnIds.every((columnId) => {
      const column = typeOf(columnId);
      return column !== undefined && column.notNull && isExactType(column.type);
    });
    if (from.length === columnIds.length && isExact) into.push({ from, to });
  };
  if (table.rowIdColumn !== null) addKey([table.rowIdColumn]);
  for (const index of table.indexes) {
    if (index.unique && index.predicateText === null) addKey(index.columns.map(({ columnId }) => columnId));
  }
  const addLookup = (columnId: number | null | undefined, value: Expression | undefined) => {
    const output = columnId === null || columnId === undefined ? undefined : outputs.get(columnId);
    const type = columnId === null || columnId === undefined ? undefined : typeOf(columnId)?.type;
    if (output !== undefined && type !== undefined) {
      addEquality(columnReference(output, type, false), value, into);
    }
  };
  if (plan.kind === "row_lookup" && plan.ids.length === 1) addLookup(table.rowIdColumn, plan.ids[0]);
  if (plan.kind === "index_scan") {
    plan.prefix.forEach((value, position) => addLookup(plan.index.columns[position]?.columnId, value));
  }
}

function collectEqualities(condition: Expression | null, into: Dependency[]): void {
  for (const part of conjuncts(condition)) {
    if (part.kind === "call" && part.function.name === "=") addEquality(part.args[0], part.args[1], into);
  }
}

function addEquality(left: Expression | undefined, right: Expression | undefined, into: Dependency[]): void {
  if (left === undefined || right === undefined) return;
  const [a, b] = [withoutIdentityCasts(left), withoutIdentityCasts(right)];
  if (a.kind !== "column" || b.kind !== "column") return;
  if (!sameType(a.type, b.type) || !isExactType(a.type)) return;
  into.push({ from: [a.column], to: [b.column] }, { from: [b.column], to: [a.column] });
}

function isWhole(type: SqlType): boolean {
  return type.kind === "i16" || type.kind === "i32" || type.kind === "i64" || type.kind === "date";
}
