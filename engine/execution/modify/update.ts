/**
 * UPDATE: computes the new row of each row that the source yields and writes it.
 *
 * One row found by its key is written at once. Otherwise all assigned values are computed before the first write, and
 * each row is changed at most once, by the first source row that meets it. A row whose id changes is deleted when its
 * turn comes and created after all others, so that `SET id = id + 1` collides only with what remains.
 */
import { assertDefined } from "../../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { ColumnRef, Expression } from "../../sql/plan/expression.ts";
import type { ModifyPlan } from "../../sql/plan/plan.ts";
import type { Emitter, Value } from "../codegen/emitter.ts";
import { emitValue } from "../codegen/expression.ts";
import { mayBeNull } from "../../sql/plan/build.ts";
import type { Program, Sink } from "../codegen/region.ts";
import { storedCode } from "../codegen/value_form.ts";
import { HeldRows, type HeldValue, type ModifyCode, sourceColumnsOfReturning } from "./modify_code.ts";
import type { ModifyFacts } from "./modify_run.ts";
import { mayRepeat, yieldsOneRow } from "./plan_shape.ts";
import { bindValue, emitNewRow, emitResultRow } from "./row_code.ts";

/** An UPDATE. */
export type UpdatePlan = Extract<ModifyPlan, { kind: "update" }>;

/** What is known of an UPDATE before it runs. */
export function updateFacts(plan: UpdatePlan): ModifyFacts {
  const { table } = plan;
  return {
    table,
    command: "update",
    changedColumns: table.columns.filter((column, position) =>
      (plan.assignments[position] ?? null) !== null || column.generatedText !== null
    ).map((column) => column.id),
    defersMoves: !yieldsOneRow(plan.source),
    arbiters: null,
  };
}

/** Adds the pipelines of an UPDATE. */
export function produceUpdate(plan: UpdatePlan, program: Program, modify: ModifyCode): void {
  if (yieldsOneRow(plan.source)) {
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
  program.produce(plan.source, rows.sink((code) => emitMeet(code, modify, plan.rowId, repeats)));
  program.loop(plan, rows.source(), updateSink(plan, modify, assignments, "table"));
}

/** The row id as a held value. */
export function rowIdValue(column: ColumnRef): HeldValue {
  return { column, expression: { kind: "column", type: { kind: "i64" }, column, nullable: false } };
}

/** Skips rows of the target that have come before, and those that an outer join left out. */
export function emitMeet(code: Emitter, modify: ModifyCode, rowId: ColumnRef, repeats: boolean): void {
  const id = code.column(rowId);
  if (id.isNull !== null) code.emit(`if (${id.isNull}) ${code.skip}`);
  if (repeats) code.emit(`if (!${modify.run(code)}.meet(${id.code})) ${code.skip}`);
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
  return {
    open: (code) => {
      if (unassigned === "table") code.note(readerKey, code.define("T", `S.context.table(${table.id})`));
    },
    row: (code) => {
      const id = code.column(plan.rowId).code;
      emitMeetOfParts(code, plan, id);
      const assigned = assignments.map((each) => each === null ? null : emitValue(code, each));
      const location = unassigned === "table"
        ? code.define("at", `${code.recall<string>(readerKey)}.find(${id})`)
        : "";
      if (location !== "") code.emit(`if (${location} === -1) ${code.skip}`);
      const values = table.columns.map((column, position): Value => {
        const value = assigned[position] ?? null;
        if (value !== null) return value;
        if (location === "") return code.column(assertDefined(plan.oldRow[position], "old column"));
        const stored = code.define(
          "s",
          `${code.recall<string>(readerKey)}.valueAt(${location}, ${column.id})`,
        );
        const read = storedCode(code, column.type, stored);
        const name = read === stored ? stored : code.define("v", `${stored} === null ? null : ${read}`);
        return { code: name, isNull: column.notNull ? null : `${name} === null` };
      });
      const changed = emitNewRow(
        code,
        { table, newRow: plan.newRow, generated: plan.generated, checks: plan.checks },
        values,
      );
      const writer = modify.writer(code), run = modify.run(code);
      const keyPosition = table.columns.findIndex((column) => column.id === table.rowIdColumn);
      const movesRow = keyPosition >= 0 && (assignments[keyPosition] ?? null) !== null;
      let newId = id;
      if (movesRow) newId = code.define("id", `${run}.change(${id}, ${changed.row})`);
      else {
        code.emit(`if (${run}.changes === null) ${writer}.update(${table.id}, ${id}, ${changed.row});`);
        code.emit(`else ${run}.change(${id}, ${changed.row});`);
      }
      modify.emitCount(code, plan);
      if (plan.returning === null) return;
      const returning = plan.returning;
      code.block("", "conditional", () => {
        if (newId !== id) bindValue(code, plan.rowId, { kind: "i64" }, { code: newId, isNull: null });
        emitResultRow(code, returning, modify.columns);
      });
    },
    close: () => {},
  };
}
