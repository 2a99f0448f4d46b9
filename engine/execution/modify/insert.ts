/**
 * INSERT: values of each source row become a stored row, get an id, meet ON CONFLICT, and are written.
 *
 * Rows are written as they come, unless the source reads the table: then all are computed first.
 */
import { assertDefined } from "../../base/assert.ts";
import { LIMITS } from "../../base/limits.ts";
import type { IndexDefinition, TableDefinition } from "../../catalog/definitions.ts";
import { triggersFor } from "../../catalog/triggers.ts";
import type { Expression } from "../../sql/plan/expression.ts";
import { LOCK_STRENGTHS, type ModifyPlan } from "../../sql/plan/plan.ts";
import { emitTruth } from "../codegen/condition.ts";
import type { Emitter, Value } from "../codegen/emitter.ts";
import { emitValue } from "../codegen/expression.ts";
import { emitTurn } from "../codegen/gas_code.ts";
import { mayBeNull } from "../../sql/plan/build.ts";
import { type Program, rowSink, type Sink } from "../codegen/region.ts";
import { nullableCode, storedCode } from "../codegen/value_form.ts";
import { HeldRows, type HeldValue, type ModifyCode } from "./modify_code.ts";
import { changesOf, type ModifyFacts } from "./modify_run.ts";
import { expressionReads, readsTable } from "./plan_shape.ts";
import { bindValue, emitNewRow, emitResultRow, type NewRow } from "./row_code.ts";
import { checkGivenRowId, checkRowId } from "./row_changes.ts";

/** An INSERT. */
export type InsertPlan = Extract<ModifyPlan, { kind: "insert" }>;

/** What is known of an INSERT before it runs. */
export function insertFacts(plan: InsertPlan): ModifyFacts {
  const { table, onConflict } = plan;
  return {
    table,
    command: "insert",
    ...(onConflict?.action === "update"
      ? changesOf(table, onConflict.assignments)
      : { changedColumns: [], assignedColumns: [] }),
    defersMoves: false,
    arbiters: onConflict === null ? null : arbitersOf(plan, table),
  };
}

function arbitersOf(plan: InsertPlan, table: TableDefinition): readonly (IndexDefinition | "row_id")[] {
  const named = plan.onConflict?.arbiters ?? null;
  if (named !== null) {
    return named.map((arbiter) =>
      arbiter === "row_id"
        ? arbiter
        : assertDefined(table.indexes.find((index) => index.id === arbiter), `arbiter index ${arbiter}`)
    );
  }
  const unique = table.indexes.filter((index) => index.unique);
  return table.rowIdColumn !== null || plan.id !== null ? ["row_id", ...unique] : unique;
}

/** Adds the pipelines of an INSERT. */
export function produceInsert(plan: InsertPlan, program: Program, modify: ModifyCode): void {
  const { table } = plan;
  const values = givenValues(plan);
  // The id of a table with an integer primary key is among the values and is not computed again.
  const ownId = table.rowIdColumn === null ? plan.id : null;
  const reads = readsTable(plan.source, table.id) ||
    [...values, ...(ownId === null ? [] : [ownId])].some((each) => expressionReads(each, table.id));
  if (!reads) {
    program.produce(plan.source, insertSink(plan, modify, values, plan.id));
    return endRows(plan, program, modify);
  }
  const held: HeldValue[] = values.map((expression, position) => ({
    column: heldColumn(position),
    expression,
  }));
  if (ownId !== null) held.push({ column: heldColumn(values.length), expression: ownId });
  const { compilation } = modify;
  const rows = new HeldRows(
    compilation,
    held,
    ({ expression }) => mayBeNull(expression, ({ column }) => compilation.mayBeNull(column)),
  );
  program.produce(plan.source, rows.sink);
  const references = held.map(({ column, expression }): Expression => ({
    kind: "column",
    type: expression.type,
    column,
    nullable: true,
  }));
  const id = ownId === null ? plan.id : assertDefined(references.at(-1), "held id");
  program.loop(plan, rows.source(), insertSink(plan, modify, references.slice(0, values.length), id));
  endRows(plan, program, modify);
}

/** Behind the last row. */
function endRows(plan: InsertPlan, program: Program, modify: ModifyCode): void {
  if (isOfMany(plan)) program.once(plan, (code) => code.emit(`${modify.writer(code)}.endRows();`));
}

function isOfMany({ source, onConflict }: InsertPlan): boolean {
  return onConflict === null && "rows" in source && source.rows >= LIMITS.batchedInsertRows;
}

/** Numbers of columns that stand for held values; a statement's own are positive. */
function heldColumn(position: number): number {
  return -1 - position;
}

/** The values with `ID n` put into the primary key column, where the two are the same. */
function givenValues(plan: InsertPlan): readonly Expression[] {
  const { table, id } = plan;
  if (id === null || table.rowIdColumn === null) return plan.values;
  return plan.values.map((value, position) => {
    const isKey = table.columns[position]?.id === table.rowIdColumn;
    return isKey && value.kind === "constant" && value.value === null ? id : value;
  });
}

