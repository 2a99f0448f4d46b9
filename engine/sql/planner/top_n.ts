/** How many rows LIMIT and OFFSET need. */
import { assertDefined } from "../../base/assert.ts";
import { findCast } from "../functions/casts.ts";
import { resolveOperator } from "../functions/registry.ts";
import { constant } from "../plan/build.ts";
import type { Expression } from "../plan/expression.ts";

/** Of sums that have no range to leave: how many rows above 2^53 are wanted does not matter. */
const COUNT = { kind: "f64" } as const;

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
  const plus = resolveOperator("+", COUNT, COUNT);
  const none: Expression = {
    kind: "coalesce",
    type: { kind: "i64" },
    args: [offset, constant({ kind: "i64" }, 0)],
  };
  return { kind: "call", type: COUNT, function: plus, args: [asCount(limit), asCount(none)] };
}

function asCount(argument: Expression): Expression {
  const cast = assertDefined(findCast(argument.type, COUNT), "a cast of a count");
  return { kind: "cast", type: COUNT, cast, argument };
}
