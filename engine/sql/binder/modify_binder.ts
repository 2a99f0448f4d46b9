/**
 * Binding of INSERT, UPDATE and DELETE: targets, defaults, identity and generated columns, ON CONFLICT, RETURNING.
 *
 * Invariant: every value is converted to its column's type by an assignment cast, so that lengths and precisions are
 * checked where the value is assigned. Rows are in the order of the table's live columns.
 */
import { type DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { closest } from "../../base/suggest.ts";
import type { ColumnDefinition, TableDefinition } from "../../catalog/definitions.ts";
import type {
  Assignment,
  ColumnTarget,
  Delete,
  Expression as Ast,
  Insert,
  ObjectName,
  OnConflict as OnConflictAst,
  Query,
  Target,
  Update,
  Values,
} from "../parser/ast.ts";
import { quoteIdentifier } from "../parser/keywords.ts";
import { columnReference, constant, isNullable } from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { ModifyPlan, OnConflict, Plan } from "../plan/plan.ts";
import { substitute } from "../plan/rewrite.ts";
import type { Binding } from "./binding.ts";
import { assignedElement } from "./element_assignment.ts";
import { arbitersOf } from "./conflict_target.ts";
import { builtInVolatility, inClause } from "./call_binder.ts";
import { coerceAssignment, withoutModifiers } from "./coercion.ts";
import { bindBinary, bindCondition, bindExpression } from "./expression_binder.ts";
import { bindFrom, ONE_ROW } from "./from_binder.ts";
import { join } from "./join_binder.ts";
import { bindRowId, scanTable, withRowId } from "./table_item_binder.ts";
import { lateRows } from "./late_rows.ts";
import { findRelation, unknownRelation } from "./names.ts";
import { bindQuery, bindWith, type BoundWith, finishWith } from "./query_binder.ts";
import { type OutputColumn, outputReference } from "./bound_query.ts";
import { type CommonTableScope, type FromScope, QueryLevel, type ScopeTable } from "./scope.ts";
import { bindTargets } from "./select_binder.ts";
import { bindChecks, bindGenerated, defaultValue, tableEntry } from "./table_expressions.ts";

/** A bound modification and the columns of its RETURNING. */
export interface BoundModification {
  readonly plan: Plan;
  readonly columns: readonly OutputColumn[];
}

/** The table that a statement changes. */
export function targetTable(
  binding: Binding,
  name: ObjectName,
  verb: "insert into" | "update" | "delete from",
): TableDefinition {
  const found = findRelation(binding, name);
  if (found === undefined) throw unknownRelation(binding, name);
  switch (found.kind) {
    case "table":
      if (found.table.external === undefined) return found.table;
      throw binding.error(
        SQLSTATE.wrongObjectType,
        `cannot ${verb} external source "${name.name}"`,
        name.position,
        { hint: `Use REFRESH ${quoteIdentifier(name.name)} to fill it.` },
      );
    case "view":
      throw binding.error(
        SQLSTATE.objectNotInPrerequisiteState,
        `cannot ${verb} view "${name.name}"`,
        name.position,
        {
          detail: "Views are not automatically updatable.",
        },
      );
    case "sequence":
      throw binding.error(SQLSTATE.wrongObjectType, `cannot change sequence "${name.name}"`, name.position);
    case "index":
      throw binding.error(SQLSTATE.wrongObjectType, `cannot open relation "${name.name}"`, name.position, {
        detail: "This operation is not supported for indexes.",
      });
    case "virtual":
      throw binding.error(
        SQLSTATE.insufficientPrivilege,
        `permission denied: "${name.name}" is a system catalog`,
        name.position,
      );
  }
}

function columnPosition(binding: Binding, table: TableDefinition, target: ColumnTarget): number {
  const position = targetPosition(binding, table, target);
  if (target.subscripts.length === 0) return position;
  throw binding.unsupported("assignment to an array element here", target.position);
}

function targetPosition(binding: Binding, table: TableDefinition, target: ColumnTarget): number {
  const position = table.columns.findIndex((column) => column.name === target.name && !column.hidden);
  if (position < 0) {
    const near = closest(
      target.name,
      table.columns.filter((column) => !column.hidden).map((column) => column.name),
    );
    throw binding.error(
      SQLSTATE.undefinedColumn,
      `column "${target.name}" of relation "${table.name}" does not exist`,
      target.position,
      near === undefined
        ? {}
        : { hint: `Perhaps you meant to reference the column "${table.name}.${near}".` },
    );
  }
  return position;
}

function columnAt(table: TableDefinition, position: number): ColumnDefinition {
  const column = table.columns[position];
  if (column === undefined) throw new RangeError(`column ${position} of ${table.name}`);
  return column;
}

interface Returning {
  readonly returning: readonly { readonly output: ColumnRef; readonly expression: Expression }[] | null;
  readonly columns: readonly OutputColumn[];
}

function bindReturning(
  binding: Binding,
  targets: readonly Target[],
  from: FromScope,
  commonTables: CommonTableScope | null,
): Returning {
  if (targets.length === 0) return { returning: null, columns: [] };
  const level = new QueryLevel(null, commonTables);
  level.from = from;
  level.clause = "RETURNING";
  const bound = bindTargets(binding, level, targets);
  const returning = bound.map((target) => ({ output: binding.newColumn(), expression: target.expression }));
  const columns = bound.map((target, index): OutputColumn => ({
    name: target.name,
    column: returning[index]?.output ?? 0,
    type: target.expression.type,
    nullable: isNullable(target.expression),
    tableId: target.tableId,
    columnId: target.columnId,
  }));
  return { returning, columns };
}

function scopeOf(...tables: readonly ScopeTable[]): FromScope {
  return { tables, columns: tables.flatMap((table) => table.columns) };
}

/** The WITH of a data change, bound. */
export function withScope(
  binding: Binding,
  statement: Pick<Insert, "with">,
  commonTables: CommonTableScope | null,
): BoundWith | null {
  if (statement.with === null) return null;
  const { items, recursive } = statement.with;
  return bindWith(binding, { parent: null, commonTables }, items, recursive);
}

function finish(plan: ModifyPlan, scope: BoundWith | null): Plan {
  return scope === null ? plan : finishWith(plan, scope);
}

/** Binds INSERT. */
export function bindInsert(
  binding: Binding,
  statement: Insert,
  outer: CommonTableScope | null = null,
): BoundModification {
  const scope = withScope(binding, statement, outer);
  const commonTables = scope?.commonTables ?? outer;
  const table = targetTable(binding, statement.table, "insert into");
  const positions = insertPositions(binding, table, statement);
  const level = new QueryLevel(null, commonTables);
  level.clause = "VALUES";
  const given = statement.source === null
    ? { plan: ONE_ROW, values: new Map<number, Expression>(), rowNumber: null }
    : bindInsertSource(binding, table, statement, positions, level, statement.source);
  const values = table.columns.map((column, position) =>
    given.values.get(position) ??
      (column.generatedText !== null ? constant(column.type, null) : defaultValue(binding, table, column))
  );
  const id = bindInsertId(binding, table, statement, level, values, given);
  const newRow = binding.newColumns(table.columns.length);
  const rowId = binding.newColumn();
  const entry = tableEntry(table, statement.alias, newRow, rowId);
  const onConflict = statement.onConflict === null
    ? null
    : bindOnConflict(binding, table, statement.alias, statement.onConflict, commonTables);
  const { returning, columns } = bindReturning(binding, statement.returning, scopeOf(entry), commonTables);
  const plan: ModifyPlan = {
    kind: "insert",
    table,
    source: given.plan,
    values,
    id,
    newRow,
    rowId,
    generated: bindGenerated(binding, table, newRow),
    checks: bindChecks(binding, table, newRow),
    onConflict,
    returning,
    rows: 0,
  };
  return { plan: finish(plan, scope), columns };
}

/** The positions of the columns that INSERT names, or of all. */
export function insertPositions(binding: Binding, table: TableDefinition, statement: Insert): number[] {
  if (statement.columns.length === 0) {
    return table.columns.flatMap((column, position) => column.hidden ? [] : [position]);
  }
  const positions: number[] = [];
  for (const target of statement.columns) {
    const position = columnPosition(binding, table, target);
    if (positions.includes(position)) {
      throw binding.error(
        SQLSTATE.duplicateColumn,
        `column "${target.name}" specified more than once`,
        target.position,
      );
    }
    positions.push(position);
  }
  return positions;
}

interface InsertSource {
  readonly plan: Plan;
  /** By table column position, over the plan's columns. */
  readonly values: ReadonlyMap<number, Expression>;
  /** Number of the row from 0, when there are several. */
  readonly rowNumber: ColumnRef | null;
}

function bindInsertSource(
  binding: Binding,
  table: TableDefinition,
  statement: Insert,
  positions: readonly number[],
  level: QueryLevel,
  source: Query,
): InsertSource {
  const isPlainValues = source.body.kind === "values" && source.orderBy.length === 0 &&
    source.limit === null &&
    source.offset === null && source.with === null;
  if (isPlainValues && source.body.kind === "values") {
    return bindInsertValues(binding, table, statement, positions, level, source.body);
  }
  // A literal becomes a value of the type first; its length and scale are the assignment's to check.
  const expected = positions.map((position) => withoutModifiers(columnAt(table, position).type));
  const bound = bindQuery(binding, { parent: null, commonTables: level.commonTables, expected }, source);
  checkCount(binding, statement, positions, bound.columns.length, () => source.position);
  const values = new Map<number, Expression>();
  bound.columns.forEach((output, index) => {
    const position = positions[index];
    if (position === undefined) return;
    const column = columnAt(table, position);
    const offset = source.position;
    if (!mayAssign(binding, column, statement, offset)) return;
    values.set(
      position,
      coerceAssignment(binding, outputReference(output), column.type, column.name, offset),
    );
  });
  if (statement.rowId !== null) {
    throw binding.unsupported("ID with INSERT ... SELECT", statement.rowId.position);
  }
  return { plan: bound.plan, values, rowNumber: null };
}

function checkCount(
  binding: Binding,
  statement: Insert,
  positions: readonly number[],
  count: number,
  extraOffset: () => number | undefined,
): void {
  if (count > positions.length) {
    throw binding.error(
      SQLSTATE.syntaxError,
      "INSERT has more expressions than target columns",
      extraOffset(),
    );
  }
  const missing = statement.columns[count];
  if (missing !== undefined) {
    throw binding.error(
      SQLSTATE.syntaxError,
      "INSERT has more target columns than expressions",
      missing.position,
    );
  }
}

/** Whether a given value goes into the column; false: it is ignored (OVERRIDING USER VALUE). 428C9 when it may not. */
function mayAssign(
  binding: Binding,
  column: ColumnDefinition,
  statement: Insert,
  offset: number | undefined,
): boolean {
  const refuse = (detail: string, hint?: string) => {
    throw binding.error(
      SQLSTATE.generatedAlways,
      `cannot insert a non-DEFAULT value into column "${column.name}"`,
      offset,
      hint === undefined ? { detail } : { detail, hint },
    );
  };
  if (column.generatedText !== null) refuse(`Column "${column.name}" is a generated column.`);
  if (column.identity === null) return true;
  if (statement.overriding === "user") return false;
  if (column.identity === "always" && statement.overriding !== "system") {
    refuse(
      `Column "${column.name}" is an identity column defined as GENERATED ALWAYS.`,
      "Use OVERRIDING SYSTEM VALUE to override.",
    );
  }
  return true;
}

/** Binds the rows of VALUES to columns. */
export function bindInsertValues(
  binding: Binding,
  table: TableDefinition,
  statement: Insert,
  positions: readonly number[],
  level: QueryLevel,
  body: Values,
): InsertSource {
  const width = body.rows[0]?.length ?? 0;
  for (const row of body.rows) {
    if (row.length !== width) {
      throw binding.error(
        SQLSTATE.syntaxError,
        "VALUES lists must all be the same length",
        row[0]?.position,
      );
    }
  }
  checkCount(binding, statement, positions, width, () => body.rows[0]?.[positions.length]?.position);
  const bindCell = (ast: Ast, position: number): Expression => {
    const column = columnAt(table, position);
    if (ast.kind === "default") {
      return column.generatedText !== null
        ? constant(column.type, null)
        : defaultValue(binding, table, column);
    }
    if (!mayAssign(binding, column, statement, ast.position)) return defaultValue(binding, table, column);
    return coerceAssignment(
      binding,
      bindExpression(binding, level, ast),
      column.type,
      column.name,
      ast.position,
    );
  };
  const used = positions.slice(0, width);
  const values = new Map<number, Expression>();
  const [only] = body.rows;
  if (only !== undefined && body.rows.length === 1) {
    used.forEach((position, index) => {
      const ast = only[index];
      if (ast !== undefined) values.set(position, bindCell(ast, position));
    });
    return { plan: ONE_ROW, values, rowNumber: null };
  }
  const outputs = binding.newColumns(used.length);
  const rowNumber = statement.rowId === null ? null : binding.newColumn();
  const types = used.map((position) => columnAt(table, position).type);
  used.forEach((position, index) => {
    const column = columnAt(table, position);
    values.set(position, columnReference(outputs[index] ?? 0, column.type, true));
  });
  const late = rowNumber !== null || statement.overriding === "user" ? null : lateRows({
    ...{ rows: body.rows, outputs, types, isInsert: true },
    bindCell: (ast, index) => bindCell(ast, used[index] ?? 0),
    volatilityOf: (call) => builtInVolatility(binding, level, call),
  });
  if (late !== null) return { plan: late, values, rowNumber };
  const list = body.rows.map((row, number) => {
    const cells = used.map((position, index) => {
      const ast = row[index];
      return ast === undefined ? constant(columnAt(table, position).type, null) : bindCell(ast, position);
    });
    return rowNumber === null ? cells : [...cells, constant({ kind: "i64" }, number)];
  });
  return {
    plan: {
      kind: "values",
      outputs: rowNumber === null ? outputs : [...outputs, rowNumber],
      types: rowNumber === null ? types : [...types, { kind: "i64" }],
      list,
      rows: list.length,
    },
    values,
    rowNumber,
  };
}

/** `INSERT INTO t ID n`: with an integer primary key it is that column's value as well as the row's id. */
function bindInsertId(
  binding: Binding,
  table: TableDefinition,
  statement: Insert,
  level: QueryLevel,
  values: Expression[],
  source: InsertSource,
): Expression | null {
  const ast = statement.rowId;
  if (ast === null) return null;
  let id = bindRowId(binding, level, ast);
  if (source.rowNumber !== null) {
    id = bindBinary(
      binding,
      "+",
      id,
      columnReference(source.rowNumber, { kind: "i64" }, false),
      ast.position,
    );
  }
  if (table.rowIdColumn === null) return id;
  const position = table.columns.findIndex((column) => column.id === table.rowIdColumn);
  const column = columnAt(table, position);
  if (source.values.has(position)) {
    throw binding.error(
      SQLSTATE.syntaxError,
      `column "${column.name}" is the row's ID and cannot be given twice`,
      ast.position,
    );
  }
  values[position] = coerceAssignment(binding, id, column.type, column.name, ast.position);
  return id;
}

function bindOnConflict(
  binding: Binding,
  table: TableDefinition,
  alias: string | null,
  ast: OnConflictAst,
  commonTables: CommonTableScope | null,
): OnConflict {
  const arbiters = arbitersOf(binding, table, ast);
  const existing = binding.newColumns(table.columns.length);
  const excluded = binding.newColumns(table.columns.length);
  if (ast.update === null) {
    return { arbiters, action: "nothing", existing, excluded, assignments: [], where: null };
  }
  const level = new QueryLevel(null, commonTables);
  level.from = scopeOf(
    tableEntry(table, alias, existing, null),
    tableEntry(table, "excluded", excluded, null, true),
  );
  level.clause = "UPDATE";
  const assignments = bindAssignments(binding, level, table, ast.update.assignments);
  addGenerated(binding, table, existing, assignments);
  const where = ast.update.where;
  return {
    arbiters,
    action: "update",
    existing,
    excluded,
    assignments,
    where: where === null
      ? null
      : inClause(level, "WHERE", () => bindCondition(binding, level, where, "WHERE")),
  };
}

/** Generated columns of a row that ON CONFLICT updates are computed from what it assigns and keeps. */
function addGenerated(
  binding: Binding,
  table: TableDefinition,
  existing: readonly ColumnRef[],
  assignments: (Expression | null)[],
): void {
  const kept = new Map<ColumnRef, Expression>();
  assignments.forEach((assigned, position) => {
    const column = existing[position];
    if (assigned !== null && column !== undefined) kept.set(column, assigned);
  });
  for (const { position, expression } of bindGenerated(binding, table, existing)) {
    assignments[position] = substitute(expression, kept);
  }
}

/** The assigned values by column position; null: the column keeps its value. */
export function bindAssignments(
  binding: Binding,
  level: QueryLevel,
  table: TableDefinition,
  list: readonly Assignment[],
): (Expression | null)[] {
  const result: (Expression | null)[] = table.columns.map(() => null);
  /** Columns of which only parts have been assigned so far. */
  const inParts = new Set<number>();
  for (const assignment of list) {
    const [only] = assignment.columns;
    if (!assignment.multiple && only !== undefined && only.subscripts.length > 0) {
      const position = targetPosition(binding, table, only);
      const column = columnAt(table, position);
      const before = result[position] ?? null;
      if (before !== null && !inParts.has(position)) throw assignedTwice(binding, column, only);
      refuseGenerated(binding, column, assignment.value.position);
      result[position] = assignedElement(binding, level, {
        column,
        target: only,
        value: assignment.value,
        before,
      });
      inParts.add(position);
      continue;
    }
    const positions = assignment.columns.map((target) => columnPosition(binding, table, target));
    for (const [index, position] of positions.entries()) {
      if (result[position] === null && positions.indexOf(position) === index) continue;
      const target = assignment.columns[index];
      if (target !== undefined) throw assignedTwice(binding, columnAt(table, position), target);
    }
    const values = assignedValues(binding, level, table, assignment, positions);
    positions.forEach((position, index) => {
      result[position] = values[index] ?? null;
    });
  }
  return result;
}

function assignedTwice(binding: Binding, column: ColumnDefinition, target: ColumnTarget): DatabaseError {
  return binding.error(
    SQLSTATE.syntaxError,
    `multiple assignments to same column "${column.name}"`,
    target.position,
  );
}

function assignedValues(
  binding: Binding,
  level: QueryLevel,
  table: TableDefinition,
  assignment: Assignment,
  positions: readonly number[],
): Expression[] {
  const bindOne = (ast: Ast, position: number): Expression => {
    const column = columnAt(table, position);
    if (ast.kind === "default") {
      return column.generatedText !== null
        ? constant(column.type, null)
        : defaultValue(binding, table, column);
    }
    refuseGenerated(binding, column, ast.position);
    const bound = inClause(level, "UPDATE", () => bindExpression(binding, level, ast));
    return coerceAssignment(binding, bound, column.type, column.name, ast.position);
  };
  const { value } = assignment;
  const [first] = positions;
  if (!assignment.multiple && first !== undefined) return [bindOne(value, first)];
  const wrongCount = () => {
    throw binding.error(
      SQLSTATE.syntaxError,
      "number of columns does not match number of values",
      value.position,
    );
  };
  if (value.kind === "row") {
    if (value.items.length !== positions.length) wrongCount();
    return positions.map((position, index) => bindOne(value.items[index] ?? value, position));
  }
  if (value.kind === "subquery") {
    const bound = bindQuery(binding, { parent: level, commonTables: level.commonTables }, value.query);
    if (bound.columns.length !== positions.length) wrongCount();
    // One row value per target row; its fields are the columns.
    const output = binding.newColumn();
    const type = {
      kind: "record" as const,
      fields: bound.columns.map((column) => ({ name: column.name, type: column.type })),
    };
    const row: Expression = { kind: "row", type, fields: bound.columns.map(outputReference) };
    const plan: Plan = {
      kind: "project",
      input: bound.plan,
      outputs: [{ output, expression: row }],
      rows: 0,
    };
    const subquery: Expression = { kind: "scalar_subquery", type, plan, column: output };
    return positions.map((position, index) => {
      const column = columnAt(table, position);
      refuseGenerated(binding, column, value.position);
      const field: Expression = {
        kind: "field",
        type: bound.columns[index]?.type ?? column.type,
        argument: subquery,
        index,
      };
      return coerceAssignment(binding, field, column.type, column.name, value.position);
    });
  }
  if (positions.length === 1 && first !== undefined) return [bindOne(value, first)];
  throw binding.error(
    SQLSTATE.featureNotSupported,
    "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression",
    value.position,
  );
}

function refuseGenerated(binding: Binding, column: ColumnDefinition, offset: number): void {
  const isGenerated = column.generatedText !== null;
  if (!isGenerated && column.identity !== "always") return;
  throw binding.error(
    SQLSTATE.generatedAlways,
    `column "${column.name}" can only be updated to DEFAULT`,
    offset,
    {
      detail: isGenerated
        ? `Column "${column.name}" is a generated column.`
        : `Column "${column.name}" is an identity column defined as GENERATED ALWAYS.`,
    },
  );
}

/** The rows that UPDATE and DELETE work on. */
function bindTargetRows(
  binding: Binding,
  level: QueryLevel,
  table: TableDefinition,
  statement: Update | Delete,
  others: Update["from"],
) {
  const scanned = scanTable(binding, table, statement.alias);
  // FROM and USING items are bound first: they do not see the target.
  const otherPlan = others.length === 0 ? null : bindFrom(binding, level, others);
  const otherScope = level.from;
  const clash = otherScope.tables.find((each) =>
    others.length > 0 && each.name === scanned.entry.name &&
    (each.schema === null || scanned.entry.schema === null || each.schema === scanned.entry.schema)
  );
  if (clash !== undefined) {
    throw binding.error(
      SQLSTATE.duplicateAlias,
      `table name "${clash.name}" specified more than once`,
      others[0]?.position,
    );
  }
  const idLevel = new QueryLevel(null, level.commonTables);
  const target = withRowId(binding, idLevel, scanned.plan, statement.rowId);
  level.from = {
    tables: [scanned.entry, ...otherScope.tables],
    columns: [...scanned.entry.columns, ...otherScope.columns],
  };
  let source: Plan = otherPlan === null ? target : join("inner", target, otherPlan, null);
  const { where } = statement;
  if (where !== null) {
    const condition = inClause(level, "WHERE", () => bindCondition(binding, level, where, "WHERE"));
    source = { kind: "filter", input: source, condition, rows: 0 };
  }
  return {
    source,
    rowId: scanned.plan.rowId ?? 0,
    oldRow: scanned.plan.columns.map((column) => column.output),
    otherTables: otherScope.tables,
  };
}

/** Binds UPDATE. */
export function bindUpdate(
  binding: Binding,
  statement: Update,
  outer: CommonTableScope | null = null,
): BoundModification {
  const scope = withScope(binding, statement, outer);
  const table = targetTable(binding, statement.table, "update");
  const level = new QueryLevel(null, scope?.commonTables ?? outer);
  const rows = bindTargetRows(binding, level, table, statement, statement.from);
  const assignments = bindAssignments(binding, level, table, statement.assignments);
  const newRow = binding.newColumns(table.columns.length);
  const entry = tableEntry(table, statement.alias, newRow, rows.rowId);
  const { returning, columns } = bindReturning(
    binding,
    statement.returning,
    scopeOf(entry, ...rows.otherTables),
    level.commonTables,
  );
  const plan: ModifyPlan = {
    kind: "update",
    table,
    source: rows.source,
    rowId: rows.rowId,
    oldRow: rows.oldRow,
    assignments,
    newRow,
    generated: bindGenerated(binding, table, newRow),
    checks: bindChecks(binding, table, newRow),
    returning,
    rows: 0,
  };
  return { plan: finish(plan, scope), columns };
}

/** Binds DELETE. */
export function bindDelete(
  binding: Binding,
  statement: Delete,
  outer: CommonTableScope | null = null,
): BoundModification {
  const scope = withScope(binding, statement, outer);
  const table = targetTable(binding, statement.table, "delete from");
  const level = new QueryLevel(null, scope?.commonTables ?? outer);
  const rows = bindTargetRows(binding, level, table, statement, statement.using);
  const { returning, columns } = bindReturning(binding, statement.returning, level.from, level.commonTables);
  const plan: ModifyPlan = {
    kind: "delete",
    table,
    source: rows.source,
    rowId: rows.rowId,
    oldRow: rows.oldRow,
    returning,
    rows: 0,
  };
  return { plan: finish(plan, scope), columns };
}
