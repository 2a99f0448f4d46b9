/** Which expressions give the same value wherever they are evaluated. */
import type { SqlType } from "../../types/sql_type.ts";
import type { BoundCast, BoundFunction } from "../functions/definition.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { AggregateCall } from "../plan/plan.ts";
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
  "format",
  "array_to_string",
  "to_json",
  "to_jsonb",
  "json_build_array",
  "jsonb_build_array",
  "json_build_object",
  "jsonb_build_object",
  "array_to_json",
  "row_to_json",
  "to_timestamp",
  "make_timestamptz",
  "date_bin",
]);

/** Types whose values are numbers of objects, which only a catalog names. */
const OF_CATALOG: ReadonlySet<SqlType["kind"]> = new Set(["regclass", "regtype", "regproc", "regnamespace"]);

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
    case "call":
      if (!isSteadyCall(expression.function)) return false;
      break;
    case "cast":
      if (!isSteadyCall(expression.cast)) return false;
      break;
    default:
      break;
  }
  return operands(expression).every((operand) => isSteady(operand, columns));
}

/** Whether a call or cast asks for nothing but its arguments, and what of the session travels along. */
export function isSteadyCall(called: BoundFunction | BoundCast): boolean {
  const { volatility } = called;
  if (volatility === "volatile") return false;
  if ("to" in called) return volatility !== "stable" || (isPlain(called.from) && isPlain(called.to));
  const { userFunctionId, name, argumentTypes } = called;
  if (userFunctionId !== undefined) return false;
  return volatility !== "stable" || (OF_SESSION.has(name) && argumentTypes.every(namesNothing));
}

function isPlain(type: SqlType): boolean {
  return type.kind === "array" ? isPlain(type.element) : PLAIN_KINDS.has(type.kind);
}

/** Whether the form of its values asks no catalog. */
function namesNothing(type: SqlType): boolean {
  if (type.kind === "array") return namesNothing(type.element);
  if (type.kind === "record") return type.fields.every((field) => namesNothing(field.type));
  return !OF_CATALOG.has(type.kind);
}

/** Whether evaluating it may look at anything of the session. */
export function asksSession(expression: Expression): boolean {
  return expression.kind === "call" || (expression.kind === "cast" && !expression.cast.identity);
}

/** Whether an aggregate asks the session for the form of its values: those of JSON show them as texts. */
export function asksSessionForForm({ aggregate: { returnType } }: AggregateCall): boolean {
  return returnType.kind === "json" || returnType.kind === "jsonb";
}

/** Whether an aggregate asks for nothing but what of the session travels along. */
export function isSteadyAggregate(call: AggregateCall): boolean {
  return !asksSessionForForm(call) || call.args.every(({ type }) => namesNothing(type));
}
