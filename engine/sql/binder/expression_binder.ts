/**
 * Binding of scalar expressions: from syntax to typed {@link Expression}s.
 *
 * Invariants: every operand of a bound expression has exactly the type that the operator takes. Aggregates, window
 * calls and set-returning functions are handed to the query level and become references to the columns that the
 * level's operators will define.
 */
import { unreachable } from "../../base/assert.ts";
import { SQLSTATE } from "../../base/errors.ts";
import { isSubArray } from "../../types/sql_type.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { formatTypeFamily } from "../../types/type_names.ts";
import { commonType, withoutLimits } from "../functions/casts.ts";
import type { BoundFunction } from "../functions/definition.ts";
import { resolveFunction, resolveOperator } from "../functions/registry.ts";
import type {
  BetweenTest,
  CaseExpression,
  CastExpression,
  ConditionalFunction,
  Expression as Ast,
  FieldSelection,
  InListTest,
  PatternMatch,
  QuantifiedComparison,
  Query,
} from "../parser/ast.ts";
import type { Expression } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";
import { BOOLEAN, conjunction, constant, disjunction, sameType, TRUE, volatilityOf } from "../plan/build.ts";
import type { Binding } from "./binding.ts";
import { bindCall, LATERAL_HINT } from "./call_binder.ts";
import {
  coerceCompared,
  coerceCondition,
  coerceExplicit,
  coerceImplicit,
  isNullConstant,
  isUnknown,
  refuseSet,
  settle,
  unify,
} from "./coercion.ts";
import { fieldsOf, findTable, missingTable, resolveColumn, resolveType, wholeRow } from "./names.ts";
import {
  bindPackedArray,
  bindPackedCase,
  bindPackedComparisons,
  bindPackedIn,
  bindPackedRows,
} from "./packed_binder.ts";
import { bindSubquery } from "./query_binder.ts";
import { bindQuantifiedSubquery, requireWidth } from "./quantified_binder.ts";
import { bindTargets } from "./select_binder.ts";
import type { QueryLevel } from "./scope.ts";
import { bindSubscript } from "./subscript_binder.ts";
import {
  bindCollate,
  bindLiteral,
  bindParameter,
  bindSessionValue,
  bindTypedLiteral,
} from "./value_binder.ts";

/** Binds an expression at a level. Its type may still be `unknown`. */
export function bindExpression(binding: Binding, level: QueryLevel, ast: Ast): Expression {
  const bound = bindNode(binding, level, ast);
  const { directArguments } = binding;
  if (directArguments.any && directArguments.asts.has(ast)) directArguments.bound.add(bound);
  if (!binding.positions.has(bound)) binding.positions.set(bound, ast.position);
  return bound;
}

/** Binds a condition, such as that of WHERE; `place` is how messages name it. */
export function bindCondition(binding: Binding, level: QueryLevel, ast: Ast, place: string): Expression {
  return coerceCondition(binding, bindExpression(binding, level, ast), place, ast.position);
}