function insertSink(
  plan: InsertPlan,
  modify: ModifyCode,
  values: readonly Expression[],
  id: Expression | null,
): Sink {
  const { table, onConflict } = plan;
  return rowSink((code) => {
    const writer = modify.writer(code);
    const shape = {
      table,
      newRow: plan.newRow,
      generated: plan.generated,
      checks: plan.checks,
      before: triggersFor(table, "insert").length === 0
        ? null
        : (row: string) => `${modify.run(code)}.beforeInsert(${row});`,
    };
    const proposed = emitNewRow(code, shape, values.map((value) => emitValue(code, value)));
    const rowId = emitRowId(code, table, writer, proposed.row, id);
    if (onConflict === null) {
      code.emit(
        `${writer}.${isOfMany(plan) ? "createOneOfMany" : "create"}(${table.id}, ${rowId}, ${proposed.row});`,
      );
      if (table.constraints.some((constraint) => constraint.kind === "foreign_key")) {
        code.emit(`${modify.run(code)}.changes.created(${rowId}, ${proposed.row});`);
      }
      emitCounted(code, plan, modify, rowId);
      emitTurn(code);
      return;
    }
    const run = modify.run(code);
    const location = code.define("found", `${run}.conflict(${rowId}, ${proposed.row})`);
    code.block(`if (${location} === -1) `, "conditional", () => {
      code.emit(`${run}.createUnlessConflict(${rowId}, ${proposed.row});`);
      if (onConflict.action === "update") code.emit(`${run}.noteWritten(${rowId});`);
      if (table.constraints.some((constraint) => constraint.kind === "foreign_key")) {
        code.emit(`${run}.changes.created(${rowId}, ${proposed.row});`);
      }
      emitCounted(code, plan, modify, rowId);
    });
    if (onConflict.action === "update") {
      code.block(
        `else `,
        "conditional",
        () => emitConflictUpdate(code, plan, modify, location, proposed),
      );
    }
    emitTurn(code);
  });
}

/** The id of the new row: from the primary key column, from `ID n`, or from the table's counter. */
function emitRowId(
  code: Emitter,
  table: TableDefinition,
  writer: string,
  row: string,
  id: Expression | null,
): string {
  if (table.rowIdColumn === null && id === null) return code.define("id", `${writer}.nextRowId(${table.id})`);
  const position = table.columns.findIndex((column) => column.id === table.rowIdColumn);
  const name = code.define(
    "id",
    position >= 0 ? `${row}[${position}]` : nullableCode(emitValue(code, id as Expression)),
  );
  const check = id === null
    ? code.use("checkRowId", checkRowId)
    : code.use("checkGivenRowId", checkGivenRowId);
  const sign = id === null ? "" : ` && ${name} >= 0`;
  code.emit(
    `if (!(typeof ${name} === "number"${sign})) ${check}(${code.constant("table", table)}, ${name});`,
  );
  return name;
}

function emitCounted(code: Emitter, plan: InsertPlan, modify: ModifyCode, rowId: string): void {
  modify.emitCount(code, plan);
  code.emit(`S.insertedId = ${rowId};`);
  if (plan.returning === null) return;
  bindValue(code, plan.rowId, { kind: "i64" }, { code: rowId, isNull: null });
  emitResultRow(code, plan.returning, modify.columns);
}

/** ON CONFLICT DO UPDATE for the row at `location`. */
function emitConflictUpdate(
  code: Emitter,
  plan: InsertPlan,
  modify: ModifyCode,
  location: string,
  proposed: NewRow,
): void {
  const { table } = plan;
  const onConflict = assertDefined(plan.onConflict, "ON CONFLICT");
  const run = modify.run(code);
  const reader = code.define("T", `${run}.reader`);
  const rowId = code.define("id", `${reader}.idAt(${location})`);
  code.emit(`${run}.refuseMet(${rowId});`);
  const existing = table.columns.map((column): Value => {
    const stored = code.define("s", `${reader}.valueAt(${location}, ${column.id})`);
    const read = storedCode(code, column.type, stored);
    const name = read === stored ? stored : code.define("v", `${stored} === null ? null : ${read}`);
    return { code: name, isNull: `${name} === null` };
  });
  table.columns.forEach((column, position) => {
    const old = onConflict.existing[position];
    if (old !== undefined) bindValue(code, old, column.type, existing[position] as Value);
  });
  proposed.bind(onConflict.excluded);
  const update = (): void => {
    const values = table.columns.map((_, position) => {
      const assigned = onConflict.assignments[position] ?? null;
      return assigned === null ? existing[position] as Value : emitValue(code, assigned);
    });
    // The new row's columns are those of the proposed row, which came before.
    code.rebindingBlock(() => {
      const before = triggersFor(table, "update").length === 0
        ? null
        : (row: string) => `${run}.beforeUpdate(${row}, ${run}.rowBefore(${rowId}));`;
      const { newRow, generated, checks } = plan;
      const changed = emitNewRow(code, { table, newRow, generated, checks, before }, values);
      const newId = code.define("id", `${run}.change(${rowId}, ${changed.row})`);
      code.emit(`${run}.noteWritten(${newId});`);
      emitCounted(code, plan, modify, newId);
    });
  };
  if (onConflict.where === null) return update();
  // Also a row that the condition keeps as it is stays so until the transaction ends.
  const mode = LOCK_STRENGTHS.indexOf("no key update");
  code.emit(`${modify.writer(code)}.lockRow(${table.id}, ${rowId}, "wait", ${mode});`);
  code.block(`if (${emitTruth(code, onConflict.where)}) `, "conditional", update);
}
