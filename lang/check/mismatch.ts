/**
 * What to say, and what to offer, when an expression has another type than its place asks for.
 */
import type { Fix, Label } from "../diagnostics/diagnostic.ts";
import type * as ast from "../syntax/ast.ts";
import { isUnit, resolve, UNIT } from "../types/primitives.ts";
import type { Type } from "../types/type.ts";
import { typeText, typeTexts } from "../types/type_text.ts";
import { placeholderFor } from "./placeholder.ts";
import type { Body, Reason } from "./body.ts";

/** Reports that one type is expected and another one stands there. */
export function reportMismatch(
  body: Body,
  expression: ast.Expression,
  expected: Type,
  actual: Type,
  reason: Reason | null,
): void {
  const [expectedText, actualText] = typeTexts(expected, actual);
  const { reporter } = body;
  const details = {
    labels: reasonLabels(body, reason),
    hint: mismatchHint(body, expected, actual),
    expected: expectedText,
    actual: actualText,
    fixes: conversionFixes(body, expression, expected, actual),
  };
  if (reason?.kind === "operand") {
    reporter.report(
      "TY0002",
      reason.operatorSpan,
      `The operands of \`${reason.operator}\` must have the same type, but the left one is \`${expectedText}\` and the right one is \`${actualText}\`.`,
      {
        ...details,
        labels: [
          reporter.label(reason.span, `\`${expectedText}\``),
          reporter.label(expression.span, `\`${actualText}\``),
        ],
      },
    );
    return;
  }
  const code = reason?.kind === "branch"
    ? "TY0017"
    : reason?.kind === "element"
    ? "TY0031"
    : reason?.kind === "condition"
    ? "TY0004"
    : reason?.kind === "result" && !reason.isWritten
    ? "TY0027"
    : "TY0001";
  if (reason?.kind === "result" && code === "TY0027") {
    reportSurplusResult(body, expression, actual, reason);
    return;
  }
  reporter.report(code, expression.span, sentence(reason, expectedText, actualText), details);
}

/** Reports, once for a function, that it gives a value and says that it has none. */
export function reportSurplusResult(
  body: Body,
  expression: ast.Expression,
  actual: Type,
  reason: Extract<Reason, { kind: "result" }>,
): void {
  if (body.hasSurplusResult) return;
  body.hasSurplusResult = true;
  const { reporter } = body;
  const text = typeText(actual);
  const { start } = expression.span;
  // Behind an arrow or `return` no `let` may stand.
  const isStatement = !/(?:=>|\breturn)\s*$/.test(reporter.file.text.slice(Math.max(0, start - 100), start));
  reporter.report(
    "TY0027",
    expression.span,
    `The function ${
      reason.isWritten ? "gives" : "writes no result, so it gives"
    } \`()\`, yet here is a value of type \`${text}\`.`,
    {
      expected: "()",
      actual: text,
      fixes: [
        ...(reason.isWritten
          ? []
          : [reporter.insert(`add the result type \`${text}\``, "maybe", reason.span.end, ` -> ${text}`)]),
        ...(isStatement
          ? [reporter.insert("discard the value with `let _ =`", "maybe", start, "let _ = ")]
          : []),
      ],
    },
  );
}

function sentence(reason: Reason | null, expected: string, actual: string): string {
  switch (reason?.kind) {
    case "annotation":
      return `Expected \`${expected}\` because of the type annotation, found \`${actual}\`.`;
    case "result":
      return `Expected \`${expected}\` as the result, found \`${actual}\`.`;
    case "argument":
      return `\`${reason.callee}\` expects \`${expected}\` for \`${reason.name}\`, found \`${actual}\`.`;
    case "field":
      return `The field \`${reason.name}\` expects \`${expected}\`, found \`${actual}\`.`;
    case "branch":
      return reason.what === "arm"
        ? `The arms of a \`match\` must have the same type, but the first is \`${expected}\` and this one is \`${actual}\`.`
        : `The branches of an \`if\` must have the same type, but the first is \`${expected}\` and this one is \`${actual}\`.`;
    case "element":
      return `The elements of a list must have the same type, but the first is \`${expected}\` and this one is \`${actual}\`.`;
    case "assignment":
      return `Cannot assign \`${actual}\` to \`${expected}\`.`;
    case "condition":
      return `${reason.what} must be a \`Bool\`, found \`${actual}\`.`;
    case "index":
      return `${reason.what} must be \`${expected}\`, found \`${actual}\`.`;
    case "text":
      return `Expected a string, found \`${actual}\`.`;
    default:
      return `Expected \`${expected}\`, found \`${actual}\`.`;
  }
}

