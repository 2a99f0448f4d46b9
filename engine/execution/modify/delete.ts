/**
 * DELETE: removes each row that the source yields. A row found by its key, and rows of one table that are looked at one
 * by one, are deleted as they come: a walk sees the state at its begin. Otherwise all are found before the first is
 * deleted.
 */
import { triggersFor } from "../../catalog/triggers.ts";
import type { ModifyPlan } from "../../sql/plan/plan.ts";
import { mayBeNull } from "../../sql/plan/build.ts";
import { emitTurn } from "../codegen/gas_code.ts";
import { type Program, rowSink, type Sink } from "../codegen/region.ts";
import { HeldRows, type ModifyCode, produceHeld, sourceColumnsOfReturning } from "./modify_code.ts";
import type { ModifyFacts } from "./modify_run.ts";
import { looksAtRows, mayRepeat, yieldsOneRow } from "./plan_shape.ts";
import { emitResultRow } from "./row_code.ts";
import { emitMeetOfParts, rowIdValue } from "./update.ts";

/** A DELETE. */
export type DeletePlan = Extract<ModifyPlan, { kind: "delete" }>;

/** What is known of a DELETE before it runs. */
export function deleteFacts(plan: DeletePlan): ModifyFacts {
  return {
    table: plan.table,
    command: "delete",
    changedColumns: [],
    assignedColumns: [],
    defersMoves: false,
    arbiters: null,
  };
}

/** Adds the pipelines of a DELETE. */
export function produceDelete(plan: DeletePlan, program: Program, modify: ModifyCode): void {
  const isAlone = triggersFor(plan.table, "delete").length === 0 && looksAtRows(plan.source);
  if (isAlone || yieldsOneRow(plan.source)) {
    program.produce(plan.source, deleteSink(plan, modify));
    return;
  }
  const { compilation } = modify;
  const rows = new HeldRows(
    compilation,
    [rowIdValue(plan.rowId), ...sourceColumnsOfReturning(plan, [plan.rowId])],
    ({ expression }) => mayBeNull(expression, ({ column }) => compilation.mayBeNull(column)),
  );
  const repeats = plan.refusesRepeats !== true && mayRepeat(plan.source);
  produceHeld(plan, rows, { program, modify, repeats });
  program.loop(plan, rows.source(), deleteSink(plan, modify));
}

function deleteSink(plan: DeletePlan, modify: ModifyCode): Sink {
  return rowSink((code) => {
    const id = code.column(plan.rowId).code;
    emitMeetOfParts(code, plan, id);
    const run = modify.run(code);
    if (triggersFor(plan.table, "delete").length > 0) {
      code.emit(`${run}.beforeDelete(${id});`);
      code.hasTurns = true;
    }
    // First, while the row can still be read.
    if (plan.returning !== null) emitResultRow(code, plan.returning, modify.columns);
    code.emit(`if (${run}.changes === null) ${modify.writer(code)}.delete(${plan.table.id}, ${id});`);
    code.emit(`else ${run}.remove(${id});`);
    modify.emitCount(code, plan);
    emitTurn(code);
  });
}
