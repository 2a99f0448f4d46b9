/**
 * Builders of bound expressions, and facts about them: structural equality, volatility, nullability.
 */
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import type { Volatility } from "../functions/definition.ts";
import type { ColumnExpression, ColumnRef, Expression } from "./expression.ts";
import type { Plan } from "./plan.ts";
import { isFlat, operands, subqueryPlan, visitPlan } from "./traverse.ts";

/** The type of conditions. */
export const BOOLEAN: SqlType = { kind: "bool" };

/** A constant of a type. */
export function constant(type: SqlType, value: SqlValue): Expression {
  return { kind: "constant", type, value };
}

/** The condition that always holds. */
export const TRUE: Expression = constant(BOOLEAN, true);

/** The condition that never holds. */
export const FALSE: Expression = constant(BOOLEAN, false);

/** A reference to a column. */
export function columnReference(column: ColumnRef, type: SqlType, nullable: boolean): Expression {
  return { kind: "column", type, column, nullable };
}

/** The conjuncts of a condition; null is the condition that always holds. */
export function conjuncts(condition: Expression | null): Expression[] {
  if (condition === null || isTrue(condition)) return [];
  if (condition.kind === "and") return condition.args.flatMap(conjuncts);
  return [condition];
}

/** The conjunction of conditions; null for none. */
export function conjunction(conditions: readonly Expression[]): Expression | null {
  const flat = conditions.flatMap(conjuncts);
  const [first] = flat;
  if (first === undefined) return null;
  return flat.length === 1 ? first : { kind: "and", type: BOOLEAN, args: flat };
}

/** The disjunction of at least one condition. */
export function disjunction(conditions: readonly Expression[]): Expression {
  const flat = conditions.flatMap((each) => each.kind === "or" ? each.args : [each]);
  const [first] = flat;
  if (first === undefined) return FALSE;
  return flat.length === 1 ? first : { kind: "or", type: BOOLEAN, args: flat };
}

/** Whether an expression is the constant TRUE. */
export function isTrue(expression: Expression): boolean {
  return expression.kind === "constant" && expression.value === true;
}

/** Whether an expression is the constant FALSE or NULL: as a condition, it rejects every row. */
export function isNeverTrue(expression: Expression): boolean {
  return expression.kind === "constant" && (expression.value === false || expression.value === null);
}

/** Whether two types are the same, modifiers included. */
export function sameType(left: SqlType, right: SqlType): boolean {
  if (left === right) return true;
  if (left.kind !== right.kind) return false;
  return JSON.stringify(left) === JSON.stringify(right);
}

/** Whether values of a type that are equal are the same. */
export function isExactType({ kind }: SqlType): boolean {
  switch (kind) {
    case "i16":
    case "i32":
    case "i64":
    case "date":
    case "text":
    case "varchar":
    case "uuid":
      return true;
    default:
      return false;
  }
}

const planNumbers = new WeakMap<Plan, number>();
let nextPlanNumber = 1;
const keys = new WeakMap<Expression, string>();

function planNumber(plan: Plan): number {
  let number = planNumbers.get(plan);
  if (number === undefined) {
    number = nextPlanNumber++;
    planNumbers.set(plan, number);
  }
  return number;
}

/** A text that is equal for structurally equal expressions. Subqueries are equal only to themselves. */
export function expressionKey(expression: Expression): string {
  if (isFlat(expression)) return makeKey(expression);
  let key = keys.get(expression);
  if (key === undefined) {
    key = makeKey(expression);
    keys.set(expression, key);
  }
  return key;
}

/** The same, where `keysOf` makes the keys of many operands. */
export function longExpressionKey(
  expression: Expression,
  keysOf: (operands: readonly Expression[]) => readonly string[],
): string {
  const key = keys.get(expression) ?? makeKey(expression, keysOf);
  keys.set(expression, key);
  return key;
}

function makeKey(
  expression: Expression,
  keysOf = (operands: readonly Expression[]): readonly string[] => operands.map(expressionKey),
): string {
  const under = operands(expression);
  const parts = under.length === 0 ? "" : keysOf(under).join(",");
  const plan = subqueryPlan(expression);
  const subquery = plan === null ? "" : `#${planNumber(plan)}`;
  switch (expression.kind) {
    case "constant":
      return `${typeText(expression.type)}:${valueText(expression.value)}`;
    case "parameter":
      return `$${expression.index}:${typeText(expression.type)}`;
    case "column":
      return `c${expression.column}`;
    case "call":
      return `${expression.function.name}:${
        expression.function.argumentTypes.map(typeText).join(",")
      }(${parts})`;
    case "cast":
      return `cast:${expression.cast.isCompared === true ? "compared" : expression.cast.context}:${
        typeText(expression.cast.from)
      }>${typeText(expression.type)}(${parts})`;
    case "is_null":
      return `${expression.negated ? "notnull" : "isnull"}(${parts})`;
    case "is_truth":
      return `is:${expression.negated}:${expression.truth}(${parts})`;
    case "is_distinct":
    case "in_list":
    case "exists":
      return `${expression.kind}:${expression.negated}${subquery}(${parts})`;
    case "case":
      return `case:${expression.branches.length}:${expression.otherwise !== null}(${parts})`;
    case "any_array":
    case "all_array":
      return `${expression.kind}:${expression.operator.name}(${parts})`;
    case "any_subquery":
    case "all_subquery":
      return `${expression.kind}:${
        expression.operators.map((each) => each.name).join()
      }${subquery}(${parts})`;
    case "field":
      return `field:${expression.index}(${parts})`;
    case "subscript":
      return `subscript:${
        expression.subscripts.map((each) =>
          "index" in each ? "i" : `${each.lower !== null}:${each.upper !== null}`
        ).join()
      }(${parts})`;
    default:
      return `${expression.kind}${subquery}:${typeText(expression.type)}(${parts})`;
  }
}

