/**
 * Places: what can be written. A place is a variable, an `inout` parameter, or a field, part or element of a place.
 *
 * An expression is typed first; its tree then turns into the place, if its root can change.
 */
import type * as ast from "../syntax/ast.ts";
import type { Span } from "../source/source_file.ts";
import type { Expression, Place } from "../typed/tree.ts";
import type { Type } from "../types/type.ts";
import type { Body, Reason } from "./body.ts";
import { infer } from "./infer.ts";
import { reportMismatch } from "./mismatch.ts";
import { slotPlace } from "./indexing.ts";
import { Variable } from "./symbols.ts";

/** What a place is wanted for. */
export type Purpose =
  | { readonly kind: "assign" }
  | { readonly kind: "argument" }
  /** `instead` is a method that gives a changed copy. */
  | { readonly kind: "receiver"; readonly method: string; readonly instead: string | null }
  | { readonly kind: "loop" };

/** The place that a typed expression stands for, or null when it cannot be written. */
export function placeOf(body: Body, expression: ast.Expression, typed: Expression): Place | null {
  const { span } = expression;
  switch (typed.kind) {
    case "local": {
      const variable = typed.local;
      if (!(variable instanceof Variable) || !isWritable(body, variable)) return null;
      variable.writeCount++;
      return body.place({ kind: "local", span, type: typed.type, local: variable });
    }
    case "field": {
      if (expression.kind !== "field") return null;
      const target = placeOf(body, expression.target, typed.target);
      if (target === null) return null;
      return body.place({ kind: "field", span, type: typed.type, target, index: typed.index });
    }
    case "element": {
      if (expression.kind !== "index") return null;
      const target = placeOf(body, expression.target, typed.target);
      if (target === null) return null;
      return body.place({ kind: "element", span, type: typed.type, target, index: typed.index });
    }
    case "call": {
      const read = body.indexed.get(typed);
      if (read === undefined || expression.kind !== "index") return null;
      const container = placeOf(body, expression.target, read.container);
      return container === null ? null : slotPlace(body, expression, container, read.key);
    }
    default:
      return null;
  }
}

function isWritable(body: Body, variable: Variable): boolean {
  return (variable.kind === "var" || variable.kind === "inout") && variable.depth === body.depth;
}

/** Lends a place to an `inout` parameter; null after a report. */
export function borrowPlace(
  body: Body,
  expression: ast.Expression,
  type: Type,
  reason: Reason,
): Place | null {
  const typed = infer(body, expression, type);
  const place = placeOf(body, expression, typed);
  if (place === null) {
    reportUnwritable(body, expression, typed, { kind: "argument" });
    return null;
  }
  if (!body.unifier.unify(type, typed.type)) reportMismatch(body, expression, type, typed.type, reason);
  body.writes.push({ place, span: expression.span });
  return place;
}

/** The variable at the root of an expression, and whether it is reached through elements or fields. */
function rootOf(
  expression: ast.Expression,
  typed: Expression,
  body: Body,
): Variable | "constant" | "broken" | null {
  switch (typed.kind) {
    case "local":
      return typed.local instanceof Variable ? typed.local : null;
    case "constant":
      return "constant";
    case "field":
      return expression.kind === "field" ? rootOf(expression.target, typed.target, body) : null;
    case "element":
      return expression.kind === "index" ? rootOf(expression.target, typed.target, body) : null;
    case "call": {
      const read = body.indexed.get(typed);
      return read !== undefined && expression.kind === "index"
        ? rootOf(expression.target, read.container, body)
        : null;
    }
    case "tuple":
      // What is broken has been reported.
      return typed.elements.length === 0 && typed.type.kind === "variable" ? "broken" : null;
    default:
      return null;
  }
}

function wantedFor(purpose: Purpose): string {
  switch (purpose.kind) {
    case "assign":
      return "is assigned";
    case "argument":
      return "is passed as `inout`";
    case "receiver":
      return `is changed by \`${purpose.method}\``;
    case "loop":
      return "is changed by the loop";
  }
}

