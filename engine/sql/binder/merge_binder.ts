/**
 * Binding of MERGE, which is taken apart: a query joins the source with the target and says which clause each row
 * takes; its rows are held. Then each clause changes its share of them: first those that delete, then those that
 * update, then those that insert, so that keys are free before they are taken.
 *
 * Invariant: a row of the target is changed once; the parts share what they have met (`refusesRepeats`).
 */
import { SQLSTATE } from "../../base/errors.ts";
import type { TableDefinition } from "../../catalog/definitions.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { Insert, Merge, MergeAction, MergeClause } from "../parser/ast.ts";
import { columnReference, constant } from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { ModifyPlan, Plan } from "../plan/plan.ts";
import { allDefinedColumns, visitPlan } from "../plan/traverse.ts";
import type { Binding } from "./binding.ts";
import { inClause } from "./call_binder.ts";
import { bindBinary, bindCondition } from "./expression_binder.ts";
import { bindFrom, ONE_ROW } from "./from_binder.ts";
import { join } from "./join_binder.ts";
import { scanTable } from "./table_item_binder.ts";
import {
  bindAssignments,
  bindInsertValues,
  type BoundModification,
  insertPositions,
  targetTable,
  withScope,
} from "./modify_binder.ts";
import { findRelation } from "./names.ts";
import { type FromScope, nullableScope, QueryLevel } from "./scope.ts";
import { bindChecks, bindGenerated, defaultValue } from "./table_expressions.ts";

const I32: SqlType = { kind: "i32" };

/** What the clauses of a MERGE are bound in. */
interface MergeScope {
  readonly binding: Binding;
  readonly table: TableDefinition;
  readonly rowId: ColumnRef;
  readonly level: QueryLevel;
  readonly source: FromScope;
  readonly target: FromScope;
}

/** A clause that changes rows, with the number that the query gives its rows. */
interface Change {
  readonly number: number;
  readonly plan: ModifyPlan;
}

/** Binds MERGE. */
export function bindMerge(binding: Binding, statement: Merge): BoundModification {
  const withParts = withScope(binding, statement, null);
  const table = mergeTarget(binding, statement);
  const level = new QueryLevel(null, withParts?.commonTables ?? null);
  const scanned = scanTable(binding, table, statement.alias);
  const sourcePlan = bindFrom(binding, level, [statement.source]);
  const source = level.from;
  if (source.tables.some((each) => each.name === scanned.entry.name)) {
    throw binding.error(
      SQLSTATE.duplicateAlias,
      `name "${scanned.entry.name}" specified more than once`,
      statement.table.position,
      { detail: "The name is used both as MERGE target table and data source." },
    );
  }
  const target = { tables: [scanned.entry], columns: scanned.entry.columns };
  level.from = both(target, source);
  const on = inClause(level, "JOIN conditions", () => bindCondition(binding, level, statement.on, "JOIN/ON"));
  const inserts = statement.clauses.some((clause) => !clause.matched);
  const joined = join(inserts ? "left" : "inner", sourcePlan, scanned.plan, on);
  const rowId = scanned.plan.rowId ?? 0;
  const scope: MergeScope = { binding, table, rowId, level, source, target };
  refuseUnreachable(binding, statement.clauses);
  const changes: Change[] = [];
  const branches = statement.clauses.map((clause, index) => {
    const when = clauseCondition(scope, clause);
    const { action } = clause;
    if (action.kind !== "nothing") {
      changes.push({ number: index, plan: bindChange(scope, action, statement) });
    }
    return { when, then: constant(I32, action.kind === "nothing" ? null : index) };
  });
  return { plan: mergePlan(scope, joined, branches, changes, withParts), columns: [] };
}

function both(target: FromScope, source: FromScope): FromScope {
  return { tables: [...target.tables, ...source.tables], columns: [...target.columns, ...source.columns] };
}

function mergeTarget(binding: Binding, statement: Merge): TableDefinition {
  const found = findRelation(binding, statement.table);
  if (found?.kind === "view") {
    throw binding.error(
      SQLSTATE.featureNotSupported,
      `cannot execute MERGE on relation "${statement.table.name}"`,
      statement.table.position,
      { detail: "This operation is not supported for views." },
    );
  }
  return targetTable(binding, statement.table, "update");
}

function refuseUnreachable(binding: Binding, clauses: readonly MergeClause[]): void {
  const ended = new Set<boolean>();
  for (const clause of clauses) {
    if (ended.has(clause.matched)) {
      throw binding.error(
        SQLSTATE.syntaxError,
        "unreachable WHEN clause specified after unconditional WHEN clause",
        undefined,
      );
    }
    if (clause.condition === null) ended.add(clause.matched);
  }
}

/** Shows the names that a clause may use. */
function showNames(scope: MergeScope, matched: boolean): void {
  const { level, source, target } = scope;
  level.from = matched ? both(nullableScope(target), source) : source;
  level.hiddenTables = matched ? [] : target.tables;
}

function clauseCondition(scope: MergeScope, clause: MergeClause): Expression {
  const { binding, level, rowId } = scope;
  const bool: SqlType = { kind: "bool" };
  const side: Expression = {
    kind: "is_null",
    type: bool,
    argument: columnReference(rowId, { kind: "i64" }, true),
    negated: clause.matched,
  };
  const { condition } = clause;
  if (condition === null) return side;
  showNames(scope, clause.matched);
  const further = inClause(level, "WHERE", () => bindCondition(binding, level, condition, "MERGE WHEN AND"));
  // AND does not say which side is looked at first, and the row of the target may be missing.
  return {
    kind: "case",
    type: bool,
    branches: [{ when: side, then: further }],
    otherwise: constant(bool, false),
  };
}

