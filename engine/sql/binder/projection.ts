/**
 * The select list of a SELECT block with what follows it: DISTINCT, ORDER BY, row locks.
 *
 * As in PostgreSQL, items that ORDER BY does not name are computed after the sort when they are volatile or return
 * sets: `SELECT nextval('s') … ORDER BY a LIMIT 2` draws two values, in the order of the rows.
 */
import { SQLSTATE } from "../../base/errors.ts";
import type { LockingClause, SortKey as SortKeyAst } from "../parser/ast.ts";
import { columnReference, expressionKey, isNullable, volatilityOf } from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import { LOCK_STRENGTHS, type LockedTable, type Plan, type SortKey } from "../plan/plan.ts";
import { rewriteExpression } from "../plan/rewrite.ts";
import { allDefinedColumns, columnsOf, operands } from "../plan/traverse.ts";
import type { Binding } from "./binding.ts";
import { requireEquality, sortKeyOf } from "./call_binder.ts";
import { lockName, type OutputColumn } from "./bound_query.ts";
import type { PendingSetFunction, QueryLevel } from "./scope.ts";
import type { BoundTarget } from "./select_binder.ts";

/** A key of ORDER BY or DISTINCT ON. */
export interface OrderItem {
  readonly ast: SortKeyAst;
  /** Set when the key is an item of the select list. */
  readonly target: BoundTarget | null;
  expression: Expression;
}

/** What is computed of the rows. */
export interface Projection {
  readonly targets: readonly BoundTarget[];
  readonly order: readonly OrderItem[];
  readonly distinctOn: readonly OrderItem[];
  readonly isDistinct: boolean;
  readonly locking: readonly LockingClause[];
  readonly position: number;
}

type ProjectionOutput = { readonly output: ColumnRef; readonly expression: Expression };

/** Columns that are computed together; equal expressions once. */
class Outputs {
  readonly list: ProjectionOutput[] = [];
  readonly #binding: Binding;
  readonly #byKey = new Map<string, Expression>();

  constructor(binding: Binding) {
    this.#binding = binding;
  }

  /** The column that holds an expression's value. */
  add(expression: Expression): Expression {
    const key = this.#binding.keyOf(expression);
    const shared = volatilityOf(expression) === "volatile" ? undefined : this.#byKey.get(key);
    if (shared !== undefined) return { ...shared };
    const output = this.#binding.newColumn();
    this.list.push({ output, expression });
    const reference = columnReference(output, expression.type, isNullable(expression));
    this.#byKey.set(key, reference);
    return reference;
  }
}

interface Projected {
  readonly plan: Plan;
  readonly columns: readonly OutputColumn[];
  /** ORDER BY's, for WITH TIES. */
  readonly keys: readonly SortKey[];
}

/** Adds the operators of the select list to those beneath. */
export function addProjection(
  binding: Binding,
  level: QueryLevel,
  beneath: Plan,
  projection: Projection,
): Projected {
  const projected = projectedOver(binding, level, beneath, projection);
  // Outside of the query its sets are rows like any others.
  for (const { outputs } of level.setFunctions.flat()) {
    for (const each of outputs) binding.setOutputs.delete(each);
  }
  return projected;
}

function projectedOver(
  binding: Binding,
  level: QueryLevel,
  beneath: Plan,
  projection: Projection,
): Projected {
  const { targets, order, distinctOn, isDistinct } = projection;
  const named = new Set([...order, ...distinctOn].map((item) => item.target));
  const returnsSet = (expression: Expression) =>
    [...columnsOf(expression)].some((column) => binding.setOutputs.has(column));
  const comesLate = order.length > 0 && !isDistinct;
  const setsAreLate = comesLate && ![...order, ...distinctOn].some((item) => returnsSet(item.expression));
  const isLate = (target: BoundTarget) =>
    comesLate && !named.has(target) &&
    (returnsSet(target.expression) ? setsAreLate : callsVolatile(target.expression));
  const input = setsAreLate ? beneath : addSetFunctions(level.setFunctions, beneath);
  // A column of an outer query is no column of this one's result until it is projected.
  const own = allDefinedColumns(input);
  const isOwnColumn = ({ expression }: { readonly expression: Expression }) =>
    expression.kind === "column" && own.has(expression.column);
  const hasLate = targets.some(isLate);
  const needsProjection = hasLate || !targets.every(isOwnColumn) ||
    [...order, ...distinctOn].some(({ expression }) => volatilityOf(expression) === "volatile");
  const outputs = new Outputs(binding);
  const project = (expression: Expression) => needsProjection ? outputs.add(expression) : expression;
  const passed = (expression: Expression): Expression =>
    rewriteExpression(
      expression,
      (part) => part.kind === "column" && own.has(part.column) ? project(part) : part,
    );
  const values = targets.map((target) =>
    isLate(target) ? passed(target.expression) : project(target.expression)
  );
  const referenceOf = (item: OrderItem): Expression => {
    const index = item.target === null ? -1 : targets.indexOf(item.target);
    return values[index] ?? project(item.expression);
  };
  const keys = order.map((item) => {
    if (isDistinct && item.target === null) {
      throw binding.error(
        SQLSTATE.invalidColumnReference,
        "for SELECT DISTINCT, ORDER BY expressions must appear in select list",
        item.ast.expression.position,
      );
    }
    return sortKeyOf(binding, referenceOf(item), item.ast);
  }).filter((key) => columnsOf(key.expression).size > 0 || volatilityOf(key.expression) === "volatile");
  const distinctKeys = distinctOn.map(referenceOf);
  checkDistinctOn(binding, distinctOn, distinctKeys, keys);
  const locks = lockedTables(binding, level, projection.locking).map((lock) => {
    const reference = project(columnReference(lock.rowId, { kind: "i64" }, false));
    return { ...lock, rowId: reference.kind === "column" ? reference.column : lock.rowId };
  });
  const lateSets = !setsAreLate
    ? []
    : level.setFunctions.map((list) => list.map((each) => ({ ...each, args: each.args.map(passed) })));
  let plan: Plan = needsProjection ? { kind: "project", input, outputs: outputs.list, rows: 0 } : input;
  if (isDistinct) {
    for (const { expression } of targets) requireEquality(binding, expression.type, projection.position);
    plan = { kind: "distinct", input: plan, keys: values, rows: 0 };
  }
  // DISTINCT ON keeps the first row of each group in the order asked for.
  const sortKeys = distinctKeys.length === 0 ? keys : orderForDistinctOn(distinctKeys, keys);
  if (sortKeys.length > 0) plan = { kind: "sort", input: plan, keys: sortKeys, limit: null, rows: 0 };
  if (distinctKeys.length > 0) {
    plan = { kind: "distinct", input: plan, keys: distinctKeys, keepsOrder: true, rows: 0 };
  }
  if (locks.length > 0) {
    binding.locks = true;
    plan = { kind: "lock_rows", input: plan, tables: locks, rows: 0 };
  }
  if (!hasLate && lateSets.length === 0) return { plan, columns: columnsOfTargets(targets, values), keys };
  const late = new Outputs(binding);
  const shown = values.map((value) => late.add(value));
  const lateKeys = keys.map((key) => ({ ...key, expression: late.add(key.expression) }));
  plan = { kind: "project", input: addSetFunctions(lateSets, plan), outputs: late.list, rows: 0 };
  return { plan, columns: columnsOfTargets(targets, shown), keys: lateKeys };
}

