/** The database under test, as logic tests see it: in this process, rows as text. */
import { engineOf } from "../../engine/session/database.ts";
import type { Database } from "../../mod.ts";
import { RowBuffer } from "../../engine/statements/row_buffer.ts";
import { formatText } from "../../engine/types/text_io.ts";
import type { LogicDatabase } from "./run_logic_tests.ts";

/** Wraps a database; every statement runs in one session. */
export function logicDatabase(database: Database): LogicDatabase {
  const session = engineOf(database).openSession();
  return {
    run: async (sql) => {
      const sink = new RowBuffer();
      await session.simple(sql, sink, () => {});
      const options = session.evaluation.textOptions;
      return sink.rows.map((row) =>
        sink.columns.map((column, index) => {
          const value = row[index] ?? null;
          return value === null ? null : formatText(column.type, value, options);
        })
      );
    },
  };
}