function bindNode(binding: Binding, level: QueryLevel, ast: Ast): Expression {
  switch (ast.kind) {
    case "literal":
      return bindLiteral(binding, ast);
    case "typed_literal":
      return bindTypedLiteral(binding, ast);
    case "parameter":
      return bindParameter(binding, ast.number, ast.position);
    case "column":
      return resolveColumn(binding, level, ast);
    case "star": {
      const table = ast.qualifier.length === 0
        ? undefined
        : findTable(binding, level, ast.qualifier, ast.position);
      if (table !== undefined) return wholeRow(binding, table);
      if (ast.qualifier.length > 0) throw missingTable(binding, level, ast.qualifier, ast.position);
      throw binding.error(SQLSTATE.syntaxError, `syntax error at or near "*"`, ast.position);
    }
    case "field":
      return bindField(binding, level, ast);
    case "field_star":
      return bindExpression(binding, level, ast.operand);
    case "subscript":
      return bindSubscript(binding, level, ast);
    case "unary": {
      const operand = bindExpression(binding, level, ast.operand);
      const operator = resolveOperator(ast.operator, undefined, operand.type, binding.at(ast.position));
      return callOf(binding, operator, [operand], ast.position);
    }
    case "binary": {
      const left = bindOperand(binding, level, ast.left);
      const right = bindRightOperand(binding, level, left, ast.right);
      return bindBinary(binding, ast.operator, left, right, ast.position);
    }
    case "logical": {
      const packed = ast.packed === undefined ? null : bindPackedComparisons(binding, level, ast.packed);
      if (packed !== null) return packed;
      const place = ast.operator.toUpperCase();
      const args = binding.each(ast.operands, (each) => bindCondition(binding, level, each, place));
      return { kind: ast.operator, type: BOOLEAN, args };
    }
    case "not":
      return negate(bindCondition(binding, level, ast.operand, "NOT"));
    case "is": {
      if (ast.test === "null") {
        const argument = bindExpression(binding, level, ast.operand);
        return isNullTest(binding, argument, ast.negated);
      }
      const place = `IS ${ast.negated ? "NOT " : ""}${ast.test.toUpperCase()}`;
      const argument = bindCondition(binding, level, ast.operand, place);
      return { kind: "is_truth", type: BOOLEAN, argument, truth: ast.test, negated: ast.negated };
    }
    case "distinct":
      return bindDistinct(binding, level, ast.left, ast.right, ast.negated, ast.position);
    case "between":
      return bindBetween(binding, level, ast);
    case "in_list":
      return bindInList(binding, level, ast);
    case "in_subquery": {
      const tested = bindQuantifiedSubquery(binding, level, ast.operand, "=", "any", ast.query, ast.position);
      return ast.negated ? negate(tested) : tested;
    }
    case "pattern":
      return bindPattern(binding, level, ast);
    case "quantified":
      return bindQuantified(binding, level, ast);
    case "exists": {
      const { plan } = bindSubquery(binding, level, ast.query);
      // Whether there are rows does not depend on what they hold.
      return {
        kind: "exists",
        type: BOOLEAN,
        plan: plan.kind === "project" ? plan.input : plan,
        negated: false,
      };
    }
    case "subquery": {
      const { plan, column } = bindSingleColumn(binding, level, ast.query, ast.position);
      return { kind: "scalar_subquery", type: column.type, plan, column: column.column };
    }
    case "array_subquery": {
      const { plan, column } = bindSingleColumn(binding, level, ast.query, ast.position);
      const element = column.type.kind === "array" ? column.type.element : column.type;
      return { kind: "array_subquery", type: { kind: "array", element }, plan, column: column.column };
    }
    case "row": {
      return rowOf(bindRowItems(binding, level, ast.items).map((each) => settle(binding, each)));
    }
    case "case":
      return bindWithoutSets(binding, level, ast);
    case "cast":
      return bindCast(binding, level, ast);
    case "collate":
      return bindCollate(binding, level, ast.operand, ast.collation, ast.position);
    case "at_time_zone": {
      const operand = bindExpression(binding, level, ast.operand);
      const zone = ast.zone === null
        ? callFunction(binding, "current_setting", [constant({ kind: "text" }, "TimeZone")], ast.position)
        : bindExpression(binding, level, ast.zone);
      return callFunction(binding, "timezone", [zone, operand], ast.position);
    }
    case "call":
      return bindCall(binding, level, ast);
    case "conditional":
      return ast.function === "coalesce"
        ? bindWithoutSets(binding, level, ast)
        : bindConditional(binding, level, ast);
    case "session_value":
      return bindSessionValue(binding, ast);
    case "array": {
      const packed = ast.packed === undefined ? null : bindPackedArray(binding, ast.packed);
      if (packed !== null) return packed;
      const items = binding.each(ast.items, (each) => bindExpression(binding, level, each));
      if (items.length === 0) {
        throw binding.error(
          SQLSTATE.indeterminateDatatype,
          "cannot determine type of empty array",
          ast.position,
          {
            hint: "Explicitly cast to the desired type, for example ARRAY[]::integer[].",
          },
        );
      }
      const { type, expressions } = unify(binding, items, "ARRAY", ast.items.map((each) => each.position));
      const element = isSubArray(type) ? type.element : type;
      return { kind: "array", type: { kind: "array", element }, elements: expressions };
    }
    case "default":
      throw binding.error(SQLSTATE.syntaxError, "DEFAULT is not allowed in this context", ast.position);
    default:
      return unreachable(ast);
  }
}