/** Whether an expression itself, not a subquery in it, is volatile. */
function callsVolatile(expression: Expression): boolean {
  if (expression.kind === "call" && expression.function.volatility === "volatile") return true;
  return operands(expression).some(callsVolatile);
}

function columnsOfTargets(
  targets: readonly BoundTarget[],
  values: readonly Expression[],
): readonly OutputColumn[] {
  return targets.map((target, index): OutputColumn => {
    const value = values[index];
    return {
      name: target.name,
      column: value?.kind === "column" ? value.column : 0,
      type: target.expression.type,
      nullable: isNullable(target.expression),
      tableId: target.tableId,
      columnId: target.columnId,
    };
  });
}

/** The rows with what set-returning functions make of each, by nesting depth. */
export function addSetFunctions(lists: readonly (readonly PendingSetFunction[])[], input: Plan): Plan {
  let plan = input;
  for (const functions of lists) {
    plan = { kind: "function_scan", input: plan, functions, ordinality: null, rows: 0 };
  }
  return plan;
}

function checkDistinctOn(
  binding: Binding,
  items: readonly OrderItem[],
  distinctKeys: readonly Expression[],
  keys: readonly SortKey[],
): void {
  const wanted = new Set(distinctKeys.map(expressionKey));
  const seen = new Set<string>();
  for (const key of keys) {
    if (seen.size === wanted.size) return;
    const text = expressionKey(key.expression);
    if (!wanted.has(text)) {
      throw binding.error(
        SQLSTATE.invalidColumnReference,
        "SELECT DISTINCT ON expressions must match initial ORDER BY expressions",
        items[0]?.ast.position,
      );
    }
    seen.add(text);
  }
}

function orderForDistinctOn(
  distinctKeys: readonly Expression[],
  keys: readonly SortKey[],
): readonly SortKey[] {
  const present = new Set(keys.map((key) => expressionKey(key.expression)));
  const missing = distinctKeys.filter((each) => !present.has(expressionKey(each)));
  return [...keys, ...missing.map((expression) => ({ expression, descending: false, nullsFirst: false }))];
}

/** Ways to wait for a lock; of several for one table the last counts, as in PostgreSQL. */
const WAITS: readonly LockedTable["wait"][] = ["wait", "skip locked", "nowait"];

/** The tables whose rows are locked: of several clauses for one table the strongest counts. */
function lockedTables(
  binding: Binding,
  level: QueryLevel,
  locking: readonly LockingClause[],
): readonly LockedTable[] {
  const locked = new Map<ColumnRef, LockedTable>();
  for (const clause of locking) {
    for (const name of clause.tables) {
      if (!level.from.tables.some((table) => table.name === name.name)) {
        throw binding.error(
          SQLSTATE.undefinedTable,
          `relation "${name.name}" in ${lockName(clause)} clause not found in FROM clause`,
          name.position,
        );
      }
    }
    for (const table of level.from.tables) {
      if (clause.tables.length > 0 && !clause.tables.some((name) => name.name === table.name)) continue;
      if (table.table === null || table.rowId === null) continue;
      if (table.nullable) {
        throw binding.error(
          SQLSTATE.featureNotSupported,
          `${lockName(clause)} cannot be applied to the nullable side of an outer join`,
          clause.position,
        );
      }
      const before = locked.get(table.rowId) ?? { strength: "key share", wait: "wait" };
      locked.set(table.rowId, {
        table: table.table,
        rowId: table.rowId,
        strength: later(LOCK_STRENGTHS, before.strength, clause.strength),
        wait: later(WAITS, before.wait, clause.wait),
      });
    }
  }
  return [...locked.values()];
}

/** That of two which comes later in a list. */
function later<T>(list: readonly T[], left: T, right: T): T {
  return list.indexOf(left) > list.indexOf(right) ? left : right;
}
