/** Functions whose answer comes from the catalog or the session: pg_get_indexdef, format_type, pg_table_is_visible … */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { SqlValue } from "../../types/value.ts";
import type { SessionEvaluation } from "../evaluation.ts";

/** Runs a catalog function by name; arguments are not null unless the function takes nulls. */
export function runCatalogFunction(
  evaluation: SessionEvaluation,
  name: string,
  _args: readonly SqlValue[],
): SqlValue {
  if (name === "pg_backend_pid") return evaluation.session.processId;
  throw new DatabaseError(SQLSTATE.featureNotSupported, `function ${name} is not supported`);
}