function typeText(type: SqlType): string {
  return Object.keys(type).length === 1 ? type.kind : JSON.stringify(type);
}

/** Of values that may be large, such as arrays. */
const valueTexts = new WeakMap<object, string>();

function valueText(value: SqlValue): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (value instanceof Uint8Array) return `x${value.join()}`;
  if (typeof value === "object" && value !== null) {
    let text = valueTexts.get(value);
    if (text === undefined) {
      text = `${value.constructor.name}${JSON.stringify(value, distinctPart)}${String(value)}`;
      valueTexts.set(value, text);
    }
    return text;
  }
  return numberText(value) ?? String(value);
}

/** Within an object: JSON has no bigints, infinities, NaN or -0, and a text has no character of number 0. */
function distinctPart(_key: string, part: unknown): unknown {
  const text = numberText(part);
  return text === undefined ? part : `\0${text}`;
}

/** A number that JSON does not tell apart from others. */
function numberText(value: unknown): string | undefined {
  if (typeof value === "bigint") return `${value}n`;
  if (Object.is(value, -0)) return "-0";
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : undefined;
}

/** Whether two expressions are structurally equal. */
export function sameExpression(left: Expression, right: Expression): boolean {
  return left === right || expressionKey(left) === expressionKey(right);
}

const rank: Record<Volatility, number> = { immutable: 0, stable: 1, volatile: 2 };
const volatilities = new WeakMap<Expression, Volatility>();

/** The most volatile part of an expression, subqueries included. */
export function volatilityOf(expression: Expression): Volatility {
  if (isFlat(expression)) return findVolatility(expression);
  const known = volatilities.get(expression);
  if (known !== undefined) return known;
  const result = findVolatility(expression);
  volatilities.set(expression, result);
  return result;
}

function findVolatility(expression: Expression): Volatility {
  let result: Volatility = "immutable";
  const raise = (volatility: Volatility) => {
    if (rank[volatility] > rank[result]) result = volatility;
  };
  if (expression.kind === "call") raise(expression.function.volatility);
  if (expression.kind === "cast") raise(expression.cast.volatility);
  for (const operand of operands(expression)) raise(volatilityOf(operand));
  const plan = subqueryPlan(expression);
  if (plan !== null) {
    raise("stable");
    if (isVolatilePlan(plan)) raise("volatile");
  }
  return result;
}

/** Whether a plan calls a volatile function anywhere, or changes data. */
export function isVolatilePlan(plan: Plan): boolean {
  let volatile = false;
  visitPlan(plan, {
    plan: (each) => {
      if (each.kind === "insert" || each.kind === "update" || each.kind === "delete") volatile = true;
      if (each.kind === "lock_rows") volatile = true;
      if (each.kind === "function_scan") {
        volatile ||= each.functions.some((item) => item.function.volatility === "volatile");
      }
    },
    expression: (each) => {
      if (each.kind === "call" && each.function.volatility === "volatile") volatile = true;
    },
  });
  return volatile;
}

/** Whether a subquery is anywhere in an expression. */
export function hasSubquery(expression: Expression): boolean {
  return subqueryPlan(expression) !== null || operands(expression).some(hasSubquery);
}

/** Whether an expression may be NULL, by what its columns were bound as; true when in doubt. */
export function isNullable(expression: Expression): boolean {
  return mayBeNull(expression, (column) => column.nullable);
}

/** Whether an expression may be NULL, by what is known of its columns; true when in doubt. */
export function mayBeNull(
  expression: Expression,
  columnMayBeNull: (column: ColumnExpression) => boolean,
): boolean {
  const check = (child: Expression) => mayBeNull(child, columnMayBeNull);
  switch (expression.kind) {
    case "constant":
      return expression.value === null;
    case "column":
      return columnMayBeNull(expression);
    case "call":
      return !expression.function.strict || expression.function.mayReturnNull ||
        expression.args.some(check);
    case "cast":
      return expression.cast.mayReturnNull || check(expression.argument);
    case "and":
    case "or":
      return expression.args.some(check);
    case "not":
    case "operand":
      return check(expression.argument);
    case "is_null":
    case "is_truth":
    case "is_distinct":
    case "exists":
    case "array":
    case "row":
    case "array_subquery":
      return false;
    case "coalesce":
    case "greatest":
    case "least":
      return expression.args.every(check);
    case "case":
      return expression.otherwise === null || check(expression.otherwise) ||
        expression.branches.some((branch) => check(branch.then));
    case "in_list":
      return check(expression.argument) || expression.list.some(check);
    default:
      return true;
  }
}

/** The expression below casts that do not change values. */
export function withoutIdentityCasts(expression: Expression): Expression {
  let result = expression;
  while (result.kind === "cast" && result.cast.identity) result = result.argument;
  return result;
}
