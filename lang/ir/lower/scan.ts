/**
 * Questions about typed trees that are answered by looking through them.
 */
import type { Argument, Callee, Expression, Local, Place, Statement } from "../../typed/tree.ts";

/** Calls the function for an expression, its expressions inside, and the places that are written or handed over. */
export function visitTree(
  expression: Expression,
  onExpression: (at: Expression) => void,
  onPlace: (place: Place, how: "assign" | "inout" | "elements") => void = () => {},
): void {
  const argumentsOf = (args: readonly Argument[]): void => {
    for (const argument of args) {
      if (argument.kind === "value") visit(argument.value);
      else placeOf(argument.place, "inout");
    }
  };
  const calleeOf = (callee: Callee): void => {
    if (callee.kind === "value") visit(callee.expression);
  };
  const placeOf = (place: Place, how: "assign" | "inout" | "elements"): void => {
    onPlace(place, how);
    for (let at = place; at.kind !== "local"; at = at.target) {
      if (at.kind === "element") visit(at.index);
    }
  };
  const statementOf = (statement: Statement): void => {
    switch (statement.kind) {
      case "let":
      case "var":
        visit(statement.value);
        return;
      case "let-else":
        visit(statement.value);
        visit(statement.otherwise);
        return;
      case "assign":
        placeOf(statement.place, "assign");
        visit(statement.value);
        return;
      case "while":
        visit(statement.condition);
        visit(statement.body);
        return;
      case "for-range":
        visit(statement.start);
        visit(statement.end);
        visit(statement.body);
        return;
      case "for-list":
        visit(statement.list);
        visit(statement.body);
        return;
      case "for-inout":
        placeOf(statement.list, "elements");
        visit(statement.body);
        return;
      case "expression":
        visit(statement.expression);
        return;
    }
  };
  const visit = (at: Expression): void => {
    onExpression(at);
    switch (at.kind) {
      case "interpolation":
        for (const part of at.parts) if (typeof part !== "string") visit(part);
        return;
      case "call":
        calleeOf(at.callee);
        argumentsOf(at.arguments);
        return;
      case "tuple":
      case "list":
        for (const element of at.elements) visit(element);
        return;
      case "record":
      case "variant":
        for (const field of at.fields) visit(field);
        return;
      case "update":
        visit(at.base);
        for (const field of at.fields) visit(field.value);
        return;
      case "field":
        visit(at.target);
        return;
      case "element":
        visit(at.target);
        visit(at.index);
        return;
      case "negate":
      case "not":
        visit(at.operand);
        return;
      case "arithmetic":
      case "compare":
      case "and":
      case "or":
        visit(at.left);
        visit(at.right);
        return;
      case "block":
        for (const statement of at.statements) statementOf(statement);
        if (at.result !== null) visit(at.result);
        return;
      case "if":
        visit(at.condition);
        visit(at.then);
        if (at.otherwise !== null) visit(at.otherwise);
        return;
      case "match":
        visit(at.subject);
        for (const arm of at.arms) {
          if (arm.guard !== null) visit(arm.guard);
          visit(arm.body);
        }
        return;
      case "closure":
        visit(at.body);
        return;
      case "propagate":
        visit(at.target);
        return;
      case "return":
        if (at.value !== null) visit(at.value);
        return;
      case "expect":
        visit(at.condition);
        return;
      case "snapshot":
        visit(at.value);
        return;
      case "panic":
        visit(at.message);
        return;
      default:
    }
  };
  visit(expression);
}

/** Whether something in the body may change how long the list of a variable is. */
export function assignsWhole(body: Expression, list: Local): boolean {
  if (list.kind === "let" || list.kind === "parameter") return false;
  let found = false;
  visitTree(body, () => {}, (place) => {
    if (place.kind === "local" && place.local === list) found = true;
  });
  return found;
}
