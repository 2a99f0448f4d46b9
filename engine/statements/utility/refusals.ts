/** Errors of statements that are not served, or not at this place. */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { refusalHint } from "../../sql/parser/refusal_hints.ts";
import { errorPosition } from "../../sql/parser/source_text.ts";
import type { StatementHost } from "../statement_host.ts";

/** The 0A000 error for something that parses but is not served. */
export function unsupported(
  session: Pick<StatementHost, "currentText">,
  feature: string,
  offset: number,
): DatabaseError {
  const hint = refusalHint(feature);
  return new DatabaseError(SQLSTATE.featureNotSupported, `${feature} is not supported`, {
    position: errorPosition(session.currentText, offset),
    ...(hint === undefined ? {} : { hint }),
  });
}

/** Raises 25001 inside a transaction block. */
export function requireNoBlock(session: Pick<StatementHost, "block">, command: string): void {
  if (session.block?.explicit === true) {
    throw new DatabaseError(
      SQLSTATE.activeSqlTransaction,
      `${command} cannot run inside a transaction block`,
    );
  }
}
