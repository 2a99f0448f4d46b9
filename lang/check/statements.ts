/**
 * Statements: definitions, assignments, loops, and the ways out of them.
 */
import type * as ast from "../syntax/ast.ts";
import type { ArithmeticOperator, Expression } from "../typed/tree.ts";
import { isError, isInteger, isNever, isNumber, isUnit, NEVER, resolve, UNIT } from "../types/primitives.ts";
import type { Type } from "../types/type.ts";
import { typeText, typeWithArticle } from "../types/type_text.ts";
import type { Body } from "./body.ts";
import { type CheckedStatement, expressionStatement } from "./checked_statement.ts";
import { noteAlways } from "./control.ts";
import { checkMatch, missingText } from "./exhaustiveness.ts";
import { storeCall } from "./indexing.ts";
import { check, DISCARDED, infer } from "./infer.ts";
import { checkFor, checkWhile } from "./loops.ts";
import { reportMismatch } from "./mismatch.ts";
import { bindPattern } from "./patterns.ts";
import { placeOf, reportUnwritable } from "./places.ts";
import { isCapital, reportUnknownName, resolveStatic } from "./statics.ts";
import { typeOf } from "./type_expressions.ts";

/** Checks a statement; null when nothing can be made of it. */
export function checkStatement(body: Body, statement: ast.Statement): CheckedStatement | null {
  const { span } = statement;
  switch (statement.kind) {
    case "let":
      return checkLet(body, statement);
    case "var": {
      const value = checkValue(body, statement.type, statement.value);
      const variable = body.makeVariable(statement.name, value.declared, "var", "var");
      body.declare(variable);
      return {
        statement: { kind: "var", span, local: variable, value: value.typed },
        isOver: isNever(value.typed.type),
      };
    }
    case "assign":
      return checkAssign(body, statement);
    case "while":
      return checkWhile(body, statement);
    case "for":
      return checkFor(body, statement);
    case "return":
      return checkReturn(body, statement);
    case "break":
    case "continue": {
      const loop = body.loops.at(-1);
      if (loop === undefined) {
        body.reporter.report("TY0033", span, `\`${statement.kind}\` outside of a loop.`, {
          hint: body.closures.length > 0
            ? "A function value is not part of the loop around it. Use `return` to leave the function value."
            : "Use `return` to leave the function.",
        });
      } else if (statement.kind === "break") loop.hasBreak = true;
      return expressionStatement({ kind: statement.kind, span, type: NEVER }, true);
    }
    case "expression": {
      const typed = check(body, statement.expression, DISCARDED, null);
      return expressionStatement(typed, isNever(typed.type));
    }
  }
}

/** The value of a definition, with the type that is written or else its own. */
function checkValue(
  body: Body,
  type: ast.TypeExpression | null,
  value: ast.Expression,
): { readonly typed: Expression; readonly declared: Type } {
  if (type === null) {
    const typed = infer(body, value, null);
    return { typed, declared: typed.type };
  }
  const declared = typeOf(body, type);
  const typed = check(body, value, declared, { kind: "annotation", span: type.span });
  return { typed, declared };
}

