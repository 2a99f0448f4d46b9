/**
 * Simplification of expressions: constant folding, boolean algebra, conditions brought into a form that indexes and
 * joins can use.
 *
 * Invariants: the value of an expression never changes, errors included: what fails when it is folded is left as it is
 * and fails when it runs. A condition at the top of a filter may only change where it was not TRUE anyway.
 */
import { SWAPPED } from "./column_values.ts";
import { gas, type GasPlace } from "../../base/gas.ts";
import { onceIn, type Pieces } from "../../base/pieces.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { evaluate } from "../binder/evaluate.ts";
import { foldingContext } from "../binder/folding_context.ts";
import { findCast } from "../functions/casts.ts";
import { resolveOperator } from "../functions/registry.ts";
import type { Expression } from "../plan/expression.ts";
import {
  BOOLEAN,
  conjunction,
  conjuncts,
  constant,
  disjunction,
  expressionKey,
  FALSE,
  isNeverTrue,
  isTrue,
  sameType,
  TRUE,
  volatilityOf,
} from "../plan/build.ts";
import { lengthOf, longTerms, mapTerms } from "./long_terms.ts";
import type { Plan } from "../plan/plan.ts";
import { mapInputs, mapOperands, mapOwnExpressions, rewriteExpression } from "../plan/rewrite.ts";
import { columnTypes, operands, outputColumns } from "../plan/traverse.ts";

/** Simplifies every expression of a plan, the terms of long ones in pieces; each, and each input, once. */
export function simplifyPlan(plan: Plan, pieces?: Pieces): Plan {
  const next = mapOwnExpressions(
    mapInputs(plan, (input) => onceIn(pieces, () => simplifyPlan(input, pieces))),
    (each) => onceIn(pieces, () => simplify(each, pieces)),
  );
  if (next.kind === "filter") {
    const condition = simplifyCondition(next.condition);
    if (isTrue(condition)) return next.input;
    return isNeverTrue(condition) ? withoutRows(next.input) : { ...next, condition };
  }
  if (next.kind === "nested_loop_join" && next.condition !== null) {
    const condition = simplifyCondition(next.condition);
    return { ...next, condition: isTrue(condition) ? null : condition };
  }
  return next;
}

/** A plan of the same columns and no rows. */
function withoutRows(plan: Plan): Plan {
  const types = columnTypes(plan);
  const outputs = outputColumns(plan);
  const found = outputs.map((output) => types.get(output));
  const known = found.filter((type) => type !== undefined);
  if (known.length !== outputs.length) return { kind: "filter", input: plan, condition: FALSE, rows: 0 };
  return { kind: "values", outputs, types: known, list: [], rows: 0 };
}

/** Simplifies an expression and its subqueries. */
export function simplify(expression: Expression, pieces?: Pieces): Expression {
  const map = (each: Expression) => simplify(each, pieces);
  const mapPlan = (plan: Plan) => simplifyPlan(plan, pieces);
  const isLong = pieces !== undefined && lengthOf(expression) >= longTerms.leastCount;
  return simplifyNode(
    isLong ? mapTerms(expression, map, pieces) : mapOperands(expression, map, mapPlan),
  );
}

