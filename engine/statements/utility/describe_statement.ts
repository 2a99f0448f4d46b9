/** DESCRIBE: the columns of a table or view, one row each. */
import type { Describe } from "../../sql/parser/ast.ts";
import type { ResultColumn } from "../../sql/plan/plan.ts";
import { formatType } from "../../types/type_names.ts";
import type { SqlValue } from "../../types/value.ts";
import type { ResultSink, StatementOutcome } from "../outcome.ts";
import type { StatementHost } from "../statement_host.ts";
import { resultColumns, sendRows } from "./result_rows.ts";

/** Columns of DESCRIBE. The HTTP gateway makes its JSON object of them. */
export function describeColumns(): readonly ResultColumn[] {
  const text = { kind: "text" } as const, bool = { kind: "bool" } as const;
  return resultColumns(["name", text], ["type", text], ["nullable", bool], ["default", text], [
    "primary_key",
    bool,
  ]);
}

/** DESCRIBE. */
export function describeTable(
  session: StatementHost,
  statement: Describe,
  sink: ResultSink,
): StatementOutcome {
  const relation = session.resolveRelation(statement.table);
  const rows: SqlValue[][] = [];
  if (relation.kind === "table") {
    const { table } = relation;
    const key = table.constraints.find((constraint) => constraint.kind === "primary_key");
    for (const column of table.columns) {
      if (column.hidden) continue;
      const isKey = key?.columns.includes(column.id) === true;
      rows.push([column.name, formatType(column.type), !column.notNull, column.defaultText, isKey]);
    }
  } else if (relation.kind === "view") {
    for (const column of relation.view.columns) {
      rows.push([column.name, formatType(column.type), true, null, false]);
    }
  }
  sendRows(sink, describeColumns(), rows);
  return session.outcome(`DESCRIBE ${statement.table.name}`, rows.length, "describe");
}
