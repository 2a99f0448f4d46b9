/**
 * Operators: both sides of one type, numbers for arithmetic, `Eq` and `Ord` for comparisons. Nothing is converted by
 * itself.
 */
import type * as ast from "../syntax/ast.ts";
import type { Span } from "../source/source_file.ts";
import type { ArithmeticOperator, Expression } from "../typed/tree.ts";
import {
  BOOL,
  ERROR_TYPE,
  INT,
  INT64,
  isError,
  isFloat,
  isInteger,
  isNever,
  isNumber,
  isPrimitive,
  resolve,
  STRING,
} from "../types/primitives.ts";
import type { Type } from "../types/type.ts";
import { typeText } from "../types/type_text.ts";
import type { Body } from "./body.ts";
import { check, infer } from "./infer.ts";
import { conversionFixes, reportMismatch } from "./mismatch.ts";

const RANGES: Readonly<Record<"Int" | "Int64", readonly [bigint, bigint]>> = {
  Int: [-(2n ** 31n), 2n ** 31n - 1n],
  Int64: [-(2n ** 63n), 2n ** 63n - 1n],
};

/** A whole number, whose type and range are settled in the end. */
export function integerLiteral(body: Body, value: bigint, span: Span, expected: Type | null): Expression {
  const want = expected === null ? null : resolve(expected);
  const isExact = want?.kind === "primitive" && (want.name === "Int" || want.name === "Int64");
  const type = isExact ? want : body.unifier.literal("integer");
  const node = body.node<Expression & { readonly kind: "integer" }>({ kind: "integer", span, type, value });
  if (value > 2147483647n || value < -2147483648n) body.session.finishers.push(() => checkRange(body, node));
  return node;
}

function checkRange(body: Body, node: Expression & { readonly kind: "integer" }): void {
  const name = node.type === INT64 ? "Int64" : "Int";
  const [low, high] = RANGES[name];
  if (node.value >= low && node.value <= high) return;
  const fits64 = node.value >= RANGES.Int64[0] && node.value <= RANGES.Int64[1];
  const text = body.reporter.text(node.span);
  const asBits = BigInt.asIntN(name === "Int" ? 32 : 64, node.value);
  const isBits = /^0[xb]/.test(text) && node.value >= 0n &&
    node.value <= (name === "Int" ? 0xffffffffn : 2n ** 64n - 1n);
  body.reporter.report(
    "TY0013",
    node.span,
    `\`${text}\` is out of range for \`${name}\`, which is from ${low} to ${high}.`,
    {
      hint: name === "Int" && fits64 ? "The number fits in an `Int64`: `let n: Int64 = …`." : undefined,
      fixes: isBits
        ? [body.reporter.fix(`write ${asBits}, which has the same bits`, "maybe", node.span, `${asBits}`)]
        : [],
    },
  );
}

/** `-a` and `not a`. */
export function inferUnary(body: Body, expression: ast.Unary, expected: Type | null): Expression {
  const { operand, span } = expression;
  if (expression.operator === "not") {
    return {
      kind: "not",
      span,
      type: BOOL,
      operand: check(body, operand, BOOL, { kind: "condition", what: "What `not` takes" }),
    };
  }
  if (operand.kind === "integer") return integerLiteral(body, -operand.value, span, expected);
  const typed = infer(body, operand, expected);
  if (typed.kind === "float") {
    return body.node({ kind: "float", span, type: typed.type, value: -typed.value });
  }
  requireNumber(body, typed.type, "-", span);
  return body.node({ kind: "negate", span, type: typed.type, operand: typed });
}

/** Reports in the end when arithmetic is not defined on a type. */
function requireNumber(body: Body, type: Type, operator: string, span: Span): void {
  const check = () => {
    if (isNumber(type) || isError(type) || isNever(type)) return;
    reportNoOperator(body, operator, type, span);
  };
  if (isUndecided(type)) body.session.late.push(check);
  else check();
}

function isUndecided(type: Type): boolean {
  const at = resolve(type);
  return at.kind === "variable" && at.literal === null && at !== ERROR_TYPE;
}

function reportNoOperator(body: Body, operator: string, type: Type, span: Span): void {
  const at = resolve(type);
  const isOption = at.kind === "named" && body.graph.isCore(at, "Option");
  body.reporter.report("TY0003", span, `\`${operator}\` is not defined for \`${typeText(type)}\`.`, {
    hint: isUndecided(type)
      ? "Add a type annotation to the operands."
      : isOption
      ? "Unwrap the `Option` with `match`, `?` or `unwrap_or`."
      : operator === "+"
      ? "`+` is defined for two numbers of the same type, two strings and two lists."
      : ["&", "|", "^", "<<", ">>"].includes(operator)
      ? "Bit operators are defined for `Int` and `Int64`."
      : "Arithmetic is defined for `Int`, `Int64`, `Float` and `F32`.",
  });
}

