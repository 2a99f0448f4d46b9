/**
 * Long expressions of statements that are planned in pieces: OR, AND, CASE, IN, COALESCE and ARRAY of thousands of
 * terms, and VALUES of as many rows. Each becomes one call, whose arguments are the columns in it, so that all that
 * looks at the plan afterwards sees one node. Its code is generated in parts while it runs.
 *
 * Left as they are: terms with subqueries, parameters, volatile functions or those of users, and what could lead to an
 * index or a join among the conditions of AND, as long as it is not thousands as well.
 */
import { NO_STATE, onceIn, type Pieces } from "../../base/pieces.ts";
import { isSubArray, type SqlType } from "../../types/sql_type.ts";
import { SqlArray } from "../../types/sql_array.ts";
import type { SqlValue } from "../../types/value.ts";
import { evaluate } from "../binder/evaluate.ts";
import type { BoundFunction, Volatility } from "../functions/definition.ts";
import { BOOLEAN, constant, volatilityOf } from "../plan/build.ts";
import type { ColumnExpression, Expression } from "../plan/expression.ts";
import { noteLongTerms } from "../plan/long_terms.ts";
import type { Plan } from "../plan/plan.ts";
import { needsCounter, shapeSteps } from "../plan/expression_steps.ts";
import { mapInputs, mapOperands, mapOwnExpressions } from "../plan/rewrite.ts";
import { operands, subqueryPlan } from "../plan/traverse.ts";

/** Shorter lists stay; tests change it. */
export const longTerms = { leastCount: 1000 };

/** Values of more columns are not handed over. */
const MAX_COLUMNS = 64;
/** What a term holds in memory, roughly. */
const TERM_BYTES = 1500;

/** The plan in which long expressions are calls. They have been simplified, so that what indexes answer is known. */
export function withLongTerms(plan: Plan, pieces: Pieces): Plan {
  const mapPlan = (each: Plan): Plan => {
    const next = mapInputs(each, (input) => onceIn(pieces, () => mapPlan(input)));
    switch (next.kind) {
      case "values":
        return next.list.length < longTerms.leastCount ? next : lateValues(next, pieces) ?? next;
      default: {
        const computed = new Set<Expression>();
        if ("generated" in next) {
          for (const { expression } of next.generated) computed.add(expression);
          for (const { condition } of next.checks) computed.add(condition);
        }
        return mapOwnExpressions(
          next,
          (own) =>
            computed.has(own)
              ? withLongTableTerms(own, pieces)
              : onceIn(pieces, () => withCalls(own, pieces, mapPlan)),
        );
      }
    }
  };
  return mapPlan(plan);
}

/** What a table computes of its rows, with calls in the place of what is long, unless its steps are to be counted. */
export function withLongTableTerms(expression: Expression, pieces: Pieces): Expression {
  return onceIn(pieces, () => {
    inPieces(operands(expression), shapeSteps, pieces);
    return needsCounter(expression) ? expression : withCalls(expression, pieces, null);
  });
}

/** The expression with calls in the place of what is long; `mapPlan` null: it belongs to a table. */
function withCalls(
  expression: Expression,
  pieces: Pieces,
  mapPlan: ((plan: Plan) => Plan) | null,
): Expression {
  const mapped = (terms: readonly Expression[]) => inPieces(terms, map, pieces);
  const called = (each: Expression): Expression => {
    const fixed = mapPlan === null ? shapeSteps(each).fixed : undefined;
    return calledTerms(each, pieces, fixed) ?? each;
  };
  const map = (each: Expression): Expression => {
    if (lengthOf(each) < longTerms.leastCount) return mapOperands(each, map, mapPlan ?? undefined);
    switch (each.kind) {
      case "and":
        return shorterAnd({ ...each, args: mapped(each.args) }, called);
      case "or":
        return called({ ...each, args: mapped(each.args) });
      case "in_list":
        // The steps of a test of an array depend on it.
        return (mapPlan === null ? null : inArray(each)) ?? called(each);
      case "array":
        return arrayOf(each.type, each.elements) ?? called(each);
      default:
        return called(each);
    }
  };
  return map(expression);
}

/** What `map` makes of a long expression, its terms in pieces. */
export function mapTerms(
  expression: Expression,
  map: (term: Expression) => Expression,
  pieces: Pieces,
): Expression {
  const terms = operands(expression);
  const mapped = inPieces(terms, map, pieces);
  const found = new Map(terms.map((term, index) => [term, mapped[index] ?? term]));
  return mapOperands(expression, (term) => found.get(term) ?? term);
}

function inPieces<T>(
  terms: readonly Expression[],
  map: (term: Expression) => T,
  pieces: Pieces,
): readonly T[] {
  return pieces.collect({ state: NO_STATE, mark: terms.length }, (index) => {
    const term = terms[index];
    return term === undefined ? undefined : map(term);
  });
}