/** Says why an expression cannot be written, with the fix that makes it so. */
export function reportUnwritable(
  body: Body,
  expression: ast.Expression,
  typed: Expression,
  purpose: Purpose,
): void {
  const { reporter } = body;
  const { span } = expression;
  const root = rootOf(expression, typed, body);
  if (root === "broken" || typed.type.kind === "variable" && typed.type.id === -1) return;
  if (root === "constant") {
    reporter.report("MV0011", span, `A constant is immutable, but this ${wantedFor(purpose)}.`, {
      hint: "Copy it into a variable first: `var copy = …`.",
    });
    return;
  }
  if (root === null) {
    if (purpose.kind === "receiver") {
      reporter.report(
        "MV0010",
        span,
        `\`${purpose.method}\` changes its receiver, but this is a temporary value.`,
        {
          hint: purpose.instead === null
            ? "Store the value in a `var` first."
            : `\`${purpose.instead}\` returns a changed copy; or store the value in a \`var\` first.`,
        },
      );
    } else if (purpose.kind === "argument") {
      reporter.report(
        "MV0006",
        span,
        "A temporary value cannot be passed as `inout`.",
        {
          hint: "Use a variable, or a field or element of one.",
        },
      );
    } else {
      reporter.report(
        "MV0003",
        span,
        `This expression ${wantedFor(purpose)}, but it is not a variable, field or element.`,
        {
          hint: "Use a variable, or a field or element of one.",
        },
      );
    }
    return;
  }
  reportFixedVariable(body, root, span, purpose);
}

function reportFixedVariable(body: Body, variable: Variable, span: Span, purpose: Purpose): void {
  const { reporter } = body;
  const { name } = variable;
  variable.writeCount++;
  if (variable.depth !== body.depth && (variable.kind === "var" || variable.kind === "inout")) {
    reporter.report(
      "MV0008",
      span,
      `\`${name}\` is captured by copy, so it cannot be changed in a function value.`,
      {
        labels: [reporter.label(variable.span, "the variable is here")],
        hint: "Return the new value, or use a loop instead of the function value.",
      },
    );
    return;
  }
  if (variable.isToldFixed) return;
  variable.isToldFixed = true;
  if (variable.kind === "parameter") {
    const parameter = body.symbol?.declaration.parameters.find((each) => each.name.span === variable.span);
    const type = parameter?.type ?? null;
    const start = type?.span.start ?? variable.span.end;
    reporter.report(
      "MV0002",
      span,
      `\`${name}\` is an immutable parameter, but it ${wantedFor(purpose)}.`,
      {
        labels: [reporter.label(variable.span, "the parameter is here")],
        hint: "Make the parameter `inout` to change the caller's variable, or copy it into a `var`.",
        fixes: variable.depth === 0 && parameter !== undefined
          ? [reporter.insert("make it `inout`", "maybe", start, type === null ? ": inout " : "inout ")]
            .filter(() => type !== null)
          : [],
      },
    );
    return;
  }
  if (variable.origin === "let") {
    const start = variable.span.start - "let ".length;
    const isPlain = reporter.file.text.startsWith("let ", start);
    reporter.report(
      purpose.kind === "assign" ? "MV0001" : "MV0007",
      span,
      `\`${name}\` is an immutable \`let\` binding, but it ${wantedFor(purpose)}.`,
      {
        labels: [reporter.label(variable.span, "declared here")],
        fixes: isPlain ? [reporter.fix("use `var`", "safe", { start, end: start + 3 }, "var")] : [],
      },
    );
    return;
  }
  reporter.report(
    "MV0012",
    span,
    `\`${name}\` is ${
      variable.origin === "loop" || variable.origin === "counter"
        ? "the variable of a loop"
        : "a name of a pattern"
    }, which is an immutable copy, but it ${wantedFor(purpose)}.`,
    {
      labels: [reporter.label(variable.span, "declared here")],
      hint: variable.origin === "counter"
        ? "Use `while` and a `var` to change the counter."
        : variable.origin === "loop"
        ? "`for inout x in list` changes the elements themselves."
        : "Change the matched value itself, or copy the name into a `var`.",
      fixes: variable.origin === "loop" && reporter.file.text.slice(0, variable.span.start).endsWith("for ")
        ? [reporter.insert("iterate with `inout`", "maybe", variable.span.start, "inout ")]
        : [],
    },
  );
}
