/**
 * `e?`: the value of an `Option` or `Result`, or the way out of the function with what stands in its way.
 */
import type * as ast from "../syntax/ast.ts";
import type { Expression } from "../typed/tree.ts";
import { ERROR_TYPE, isError, resolve } from "../types/primitives.ts";
import type { Type } from "../types/type.ts";
import { typeText } from "../types/type_text.ts";
import type { Body } from "./body.ts";
import { infer } from "./infer.ts";

/** `e?`. */
export function inferPropagate(body: Body, expression: ast.Propagate): Expression {
  const { span } = expression;
  const { reporter, graph } = body;
  const target = infer(body, expression.target, null);
  const type = resolve(target.type);
  if (isError(type)) return body.broken(span);
  const isOption = type.kind === "named" && graph.isCore(type, "Option");
  const isResult = type.kind === "named" && graph.isCore(type, "Result");
  if (type.kind !== "named" || !isOption && !isResult) {
    const end = expression.target.span.end;
    reporter.report(
      "TY0018",
      span,
      type.kind === "variable"
        ? "Cannot use `?` on this value, because its type is not known yet."
        : `\`?\` needs an \`Option\` or a \`Result\`, found \`${typeText(type)}\`.`,
      {
        fixes: type.kind === "variable"
          ? []
          : [reporter.fix("remove the `?`", "maybe", { start: end, end: span.end }, "")],
      },
    );
    return type.kind === "variable" ? body.broken(span) : target;
  }
  const value = type.arguments[0] ?? ERROR_TYPE;
  const returns = body.returns;
  const failure = type.arguments[1] ?? ERROR_TYPE;
  const wanted: Type = {
    kind: "named",
    definition: type.definition,
    arguments: isOption ? [body.unifier.fresh()] : [body.unifier.fresh(), failure],
  };
  if (returns === null || returns.isDiscarded) {
    reportNoWayOut(body, expression, typeText(type), isOption);
    return body.node({ kind: "propagate", span, type: value, target, returns: wanted });
  }
  const known = resolve(returns.type);
  if (!body.unifier.unify(returns.type, wanted)) {
    const text = typeText(known);
    const isSameKind = known.kind === "named" && known.definition === type.definition;
    if (isSameKind) {
      reporter.report(
        "TY0019",
        span,
        `\`?\` hands on an error of type \`${typeText(failure)}\`, but the errors of the result are \`${
          typeText(known.arguments[1] ?? ERROR_TYPE)
        }\`.`,
        {
          labels: returns.reason?.kind === "result"
            ? [reporter.label(returns.reason.span, "because of this result type")]
            : [],
          hint: "Convert the error with `map_err(fn(error) { … })`.",
          expected: text,
          actual: typeText(type),
        },
      );
    } else reportNoWayOut(body, expression, typeText(type), isOption, text);
  }
  return body.node({ kind: "propagate", span, type: value, target, returns: returns.type });
}

function reportNoWayOut(
  body: Body,
  expression: ast.Propagate,
  type: string,
  isOption: boolean,
  result: string | null = null,
): void {
  const { reporter } = body;
  const { span } = expression;
  const mark = { start: expression.target.span.end, end: span.end };
  const known = result === null ? null : resolve(body.returns?.type ?? ERROR_TYPE);
  const wantsResult = known?.kind === "named" && body.graph.isCore(known, "Result");
  const wantsOption = known?.kind === "named" && body.graph.isCore(known, "Option");
  reporter.report(
    "TY0019",
    span,
    `\`?\` on \`${type}\` returns from the function when there is no value, but ${
      result === null ? "there is no function to return from" : `the function returns \`${result}\``
    }.`,
    {
      hint: isOption
        ? "Return an `Option` from the function, or use `unwrap_or(…)`."
        : "Return a `Result` from the function, or `match` both cases.",
      fixes: [
        ...(isOption && wantsResult
          ? [reporter.fix("convert it to a `Result` with `ok_or`", "placeholder", mark, `.ok_or("missing")?`)]
          : []),
        ...(!isOption && wantsOption
          ? [reporter.fix("drop the error with `ok()`", "maybe", mark, ".ok()?")]
          : []),
        reporter.fix("panic when there is none", "maybe", mark, ".unwrap()"),
      ],
    },
  );
}
