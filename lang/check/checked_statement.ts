/** What checking a statement gives. */
import type { Expression, Statement } from "../typed/tree.ts";

/** A typed statement, and whether what follows it is never reached. */
export interface CheckedStatement {
  readonly statement: Statement;
  readonly isOver: boolean;
}

/** An expression as a statement. */
export function expressionStatement(expression: Expression, isOver: boolean): CheckedStatement {
  return { statement: { kind: "expression", span: expression.span, expression }, isOver };
}
