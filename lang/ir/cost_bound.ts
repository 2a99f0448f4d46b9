/**
 * Upper bounds of the gas that functions use, as formulas of their arguments, read from the charges in the finished
 * code.
 *
 * Names in a formula are parameters (numbers below 0 count as 0) and `len(…)` of lists, texts and bytes that are
 * parameters. A loop is bounded when it counts from a number that is known up to such a size, or goes over a list
 * that the function was given; every other loop, recursion and calls of function values are unbounded, and the first
 * of them is told.
 */
import {
  type IrCall,
  type IrExpression,
  type IrFunction,
  type IrLocal,
  type IrPosition,
  type Statement,
} from "./node.ts";
import { constantOf, greater, plus, type Polynomial, sizeOf, substituted, times } from "./polynomial.ts";
import { bodiesOf, expressionsOf, visitExpression } from "./visit.ts";

/** What is known of a function's gas. */
export type CostBound =
  | { readonly kind: "bounded"; readonly formula: Polynomial }
  | { readonly kind: "unbounded"; readonly reason: string; readonly place: IrPosition | null };

/** Thrown where no bound can be told. */
class Unbounded extends Error {
  readonly place: IrPosition | null;
  constructor(reason: string, place: IrPosition | null) {
    super(reason);
    this.place = place;
  }
}

/** Offset of the length in lists, texts and bytes. */
const LENGTH_OFFSET = 4;

/** What the allocator's own steps cost at most, and an eighth of the bytes, which it rounds up by a quarter at most. */
const ALLOCATION: Polynomial = new Map([["", 100], ["bytes", 1.25 / 8]]);

/**
 * What a variable may hold: a size at most, whether it is known not to be below 0, or the block that a parameter
 * points to.
 */
interface Known {
  readonly size: Polynomial | null;
  readonly isNatural: boolean;
  readonly block: string | null;
}

const UNKNOWN: Known = { size: null, isNatural: false, block: null };

function natural(size: Polynomial): Known {
  return { size, isNatural: true, block: null };
}

/** Works out bounds, each function once. */
export class CostBounds {
  readonly #known = new Map<IrFunction, CostBound>();
  readonly #working = new Set<IrFunction>();

  /** The bound of a function. */
  of(target: IrFunction): CostBound {
    const known = this.#known.get(target);
    if (known !== undefined) return known;
    if (target.body === null) return { kind: "bounded", formula: constantOf(0) };
    if (this.#working.has(target)) return { kind: "unbounded", reason: "calls itself", place: target.place };
    if (target.isRaw && target.name === "allocate") return { kind: "bounded", formula: ALLOCATION };
    this.#working.add(target);
    let bound: CostBound;
    try {
      bound = { kind: "bounded", formula: new FunctionCost(this, target).total() };
    } catch (error) {
      if (!(error instanceof Unbounded)) throw error;
      bound = { kind: "unbounded", reason: error.message, place: error.place };
    }
    this.#working.delete(target);
    this.#known.set(target, bound);
    return bound;
  }
}

class FunctionCost {
  readonly #bounds: CostBounds;
  readonly #target: IrFunction;
  #variables = new Map<IrLocal, Known>();
  #place: IrPosition | null;

  constructor(bounds: CostBounds, target: IrFunction) {
    this.#bounds = bounds;
    this.#target = target;
    this.#place = target.place;
    const names = target.parameters.map((parameter) => parameter.name);
    for (const parameter of target.parameters) {
      const { name, pointer, type } = parameter;
      if (names.indexOf(name) !== names.lastIndexOf(name)) continue;
      if (pointer !== null) this.#variables.set(parameter, { ...UNKNOWN, block: name });
      else if (type === "i32") {
        // Helpers of the run-time take pointers as plain addresses.
        const block = target.isRaw ? name : null;
        this.#variables.set(parameter, { size: sizeOf(name), isNatural: false, block });
      }
    }
  }

  total(): Polynomial {
    return this.#list(this.#target.body ?? []);
  }

  #list(statements: readonly Statement[]): Polynomial {
    let cost = constantOf(0);
    for (const statement of statements) cost = plus(cost, this.#statement(statement));
    return cost;
  }

