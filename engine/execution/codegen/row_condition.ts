/**
 * What the filter over a table says of one row by itself, as a function of the row's stored values: with it a
 * transaction notes which rows it has read where comparisons of a column and a constant do not tell (OR, LIKE, several
 * columns).
 *
 * It is asked long after the statement, about rows that others have written. So it has only conjuncts whose value
 * depends on nothing but the row and the parameters; without the others it admits more rows. The same holds for a
 * row that makes it fail.
 *
 * Limits: {@link MAX_PARAMETERS}, none of them longer than {@link MAX_TEXT}, for it is kept until the transaction ends.
 */
import type { Expression } from "../../sql/plan/expression.ts";
import type { Plan } from "../../sql/plan/plan.ts";
import { expressionKey } from "../../sql/plan/build.ts";
import { longTermsOf } from "../../sql/plan/long_terms.ts";
import { operands, subqueryPlan } from "../../sql/plan/traverse.ts";
import type { StoredValue } from "../../operations/effect.ts";
import type { RowCondition } from "../../storage/access/readable_table.ts";
import type { SqlValue } from "../../types/value.ts";
import type { ExecutionState } from "../runtime/execution_state.ts";
import { emitConjuncts } from "./condition.ts";
import type { Compilation } from "./compilation.ts";
import { Emitter } from "./emitter.ts";
import { conjuncts, expressionFacts } from "./plan_analysis.ts";
import { storedCode } from "./value_form.ts";

const MAX_PARAMETERS = 64;
const MAX_TEXT = 1000;

type Access = Extract<Plan, { kind: "table_scan" | "row_lookup" | "row_range" | "index_scan" }>;
type ValueOf = (columnId: number) => StoredValue | undefined;

type MakeRowCondition = (state: ExecutionState) => RowCondition | null;

/** Answers the condition for the parameters of an execution, or null; it is compiled when it is asked for first. */
export function rowConditionOf(compilation: Compilation, plan: Access): MakeRowCondition {
  let make: MakeRowCondition | null = null;
  return (state) => (make ??= compileRowCondition(compilation, plan))(state);
}

const noCondition = () => null;

function compileRowCondition(compilation: Compilation, plan: Access): MakeRowCondition {
  const all = plan.filter === null ? [] : conjuncts(plan.filter);
  // Zone predicates say as much.
  if (plan.kind === "table_scan" && all.length <= plan.prune.length) return noCondition;
  const parts = all.filter((part) => dependsOnRow(part, plan));
  if (parts.length === 0) return noCondition;
  const mentioned = new Set(parts.flatMap((part) => [...expressionFacts(part).mentioned.keys()]));
  const columns = plan.columns.filter(({ output }) => mentioned.has(output));
  const code = new Emitter(compilation);
  code.skip = "return false;";
  code.block("return (valueOf) => ", "row", () => {
    for (const { output, columnId, type } of columns) {
      const stored = code.define("s", `valueOf(${columnId})`);
      code.emit(`if (${stored} === undefined) return true;`);
      const load = (code: Emitter) => {
        const name = code.define("c", `${stored} === null ? null : ${storedCode(code, type, stored)}`);
        return { code: name, isNull: `${name} === null` };
      };
      code.bind(output, { type, cheap: false, load });
    }
    emitConjuncts(code, parts);
    code.emit("return true;");
  });
  const make = code.compile<(state: ExecutionState) => (valueOf: ValueOf) => boolean>(
    code.source("row_condition", "S"),
  );
  const text = JSON.stringify([
    columns.map(({ output, columnId }) => [output, columnId]),
    parts.map(expressionKey),
  ]);
  return (state) => {
    const { parameters } = state;
    if (parameters.length > MAX_PARAMETERS || !parameters.every(isSmall)) return null;
    const test = make(state);
    const admits = (valueOf: ValueOf): boolean => {
      try {
        return test(valueOf);
      } catch {
        // Whether the reader would have failed on this row depends on its other conditions.
        return true;
      }
    };
    return { text, parameters, admits };
  };
}

/** Whether a condition has one value for a row, whenever and wherever it is asked. */
function dependsOnRow(part: Expression, { columns }: Access): boolean {
  return isImmutable(part) &&
    expressionFacts(part).free.every((column) => columns.some(({ output }) => output === column));
}

function isImmutable(expression: Expression): boolean {
  if (subqueryPlan(expression) !== null) return false;
  if (expression.kind === "call") {
    const { volatility, userFunctionId } = expression.function;
    if (volatility !== "immutable" || userFunctionId !== undefined) return false;
    // Their code belongs to an execution.
    if (longTermsOf(expression.function) !== undefined) return false;
  } else if (expression.kind === "cast" && (expression.cast.volatility ?? "immutable") !== "immutable") {
    return false;
  }
  return operands(expression).every(isImmutable);
}

function isSmall(value: SqlValue): boolean {
  return typeof value === "string" ? value.length <= MAX_TEXT : typeof value !== "object" || value === null;
}
