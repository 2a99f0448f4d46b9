/** Statements in a session, for tests that only want their rows. */
import type { Session } from "../../engine/session/session.ts";
import { RowBuffer } from "../../engine/statements/row_buffer.ts";
import type { SqlValue } from "../../engine/types/value.ts";

/** Runs a text; answers the rows of all its queries. */
export async function runSql(session: Session, text: string): Promise<SqlValue[][]> {
  const sink = new RowBuffer();
  await session.simple(text, sink, () => {});
  return sink.rows;
}

/** The same, when it is durable. */
export async function runDurably(session: Session, text: string): Promise<SqlValue[][]> {
  const sink = new RowBuffer();
  let op = 0;
  await session.simple(text, sink, (outcome) => op = Math.max(op, outcome.durableOp));
  await session.whenDurable(op);
  return sink.rows;
}