/** Deletes the rows of a source that is put in place later. */
function deletion(table: MergeScope["table"], rowId: MergeScope["rowId"]): ModifyPlan {
  return {
    kind: "delete",
    table,
    source: ONE_ROW,
    rowId,
    oldRow: [],
    returning: null,
    refusesRepeats: true,
    rows: 0,
  };
}

type RowChange = Exclude<MergeAction, { readonly kind: "nothing" }>;

/** The change that a clause makes; its source is put in place later. */
function bindChange(scope: MergeScope, action: RowChange, statement: Merge): ModifyPlan {
  const { binding, table, rowId, level } = scope;
  showNames(scope, action.kind !== "insert");
  if (action.kind === "delete") {
    return deletion(table, rowId);
  }
  const newRow = binding.newColumns(table.columns.length);
  if (action.kind === "update") {
    const assignments = bindAssignments(binding, level, table, action.assignments);
    return {
      kind: "update",
      table,
      source: ONE_ROW,
      rowId,
      oldRow: [],
      assignments,
      newRow,
      generated: bindGenerated(binding, table, newRow),
      checks: bindChecks(binding, table, newRow),
      returning: null,
      refusesRepeats: true,
      rows: 0,
    };
  }
  return {
    kind: "insert",
    table,
    source: ONE_ROW,
    values: insertedValues(scope, action, statement),
    id: null,
    newRow,
    rowId: binding.newColumn(),
    generated: bindGenerated(binding, table, newRow),
    checks: bindChecks(binding, table, newRow),
    onConflict: null,
    returning: null,
    rows: 0,
  };
}

function insertedValues(
  scope: MergeScope,
  action: RowChange & { readonly kind: "insert" },
  statement: Merge,
): Expression[] {
  const { binding, table, level } = scope;
  const { position } = statement;
  const insert: Insert = {
    kind: "insert",
    with: null,
    table: statement.table,
    alias: null,
    rowId: null,
    columns: action.columns,
    overriding: action.overriding,
    source: null,
    onConflict: null,
    returning: [],
    position,
  };
  const positions = insertPositions(binding, table, insert);
  const given = action.values === null
    ? null
    : inClause(level, "VALUES", () =>
      bindInsertValues(binding, table, insert, positions, level, {
        kind: "values",
        rows: [action.values ?? []],
        position,
      })).values;
  return table.columns.map((column, index) =>
    given?.get(index) ??
      (column.generatedText !== null ? constant(column.type, null) : defaultValue(binding, table, column))
  );
}

const ORDER = ["delete", "update", "insert"];

/** The held query and the changes as the definitions and the body of a WITH. */
function mergePlan(
  scope: MergeScope,
  joined: Plan,
  branches: readonly { readonly when: Expression; readonly then: Expression }[],
  changes: readonly Change[],
  withParts: ReturnType<typeof withScope>,
): Plan {
  const { binding, table, rowId } = scope;
  const ordered = [...changes].sort((left, right) =>
    ORDER.indexOf(left.plan.kind) - ORDER.indexOf(right.plan.kind)
  );
  if (ordered.length === 0) {
    // Nothing but DO NOTHING: no row takes this one.
    ordered.push({ number: -1, plan: deletion(table, rowId) });
  }
  const needed = neededColumns(joined, rowId, ordered);
  const held = needed.map(({ column, type }) => ({
    output: binding.newColumn(),
    expression: columnReference(column, type, true),
  }));
  const number = { output: binding.newColumn(), expression: choice(branches) };
  const projected: Plan = { kind: "project", input: joined, outputs: [...held, number], rows: 0 };
  const condition: Expression = {
    kind: "is_null",
    type: { kind: "bool" },
    argument: columnReference(number.output, I32, true),
    negated: true,
  };
  const columns = [...held, number].map(({ output }) => output);
  const query = {
    id: binding.newWithId(),
    columns,
    types: [...needed.map(({ type }) => type), I32],
    plan: { kind: "filter", input: projected, condition, rows: 0 } satisfies Plan,
    recursive: null,
  };
  const plans = ordered.map((change): ModifyPlan => {
    const chosen = binding.newColumn();
    const outputs = [...needed.map(({ column }) => column), chosen];
    const scan: Plan = { kind: "with_scan", id: query.id, working: false, outputs, columns, rows: 0 };
    const isChosen = bindBinary(
      binding,
      "=",
      columnReference(chosen, I32, true),
      constant(I32, change.number),
      undefined,
    );
    return { ...change.plan, source: { kind: "filter", input: scan, condition: isChosen, rows: 0 } };
  });
  const body = plans.pop();
  const before = (withParts?.definitions ?? []).filter(({ entry }) => entry.references > 0);
  return {
    kind: "with",
    definitions: [
      ...before.map(({ definition }) => definition),
      query,
      ...plans.map((plan) => ({ id: binding.newWithId(), columns: [], types: [], plan, recursive: null })),
    ],
    body: body ?? joined,
    rows: 0,
  };
}

function choice(branches: readonly { readonly when: Expression; readonly then: Expression }[]): Expression {
  return { kind: "case", type: I32, branches, otherwise: constant(I32, null) };
}

/** The columns of the join that the changes read. */
function neededColumns(
  joined: Plan,
  rowId: ColumnRef,
  changes: readonly Change[],
): { readonly column: ColumnRef; readonly type: SqlType }[] {
  const defined = allDefinedColumns(joined);
  const needed = new Map<ColumnRef, SqlType>([[rowId, { kind: "i64" }]]);
  for (const { plan } of changes) {
    visitPlan(plan, {
      expression: (each) => {
        if (each.kind === "column" && defined.has(each.column)) needed.set(each.column, each.type);
      },
    });
  }
  return [...needed].map(([column, type]) => ({ column, type }));
}
