/**
 * Expressions back to text, in the canonical form of PostgreSQL's `pg_get_expr`: every operator in parentheses, types
 * by their SQL names, LIKE, BETWEEN and IN as the operators they stand for.
 *
 * Invariants: the text parses to an expression of the same meaning, and formatting that expression gives the same
 * text again. Without types the form differs from PostgreSQL's where only analysis knows more: strings carry no
 * `::text`, an IN list that holds untyped strings stays an IN list. Subqueries and window functions raise 0A000:
 * nothing stored holds them.
 */

import { unreachable } from "../../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type {
  CaseExpression,
  Expression,
  FunctionArgument,
  FunctionCall,
  InListTest,
  Literal,
  PatternMatch,
  SortKey,
  Subscript,
  TypeName,
} from "./ast.ts";
import { quoteIdentifier } from "./keywords.ts";

/** The canonical text of an expression. */
export function formatExpression(expression: Expression): string {
  switch (expression.kind) {
    case "literal":
      return formatLiteral(expression);
    case "typed_literal":
      return `${quoteLiteral(expression.text)}::${formatTypeName(expression.type)}`;
    case "parameter":
      return `$${expression.number}`;
    case "column":
      return formatName(expression.parts);
    case "star":
      return expression.qualifier.length === 0 ? "*" : `${formatName(expression.qualifier)}.*`;
    case "field":
      return `(${formatExpression(expression.operand)}).${quoteIdentifier(expression.field)}`;
    case "field_star":
      return `(${formatExpression(expression.operand)}).*`;
    case "subscript":
      return formatSubscript(expression);
    case "unary":
      return `(${formatOperator(expression.operator, expression.schema)} ${
        formatExpression(expression.operand)
      })`;
    case "binary":
      return formatBinary(
        expression.left,
        formatOperator(expression.operator, expression.schema),
        expression.right,
      );
    case "logical":
      return `(${
        expression.operands.map(formatExpression).join(expression.operator === "and" ? " AND " : " OR ")
      })`;
    case "not":
      return `(NOT ${formatExpression(expression.operand)})`;
    case "is": {
      const test = `${expression.negated ? "NOT " : ""}${expression.test.toUpperCase()}`;
      return `(${formatExpression(expression.operand)} IS ${test})`;
    }
    case "distinct": {
      const test = formatBinary(expression.left, "IS DISTINCT FROM", expression.right);
      return expression.negated ? `(NOT ${test})` : test;
    }
    case "between":
      return formatBetween(expression);
    case "in_list":
      return formatInList(expression);
    case "pattern":
      return formatPattern(expression);
    case "quantified": {
      if (expression.array === null) throw subqueryError();
      const operator = formatOperator(expression.operator, expression.schema);
      const array = formatExpression(expression.array);
      return `(${
        formatExpression(expression.operand)
      } ${operator} ${expression.quantifier.toUpperCase()} (${array}))`;
    }
    case "row":
      return `ROW(${formatList(expression.items)})`;
    case "case":
      return formatCase(expression);
    case "cast":
      return formatCast(expression.operand, expression.type);
    case "collate":
      return `(${formatExpression(expression.operand)} COLLATE ${formatQuotedName(expression.collation)})`;
    case "at_time_zone": {
      const operand = formatExpression(expression.operand);
      return expression.zone === null
        ? `(${operand} AT LOCAL)`
        : `(${operand} AT TIME ZONE ${formatExpression(expression.zone)})`;
    }
    case "call":
      return formatCall(expression);
    case "conditional":
      return `${expression.function.toUpperCase()}(${formatList(expression.arguments)})`;
    case "session_value": {
      const precision = expression.precision === null ? "" : `(${expression.precision})`;
      return expression.name.toUpperCase() + precision;
    }
    case "array":
      return `ARRAY[${formatList(expression.items)}]`;
    case "default":
      return "DEFAULT";
    case "in_subquery":
    case "exists":
    case "subquery":
    case "array_subquery":
      throw subqueryError();
    default:
      return unreachable(expression);
  }
}

function subqueryError(): DatabaseError {
  return new DatabaseError(SQLSTATE.featureNotSupported, "cannot use subquery in a stored expression");
}

function formatList(items: readonly Expression[]): string {
  return items.map(formatExpression).join(", ");
}

function formatName(parts: readonly string[]): string {
  return parts.map(quoteIdentifier).join(".");
}

/** A collation's name; its quotes are part of the canonical form when it has capitals. */
function formatQuotedName(parts: readonly string[]): string {
  return formatName(parts);
}

function formatOperator(operator: string, schema: string | null): string {
  return schema === null ? operator : `OPERATOR(${quoteIdentifier(schema)}.${operator})`;
}

function formatBinary(left: Expression, operator: string, right: Expression): string {
  return `(${formatExpression(left)} ${operator} ${formatExpression(right)})`;
}