  #statement(statement: Statement): Polynomial {
    let cost = this.#calls(statement);
    switch (statement.kind) {
      case "at":
        this.#place = statement.place;
        break;
      case "charge":
        cost = plus(cost, constantOf(statement.amount));
        if (statement.bytes !== null) cost = plus(cost, this.#bytes(statement.bytes));
        break;
      case "set":
        this.#variables.set(statement.local, this.#value(statement.value));
        break;
      case "multi":
        for (const local of statement.locals) this.#variables.set(local, UNKNOWN);
        break;
      case "store":
        // What is changed may be a length.
        if (statement.offset === LENGTH_OFFSET) this.#forgetBlocks();
        break;
      case "release":
        cost = plus(cost, this.#released(statement.local));
        break;
      case "unique":
        cost = plus(cost, this.#helper(statement.local.pointer?.unshare() ?? null, statement.local));
        break;
      case "if":
        cost = plus(cost, this.#branches([statement.then, statement.otherwise]));
        break;
      case "switch":
        cost = plus(cost, this.#branches(statement.cases));
        break;
      case "block":
        cost = plus(cost, this.#list(statement.body));
        break;
      case "loop":
        cost = plus(cost, this.#loop(statement));
        break;
      default:
    }
    return cost;
  }

  #branches(branches: readonly (readonly Statement[])[]): Polynomial {
    const before = this.#variables;
    let cost = constantOf(0);
    const ends = branches.map((branch) => {
      this.#variables = new Map(before);
      cost = greater(cost, this.#list(branch));
      return this.#variables;
    });
    const merged = new Map(before);
    for (const local of new Set(ends.flatMap((end) => [...end.keys()]))) {
      const values = ends.map((end) => end.get(local) ?? UNKNOWN);
      merged.set(local, values.reduce((left, right) => merge(left, right)));
    }
    this.#variables = merged;
    return cost;
  }

  #loop(loop: Statement & { readonly kind: "loop" }): Polynomial {
    const place = this.#place;
    const entry = this.#variables;
    const trips = this.#trips(loop);
    if (trips === null) throw new Unbounded("a loop of unknown length", place ?? firstPlace(loop.body));
    const assigned = assignedIn(loop.body);
    const inside = new Map(entry);
    for (const local of assigned) inside.set(local, UNKNOWN);
    // What counts up to the limit stays below it.
    if (trips.counter !== null) inside.set(trips.counter, natural(trips.limit));
    this.#variables = inside;
    const body = this.#list(loop.body);
    const after = new Map(entry);
    for (const local of assigned) after.set(local, UNKNOWN);
    this.#variables = after;
    return times(trips.count, body);
  }

  /** How often a loop goes round at most, read from the branch back to its start. */
  #trips(
    loop: Statement & { readonly kind: "loop" },
  ): { readonly count: Polynomial; readonly counter: IrLocal | null; readonly limit: Polynomial } | null {
    for (const statement of loop.body) {
      if (statement.kind !== "if") continue;
      const again = statement.then.some((each) => each.kind === "branch" && each.label === loop.label);
      const leaves = statement.then.some((each) => each.kind === "branch" && each.label !== loop.label);
      const found = again
        ? this.#countedDown(statement.condition, loop) ??
          this.#countedUp(statement.condition, loop, ["lt"], 0)
        : leaves
        ? this.#countedUp(statement.condition, loop, ["ge"], 1)
        : null;
      if (found !== null) return found;
    }
    return null;
  }

  /** `index`, which a step takes one from: as often as it was at the start. */
  #countedDown(condition: IrExpression, loop: Statement & { readonly kind: "loop" }) {
    if (condition.kind !== "get" || !changesBy(loop.body, condition.local, "i32.sub")) return null;
    const start = this.#variables.get(condition.local)?.size ?? null;
    return start === null ? null : { count: start, counter: null, limit: start };
  }

  /** `next < limit`, or `number >= limit` to leave, with the limit known before the loop. */
  #countedUp(
    condition: IrExpression,
    loop: Statement & { readonly kind: "loop" },
    comparisons: readonly string[],
    more: number,
  ) {
    if (condition.kind !== "op" || !comparisons.some((each) => condition.op === `i32.${each}_s`)) return null;
    const [left, right] = condition.args;
    if (left?.kind !== "get" || right === undefined) return null;
    if (right.kind === "get" && assignedIn(loop.body).has(right.local)) return null;
    const counter = this.#counterOf(left.local, loop.body);
    if (counter === null || this.#variables.get(counter)?.isNatural !== true) return null;
    const limit = this.#value(right).size;
    return limit === null ? null : { count: plus(limit, constantOf(more)), counter, limit };
  }

  /** The variable that goes up by one each time round: itself, or what it is a copy of at the start. */
  #counterOf(local: IrLocal, body: readonly Statement[]): IrLocal | null {
    if (changesBy(body, local, "i32.add")) return local;
    for (const statement of body) {
      if (statement.kind === "set" && statement.local === local && statement.value.kind === "get") {
        const origin = statement.value.local;
        return changesBy(body, origin, "i32.add") ? origin : null;
      }
    }
    return null;
  }

  #value(expression: IrExpression): Known {
    switch (expression.kind) {
      case "const":
        return expression.type === "i32" && Number(expression.value) >= 0
          ? natural(constantOf(Number(expression.value)))
          : UNKNOWN;
      case "get":
      case "own":
        return this.#variables.get(expression.local) ?? UNKNOWN;
      case "load": {
        const block = expression.op === "i32.load" && expression.offset === LENGTH_OFFSET
          ? this.#value(expression.address).block
          : null;
        return block === null ? UNKNOWN : natural(sizeOf(`len(${block})`));
      }
      case "op":
        return this.#operation(expression.op, expression.args);
      default:
        return UNKNOWN;
    }
  }

  #operation(op: string, args: readonly IrExpression[]): Known {
    const [left = UNKNOWN, right = UNKNOWN] = args.map((each) => this.#value(each));
    if (left.size === null) return UNKNOWN;
    const isNatural = left.isNatural && right.isNatural;
    const amount = args[1]?.kind === "const" ? Number(args[1].value) : null;
    switch (op) {
      case "i32.add":
        if (amount !== null && amount < 0) return { ...left, isNatural: false };
        return right.size === null ? UNKNOWN : { ...UNKNOWN, size: plus(left.size, right.size), isNatural };
      case "i32.mul":
        return right.size === null || !isNatural ? UNKNOWN : natural(times(left.size, right.size));
      case "i32.shl":
        return amount === null ? UNKNOWN : { ...left, size: times(left.size, constantOf(2 ** amount)) };
      case "i32.sub":
        // Without what is taken away it is larger.
        return right.isNatural ? { ...left, isNatural: false } : UNKNOWN;
      case "i32.shr_u":
      case "i32.shr_s":
        return amount === null ? UNKNOWN : { ...left, size: times(left.size, constantOf(1 / 2 ** amount)) };
      default:
        return UNKNOWN;
    }
  }

  #bytes(expression: IrExpression): Polynomial {
    const { size } = this.#value(expression);
    if (size === null) throw new Unbounded("memory of unknown size", this.#place);
    return size;
  }

  #calls(statement: Statement): Polynomial {
    let cost = constantOf(0);
    for (const expression of expressionsOf(statement)) {
      visitExpression(expression, (at) => {
        if (at.kind === "call" || at.kind === "indirect") cost = plus(cost, this.#call(at));
      });
    }
    return cost;
  }

  #call(call: IrCall): Polynomial {
    if (call.kind === "indirect") throw new Unbounded("a function value is called", this.#place);
    return this.#callee(call.function, call.args.map((each) => this.#value(each)));
  }

  #callee(target: IrFunction, values: readonly Known[]): Polynomial {
    const bound = this.#bounds.of(target);
    if (bound.kind === "unbounded") {
      const own = target.place === null || target === this.#target;
      throw new Unbounded(
        own ? bound.reason : `${target.name}: ${bound.reason}`,
        bound.reason === "calls itself" ? this.#place : bound.place ?? this.#place,
      );
    }
    const put = substituted(bound.formula, (name) => {
      const block = /^len\((.*)\)$/.exec(name)?.[1];
      const position = target.parameters.findIndex((each) => each.name === (block ?? name));
      const value = values[position] ?? UNKNOWN;
      if (block === undefined) return value.size;
      return value.block === null ? null : sizeOf(`len(${value.block})`);
    });
    if (put === null) {
      const what = target.isRaw
        ? "memory of unknown size"
        : `${target.name} is given something of unknown size`;
      throw new Unbounded(what, this.#place);
    }
    return put;
  }

  #released(local: IrLocal): Polynomial {
    return this.#helper(local.pointer?.release() ?? null, local);
  }

