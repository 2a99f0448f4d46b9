/**
 * Which functions of a module are called, from what is exported or has its address taken.
 */
import type { IrFunction, Statement } from "./node.ts";
import { bodiesOf, expressionsOf, visitExpression } from "./visit.ts";

/** Functions that are called by a function, those that count for it included. */
export function calleesOf(target: IrFunction): Set<IrFunction> {
  const found = new Set<IrFunction>();
  const visit = (statements: readonly Statement[]): void => {
    for (const statement of statements) {
      for (const expression of expressionsOf(statement)) {
        visitExpression(expression, (at) => {
          if (at.kind === "call") found.add(at.function);
        });
      }
      if (statement.kind === "release" && statement.local.pointer !== null) {
        found.add(statement.local.pointer.release());
      }
      if (statement.kind === "unique" && statement.local.pointer !== null) {
        found.add(statement.local.pointer.unshare());
      }
      for (const body of bodiesOf(statement)) visit(body);
    }
  };
  if (target.body !== null) visit(target.body);
  return found;
}

/** Everything that is called, directly or not, from the roots; in the order in which it is met. */
export function reachable(roots: readonly IrFunction[]): Set<IrFunction> {
  const found = new Set<IrFunction>(roots);
  for (const target of found) {
    for (const callee of calleesOf(target)) found.add(callee);
  }
  return found;
}
