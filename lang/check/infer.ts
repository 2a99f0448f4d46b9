/**
 * Types of expressions, in both directions: `infer` finds out what an expression is, with a hint of what is wanted;
 * `check` holds it to a type.
 *
 * Blocks, `if` and `match` hand the wanted type on, so that a mismatch is told at the place that has it.
 */
import type * as ast from "../syntax/ast.ts";
import type { Expression } from "../typed/tree.ts";
import { BOOL, CHAR, ERROR_TYPE, isError, isNever, isUnit, resolve, STRING } from "../types/primitives.ts";
import type { Type } from "../types/type.ts";
import { typeWithArticle } from "../types/type_text.ts";
import { inferList, inferRecord, inferTuple } from "./aggregates.ts";
import type { Body, Reason } from "./body.ts";
import { inferCall } from "./calls.ts";
import { inferClosure } from "./closures.ts";
import { inferBlock, inferIf, inferMatch } from "./control.ts";
import { reportMismatch, reportSurplusResult } from "./mismatch.ts";
import { inferField, inferName } from "./names.ts";
import { inferBinary, inferRange, inferUnary, integerLiteral } from "./operators.ts";
import { inferIndex } from "./indexing.ts";
import { inferPropagate } from "./propagation.ts";

/** The wanted type of what is thrown away: anything will do. Equal to `()` for who looks at it. */
export const DISCARDED: Type = { kind: "tuple", elements: [] };

/** The typed expression; `expected` is a hint that it need not fulfill. */
export function infer(
  body: Body,
  expression: ast.Expression,
  expected: Type | null,
  reason: Reason | null = null,
): Expression {
  const typed = inferKind(body, expression, expected, reason);
  const { symbols } = body.session;
  if (symbols !== null) {
    symbols.types.push(typed);
    if (expected !== null && expected !== DISCARDED) symbols.wanted.set(expression.span.start, expected);
  }
  return typed;
}

function inferKind(
  body: Body,
  expression: ast.Expression,
  expected: Type | null,
  reason: Reason | null,
): Expression {
  const { span } = expression;
  switch (expression.kind) {
    case "integer":
      return integerLiteral(body, expression.value, span, expected);
    case "float": {
      const want = expected === null ? null : resolve(expected);
      const isExact = want?.kind === "primitive" && (want.name === "Float" || want.name === "F32");
      const type = isExact ? want : body.unifier.literal("float");
      return body.node({ kind: "float", span, type, value: expression.value });
    }
    case "boolean":
      return { kind: "boolean", span, type: BOOL, value: expression.value };
    case "character":
      return { kind: "character", span, type: CHAR, codePoint: expression.codePoint };
    case "string":
      return inferString(body, expression);
    case "name":
      return inferName(body, expression, expected);
    case "field":
      return inferField(body, expression, expected);
    case "call":
      return inferCall(body, expression, expected);
    case "index":
      return inferIndex(body, expression);
    case "propagate":
      return inferPropagate(body, expression);
    case "unary":
      return inferUnary(body, expression, expected);
    case "binary":
      return inferBinary(body, expression, expected);
    case "range":
      return inferRange(body, expression);
    case "record":
      return inferRecord(body, expression, expected);
    case "list":
      return inferList(body, expression, expected);
    case "tuple":
      return inferTuple(body, expression, expected);
    case "block":
      return inferBlock(body, expression, expected, reason);
    case "if":
      return inferIf(body, expression, expected, reason);
    case "match":
      return inferMatch(body, expression, expected, reason);
    case "closure":
      return inferClosure(body, expression, expected);
  }
}

/** The typed expression, held to a type; the mismatch is reported, with why the type is wanted. */
export function check(
  body: Body,
  expression: ast.Expression,
  expected: Type,
  reason: Reason | null,
): Expression {
  const typed = infer(body, expression, expected, reason);
  if (expected === DISCARDED) {
    noteDiscarded(body, expression, typed, reason);
    return typed;
  }
  if (isNever(typed.type)) return typed;
  if (!body.unifier.unify(expected, typed.type)) {
    if (isFunctionOfKnownResult(body, expected, typed.type)) return typed;
    reportMismatch(body, expression, expected, typed.type, reason);
  }
  return typed;
}

/** A function that never returns stands for one of any result. */
function isFunctionOfKnownResult(body: Body, expected: Type, actual: Type): boolean {
  const want = resolve(expected);
  const have = resolve(actual);
  if (want.kind !== "function" || have.kind !== "function" || !isNever(have.result)) return false;
  if (want.parameters.length !== have.parameters.length) return false;
  return want.parameters.every((parameter, index) => {
    const mine = have.parameters[index];
    return mine !== undefined && mine.isInout === parameter.isInout &&
      body.unifier.unify(parameter.type, mine.type);
  });
}

/** Warns of a value that nobody takes; at the end of a function without a result it is an error. */
function noteDiscarded(
  body: Body,
  expression: ast.Expression,
  typed: Expression,
  reason: Reason | null,
): void {
  if (expression.kind === "block" || expression.kind === "if" || expression.kind === "match") return;
  // Who changes a place may well not care for what the call gives beside.
  if (typed.kind === "call" && typed.arguments.some((argument) => argument.kind === "inout")) return;
  const note = () => {
    const type = resolve(typed.type);
    if (isUnit(type) || isNever(type) || isError(type)) return;
    if (type.kind === "variable" && type.literal === null) return;
    if (reason?.kind === "result") reportSurplusResult(body, expression, type, reason);
    else reportUnusedValue(body, expression, type);
  };
  const type = resolve(typed.type);
  if (type.kind === "variable" && type !== ERROR_TYPE) body.session.late.push(note);
  else note();
}

function reportUnusedValue(body: Body, expression: ast.Expression, type: Type): void {
  const { reporter } = body;
  const isComparison = expression.kind === "binary" && expression.operator === "==";
  reporter.report(
    "LI0005",
    expression.span,
    `This expression returns ${typeWithArticle(type)} that is not used.`,
    {
      hint: isComparison ? "Use `=` to assign a value." : undefined,
      fixes: [
        ...(isComparison ? [reporter.fix("assign with `=`", "maybe", expression.operatorSpan, "=")] : []),
        reporter.insert("discard it with `let _ =`", "maybe", expression.span.start, "let _ = "),
      ],
    },
  );
}

/** Text with expressions: each part is shown. */
function inferString(body: Body, expression: ast.StringLiteral): Expression {
  const { parts, span } = expression;
  const first = parts[0];
  if (first === undefined) return { kind: "string", span, type: STRING, value: "" };
  if (parts.length === 1 && typeof first === "string") {
    return { kind: "string", span, type: STRING, value: first };
  }
  const show = body.graph.coreInterface("Show");
  return {
    kind: "interpolation",
    span,
    type: STRING,
    parts: parts.map((part) => {
      if (typeof part === "string") return part;
      const typed = infer(body, part, null);
      if (isUnit(typed.type)) {
        body.reporter.report(
          "TY0010",
          part.span,
          "This expression has no value to interpolate: its type is `()`.",
        );
      } else if (show !== null) {
        body.session.require({ type: typed.type, interface: show, span: part.span, asker: "A text", body });
      }
      return typed;
    }),
  };
}
