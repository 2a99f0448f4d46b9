/** The work of DDL on rows that are there: validation, filling a column, filling a table from a query. */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { ColumnDefinition, ConstraintDefinition, TableDefinition } from "../../catalog/definitions.ts";
import { compileStatement } from "../../execution/compile_statement.ts";
import type { DefinitionStep } from "../../sql/definition/definition_plan.ts";
import type { ColumnRef, Expression } from "../../sql/plan/expression.ts";
import type { Plan, PlannedStatement, ResultColumn, ScanColumn } from "../../sql/plan/plan.ts";
import { planStatement } from "../../sql/planner/plan_statement.ts";
import { resolveOperator } from "../../sql/functions/registry.ts";
import { resolveAggregate } from "../../sql/functions/registry.ts";
import { formatText } from "../../types/text_io.ts";
import type { SqlValue } from "../../types/value.ts";
import type { Transaction } from "../../transactions/transaction.ts";
import { RowBuffer } from "../row_buffer.ts";
import type { Session } from "../session.ts";

type Step<Kind extends DefinitionStep["kind"]> = Extract<DefinitionStep, { kind: Kind }>;

const BOOLEAN = { kind: "bool" } as const;

/** Checks existing rows against a new rule; raises the rule's error. */
export function validate(
  session: Session,
  transaction: Transaction,
  step: Step<"validate_not_null" | "validate_check" | "validate_unique" | "validate_foreign_key">,
): void {
  const { table } = step;
  switch (step.kind) {
    case "validate_not_null": {
      const column = columnOf(table, step.columnId);
      const scan = scanOf(table, refsFrom(table, 1));
      const condition: Expression = {
        kind: "is_null",
        type: BOOLEAN,
        argument: reference(table, scan.refs, column.id),
        negated: false,
      };
      if (firstRow(session, transaction, { ...scan.plan, filter: condition }, []) === null) return;
      throw new DatabaseError(
        SQLSTATE.notNullViolation,
        `column "${column.name}" of relation "${table.name}" contains null values`,
        { schema: table.schema, table: table.name, column: column.name },
      );
    }
    case "validate_check": {
      const scan = scanOf(table, step.condition.columns);
      const violated: Expression = { kind: "not", type: BOOLEAN, argument: step.condition.expression };
      if (firstRow(session, transaction, { ...scan.plan, filter: violated }, []) === null) return;
      throw new DatabaseError(
        SQLSTATE.checkViolation,
        `check constraint "${step.constraintName}" of relation "${table.name}" is violated by some row`,
        { schema: table.schema, table: table.name, constraint: step.constraintName },
      );
    }
    case "validate_unique":
      validateUnique(session, transaction, step);
      return;
    case "validate_foreign_key":
      validateForeignKey(session, transaction, table, step.constraint);
  }
}

function validateUnique(session: Session, transaction: Transaction, step: Step<"validate_unique">): void {
  const { table, index } = step;
  const columns = index.columns.map((part) => columnOf(table, part.columnId));
  const scan = scanOf(table, refsFrom(table, 1));
  const keys = columns.map((column) => reference(table, scan.refs, column.id));
  const notNull: Expression[] = index.nullsNotDistinct
    ? []
    : keys.map((argument) => ({ kind: "is_null", type: BOOLEAN, argument, negated: true }));
  const next = scan.refs.length + 1;
  const groups = keys.map((expression, position) => ({ output: next + position, expression }));
  const count = resolveAggregate("count", []);
  const countRef = next + groups.length;
  const many = resolveOperator(">", count.returnType, { kind: "i64" });
  const aggregated: Plan = {
    kind: "filter",
    rows: 1,
    condition: {
      kind: "call",
      type: BOOLEAN,
      function: many,
      args: [
        { kind: "column", type: count.returnType, column: countRef, nullable: false },
        { kind: "constant", type: { kind: "i64" }, value: 1 },
      ],
    },
    input: {
      kind: "aggregate",
      input: {
        ...scan.plan,
        filter: notNull.length === 0 ? null : { kind: "and", type: BOOLEAN, args: notNull },
      },
      groups,
      aggregates: [{
        output: countRef,
        aggregate: count,
        args: [],
        distinct: false,
        filter: null,
        orderBy: [],
      }],
      groupingSets: null,
      groupings: [],
      rows: 1,
    },
  };
  const result = columns.map((column, position) => resultColumn(column, groups[position]?.output ?? 0));
  const duplicate = firstRow(session, transaction, aggregated, result);
  if (duplicate === null) return;
  const values = columns.map((column, position) => shown(session, column, duplicate[position] ?? null));
  throw new DatabaseError(SQLSTATE.uniqueViolation, `could not create unique index "${index.name}"`, {
    detail: `Key (${columns.map((column) => column.name).join(", ")})=(${values.join(", ")}) is duplicated.`,
    schema: table.schema,
    table: table.name,
    constraint: index.name,
  });
}