/** A string as SQL text; backslashes make it an escape string, as PostgreSQL prints it. */
export function quoteLiteral(text: string): string {
  const quoted = text.replaceAll("'", "''");
  return quoted.includes("\\") ? `E'${quoted.replaceAll("\\", "\\\\")}'` : `'${quoted}'`;
}

function formatLiteral(literal: Literal): string {
  switch (literal.type) {
    case "null":
      return "NULL";
    case "boolean":
      return literal.text;
    case "string":
      return quoteLiteral(literal.text);
    case "bit_string":
      return `B'${literal.text}'`;
    case "hex_string":
      return `X'${literal.text}'`;
    case "decimal":
      return literal.text.startsWith("-") ? `'${literal.text}'::numeric` : literal.text;
    case "integer": {
      const value = BigInt(literal.text);
      if (value >= -2_147_483_648n && value <= 2_147_483_647n) {
        return value < 0n ? `'${literal.text}'::integer` : literal.text;
      }
      const isBigint = value >= -9_223_372_036_854_775_808n && value <= 9_223_372_036_854_775_807n;
      return `'${literal.text}'::${isBigint ? "bigint" : "numeric"}`;
    }
    default:
      return unreachable(literal.type);
  }
}

function formatSubscript(subscript: Subscript): string {
  const { operand, lower, upper } = subscript;
  const isPlain = operand.kind === "column" || operand.kind === "parameter" ||
    operand.kind === "subscript" && !subscript.startsChain;
  const array = isPlain ? formatExpression(operand) : `(${formatExpression(operand)})`;
  const upperText = upper === null ? "" : formatExpression(upper);
  if (!subscript.isSlice) return `${array}[${upperText}]`;
  return `${array}[${lower === null ? "" : formatExpression(lower)}:${upperText}]`;
}

function formatBetween(test: Extract<Expression, { kind: "between" }>): string {
  const { operand, lower, upper, negated, symmetric } = test;
  const range = (low: Expression, high: Expression) =>
    negated
      ? `(${formatBinary(operand, "<", low)} OR ${formatBinary(operand, ">", high)})`
      : `(${formatBinary(operand, ">=", low)} AND ${formatBinary(operand, "<=", high)})`;
  if (!symmetric) return range(lower, upper);
  return `(${range(lower, upper)} ${negated ? "AND" : "OR"} ${range(upper, lower)})`;
}

function formatInList(test: InListTest): string {
  const { operand, items, negated } = test;
  const [only] = items;
  if (items.length === 1 && only !== undefined) return formatBinary(operand, negated ? "<>" : "=", only);
  const list = formatList(items);
  // An array of untyped strings would be text[]: the list leaves their type to the operand.
  if (operand.kind === "row" || !items.every(hasOwnType)) {
    return `(${formatExpression(operand)} ${negated ? "NOT IN" : "IN"} (${list}))`;
  }
  return `(${formatExpression(operand)} ${negated ? "<> ALL" : "= ANY"} (ARRAY[${list}]))`;
}

function hasOwnType(item: Expression): boolean {
  return item.kind === "typed_literal" || item.kind === "cast" ||
    (item.kind === "literal" && (item.type === "integer" || item.type === "decimal"));
}

function formatPattern(match: PatternMatch): string {
  const { operand, pattern, escape, negated } = match;
  if (match.operator !== "similar" && escape === null) {
    const operator = (negated ? "!~~" : "~~") + (match.operator === "ilike" ? "*" : "");
    return formatBinary(operand, operator, pattern);
  }
  const word = match.operator === "similar" ? "SIMILAR TO" : match.operator.toUpperCase();
  const tail = escape === null ? "" : ` ESCAPE ${formatExpression(escape)}`;
  const not = negated ? "NOT " : "";
  return `(${formatExpression(operand)} ${not}${word} ${formatExpression(pattern)}${tail})`;
}

function formatCase(expression: CaseExpression): string {
  const lines = [`CASE${expression.operand === null ? "" : ` ${formatExpression(expression.operand)}`}`];
  for (const { condition, result } of expression.branches) {
    lines.push(`    WHEN ${formatExpression(condition)} THEN ${formatExpression(result)}`);
  }
  if (expression.otherwise !== null) lines.push(`    ELSE ${formatExpression(expression.otherwise)}`);
  return `${lines.join("\n")}\nEND`;
}

function formatCast(operand: Expression, type: TypeName): string {
  const isString = operand.kind === "literal" && (operand.type === "string" || operand.type === "null");
  const text = formatExpression(operand);
  return isString ? `${text}::${formatTypeName(type)}` : `(${text})::${formatTypeName(type)}`;
}