function checkLet(body: Body, statement: ast.LetStatement): CheckedStatement {
  const { span, otherwise } = statement;
  const value = checkValue(body, statement.type, statement.value);
  if (otherwise === null) {
    const pattern = bindPattern(body, statement.pattern, value.declared, "let");
    if (statement.pattern.kind !== "binding" && statement.pattern.kind !== "wildcard") {
      body.session.finishers.push(() => {
        if (isError(value.declared)) return;
        const found = checkMatch(body.graph, [pattern], value.declared);
        const [missing] = found.missing;
        if (missing === undefined) return;
        body.reporter.report(
          "MX0003",
          statement.pattern.span,
          `This pattern does not fit every \`${typeText(value.declared)}\`: it misses ${
            missingText(missing)
          }.`,
          {
            hint: "Use `let … else { … }` to handle the other values.",
            fixes: [
              body.reporter.insert(
                "add an `else`",
                "placeholder",
                span.end,
                ' else { panic("not handled yet") }',
              ),
            ],
          },
        );
      });
    }
    return {
      statement: { kind: "let", span, pattern, value: value.typed },
      isOver: isNever(value.typed.type),
    };
  }
  const typed = check(body, otherwise, DISCARDED, null);
  const brace = { start: otherwise.span.start, end: otherwise.span.start + 1 };
  if (!isNever(typed.type)) {
    body.reporter.report(
      "MX0008",
      brace,
      "The `else` block of a `let` must diverge: with `return`, `break`, `continue` or `panic`.",
      {
        fixes: [
          body.reporter.insert(
            "panic at its end",
            "placeholder",
            otherwise.span.end - 1,
            ' panic("not handled yet") ',
          ),
        ],
      },
    );
  }
  const pattern = bindPattern(body, statement.pattern, value.declared, "let");
  body.session.finishers.push(() => noteAlways(body, statement.pattern, pattern, value.declared, "let-else"));
  return {
    statement: { kind: "let-else", span, pattern, value: value.typed, otherwise: typed },
    isOver: isNever(value.typed.type),
  };
}

function checkAssign(body: Body, statement: ast.AssignStatement): CheckedStatement {
  const { span, operator } = statement;
  const store = operator === null ? checkStore(body, statement) : null;
  if (store !== null) return store;
  if (isUndefined(body, statement)) return expressionStatement(infer(body, statement.value, null), false);
  const target = inferTarget(body, statement.place);
  const place = placeOf(body, statement.place, target);
  if (place === null) reportUnwritable(body, statement.place, target, { kind: "assign" });
  else body.writes.push({ place, span: statement.place.span });
  const type = target.type;
  const value = operator === null
    ? check(body, statement.value, type, { kind: "assignment", span: statement.place.span })
    : checkOperand(body, statement, operator, type);
  noteSelfAssignment(body, statement);
  if (place === null) return expressionStatement(value, isNever(value.type));
  return {
    statement: { kind: "assign", span, place, operator, value },
    isOver: isNever(value.type),
  };
}

/** `total = 3` where nothing is called `total`: a definition is meant, or another name. */
function isUndefined(body: Body, { place, operator }: ast.AssignStatement): boolean {
  if (operator !== null || place.kind !== "name" || isCapital(place.name)) return false;
  if (body.variable(place.name) !== null || resolveStatic(body, place) !== null) return false;
  const { start } = place.span;
  reportUnknownName(body, { text: place.name, span: place.span }, [
    body.reporter.insert("define it with `let`", "maybe", start, "let "),
    body.reporter.insert("define it with `var`", "maybe", start, "var "),
  ]);
  return true;
}

/** The place of an assignment; writing a whole variable does not read it. */
function inferTarget(body: Body, place: ast.Expression): Expression {
  const typed = infer(body, place, null);
  if (place.kind === "name") {
    const variable = body.variable(place.name);
    if (variable !== null) variable.readCount--;
  }
  return typed;
}

/** `x = x`. */
function noteSelfAssignment(body: Body, statement: ast.AssignStatement): void {
  const { place, value } = statement;
  if (
    statement.operator !== null || place.kind !== "name" || value.kind !== "name" || place.name !== value.name
  ) return;
  body.reporter.report("LI0013", statement.span, `\`${place.name}\` is assigned to itself.`, {
    fixes: body.symbol?.owner !== null && body.variable("self") !== null
      ? [body.reporter.insert("write the field", "maybe", place.span.start, "self.")]
      : [],
  });
}

