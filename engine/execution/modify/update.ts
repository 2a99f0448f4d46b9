/**
 * UPDATE: computes the new row of each row that the source yields and writes it.
 *
 * One row found by its key is written at once, and so are rows of one table that are looked at one by one and keep
 * their keys: a walk sees the state at its begin. Otherwise all assigned values are computed before the first write,
 * and each row is changed at most once, by the first source row that meets it. A row whose id changes is deleted when
 * its turn comes and created after all others, so that `SET id = id + 1` collides only with what remains.
 */
import { assertDefined } from "../../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { hasMask } from "../../catalog/index_keys.ts";
import { triggersFor } from "../../catalog/triggers.ts";
import type { ColumnRef, Expression } from "../../sql/plan/expression.ts";
import type { ModifyPlan } from "../../sql/plan/plan.ts";
import type { Emitter, Value } from "../codegen/emitter.ts";
import { emitValue } from "../codegen/expression.ts";
import { emitTurn } from "../codegen/gas_code.ts";
import { mayBeNull } from "../../sql/plan/build.ts";
import type { Program, Sink } from "../codegen/region.ts";
import { storedCode } from "../codegen/value_form.ts";
import {
  HeldRows,
  type HeldValue,
  type ModifyCode,
  produceHeld,
  sourceColumnsOfReturning,
} from "./modify_code.ts";
import { changesOf, type ModifyFacts } from "./modify_run.ts";
import { hasSubquery, looksAtRows, mayRepeat, yieldsOneRow } from "./plan_shape.ts";
import {
  bindValue,
  emitCheckedRow,
  emitNewRow,
  emitResultRow,
  type NewRow,
  toStoredCode,
} from "./row_code.ts";
import { setsRowId } from "./row_triggers.ts";

/** An UPDATE. */
export type UpdatePlan = Extract<ModifyPlan, { kind: "update" }>;

/** What is known of an UPDATE before it runs. */
export function updateFacts(plan: UpdatePlan): ModifyFacts {
  const { table } = plan;
  return {
    table,
    command: "update",
    ...changesOf(table, plan.assignments),
    defersMoves: !yieldsOneRow(plan.source),
    arbiters: null,
  };
}

/** Adds the pipelines of an UPDATE. */
export function produceUpdate(plan: UpdatePlan, program: Program, modify: ModifyCode): void {
  if (yieldsOneRow(plan.source) || isRowByRow(plan)) {
    program.produce(plan.source, updateSink(plan, modify, plan.assignments, "source"));
    return;
  }
  const { compilation } = modify;
  const held: HeldValue[] = [rowIdValue(plan.rowId)];
  const assignments = plan.assignments.map((assigned, position): Expression | null => {
    if (assigned === null) return null;
    const column: ColumnRef = -1 - position;
    held.push({ column, expression: assigned });
    return { kind: "column", type: assigned.type, column, nullable: true };
  });
  held.push(...sourceColumnsOfReturning(plan, [plan.rowId, ...plan.newRow]));
  const rows = new HeldRows(
    compilation,
    held,
    ({ expression }) => mayBeNull(expression, ({ column }) => compilation.mayBeNull(column)),
  );
  const repeats = plan.refusesRepeats !== true && mayRepeat(plan.source);
  produceHeld(plan, rows, { program, modify, repeats });
  program.loop(plan, rows.source(), updateSink(plan, modify, assignments, "table"));
}

/** Whether no row's new values depend on what became of others, so that each is changed as it comes. */
function isRowByRow(plan: UpdatePlan): boolean {
  return keepsKeys(plan) && triggersFor(plan.table, "update").length === 0 && looksAtRows(plan.source) &&
    plan.assignments.every((each) => each === null || !hasSubquery(each));
}

/** Whether the rows keep their ids and the keys of unique indexes. */
function keepsKeys(plan: UpdatePlan): boolean {
  const { table } = plan;
  const { changedColumns } = changesOf(table, plan.assignments);
  return !changedColumns.includes(table.rowIdColumn ?? 0) &&
    table.indexes.every((index) =>
      !index.unique ||
      !hasMask(index) && index.columns.every((part) => !changedColumns.includes(part.columnId))
    );
}

/** The row id as a held value. */
export function rowIdValue(column: ColumnRef): HeldValue {
  return { column, expression: { kind: "column", type: { kind: "i64" }, column, nullable: false } };
}

/** Skips a row that another part of the statement has changed; MERGE refuses it. */
export function emitMeetOfParts(
  code: Emitter,
  plan: Extract<ModifyPlan, { kind: "update" | "delete" }>,
  id: string,
): void {
  const otherwise = plan.refusesRepeats === true ? `${code.use("refuseRepeat", refuseRepeat)}();` : code.skip;
  code.emit(
    `if (S.context.before !== undefined && !S.context.before.meet(${plan.table.id}, ${id})) ${otherwise}`,
  );
}

