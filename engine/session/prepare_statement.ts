/** One parsed statement as a prepared one: its columns, its parameters, and its plan if it has one. */
import type { ParsedStatement } from "../sql/parser/ast.ts";
import { Prepared } from "../statements/prepared.ts";
import type { SessionHost } from "../statements/statement_host.ts";
import { isPlannable, returnsRows } from "../statements/statement_kind.ts";
import { utilityColumns, utilityParameters } from "../statements/utility/utility.ts";
import type { SqlType } from "../types/sql_type.ts";
import type { Planning } from "./planning.ts";

/** Prepares a statement of a text; null: the text is empty. */
export function prepareStatement(
  session: SessionHost & Parameters<Planning["plan"]>[0],
  plans: Planning,
  text: string,
  parsed: ParsedStatement | null,
  parameterTypes: readonly (SqlType | undefined)[],
): Prepared {
  if (parsed === null) {
    return new Prepared({
      text,
      statement: null,
      columns: null,
      parameterTypes: [],
      plan: null,
      declared: [],
    });
  }
  const { statement } = parsed;
  if (isPlannable(statement)) {
    const plan = plans.plan(session, text, parsed, parameterTypes);
    return new Prepared({
      text,
      statement: parsed,
      columns: returnsRows(plan.planned) ? plan.planned.columns : null,
      parameterTypes: plan.planned.parameterTypes.slice(0, plan.parameterCount),
      plan,
      declared: parameterTypes,
    });
  }
  return new Prepared({
    text,
    statement: parsed,
    columns: utilityColumns(session, statement),
    parameterTypes: utilityParameters(session, text, statement, parameterTypes),
    plan: null,
    declared: parameterTypes,
  });
}
