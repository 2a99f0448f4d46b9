/** Which expressions give the same value wherever they are evaluated. */
import type { SqlType } from "../../types/sql_type.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import { operands, subqueryPlan } from "../plan/traverse.ts";

/** Functions that ask for nothing of a session but its clock's reading, time zone and styles, which travel along. */
const OF_SESSION: ReadonlySet<string> = new Set([
  "now",
  "transaction_timestamp",
  "statement_timestamp",
  "current_date",
  "current_time",
  "current_timestamp",
  "localtime",
  "localtimestamp",
  "date_trunc",
  "date_part",
  "extract",
  "to_char",
  "age",
  "timezone",
  "+",
  "-",
  "||",
  "concat",
  "concat_ws",
]);

/** Types of which conversions ask for no more either. */
const PLAIN_KINDS: ReadonlySet<SqlType["kind"]> = new Set([
  "date",
  "time",
  "timestamp",
  "timestamptz",
  "interval",
  "text",
  "varchar",
  "char",
]);

/** Whether the value depends on nothing but parameters, these columns, and what of the session travels along. */
export function isSteady(expression: Expression, columns: ReadonlySet<ColumnRef>): boolean {
  if (subqueryPlan(expression) !== null) return false;
  switch (expression.kind) {
    case "column":
      return columns.has(expression.column);
    case "call": {
      const { userFunctionId, volatility, name } = expression.function;
      if (userFunctionId !== undefined || volatility === "volatile") return false;
      if (volatility === "stable" && !OF_SESSION.has(name)) return false;
      break;
    }
    case "cast": {
      const { volatility, from, to } = expression.cast;
      if (volatility === "volatile") return false;
      if (volatility === "stable" && !(PLAIN_KINDS.has(from.kind) && PLAIN_KINDS.has(to.kind))) return false;
      break;
    }
    default:
      break;
  }
  return operands(expression).every((operand) => isSteady(operand, columns));
}

/** Whether evaluating it may look at anything of the session. */
export function asksSession(expression: Expression): boolean {
  return expression.kind === "call" || (expression.kind === "cast" && !expression.cast.identity);
}
