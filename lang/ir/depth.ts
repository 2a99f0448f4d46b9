/**
 * The limit of calls within calls: functions that may call themselves, directly or not, count how deep they are.
 *
 * The depth is a global, so that it is the same on every machine; functions that cannot recur are bounded by the
 * program's text and count nothing.
 */
import { LANG_LIMITS } from "../limits.ts";
import {
  get,
  i32,
  type IrFunction,
  type IrGlobal,
  type IrLocal,
  newLocal,
  op,
  type Statement,
  type TrapSite,
} from "./node.ts";
import { calleesOf } from "./reach.ts";
import { bodiesOf, expressionsOf, mapBodies, visitExpression } from "./visit.ts";

/** What a call needs of an engine's stack beside its variables, as an upper estimate. */
const FRAME_BYTES = 100;
/** What the limit of calls allows for each, so that all fit into the stacks that engines have, a little below 1 MiB. */
const STACK_BYTES_PER_CALL = 450;

/** Writes the counting into the functions that may recur. */
export function limitDepth(functions: readonly IrFunction[], options: {
  /** Functions as values: whoever calls one may call any of them. */
  readonly table: readonly IrFunction[];
  readonly depth: () => IrGlobal;
  readonly site: (target: IrFunction) => TrapSite;
}): void {
  const graph = new Map<IrFunction, readonly IrFunction[]>();
  for (const target of functions) {
    const callees = [...calleesOf(target)];
    if (callsIndirectly(target.body ?? [])) {
      // What lets function values go calls nothing but what lets go what they captured.
      callees.push(...target.isRaw ? options.table.filter((each) => each.isRaw) : options.table);
    }
    graph.set(target, callees);
  }
  for (const target of recursive(functions, graph)) {
    // Helpers of the run-time go as deep as the types that they are made for.
    if (target.isRaw || target.body === null) continue;
    const weight = weightOf(target.body);
    const before = newLocal(target, { name: "depth", type: "i32" });
    const global = options.depth();
    target.body = [
      { kind: "set", local: before, value: { kind: "global", global } },
      {
        kind: "check",
        condition: op("i32.gt_u", get(before), i32(LANG_LIMITS.maximumCallDepth - weight)),
        site: options.site(target),
      },
      { kind: "set-global", global, value: op("i32.add", get(before), i32(weight)) },
      ...restore(target.body, before, global),
    ];
  }
}

/** How many calls a call counts for: more when its variables need much of the engine's stack. */
function weightOf(body: readonly Statement[]): number {
  const locals = new Set<IrLocal>();
  const visit = (statements: readonly Statement[]): void => {
    for (const statement of statements) {
      for (const expression of expressionsOf(statement)) {
        visitExpression(expression, (at) => {
          if (at.kind === "get" || at.kind === "own") locals.add(at.local);
        });
      }
      for (const inner of bodiesOf(statement)) visit(inner);
    }
  };
  visit(body);
  return Math.min(
    LANG_LIMITS.maximumCallDepth,
    Math.ceil((FRAME_BYTES + locals.size * 8) / STACK_BYTES_PER_CALL),
  );
}

function callsIndirectly(body: readonly Statement[]): boolean {
  let found = false;
  for (const statement of body) {
    for (const expression of expressionsOf(statement)) {
      visitExpression(expression, (at) => {
        if (at.kind === "indirect") found = true;
      });
    }
    if (!found && bodiesOf(statement).some(callsIndirectly)) found = true;
  }
  return found;
}

/** Puts the depth back before each return. */
function restore(body: Statement[], before: IrLocal, global: IrGlobal): Statement[] {
  return body.flatMap((statement): Statement[] => {
    if (statement.kind === "return") return [{ kind: "set-global", global, value: get(before) }, statement];
    return [mapBodies(statement, (inner) => restore(inner, before, global))];
  });
}

/** Functions on a cycle of calls: strongly connected components after R. Tarjan (1972), without recursion. */
function recursive(
  functions: readonly IrFunction[],
  graph: ReadonlyMap<IrFunction, readonly IrFunction[]>,
): IrFunction[] {
  const index = new Map<IrFunction, number>();
  const low = new Map<IrFunction, number>();
  const onStack = new Set<IrFunction>();
  const stack: IrFunction[] = [];
  const found = new Set<IrFunction>();
  for (const root of functions) {
    if (index.has(root)) continue;
    const work: { readonly target: IrFunction; next: number }[] = [{ target: root, next: 0 }];
    for (let frame = work[work.length - 1]; frame !== undefined; frame = work[work.length - 1]) {
      const { target } = frame;
      if (frame.next === 0) {
        index.set(target, index.size);
        low.set(target, index.get(target) ?? 0);
        stack.push(target);
        onStack.add(target);
      }
      const callee = graph.get(target)?.[frame.next++];
      if (callee !== undefined) {
        if (callee === target) found.add(target);
        if (!index.has(callee)) {
          if (graph.has(callee)) work.push({ target: callee, next: 0 });
        } else if (onStack.has(callee)) {
          low.set(target, Math.min(low.get(target) ?? 0, index.get(callee) ?? 0));
        }
        continue;
      }
      work.pop();
      const parent = work[work.length - 1]?.target;
      if (parent !== undefined) low.set(parent, Math.min(low.get(parent) ?? 0, low.get(target) ?? 0));
      if (low.get(target) !== index.get(target)) continue;
      const component: IrFunction[] = [];
      for (let member = stack.pop(); member !== undefined; member = stack.pop()) {
        onStack.delete(member);
        component.push(member);
        if (member === target) break;
      }
      if (component.length > 1) { for (const member of component) found.add(member); }
    }
  }
  return functions.filter((target) => found.has(target));
}
