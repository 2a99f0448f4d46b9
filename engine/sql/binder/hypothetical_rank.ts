/**
 * `rank(…) WITHIN GROUP (ORDER BY …)` and its relatives: the place that a row would have among those of a group. They
 * are written as counts of the rows that would precede it.
 */
import { SQLSTATE } from "../../base/errors.ts";
import { formatTypeFamily } from "../../types/type_names.ts";
import type { Expression as Ast, FunctionCall, SortKey } from "../parser/ast.ts";
import type { Expression } from "../plan/expression.ts";
import type { Binding } from "./binding.ts";
import { inClause } from "./call_binder.ts";
import { coerceImplicit } from "./coercion.ts";
import { bindBinary, bindExpression } from "./expression_binder.ts";
import type { QueryLevel } from "./scope.ts";

const NAMES: readonly string[] = ["rank", "dense_rank", "percent_rank", "cume_dist"];

/** Whether a call is one of those. */
export function isHypotheticalRank(ast: FunctionCall, name: string): boolean {
  return ast.withinGroup && NAMES.includes(name);
}

/** Binds one; 42883 unless there is one argument for each key. */
export function bindHypotheticalRank(
  binding: Binding,
  level: QueryLevel,
  ast: FunctionCall,
  name: string,
): Expression {
  const direct = ast.arguments.length, keys = ast.orderBy.length;
  if (direct !== keys) {
    const operands = [
      ...ast.arguments.map((each) => each.value),
      ...ast.orderBy.map((each) => each.expression),
    ];
    const types = operands.map((each) => formatTypeFamily(bindExpression(binding, level, each).type)).join(
      ", ",
    );
    throw binding.error(
      SQLSTATE.undefinedFunction,
      `function ${name}(${types}) does not exist`,
      ast.position,
      {
        hint:
          `To use the hypothetical-set aggregate ${name}, the number of hypothetical direct arguments (here ${direct}) must match the number of ordering columns (here ${keys}).`,
      },
    );
  }
  // Bound by themselves once, so that what cannot be in them is found.
  for (const { value } of ast.arguments) {
    inClause(level, "aggregate", () => bindExpression(binding, level, value));
    binding.directArguments.asts.add(value);
  }
  binding.directArguments.any = true;
  const bind = (each: Ast) => bindExpression(binding, level, each);
  const plusOne = (each: Ast): Ast => binary("+", each, integer("1", ast.position));
  const before = rowsBefore(ast, false);
  switch (name) {
    case "rank":
      return bind(plusOne(count(ast, before, null)));
    case "dense_rank":
      return bind(plusOne(count(ast, before, ast.orderBy)));
  }
  const ratio = (part: Ast, whole: Ast): Expression => {
    const [left, right] = [part, whole].map((each) => coerceImplicit(binding, bind(each), { kind: "f64" }));
    return bindBinary(binding, "/", left ?? bind(part), right ?? bind(whole), ast.position);
  };
  if (name === "cume_dist") {
    return ratio(plusOne(count(ast, rowsBefore(ast, true), null)), plusOne(count(ast, null, null)));
  }
  const { position } = ast;
  const all: Ast = {
    kind: "conditional",
    function: "greatest",
    arguments: [count(ast, null, null), integer("1", position)],
    position,
  };
  return ratio(count(ast, before, null), all);
}

function integer(text: string, position: number): Ast {
  return { kind: "literal", type: "integer", text, literalIndex: null, position };
}

function binary(operator: string, left: Ast, right: Ast): Ast {
  return { kind: "binary", operator, schema: null, left, right, position: left.position };
}

function truth(value: boolean, position: number): Ast {
  return { kind: "literal", type: "boolean", text: String(value), literalIndex: null, position };
}

/** count(*) or count(DISTINCT keys) of the group's rows, of those that meet the condition. */
function count(call: FunctionCall, condition: Ast | null, distinct: readonly SortKey[] | null): Ast {
  const { position } = call;
  const filters = [call.filter, condition].filter((each) => each !== null);
  const [first] = filters;
  const row: Ast = {
    kind: "row",
    explicit: true,
    items: (distinct ?? []).map((key) => key.expression),
    position,
  };
  return {
    kind: "call",
    name: ["pg_catalog", "count"],
    syntax: null,
    arguments: distinct === null ? [] : [{ name: null, value: row }],
    star: distinct === null,
    distinct: distinct !== null,
    variadic: false,
    orderBy: [],
    withinGroup: false,
    filter: filters.length > 1
      ? { kind: "logical", operator: "and", operands: filters, position }
      : first ?? null,
    over: null,
    position,
  };
}

/** Whether a row is before the given one, or (`orEqual`) ties with it. */
function rowsBefore(call: FunctionCall, orEqual: boolean): Ast {
  const { position } = call;
  let condition = truth(orEqual, position);
  for (const [index, key] of [...call.orderBy.entries()].toReversed()) {
    const value = call.arguments[index]?.value ?? key.expression;
    const same: Ast = { kind: "distinct", negated: true, left: key.expression, right: value, position };
    condition = {
      kind: "logical",
      operator: "or",
      operands: [
        isBefore(key, value),
        { kind: "logical", operator: "and", operands: [same, condition], position },
      ],
      position,
    };
  }
  return condition;
}

/** The comparison comes first: it gives the value its type. */
function isBefore(key: SortKey, value: Ast): Ast {
  const { expression, position } = key;
  const descending = key.using === null ? key.descending : key.using === ">";
  const nullsFirst = key.nulls === null ? descending : key.nulls === "first";
  const isNull = (operand: Ast, negated: boolean): Ast => ({
    kind: "is",
    test: "null",
    negated,
    operand,
    position,
  });
  return {
    kind: "case",
    operand: null,
    branches: [
      {
        condition: binary(descending ? ">" : "<", expression, value),
        result: truth(true, position),
      },
      {
        condition: isNull(expression, false),
        result: nullsFirst ? isNull(value, true) : truth(false, position),
      },
      { condition: isNull(value, false), result: truth(!nullsFirst, position) },
    ],
    otherwise: truth(false, position),
    position,
  };
}
