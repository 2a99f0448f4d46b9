/** Results that utility statements make themselves. */
import type { ResultColumn } from "../../sql/plan/plan.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import type { ResultSink } from "../outcome.ts";
import { writeRow } from "../row_buffer.ts";

/** Columns of a result that a utility statement makes. */
export function resultColumns(...columns: readonly (readonly [string, SqlType])[]): readonly ResultColumn[] {
  return columns.map(([name, type], index) => ({ name, type, column: index, tableId: 0, columnId: 0 }));
}

/** Sends rows made by a utility statement. */
export function sendRows(
  sink: ResultSink,
  columns: readonly ResultColumn[],
  rows: readonly (readonly SqlValue[])[],
): void {
  sink.begin(columns, false);
  for (const row of rows) writeRow(sink, columns, row);
}