/** Simplifies a condition of which only TRUE matters: NULL counts as FALSE. */
export function simplifyCondition(condition: Expression): Expression {
  const parts = conjuncts(factorDisjunctions(condition)).flatMap((part) => conjuncts(asCondition(part)));
  if (parts.some(isNeverTrue)) return FALSE;
  // The key of a long one takes a while.
  if (parts.length === 1) return parts[0] ?? TRUE;
  const seen = new Set<string>();
  const unique = parts.filter((part) => {
    const key = expressionKey(part);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
  return conjunction(constantsFirst(unique)) ?? TRUE;
}

function asCondition(part: Expression): Expression {
  // x IS TRUE is x when only TRUE matters.
  if (part.kind === "is_truth" && part.truth === "true" && !part.negated) return asCondition(part.argument);
  if (part.kind === "in_list" && !part.negated) {
    // Nothing equals NULL.
    const list = part.list.filter((each) => !(each.kind === "constant" && each.value === null));
    if (list.length === 0) return FALSE;
    return list.length === part.list.length ? part : { ...part, list };
  }
  return part;
}

function simplifyNode(expression: Expression): Expression {
  switch (expression.kind) {
    case "and":
      return simplifyAnd(expression);
    case "or":
      return simplifyOr(expression);
    case "not":
      return simplifyNot(expression);
    case "call": {
      const folded = fold(expression);
      return folded.kind === "call" ? simplifyCall(folded) : folded;
    }
    case "is_null":
      if (expression.argument.kind === "constant") {
        return constant(BOOLEAN, (expression.argument.value === null) !== expression.negated);
      }
      return expression;
    case "case":
      return simplifyCase(expression);
    case "coalesce": {
      const args = expression.args.filter((each) => !(each.kind === "constant" && each.value === null));
      const [first] = args;
      if (first === undefined) return constant(expression.type, null);
      if (args.length === 1 || first.kind === "constant") return first;
      return args.length === expression.args.length ? expression : { ...expression, args };
    }
    case "cast":
    case "is_truth":
    case "is_distinct":
    case "nullif":
    case "greatest":
    case "least":
    case "in_list":
      return fold(expression);
    default:
      return expression;
  }
}

const FOLDED: GasPlace = { what: "constant expression" };

/** The constant that an immutable expression over constants is, or the expression. */
function fold(expression: Expression): Expression {
  if (expression.kind === "call" && expression.function.volatility !== "immutable") return expression;
  if (expression.kind === "call" && expression.function.rows !== undefined) return expression;
  if (expression.kind === "cast" && expression.cast.volatility !== "immutable") return expression;
  if (!operands(expression).every((each) => each.kind === "constant")) {
    const isStrictCall = expression.kind === "call" && expression.function.strict;
    const isNull = isStrictCall &&
      expression.args.some((each) => each.kind === "constant" && each.value === null);
    return isNull ? constant(expression.type, null) : expression;
  }
  try {
    return constant(expression.type, gas.run(FOLDED, () => evaluate(expression, foldingContext)));
  } catch {
    // It fails in the same way when the plan runs, if it is reached at all; what takes too many steps for a planner,
    // which nothing interrupts, may be no error then.
    return expression;
  }
}

function simplifyAnd(expression: Expression & { readonly kind: "and" | "or" }): Expression {
  const args = expression.args.flatMap((each) => each.kind === "and" ? each.args : [each]);
  if (args.some((each) => each.kind === "constant" && each.value === false)) return FALSE;
  const kept = conjunctionOfInequalities(args.filter((each) => !isTrue(each)));
  const [first] = kept;
  if (first === undefined) return TRUE;
  return kept.length === 1 ? first : { kind: "and", type: BOOLEAN, args: constantsFirst(kept) };
}

function simplifyOr(expression: Expression & { readonly kind: "and" | "or" }): Expression {
  const args = expression.args.flatMap((each) => each.kind === "or" ? each.args : [each]);
  if (args.some(isTrue)) return TRUE;
  const kept = args.filter((each) => !(each.kind === "constant" && each.value === false));
  return kept.length === 0 ? FALSE : disjunctionOfEqualities(constantsFirst(kept));
}

/**
 * Conditions over parameters alone come first. The literals of a simple query are parameters too, so that `1 = 1` is
 * not folded; but where it decides, the rest may not fail.
 */
function constantsFirst(args: readonly Expression[]): readonly Expression[] {
  const fixed = args.filter(isFixed);
  return fixed.length === 0 ? args : [...fixed, ...args.filter((each) => !isFixed(each))];
}

/** Whether an expression has one value for all rows of all executions with the same parameters. */
function isFixed(expression: Expression): boolean {
  if (expression.kind === "constant" || expression.kind === "parameter") return true;
  const parts = operands(expression);
  return parts.length > 0 && parts.every(isFixed) && volatilityOf(expression) === "immutable";
}

/** `a = 1 OR a = 2` is `a IN (1, 2)`, which one look-up answers. */
function disjunctionOfEqualities(args: readonly Expression[]): Expression {
  return disjunction(withLists(args, "=", 2));
}

/** Fewer inequalities stay as they are: each is a comparison that a scan does by itself. */
const LISTED_INEQUALITIES_MIN = 5;

/** `a <> 1 AND a <> 2 AND …` is `a NOT IN (1, 2, …)`, which one look-up in a set answers. */
function conjunctionOfInequalities(args: readonly Expression[]): readonly Expression[] {
  return args.length < LISTED_INEQUALITIES_MIN ? args : withLists(args, "<>", LISTED_INEQUALITIES_MIN);
}

/** Puts lists in the place of comparisons with constants that have the same left side, `least` of them or more. */
function withLists(args: readonly Expression[], operator: "=" | "<>", least: number): readonly Expression[] {
  const groups = new Map<string, Comparison[]>();
  const keys = args.map((each) => {
    const comparison = comparisonOf(each, operator);
    if (comparison === undefined) return undefined;
    const { key } = comparison;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [comparison]);
    else group.push(comparison);
    return key;
  });
  const result: Expression[] = [];
  args.forEach((each, index) => {
    const key = keys[index];
    const group = key === undefined ? undefined : groups.get(key);
    if (key === undefined || group === undefined) result.push(each);
    else if (group.length < least) result.push(each);
    else if (group[0]?.expression === each) result.push(listOf(group[0], group));
  });
  return result;
}

function listOf(first: Comparison, group: readonly Comparison[]): Expression {
  const { function: operator, args: [argument] } = first.expression;
  const [left, right] = operator.argumentTypes;
  if (argument === undefined || left === undefined || right === undefined) return first.expression;
  const negated = operator.name === "<>";
  const equals = negated ? resolveOperator("=", left, right) : operator;
  const list = group.map((each) => each.value);
  return { kind: "in_list", type: BOOLEAN, equals, argument, list, negated };
}

/** A comparison `x = constant`; `key` is what those have in common that can be collected. */
interface Comparison {
  readonly expression: Expression & { readonly kind: "call" };
  readonly value: Expression;
  readonly key: string;
}

function comparisonOf(expression: Expression, operator: "=" | "<>"): Comparison | undefined {
  if (expression.kind !== "call" || expression.function.name !== operator) return undefined;
  const [left, right] = expression.args;
  if (left === undefined || right === undefined) return undefined;
  if (right.kind !== "constant" && right.kind !== "parameter") return undefined;
  if (left.kind === "constant" || left.kind === "parameter") return undefined;
  if (volatilityOf(left) === "volatile") return undefined;
  const [leftType, rightType] = expression.function.argumentTypes;
  if (leftType === undefined || rightType === undefined || !sameType(leftType, rightType)) return undefined;
  return { expression, value: right, key: `${expressionKey(left)}|${JSON.stringify(rightType)}` };
}

const NEGATED_OPERATORS: Readonly<Record<string, string>> = {
  "=": "<>",
  "<>": "=",
  "<": ">=",
  ">=": "<",
  ">": "<=",
  "<=": ">",
  "~~": "!~~",
  "!~~": "~~",
  "~~*": "!~~*",
  "!~~*": "~~*",
};

function simplifyNot(expression: Expression & { readonly kind: "not" }): Expression {
  const { argument } = expression;
  switch (argument.kind) {
    case "constant":
      return constant(BOOLEAN, argument.value === null ? null : argument.value !== true);
    case "not":
      return argument.argument;
    case "is_null":
    case "is_truth":
    case "is_distinct":
    case "in_list":
    case "exists":
      return { ...argument, negated: !argument.negated };
    case "and":
    case "or":
      return simplifyNode({
        kind: argument.kind === "and" ? "or" : "and",
        type: BOOLEAN,
        args: argument.args.map((each) => simplifyNot({ kind: "not", type: BOOLEAN, argument: each })),
      });
    case "call": {
      const name = NEGATED_OPERATORS[argument.function.name];
      const [left, right] = argument.function.argumentTypes;
      if (name === undefined || left === undefined || right === undefined || argument.args.length !== 2) {
        return expression;
      }
      const negated = resolveOperator(name, left, right);
      const sameTypes =
        JSON.stringify(negated.argumentTypes) === JSON.stringify(argument.function.argumentTypes);
      return sameTypes ? { ...argument, function: negated } : expression;
    }
    default:
      return expression;
  }
}

function simplifyCase(expression: Expression & { readonly kind: "case" }): Expression {
  const branches = expression.branches.filter((branch) => !isNeverTrue(branch.when));
  const always = branches.findIndex((branch) => isTrue(branch.when));
  if (always >= 0) {
    const then = branches[always]?.then ?? null;
    const before = branches.slice(0, always);
    if (before.length === 0 && then !== null) return then;
    return { ...expression, branches: before, otherwise: then };
  }
  if (branches.length === 0) return expression.otherwise ?? constant(expression.type, null);
  return branches.length === expression.branches.length ? expression : { ...expression, branches };
}

const MICROSECONDS_PER_DAY = 86_400_000_000;

/** Columns to the left of comparisons; dates compared as dates. */
function simplifyCall(expression: Expression & { readonly kind: "call" }): Expression {
  const swapped = (SWAPPED as Readonly<Record<string, string>>)[expression.function.name];
  const [left, right] = expression.args;
  if (swapped === undefined || left === undefined || right === undefined) return expression;
  if (left.kind === "constant" && right.kind !== "constant") {
    const [leftType, rightType] = expression.function.argumentTypes;
    if (leftType === undefined || rightType === undefined) return expression;
    const operator = resolveOperator(swapped, rightType, leftType);
    const [newLeft, newRight] = operator.argumentTypes;
    if (JSON.stringify([newLeft, newRight]) !== JSON.stringify([rightType, leftType])) return expression;
    return simplifyCall({ ...expression, function: operator, args: [right, left] });
  }
  return compareAsDate(expression, left, right);
}

/** `date_column::timestamp < midnight` compares days: `date_column < day`. */
function compareAsDate(
  expression: Expression & { readonly kind: "call" },
  left: Expression,
  right: Expression,
): Expression {
  if (left.kind !== "cast" || left.argument.type.kind !== "date" || left.type.kind !== "timestamp") {
    return expression;
  }
  if (right.kind !== "constant" || right.type.kind !== "timestamp" || typeof right.value !== "number") {
    return expression;
  }
  const days = right.value / MICROSECONDS_PER_DAY;
  if (!Number.isInteger(days)) return expression;
  const date: SqlType = { kind: "date" };
  return {
    ...expression,
    function: resolveOperator(expression.function.name, date, date),
    args: [left.argument, constant(date, days)],
  };
}

/** `(a AND b) OR (a AND c)` is `a AND (b OR c)`: what all branches ask can be asked early, or join. */
function factorDisjunctions(condition: Expression): Expression {
  return rewriteExpression(condition, (part) => {
    if (part.kind !== "or") return part;
    const branches = part.args.map(conjuncts);
    const [first, ...others] = branches;
    if (first === undefined) return part;
    let common: readonly Expression[] = first;
    for (const branch of others) {
      const known = new Set(branch.map(expressionKey));
      common = common.filter((each) => known.has(expressionKey(each)));
      if (common.length === 0) return part;
    }
    const keys = new Set(common.map(expressionKey));
    const rest = branches.map((branch) => branch.filter((each) => !keys.has(expressionKey(each))));
    // A branch without more to ask makes the disjunction true.
    if (rest.some((branch) => branch.length === 0)) return conjunction(common) ?? TRUE;
    return conjunction([...common, disjunction(rest.map((branch) => conjunction(branch) ?? TRUE))]) ?? TRUE;
  });
}

/** A cast of an expression to a type that only changes its representation; undefined when there is none. */
export function convertExactly(expression: Expression, target: SqlType): Expression | undefined {
  const cast = findCast(expression.type, target);
  return cast === undefined
    ? undefined
    : simplify({ kind: "cast", type: target, cast, argument: expression });
}