function formatCall(call: FunctionCall): string {
  if (call.over !== null) {
    throw new DatabaseError(
      SQLSTATE.windowingError,
      "window functions are not allowed in a stored expression",
    );
  }
  const special = formatSpecialCall(call);
  if (special !== null) return special;
  const args = call.arguments.map((argument, index) =>
    formatArgument(argument, call.variadic && index === call.arguments.length - 1)
  );
  const list = call.star ? "*" : args.join(", ");
  const inside = call.withinGroup ? "" : formatOrderBy(call.orderBy);
  let text = `${formatName(call.name)}(${call.distinct ? "DISTINCT " : ""}${list}${inside})`;
  if (call.withinGroup) text += ` WITHIN GROUP (${formatOrderBy(call.orderBy).trimStart()})`;
  if (call.filter !== null) text += ` FILTER (WHERE ${formatExpression(call.filter)})`;
  return text;
}

function formatArgument(argument: FunctionArgument, isVariadic: boolean): string {
  const name = argument.name === null ? "" : `${quoteIdentifier(argument.name)} => `;
  return `${isVariadic ? "VARIADIC " : ""}${name}${formatExpression(argument.value)}`;
}

function formatOrderBy(keys: readonly SortKey[]): string {
  if (keys.length === 0) return "";
  const items = keys.map((key) => {
    const direction = key.using !== null ? ` USING ${key.using}` : key.descending ? " DESC" : "";
    const nulls = key.nulls === null ? "" : ` NULLS ${key.nulls.toUpperCase()}`;
    return formatExpression(key.expression) + direction + nulls;
  });
  return ` ORDER BY ${items.join(", ")}`;
}

/** The standard's syntax of a function that was written so, or `null` for a plain call. */
function formatSpecialCall(call: FunctionCall): string | null {
  const values = call.arguments.map((argument) => argument.value);
  const [first, second, third, fourth] = values;
  if (call.syntax === null || first === undefined) return null;
  const text = formatExpression;
  switch (call.syntax) {
    case "extract":
      if (first.kind !== "literal" || second === undefined) return null;
      return `EXTRACT(${quoteIdentifier(first.text)} FROM ${text(second)})`;
    case "substring":
      if (second === undefined) return null;
      return `SUBSTRING(${text(first)} FROM ${text(second)}${
        third === undefined ? "" : ` FOR ${text(third)}`
      })`;
    case "similar":
      if (second === undefined || third === undefined) return null;
      return `SUBSTRING(${text(first)} SIMILAR ${text(second)} ESCAPE ${text(third)})`;
    case "position":
      return second === undefined ? null : `POSITION((${text(second)}) IN (${text(first)}))`;
    case "overlay": {
      if (second === undefined || third === undefined) return null;
      const tail = fourth === undefined ? "" : ` FOR ${text(fourth)}`;
      return `OVERLAY(${text(first)} PLACING ${text(second)} FROM ${text(third)}${tail})`;
    }
    case "trim": {
      if (third !== undefined) return null;
      const side = call.name[0] === "ltrim" ? "LEADING" : call.name[0] === "rtrim" ? "TRAILING" : "BOTH";
      return `TRIM(${side} ${second === undefined ? "" : `${text(second)} `}FROM ${text(first)})`;
    }
    case "normalize":
      if (second === undefined) return `NORMALIZE(${text(first)})`;
      return second.kind === "literal" ? `NORMALIZE(${text(first)}, ${second.text})` : null;
    default:
      return unreachable(call.syntax);
  }
}

/** PostgreSQL's internal names and the SQL names that `format_type` prints for them. */
const SQL_TYPE_NAMES: ReadonlyMap<string, string> = new Map([
  ["int2", "smallint"],
  ["int4", "integer"],
  ["int8", "bigint"],
  ["float4", "real"],
  ["float8", "double precision"],
  ["bool", "boolean"],
  ["bpchar", "character"],
  ["varchar", "character varying"],
  ["varbit", "bit varying"],
  ["timestamp", "timestamp without time zone"],
  ["timestamptz", "timestamp with time zone"],
  ["time", "time without time zone"],
  ["timetz", "time with time zone"],
  ["numeric", "numeric"],
  ["interval", "interval"],
  ["bit", "bit"],
]);

/** A type's name as `format_type` prints it. */
export function formatTypeName(type: TypeName): string {
  const name = type.name.length === 2 && type.name[0] === "pg_catalog" ? type.name.slice(1) : type.name;
  const [only] = name;
  const sqlName = name.length === 1 && only !== undefined ? SQL_TYPE_NAMES.get(only) : undefined;
  const modifiers = type.modifiers.length === 0 ? "" : `(${type.modifiers.join(",")})`;
  const brackets = "[]".repeat(type.arrayDimensions);
  const setOf = type.setOf ? "SETOF " : "";
  if (sqlName === undefined) return setOf + formatName(name) + modifiers + brackets;
  if (only === "bpchar" && modifiers === "") return `${setOf}bpchar${brackets}`;
  const fields = type.intervalFields === null ? "" : ` ${type.intervalFields.toUpperCase()}`;
  // The precision of a time is behind its first word: `timestamp(3) with time zone`.
  const space = sqlName.startsWith("time") ? sqlName.indexOf(" ") : sqlName.length;
  return setOf + sqlName.slice(0, space) + fields.toLowerCase() + modifiers + sqlName.slice(space) + brackets;
}
