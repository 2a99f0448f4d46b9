/**
 * Columns: projections that only rename disappear, and no operator computes or reads what no operator above it needs.
 */
import type { OutputColumn } from "../binder/bound_query.ts";
import { columnReference, volatilityOf } from "../plan/build.ts";
import type { ColumnExpression, ColumnRef, Expression } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";
import { mapInputs, mapOperands, mapOwnExpressions } from "../plan/rewrite.ts";
import { allDefinedColumns, columnsOf, inputs, ownExpressions } from "../plan/traverse.ts";

/** Removes projections that only rename; answers what the result's columns are called now. */
export function removeRenames(
  plan: Plan,
  columns: readonly OutputColumn[],
): { readonly plan: Plan; readonly columns: readonly OutputColumn[] } {
  const renames = new Map<ColumnRef, ColumnExpression>();
  const rest = takeRenames(plan, renames);
  if (renames.size === 0) return { plan, columns };
  return {
    plan: applyRenames(rest, renames),
    columns: columns.map((each) => ({ ...each, column: resolve(each.column, renames) })),
  };
}

function takeRenames(plan: Plan, renames: Map<ColumnRef, ColumnExpression>): Plan {
  const inExpression = (expression: Expression): Expression =>
    mapOperands(expression, inExpression, (inner) => takeRenames(inner, renames));
  const next = mapOwnExpressions(mapInputs(plan, (input) => takeRenames(input, renames)), inExpression);
  if (next.kind !== "project" || plan.kind !== "project") return next;
  const own = allDefinedColumns(plan.input);
  const targets = new Set<ColumnRef>();
  for (const { expression } of next.outputs) {
    // Two names for one column may meet in a join with itself or in a set operation: they stay apart.
    if (expression.kind !== "column" || targets.has(expression.column)) return next;
    // A column of an outer query is no column of this input.
    if (!own.has(expression.column)) return next;
    targets.add(expression.column);
  }
  if (next.outputs.length === 0) return next;
  for (const { output, expression } of next.outputs) {
    if (expression.kind === "column") renames.set(output, expression);
  }
  return next.input;
}

function resolve(column: ColumnRef, renames: ReadonlyMap<ColumnRef, ColumnExpression>): ColumnRef {
  let result = column;
  for (let found = renames.get(result); found !== undefined; found = renames.get(result)) {
    result = found.column;
  }
  return result;
}

function applyRenames(plan: Plan, renames: ReadonlyMap<ColumnRef, ColumnExpression>): Plan {
  const inExpression = (expression: Expression): Expression => {
    const next = mapOperands(expression, inExpression, (inner) => applyRenames(inner, renames));
    switch (next.kind) {
      case "column": {
        const column = resolve(next.column, renames);
        return column === next.column
          ? next
          : columnReference(column, next.type, next.nullable || isNullable(next));
      }
      case "scalar_subquery":
      case "array_subquery":
        return { ...next, column: resolve(next.column, renames) };
      case "any_subquery":
      case "all_subquery":
        return { ...next, columns: next.columns.map((column) => resolve(column, renames)) };
      default:
        return next;
    }
  };
  const isNullable = (expression: ColumnExpression): boolean => {
    let nullable = expression.nullable;
    for (let found = renames.get(expression.column); found !== undefined; found = renames.get(found.column)) {
      nullable ||= found.nullable;
    }
    return nullable;
  };
  const next = mapOwnExpressions(mapInputs(plan, (input) => applyRenames(input, renames)), inExpression);
  const each = (column: ColumnRef) => resolve(column, renames);
  switch (next.kind) {
    case "set_operation":
      return {
        ...next,
        inputs: next.inputs.map((input) => ({ ...input, columns: input.columns.map(each) })),
      };
    case "with":
      return {
        ...next,
        definitions: next.definitions.map((definition) => ({
          ...definition,
          columns: definition.columns.map(each),
          recursive: definition.recursive === null
            ? null
            : { ...definition.recursive, columns: definition.recursive.columns.map(each) },
        })),
      };
    case "with_scan":
      return { ...next, columns: next.columns.map(each) };
    case "lock_rows":
      return { ...next, tables: next.tables.map((table) => ({ ...table, rowId: each(table.rowId) })) };
    case "update":
    case "delete":
      return { ...next, rowId: each(next.rowId), oldRow: next.oldRow.map(each) };
    default:
      return next;
  }
}

