/**
 * Which functions of a module are called, from what is exported or has its address taken.
 */
import type { IrFunction, Statement } from "./node.ts";
import { bodiesOf, expressionsOf, visitExpression } from "./visit.ts";

/** What a body calls; bodies are never changed in place, so that it need not be looked for again. */
const known = new WeakMap<readonly Statement[], ReadonlySet<IrFunction>>();

/** Functions that are called by a function, those that count for it included. */
export function calleesOf(target: IrFunction): ReadonlySet<IrFunction> {
  if (target.body === null) return new Set();
  // Helpers are written when they are first used, and may be asked for while they are.
  if (target.isRaw) return findCallees(target.body);
  const before = known.get(target.body);
  if (before !== undefined) return before;
  const found = findCallees(target.body);
  known.set(target.body, found);
  return found;
}

function findCallees(body: readonly Statement[]): Set<IrFunction> {
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
  visit(body);
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