/**
 * The right operand: a subquery after a row has as many columns, and its one row is compared; without a row it is
 * NULL.
 */
function bindRightOperand(binding: Binding, level: QueryLevel, left: Expression, ast: Ast): Expression {
  return isConstructor(left) && ast.kind === "subquery"
    ? bindRowSubquery(binding, level, ast.query, left.fields.length, ast.position)
    : bindOperand(binding, level, ast);
}

/** A subquery of one row as a row of fields. */
function bindRowSubquery(
  binding: Binding,
  level: QueryLevel,
  query: Query,
  width: number,
  position: number,
): Expression {
  const { plan, columns } = bindSubquery(binding, level, query);
  requireWidth(binding, columns.length, width, position);
  const row = rowOf(columns.map((column): Expression => ({
    kind: "column",
    type: column.type,
    column: column.column,
    nullable: column.nullable,
  })));
  const output = binding.newColumn();
  const source: Plan = { kind: "project", input: plan, outputs: [{ output, expression: row }], rows: 0 };
  const value: Expression = { kind: "scalar_subquery", type: row.type, plan: source, column: output };
  return rowOf(
    columns.map((column, index): Expression => ({
      kind: "field",
      type: column.type,
      argument: value,
      index,
    })),
  );
}

/** An operand of a comparison: a row stays a row, with fields that have no type yet. */
export function bindOperand(binding: Binding, level: QueryLevel, ast: Ast): Expression {
  if (ast.kind !== "row") return bindExpression(binding, level, ast);
  return rowOf(bindRowItems(binding, level, ast.items));
}

/** The fields of ROW or of a row of VALUES, where `t.*` stands for all columns of t. */
export function bindRowItems(binding: Binding, level: QueryLevel, items: readonly Ast[]): Expression[] {
  return items.flatMap((item) =>
    item.kind === "star" || item.kind === "field_star"
      ? bindTargets(binding, level, [{ expression: item, alias: null, position: item.position }])
        .map(({ expression }) => expression)
      : [bindExpression(binding, level, item)]
  );
}

/** Whether an expression was written as a row, so that it is compared field by field. */
export function isConstructor(expression: Expression): expression is Expression & { readonly kind: "row" } {
  return expression.kind === "row" && expression.isValue !== true;
}

function rowOf(fields: readonly Expression[]): Expression {
  return {
    kind: "row",
    type: {
      kind: "record",
      fields: fields.map((field, index) => ({ name: `f${index + 1}`, type: field.type })),
    },
    fields,
  };
}

/** NOT of a condition; tests that know their negation become it. */
export function negate(condition: Expression): Expression {
  switch (condition.kind) {
    case "not":
      return condition.argument;
    case "is_null":
    case "is_truth":
    case "is_distinct":
    case "in_list":
    case "exists":
      return { ...condition, negated: !condition.negated };
    case "any_subquery":
      if (condition.operators.length === 1 && condition.operators[0]?.name === "=") {
        const [equals] = condition.operators;
        const [left, right] = equals.argumentTypes;
        if (left !== undefined && right !== undefined) {
          return { ...condition, kind: "all_subquery", operators: [resolveOperator("<>", left, right)] };
        }
      }
      return { kind: "not", type: BOOLEAN, argument: condition };
    default:
      return { kind: "not", type: BOOLEAN, argument: condition };
  }
}

function isNullTest(binding: Binding, argument: Expression, negated: boolean): Expression {
  const test = (tested: Expression): Expression => ({
    kind: "is_null",
    type: BOOLEAN,
    argument: tested,
    negated,
  });
  const { type } = argument;
  if (type.kind !== "record" || isNullConstant(argument)) return test(argument);
  // A row is null when all its fields are, and not null when none is. A field that is a row itself counts as one value.
  const fields = fieldsOf(binding, argument) ??
    type.fields.map((field, index): Expression => ({ kind: "field", type: field.type, argument, index }));
  return conjunction(fields.map(test)) ?? test(argument);
}