function reasonLabels(body: Body, reason: Reason | null): Label[] {
  const { reporter } = body;
  switch (reason?.kind) {
    case "annotation":
      return [reporter.label(reason.span, "because of this type")];
    case "result":
      return reason.isWritten ? [reporter.label(reason.span, "because of this result type")] : [];
    case "argument":
      return reason.file === body.scope.file
        ? [reporter.label(reason.span, "because of this parameter")]
        : [];
    case "field":
      return reason.file === body.scope.file ? [reporter.label(reason.span, "because of this field")] : [];
    case "branch":
      return [reporter.label(reason.span, `the first ${reason.what} is here`)];
    case "element":
      return [reporter.label(reason.span, "the first element is here")];
    case "assignment":
      return [reporter.label(reason.span, "the place")];
    default:
      return [];
  }
}

function mismatchHint(body: Body, expected: Type, actual: Type): string | undefined {
  const want = resolve(expected);
  const have = resolve(actual);
  if (have.kind === "named" && body.graph.isCore(have, "Option") && want.kind !== "named") {
    return "Unwrap the `Option` with `match`, `?` or `unwrap_or`.";
  }
  if (have.kind === "function" && want.kind !== "function") {
    return "This is the function itself; add `()` to call it.";
  }
  if (isUnit(have) && !isUnit(want)) {
    return "`()` is the type of an expression without a value, such as a block that ends with a statement.";
  }
  return undefined;
}

function numberName(type: Type): "Int" | "Int64" | "Float" | "F32" | null {
  const at = resolve(type);
  if (at.kind === "variable") {
    return at.literal === "integer" ? "Int" : at.literal === "float" ? "Float" : null;
  }
  if (at.kind !== "primitive") return null;
  return at.name === "Int" || at.name === "Int64" || at.name === "Float" || at.name === "F32"
    ? at.name
    : null;
}

/** Conversions between numbers, by what is there and what is wanted; steps that may trap or lose are no safe fixes. */
const CONVERSIONS: Readonly<Record<string, readonly [call: string, isExact: boolean]>> = {
  "Int Int64": [".to_int64()", true],
  "Int Float": [".to_float()", true],
  "Int F32": [".to_float().to_f32()", false],
  "Int64 Int": [".to_int()", false],
  "Int64 Float": [".to_float()", false],
  "Int64 F32": [".to_float().to_f32()", false],
  "Float Int": [".to_int()", false],
  "Float Int64": [".to_int64()", false],
  "Float F32": [".to_f32()", false],
  "F32 Float": [".to_float()", true],
  "F32 Int": [".to_float().to_int()", false],
  "F32 Int64": [".to_float().to_int64()", false],
};

/** Whether a call can be put behind the expression as it stands. */
function isTight(expression: ast.Expression): boolean {
  return !["unary", "binary", "range", "closure", "if", "match", "block"].includes(expression.kind);
}

/** Fixes that put a call behind an expression, with parentheses where they are needed. */
function callFix(body: Body, expression: ast.Expression, call: string, isSafe: boolean): Fix {
  const { reporter } = body;
  const { start, end } = expression.span;
  const text = call.startsWith(".") ? call : `.${call}`;
  return {
    title: `convert with \`${text}\``,
    applicability: isSafe ? "safe" : "maybe",
    edits: isTight(expression)
      ? [reporter.edit({ start: end, end }, text)]
      : [reporter.edit({ start, end: start }, "("), reporter.edit({ start: end, end }, `)${text}`)],
  };
}

/** Longer expressions are left out of a fix's title. */
const MAX_TITLE_LENGTH = 30;

function wrapFix(body: Body, expression: ast.Expression, before: string, after: string): Fix {
  const { start, end } = expression.span;
  const text = body.reporter.text(expression.span);
  const told = text.length > MAX_TITLE_LENGTH || text.includes("\n") ? "…" : text;
  return {
    title: `write \`${before}${told}${after}\``,
    applicability: "maybe",
    edits: [
      body.reporter.edit({ start, end: start }, before),
      body.reporter.edit({ start: end, end }, after),
    ],
  };
}