/** Operators of the language by what they need of both sides. */
function arithmeticFits(body: Body, operator: ArithmeticOperator, type: Type): boolean {
  const at = resolve(type);
  if (isError(at) || isNever(at)) return true;
  switch (operator) {
    case "+":
      return isNumber(at) || at === STRING || at.kind === "primitive" && at.name === "String" ||
        at.kind === "named" && body.graph.isCore(at, "List");
    case "-":
    case "*":
    case "/":
    case "%":
      return isNumber(at);
    default:
      return isInteger(at);
  }
}

/** `a + b` and the like. */
export function inferBinary(body: Body, expression: ast.Binary, expected: Type | null): Expression {
  const { operator, left, right, span } = expression;
  switch (operator) {
    case "and":
    case "or": {
      const what = `Each operand of \`${operator}\``;
      return {
        kind: operator,
        span,
        type: BOOL,
        left: check(body, left, BOOL, { kind: "condition", what }),
        right: check(body, right, BOOL, { kind: "condition", what }),
      };
    }
    case "==":
    case "!=":
    case "<":
    case "<=":
    case ">":
    case ">=":
      return inferComparison(body, expression, operator);
    case "<<":
    case ">>": {
      const typed = infer(body, left, expected);
      requireOperator(body, operator, typed.type, expression.operatorSpan);
      const count = check(body, right, INT, { kind: "index", what: "The count of a shift" });
      return body.node({ kind: "arithmetic", operator, span, type: typed.type, left: typed, right: count });
    }
    default:
      return inferArithmetic(body, expression, operator, expected);
  }
}

function requireOperator(body: Body, operator: ArithmeticOperator, type: Type, span: Span): void {
  const check = () => {
    if (!arithmeticFits(body, operator, type)) reportNoOperator(body, operator, type, span);
  };
  if (isUndecided(type)) body.session.late.push(check);
  else check();
}

function inferArithmetic(
  body: Body,
  expression: ast.Binary,
  operator: ArithmeticOperator,
  expected: Type | null,
): Expression {
  const { left, right, span, operatorSpan } = expression;
  // A hint from outside is good for literals alone: `"{a + b}"` says nothing of a.
  const leftTyped = infer(body, left, expected);
  const rightTyped = infer(body, right, isNever(leftTyped.type) ? null : leftTyped.type);
  const type = sameType(body, expression, leftTyped, rightTyped);
  requireOperator(body, operator, type, operatorSpan);
  if (operator === "/" || operator === "%") noteDivisionByZero(body, rightTyped, operator, operatorSpan);
  return body.node({ kind: "arithmetic", operator, span, type, left: leftTyped, right: rightTyped });
}

function noteDivisionByZero(body: Body, right: Expression, operator: string, span: Span): void {
  if (right.kind !== "integer" || right.value !== 0n) return;
  body.reporter.report("LI0009", span, `\`${operator}\` by zero always traps.`);
}

/** The one type of both sides; a mismatch is reported, and the error type given. */
function sameType(body: Body, expression: ast.Binary, left: Expression, right: Expression): Type {
  if (isNever(left.type)) return right.type;
  if (isNever(right.type)) return left.type;
  if (body.unifier.attempt(left.type, right.type)) return left.type;
  const { operator, operatorSpan } = expression;
  if (operator === "+" && reportTextSum(body, expression, left, right)) return ERROR_TYPE;
  if (operator === "*" && reportRepetition(body, expression, left, right)) return ERROR_TYPE;
  const fixes = conversionFixes(body, expression.left, right.type, left.type);
  if (isNumber(left.type) && isNumber(right.type) && prefersLeft(left.type, right.type)) {
    // The whole number becomes a float: the fix that keeps what the other side says.
    const [leftText, rightText] = [typeText(left.type), typeText(right.type)];
    body.reporter.report(
      "TY0002",
      operatorSpan,
      `The operands of \`${operator}\` must have the same type, but the left one is \`${leftText}\` and the right one is \`${rightText}\`.`,
      {
        labels: [
          body.reporter.label(expression.left.span, `\`${leftText}\``),
          body.reporter.label(expression.right.span, `\`${rightText}\``),
        ],
        expected: leftText,
        actual: rightText,
        fixes: [...fixes, ...conversionFixes(body, expression.right, left.type, right.type)],
      },
    );
    return ERROR_TYPE;
  }
  reportMismatch(body, expression.right, left.type, right.type, {
    kind: "operand",
    span: expression.left.span,
    operator,
    operatorSpan,
  });
  return ERROR_TYPE;
}

/** Whether it is the left side that is converted without loss. */
function prefersLeft(left: Type, right: Type): boolean {
  return isInteger(left) && isFloat(right) || isPrimitive(left, "Int") && isPrimitive(right, "Int64") ||
    isPrimitive(left, "F32") && isPrimitive(right, "Float");
}

const isText = (type: Type) => isPrimitive(type, "String");