function refuseRepeat(): never {
  throw new DatabaseError(
    SQLSTATE.cardinalityViolation,
    "MERGE command cannot affect row a second time",
    { hint: "Ensure that not more than one source row matches any one target row." },
  );
}

/** `unassigned`: whether columns that keep their value are read from the source's row or from the table. */
function updateSink(
  plan: UpdatePlan,
  modify: ModifyCode,
  assignments: readonly (Expression | null)[],
  unassigned: "source" | "table",
): Sink {
  const { table } = plan;
  const readerKey = {};
  const fires = triggersFor(table, "update").length > 0;
  return {
    open: (code) => {
      if (unassigned === "table" && !fires) {
        code.note(readerKey, code.define("T", `S.context.table(${table.id})`));
      }
    },
    row: (code) => {
      const id = code.column(plan.rowId).code;
      emitMeetOfParts(code, plan, id);
      const reader = unassigned === "table" && !fires ? code.recall<string>(readerKey) : null;
      const changed = fires
        ? emitFiredRow(code, plan, modify, assignments)
        : emitChangedRow(code, plan, assignments, reader);
      const writer = modify.writer(code), run = modify.run(code);
      const keyPosition = table.columns.findIndex((column) => column.id === table.rowIdColumn);
      const movesRow = keyPosition >= 0 && (assignments[keyPosition] ?? null) !== null ||
        setsRowId(table, "update");
      let newId = id;
      if (movesRow) newId = code.define("id", `${run}.change(${id}, ${changed.row})`);
      else {
        const update = keepsKeys(plan) ? "updateKeepingKeys" : "update";
        code.emit(`if (${run}.changes === null) ${writer}.${update}(${table.id}, ${id}, ${changed.row});`);
        code.emit(`else ${run}.change(${id}, ${changed.row});`);
      }
      modify.emitCount(code, plan);
      if (plan.returning !== null) {
        const returning = plan.returning;
        code.block("", "conditional", () => {
          if (newId !== id) bindValue(code, plan.rowId, { kind: "i64" }, { code: newId, isNull: null });
          emitResultRow(code, returning, modify.columns);
        });
      }
      emitTurn(code);
    },
    close: () => {},
  };
}

/** The new row from what is assigned and, at the place of the row in `reader` or in the source, what it keeps. */
function emitChangedRow(
  code: Emitter,
  plan: UpdatePlan,
  assignments: readonly (Expression | null)[],
  reader: string | null,
): NewRow {
  const { table, newRow, generated, checks } = plan;
  const assigned = assignments.map((each) => each === null ? null : emitValue(code, each));
  const location = reader === null
    ? ""
    : code.define("at", `${reader}.find(${code.column(plan.rowId).code})`);
  if (location !== "") code.emit(`if (${location} === -1) ${code.skip}`);
  const values = table.columns.map((column, position): Value => {
    const value = assigned[position] ?? null;
    if (value !== null) return value;
    if (reader === null) return code.column(assertDefined(plan.oldRow[position], "old column"));
    const stored = code.define("s", `${reader}.valueAt(${location}, ${column.id})`);
    const read = storedCode(code, column.type, stored);
    const name = read === stored ? stored : code.define("v", `${stored} === null ? null : ${read}`);
    return { code: name, isNull: column.notNull ? null : `${name} === null` };
  });
  return emitNewRow(code, { table, newRow, generated, checks, before: null }, values);
}

/** The new row where triggers fire: they see the whole old one. */
function emitFiredRow(
  code: Emitter,
  plan: UpdatePlan,
  modify: ModifyCode,
  assignments: readonly (Expression | null)[],
): NewRow {
  const { table, newRow, generated, checks } = plan;
  const run = modify.run(code);
  const old = code.define("old", `${run}.rowBefore(${code.column(plan.rowId).code})`);
  code.emit(`if (${old} === null) ${code.skip}`);
  const values = assignments.map((each, position) => {
    const type = table.columns[position]?.type;
    return each === null || type === undefined ? null : toStoredCode(code, type, emitValue(code, each));
  });
  const row = code.define("row", `${old}.slice()`);
  for (const [position, value] of values.entries()) {
    if (value !== null) code.emit(`${row}[${position}] = ${value};`);
  }
  const before = (name: string) => `${run}.beforeUpdate(${name}, ${old});`;
  return emitCheckedRow(code, { table, newRow, generated, checks, before }, row);
}