/** How many terms an expression has that may be long. */
export function lengthOf(expression: Expression): number {
  switch (expression.kind) {
    case "and":
    case "or":
    case "coalesce":
      return expression.args.length;
    case "case":
      return expression.branches.length;
    case "in_list":
      return expression.list.length;
    case "array":
      return expression.elements.some(({ type }) => isSubArray(type)) ? 0 : expression.elements.length;
    default:
      return 0;
  }
}

/** AND, of which what may lead to an index or a join is left. */
function shorterAnd(
  expression: Expression & { readonly kind: "and" | "or" },
  called: (rest: Expression) => Expression,
): Expression {
  const { leastCount } = longTerms;
  const leading = expression.args.slice(0, leastCount - 1), rest = expression.args.slice(leastCount - 1);
  if (rest.length < 2) return expression;
  const call = called({ ...expression, args: rest });
  return call.kind === "call" ? { ...expression, args: [...leading, call] } : expression;
}

/** IN of constants, which an index or a table of hashes answers, as a test of an array; null: it is none. */
function inArray(expression: Expression & { readonly kind: "in_list" }): Expression | null {
  const { equals, argument, list, negated } = expression;
  const element = equals.argumentTypes[1];
  const array = element === undefined ? null : arrayOf({ kind: "array", element }, list);
  if (array === null) return null;
  const found: Expression = { kind: "any_array", type: BOOLEAN, operator: equals, left: argument, array };
  return negated ? { kind: "not", type: BOOLEAN, argument: found } : found;
}

/** The array of constants; null: something in it is none. */
function arrayOf(type: SqlType, list: readonly Expression[]): Expression | null {
  const values = list.flatMap((each) => each.kind === "constant" ? [each.value] : []);
  return values.length < list.length ? null : constant(type, SqlArray.of(values));
}

interface TermFacts {
  readonly columns: readonly ColumnExpression[];
  readonly volatility: Volatility;
}

let calledCount = 0;

/** The expression as a call, whose `steps` are known or count for nothing; null: something in it cannot be called. */
function calledTerms(expression: Expression, pieces: Pieces, steps?: number): Expression | null {
  const facts = factsOf(operands(expression), pieces);
  if (facts === null) return null;
  const columns = new Map(facts.columns.map((each) => [each.column, each]));
  if (columns.size > MAX_COLUMNS) return null;
  const args = [...columns.values()];
  const called: BoundFunction = {
    // No two are equal, whatever their columns.
    name: `long_${expression.kind}_${++calledCount}`,
    argumentTypes: args.map(({ type }) => type),
    returnType: expression.type,
    volatility: facts.volatility,
    strict: false,
    mayReturnNull: true,
    heldBytes: lengthOf(expression) * TERM_BYTES,
    ...(steps === undefined ? {} : { steps }),
    evaluate: (context, ...values) =>
      evaluate(
        expression,
        context,
        new Map(args.map(({ column }, index) => [column, values[index] ?? null])),
      ),
  };
  noteLongTerms(called, { expression, columns: args.map(({ column }) => column) });
  return { kind: "call", type: expression.type, function: called, args };
}

/** VALUES of rows that are evaluated one by one; null: something in them cannot be. */
function lateValues(plan: Plan & { readonly kind: "values" }, pieces: Pieces): Plan | null {
  const facts = factsOf(plan.list.flat(), pieces);
  if (facts === null || facts.columns.length > 0) return null;
  const list: BoundFunction = {
    name: '"*VALUES*"',
    argumentTypes: [],
    returnType: { kind: "record", fields: [] },
    volatility: facts.volatility,
    strict: false,
    mayReturnNull: true,
    evaluate: () => null,
    rowColumns: plan.types.map((type, index) => ({ name: `column${index + 1}`, type })),
    heldBytes: plan.list.length * plan.types.length * TERM_BYTES,
    *rows(context): Iterable<readonly SqlValue[]> {
      for (const row of plan.list) yield row.map((cell) => evaluate(cell, context));
    },
  };
  return {
    kind: "function_scan",
    input: null,
    functions: [{ function: list, args: [], outputs: plan.outputs }],
    ordinality: null,
    rows: plan.list.length,
  };
}

function factsOf(terms: readonly Expression[], pieces: Pieces): TermFacts | null {
  const all = inPieces(terms, termFacts, pieces);
  const columns = new Map<number, ColumnExpression>();
  let volatility: Volatility = "immutable";
  for (const facts of all) {
    if (facts === null) return null;
    for (const column of facts.columns) columns.set(column.column, column);
    if (facts.volatility === "stable") volatility = "stable";
  }
  return { columns: [...columns.values()], volatility };
}

/** Null: it cannot be evaluated apart from the statement. */
function termFacts(term: Expression): TermFacts | null {
  const volatility = volatilityOf(term);
  if (volatility === "volatile") return null;
  const columns: ColumnExpression[] = [];
  const look = (each: Expression): boolean => {
    if (each.kind === "column") columns.push(each);
    if (each.kind === "parameter" || subqueryPlan(each) !== null) return false;
    if (each.kind === "call" && each.function.userFunctionId !== undefined) return false;
    return operands(each).every(look);
  };
  return look(term) ? { columns, volatility } : null;
}