/** `"-" * 3`: a text is repeated by its method. */
function reportRepetition(body: Body, expression: ast.Binary, left: Expression, right: Expression): boolean {
  const [text, count] = isText(left.type)
    ? [expression.left, expression.right]
    : [expression.right, expression.left];
  const [textType, countType] = isText(left.type) ? [left.type, right.type] : [right.type, left.type];
  if (!isText(textType) || !isInteger(countType)) return false;
  const { reporter } = body;
  // The span of what stands in parentheses has them.
  const written = reporter.text(text.span);
  const isLoose = !written.startsWith("(") && /^(?:unary|binary|if|match)$/.test(text.kind);
  const argument = reporter.text(count.span).replace(/^\(([^()]*)\)$/, "$1");
  const call = `${isLoose ? `(${written})` : written}.repeat(${argument})`;
  reporter.report(
    "TY0002",
    expression.operatorSpan,
    "`*` multiplies numbers; use `repeat` to repeat a string.",
    {
      labels: [
        reporter.label(expression.left.span, `\`${typeText(left.type)}\``),
        reporter.label(expression.right.span, `\`${typeText(right.type)}\``),
      ],
      fixes: [reporter.fix("call `repeat`", "safe", expression.span, call)],
    },
  );
  return true;
}

/** `"n: " + 1`: offers the text with the value in it. */
function reportTextSum(body: Body, expression: ast.Binary, left: Expression, right: Expression): boolean {
  if (isText(left.type) === isText(right.type)) return false;
  const other = isText(left.type) ? expression.right : expression.left;
  const otherType = isText(left.type) ? right.type : left.type;
  const { reporter } = body;
  const text = reporter.text(other.span);
  const isSimple = !text.includes('"') && !text.includes("\n");
  reporter.report(
    "TY0002",
    expression.operatorSpan,
    `Cannot join a string and a value of type \`${typeText(otherType)}\` with \`+\`.`,
    {
      labels: [
        reporter.label(expression.left.span, `\`${typeText(left.type)}\``),
        reporter.label(expression.right.span, `\`${typeText(right.type)}\``),
      ],
      hint: 'A value is put into a text between braces: `"n: {n}"`.',
      expected: "String",
      actual: typeText(otherType),
      fixes: isSimple ? [reporter.fix(`write \`"{${text}}"\``, "safe", other.span, `"{${text}}"`)] : [],
    },
  );
  return true;
}

type ComparisonOperator = "==" | "!=" | "<" | "<=" | ">" | ">=";

function inferComparison(body: Body, expression: ast.Binary, operator: ComparisonOperator): Expression {
  const left = infer(body, expression.left, null);
  const right = infer(body, expression.right, isNever(left.type) ? null : left.type);
  const type = sameType(body, expression, left, right);
  const isEquality = operator === "==" || operator === "!=";
  const wanted = body.graph.coreInterface(isEquality ? "Eq" : "Ord");
  if (wanted !== null && !isNumber(type)) {
    body.session.require({
      type,
      interface: wanted,
      span: expression.operatorSpan,
      asker: `\`${operator}\``,
      body,
    });
  }
  if (isEquality && isPrimitive(type, "Bool")) noteBooleanComparison(body, expression, operator);
  return { kind: "compare", operator, span: expression.span, type: BOOL, left, right };
}

/** `x == true` is `x`. */
function noteBooleanComparison(body: Body, expression: ast.Binary, operator: "==" | "!="): void {
  const { left, right, span } = expression;
  const literal = right.kind === "boolean" ? right : left.kind === "boolean" ? left : null;
  if (literal === null || left.kind === right.kind) return;
  const other = literal === right ? left : right;
  const text = body.reporter.text(other.span);
  const keeps = (operator === "==") === literal.value;
  const isTight = !["binary", "range", "unary"].includes(other.kind);
  const replacement = keeps ? text : isTight ? `not ${text}` : `not (${text})`;
  body.reporter.report("LI0012", span, "Comparing a `Bool` with `true` or `false` is redundant.", {
    fixes: [body.reporter.fix(`write \`${replacement}\``, "safe", span, replacement)],
  });
}

/** `a..b` as a value; `for` takes ranges apart before they get here. */
export function inferRange(body: Body, expression: ast.RangeExpression): Expression {
  const { span } = expression;
  const start = check(body, expression.start, INT, { kind: "index", what: "The start of a range" });
  const end = check(body, expression.end, INT, { kind: "index", what: "The end of a range" });
  const type = body.graph.coreNamed("Range") ?? ERROR_TYPE;
  const one: Expression = { kind: "integer", span: end.span, type: INT, value: 1n };
  const last: Expression = expression.isInclusive
    ? { kind: "arithmetic", operator: "+", span: end.span, type: INT, left: end, right: one }
    : end;
  return { kind: "record", span, type, fields: [start, last], order: [0, 1] };
}

/** `9..0` goes over nothing. */
export function noteEmptyRange(
  body: Body,
  expression: ast.RangeExpression,
  start: Expression,
  end: Expression,
): void {
  if (start.kind !== "integer" || end.kind !== "integer" || start.value <= end.value) return;
  const { reporter } = body;
  const texts = [reporter.text(expression.start.span), reporter.text(expression.end.span)] as const;
  reporter.report("LI0010", expression.span, "This range is empty: its end is before its start.", {
    hint: "`for` only counts up; use `(a..b).reversed()` to count down.",
    fixes: [
      reporter.fix(
        "swap start and end",
        "maybe",
        expression.span,
        `${texts[1]}${expression.isInclusive ? "..=" : ".."}${texts[0]}`,
      ),
    ],
  });
}
