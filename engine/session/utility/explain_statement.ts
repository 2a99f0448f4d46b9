/** EXPLAIN: the plan, with ANALYZE its measured rows and times, with CODE the generated JavaScript. */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { Explain, NamedOption } from "../../sql/parser/ast.ts";
import { compileStatement } from "../../execution/compile_statement.ts";
import { explainPlan } from "../../sql/planner/explain_plan.ts";
import { planStatement } from "../../sql/planner/plan_statement.ts";
import type { PlannedStatement, ResultColumn } from "../../sql/plan/plan.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { type MaybePromise, type ResultSink, type StatementOutcome, whenDone } from "../outcome.ts";
import { RowCounter } from "../row_buffer.ts";
import type { Session } from "../session.ts";
import { isPlannable } from "../statement_kind.ts";
import { type Arguments, requireArguments, resultColumns, sendRows, unsupported } from "./utility.ts";

const OPTIONS = [
  "analyze",
  "verbose",
  "costs",
  "code",
  "timing",
  "summary",
  "buffers",
  "settings",
  "wal",
  "format",
];

/** Columns of EXPLAIN. */
export function explainColumns(_statement: Explain): readonly ResultColumn[] {
  return resultColumns(["QUERY PLAN", { kind: "text" }]);
}

/** The plan of the statement that is explained. */
export function explainedPlan(
  session: Session,
  text: string,
  { statement, position }: Explain,
  types: readonly (SqlType | undefined)[],
): PlannedStatement {
  if (!isPlannable(statement)) throw unsupported(`EXPLAIN of ${statement.kind}`, position);
  return planStatement(statement, session.engine.plans.environment(session, text, types, []));
}

/** The plans of what a statement that changes data in its WITH runs first. */
function explainParts({ parts = [] }: PlannedStatement): string[] {
  return parts.flatMap(({ planned }, index) => [
    `CTE ${index + 1}`,
    ...explainPlan(planned.plan).map((line) => `  ->  ${line}`),
  ]);
}

/** EXPLAIN. */
export function explain(
  session: Session,
  text: string,
  statement: Explain,
  sink: ResultSink,
  given: Arguments,
): MaybePromise<StatementOutcome> {
  const options = readOptions(statement.options);
  const planned = explainedPlan(session, text, statement, given.types);
  requireArguments(planned.parameterTypes, given);
  const send = (lines: readonly string[]): StatementOutcome => {
    sendRows(sink, explainColumns(statement), lines.map((line) => [line]));
    return session.outcome("EXPLAIN", lines.length, "explain");
  };
  const compiled = compileStatement(planned, { analyze: options.analyze });
  if (!options.analyze) {
    const lines = [...explainParts(planned), ...explainPlan(planned.plan)];
    return send(options.code ? [...lines, "", ...compiled.source.split("\n")] : lines);
  }
  const before = session.engine.monotonic();
  return whenDone(
    session.runWork(compiled, new RowCounter(), (execution) => {
      const elapsed = session.engine.monotonic() - before;
      const lines = [
        ...explainParts(planned),
        ...explainPlan(planned.plan, { profile: execution.profile }),
        `Execution Time: ${(elapsed / 1000).toFixed(3)} ms`,
      ];
      return send(options.code ? [...lines, "", ...compiled.source.split("\n")] : lines);
    }, given.values),
    (outcome) => outcome,
  );
}

function readOptions(list: readonly NamedOption[]): { analyze: boolean; code: boolean } {
  const isOn = (name: string): boolean => {
    const option = list.find((each) => each.name === name);
    return option !== undefined && !["off", "false", "0"].includes(option.value ?? "on");
  };
  for (const option of list) {
    if (!OPTIONS.includes(option.name)) {
      throw new DatabaseError(SQLSTATE.syntaxError, `unrecognized EXPLAIN option "${option.name}"`, {
        position: option.position + 1,
      });
    }
    if (option.name === "format" && (option.value ?? "text").toLowerCase() !== "text") {
      throw unsupported(`EXPLAIN (FORMAT ${option.value})`, option.position);
    }
  }
  return { analyze: isOn("analyze"), code: isOn("code") };
}
