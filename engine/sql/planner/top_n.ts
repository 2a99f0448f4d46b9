/** How many rows LIMIT and OFFSET need. */
import { resolveOperator } from "../functions/registry.ts";
import { constant } from "../plan/build.ts";
import type { Expression } from "../plan/expression.ts";

/** The number that a LIMIT or OFFSET is, when it is constant. */
export function rowCount(expression: Expression | null): number | undefined {
  return expression?.kind === "constant" && typeof expression.value === "number"
    ? expression.value
    : undefined;
}

/** How many rows a sort below LIMIT and OFFSET must keep. */
export function topNCount(limit: Expression, offset: Expression | null): Expression {
  if (offset === null) return limit;
  const [count, skipped] = [rowCount(limit), rowCount(offset)];
  if (count !== undefined && skipped !== undefined) return constant({ kind: "i64" }, count + skipped);
  const plus = resolveOperator("+", { kind: "i64" }, { kind: "i64" });
  const none: Expression = {
    kind: "coalesce",
    type: { kind: "i64" },
    args: [offset, constant({ kind: "i64" }, 0)],
  };
  return { kind: "call", type: { kind: "i64" }, function: plus, args: [limit, none] };
}