/** A call of a chosen function, its arguments converted to what it takes. */
export function callOf(
  binding: Binding,
  chosen: BoundFunction,
  args: readonly Expression[],
  offset: number | undefined,
): Expression {
  const converted = args.map((argument, index) => {
    const type = chosen.argumentTypes[index];
    if (type === undefined) return settle(binding, argument);
    return coerceCompared(binding, argument, type, binding.positions.get(argument) ?? offset, chosen.name);
  });
  return { kind: "call", type: chosen.returnType, function: chosen, args: converted };
}

/** A call of a function by name. */
export function callFunction(
  binding: Binding,
  name: string,
  args: readonly Expression[],
  offset: number | undefined,
): Expression {
  const chosen = resolveFunction(name, args.map((each) => each.type), binding.at(offset));
  return callOf(binding, chosen, args, offset);
}

/** `left operator right`, rows compared field by field. */
export function bindBinary(
  binding: Binding,
  operator: string,
  left: Expression,
  right: Expression,
  offset: number | undefined,
): Expression {
  if (isConstructor(left) && isConstructor(right)) return compareRows(binding, operator, left, right, offset);
  const operands = [settleRow(binding, left), settleRow(binding, right)] as const;
  const chosen = resolveOperator(operator, operands[0].type, operands[1].type, binding.at(offset));
  return callOf(binding, chosen, operands, offset);
}

function settleRow(binding: Binding, expression: Expression): Expression {
  return isConstructor(expression)
    ? rowOf(expression.fields.map((each) => settle(binding, each)))
    : expression;
}

function compareRows(
  binding: Binding,
  operator: string,
  left: Expression & { readonly kind: "row" },
  right: Expression & { readonly kind: "row" },
  offset: number | undefined,
): Expression {
  if (left.fields.length !== right.fields.length) {
    throw binding.error(SQLSTATE.syntaxError, "unequal number of entries in row expressions", offset);
  }
  const compare = (name: string, index: number): Expression => {
    const [a, b] = [left.fields[index], right.fields[index]];
    if (a === undefined || b === undefined) return TRUE;
    return bindBinary(binding, name, a, b, offset);
  };
  const indexes = left.fields.map((_, index) => index);
  switch (operator) {
    case "=":
      return conjunction(indexes.map((index) => compare("=", index))) ?? TRUE;
    case "<>":
      return disjunction(indexes.map((index) => compare("<>", index)));
    case "<":
    case "<=":
    case ">":
    case ">=": {
      const strict = operator.slice(0, 1);
      const last = indexes.length - 1;
      // a < x OR (a = x AND (b < y OR …))
      return indexes.toReversed().reduce<Expression>((rest, index) => {
        if (index === last) return compare(operator, index);
        const equal = conjunction([compare("=", index), rest]) ?? rest;
        return disjunction([compare(strict, index), equal]);
      }, TRUE);
    }
    default:
      throw binding.error(
        SQLSTATE.featureNotSupported,
        `could not determine interpretation of row comparison operator ${operator}`,
        offset,
        { hint: "Row comparison operators must be associated with btree operator families." },
      );
  }
}

function bindField(binding: Binding, level: QueryLevel, ast: FieldSelection): Expression {
  // `(t).c`, where t is a table: the parser cannot tell it from a composite value.
  const operand = bindExpression(binding, level, ast.operand);
  const { type } = operand;
  if (type.kind !== "record") {
    throw binding.error(
      SQLSTATE.wrongObjectType,
      `column notation .${ast.field} applied to type ${
        formatTypeFamily(type)
      }, which is not a composite type`,
      ast.position,
    );
  }
  const index = type.fields.findIndex((field) => field.name === ast.field);
  const field = type.fields[index];
  if (field === undefined) {
    throw binding.error(
      SQLSTATE.undefinedColumn,
      `could not identify column "${ast.field}" in record data type`,
      ast.position,
    );
  }
  return fieldsOf(binding, operand)?.[index] ?? { kind: "field", type: field.type, argument: operand, index };
}

