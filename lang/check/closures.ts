/**
 * Function values: their parameters' types come from what is wanted, from what is written, or from how the body uses
 * them.
 */
import type * as ast from "../syntax/ast.ts";
import type { Expression } from "../typed/tree.ts";
import { ERROR_TYPE, isNever, isUnit, NEVER, resolve } from "../types/primitives.ts";
import type { Type } from "../types/type.ts";
import type { Body, ReturnFrame } from "./body.ts";
import { reportDuplicates } from "./duplicates.ts";
import { check, DISCARDED } from "./infer.ts";
import { typeOf } from "./type_expressions.ts";
import type { Variable } from "./symbols.ts";

/** `fn(x) { … }`. */
export function inferClosure(body: Body, expression: ast.Closure, expected: Type | null): Expression {
  const { span } = expression;
  const want = expected === null ? null : resolve(expected);
  // With another number of parameters it is not what is wanted in any case, so nothing more is held to that.
  const wanted = want?.kind === "function" && want.parameters.length === expression.parameters.length
    ? want
    : null;
  const isOther = want?.kind === "function" && wanted === null;
  const captures = new Set<Variable>();
  const outer = { loops: body.loops, returns: body.returns };
  reportDuplicates(
    body.scope,
    "NM0010",
    "parameter",
    expression.parameters.map((parameter) => parameter.name),
  );
  body.closures.push({ depth: body.depth + 1, captures });
  body.loops = [];
  const mark = body.enter();
  const parameters = expression.parameters.map((parameter, index) => {
    const hint = wanted?.parameters[index];
    let type: Type;
    if (parameter.type !== null) type = typeOf(body, parameter.type);
    else if (want === ERROR_TYPE || isOther) type = ERROR_TYPE;
    else type = hint?.type ?? body.session.freshAt(parameter.name.span, `\`${parameter.name.text}\``);
    const variable = body.makeParameter(parameter.name, type, parameter.isInout || (hint?.isInout ?? false));
    body.declare(variable);
    return variable;
  });
  const written = expression.result === null ? null : typeOf(body, expression.result);
  const result: Type = written ?? (wanted === null ? body.unifier.fresh() : wanted.result);
  const isDiscarded = written === null && wanted !== null && isUnit(result);
  const returns: ReturnFrame = {
    type: result,
    reason: expression.result === null
      ? null
      : { kind: "result", span: expression.result.span, isWritten: true },
    isDiscarded,
    isClosure: true,
  };
  body.returns = returns;
  const typed = check(body, expression.body, isDiscarded ? DISCARDED : result, returns.reason);
  if (isNever(typed.type)) {
    body.session.late.push(() => {
      const at = resolve(result);
      if (at.kind === "variable" && at.literal === null && at !== ERROR_TYPE) at.link = NEVER;
    });
  }
  body.leave(mark);
  body.closures.pop();
  body.loops = outer.loops;
  body.returns = outer.returns;
  // What an inner function value copies, the outer one holds too.
  for (const variable of captures) body.capture(variable);
  return body.node({
    kind: "closure",
    span,
    type: {
      kind: "function",
      parameters: parameters.map((variable) => ({ isInout: variable.kind === "inout", type: variable.type })),
      result,
    },
    parameters,
    body: typed,
    captures: [...captures],
  });
}
