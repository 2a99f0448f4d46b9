/**
 * REFRESH: reads an external source to its end and then puts its rows into the table, all or none.
 *
 * Nothing is locked while the source is read, which may take minutes: there is no transaction yet. What is read belongs
 * to this statement alone. The transaction begins when all rows are there, and its entry in the log has the rows
 * themselves, so that no replica and no restart ever asks the source. One source is refreshed by one session at a time.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { assertDefined } from "../../base/assert.ts";
import { errorPosition } from "../../sql/parser/source_text.ts";
import type { Refresh } from "../../sql/parser/ast.ts";
import type { StatementOutcome } from "../outcome.ts";
import { RowBuffer } from "../row_buffer.ts";
import type { RefreshHost } from "./refresh_host.ts";
import { requireSchemeServed } from "./source_features.ts";
import { refreshStatement } from "./refresh_load.ts";
import { RowTarget } from "./row_target.ts";

/** Runs REFRESH. */
export async function runRefresh(
  session: RefreshHost,
  statement: Refresh,
): Promise<StatementOutcome> {
  const { name } = statement;
  if (session.block !== null) {
    throw new DatabaseError(
      SQLSTATE.activeSqlTransaction,
      "REFRESH cannot run inside a transaction block",
      { hint: "It is a transaction of its own: send it as the only statement, without BEGIN." },
    );
  }
  const relation = session.resolveRelation(name);
  const table = relation.kind === "table" ? relation.table : undefined;
  const source = table?.external;
  if (table === undefined || source === undefined) {
    throw new DatabaseError(SQLSTATE.wrongObjectType, `"${name.name}" is not an external source`, {
      position: errorPosition(session.currentText, name.position),
    });
  }
  session.requireWritable("REFRESH");
  const { engine } = session;
  const { external } = engine;
  requireSchemeServed(external, source.url);
  const running = engine.refreshes.get(table.id);
  if (running !== undefined) {
    throw new DatabaseError(
      SQLSTATE.lockNotAvailable,
      `external source "${table.name}" is being refreshed already`,
      {
        detail: `Process ${running.processId} reads it.`,
        hint: "pg_stat_progress_refresh shows how far it is.",
      },
    );
  }
  const target = new RowTarget(table, {
    textOptions: session.evaluation.textOptions,
    environment: {
      monotonic: () => engine.monotonic(),
      yieldToLoop: () => engine.yieldToLoop(),
      checkCanceled: () => session.checkCanceled(),
    },
  });
  engine.refreshes.set(table.id, { processId: session.processId, progress: target.progress });
  try {
    const remarks = await assertDefined(external, "external sources").read({
      source,
      target,
      signal: session.environment.abort,
      timers: engine.host.timers,
    });
    session.checkCanceled();
    target.finish();
    for (const message of remarks) {
      session.notice({ severity: "NOTICE", code: SQLSTATE.successfulCompletion, message });
    }
    const { rows, pages, bytes } = target.progress;
    return await session.runWork(
      refreshStatement({
        table,
        batches: target.batches,
        refresh: { at: engine.now(), rows, pages, bytes },
        transaction: () => assertDefined(session.currentTransaction, "transaction of REFRESH"),
      }),
      new RowBuffer(),
      () => session.outcome(`REFRESH ${rows}`, rows, "affected"),
    );
  } finally {
    engine.refreshes.delete(table.id);
  }
}