function bindDistinct(
  binding: Binding,
  level: QueryLevel,
  leftAst: Ast,
  rightAst: Ast,
  negated: boolean,
  position: number,
): Expression {
  const left = bindOperand(binding, level, leftAst);
  const right = bindOperand(binding, level, rightAst);
  if (isConstructor(left) && isConstructor(right)) {
    if (left.fields.length !== right.fields.length) {
      throw binding.error(SQLSTATE.syntaxError, "unequal number of entries in row expressions", position);
    }
    const tests = left.fields.map((field, index) =>
      distinctTest(binding, field, right.fields[index] ?? field, false, position)
    );
    const distinct = disjunction(tests);
    return negated ? negate(distinct) : distinct;
  }
  return distinctTest(binding, left, right, negated, position);
}

function distinctTest(
  binding: Binding,
  left: Expression,
  right: Expression,
  negated: boolean,
  position: number,
): Expression {
  const equals = resolveOperator("=", left.type, right.type, binding.at(position));
  const [leftType, rightType] = equals.argumentTypes;
  return {
    kind: "is_distinct",
    type: BOOLEAN,
    equals,
    left: leftType === undefined ? left : coerceCompared(binding, left, leftType, position),
    right: rightType === undefined ? right : coerceCompared(binding, right, rightType, position),
    negated,
  };
}

function bindBetween(binding: Binding, level: QueryLevel, ast: BetweenTest): Expression {
  const operand = bindOperand(binding, level, ast.operand);
  const lower = bindOperand(binding, level, ast.lower);
  const upper = bindOperand(binding, level, ast.upper);
  for (const each of [operand, lower, upper]) refuseSet(binding, each, "AND", ast.position);
  const within = (low: Expression, high: Expression): Expression =>
    conjunction([
      bindBinary(binding, ">=", operand, low, ast.position),
      bindBinary(binding, "<=", operand, high, ast.position),
    ]) ?? TRUE;
  const result = ast.symmetric
    ? disjunction([within(lower, upper), within(upper, lower)])
    : within(lower, upper);
  return ast.negated ? negate(result) : result;
}

function bindInList(binding: Binding, level: QueryLevel, ast: InListTest): Expression {
  const operand = bindOperand(binding, level, ast.operand);
  if (ast.packed !== undefined && !isConstructor(operand)) {
    const packed = bindPackedIn(binding, operand, ast.packed, ast.negated, ast.position);
    if (packed !== null) return packed;
  }
  if (ast.packedRows !== undefined && isConstructor(operand)) {
    const packed = bindPackedRows(binding, operand.fields, ast.packedRows, ast.position);
    if (packed !== null) return ast.negated ? negate(packed) : packed;
  }
  const items = binding.each(ast.items, (each) => bindOperand(binding, level, each));
  const types = [operand, ...items].map((each) => each.type);
  const isRow = isConstructor(operand) || items.some(isConstructor);
  const type = isRow ? undefined : commonType(types);
  if (type === undefined || (items.length === 1 && types.every((each) => each.kind !== "unknown"))) {
    for (const each of [operand, ...items]) refuseSet(binding, each, "IN", ast.position);
    const tests = binding.each(items, (item) => bindBinary(binding, "=", operand, item, ast.position));
    const any = disjunction(tests);
    return ast.negated ? negate(any) : any;
  }
  const positions = ast.items.map((each) => each.position);
  const equals = resolveOperator("=", type, type, binding.at(ast.position));
  const taken = equals.argumentTypes[0] ?? type;
  return {
    kind: "in_list",
    type: BOOLEAN,
    equals,
    argument: coerceImplicit(binding, operand, taken, ast.position),
    list: binding.each(items, (item, index) => coerceImplicit(binding, item, taken, positions[index])),
    negated: ast.negated,
  };
}