/** Removes what is not needed: columns of scans, computed columns, aggregates, window calls. */
export function pruneColumns(plan: Plan, needed: ReadonlySet<ColumnRef>): Plan {
  const own = (each: Plan): Set<ColumnRef> => {
    const result = new Set<ColumnRef>();
    for (const expression of ownExpressions(each)) {
      for (const column of columnsOf(expression)) result.add(column);
    }
    return result;
  };
  const withOwn = (each: Plan): Set<ColumnRef> => {
    const result = own(each);
    for (const column of needed) result.add(column);
    return result;
  };
  switch (plan.kind) {
    // Made when all columns are decided.
    case "gather":
    case "exchange":
      return plan;
    case "table_scan":
    case "row_lookup":
    case "row_range":
    case "index_scan": {
      const used = withOwn(plan);
      return {
        ...plan,
        columns: plan.columns.filter((column) => used.has(column.output)),
        rowId: plan.rowId !== null && used.has(plan.rowId) ? plan.rowId : null,
      };
    }
    case "virtual_scan": {
      const used = withOwn(plan);
      return { ...plan, columns: plan.columns.filter((column) => used.has(column.output)) };
    }
    case "values":
    case "with_scan":
      return plan;
    case "project": {
      const outputs = plan.outputs.filter((each) =>
        needed.has(each.output) || volatilityOf(each.expression) === "volatile"
      );
      const next = { ...plan, outputs };
      const input = pruneColumns(plan.input, own(next));
      return outputs.length === 0 ? input : { ...next, input };
    }
    case "aggregate": {
      const aggregates = plan.aggregates.filter((each) => needed.has(each.output));
      const groupings = plan.groupings.filter((each) => needed.has(each.output));
      const next = { ...plan, aggregates, groupings };
      return { ...next, input: pruneColumns(plan.input, own(next)) };
    }
    case "window": {
      const calls = plan.calls.filter((each) => needed.has(each.output));
      if (calls.length === 0) return pruneColumns(plan.input, needed);
      const next = { ...plan, calls };
      const used = own(next);
      for (const column of needed) used.add(column);
      return { ...next, input: pruneColumns(plan.input, used) };
    }
    case "set_operation":
      return {
        ...plan,
        inputs: plan.inputs.map((input) => ({
          ...input,
          plan: pruneColumns(input.plan, new Set(input.columns)),
        })),
      };
    case "with":
      return {
        ...plan,
        definitions: plan.definitions.map((each) => ({
          ...each,
          plan: pruneColumns(each.plan, new Set(each.columns)),
          recursive: each.recursive === null ? null : {
            ...each.recursive,
            plan: pruneColumns(each.recursive.plan, new Set(each.recursive.columns)),
          },
        })),
        body: pruneColumns(plan.body, needed),
      };
    case "lock_rows": {
      const used = new Set(needed);
      for (const table of plan.tables) used.add(table.rowId);
      return { ...plan, input: pruneColumns(plan.input, used) };
    }
    case "hash_join":
    case "nested_loop_join": {
      const used = withOwn(plan);
      if (plan.kind === "nested_loop_join" && plan.correlated) {
        for (const column of mentionedIn(plan.right)) used.add(column);
      }
      return { ...plan, left: pruneColumns(plan.left, used), right: pruneColumns(plan.right, used) };
    }
    case "update":
    case "delete": {
      const used = own(plan);
      used.add(plan.rowId);
      for (const column of plan.oldRow) used.add(column);
      return { ...plan, source: pruneColumns(plan.source, used) };
    }
    case "insert":
      return { ...plan, source: pruneColumns(plan.source, own(plan)) };
    case "distinct":
    case "filter":
    case "sort":
    case "limit":
    case "function_scan":
      return mapInputs(plan, (input) => pruneColumns(input, withOwn(plan)));
  }
}

/** Every column that a plan's expressions refer to. */
function mentionedIn(plan: Plan): Set<ColumnRef> {
  const result = new Set<ColumnRef>();
  for (const expression of ownExpressions(plan)) {
    for (const column of columnsOf(expression)) result.add(column);
  }
  for (const input of inputs(plan)) for (const column of mentionedIn(input)) result.add(column);
  return result;
}
