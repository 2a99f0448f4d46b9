/**
 * Goes over all expressions and places of a typed tree.
 */
import type { Argument, Callee, Expression, Place, Statement } from "../typed/tree.ts";

/** Called with each expression; what is inside is visited when it gives true. */
export type ExpressionVisitor = (expression: Expression) => boolean;
/** Called with each place that is written or borrowed. */
export type PlaceVisitor = (place: Place) => void;

/** Visits an expression and what is inside of it, in order of evaluation. */
export function visitExpressions(
  root: Expression,
  visitor: ExpressionVisitor,
  placeVisitor: PlaceVisitor = () => {},
): void {
  const places = (place: Place): void => {
    placeVisitor(place);
    indexes(place);
  };
  const indexes = (place: Place): void => {
    if (place.kind === "local") return;
    indexes(place.target);
    if (place.kind === "element") visit(place.index);
  };
  const argument = (each: Argument): void => {
    if (each.kind === "value") visit(each.value);
    else places(each.place);
  };
  const callee = (each: Callee): void => {
    if (each.kind === "value") visit(each.expression);
  };
  const all = (expressions: readonly Expression[]): void => {
    for (const each of expressions) visit(each);
  };
  const statement = (each: Statement): void => {
    switch (each.kind) {
      case "let":
      case "var":
        visit(each.value);
        break;
      case "let-else":
        visit(each.value);
        visit(each.otherwise);
        break;
      case "assign":
        places(each.place);
        visit(each.value);
        break;
      case "while":
        visit(each.condition);
        visit(each.body);
        break;
      case "for-range":
        visit(each.start);
        visit(each.end);
        visit(each.body);
        break;
      case "for-list":
        visit(each.list);
        visit(each.body);
        break;
      case "for-inout":
        places(each.list);
        visit(each.body);
        break;
      case "expression":
        visit(each.expression);
        break;
    }
  };
  const visit = (expression: Expression): void => {
    if (!visitor(expression)) return;
    switch (expression.kind) {
      case "interpolation":
        for (const part of expression.parts) if (typeof part !== "string") visit(part);
        break;
      case "call":
        callee(expression.callee);
        expression.arguments.forEach(argument);
        break;
      case "tuple":
      case "list":
        all(expression.elements);
        break;
      case "record":
      case "variant":
        all(expression.fields);
        break;
      case "update":
        visit(expression.base);
        for (const field of expression.fields) visit(field.value);
        break;
      case "field":
      case "propagate":
        visit(expression.target);
        break;
      case "element":
        visit(expression.target);
        visit(expression.index);
        break;
      case "negate":
      case "not":
        visit(expression.operand);
        break;
      case "arithmetic":
      case "compare":
      case "and":
      case "or":
        visit(expression.left);
        visit(expression.right);
        break;
      case "block":
        expression.statements.forEach(statement);
        if (expression.result !== null) visit(expression.result);
        break;
      case "if":
        visit(expression.condition);
        visit(expression.then);
        if (expression.otherwise !== null) visit(expression.otherwise);
        break;
      case "match":
        visit(expression.subject);
        for (const arm of expression.arms) {
          if (arm.guard !== null) visit(arm.guard);
          visit(arm.body);
        }
        break;
      case "closure":
        visit(expression.body);
        break;
      case "return":
        if (expression.value !== null) visit(expression.value);
        break;
      case "expect":
        visit(expression.condition);
        break;
      case "snapshot":
        visit(expression.value);
        break;
      case "panic":
        visit(expression.message);
        break;
      default:
        break;
    }
  };
  visit(root);
}