function checkOperand(
  body: Body,
  statement: ast.AssignStatement,
  operator: ArithmeticOperator,
  type: Type,
): Expression {
  const { reporter } = body;
  const value = infer(body, statement.value, type);
  if (!isNever(value.type) && !body.unifier.unify(type, value.type)) {
    reportMismatch(body, statement.value, type, value.type, {
      kind: "operand",
      span: statement.place.span,
      operator: `${operator}=`,
      operatorSpan: statement.operatorSpan,
    });
    return value;
  }
  const verify = () => {
    const at = resolve(type);
    if (isError(at) || isNever(at)) return;
    const isJoin = operator === "+" &&
      (at.kind === "primitive" && at.name === "String" ||
        at.kind === "named" && body.graph.isCore(at, "List"));
    const needsInteger = operator === "+%" || operator === "-%" || operator === "*%";
    if (isJoin || (needsInteger ? isInteger(at) : isNumber(at))) return;
    const isPush = operator === "+" && at.kind === "named";
    reporter.report(
      "TY0003",
      statement.operatorSpan,
      `\`${operator}=\` is not defined for \`${typeText(at)}\`.`,
      {
        hint: isPush ? "Use the methods of maps, sets and pools to change them." : undefined,
      },
    );
  };
  const at = resolve(type);
  if (at.kind === "variable" && at.literal === null) body.session.late.push(verify);
  else verify();
  return value;
}

/** `map[key] = value`: a call that stores; null for other places. */
function checkStore(body: Body, statement: ast.AssignStatement): CheckedStatement | null {
  const { place } = statement;
  if (place.kind !== "index") return null;
  const target = infer(body, place, null);
  const read = body.indexed.get(target);
  if (read === undefined) return finishAssign(body, statement, target);
  const container = placeOf(body, place.target, read.container);
  if (container === null) {
    reportUnwritable(body, place.target, read.container, { kind: "assign" });
    const value = infer(body, statement.value, target.type);
    return expressionStatement(value, isNever(value.type));
  }
  body.writes.push({ place: container, span: place.target.span });
  const call = storeCall(
    body,
    container,
    read.key,
    (type) => check(body, statement.value, type, { kind: "assignment", span: place.span }),
    statement.span,
  );
  return call === null ? finishAssign(body, statement, target) : expressionStatement(call, false);
}

function finishAssign(body: Body, statement: ast.AssignStatement, target: Expression): CheckedStatement {
  const place = placeOf(body, statement.place, target);
  if (place === null) reportUnwritable(body, statement.place, target, { kind: "assign" });
  else body.writes.push({ place, span: statement.place.span });
  const value = check(body, statement.value, target.type, { kind: "assignment", span: statement.place.span });
  if (place === null) return expressionStatement(value, isNever(value.type));
  return {
    statement: { kind: "assign", span: statement.span, place, operator: null, value },
    isOver: isNever(value.type),
  };
}

function checkReturn(body: Body, statement: ast.ReturnStatement): CheckedStatement {
  const { span } = statement;
  const returns = body.returns;
  if (returns === null) {
    body.reporter.report("TY0033", span, "`return` outside of a function.");
    if (statement.value !== null) infer(body, statement.value, null);
    return expressionStatement({ kind: "return", span, type: NEVER, value: null }, true);
  }
  let value: Expression | null = null;
  if (statement.value !== null) {
    value = returns.isDiscarded && isUnit(returns.type)
      ? check(body, statement.value, UNIT, returns.reason)
      : check(body, statement.value, returns.type, returns.reason);
  } else if (!body.unifier.unify(returns.type, UNIT)) {
    body.reporter.report(
      "TY0026",
      span,
      `This \`return\` has no value, but ${typeWithArticle(returns.type)} is expected.`,
      {
        labels: returns.reason?.kind === "result" && returns.reason.isWritten
          ? [body.reporter.label(returns.reason.span, "because of this result type")]
          : [],
        expected: typeText(returns.type),
        actual: "()",
      },
    );
  }
  return expressionStatement({ kind: "return", span, type: NEVER, value }, true);
}