function bindPattern(binding: Binding, level: QueryLevel, ast: PatternMatch): Expression {
  const operand = bindExpression(binding, level, ast.operand);
  let pattern = bindExpression(binding, level, ast.pattern);
  const escape = ast.escape === null ? null : bindExpression(binding, level, ast.escape);
  if (ast.operator === "similar") {
    const args = escape === null ? [pattern] : [pattern, escape];
    pattern = callFunction(binding, "similar_to_escape", args, ast.position);
    return bindBinary(binding, ast.negated ? "!~" : "~", operand, pattern, ast.position);
  }
  if (escape !== null) pattern = callFunction(binding, "like_escape", [pattern, escape], ast.position);
  const symbol = ast.operator === "like" ? "~~" : "~~*";
  return bindBinary(binding, ast.negated ? `!${symbol}` : symbol, operand, pattern, ast.position);
}

function bindQuantified(binding: Binding, level: QueryLevel, ast: QuantifiedComparison): Expression {
  if (ast.query !== null) {
    return bindQuantifiedSubquery(
      binding,
      level,
      ast.operand,
      ast.operator,
      ast.quantifier,
      ast.query,
      ast.position,
    );
  }
  const left = bindExpression(binding, level, ast.operand);
  const arrayAst = ast.array;
  if (arrayAst === null) throw binding.error(SQLSTATE.syntaxError, "syntax error in ANY/ALL", ast.position);
  let array = bindExpression(binding, level, arrayAst);
  if (isUnknown(array)) {
    const element: SqlType = isUnknown(left) ? { kind: "text" } : left.type;
    array = coerceImplicit(binding, array, { kind: "array", element }, arrayAst.position);
  }
  if (array.type.kind !== "array") {
    throw binding.error(
      SQLSTATE.wrongObjectType,
      "op ANY/ALL (array) requires array on right side",
      ast.position,
    );
  }
  const operator = resolveOperator(ast.operator, left.type, array.type.element, binding.at(ast.position));
  if (operator.returnType.kind !== "bool") {
    throw binding.error(
      SQLSTATE.wrongObjectType,
      "op ANY/ALL (array) requires operator to yield boolean",
      ast.position,
    );
  }
  const [leftType, elementType] = operator.argumentTypes;
  const element = elementType ?? array.type.element;
  return {
    kind: ast.quantifier === "any" ? "any_array" : "all_array",
    type: BOOLEAN,
    operator,
    left: leftType === undefined ? left : coerceCompared(binding, left, leftType, ast.position),
    array: sameType(element, array.type.element)
      ? array
      : coerceImplicit(binding, array, { kind: "array", element }, ast.position),
  };
}

function bindSingleColumn(binding: Binding, level: QueryLevel, query: Query, position: number) {
  const { plan, columns } = bindSubquery(binding, level, query);
  const [column] = columns;
  if (column === undefined || columns.length !== 1) {
    throw binding.error(SQLSTATE.syntaxError, "subquery must return only one column", position);
  }
  return { plan, column };
}

/** Binds what decides by itself which of its operands to evaluate; a set among them has no meaning (0A000). */
function bindWithoutSets(
  binding: Binding,
  level: QueryLevel,
  ast: CaseExpression | ConditionalFunction,
): Expression {
  const before = level.setFunctions.flat().length;
  const result = ast.kind === "case" ? bindCase(binding, level, ast) : bindConditional(binding, level, ast);
  if (level.setFunctions.flat().length > before) {
    throw binding.error(
      SQLSTATE.featureNotSupported,
      `set-returning functions are not allowed in ${ast.kind === "case" ? "CASE" : "COALESCE"}`,
      ast.position,
      { hint: LATERAL_HINT },
    );
  }
  return result;
}

/** A volatile operand has one value for all branches. */
function computedOnce(operand: Expression): Expression {
  if (volatilityOf(operand) !== "volatile") return operand;
  return { kind: "operand", type: operand.type, key: {}, argument: operand };
}