function validateForeignKey(
  session: Session,
  transaction: Transaction,
  table: TableDefinition,
  constraint: ConstraintDefinition & { readonly kind: "foreign_key" },
): void {
  const parent = transaction.catalog.table(constraint.referencedTableId);
  if (parent === undefined) return;
  const children = scanOf(table, refsFrom(table, 1));
  const parents = scanOf(parent, refsFrom(parent, children.refs.length + 1));
  const childColumns = constraint.columns.map((id) => columnOf(table, id));
  const leftKeys = childColumns.map((column) => reference(table, children.refs, column.id));
  const rightKeys = constraint.referencedColumns.map((id) => reference(parent, parents.refs, id));
  const notNull: Expression[] = leftKeys.map((argument) => ({
    kind: "is_null",
    type: BOOLEAN,
    argument,
    negated: true,
  }));
  const orphans: Plan = {
    kind: "nested_loop_join",
    join: "anti",
    left: { ...children.plan, filter: { kind: "and", type: BOOLEAN, args: notNull } },
    right: parents.plan,
    condition: {
      kind: "and",
      type: BOOLEAN,
      args: leftKeys.map((left, position) => equality(left, rightKeys[position] as Expression)),
    },
    correlated: false,
    rows: 1,
  };
  const sameTypes = leftKeys.every((left, position) => left.type.kind === rightKeys[position]?.type.kind);
  const plan: Plan = sameTypes
    ? {
      kind: "hash_join",
      join: "anti",
      left: orphans.left,
      right: orphans.right,
      leftKeys,
      rightKeys,
      residual: null,
      nullAware: false,
      rows: 1,
    }
    : orphans;
  const result = childColumns.map((column) => resultColumn(column, refOf(table, children.refs, column.id)));
  const orphan = firstRow(session, transaction, plan, result);
  if (orphan === null) return;
  const values = childColumns.map((column, position) => shown(session, column, orphan[position] ?? null));
  throw new DatabaseError(
    SQLSTATE.foreignKeyViolation,
    `insert or update on table "${table.name}" violates foreign key constraint "${constraint.name}"`,
    {
      detail: `Key (${childColumns.map((column) => column.name).join(", ")})=(${
        values.join(", ")
      }) is not present in table "${parent.name}".`,
      schema: table.schema,
      table: table.name,
      constraint: constraint.name,
    },
  );
}

function equality(left: Expression, right: Expression): Expression {
  const operator = resolveOperator("=", left.type, right.type);
  return { kind: "call", type: BOOLEAN, function: operator, args: [left, right] };
}

/** Sets one column of every row, with all rules of an UPDATE but the table's checks, which are validated apart. */
export function fillColumn(session: Session, transaction: Transaction, step: Step<"fill_column">): void {
  const table = step.table;
  const refs = step.value.columns.map((ref, position) => ref === 0 ? 1_000_000 + position : ref);
  const scan = scanOf(table, refs);
  const rowId = 2_000_000;
  const newRow = table.columns.map((_, position) => 3_000_000 + position);
  run(session, transaction, {
    plan: {
      kind: "update",
      table,
      source: { ...scan.plan, rowId },
      rowId,
      oldRow: refs,
      assignments: table.columns.map((column) => column.id === step.columnId ? step.value.expression : null),
      newRow,
      generated: [],
      checks: [],
      returning: null,
      rows: scan.plan.rows,
    },
    columns: [],
    command: "UPDATE",
  });
}

