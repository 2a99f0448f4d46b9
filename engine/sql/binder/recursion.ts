/**
 * What the recursive term of WITH RECURSIVE may not do: the rules under which each round can be computed from the
 * rows of the round before alone. They are checked on the bound plan, before it is optimized.
 */
import { SQLSTATE } from "../../base/errors.ts";
import type { Plan } from "../plan/plan.ts";
import { inputs, ownExpressions, visitExpression, visitPlan } from "../plan/traverse.ts";
import type { Binding } from "./binding.ts";

/** Raises 42P19 for a reference to the query itself at a place where it has no meaning. */
export function checkRecursiveTerm(
  binding: Binding,
  query: { readonly name: string; readonly id: number; readonly position: number },
  plan: Plan,
): void {
  const misplaced = (where: string) =>
    binding.error(
      SQLSTATE.invalidRecursion,
      `recursive reference to query "${query.name}" must not appear ${where}`,
      query.position,
    );
  const isReference = (part: Plan) => part.kind === "with_scan" && part.id === query.id && part.working;
  const mentions = (part: Plan): boolean => {
    let found = false;
    visitPlan(part, { plan: (each) => found ||= isReference(each) });
    return found;
  };
  let references = 0;
  const check = (part: Plan): void => {
    if (isReference(part)) references++;
    const refuse = (inner: Plan) => {
      if (mentions(inner)) throw misplaced("within a subquery");
    };
    for (const expression of ownExpressions(part)) visitExpression(expression, () => {}, refuse);
    if (part.kind === "set_operation" && part.operation !== "union") {
      const operands = part.operation === "except" && !part.all ? part.inputs.slice(1) : part.inputs;
      const forbidden = part.operation === "except" || part.all;
      if (forbidden && operands.some((operand) => mentions(operand.plan))) {
        throw misplaced(`within ${part.operation.toUpperCase()}`);
      }
    }
    if (part.kind === "hash_join" || part.kind === "nested_loop_join") {
      const extendsRight = part.join === "left" || part.join === "full";
      const extendsLeft = part.join === "right" || part.join === "full";
      if (extendsRight && mentions(part.right) || extendsLeft && mentions(part.left)) {
        throw misplaced("within an outer join");
      }
    }
    for (const input of inputs(part)) check(input);
  };
  check(plan);
  if (references > 1) throw misplaced("more than once");
}