function bindCase(binding: Binding, level: QueryLevel, ast: CaseExpression): Expression {
  const { progress } = binding;
  const operand = ast.operand === null ? null : bindExpression(binding, level, ast.operand);
  const settledOperand = operand === null ? null : computedOnce(settle(binding, operand));
  const bindOtherwise = () => ast.otherwise === null ? null : bindExpression(binding, level, ast.otherwise);
  if (ast.packed !== undefined) {
    const { column } = ast.packed;
    const compared = column === null ? settledOperand : resolveColumn(binding, level, column);
    const packed = compared === null
      ? null
      : bindPackedCase(binding, compared, ast.packed, bindOtherwise, ast.position);
    if (packed !== null) return packed;
  }
  const conditions = binding.each(
    ast.branches,
    (branch) =>
      settledOperand === null
        ? bindCondition(binding, level, branch.condition, "CASE/WHEN")
        : coerceCondition(
          binding,
          bindBinary(
            binding,
            "=",
            settledOperand,
            bindExpression(binding, level, branch.condition),
            branch.condition.position,
          ),
          "CASE/WHEN",
          branch.condition.position,
        ),
  );
  const results = binding.each(ast.branches, (branch) => bindExpression(binding, level, branch.result));
  const otherwise = bindOtherwise();
  const all = otherwise === null ? results : [otherwise, ...results];
  const offsets = [...(ast.otherwise === null ? [] : [ast.otherwise.position])];
  offsets.push(...ast.branches.map((branch) => branch.result.position));
  const { type, expressions } = unify(binding, all, "CASE", offsets);
  const converted = otherwise === null ? expressions : expressions.slice(1);
  const assembled = (): Expression => ({
    kind: "case",
    ...(settledOperand?.kind === "operand" ? { operand: settledOperand.key } : {}),
    type: otherwise === null ? withoutLimits(type) : type,
    branches: conditions.map((when, index) => ({ when, then: converted[index] ?? constant(type, null) })),
    otherwise: otherwise === null ? null : expressions[0] ?? null,
  });
  return binding.progress === progress ? binding.once(assembled) : assembled();
}

function bindCast(binding: Binding, level: QueryLevel, ast: CastExpression): Expression {
  const type = resolveType(binding, ast.type);
  // ARRAY[] takes its type from the cast.
  if (ast.operand.kind === "array" && type.kind === "array") {
    const { packed } = ast.operand;
    const array = packed === undefined ? null : bindPackedArray(binding, packed, type.element);
    if (array !== null) return array;
    if (ast.operand.items.length === 0) return { kind: "array", type, elements: [] };
    const elements = binding.each(ast.operand.items, (each) => {
      const element = bindExpression(binding, level, each);
      const wanted = each.kind === "array" || element.type.kind === "array" ? type : type.element;
      return coerceExplicit(binding, element, wanted, each.position);
    });
    return { kind: "array", type, elements };
  }
  const operand = bindExpression(binding, level, ast.operand);
  return coerceExplicit(binding, operand, type, ast.operand.position);
}

function bindConditional(binding: Binding, level: QueryLevel, ast: ConditionalFunction): Expression {
  const args = binding.each(ast.arguments, (each) => bindExpression(binding, level, each));
  const offsets = ast.arguments.map((each) => each.position);
  const name = ast.function.toUpperCase();
  if (ast.function === "nullif") {
    const [left, right] = args;
    if (left === undefined || right === undefined || args.length !== 2) {
      throw binding.error(SQLSTATE.syntaxError, "NULLIF requires two arguments", ast.position);
    }
    const equals = resolveOperator("=", left.type, right.type, binding.at(ast.position));
    const [leftType, rightType] = equals.argumentTypes;
    const first = leftType === undefined ? left : coerceCompared(binding, left, leftType, ast.position);
    return {
      kind: "nullif",
      type: first.type,
      equals,
      left: first,
      right: rightType === undefined ? right : coerceCompared(binding, right, rightType, ast.position),
    };
  }
  const { type, expressions } = unify(binding, args, name, offsets);
  if (ast.function === "coalesce") return { kind: "coalesce", type, args: expressions };
  const lessThan = resolveOperator("<", type, type, binding.at(ast.position));
  const taken = lessThan.argumentTypes[0] ?? type;
  // A varchar is compared as the text that it is, and stays a varchar.
  const keeps = type.kind === "varchar";
  return {
    kind: ast.function,
    type: keeps ? type : taken,
    lessThan,
    args: keeps ? expressions : expressions.map((each) => coerceImplicit(binding, each, taken, ast.position)),
  };
}