/** Fills a new table from its query; answers the number of rows. */
export function insertQuery(session: Session, transaction: Transaction, step: Step<"insert_query">): number {
  const { table } = step;
  const source = planStatement(step.query, session.engine.plans.environment(session, "", [], []));
  return run(session, transaction, {
    plan: {
      kind: "insert",
      table,
      source: source.plan,
      values: source.columns.map((column) => ({
        kind: "column",
        type: column.type,
        column: column.column,
        nullable: true,
      })),
      id: null,
      newRow: table.columns.map((_, position) => 3_000_000 + position),
      rowId: 2_000_000,
      generated: [],
      checks: [],
      onConflict: null,
      returning: null,
      rows: source.plan.rows,
    },
    columns: [],
    command: "INSERT",
  }).rowCount;
}

/** The first row of a plan, or null. */
function firstRow(
  session: Session,
  transaction: Transaction,
  input: Plan,
  columns: readonly ResultColumn[],
): SqlValue[] | null {
  const limit: Expression = { kind: "constant", type: { kind: "i64" }, value: 1 };
  const { buffer } = run(session, transaction, {
    plan: { kind: "limit", input, limit, offset: null, withTies: null, rows: 1 },
    columns,
    command: "SELECT",
  });
  return buffer.rows[0] ?? null;
}

function run(
  session: Session,
  transaction: Transaction,
  statement: Pick<PlannedStatement, "plan" | "columns" | "command">,
): { readonly buffer: RowBuffer; readonly rowCount: number } {
  const compiled = compileStatement({
    ...statement,
    parameterTypes: [],
    readOnly: statement.command === "SELECT",
    singleAggregate: false,
    tableIds: [],
  });
  const execution = compiled.start(session.contextFor(transaction, []));
  const buffer = new RowBuffer();
  while (!execution.step(buffer)) session.checkCancelled();
  return { buffer, rowCount: execution.rowCount };
}

/** References for each column of a table, from a number on. */
function refsFrom(table: TableDefinition, first: number): ColumnRef[] {
  return table.columns.map((_, position) => first + position);
}

function scanOf(
  table: TableDefinition,
  refs: readonly ColumnRef[],
): { readonly plan: Plan & { readonly kind: "table_scan" }; readonly refs: readonly ColumnRef[] } {
  const columns: ScanColumn[] = table.columns.map((column, position) => ({
    columnId: column.id,
    output: refs[position] ?? 0,
    type: column.type,
    nullable: true,
  }));
  return {
    plan: { kind: "table_scan", table, columns, rowId: null, filter: null, prune: [], rows: 1000 },
    refs,
  };
}

function refOf(table: TableDefinition, refs: readonly ColumnRef[], columnId: number): ColumnRef {
  return refs[table.columns.findIndex((column) => column.id === columnId)] ?? 0;
}

function reference(table: TableDefinition, refs: readonly ColumnRef[], columnId: number): Expression {
  const column = columnOf(table, columnId);
  return { kind: "column", type: column.type, column: refOf(table, refs, columnId), nullable: true };
}

function columnOf(table: TableDefinition, columnId: number): ColumnDefinition {
  const found = table.columns.find((column) => column.id === columnId);
  if (found === undefined) {
    throw new DatabaseError(SQLSTATE.undefinedColumn, `column ${columnId} does not exist`);
  }
  return found;
}

function resultColumn(column: ColumnDefinition, ref: ColumnRef): ResultColumn {
  return { name: column.name, column: ref, type: column.type, tableId: 0, columnId: 0 };
}

function shown(session: Session, column: ColumnDefinition, value: SqlValue): string {
  return value === null ? "null" : formatText(column.type, value, session.evaluation.textOptions);
}