  #helper(target: IrFunction | null, local: IrLocal): Polynomial {
    return target === null ? constantOf(0) : this.#callee(target, [this.#variables.get(local) ?? UNKNOWN]);
  }

  #forgetBlocks(): void {
    for (const [local, known] of this.#variables) {
      if (known.block !== null) this.#variables.set(local, { ...known, block: null });
    }
  }
}

function merge(left: Known, right: Known): Known {
  return {
    size: left.size === null || right.size === null ? null : greater(left.size, right.size),
    isNatural: left.isNatural && right.isNatural,
    block: left.block === right.block ? left.block : null,
  };
}

/** Variables that are set somewhere in a list. */
function assignedIn(body: readonly Statement[]): Set<IrLocal> {
  const found = new Set<IrLocal>();
  for (const statement of body) {
    if (statement.kind === "set") found.add(statement.local);
    if (statement.kind === "multi") { for (const local of statement.locals) found.add(local); }
    for (const inner of bodiesOf(statement)) for (const local of assignedIn(inner)) found.add(local);
  }
  return found;
}

/** Whether the one change of a variable is by one, each time round, on the level of the loop itself. */
function changesBy(body: readonly Statement[], local: IrLocal, op: string): boolean {
  const sets = body.filter((each) => each.kind === "set" && each.local === local);
  const [only] = sets;
  const inside = body.some((each) => bodiesOf(each).some((inner) => assignedIn(inner).has(local)));
  if (
    sets.length !== 1 || inside || only?.kind !== "set" || only.value.kind !== "op" || only.value.op !== op
  ) {
    return false;
  }
  const [from, step] = only.value.args;
  const isCopy = from?.kind === "get" &&
    body.some((each) =>
      each.kind === "set" && each.local === from.local && each.value.kind === "get" &&
      each.value.local === local
    );
  const isOwn = from?.kind === "get" && (from.local === local || isCopy);
  return isOwn && step?.kind === "const" && Number(step.value) === 1;
}

function firstPlace(body: readonly Statement[]): IrPosition | null {
  for (const statement of body) {
    if (statement.kind === "at") return statement.place;
    for (const inner of bodiesOf(statement)) {
      const found = firstPlace(inner);
      if (found !== null) return found;
    }
  }
  return null;
}