/** A literal of one kind of number written as the other, or null. */
function literalFix(body: Body, expression: ast.Expression, want: string): Fix | null {
  const { reporter } = body;
  const negative = expression.kind === "unary" && expression.operator === "-";
  const literal = negative ? expression.operand : expression;
  const text = reporter.text(literal.span);
  if (literal.kind === "integer" && (want === "Float" || want === "F32") && /^[\d_]+$/.test(text)) {
    return reporter.insert(`write \`${negative ? "-" : ""}${text}.0\``, "safe", literal.span.end, ".0");
  }
  if (literal.kind === "float" && (want === "Int" || want === "Int64") && /^[\d_]+\.0+$/.test(text)) {
    const whole = text.slice(0, text.indexOf("."));
    return reporter.fix(`write \`${negative ? "-" : ""}${whole}\``, "safe", literal.span, whole);
  }
  return null;
}

/** What could be written in place of an expression so that it has the type that is wanted. */
export function conversionFixes(body: Body, expression: ast.Expression, expected: Type, actual: Type): Fix[] {
  const { reporter, graph } = body;
  const want = resolve(expected);
  const have = resolve(actual);
  const fixes: Fix[] = [];
  const wantNumber = numberName(want);
  const haveNumber = numberName(have);
  if (wantNumber !== null && haveNumber !== null) {
    const literal = literalFix(body, expression, wantNumber);
    if (literal !== null) fixes.push(literal);
    const conversion = CONVERSIONS[`${haveNumber} ${wantNumber}`];
    if (conversion !== undefined) fixes.push(callFix(body, expression, conversion[0], conversion[1]));
    return fixes;
  }
  if (want.kind === "primitive" && want.name === "String") {
    if (expression.kind === "character") {
      const inner = reporter.text(expression.span).slice(1, -1).replace(`\\'`, "'").replace(
        /^(["{])$/,
        "\\$1",
      );
      fixes.push(reporter.fix(`write \`"${inner}"\``, "safe", expression.span, `"${inner}"`));
    } else if (have.kind !== "function" && !isUnit(have) && !hasQuotes(reporter.text(expression.span))) {
      fixes.push(wrapFix(body, expression, `"{`, `}"`));
    }
  }
  if (want.kind === "primitive" && want.name === "Char" && expression.kind === "string") {
    const text = expression.parts.length === 1 ? expression.parts[0] : undefined;
    if (typeof text === "string" && [...text].length === 1 && text !== "'") {
      const inner = reporter.text(expression.span).slice(1, -1);
      fixes.push(reporter.fix(`write \`'${inner}'\``, "safe", expression.span, `'${inner}'`));
    }
  }
  const fits = (left: Type, right: Type | undefined) =>
    right !== undefined && body.unifier.attempt(left, right);
  if (want.kind === "named" && graph.isCore(want, "Option") && fits(want.arguments[0] ?? UNIT, have)) {
    fixes.push(wrapFix(body, expression, "Some(", ")"));
  }
  if (want.kind === "named" && graph.isCore(want, "Result") && fits(want.arguments[0] ?? UNIT, have)) {
    fixes.push(wrapFix(body, expression, "Ok(", ")"));
  }
  if (want.kind === "named" && graph.isCore(want, "List") && fits(want.arguments[0] ?? UNIT, have)) {
    fixes.push(wrapFix(body, expression, "[", "]"));
  }
  if (have.kind === "named" && (graph.isCore(have, "Option") || graph.isCore(have, "Result"))) {
    const returns = body.returns === null ? null : resolve(body.returns.type);
    const isSameKind = returns?.kind === "named" && returns.definition === have.definition;
    if (isTight(expression) && fits(want, have.arguments[0])) {
      const fallback = placeholderFor(want);
      fixes.push(
        reporter.insert(
          `take ${fallback.startsWith("panic") ? "another value" : `\`${fallback}\``} when there is none`,
          "placeholder",
          expression.span.end,
          `.unwrap_or(${fallback})`,
        ),
      );
    }
    if (isSameKind && isTight(expression) && fits(want, have.arguments[0])) {
      fixes.push(
        reporter.insert("return early with `?`", "maybe", expression.span.end, "?"),
      );
    }
  }
  if (
    have.kind === "function" && have.parameters.length === 0 && isTight(expression) && fits(want, have.result)
  ) {
    fixes.push(reporter.insert("call it", "maybe", expression.span.end, "()"));
  }
  return fixes;
}

function hasQuotes(text: string): boolean {
  return text.includes('"') || text.includes("\n");
}
